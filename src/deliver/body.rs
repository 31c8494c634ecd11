//! Reading a response's body, up to a cap.

use cronwright_core::outcome::FetchFault;
use futures_util::StreamExt;
use wasm_bindgen_futures::JsFuture;

use super::thin::fault;

/// Bytes of a response that are kept.
pub const CAP: usize = 16 * 1024;

/// What was read.
#[derive(Default)]
pub struct Read {
    /// The beginning, as text.
    pub text: Option<String>,
    /// Whether there was more.
    pub truncated: bool,
    /// What broke it off.
    pub fault: Option<(FetchFault, String)>,
}

/// Reads at most [`CAP`] bytes and lets go of the rest.
pub async fn read(response: &web_sys::Response) -> Read {
    let Some(stream) = response.body() else { return Read::default() };
    if is_short(response) {
        return match response.text().map(JsFuture::from) {
            Ok(text) => match text.await {
                Ok(text) => Read { text: text.as_string().filter(|text| !text.is_empty()), ..Read::default() },
                Err(error) => Read { fault: Some(fault(&error)), ..Read::default() },
            },
            Err(error) => Read { fault: Some(fault(&error)), ..Read::default() },
        };
    }
    let mut chunks = worker::ByteStream::from(stream);
    let mut bytes: Vec<u8> = Vec::new();
    let mut read = Read::default();
    while let Some(chunk) = chunks.next().await {
        match chunk {
            Ok(chunk) => bytes.extend_from_slice(&chunk),
            Err(error) => {
                let text = error.to_string();
                let kind = if text.contains("TimeoutError") || text.contains("timeout") { FetchFault::Timeout } else { FetchFault::Network };
                read.fault = Some((kind, text.chars().take(300).collect()));
                break;
            }
        }
        if bytes.len() > CAP {
            bytes.truncate(CAP);
            read.truncated = true;
            break;
        }
    }
    if !bytes.is_empty() {
        read.text = Some(String::from_utf8_lossy(&bytes).into_owned());
    }
    read
}

/// Whether the whole body is known to fit: a compressed one could be a bomb.
fn is_short(response: &web_sys::Response) -> bool {
    let headers = response.headers();
    let length = headers.get("content-length").ok().flatten().and_then(|text| text.parse::<usize>().ok());
    let encoded = headers.get("content-encoding").ok().flatten().is_some();
    !encoded && length.is_some_and(|length| length <= CAP)
}
