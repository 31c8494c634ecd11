//! Lists of jobs: which jobs, from the database; how they stand, from their shards.

use std::collections::BTreeMap;

use cronwright_core::ids::JobId;
use cronwright_core::job::view::{JobStatus, JobView};
use cronwright_protocol::api::role::Reach;
use cronwright_protocol::api::{Job, JobPage};
use futures_util::future::join_all;

use super::call::Call;
use super::error::{Answer, Failure};
use super::jobs::find;
use super::respond::Reply;
use crate::host::client::ask_shard;
use crate::host::message::{ShardAsk, ShardReply};
use crate::store;
use crate::store::jobs::{JobFilter, JobRow, LabelFilter};

/// Jobs of one list.
pub struct Listed {
    /// The jobs, by id.
    pub views: Vec<JobView>,
    /// Jobs whose shard did not answer, by id: how they stand is not known.
    pub silent: Vec<JobId>,
    /// The id after which the next page begins.
    pub next: Option<JobId>,
}

/// `GET /api/v1/jobs`.
pub async fn list(call: &Call) -> Answer<Reply> {
    let listed = page(call, call.limit()).await?;
    let items = listed
        .views
        .iter()
        .map(|view| Job::of(view, call.caller.role, call.now))
        .collect();
    Reply::json(
        200,
        &JobPage {
            items,
            next_cursor: listed.next.map(|id| id.to_string()),
        },
    )
}

/// A page of the jobs that the query asks for and the caller reaches.
pub async fn page(call: &Call, limit: u32) -> Answer<Listed> {
    let filter = filter(call, limit)?;
    match &call.caller.reach {
        Reach::All => from_database(call, filter).await,
        Reach::Jobs(jobs) => one_by_one(call, jobs.clone(), &filter).await,
    }
}

fn filter(call: &Call, limit: u32) -> Answer<JobFilter> {
    let label = call.param("label").map(|text| match text.split_once('=') {
        Some((label, value)) => LabelFilter {
            label: label.to_owned(),
            value: Some(value.to_owned()),
        },
        None => LabelFilter {
            label: text.to_owned(),
            value: None,
        },
    });
    let after = match call.param("cursor") {
        None => None,
        Some(text) => Some(
            text.parse()
                .map_err(|_| Failure::parameter("cursor", "this is no cursor"))?,
        ),
    };
    Ok(JobFilter {
        q: call.param("q").map(str::to_owned),
        status: call.param("status").and_then(JobStatus::parse),
        label,
        after,
        limit,
    })
}

async fn from_database(call: &Call, mut filter: JobFilter) -> Answer<Listed> {
    let keep = usize::try_from(filter.limit).unwrap_or(usize::MAX);
    filter.limit = filter.limit.saturating_add(1);
    let mut rows = store::jobs::list(&call.db()?, &filter).await?;
    let more = rows.len() > keep;
    rows.truncate(keep);
    let next = rows
        .last()
        .filter(|_| more)
        .map(|row| row.definition.job_id.clone());
    let mut by_shard: BTreeMap<u16, Vec<JobId>> = BTreeMap::new();
    for row in &rows {
        by_shard
            .entry(row.at.shard)
            .or_default()
            .push(row.definition.job_id.clone());
    }
    let asked = by_shard.into_iter().map(|(shard, jobs)| async move {
        ask_shard(&call.env, shard, &ShardAsk::Jobs { jobs: jobs.clone() })
            .await
            .map_err(|_| jobs)
    });
    let (mut live, mut silent) = (BTreeMap::new(), Vec::new());
    for reply in join_all(asked).await {
        match reply {
            Ok(ShardReply::Jobs(views)) => live.extend(
                views
                    .into_iter()
                    .map(|view| (view.definition.job_id.clone(), view)),
            ),
            // A job that its shard does not know was deleted; the database will hear of it.
            Ok(_) => {}
            Err(jobs) => silent.extend(jobs),
        }
    }
    let views = rows.into_iter().filter_map(|row| {
        let id = row.definition.job_id.clone();
        live.remove(&id)
            .or_else(|| silent.contains(&id).then(|| as_known(row)))
    });
    Ok(Listed {
        views: views
            .filter(|view| view.status != JobStatus::Deleted)
            .collect(),
        silent: silent.clone(),
        next,
    })
}

/// What the database knows of a job whose shard is silent.
fn as_known(row: JobRow) -> JobView {
    JobView {
        at: row.at,
        definition: row.definition,
        revision: row.revision,
        schedule_version: 0,
        status: row.status,
        created_at: row.created_at,
        updated_at: row.updated_at,
        next_due: None,
        open: Vec::new(),
        last: None,
        recent: Vec::new(),
        usual_ms: None,
        quarantined: None,
    }
}

/// A token that is limited to jobs names at most 100 of them: each is asked for.
async fn one_by_one(call: &Call, mut jobs: Vec<JobId>, filter: &JobFilter) -> Answer<Listed> {
    jobs.sort();
    jobs.dedup();
    jobs.retain(|job| filter.after.as_ref().is_none_or(|after| job > after));
    let found = join_all(jobs.iter().map(|job| find(call, job))).await;
    let mut views: Vec<JobView> = found
        .into_iter()
        .filter_map(Result::ok)
        .filter(|view| matches(view, filter))
        .collect();
    let keep = usize::try_from(filter.limit).unwrap_or(usize::MAX);
    let more = views.len() > keep;
    views.truncate(keep);
    let next = views
        .last()
        .filter(|_| more)
        .map(|view| view.definition.job_id.clone());
    Ok(Listed {
        views,
        silent: Vec::new(),
        next,
    })
}

fn matches(view: &JobView, filter: &JobFilter) -> bool {
    let definition = &view.definition;
    let wanted = filter
        .q
        .as_deref()
        .map(str::trim)
        .unwrap_or_default()
        .to_ascii_lowercase();
    let named = [definition.name.as_str(), definition.job_id.as_str()]
        .iter()
        .any(|text| text.to_ascii_lowercase().contains(&wanted));
    let labelled = filter.label.as_ref().is_none_or(|label| {
        definition
            .labels
            .get(&label.label)
            .is_some_and(|found| label.value.as_ref().is_none_or(|value| value == found))
    });
    named
        && labelled
        && view.status != JobStatus::Deleted
        && filter.status.is_none_or(|status| status == view.status)
}
