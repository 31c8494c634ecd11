//! Definitions and values that the tests start from.

use cronwright_core::ids::{AppId, JobId, JobRef, RunId, RunTag};
use cronwright_core::job::def::{
    CallbackPreset, CallbackTarget, Definition, Executor, HttpMode, HttpTask, Misfire,
    MisfirePolicy, Overlap, RetryOn, RetryPolicy, ScheduleSpec,
};
use cronwright_core::job::run::AttemptResult;
use cronwright_core::schedule::Dialect;
use cronwright_core::time::{HOUR, MINUTE, Millis};

/// 2026-12-01T00:00:00Z, a Tuesday. Every test begins here.
pub const T0: Millis = Millis(1_796_083_200_000);

pub const AT: JobRef = JobRef {
    shard: 3,
    number: 51,
};

pub fn job_id(name: &str) -> JobId {
    name.parse().unwrap()
}

/// A job that only runs on request.
pub fn by_hand() -> Definition {
    Definition {
        job_id: job_id("job_1"),
        name: "order-sync".to_owned(),
        description: None,
        owner: None,
        labels: std::collections::BTreeMap::new(),
        schedule: ScheduleSpec::None,
        start_at: None,
        end_at: None,
        jitter_ms: 0,
        blackouts: Vec::new(),
        executor: Executor::Http(HttpTask {
            url: "https://example.com/run".to_owned(),
            method: "POST".to_owned(),
            headers: std::collections::BTreeMap::new(),
            body: None,
            expect: vec![(200, 299)],
            mode: HttpMode::Sync,
        }),
        pool: None,
        route_strategy: None,
        route_key: None,
        timeout_ms: 30_000,
        deadline_ms: None,
        warn_after_ms: None,
        retry: RetryPolicy::default(),
        misfire: MisfirePolicy::default(),
        overlap: Overlap::Skip,
        queue_limit: 1,
        callback: None,
    }
}

/// A job of that period, from `T0` on.
pub fn every(period_ms: i64) -> Definition {
    Definition {
        schedule: ScheduleSpec::Every {
            period_ms,
            anchor: T0,
        },
        ..by_hand()
    }
}

pub fn minutely() -> Definition {
    every(MINUTE)
}

pub fn hourly() -> Definition {
    every(HOUR)
}

pub fn cron(text: &str, zone: &str) -> Definition {
    Definition {
        schedule: ScheduleSpec::Cron {
            text: text.to_owned(),
            dialect: Dialect::Quartz,
            zone: zone.to_owned(),
        },
        ..by_hand()
    }
}

pub fn once(at: Millis) -> Definition {
    Definition {
        schedule: ScheduleSpec::At { at },
        ..by_hand()
    }
}

pub fn accepting(definition: Definition) -> Definition {
    let Executor::Http(task) = definition.executor.clone();
    let executor = Executor::Http(HttpTask {
        mode: HttpMode::Accepted,
        ..task
    });
    Definition {
        executor,
        ..definition
    }
}

pub fn with_overlap(overlap: Overlap, definition: Definition) -> Definition {
    Definition {
        overlap,
        ..definition
    }
}

pub fn with_misfire(policy: Misfire, window: i64, most: u32, definition: Definition) -> Definition {
    let misfire = MisfirePolicy {
        policy,
        catch_up_window_ms: window,
        max_catch_up: most,
    };
    Definition {
        misfire,
        ..definition
    }
}

pub fn with_retries(times: u32, definition: Definition) -> Definition {
    let retry = RetryPolicy {
        times,
        delays_ms: vec![30_000, 120_000, 300_000],
        on: vec![RetryOn::Failed, RetryOn::TimedOut],
    };
    Definition {
        retry,
        ..definition
    }
}

pub fn target(url: &str) -> CallbackTarget {
    let app: AppId = "app_erp".parse().unwrap();
    CallbackTarget {
        app,
        url: url.to_owned(),
        preset: CallbackPreset::Standard,
    }
}

pub fn with_callback(url: &str, definition: Definition) -> Definition {
    Definition {
        callback: Some(target(url)),
        ..definition
    }
}

pub fn occurrence(at: Millis, version: u32) -> RunId {
    RunId {
        job: AT,
        at,
        tag: RunTag::Occurrence(version),
    }
}

/// A run of another job.
pub fn foreign(n: i64) -> RunId {
    let job = JobRef {
        shard: 7,
        number: 2,
    };
    RunId {
        job,
        at: T0.plus(n),
        tag: RunTag::Occurrence(1),
    }
}

pub fn result(status: u16, ms: i64) -> AttemptResult {
    let error_code = (status >= 400).then(|| format!("http_{status}"));
    AttemptResult {
        status: Some(status),
        error_code,
        summary: None,
        output: None,
        truncated: false,
        ms,
    }
}
