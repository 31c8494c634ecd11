//! What every object of the world has: an alarm, a life, and an end to it.

use cronwright_core::time::{MINUTE, Millis, SECOND};

use crate::Mutation;
use crate::faults::Fault;
use crate::queue::{Happening, Obj};
use crate::world::World;

/// An alarm's handler that died is called again so often, and then never.
const ALARM_TRIES: u8 = 6;

/// Why a handler did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Died {
    /// The object died.
    Crashed,
    /// Storage refused: memory may be ahead of it, and is dropped.
    Storage,
}

/// The alarm and the age of an object.
#[derive(Clone, Debug, Default)]
pub struct Life {
    /// Grows when memory is lost: what was sent to the one before is of no concern.
    pub epoch: u32,
    /// The alarm as the object knows it, on the wall clock.
    pub alarm: Option<Millis>,
    /// Counts the settings; an older one does not ring.
    pub generation: u64,
    /// Whether the runtime has lost it, which only a look at storage tells.
    pub lost: bool,
    /// Times that the handler of this alarm died.
    pub throws: u8,
    /// When it rang lately, for the storm's witness.
    pub rang: (Millis, u32),
}

impl World<'_> {
    pub fn life(&mut self, obj: Obj) -> Option<&mut Life> {
        match obj {
            Obj::Shard(shard) => self
                .shards
                .get_mut(usize::from(shard))
                .map(|object| &mut object.life),
            Obj::Endpoint(endpoint) => self
                .endpoints
                .get_mut(usize::from(endpoint))
                .map(|object| &mut object.life),
        }
    }

    pub fn epoch(&mut self, obj: Obj) -> u32 {
        self.life(obj).map_or(0, |life| life.epoch)
    }

    /// Sets the alarm, unless an earlier one is set already.
    pub fn wake_by(&mut self, obj: Obj, at: Millis) {
        let wall = self.wall();
        let at = at.max(wall.plus(1));
        let (lost, late) = (self.fault(Fault::AlarmLost), self.fault(Fault::AlarmLate));
        let delay = at.since(wall).saturating_add(if late {
            self.chance.objects.span(0, MINUTE)
        } else {
            0
        });
        let now = self.now;
        let Some(life) = self.life(obj) else { return };
        if life.alarm.is_some_and(|armed| armed <= at) {
            return;
        }
        life.alarm = Some(at);
        life.throws = 0;
        life.lost = lost;
        life.generation = life.generation.saturating_add(1);
        let generation = life.generation;
        if !lost {
            // By the monotonic clock: a jump of the wall clock moves no alarm.
            self.queue
                .push(now.plus(delay), Happening::Alarm { obj, generation });
        }
    }

    /// The tick's look whether the alarm is really there.
    pub fn look_for_alarm(&mut self, obj: Obj) {
        let wall = self.wall();
        if let Some(life) = self.life(obj)
            && (life.lost || life.alarm.is_some_and(|at| at <= wall))
        {
            // Lost or overdue: in both cases another may be set.
            life.alarm = None;
        }
    }

    pub fn alarm(&mut self, obj: Obj, generation: u64) {
        let now = self.now;
        if self
            .life(obj)
            .is_none_or(|life| life.generation != generation)
        {
            return;
        }
        let (wall, true_wall) = (self.wall(), now.plus(self.skew));
        let early = self
            .life(obj)
            .and_then(|life| life.alarm)
            .filter(|at| *at > wall);
        if let Some(at) = early {
            // A wall clock that was put back stands still; the runtime waits until it has caught up.
            let wait = at.since(true_wall).max(1);
            let again = Happening::Alarm { obj, generation };
            return self.queue.push(now.plus(wait), again);
        }
        if self.fault(Fault::AlarmTwice) {
            self.queue
                .push(now.plus(1), Happening::Alarm { obj, generation });
        }
        if let Some(life) = self.life(obj) {
            let (second, count) = life.rang;
            life.rang = if now.since(second) < SECOND {
                (second, count.saturating_add(1))
            } else {
                (now, 1)
            };
            let count = life.rang.1;
            self.witness_storm(obj, count);
        }
        if self.fault(Fault::AlarmThrows) {
            return self.alarm_died(obj, generation);
        }
        if let Some(life) = self.life(obj) {
            life.alarm = None;
        }
        let done = match obj {
            Obj::Shard(shard) => self.shard_alarm(shard),
            Obj::Endpoint(endpoint) => self.endpoint_alarm(endpoint),
        };
        if done.is_err() {
            self.handled(obj, done);
            self.alarm_died(obj, generation);
        }
    }

    /// The runtime calls a handler that died again, up to a limit.
    fn alarm_died(&mut self, obj: Obj, generation: u64) {
        let now = self.now;
        let forgotten = self.options.mutation == Some(Mutation::AlarmNotRearmed);
        let Some(life) = self.life(obj) else { return };
        if life.generation != generation || forgotten {
            return;
        }
        life.throws = life.throws.saturating_add(1);
        if life.throws <= ALARM_TRIES {
            let wait = (2 * SECOND) << life.throws.min(ALARM_TRIES).saturating_sub(1);
            self.queue
                .push(now.plus(wait), Happening::Alarm { obj, generation });
        }
    }

    /// What becomes of an object whose handler did not come to its end.
    pub fn handled(&mut self, obj: Obj, done: Result<(), Died>) {
        match done {
            Ok(()) => {}
            Err(Died::Crashed) => self.die(obj),
            Err(Died::Storage) => {
                self.die(obj);
                let wall = self.wall();
                self.wake_by(obj, wall.plus(SECOND));
            }
        }
    }

    /// Drops everything that was in memory.
    pub fn die(&mut self, obj: Obj) {
        match obj {
            Obj::Shard(shard) => {
                if let Some(object) = self.shards.get_mut(usize::from(shard)) {
                    object.memory = None;
                }
            }
            Obj::Endpoint(endpoint) => {
                if let Some(object) = self.endpoints.get_mut(usize::from(endpoint)) {
                    object.memory = None;
                }
            }
        }
        if let Some(life) = self.life(obj) {
            life.epoch = life.epoch.saturating_add(1);
            // The stored alarm still rings; what the object knew of it is gone.
            life.alarm = None;
        }
        self.say(|| format!("  {obj:?} dies"));
    }
}
