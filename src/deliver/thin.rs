//! The runtime's `fetch`, bound as thinly as can be: see `thin.js`.

use cronwright_core::outcome::FetchFault;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/deliver/thin.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    fn exchange(
        url: &str,
        init: &str,
        signal: &web_sys::AbortSignal,
        cap: u32,
    ) -> Result<js_sys::Promise, JsValue>;
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = randomUUID)]
    fn random_uuid() -> String;
}

/// Bytes of a response that are kept.
const CAP: u32 = 16 * 1024;

/// A UUID from the runtime's entropy.
pub fn nonce() -> String {
    random_uuid()
}

/// What came back.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Answer {
    /// The response's status, if there was one.
    pub status: Option<u16>,
    /// Its content type.
    pub content_type: Option<String>,
    /// Where it points.
    pub location: Option<String>,
    /// When to come again.
    pub retry_after: Option<String>,
    /// The beginning of its body.
    pub body: Option<String>,
    /// Whether the body went on.
    pub truncated: bool,
    /// What went wrong, before the response or in its body.
    pub fault: Option<FetchFault>,
    /// The runtime's own words.
    pub detail: Option<String>,
}

#[derive(Serialize)]
struct Init<'a> {
    method: &'a str,
    headers: &'a [(String, String)],
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
}

/// Sends a request. Redirects come back as they are.
pub async fn send(
    url: &str,
    method: &str,
    headers: &[(String, String)],
    body: Option<&str>,
    signal: &web_sys::AbortSignal,
) -> Answer {
    let init = serde_json::to_string(&Init {
        method,
        headers,
        body,
    })
    .unwrap_or_default();
    let internal = |detail: String| Answer {
        fault: Some(FetchFault::Internal),
        detail: Some(detail),
        ..Answer::default()
    };
    let promise = match exchange(url, &init, signal, CAP) {
        Ok(promise) => promise,
        Err(error) => return internal(format!("{error:?}")),
    };
    match JsFuture::from(promise).await {
        Ok(text) => serde_json::from_str(&text.as_string().unwrap_or_default())
            .unwrap_or_else(|error| internal(error.to_string())),
        Err(error) => internal(format!("{error:?}")),
    }
}

/// A signal that fires after `ms`.
pub fn deadline(ms: i64) -> web_sys::AbortSignal {
    web_sys::AbortSignal::timeout_with_u32(u32::try_from(ms.max(1)).unwrap_or(u32::MAX))
}
