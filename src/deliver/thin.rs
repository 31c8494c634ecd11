//! The runtime's `fetch`, bound directly: thousands of requests go through here at midnight, and the
//! usual request builder costs more than the request.

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use cronwright_core::outcome::FetchFault;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = fetch, catch)]
    fn fetch_with(url: &str, init: &web_sys::RequestInit) -> Result<js_sys::Promise, JsValue>;

    #[wasm_bindgen(js_namespace = crypto, js_name = randomUUID)]
    fn random_uuid() -> String;
}

/// A UUID from the runtime's entropy.
pub fn nonce() -> String {
    random_uuid()
}

/// Sends a request. Redirects come back as they are.
///
/// # Errors
/// When there is no response: which kind of fault, and the runtime's own words.
pub async fn send(url: &str, method: &str, headers: &[(String, String)], body: Option<&str>, signal: &web_sys::AbortSignal) -> Result<web_sys::Response, (FetchFault, String)> {
    let init = web_sys::RequestInit::new();
    init.set_method(method);
    init.set_redirect(web_sys::RequestRedirect::Manual);
    init.set_signal(Some(signal));
    if let Some(body) = body {
        init.set_body(&JsValue::from_str(body));
    }
    let object = js_sys::Object::new();
    for (name, value) in headers {
        js_sys::Reflect::set(&object, &JsValue::from_str(name), &JsValue::from_str(value)).map_err(|error| fault(&error))?;
    }
    init.set_headers(&object);
    let promise = fetch_with(url, &init).map_err(|error| fault(&error))?;
    let response = JsFuture::from(promise).await.map_err(|error| fault(&error))?;
    response.dyn_into().map_err(|_| (FetchFault::Internal, "the runtime gave no response".to_owned()))
}

/// What a JavaScript error means.
pub fn fault(error: &JsValue) -> (FetchFault, String) {
    let error = error.dyn_ref::<js_sys::Error>();
    let name = error.map(|error| String::from(error.name())).unwrap_or_default();
    let message = error.map(|error| String::from(error.message())).unwrap_or_default();
    let kind = match name.as_str() {
        "TimeoutError" => FetchFault::Timeout,
        "AbortError" => FetchFault::Aborted,
        _ => FetchFault::Network,
    };
    (kind, message.chars().take(300).collect())
}

/// A signal that fires after `ms`.
pub fn deadline(ms: i64) -> web_sys::AbortSignal {
    web_sys::AbortSignal::timeout_with_u32(u32::try_from(ms.max(1)).unwrap_or(u32::MAX))
}
