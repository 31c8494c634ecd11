//! Apps, tokens, set-up and the audit.

use serde::{Deserialize, Serialize};

use super::role::Role;

/// An outside system that takes callbacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct App {
    /// The app's id, sent as `X-App-Id`.
    pub app_id: String,
    /// Shown to people.
    pub name: String,
    /// The version of its secret that signs.
    pub key_version: u32,
    /// During a rotation, the version that signs too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_version: Option<u32>,
    /// Until when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_until: Option<String>,
    /// When it was created.
    pub created_at: String,
    /// By whom.
    pub created_by: String,
}

/// An app and the secret of its newest key. Shown once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AppKey {
    /// The app.
    pub app: App,
    /// The secret, `whsec_…`: keep it, it is not shown again.
    pub secret: String,
}

/// A new app.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AppRequest {
    /// 1 to 64 of `A-Z a-z 0-9 _ -`.
    #[cfg_attr(
        feature = "openapi",
        schema(required = true, pattern = "^[A-Za-z0-9_-]{1,64}$")
    )]
    pub app_id: String,
    /// Shown to people. Default: the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 200))]
    pub name: Option<String>,
}

/// Apps, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AppPage {
    /// The apps.
    pub items: Vec<App>,
}

/// An API token, without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// The token's id; not secret.
    pub token_id: String,
    /// Who or what holds it; named in ledgers and in the audit.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// The jobs it reaches; missing means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<Vec<String>>,
    /// When it was made.
    pub created_at: String,
    /// By whom.
    pub created_by: String,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<String>,
    /// When it was last used, to the hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
}

/// A new token and its text. Shown once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokenText {
    /// The token.
    pub token: Token,
    /// Its text, `cw_api_…`: keep it, it is not shown again.
    pub text: String,
}

/// A token to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TokenRequest {
    /// Who or what will hold it.
    #[cfg_attr(
        feature = "openapi",
        schema(required = true, min_length = 1, max_length = 100)
    )]
    pub name: String,
    /// `admin`, `operator` or `viewer`.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub role: String,
    /// The jobs it reaches, at most 100; missing means all. An administrator's token reaches all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<Vec<String>>,
    /// Days until it ends, 1 to 365. Default 90.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 365))]
    pub expires_in_days: Option<u32>,
}

/// Tokens, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokenPage {
    /// The tokens.
    pub items: Vec<Token>,
}

/// The first administrator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SetupRequest {
    /// The one-time code that the deployer made.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub code: String,
    /// Name of the administrator's token.
    #[cfg_attr(
        feature = "openapi",
        schema(required = true, min_length = 1, max_length = 100)
    )]
    pub name: String,
}

/// One change and who made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditRow {
    /// Counts the rows.
    pub audit_id: u64,
    /// When.
    pub at: String,
    /// Who.
    pub actor: String,
    /// What was done, such as `createJob`.
    pub action: String,
    /// To what.
    pub object: String,
    /// More about it.
    pub detail: serde_json::Value,
    /// The request.
    pub request_id: String,
}

/// Changes, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditPage {
    /// The changes.
    pub items: Vec<AuditRow>,
    /// Give it as `cursor` for the next page; missing on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
