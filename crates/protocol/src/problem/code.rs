//! The table of problem codes: name, status, title. Nothing else maps an error to a status.

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident $name:literal $status:literal $title:literal;)*) => {
        /// A kind of problem. Names are stable and part of the API.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $($(#[$doc])* #[doc = $title] #[serde(rename = $name)] $variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The HTTP status.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// The kind of problem in words.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }
        }
    };
}

codes! {
    BadPath "bad_path" 400 "The path is not in its one canonical spelling";
    MalformedJson "malformed_json" 400 "The body is not JSON of the expected shape";
    TooDeep "too_deep" 400 "The JSON is nested too deeply";
    InvalidParameter "invalid_parameter" 400 "A parameter of the request is not valid";
    TokenMissing "token_missing" 401 "The request carries no token";
    TokenInvalid "token_invalid" 401 "The token is unknown, expired or revoked";
    CodeInvalid "code_invalid" 401 "The one-time code is wrong, used or expired";
    RoleMissing "role_missing" 403 "The token's role does not allow this";
    CrossSite "cross_site" 403 "The request comes from another site";
    NotFound "not_found" 404 "Nothing is here";
    JobNotFound "job_not_found" 404 "There is no such job";
    RunNotFound "run_not_found" 404 "There is no such run";
    AppNotFound "app_not_found" 404 "There is no such app";
    EndpointNotFound "endpoint_not_found" 404 "There is no such endpoint";
    DeliveryNotFound "delivery_not_found" 404 "There is no such delivery";
    TokenNotFound "token_not_found" 404 "There is no such token";
    MethodNotAllowed "method_not_allowed" 405 "The path does not take this method";
    JobExists "job_exists" 409 "A job of that id exists";
    JobDeleted "job_deleted" 409 "The job is being deleted";
    Quarantined "quarantined" 409 "The job is quarantined";
    RunActive "run_active" 409 "Another run of the job is active";
    RunEnded "run_ended" 409 "The run has ended";
    RunNotRunning "run_not_running" 409 "The run is not running";
    StaleFence "stale_fence" 409 "A newer attempt has taken over";
    QueueFull "queue_full" 409 "The queue of the job is full";
    CallbackNotReplayable "callback_not_replayable" 409 "The callback cannot be delivered again";
    AppExists "app_exists" 409 "An app of that id exists";
    AppRetired "app_retired" 409 "The app is retired";
    AlreadySetUp "already_set_up" 409 "Set-up is done";
    LastAdmin "last_admin" 409 "The last administrator's token cannot be revoked";
    Refused "refused" 409 "The state does not allow this";
    RevisionMismatch "revision_mismatch" 412 "The job was changed since it was read";
    TooLarge "too_large" 413 "The body is too large";
    UnsupportedMediaType "unsupported_media_type" 415 "The body's media type is not taken here";
    InvalidDocument "invalid_document" 422 "Fields of the body are not valid";
    TooManyFailures "too_many_failures" 429 "Too many failed attempts";
    Internal "internal" 500 "Something failed on our side";
    SettingMissing "setting_missing" 503 "A setting is missing";
    SettingBad "setting_bad" 503 "A setting is not usable";
    ObjectUnavailable "object_unavailable" 503 "The object that knows did not answer";
    DatabaseUnavailable "database_unavailable" 503 "The database did not answer";
}

impl Code {
    /// The code of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }

    /// The code of an object's refusal; a name this table does not have is a plain [`Code::Refused`].
    #[must_use]
    pub fn of_refusal(name: &str) -> Self {
        // A machine's word for a definition that it cannot compile.
        if name == "validation_failed" {
            return Self::InvalidDocument;
        }
        Self::parse(name)
            .filter(|code| (400..500).contains(&code.status()))
            .unwrap_or(Self::Refused)
    }
}
