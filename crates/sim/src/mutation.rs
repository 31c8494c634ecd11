//! Bugs that can be planted in the sim host, to see that the checkers find them.

/// Declares the planted bugs once: variant, name on the command line, what is wrong.
macro_rules! mutations {
    ($($variant:ident, $name:literal, $text:literal;)*) => {
        /// A planted bug.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Mutation {
            $(#[doc = $text] $variant,)*
        }

        impl Mutation {
            /// Every planted bug.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What is wrong, in a sentence.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The bug of that name.
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|mutation| mutation.name() == name)
            }
        }
    };
}

mutations! {
    LockIsDate, "lock-is-date", "the lock's value is the instant's date, so every attempt of a run seems to hold it";
    ReleaseWithoutCompare, "release-without-compare", "a late report of an old attempt releases the lock of the newer one";
    SchedulingLease, "scheduling-lease", "the lease covers the hand-over and not the execution";
    RenewalThreadEnds, "renewal-thread-ends", "the lease is renewed by something that ends before the execution does";
    RunningInMemory, "running-in-memory", "what is running is known in memory only";
    AdvanceWithoutRecord, "advance-without-record", "the next instant is stored before the run's record";
    OutboxDeletedEarly, "outbox-deleted-early", "word owed to others is crossed out before they have taken it";
    MessageBeforeCommit, "message-before-commit", "messages leave before the commit";
    ReclaimSameFence, "reclaim-same-fence", "a lost attempt is made again under its old fence";
    NewIdPerRetry, "new-id-per-retry", "every retry of a callback has a new id";
    CallbackRerunsJob, "callback-reruns-job", "a failed callback runs its job again";
    AlarmNotRearmed, "alarm-not-rearmed", "after a fault in its handler the alarm is not set again, nor does the tick look";
    D1IsTruth, "d1-is-truth", "after a restart the runs are read from D1";
    NonceKeptShort, "nonce-kept-short", "a nonce is kept for 5 minutes while a timestamp is good for 5 minutes either way";
}
