//! Where the results of a job go.

use cronwright_core::ids::AppId;
use cronwright_core::job::def::{CallbackPreset, CallbackTarget};
use serde_json::Value;

use super::ReadContext;
use super::reader::{Errors, Object, wrong_type};
use super::target::{Callee, url_of};
use crate::problem::FieldError;

/// Reads `callbackUrl`, `callbackApp` (or `appId`) and `callbackPreset`.
pub(super) fn read(
    document: &mut Object,
    context: &ReadContext<'_>,
    errors: &mut Errors,
) -> Option<CallbackTarget> {
    const PRESETS: [(&str, CallbackPreset); 2] = [
        ("standard", CallbackPreset::Standard),
        ("durable", CallbackPreset::Durable),
    ];
    let url = document.take("callbackUrl");
    let app = document.take_either("callbackApp", "appId", errors);
    let preset = document.word("callbackPreset", &PRESETS, errors);
    let Some(url) = url else {
        if let Some((name, _)) = app {
            errors.add(FieldError::new(
                name,
                "not_applicable",
                "an app signs callbacks, and this job has no callbackUrl",
            ));
        }
        if preset.is_some() {
            errors.add(FieldError::new(
                "callbackPreset",
                "not_applicable",
                "this job has no callbackUrl",
            ));
        }
        return None;
    };
    let app = match app {
        None => "default".parse::<AppId>().ok(),
        Some((name, Value::String(id))) => match id.parse::<AppId>() {
            Ok(id) => Some(id),
            Err(error) => errors.none(FieldError::new(name, "bad_id", error.to_string())),
        },
        Some((name, other)) => errors.none(wrong_type(name, "the id of an app", &other)),
    };
    let Value::String(url) = url else {
        return errors.none(wrong_type("callbackUrl", "a URL", &url));
    };
    let url = url_of("callbackUrl", &url, Callee::Receiver, context, errors)?;
    Some(CallbackTarget {
        app: app?,
        url,
        preset: preset.unwrap_or_default(),
    })
}
