//! Text stays text: no field of any page becomes markup.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use cronwright::ui::error::Problem;
use cronwright::ui::home::{Filter, Home, JobLine, RunLine};
use cronwright::ui::sign_in::SignIn;
use cronwright::ui::{Frame, Lang, error, home, sign_in};
use cronwright_core::outcome::RunState;

mod sample;
use sample::{frame, job, last, moment, runs};

#[rustfmt::skip]
const PAYLOADS: [&str; 40] = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "\"><script>alert(1)</script>",
    "'><img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)",
    "' onfocus='alert(1)' autofocus='",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "<!--<script>alert(1)//-->",
    "--><script>alert(1)</script>",
    "]]><script>alert(1)</script>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<math><mi xlink:href=\"data:x,<script>alert(1)</script>\">",
    "<a href=javascript:alert(1)>x</a>",
    "<form action=javascript:alert(1)><button>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<body onload=alert(1)>",
    "<base href=//evil.example/>",
    "<link rel=stylesheet href=//evil.example/>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<object data=//evil.example>",
    "<embed src=//evil.example>",
    "<style>*{display:none}</style>",
    "<p style=position:fixed>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    "<template><script>alert(1)</script></template>",
    "<ScRiPt>alert(1)</sCrIpT>",
    "<script/src=//evil.example>",
    "<<script>alert(1)//<</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#x3c;script&#x3e;alert(1)&#x3c;/script&#x3e;",
    "{{constructor.constructor('alert(1)')()}}",
    "${alert(1)}",
    "\u{1b}]0;title\u{7}<b>x</b>",
    "\u{202e}<b>gnp.exe</b>\u{0}",
];

/// Tags and attribute names of a page, without any text: what a browser would make of it.
fn skeleton(html: &str) -> Vec<String> {
    let mut tags = Vec::new();
    for tag in html
        .split('<')
        .skip(1)
        .map(|rest| rest.split('>').next().unwrap())
    {
        let outside_quotes = tag.split('"').step_by(2).collect::<String>();
        tags.push(outside_quotes);
    }
    tags
}

/// Every page with `text` in every field that is text.
fn pages_with(text: &str) -> Vec<String> {
    let t = || text.to_owned();
    let some = || Some(t());
    let frame = Frame {
        version: t(),
        tzdb: t(),
        who: some(),
        other_lang_href: t(),
        api_href: some(),
        ..frame(Lang::En)
    };
    let last = last(RunState::Failed, moment(0, 0), Some(1), Some(text));
    let job = JobLine {
        schedule: t(),
        cron: some(),
        quarantined: some(),
        last,
        next: Some(moment(1, 0)),
        href: some(),
        ..job(text, text)
    };
    let run = RunLine {
        id: t(),
        href: some(),
        job: t(),
        trigger: t(),
        error_code: some(),
        summary: some(),
        ..runs(Lang::En)[0].clone()
    };
    let filter = Filter {
        q: t(),
        status: None,
        paged: true,
    };
    let home = Home {
        frame: frame.clone(),
        filter,
        jobs: Some(vec![job]),
        more_href: some(),
        runs: Some(vec![run]),
        counts: None,
    };
    let ask = SignIn {
        frame: frame.clone(),
        problem: some(),
        next: some(),
        code: some(),
        setup_href: some(),
    };
    let problem = Problem {
        frame,
        status: 500,
        title: t(),
        detail: some(),
        hint: some(),
        code: t(),
        request_id: some(),
    };
    vec![
        home::render(&home),
        sign_in::render(&ask),
        error::render(&problem),
    ]
}

#[test]
fn no_text_in_any_field_becomes_markup() {
    let plain: Vec<Vec<String>> = pages_with("plain")
        .iter()
        .map(|html| skeleton(html))
        .collect();
    for payload in PAYLOADS {
        let pages = pages_with(payload);
        let found: Vec<Vec<String>> = pages.iter().map(|html| skeleton(html)).collect();
        assert_eq!(found, plain, "{payload}");
        let escaped = payload
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;");
        assert!(
            pages.iter().all(|html| html.contains(&escaped)),
            "{payload} is not shown as it is"
        );
    }
}
