//! Temporary, until the real edge lands.
use worker::{Context, Env, Request, Response, Result};
/// Temporary.
pub async fn handle(mut request: Request, env: Env, _context: Context) -> Result<Response> {
    let path = request.path();
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    if let ["debug", "shard", number] = parts.as_slice() {
        let text = request.text().await?;
        let ask: crate::host::message::ShardAsk = serde_json::from_str(&text)?;
        return match crate::host::client::ask_shard(&env, number.parse().unwrap_or(0), &ask).await {
            Ok(reply) => Response::from_json(&reply),
            Err(error) => Response::error(error.to_string(), 503),
        };
    }
    Response::from_json(&serde_json::json!({"status":"ok"}))
}
