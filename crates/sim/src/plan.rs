//! The world of a seed: its actors, and which faults it has.

use cronwright_core::ids::JobId;
use cronwright_core::job::def::{
    AfterOn, CallbackPreset, CallbackTarget, Definition, Executor, HttpMode, HttpTask, Misfire,
    MisfirePolicy, Overlap, RetryOn, RetryPolicy, ScheduleSpec,
};
use cronwright_core::schedule::Dialect;
use cronwright_core::time::{DAY, HOUR, MINUTE, Millis, SECOND};

use crate::faults::Rates;
use crate::rng::{MILLION, Rng};

/// 2026-03-01T00:00:00Z: thirty days from here hold the clock change of most of Europe and of New York.
const START: Millis = Millis(1_772_323_200_000);

/// One seed in so many lives for thirty days.
const LONG_EVERY: u64 = 50;

/// A world before it begins. Fields are public so that a failing one can be made smaller.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What it was drawn from; chance within the world comes from here too.
    pub seed: u64,
    /// The wall clock when it begins.
    pub start: Millis,
    /// How long faults rage, in ms.
    pub storm_ms: i64,
    /// How long the world then has to come to rest, in ms.
    pub heal_ms: i64,
    /// Job shards.
    pub shards: u16,
    /// The jobs. Removing one leaves the chances of the others as they are.
    pub jobs: Vec<JobPlan>,
    /// Rates of faults during the storm.
    pub rates: Rates,
    /// A person does something about this often, in ms; none leaves people out.
    pub operator_ms: Option<i64>,
}

/// One job of a world.
#[derive(Clone, Debug)]
pub struct JobPlan {
    /// Its identity for chance.
    pub index: u32,
    /// Where it lives.
    pub shard: u16,
    /// What is saved.
    pub definition: Definition,
    /// How long its callee usually takes, in ms.
    pub usual_ms: i64,
}

impl Plan {
    /// The world of a seed: six hours of faults and two without; one in fifty lives for thirty days.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        let mut rng = Rng::fork(seed, 99);
        let long = seed % LONG_EVERY == LONG_EVERY - 1;
        let shards = u16::try_from(rng.below(3)).unwrap_or(0).saturating_add(1);
        let count = u32::try_from(rng.below(6)).unwrap_or(0).saturating_add(1);
        let mut jobs: Vec<JobPlan> = Vec::new();
        for index in 1..=count {
            let mut rng = Rng::fork(seed, u64::from(index).saturating_add(1_000));
            let upstream = rng.pick(&jobs).map(|job| job.definition.job_id.clone());
            jobs.push(JobPlan {
                index,
                shard: u16::try_from(rng.below(u64::from(shards))).unwrap_or(0),
                definition: definition(&mut rng, index, long, upstream),
                usual_ms: rng.span(50, 40 * SECOND),
            });
        }
        let rates = Rates::draw(&mut rng);
        let busy = rng.chance(MILLION / 2);
        Self {
            seed,
            start: START,
            storm_ms: if long { 30 * DAY } else { 6 * HOUR },
            heal_ms: 2 * HOUR,
            shards,
            jobs,
            rates,
            operator_ms: busy.then_some(if long { 6 * HOUR } else { 4 * MINUTE }),
        }
    }
}

fn definition(rng: &mut Rng, index: u32, long: bool, upstream: Option<JobId>) -> Definition {
    let schedule = match upstream.filter(|_| rng.chance(MILLION / 4)) {
        Some(job) => ScheduleSpec::After {
            job,
            on: *rng
                .pick(&[AfterOn::Success, AfterOn::Failure, AfterOn::Finish])
                .unwrap_or(&AfterOn::Finish),
        },
        None => timed(rng, long),
    };
    let overlap = *rng
        .pick(&[
            Overlap::Skip,
            Overlap::Queue,
            Overlap::Replace,
            Overlap::Allow,
        ])
        .unwrap_or(&Overlap::Skip);
    let policy = *rng
        .pick(&[Misfire::FireOnce, Misfire::Skip, Misfire::CatchUp])
        .unwrap_or(&Misfire::FireOnce);
    Definition {
        job_id: job_id(index),
        name: format!("job {index}"),
        description: None,
        owner: None,
        labels: std::collections::BTreeMap::new(),
        schedule,
        start_at: None,
        end_at: None,
        jitter_ms: if rng.chance(MILLION / 4) {
            rng.span(1, 45 * SECOND)
        } else {
            0
        },
        blackouts: Vec::new(),
        executor: executor(rng),
        pool: None,
        route_strategy: None,
        route_key: None,
        timeout_ms: rng.span(5 * SECOND, 90 * SECOND),
        deadline_ms: rng
            .chance(MILLION / 5)
            .then(|| rng.span(10 * SECOND, 10 * MINUTE)),
        warn_after_ms: rng.chance(MILLION / 3).then(|| rng.span(SECOND, MINUTE)),
        retry: RetryPolicy {
            times: u32::try_from(rng.below(4)).unwrap_or(0),
            delays_ms: vec![SECOND, 30 * SECOND, 2 * MINUTE],
            on: vec![RetryOn::Failed, RetryOn::TimedOut],
        },
        misfire: MisfirePolicy {
            policy,
            catch_up_window_ms: rng.span(0, HOUR),
            max_catch_up: u32::try_from(rng.span(1, 20)).unwrap_or(1),
        },
        overlap,
        queue_limit: u32::try_from(rng.span(1, 4)).unwrap_or(1),
        callback: callback(rng),
    }
}

/// The id of the job of that index.
#[expect(clippy::expect_used, reason = "every index fits the alphabet of ids")]
fn job_id(index: u32) -> JobId {
    format!("job-{index}").parse().expect("an id")
}

fn timed(rng: &mut Rng, long: bool) -> ScheduleSpec {
    let zone = *rng
        .pick(&[
            "UTC",
            "Europe/Berlin",
            "America/New_York",
            "Asia/Shanghai",
            "Australia/Lord_Howe",
        ])
        .unwrap_or(&"UTC");
    let every = |period_ms: i64| ScheduleSpec::Every {
        period_ms,
        anchor: START,
    };
    let cron = |text: &str| ScheduleSpec::Cron {
        text: text.to_owned(),
        dialect: Dialect::Quartz,
        zone: zone.to_owned(),
    };
    if long {
        let texts = [
            "0 30 2 * * ?",
            "0 0 * * * ?",
            "0 15,45 1-3 * * ?",
            "0 0 9 ? * MON-FRI",
            "0 0 0 L * ?",
            "0 0/30 * * * ?",
        ];
        return cron(rng.pick(&texts).unwrap_or(&"0 0 * * * ?"));
    }
    match rng.below(60) {
        // Thousands of runs: few worlds have one, for what only many bring to light.
        0 => every(rng.span(4, 20).saturating_mul(SECOND)),
        1..=34 => every(rng.span(1, 10).saturating_mul(MINUTE)),
        35..=39 => ScheduleSpec::At {
            at: START.plus(rng.span(MINUTE, 6 * HOUR)),
        },
        40..=44 => ScheduleSpec::None,
        45..=49 => cron("0 0/2 * * * ?"),
        50..=54 => cron("30 5,20,50 * * * ?"),
        _ => cron("0 0 * * * ?"),
    }
}

fn executor(rng: &mut Rng) -> Executor {
    Executor::Http(HttpTask {
        url: "https://callee.example/run".to_owned(),
        method: "POST".to_owned(),
        headers: std::collections::BTreeMap::new(),
        body: None,
        expect: vec![(200, 299)],
        mode: if rng.chance(MILLION / 4) {
            HttpMode::Accepted
        } else {
            HttpMode::Sync
        },
    })
}

fn callback(rng: &mut Rng) -> Option<CallbackTarget> {
    let receiver = rng.below(3);
    let durable = rng.chance(MILLION / 10);
    let app = format!("app_{receiver}").parse().ok()?;
    rng.chance(2 * MILLION / 3).then(|| CallbackTarget {
        app,
        url: format!("https://receiver-{receiver}.example/callback"),
        preset: if durable {
            CallbackPreset::Durable
        } else {
            CallbackPreset::Standard
        },
    })
}
