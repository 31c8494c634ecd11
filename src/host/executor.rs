//! Calling the executor: a batch out, answers back as they come.

use cronwright_protocol::wire::{PostBatch, Posted};
use futures_util::stream::{Stream, StreamExt};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use worker::{AbortSignal, ByteStream, Env};

use crate::deliver::WHOLE;

#[wasm_bindgen]
extern "C" {
    /// A service binding, for its `fetch` alone.
    type Service;

    #[wasm_bindgen(method, catch)]
    fn fetch(
        this: &Service,
        url: &str,
        init: &web_sys::RequestInit,
    ) -> Result<js_sys::Promise, JsValue>;
}

/// Hands a batch over. The stream ends with the executor's answer, or says what broke it.
///
/// # Errors
/// When the executor cannot be called.
pub async fn post(
    env: &Env,
    batch: &PostBatch,
    signal: Option<&AbortSignal>,
) -> Result<impl Stream<Item = Result<Posted, String>> + Unpin, String> {
    let text = |error: JsValue| {
        error
            .as_string()
            .or_else(|| {
                error
                    .dyn_ref::<js_sys::Error>()
                    .map(|error| String::from(error.message()))
            })
            .unwrap_or_default()
    };
    let binding = js_sys::Reflect::get(env, &JsValue::from_str("EXECUTOR")).map_err(text)?;
    let service: Service = binding.unchecked_into();
    let body = batch.to_text().map_err(|error| error.to_string())?;
    let init = web_sys::RequestInit::new();
    init.set_method("POST");
    init.set_body(&JsValue::from_str(&body));
    init.set_signal(signal.map(|signal| &**signal));
    let promise = service.fetch("https://executor/", &init).map_err(text)?;
    let response: web_sys::Response = JsFuture::from(promise)
        .await
        .map_err(text)?
        .unchecked_into();
    if response.status() != 200 {
        return Err(format!("the executor answered {}", response.status()));
    }
    let whole = response.headers().has(WHOLE).unwrap_or(false);
    if whole {
        let body = JsFuture::from(response.text().map_err(text)?)
            .await
            .map_err(text)?
            .as_string()
            .unwrap_or_default();
        let answers: Vec<_> = body.lines().map(answer).collect();
        return Ok(futures_util::stream::iter(answers).left_stream());
    }
    let stream = response.body().ok_or("the executor gave no answer")?;
    Ok(lines(ByteStream::from(stream)).right_stream())
}

fn answer(line: &str) -> Result<Posted, String> {
    Posted::from_line(line).map_err(|error| error.to_string())
}

/// Cuts chunks into lines.
fn lines(chunks: ByteStream) -> impl Stream<Item = Result<Posted, String>> + Unpin {
    let mut rest: Vec<u8> = Vec::new();
    let parts = chunks.map(move |chunk| match chunk {
        Err(error) => vec![Err(error.to_string())],
        Ok(bytes) => {
            rest.extend_from_slice(&bytes);
            let mut answers = Vec::new();
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                answers.push(answer(&String::from_utf8_lossy(&line)));
            }
            answers
        }
    });
    parts.flat_map(futures_util::stream::iter)
}
