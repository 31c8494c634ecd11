//! Jobs: the newest copy wins, its labels with it, and filters take what is typed literally.

use std::collections::BTreeMap;

use cronwright::store::jobs;
use cronwright::store::jobs::{JobFilter, LabelFilter};
use cronwright_core::job::def::{AfterOn, MisfirePolicy, RetryPolicy, ScheduleSpec};
use cronwright_core::job::view::{JobStatus, JobView};
use cronwright_core::schedule::Dialect;
use cronwright_core::time::Millis;
use serde_json::json;

use crate::sqlite::{Sqlite, now};
use crate::{T, id};

fn job(name: &str, schedule: ScheduleSpec) -> JobView {
    let json = json!({
        "at": { "shard": 3, "number": 51 }, "revision": 1, "scheduleVersion": 1, "status": "ENABLED", "createdAt": T, "updatedAt": T,
        "open": [], "recent": [],
        "definition": {
            "jobId": name, "name": format!("Order sync {name} 100%_ÄÖ 订单"), "owner": "team-a", "labels": { "team": "erp", "job": name },
            "schedule": schedule, "timeoutMs": 30_000, "retry": RetryPolicy::default(), "misfire": MisfirePolicy::default(),
            "overlap": "skip", "queueLimit": 1, "callback": { "app": "erp", "url": "https://a.example/hook", "preset": "standard" },
            "executor": { "kind": "http", "url": "https://a.example/run", "method": "POST", "expect": [[200, 299]], "mode": "sync" },
        },
    });
    serde_json::from_value(json).unwrap()
}

fn every() -> ScheduleSpec {
    ScheduleSpec::Every {
        period_ms: 5_000,
        anchor: Millis(T),
    }
}

#[test]
fn a_job_of_every_kind_comes_back_as_it_was_saved() {
    let db = Sqlite::new();
    let cron = ScheduleSpec::Cron {
        text: "0 0/5 * * * ?".into(),
        dialect: Dialect::Quartz,
        zone: "Asia/Shanghai".into(),
    };
    let kinds = [
        cron,
        every(),
        ScheduleSpec::At { at: Millis(T) },
        ScheduleSpec::After {
            job: id("a"),
            on: AfterOn::Finish,
        },
        ScheduleSpec::None,
    ];
    for (n, schedule) in kinds.into_iter().enumerate() {
        let view = job(&format!("job_{n}"), schedule);
        now(jobs::upsert(&db, &view)).unwrap();
        let found = now(jobs::get(&db, &view.definition.job_id))
            .unwrap()
            .unwrap();
        assert_eq!(
            (found.definition, found.at, found.status, found.revision),
            (view.definition, view.at, view.status, 1)
        );
    }
    assert_eq!(now(jobs::get(&db, &id("job_9"))).unwrap(), None);
}

#[test]
fn the_newest_copy_of_a_job_wins_and_its_labels_with_it() {
    let db = Sqlite::new();
    let old = job("a", every());
    let mut new = job("a", every());
    (new.revision, new.updated_at, new.status) = (2, Millis(T + 1), JobStatus::Paused);
    new.definition.labels = BTreeMap::from([("team".to_owned(), "crm".to_owned())]);
    for view in [&old, &new, &old] {
        db.lose_answer.set(true);
        assert!(now(jobs::upsert(&db, view)).is_err());
        now(jobs::upsert(&db, view)).unwrap();
    }
    let found = now(jobs::get(&db, &id("a"))).unwrap().unwrap();
    assert_eq!((found.revision, found.status), (2, JobStatus::Paused));
    let labelled = |label: &str, value: Option<&str>| {
        let label = Some(LabelFilter {
            label: label.into(),
            value: value.map(str::to_owned),
        });
        now(jobs::list(
            &db,
            &JobFilter {
                label,
                limit: 9,
                ..JobFilter::default()
            },
        ))
        .unwrap()
        .len()
    };
    assert_eq!(
        [
            labelled("team", Some("crm")),
            labelled("team", None),
            labelled("team", Some("erp")),
            labelled("job", None)
        ],
        [1, 1, 0, 0]
    );
}

#[test]
fn a_job_made_anew_survives_late_news_of_the_deleted_one() {
    let db = Sqlite::new();
    let old = JobView {
        revision: 8,
        updated_at: Millis(T + 50),
        ..job("a", every())
    };
    let gone = JobView {
        status: JobStatus::Deleted,
        ..old.clone()
    };
    let new = JobView {
        created_at: Millis(T + 100),
        updated_at: Millis(T + 100),
        ..job("a", every())
    };
    for view in [&old, &gone, &new, &old, &gone] {
        now(jobs::upsert(&db, view)).unwrap();
    }
    assert_eq!(
        now(jobs::get(&db, &id("a"))).unwrap().unwrap().created_at,
        Millis(T + 100)
    );
    now(jobs::delete(&db, &id("a"))).unwrap();
    assert_eq!(now(jobs::get(&db, &id("a"))).unwrap(), None);
    assert_eq!(
        db.connection
            .query_row("SELECT count(*) FROM job_labels", [], |row| row.get(0)),
        Ok(0)
    );
}

#[test]
fn filters_find_parts_of_names_and_ids_and_take_them_literally() {
    let db = Sqlite::new();
    for n in 0..30 {
        let status = if n % 3 == 0 {
            JobStatus::Paused
        } else {
            JobStatus::Enabled
        };
        now(jobs::upsert(
            &db,
            &JobView {
                status,
                ..job(&format!("job_{n:02}"), every())
            },
        ))
        .unwrap();
    }
    let found = |q: &str| {
        now(jobs::list(
            &db,
            &JobFilter {
                q: Some(q.into()),
                limit: 500,
                ..JobFilter::default()
            },
        ))
        .unwrap()
        .len()
    };
    assert_eq!(
        [
            found("SYNC"),
            found("Job_1"),
            found("订单"),
            found("100%_"),
            found(" "),
            found("%"),
            found("1%"),
            found("jobx"),
            found(&"长".repeat(100))
        ],
        [30, 10, 30, 30, 30, 30, 0, 0, 0]
    );
    let filter = JobFilter {
        status: Some(JobStatus::Paused),
        after: Some(id("job_12")),
        limit: 3,
        ..JobFilter::default()
    };
    let page: Vec<String> = now(jobs::list(&db, &filter))
        .unwrap()
        .iter()
        .map(|row| row.definition.job_id.to_string())
        .collect();
    assert_eq!(page, ["job_15", "job_18", "job_21"]);
    let counts = now(jobs::count(&db)).unwrap();
    assert_eq!((counts.enabled, counts.paused), (20, 10));
    let names = now(jobs::names(&db, &[id("job_03"), id("nope")])).unwrap();
    assert_eq!(names.keys().collect::<Vec<_>>(), [&id("job_03")]);
}
