//! What can go wrong, how often in this world, and how often it did.

use crate::rng::{MILLION, Rng};

/// Declares the faults once: name, sentence for people, largest rate in parts per million.
macro_rules! faults {
    ($($name:ident, $text:literal, $most:literal;)*) => {
        /// A kind of fault. Its rate is drawn per seed: none with a chance of three in ten.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(usize)]
        pub enum Fault {
            $(#[doc = $text] $name,)*
        }

        impl Fault {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The sentence for people.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The largest rate that is drawn, in parts per million of its occasions.
            #[must_use]
            pub const fn most(self) -> u32 {
                match self { $(Self::$name => $most,)* }
            }
        }
    };
}

faults! {
    CrashBeforeCommit, "an object dies with a turn that was not stored", 50_000;
    CrashAfterCommit, "an object dies after the commit and before the effects", 50_000;
    StorageFails, "storage refuses a commit, and the object reloads", 20_000;
    Panics, "a machine panics, and its job is quarantined until a person resumes it", 2_000;
    Evicted, "a deployment drops an object from memory between events", 20_000;
    AskLost, "a question to an object is lost", 200_000;
    AnswerLost, "only the answer to a question is lost", 200_000;
    AskTwice, "a question arrives twice, the second up to 50 s later", 100_000;
    Slow, "a message takes up to 5 s", 200_000;
    PostLost, "a request is lost before it reaches the callee", 100_000;
    PostAnswerLost, "the callee did it, and the answer is lost", 100_000;
    CalleeFails, "the callee answers with an error", 500_000;
    CalleeHangs, "the callee does not answer within the limit", 100_000;
    CalleeSilent, "a callee that accepted never reports", 100_000;
    AlarmLate, "an alarm rings up to a minute late", 20_000;
    AlarmTwice, "an alarm rings twice", 50_000;
    AlarmLost, "an alarm is lost for ever", 20_000;
    AlarmThrows, "an alarm's handler dies at once; after six times the alarm is gone", 600_000;
    TickLost, "the minute's tick does not reach an object", 200_000;
    D1Away, "D1 is away for a second up to an hour", 300;
    D1Lies, "D1 writes, and answers with an error", 50_000;
    ClockJumps, "the wall clock jumps by up to an hour", 1_000;
    ReceiverFails, "the receiver of callbacks answers 5xx", 800_000;
    ReceiverBusy, "the receiver answers 429 with Retry-After", 100_000;
    ReceiverHangs, "the receiver takes it in and does not answer within the limit", 200_000;
    ReceiverBreaks, "the receiver takes it in and the connection breaks", 200_000;
    ReceiverGone, "the receiver is gone for up to two hours, in a long life for up to five days", 100;
    RequestRepeated, "somebody sends a captured callback again, up to 12 minutes later", 50_000;
}

/// One number for each kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerFault<T>(Vec<T>);

impl<T: Copy + Default> Default for PerFault<T> {
    fn default() -> Self {
        Self(vec![T::default(); Fault::ALL.len()])
    }
}

impl<T: Copy + Default> PerFault<T> {
    /// The number of a kind.
    #[must_use]
    pub fn of(&self, fault: Fault) -> T {
        self.0.get(fault as usize).copied().unwrap_or_default()
    }

    /// Sets the number of a kind.
    pub fn set(&mut self, fault: Fault, value: T) {
        if let Some(slot) = self.0.get_mut(fault as usize) {
            *slot = value;
        }
    }
}

/// Rates in parts per million.
pub type Rates = PerFault<u32>;

/// How often each kind fired.
pub type Fired = PerFault<u64>;

impl Rates {
    /// The rates of a seed.
    #[must_use]
    pub fn draw(rng: &mut Rng) -> Self {
        let mut rates = Self::default();
        for fault in Fault::ALL {
            let off = rng.chance(3 * MILLION / 10);
            let rate = rng.below(u64::from(fault.most()).saturating_add(1));
            if !off {
                rates.set(*fault, u32::try_from(rate).unwrap_or(0));
            }
        }
        rates
    }
}

impl Fired {
    /// Counts one.
    pub fn count(&mut self, fault: Fault) {
        self.set(fault, self.of(fault).saturating_add(1));
    }

    /// Adds those of another world.
    pub fn add(&mut self, other: &Self) {
        for fault in Fault::ALL {
            self.set(*fault, self.of(*fault).saturating_add(other.of(*fault)));
        }
    }
}
