//! A request on its way through.

use cronwright_core::time::Millis;
use cronwright_protocol::api::role::{Reach, Role};
use cronwright_protocol::api::routes::{Params, Route};
use cronwright_protocol::keys::MasterSecret;
use cronwright_protocol::problem::Code;
use cronwright_protocol::target::Policy;
use worker::{Context, D1Database, Env, Request, Url};

use super::error::{Answer, Failure};

/// A request on its way through.
pub struct Call {
    /// What came in.
    pub request: Request,
    /// Bindings and variables.
    pub env: Env,
    /// Keeps work going after the response.
    pub context: Context,
    /// Names the request in answers, logs and the audit.
    pub id: String,
    /// When it came in.
    pub now: Millis,
    /// Its address.
    pub url: Option<Url>,
    /// The route it was given, once it has been.
    pub route: Option<&'static Route>,
    /// Parameters of its path.
    pub params: Params,
    /// Parameters of its query, checked against the route.
    pub query: Vec<(String, String)>,
    /// Who asks, once that is known.
    pub caller: Caller,
}

/// Who asks.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The token's name.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// Which jobs it reaches.
    pub reach: Reach,
}

impl Caller {
    /// Somebody without a token.
    pub fn nobody() -> Self {
        Self {
            name: "nobody".to_owned(),
            role: Role::Viewer,
            reach: Reach::Jobs(Vec::new()),
        }
    }
}

impl Call {
    pub fn new(request: Request, env: Env, context: Context) -> Self {
        let url = request.url().ok();
        let now = Millis(i64::try_from(worker::Date::now().as_millis()).unwrap_or(i64::MAX));
        let id = random_hex::<12>();
        Self {
            request,
            env,
            context,
            id,
            now,
            url,
            route: None,
            params: Params::default(),
            query: Vec::new(),
            caller: Caller::nobody(),
        }
    }

    /// A header; empty is the same as missing.
    pub fn header(&self, name: &str) -> Option<String> {
        self.request
            .headers()
            .get(name)
            .ok()
            .flatten()
            .filter(|value| !value.is_empty())
    }

    /// A parameter of the query; empty is the same as missing.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// How many items a page has.
    pub fn limit(&self) -> u32 {
        self.param("limit")
            .and_then(|text| text.parse().ok())
            .unwrap_or(50)
            .clamp(1, 200)
    }

    /// The database.
    pub fn db(&self) -> Answer<D1Database> {
        self.env.d1("DB").map_err(|error| {
            Failure::logged(
                Code::DatabaseUnavailable,
                "the database is not bound",
                &error,
            )
        })
    }

    /// The deployment's secret. The route checks it first, so handlers always have it.
    pub fn master(&self) -> Answer<MasterSecret> {
        super::error::master(&self.env)
    }

    /// Which targets may be called: the deployment's own host never.
    pub fn targets(&self) -> Policy {
        let var = |name: &str| {
            self.env
                .var(name)
                .map(|value| value.to_string())
                .unwrap_or_default()
        };
        let mut policy = Policy::of_settings(&var("OWN_HOSTS"), &var("ALLOW_LOOPBACK"));
        let (host, port) = match &self.url {
            Some(url) => (
                url.host_str().unwrap_or_default().to_ascii_lowercase(),
                url.port_or_known_default().unwrap_or_default(),
            ),
            None => return policy,
        };
        if policy.allow_loopback {
            // Locally other ports of this machine are other programs, and it has several names.
            policy.own_hosts.extend(
                [host.as_str(), "localhost", "127.0.0.1", "[::1]"]
                    .map(|name| format!("{name}:{port}")),
            );
        } else {
            policy.own_hosts.push(host);
        }
        policy
    }
}

/// `N` random bytes in hexadecimal.
pub fn random_hex<const N: usize>() -> String {
    random_bytes::<N>()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Random bytes of the platform's generator.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0_u8; N];
    // The platform's generator does not fail; were it to, an all-zero token would be worse than an end.
    #[expect(clippy::panic, reason = "no entropy, no tokens")]
    if getrandom::fill(&mut bytes).is_err() {
        panic!("the platform gave no entropy");
    }
    bytes
}
