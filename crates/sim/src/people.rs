//! People at the API: they run, cancel, repeat, pause, edit and delete, and ask again when no answer came.

use cronwright_core::endpoint;
use cronwright_core::ids::{RunTag, digest16};
use cronwright_core::job::Event;
use cronwright_core::job::def::{Definition, Overlap, ScheduleSpec};
use cronwright_core::job::run::Run;
use cronwright_core::time::{MINUTE, SECOND};

use crate::queue::{Ask, Caller, Happening, Obj};
use crate::rng::MILLION;
use crate::world::World;

/// What people have done so far.
#[derive(Default)]
pub struct People {
    deeds: u64,
}

impl World<'_> {
    /// A person does something, and will again.
    pub fn deed(&mut self) {
        if self.act() || self.resting {
            return;
        }
        if let Some(every) = self.plan.operator_ms {
            let next = self.chance.people.span(every / 4, every.saturating_mul(2));
            self.queue.push(self.now.plus(next), Happening::Deed);
        }
        if !self.storm {
            return;
        }
        self.people.deeds = self.people.deeds.saturating_add(1);
        let Some(job) = self.chance.people.pick(&self.plan.jobs) else {
            return;
        };
        let (shard, number, saved) = (job.shard, job.index, &job.definition);
        let by = "ann".to_owned();
        let event = match self.chance.people.below(20) {
            0..=4 => self.run_now(by),
            5..=8 => self
                .run_of(shard, number, Run::is_open)
                .map(|run| Event::Cancel { run: run.id, by }),
            9..=11 => self.again(shard, number, by),
            12 => Some(Event::SetEnabled { enabled: false }),
            13 | 14 => Some(Event::SetEnabled { enabled: true }),
            15 | 16 => {
                let definition = Box::new(self.edited(saved));
                Some(Event::Replace {
                    definition,
                    enabled: None,
                    revision: None,
                    by,
                })
            }
            17 => self
                .chance
                .people
                .chance(MILLION / 20)
                .then_some(Event::Delete { by }),
            _ => return self.at_endpoint(),
        };
        if let Some(event) = event {
            self.witness.touched(number);
            let ask = Ask::Job {
                number,
                event: Box::new(event),
            };
            self.send(Obj::Shard(shard), ask, Caller::Outside { tries: 0 });
        }
    }

    fn run_now(&mut self, by: String) -> Option<Event> {
        let key = format!("deed {}", self.people.deeds);
        let overlap = match self.chance.people.below(6) {
            0 => Some(Overlap::Skip),
            1 => Some(Overlap::Queue),
            2 => Some(Overlap::Replace),
            _ => None,
        };
        self.witness.asked_for(RunTag::Manual(digest16(&[&key])));
        Some(Event::RunNow {
            key,
            params: None,
            overlap,
            by,
        })
    }

    fn again(&mut self, shard: u16, number: u32, by: String) -> Option<Event> {
        let of = Box::new(self.run_of(shard, number, |run| !run.is_open())?);
        let key = format!("deed {}", self.people.deeds);
        self.witness.asked_for(RunTag::Replay(digest16(&[&key])));
        Some(Event::Replay { of, key, by })
    }

    /// One of the newest stored runs that fits.
    fn run_of(&mut self, shard: u16, number: u32, fits: fn(&Run) -> bool) -> Option<Run> {
        let object = self.shards.get(usize::from(shard))?;
        let job = object.disk.jobs.get(&number)?;
        let newest: Vec<&Run> = job
            .runs
            .values()
            .rev()
            .take(10)
            .filter(|run| fits(run))
            .collect();
        self.chance.people.pick(&newest).map(|run| Run::clone(run))
    }

    /// Another definition of the same job.
    fn edited(&mut self, saved: &Definition) -> Definition {
        let mut definition = saved.clone();
        let people = &mut self.chance.people;
        match people.below(4) {
            0 => definition.timeout_ms = people.span(10 * SECOND, 2 * MINUTE),
            1 => definition.retry.times = u32::try_from(people.below(4)).unwrap_or(0),
            2 => {
                if let ScheduleSpec::Every { anchor, .. } = definition.schedule {
                    let period_ms = people.span(1, 10).saturating_mul(MINUTE);
                    definition.schedule = ScheduleSpec::Every { period_ms, anchor };
                }
            }
            _ => definition.jitter_ms = people.span(0, 30 * SECOND),
        }
        definition
    }

    fn at_endpoint(&mut self) {
        let count = u64::try_from(self.endpoints.len()).unwrap_or(0);
        if count == 0 {
            return;
        }
        let endpoint = u16::try_from(self.chance.people.below(count)).unwrap_or(0);
        let event = match self.chance.people.below(3) {
            0 => endpoint::Event::CloseBreaker,
            1 => endpoint::Event::ReplayDead,
            _ => {
                let object = self.endpoints.get(usize::from(endpoint));
                let runs: Vec<_> = object
                    .map(|object| object.disk.deliveries.keys().cloned().collect())
                    .unwrap_or_default();
                match self.chance.people.pick(&runs) {
                    Some(run) => endpoint::Event::Replay { run: run.clone() },
                    None => endpoint::Event::CloseBreaker,
                }
            }
        };
        self.send(
            Obj::Endpoint(endpoint),
            Ask::Endpoint(Box::new(event)),
            Caller::Outside { tries: 0 },
        );
    }

    /// Pauses every job, so that the world comes to rest.
    pub fn rest(&mut self) {
        self.resting = true;
        for job in &self.plan.jobs {
            let event = Box::new(Event::SetEnabled { enabled: false });
            let ask = Ask::Job {
                number: job.index,
                event,
            };
            self.send(Obj::Shard(job.shard), ask, Caller::Outside { tries: 0 });
        }
    }
}
