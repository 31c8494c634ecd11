//! The runtime's `fetch`, bound as thinly as can be: see `thin.js`.

use cronwright_core::outcome::FetchFault;
use cronwright_core::time::Millis;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

mod js {
    use super::wasm_bindgen;
    use wasm_bindgen::JsValue;

    #[wasm_bindgen(module = "/src/deliver/thin.js")]
    extern "C" {
        pub type Flock;

        #[wasm_bindgen(constructor)]
        pub fn new() -> Flock;

        #[wasm_bindgen(method, catch)]
        pub fn send(this: &Flock, list: &str) -> Result<(), JsValue>;

        #[wasm_bindgen(method)]
        pub fn ended(this: &Flock, ms: u32) -> js_sys::Promise;
    }

    #[wasm_bindgen]
    extern "C" {
        #[wasm_bindgen(js_namespace = crypto, js_name = randomUUID)]
        pub fn random_uuid() -> String;
    }
}

/// Bytes of a response that are kept.
const CAP: u32 = 16 * 1024;

/// A UUID from the runtime's entropy.
pub fn nonce() -> String {
    js::random_uuid()
}

/// A request to send.
#[derive(Debug, Serialize)]
pub struct Request<'a> {
    /// The place in the batch, repeated in the answer.
    pub id: usize,
    /// Where to.
    pub url: &'a str,
    /// In upper case.
    pub method: &'a str,
    /// All of them.
    pub headers: &'a [(String, String)],
    /// If it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<&'a str>,
    /// The time limit in ms, over the answer's body and over redirects too.
    pub limit: i64,
    /// Bytes of the answer's body that are wanted.
    pub cap: u32,
}

impl Default for Request<'_> {
    fn default() -> Self {
        Self {
            id: 0,
            url: "",
            method: "POST",
            headers: &[],
            body: None,
            limit: 1,
            cap: CAP,
        }
    }
}

/// What came back.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Answer {
    /// Of which request.
    pub id: usize,
    /// When all of it was there.
    pub at: Millis,
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

/// Requests under way beside each other.
pub struct Flock(js::Flock);

impl Flock {
    /// None under way yet.
    pub fn new() -> Self {
        Self(js::Flock::new())
    }

    /// Sends requests. Redirects come back as they are.
    ///
    /// # Errors
    /// When the runtime takes none of them.
    pub fn send(&self, requests: &[Request<'_>]) -> Result<(), String> {
        let list = serde_json::to_string(requests).map_err(|error| error.to_string())?;
        self.0.send(&list).map_err(|error| format!("{error:?}"))
    }

    /// The answers since the last call: when all are there, or after `ms` those that are, or else the
    /// next one.
    ///
    /// # Errors
    /// When the runtime breaks its promise.
    pub async fn ended(&self, ms: u32) -> Result<Vec<Answer>, String> {
        let list = JsFuture::from(self.0.ended(ms))
            .await
            .map_err(|error| format!("{error:?}"))?;
        serde_json::from_str(&list.as_string().unwrap_or_default())
            .map_err(|error| error.to_string())
    }
}
