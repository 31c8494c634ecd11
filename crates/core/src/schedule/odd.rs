//! Fires that a clock change moved, merged or doubled.

use serde::Serialize;

use super::cron::Cron;
use super::lint_clock::clock;
use super::zone::{Local, Segment};
use crate::time::{Millis, SECOND};

/// One sentence in two languages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Text {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

impl Cron {
    /// What is odd about a fire, if anything.
    #[must_use]
    pub fn note(&self, fire: Millis) -> Option<Text> {
        let at = fire.0.div_euclid(SECOND);
        let segment = self.zone().segment(at);
        if at == segment.start && self.fires().makes_up(&segment) {
            return self.made_up(fire, &segment);
        }
        let local = at + segment.offset;
        let wall = clock(&Local::of(local, 0));
        if self.is_interval() {
            let second_pass = local < segment.fresh();
            return second_pass.then(|| Text {
                en: format!(
                    "interval: also runs in the repeated hour ({wall} for the second time)"
                ),
                zh: format!("间隔任务：重复的一小时内也会执行（第二次 {wall}）"),
            });
        }
        let next = self.zone().segment(segment.end);
        let comes_again = segment.end - at < 86_400 && local >= next.start + next.offset;
        comes_again.then(|| Text {
            en: format!("{wall} happens twice; first pass only"),
            zh: format!("{wall} 会出现两次，只在第一次执行"),
        })
    }

    /// The note of a fire at the end of a gap.
    fn made_up(&self, fire: Millis, segment: &Segment) -> Option<Text> {
        let from = segment.start + segment.before;
        let missing = self.fires().days.second_at_or_after(from)?;
        let gone = Local::of(missing, 0);
        let (wall, runs) = (clock(&gone), clock(&self.zone().local(fire)));
        let date = format!("{:04}-{:02}-{:02}", gone.year, gone.month, gone.day);
        let zone = self.zone().abbreviation_at(fire);
        Some(Text {
            en: format!("{wall} does not exist on {date}; runs at {runs} {zone}"),
            zh: format!("{date} 没有 {wall}，改在 {runs} {zone} 执行"),
        })
    }
}
