//! Posts: requests that an object hands to the stateless executor of the same Worker.
//!
//! Both ends may be of different versions while a deployment spreads, so names never change their
//! meaning, what is new is optional, and what is unknown is skipped. Names are short and defaults are
//! left out: thousands of these cross at midnight.

use cronwright_core::outcome::FetchFault;
use cronwright_core::time::Millis;
use serde::{Deserialize, Serialize};

/// What is posted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PostKind {
    /// An attempt of an HTTP job.
    #[default]
    #[serde(rename = "j")]
    Job,
    /// A callback.
    #[serde(rename = "c")]
    Callback,
}

/// The request body of the executor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostBatch {
    /// In no order: they run beside each other.
    #[serde(rename = "p")]
    pub posts: Vec<Post>,
}

/// One request to make.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// The caller's handle, repeated in the answer.
    #[serde(rename = "i")]
    pub id: u64,
    /// What it is, hence which headers it carries and how its answer is judged.
    #[serde(rename = "k", default, skip_serializing_if = "is_default")]
    pub kind: PostKind,
    /// The run's `scheduleId`.
    #[serde(rename = "r")]
    pub run: String,
    /// The job's id.
    #[serde(rename = "j")]
    pub job: String,
    /// Which attempt of the run, or of the delivery; 1 is the first.
    #[serde(rename = "n")]
    pub attempt: u32,
    /// The lease's fence.
    #[serde(rename = "f", default, skip_serializing_if = "is_default")]
    pub fence: u64,
    /// The planned instant.
    #[serde(rename = "t", default, skip_serializing_if = "is_default")]
    pub planned_at: Millis,
    /// Where to. The executor checks it again: see [`crate::target`].
    #[serde(rename = "u")]
    pub url: String,
    /// In upper case.
    #[serde(rename = "m", default = "post", skip_serializing_if = "is_post")]
    pub method: String,
    /// The job's own headers; the executor adds ours.
    #[serde(rename = "h", default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// Sent as it is: templates are filled in before.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// One limit over head and body.
    #[serde(rename = "l")]
    pub timeout_ms: i64,
    /// Whose secrets sign; none means unsigned.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// Versions of the app's live secrets, newest first.
    #[serde(rename = "v", default, skip_serializing_if = "Vec::is_empty")]
    pub key_versions: Vec<u32>,
    /// Inclusive ranges of status codes that mean success; empty means 200–299.
    #[serde(rename = "e", default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<(u16, u16)>,
    /// Whether 202 means "will report later", so that a run token goes along.
    #[serde(rename = "w", default, skip_serializing_if = "is_default")]
    pub accepts_later: bool,
    /// How many redirects are followed.
    #[serde(rename = "d", default, skip_serializing_if = "is_default")]
    pub redirects: u8,
}

/// What came of one post: one JSON line of the streamed answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    /// The caller's handle.
    #[serde(rename = "i")]
    pub id: u64,
    /// When the request left.
    #[serde(rename = "t")]
    pub started_at: Millis,
    /// How long it took, body included.
    #[serde(rename = "m")]
    pub ms: i64,
    /// The response's status, if there was one.
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What went wrong, if something did; may stand beside a status (a body that broke off).
    #[serde(rename = "f", default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<FetchFault>,
    /// The fault in words, for the ledger.
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The beginning of the response's body; bytes that are not UTF-8 became U+FFFD.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Whether the body went on.
    #[serde(rename = "c", default, skip_serializing_if = "is_default")]
    pub truncated: bool,
    /// `Retry-After`, within bounds: see [`super::parse_retry_after`].
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<i64>,
    /// The response's content type.
    #[serde(rename = "y", default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
}

/// A text between our own parts that is not what it should be.
#[derive(Debug, thiserror::Error)]
#[error("not a valid message between objects and executor: {0}")]
pub struct WireError(#[from] serde_json::Error);

impl PostBatch {
    /// The request body.
    ///
    /// # Errors
    ///
    /// Never in practice: every value here has a JSON form.
    pub fn to_text(&self) -> Result<String, WireError> {
        Ok(serde_json::to_string(self)?)
    }

    /// Reads a request body.
    ///
    /// # Errors
    ///
    /// When the text is no batch.
    pub fn from_text(text: &str) -> Result<Self, WireError> {
        Ok(serde_json::from_str(text)?)
    }
}

impl Posted {
    /// One line, with its line feed. JSON escapes line feeds in values, so there is no other.
    ///
    /// # Errors
    ///
    /// Never in practice: every value here has a JSON form.
    pub fn to_line(&self) -> Result<String, WireError> {
        let mut line = serde_json::to_string(self)?;
        line.push('\n');
        Ok(line)
    }

    /// Reads one line, with or without its line feed.
    ///
    /// # Errors
    ///
    /// When the text is no answer; half a line never is one.
    pub fn from_line(line: &str) -> Result<Self, WireError> {
        Ok(serde_json::from_str(line)?)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn post() -> String {
    "POST".to_owned()
}

fn is_post(method: &str) -> bool {
    method == "POST"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_post_crosses_in_its_short_form() {
        let plain = Post {
            id: 7,
            run: "run_3_1f_rs_v1".into(),
            job: "order-sync".into(),
            attempt: 1,
            url: "https://example.com/".into(),
            method: "POST".into(),
            timeout_ms: 30_000,
            ..Post::default()
        };
        let batch = PostBatch { posts: vec![plain] };
        let text = batch.to_text().unwrap();
        assert_eq!(
            text,
            r#"{"p":[{"i":7,"r":"run_3_1f_rs_v1","j":"order-sync","n":1,"u":"https://example.com/","l":30000}]}"#
        );
        assert_eq!(PostBatch::from_text(&text).unwrap(), batch);
    }

    #[test]
    fn a_full_post_reads_back_as_it_was_written() {
        let full = Post {
            id: u64::MAX,
            kind: PostKind::Callback,
            run: "r".into(),
            job: "j".into(),
            attempt: 3,
            fence: 9,
            planned_at: Millis(5),
            url: "https://example.com/".into(),
            method: "PUT".into(),
            headers: vec![("accept".into(), "*/*".into())],
            body: Some("{\"a\":\"\u{2028}\n\"}".into()),
            timeout_ms: 1,
            app: Some("erp".into()),
            key_versions: vec![2, 1],
            expect: vec![(200, 204)],
            accepts_later: true,
            redirects: 3,
        };
        let batch = PostBatch { posts: vec![full] };
        assert_eq!(
            PostBatch::from_text(&batch.to_text().unwrap()).unwrap(),
            batch
        );
    }

    #[test]
    fn an_answer_is_one_line_whatever_the_body_holds() {
        let posted = Posted {
            id: 1,
            started_at: Millis(2),
            ms: 3,
            status: Some(200),
            fault: Some(FetchFault::Network),
            detail: Some("broke\noff".into()),
            body: Some("a\r\nb\u{fffd}".into()),
            truncated: true,
            retry_after_ms: Some(4),
            content_type: Some("text/plain".into()),
        };
        let line = posted.to_line().unwrap();
        assert_eq!(line.matches('\n').count(), 1);
        assert_eq!(Posted::from_line(&line).unwrap(), posted);
        assert!(Posted::from_line(&line[..line.len() - 4]).is_err());
    }

    #[test]
    fn an_answer_of_a_newer_version_is_read() {
        let line = r#"{"i":1,"t":2,"m":3,"new":{"x":[1]}}"#;
        assert_eq!(Posted::from_line(line).unwrap().id, 1);
    }
}
