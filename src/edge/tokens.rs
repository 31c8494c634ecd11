//! Tokens.

use cronwright_core::ids::JobId;
use cronwright_core::schedule::rfc3339;
use cronwright_core::time::{DAY, Millis};
use cronwright_protocol::api::{Role, Token as Shown, TokenPage, TokenRequest, TokenText};
use cronwright_protocol::keys::{Token, TokenKind, token_hash};
use cronwright_protocol::problem::Code;
use serde_json::json;

use super::call::{Call, random_bytes, random_hex};
use super::error::{Answer, Failure};
use super::respond::Reply;
use super::{audit, auth, limits};
use crate::store;
use crate::store::tokens::TokenRow;

/// Tokens that are listed.
const MOST: u32 = 500;

/// `GET /api/v1/tokens`.
pub async fn list(call: &Call) -> Answer<Reply> {
    let mut rows = store::tokens::list(&call.db()?, None, MOST).await?;
    rows.sort_by(|a, b| {
        b.created_at
            .cmp(&a.created_at)
            .then_with(|| a.id.cmp(&b.id))
    });
    Reply::json(
        200,
        &TokenPage {
            items: rows.iter().map(shown).collect(),
        },
    )
}

/// `POST /api/v1/tokens`.
pub async fn create(call: &mut Call) -> Answer<Reply> {
    let request: TokenRequest =
        limits::body(call, &["name", "role", "jobs", "expiresInDays"]).await?;
    limits::text("name", &request.name, 1, 100)?;
    let Some(role) = Role::parse(&request.role) else {
        return Err(Failure::field(
            "role",
            "unknown_value",
            "use admin, operator or viewer",
        ));
    };
    let days = request.expires_in_days.unwrap_or(90);
    if !(1..=365).contains(&days) {
        return Err(Failure::field(
            "expiresInDays",
            "out_of_range",
            "1 to 365 days",
        ));
    }
    let jobs = request.jobs.map(|jobs| reach(&jobs, role)).transpose()?;
    let made = mint(
        call,
        &request.name,
        role,
        jobs,
        Some(call.now.plus(i64::from(days) * DAY)),
    );
    if !store::tokens::create(&call.db()?, &made.row, &made.hash).await? {
        return Err(Failure::new(
            Code::Internal,
            "the token could not be made; try again",
        ));
    }
    audit::done(call, &made.row.id, json!({"name": made.row.name, "role": role.as_str(), "jobs": made.row.jobs, "expiresAt": made.row.expires_at.map(rfc3339)})).await;
    Reply::json(
        201,
        &TokenText {
            token: shown(&made.row),
            text: made.text,
        },
    )
}

fn reach(jobs: &[String], role: Role) -> Answer<Vec<JobId>> {
    if role == Role::Admin {
        return Err(Failure::field(
            "jobs",
            "conflict",
            "an administrator reaches every job",
        ));
    }
    if jobs.is_empty() || jobs.len() > 100 {
        return Err(Failure::field(
            "jobs",
            "length",
            "name 1 to 100 jobs, or leave jobs out for all",
        ));
    }
    let read = jobs.iter().enumerate().map(|(index, id)| {
        id.parse().map_err(|error: cronwright_core::ids::IdError| {
            Failure::field(&format!("jobs[{index}]"), "bad_id", error.to_string())
        })
    });
    read.collect()
}

/// A token that is about to be kept.
pub struct Minted {
    /// What is kept.
    pub row: TokenRow,
    /// Its hash.
    pub hash: String,
    /// Its text, shown once.
    pub text: String,
}

/// A fresh API token.
pub fn mint(
    call: &Call,
    name: &str,
    role: Role,
    jobs: Option<Vec<JobId>>,
    expires_at: Option<Millis>,
) -> Minted {
    let token = Token::mint(TokenKind::Api, random_bytes());
    let row = TokenRow {
        id: format!("tok_{}", random_hex::<10>()),
        name: name.to_owned(),
        role: match role {
            Role::Viewer => store::tokens::Role::Viewer,
            Role::Operator => store::tokens::Role::Operator,
            Role::Admin => store::tokens::Role::Admin,
        },
        jobs,
        created_at: call.now,
        created_by: call.caller.name.clone(),
        expires_at,
        revoked_at: None,
        last_used_at: None,
    };
    Minted {
        row,
        hash: token_hash(token.text()),
        text: token.text().to_owned(),
    }
}

/// `DELETE /api/v1/tokens/{tokenId}`.
pub async fn revoke(call: &Call) -> Answer<Reply> {
    let id = call.params.get("tokenId");
    let db = call.db()?;
    let missing = || Failure::new(Code::TokenNotFound, format!("there is no token {id}"));
    let row = store::tokens::get(&db, id).await?.ok_or_else(missing)?;
    if row.role == store::tokens::Role::Admin && row.is_live(call.now) {
        let all = store::tokens::list(&db, None, MOST).await?;
        // Sign-in codes make administrators for a day, who do not count.
        let lasting = |other: &TokenRow| {
            other.role == store::tokens::Role::Admin
                && other.is_live(call.now)
                && !other.id.starts_with("code_")
        };
        if !all.iter().any(|other| other.id != row.id && lasting(other)) {
            return Err(Failure::new(
                Code::LastAdmin,
                "this is the last administrator's token: make another one first",
            ));
        }
    }
    store::tokens::revoke(&db, id, call.now).await?;
    auth::forget();
    audit::done(call, id, json!({"name": row.name})).await;
    Ok(Reply::empty(204))
}

/// A token as the API shows it.
pub fn shown(row: &TokenRow) -> Shown {
    Shown {
        token_id: row.id.clone(),
        name: row.name.clone(),
        role: super::call::Caller::of(row).role,
        jobs: row
            .jobs
            .as_ref()
            .map(|jobs| jobs.iter().map(ToString::to_string).collect()),
        created_at: rfc3339(row.created_at),
        created_by: row.created_by.clone(),
        expires_at: row.expires_at.map(rfc3339),
        revoked_at: row.revoked_at.map(rfc3339),
        last_used_at: row.last_used_at.map(rfc3339),
    }
}
