//! The first administrator: exactly one of any number of set-ups wins, by constraint.

use cronwright_core::time::Millis;

use super::cells::Reader;
use super::tokens::{self, TokenRow};
use super::{Database, Query, StoreError, first};

/// Every statement of this file.
pub const STATEMENTS: &[(&str, &str)] = &[
    ("setup::CLAIM", CLAIM),
    ("setup::FIRST_TOKEN", FIRST_TOKEN),
    ("setup::WINNER", WINNER),
];

const CLAIM: &str = "INSERT INTO setup (only_row, token_id, at) VALUES (1, ?1, ?2) ON CONFLICT (only_row) DO NOTHING";

// In one transaction with the claim, and only for the one that won it.
const FIRST_TOKEN: &str = "
INSERT INTO tokens (token_id, hash, name, role, jobs, created_at, created_by, expires_at)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM setup WHERE only_row = 1 AND token_id = ?1
ON CONFLICT (token_id) DO NOTHING";

const WINNER: &str = "SELECT token_id FROM setup WHERE only_row = 1";

/// Whether somebody has set this installation up.
///
/// # Errors
/// When the database fails.
pub async fn is_done(db: &impl Database) -> Result<bool, StoreError> {
    Ok(winner(db).await?.is_some())
}

/// Makes `token` the first one, if none is. Answers whether it is the first; repeating a call that won
/// wins again, since the answer to the first call may have been lost.
///
/// # Errors
/// When the database fails; the call may be repeated with the same token.
pub async fn claim(
    db: &impl Database,
    token: &TokenRow,
    hash: &str,
    now: Millis,
) -> Result<bool, StoreError> {
    let claim = Query::new(CLAIM, [token.id.as_str().into(), now.into()]);
    let first_token = Query::new(FIRST_TOKEN, tokens::values(token, hash)?);
    db.write(vec![claim, first_token]).await?;
    Ok(winner(db).await?.as_deref() == Some(token.id.as_str()))
}

async fn winner(db: &impl Database) -> Result<Option<String>, StoreError> {
    first(db.read(Query::new(WINNER, [])).await?, |row| {
        Reader::new("setup", row).text("token_id")
    })
}
