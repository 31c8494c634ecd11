//! The words of the scenarios' file, and the script that they make.

use std::collections::BTreeMap;

use cronwright_core::job::def::{
    AfterOn, CallbackPreset, CallbackTarget, Definition, Executor, HttpMode, HttpTask,
    MisfirePolicy, Overlap, RetryPolicy, ScheduleSpec,
};
use cronwright_core::time::SECOND;
use cronwright_sim::script::{Act, Deed, Part, Reply, Script, When};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    #[serde(rename = "why")]
    _why: Vec<String>,
    pub scenarios: Vec<Scenario>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scenario {
    pub claim: String,
    pub why: String,
    jobs: BTreeMap<String, JobForm>,
    acts: Vec<ActForm>,
    pub expect: BTreeMap<String, Vec<RunForm>>,
    pub deliveries: Vec<String>,
    /// How long the real arm watches; this one always watches far longer.
    #[serde(default, rename = "quietMs")]
    _quiet_ms: i64,
}

/// A job in the scenarios' own form.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct JobForm {
    every: Option<i64>,
    at: Option<i64>,
    after: Option<String>,
    after_failure: Option<String>,
    retries: Option<Vec<i64>>,
    overlap: Option<Overlap>,
    timeout_ms: Option<i64>,
    deadline_ms: Option<i64>,
    mode: Option<HttpMode>,
    callee: Vec<ReplyForm>,
    callback: Option<Vec<ReplyForm>>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum ReplyForm {
    Status(u16),
    Long(LongReply),
}

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct LongReply {
    status: Option<u16>,
    delay_ms: i64,
    hold: bool,
    hang: bool,
    closes: bool,
    lose_answer: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActForm {
    #[serde(default)]
    when: WhenForm,
    #[serde(rename = "do")]
    deed: String,
    job: Option<String>,
    key: Option<String>,
    run: Option<u64>,
    to: Option<JobForm>,
    #[serde(default)]
    refused: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WhenForm {
    job: Option<String>,
    starts: usize,
    deliveries: usize,
    ended: usize,
    running: usize,
    lost: usize,
    waiting: usize,
}

/// A run as the scenarios word it.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunForm {
    pub state: String,
    pub attempts: u32,
    pub ledger: Vec<String>,
    pub starts: usize,
    pub callback: String,
    pub deliveries: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again_ms: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_ms: Option<i64>,
}

impl Scenario {
    pub fn names(&self) -> Vec<&str> {
        self.jobs.keys().map(String::as_str).collect()
    }

    fn place(&self, job: &str) -> usize {
        let names = self.names();
        names.iter().position(|name| *name == job).unwrap()
    }

    pub fn script(&self) -> Script {
        let parts = self.jobs.iter().map(|(name, form)| Part {
            definition: definition(name, form),
            callee: form.callee.iter().map(reply).collect(),
            receiver: form.callback.iter().flatten().map(reply).collect(),
        });
        Script {
            parts: parts.collect(),
            acts: self.acts.iter().map(|act| self.act(act)).collect(),
        }
    }

    fn act(&self, form: &ActForm) -> Act {
        let named = form.when.job.as_ref().or(form.job.as_ref());
        let when = When {
            job: named.map_or(0, |job| self.place(job)),
            starts: form.when.starts,
            deliveries: form.when.deliveries,
            ended: form.when.ended,
            running: form.when.running,
            lost: form.when.lost,
            waiting: form.when.waiting,
        };
        Act {
            when,
            deed: self.deed(form),
            refused: form.refused,
        }
    }

    fn deed(&self, form: &ActForm) -> Deed {
        let name = || form.job.as_deref().unwrap();
        let job = form.job.as_deref().map_or(0, |job| self.place(job));
        let seq = || form.run.unwrap();
        match form.deed.as_str() {
            "run" => Deed::Run {
                job,
                key: format!("{} {}", name(), form.key.as_ref().unwrap()),
            },
            "cancel" => Deed::Cancel { job, seq: seq() },
            "complete" => Deed::Complete { job, seq: seq() },
            "pause" => Deed::Enable {
                job,
                enabled: false,
            },
            "resume" => Deed::Enable { job, enabled: true },
            "edit" => {
                let form = merged(&self.jobs[name()], form.to.as_ref().unwrap());
                Deed::Edit {
                    job,
                    definition: Box::new(definition(name(), &form)),
                }
            }
            "delete" => Deed::Delete { job },
            "release" => Deed::Release { job },
            "down" => Deed::Receiver { job, gone: true },
            "up" => Deed::Receiver { job, gone: false },
            "kill" => Deed::Kill,
            other => panic!("an act that this arm does not know: {other}"),
        }
    }
}

fn reply(form: &ReplyForm) -> Reply {
    let long = match form {
        ReplyForm::Status(status) => {
            return Reply::Status {
                status: *status,
                after_ms: 0,
            };
        }
        ReplyForm::Long(long) => long,
    };
    if long.hold {
        Reply::Hold
    } else if long.hang {
        Reply::Hang
    } else if long.closes {
        Reply::Closes
    } else if long.lose_answer {
        Reply::LosesAnswer
    } else {
        Reply::Status {
            status: long.status.unwrap_or(200),
            after_ms: long.delay_ms,
        }
    }
}

fn merged(form: &JobForm, to: &JobForm) -> JobForm {
    let to = to.clone();
    JobForm {
        every: to.every.or(form.every),
        at: to.at.or(form.at),
        retries: to.retries.or_else(|| form.retries.clone()),
        overlap: to.overlap.or(form.overlap),
        timeout_ms: to.timeout_ms.or(form.timeout_ms),
        deadline_ms: to.deadline_ms.or(form.deadline_ms),
        ..form.clone()
    }
}

fn definition(name: &str, form: &JobForm) -> Definition {
    let job_id = |name: &str| name.parse().unwrap();
    let after = |job: &String, on: AfterOn| ScheduleSpec::After {
        job: job_id(job),
        on,
    };
    let schedule = if let Some(seconds) = form.at {
        ScheduleSpec::At {
            at: Script::START.plus(seconds * SECOND),
        }
    } else if let Some(seconds) = form.every {
        ScheduleSpec::Every {
            period_ms: seconds * SECOND,
            anchor: Script::START,
        }
    } else if let Some(job) = &form.after {
        after(job, AfterOn::Success)
    } else if let Some(job) = &form.after_failure {
        after(job, AfterOn::Failure)
    } else {
        ScheduleSpec::None
    };
    let delays = form.retries.clone().unwrap_or_default();
    let retry = RetryPolicy {
        times: u32::try_from(delays.len()).unwrap(),
        ..RetryPolicy::default()
    };
    let callback = form.callback.as_ref().map(|_| CallbackTarget {
        app: "app".parse().unwrap(),
        url: format!("https://receiver.example/{name}"),
        preset: CallbackPreset::Standard,
    });
    Definition {
        job_id: job_id(name),
        name: name.to_owned(),
        description: None,
        owner: None,
        labels: BTreeMap::new(),
        schedule,
        start_at: None,
        end_at: None,
        jitter_ms: 0,
        blackouts: Vec::new(),
        executor: Executor::Http(HttpTask {
            url: format!("https://callee.example/{name}"),
            method: "POST".to_owned(),
            headers: BTreeMap::new(),
            body: None,
            expect: vec![(200, 299)],
            mode: form.mode.unwrap_or(HttpMode::Sync),
        }),
        pool: None,
        route_strategy: None,
        route_key: None,
        timeout_ms: form.timeout_ms.unwrap_or(20_000),
        deadline_ms: form.deadline_ms,
        warn_after_ms: None,
        retry: if delays.is_empty() {
            retry
        } else {
            RetryPolicy {
                delays_ms: delays,
                ..retry
            }
        },
        misfire: MisfirePolicy::default(),
        overlap: form.overlap.unwrap_or(Overlap::Skip),
        queue_limit: 1,
        callback,
    }
}
