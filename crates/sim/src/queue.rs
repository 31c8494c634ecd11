//! What will happen, in order of time, and of coming in among equals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cronwright_core::endpoint;
use cronwright_core::ids::RunId;
use cronwright_core::job;
use cronwright_core::time::Millis;

/// An object of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obj {
    /// Hosts many jobs.
    Shard(u16),
    /// Hosts one callback endpoint.
    Endpoint(u16),
}

/// A question to an object.
#[derive(Clone, Debug)]
pub enum Ask {
    /// The minute's tick.
    Tick,
    /// Step a job on behalf of somebody.
    Job {
        /// Which.
        number: u32,
        /// With what.
        event: Box<job::Event>,
    },
    /// Step an endpoint.
    Endpoint(Box<endpoint::Event>),
}

/// What an object answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done, now or earlier.
    Taken,
    /// Refused, for good or for now.
    Refused(String),
    /// Not while the job is quarantined.
    Quarantined,
    /// No answer came: whether it was done is not known.
    Lost,
}

/// Who waits for an answer. Whoever died meanwhile has another epoch.
#[derive(Clone, Debug)]
pub enum Caller {
    /// Nobody.
    Nobody,
    /// A shard that owes a word.
    Word { shard: u16, epoch: u32, key: String },
    /// An endpoint that tells how a delivery ended.
    Settle {
        endpoint: u16,
        epoch: u32,
        key: String,
        run: RunId,
        word: u32,
    },
    /// A person or program at the API: asks again, with the same key, until there is an answer.
    Outside { tries: u32 },
}

/// How a post came back.
#[derive(Clone, Debug)]
pub enum Landing {
    /// With the executor's word.
    Posted(endpoint::AttemptResult),
    /// The call to the executor broke.
    Broke,
}

/// Something that will happen.
#[derive(Clone, Debug)]
pub enum Happening {
    /// An object's alarm rings.
    Alarm { obj: Obj, generation: u64 },
    /// A minute begins.
    Tick,
    /// A question arrives.
    Ask {
        to: Obj,
        ask: Ask,
        caller: Caller,
        sent: Millis,
    },
    /// An answer arrives.
    Answer {
        caller: Caller,
        to: Obj,
        ask: Ask,
        answer: Answer,
    },
    /// A shard's inbox is stepped.
    Flush { shard: u16, epoch: u32 },
    /// A shard writes to D1.
    Project { shard: u16, epoch: u32 },
    /// D1's answer.
    Projected {
        shard: u16,
        epoch: u32,
        rows: Vec<(u32, job::run::Run)>,
        ok: bool,
    },
    /// A job's post comes back.
    Landed {
        shard: u16,
        epoch: u32,
        handle: u64,
        landing: Landing,
    },
    /// A callback's post comes back.
    Delivered {
        endpoint: u16,
        epoch: u32,
        run: RunId,
        attempt: u32,
        landing: Landing,
    },
    /// A captured callback is sent again by somebody else.
    Repeated {
        endpoint: u16,
        nonce: u64,
        signed_at: Millis,
    },
    /// A person does something.
    Deed,
    /// An object falls out of memory.
    Evict(Obj),
    /// D1 is back.
    D1Back,
    /// A receiver is back.
    ReceiverBack(u16),
    /// The faults end.
    Heal,
    /// The jobs are paused, so that all can come to rest.
    Rest,
}

struct Entry(Reverse<(Millis, u64)>, Happening);

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

/// The queue.
#[derive(Default)]
pub struct Queue {
    heap: BinaryHeap<Entry>,
    count: u64,
}

impl Queue {
    /// Adds something that happens at `at`, on the world's own clock.
    pub fn push(&mut self, at: Millis, happening: Happening) {
        self.count = self.count.saturating_add(1);
        self.heap.push(Entry(Reverse((at, self.count)), happening));
    }

    /// The next happening.
    pub fn pop(&mut self) -> Option<(Millis, Happening)> {
        self.heap
            .pop()
            .map(|Entry(Reverse((at, _)), happening)| (at, happening))
    }
}
