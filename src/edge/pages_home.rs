//! `/`: jobs, their last and next runs, and the latest runs.

use std::collections::BTreeMap;

use cronwright_core::ids::JobId;
use cronwright_core::job::def::ScheduleSpec;
use cronwright_core::job::view::{JobStatus, JobView};
use cronwright_core::schedule::{Lang, Zone};
use cronwright_core::time::{DAY, Millis};
use cronwright_protocol::api::words;
use futures_util::future::join3;

use super::call::Call;
use super::error::Answer;
use super::jobs_list::{self, Listed};
use super::pages::{frame, href, lang};
use super::respond::Reply;
use crate::store;
use crate::store::runs::{RunFilter, RunRow, TriggerKind};
use crate::ui::home::{Counts, Filter, Home, JobLine, RunLine, render};

/// Jobs on the page.
const JOBS: u32 = 50;
/// Runs on the page.
const RUNS: u32 = 20;

/// The page. What the database does not tell is left out, and the page says so.
pub async fn home(call: &Call) -> Answer<Reply> {
    let (jobs, runs, counts) = join3(jobs_list::page(call, JOBS), runs(call), counts(call)).await;
    let lang = lang(call);
    let next = jobs.as_ref().ok().and_then(|listed| listed.next.clone());
    let page = Home {
        frame: frame(call, Some(call.caller.name.clone())),
        counts,
        filter: Filter {
            q: call.param("q").unwrap_or_default().to_owned(),
            status: call.param("status").and_then(JobStatus::parse),
            paged: call.param("cursor").is_some(),
        },
        jobs: jobs.ok().map(|listed| lines(&listed, lang)),
        more_href: next.map(|id| href(call, &[("cursor", Some(id.as_str()))])),
        runs,
    };
    Ok(Reply::html(200, render(&page)))
}

fn lines(listed: &Listed, lang: Lang) -> Vec<JobLine> {
    let line = |view: &JobView| {
        let schedule = words(&view.definition.schedule);
        let schedule = match lang {
            Lang::En => schedule.en,
            Lang::Zh => schedule.zh,
        };
        if listed.silent.contains(&view.definition.job_id) {
            return JobLine::silent(&view.definition, view.status, schedule);
        }
        let zone = zone(&view.definition.schedule);
        JobLine::of(view, schedule, |at: Millis| {
            zone.as_ref().map_or(0, |zone| zone.offset_seconds_at(at))
        })
    };
    listed.views.iter().map(line).collect()
}

fn zone(spec: &ScheduleSpec) -> Option<Zone> {
    match spec {
        ScheduleSpec::Cron { zone, .. } => Zone::get(zone).ok(),
        ScheduleSpec::Every { .. }
        | ScheduleSpec::At { .. }
        | ScheduleSpec::After { .. }
        | ScheduleSpec::None => None,
    }
}

async fn runs(call: &Call) -> Option<Vec<RunLine>> {
    let db = call.db().ok()?;
    let mut rows = store::runs::latest(
        &db,
        &RunFilter {
            limit: RUNS,
            ..RunFilter::default()
        },
    )
    .await
    .ok()?;
    rows.retain(|row| call.caller.reach.holds(&row.job_id));
    let mut ids: Vec<JobId> = rows.iter().map(|row| row.job_id.clone()).collect();
    ids.sort();
    ids.dedup();
    let names = store::jobs::names(&db, &ids).await.unwrap_or_default();
    let lang = lang(call);
    Some(rows.iter().map(|row| run_line(row, &names, lang)).collect())
}

fn run_line(row: &RunRow, names: &BTreeMap<JobId, String>, lang: Lang) -> RunLine {
    RunLine {
        id: row.id.to_string(),
        href: None,
        job: names
            .get(&row.job_id)
            .cloned()
            .unwrap_or_else(|| row.job_id.to_string()),
        state: row.state,
        planned: row.id.at,
        late_ms: row.late_ms,
        ms: row.duration_ms,
        trigger: trigger(row, lang),
        attempts: row.attempts,
        error_code: row.error_code.clone(),
        summary: row.summary.clone(),
        missed: row.range_count,
    }
}

fn trigger(row: &RunRow, lang: Lang) -> String {
    let (en, zh) = match row.trigger {
        TriggerKind::Schedule => ("Schedule", "计划"),
        TriggerKind::CatchUp => ("Made up", "补跑"),
        TriggerKind::Manual => ("On request", "手动"),
        TriggerKind::Replay => ("Replay", "重放"),
        TriggerKind::After => ("After a job", "前置任务"),
    };
    let kind = match lang {
        Lang::En => en,
        Lang::Zh => zh,
    };
    row.trigger_by
        .as_ref()
        .map_or_else(|| kind.to_owned(), |by| format!("{kind} · {by}"))
}

/// Counts are over all jobs, so a token that is limited to some does not see them.
async fn counts(call: &Call) -> Option<Counts> {
    let db = call.db().ok()?;
    if !call.caller.reach.is_all() {
        return Some(Counts::default());
    }
    let runs = store::runs::counts(&db, call.now.plus(-DAY)).await.ok()?;
    let jobs = store::jobs::count(&db).await.ok()?;
    Some(Counts {
        failed: runs.failed,
        late: runs.late,
        running: runs.running,
        enabled: jobs.enabled,
        paused: jobs.paused,
    })
}
