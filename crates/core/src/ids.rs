//! Identifiers, parsed at the edge and never passed on as bare text.
//!
//! A run's public id (`scheduleId`) names its shard, its job and its instant, so that any run finds
//! its object without a look-up, and a duplicate trigger of an occurrence is the same run by
//! construction: `run_<shard>_<job number>_<instant>_<tag>`, numbers in base 36.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::time::Millis;

/// Why a text is not an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} id {found:?} is not valid: {allowed}")]
pub struct IdError {
    /// Which kind of id was expected.
    pub kind: &'static str,
    /// What was given, cut to 80 characters.
    pub found: String,
    /// What would be accepted.
    pub allowed: &'static str,
}

impl IdError {
    fn new(kind: &'static str, found: &str, allowed: &'static str) -> Self {
        Self {
            kind,
            found: found.chars().take(80).collect(),
            allowed,
        }
    }
}

/// Makes a newtype over text that its owner chooses: letters, digits, `_` and `-`, 1–64 characters.
macro_rules! chosen_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The text of the id.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                let fits = (1..=64).contains(&text.len())
                    && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
                if fits {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(IdError::new($kind, text, "use 1 to 64 of A-Z a-z 0-9 _ -"))
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

chosen_id!(
    /// A job, as its owner named it.
    JobId,
    "job"
);
chosen_id!(
    /// An outside system that receives callbacks.
    AppId,
    "app"
);
chosen_id!(
    /// A callback endpoint: one app and one URL.
    EndpointId,
    "endpoint"
);

impl JobId {
    /// The shard of a new job among `shards` (at least 1), spread by FNV-1a over the id.
    #[must_use]
    pub fn home_shard(&self, shards: u16) -> u16 {
        let hash = self.0.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        // FNV's low bits alone cluster on similar names.
        let mixed = hash ^ (hash >> 15);
        u16::try_from(mixed.checked_rem(u32::from(shards.max(1))).unwrap_or(0)).unwrap_or(0)
    }
}

impl EndpointId {
    /// The endpoint of callbacks that `app` takes at `url`.
    #[must_use]
    pub fn of(app: &AppId, url: &str) -> Self {
        Self(format!("ep_{}", digest16(&[app.as_str(), url])))
    }
}

/// Sixteen hexadecimal digits of SHA-256 over length-prefixed parts.
#[must_use]
pub fn digest16(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize()
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Where a job lives: its shard, and its number there. Numbers are never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobRef {
    /// The `JobShard` object that holds the job.
    pub shard: u16,
    /// The job's number in that shard.
    pub number: u32,
}

/// What made a run, as far as its id tells.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunTag {
    /// An occurrence of this version of the schedule.
    Occurrence(u32),
    /// A manual or API trigger; sixteen hexadecimal digits of its idempotency key.
    Manual(String),
    /// A replay; sixteen hexadecimal digits of its idempotency key.
    Replay(String),
    /// A run of another job ended; sixteen hexadecimal digits of that run's id.
    After(String),
}

/// A run's public id, called `scheduleId` on the wire.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId {
    /// Where the job lives.
    pub job: JobRef,
    /// The planned instant, or the instant of the trigger.
    pub at: Millis,
    /// What made it.
    pub tag: RunTag,
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shard, number) = (
            base36(u64::from(self.job.shard)),
            base36(u64::from(self.job.number)),
        );
        let at = base36(u64::try_from(self.at.0).unwrap_or(0));
        write!(f, "run_{shard}_{number}_{at}_")?;
        match &self.tag {
            RunTag::Occurrence(version) => write!(f, "v{}", base36(u64::from(*version))),
            RunTag::Manual(hash) => write!(f, "m{hash}"),
            RunTag::Replay(hash) => write!(f, "r{hash}"),
            RunTag::After(hash) => write!(f, "a{hash}"),
        }
    }
}

impl FromStr for RunId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        parse_run_id(text).ok_or_else(|| {
            IdError::new(
                "run",
                text,
                "use a scheduleId as the API gave it, such as run_3_1f_mh2k9a00_v1",
            )
        })
    }
}

fn parse_run_id(text: &str) -> Option<RunId> {
    let mut parts = text.strip_prefix("run_")?.split('_');
    let shard = u16::try_from(from_base36(parts.next()?)?).ok()?;
    let number = u32::try_from(from_base36(parts.next()?)?).ok()?;
    let at = Millis(i64::try_from(from_base36(parts.next()?)?).ok()?);
    let (kind, rest) = parts.next()?.split_at_checked(1)?;
    let hash = || {
        (rest.len() == 16 && rest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
            .then(|| rest.to_owned())
    };
    let tag = match kind {
        "v" => RunTag::Occurrence(u32::try_from(from_base36(rest)?).ok()?),
        "m" => RunTag::Manual(hash()?),
        "r" => RunTag::Replay(hash()?),
        "a" => RunTag::After(hash()?),
        _ => return None,
    };
    let id = RunId {
        job: JobRef { shard, number },
        at,
        tag,
    };
    // One spelling per run: leading zeros and a fifth part are refused.
    (parts.next().is_none() && id.to_string() == text).then_some(id)
}

impl TryFrom<String> for RunId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.to_string()
    }
}

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

fn base36(mut value: u64) -> String {
    let mut reversed = Vec::with_capacity(13);
    loop {
        let digit = usize::try_from(value % 36).unwrap_or(0);
        reversed.push(char::from(DIGITS.get(digit).copied().unwrap_or(b'0')));
        value /= 36;
        if value == 0 {
            return reversed.iter().rev().collect();
        }
    }
}

fn from_base36(text: &str) -> Option<u64> {
    if text.is_empty()
        || text
            .bytes()
            .any(|b| !b.is_ascii_digit() && !b.is_ascii_lowercase())
    {
        return None;
    }
    u64::from_str_radix(text, 36).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_id_reads_back_as_it_was_written() {
        let job = JobRef {
            shard: 15,
            number: 12345,
        };
        let hash = digest16(&["k"]);
        for tag in [
            RunTag::Occurrence(1),
            RunTag::Manual(hash.clone()),
            RunTag::Replay(hash.clone()),
            RunTag::After(hash),
        ] {
            let id = RunId {
                job,
                at: Millis(1_796_000_000_123),
                tag,
            };
            assert_eq!(id.to_string().parse::<RunId>().unwrap(), id);
        }
    }

    #[test]
    fn a_run_id_has_one_spelling() {
        let id = RunId {
            job: JobRef {
                shard: 3,
                number: 51,
            },
            at: Millis(1000),
            tag: RunTag::Occurrence(1),
        }
        .to_string();
        assert_eq!(id, "run_3_1f_rs_v1");
        for other in [
            "run_03_1f_rs_v1",
            "run_3_1F_rs_v1",
            "run_3_1f_rs_v1_",
            "run_3_1f_rs",
            "RUN_3_1f_rs_v1",
            "run_3_1f_rs_mzz",
            "",
        ] {
            assert!(other.parse::<RunId>().is_err(), "{other}");
        }
    }

    #[test]
    fn chosen_ids_refuse_what_would_need_escaping() {
        for text in ["", "a b", "a/b", "ä", "a.b", &"x".repeat(65)] {
            assert!(text.parse::<JobId>().is_err(), "{text}");
        }
        assert_eq!(
            "job_20240601_001".parse::<JobId>().unwrap().as_str(),
            "job_20240601_001"
        );
    }

    #[test]
    fn similar_job_ids_spread_over_the_shards() {
        let mut load = [0_u32; 16];
        for n in 0..16_000 {
            let id: JobId = format!("job_{n:05}").parse().unwrap();
            load[usize::from(id.home_shard(16))] += 1;
        }
        let (least, most) = (load.iter().min().unwrap(), load.iter().max().unwrap());
        assert!(f64::from(*most) / f64::from(*least) < 1.3, "{load:?}");
    }
}
