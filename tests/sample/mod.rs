//! Pages full of what a page can be full of.
#![allow(dead_code, missing_docs, reason = "each test file uses a part")]

use cronwright::ui::error::Problem;
use cronwright::ui::home::{Counts, Filter, Home, JobLine, LastRun, RunLine};
use cronwright::ui::sign_in::SignIn;
use cronwright::ui::{Frame, Lang, Moment, error, home, sign_in, tag};
use cronwright_core::ids::{JobRef, RunId, RunTag};
use cronwright_core::job::view::{JobStatus, RecentRun};
use cronwright_core::outcome::RunState;
use cronwright_core::time::{DAY, HOUR, MINUTE, Millis, SECOND};

pub const NOW: Millis = Millis(1_796_021_600_000);
const BOTH: [Lang; 2] = [Lang::En, Lang::Zh];
const SHANGHAI: i32 = 8 * 3_600;

pub fn frame(lang: Lang) -> Frame {
    let other = if lang == Lang::En { Lang::Zh } else { Lang::En };
    Frame {
        lang,
        now: NOW,
        version: "0.1.0".into(),
        tzdb: "2026c".into(),
        who: Some("alice".into()),
        other_lang_href: format!("/?lang={}", tag(other)),
        api_href: Some("/docs".into()),
    }
}

fn say(lang: Lang, en: &str, zh: &str) -> String {
    (if lang == Lang::En { en } else { zh }).to_owned()
}

pub fn moment(after: i64, offset_s: i32) -> Moment {
    Moment {
        at: NOW.plus(after),
        offset_s,
    }
}

/// Runs by letters: s(uccess), f(ailed), t(imed out), r(unning), k = skipped, c(ancelled), u(nknown).
fn recent(letters: &str, ms: i64) -> Vec<RecentRun> {
    let state = |letter| match letter {
        's' => RunState::Success,
        'f' => RunState::Failed,
        't' => RunState::TimedOut,
        'r' => RunState::Running,
        'k' => RunState::Skipped,
        'c' => RunState::Cancelled,
        _ => RunState::Unknown,
    };
    let run = |(n, letter): (usize, char)| RecentRun {
        id: RunId {
            job: JobRef {
                shard: 1,
                number: 2,
            },
            at: Millis(n as i64),
            tag: RunTag::Occurrence(1),
        },
        state: state(letter),
        ms: (letter != 'k').then_some(ms + (n as i64 * 7919) % (ms / 2 + 1)),
    };
    letters.chars().enumerate().map(run).collect()
}

pub fn job(id: &str, name: &str) -> JobLine {
    JobLine {
        id: id.into(),
        name: name.into(),
        href: Some(format!("/jobs/{id}")),
        status: JobStatus::Enabled,
        quarantined: None,
        schedule: String::new(),
        cron: None,
        silent: false,
        last: None,
        usual_ms: None,
        next: None,
        recent: Vec::new(),
    }
}

pub fn last(state: RunState, at: Moment, ms: Option<i64>, code: Option<&str>) -> Option<LastRun> {
    Some(LastRun {
        state,
        at,
        ms,
        error_code: code.map(str::to_owned),
    })
}

fn jobs(lang: Lang) -> Vec<JobLine> {
    vec![
        JobLine {
            schedule: say(
                lang,
                "Every 5 minutes (Asia/Shanghai)",
                "每 5 分钟（Asia/Shanghai）",
            ),
            cron: Some("0 0/5 * * * ?".into()),
            last: last(
                RunState::Success,
                moment(-100 * SECOND, SHANGHAI),
                Some(1_240),
                None,
            ),
            usual_ms: Some(980),
            next: Some(moment(200 * SECOND, SHANGHAI)),
            recent: recent("ssssssssfsssssssssss", 900),
            ..job("job_20240601_001", "order-sync-to-erp")
        },
        JobLine {
            schedule: say(
                lang,
                "At 02:00 every day (Asia/Shanghai)",
                "每天 02:00（Asia/Shanghai）",
            ),
            cron: Some("0 2 * * *".into()),
            last: last(
                RunState::Failed,
                moment(-13 * HOUR, SHANGHAI),
                Some(8 * MINUTE),
                Some("http_500"),
            ),
            usual_ms: Some(3 * MINUTE),
            next: Some(moment(11 * HOUR, SHANGHAI)),
            recent: recent("ssksssssssttssssssff", 170_000),
            ..job("nightly-reconciliation", "夜间对账 nightly reconciliation")
        },
        JobLine {
            schedule: say(lang, "Every 5 s", "每 5 秒"),
            last: last(RunState::Running, moment(-2 * SECOND, 0), None, None),
            usual_ms: Some(41),
            next: Some(moment(3 * SECOND, 0)),
            recent: recent("ssssssssssssssssssur", 40),
            ..job("heartbeat", "Heartbeat of the order service")
        },
        JobLine {
            status: JobStatus::Paused,
            schedule: say(
                lang,
                "At 09:00 on weekdays (Europe/Berlin)",
                "工作日 09:00（Europe/Berlin）",
            ),
            cron: Some("0 9 * * 1-5".into()),
            last: last(
                RunState::Cancelled,
                moment(-3 * DAY, 3_600),
                Some(61_000),
                None,
            ),
            usual_ms: Some(58_000),
            recent: recent("sssc", 60_000),
            ..job("weekly_report", "Report to finance")
        },
        JobLine {
            schedule: say(lang, "Only by hand", "仅手动触发"),
            quarantined: Some("its machine failed: index out of range".into()),
            ..job(
                "import-2027",
                "A job whose name is rather long because somebody wrote a whole sentence into it, with noSpacesInSomeVeryLongWordThatHasToBreakSomewhere",
            )
        },
    ]
}

pub fn runs(lang: Lang) -> Vec<RunLine> {
    let line = |n: i64, job: &str, state| RunLine {
        id: format!("run_3_1f_mh2k9a0{n}_v1"),
        href: None,
        job: job.into(),
        state,
        planned: NOW.plus(-n * 7 * SECOND),
        late_ms: 3,
        ms: Some(40 + n * 13),
        trigger: say(lang, "Schedule", "计划"),
        attempts: 1,
        error_code: None,
        summary: Some("ok".into()),
        missed: None,
    };
    let mut lines = vec![
        line(1, "Heartbeat of the order service", RunState::Running),
        line(2, "order-sync-to-erp", RunState::Success),
        line(3, "夜间对账 nightly reconciliation", RunState::Failed),
        line(4, "weekly_report", RunState::Skipped),
        line(5, "order-sync-to-erp", RunState::TimedOut),
        line(6, "order-sync-to-erp", RunState::Success),
    ];
    (lines[0].ms, lines[0].summary) = (None, None);
    (lines[1].summary, lines[1].trigger) = (
        Some(r#"{"synced":128,"skipped":0}"#.into()),
        say(lang, "By hand: alice", "手动：alice"),
    );
    (lines[2].attempts, lines[2].error_code) = (4, Some("http_500".into()));
    lines[2].summary = Some("java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available, request timed out after 30000ms. at com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:696)".into());
    (
        lines[3].missed,
        lines[3].summary,
        lines[3].ms,
        lines[3].planned,
    ) = (Some(18), None, None, NOW.plus(-26 * HOUR));
    (
        lines[4].error_code,
        lines[4].ms,
        lines[4].late_ms,
        lines[4].summary,
    ) = (Some("timeout".into()), Some(30_004), 6_200, None);
    lines
}

fn full(lang: Lang) -> Home {
    Home {
        frame: frame(lang),
        counts: Some(Counts {
            failed: 3,
            late: 1,
            running: 2,
            enabled: 41,
            paused: 1,
        }),
        filter: Filter::default(),
        jobs: Some(jobs(lang)),
        more_href: Some("/?after=weekly_report".into()),
        runs: Some(runs(lang)),
    }
}

/// Every page, by the name of its golden file.
pub fn pages() -> Vec<(String, String)> {
    let mut pages = Vec::new();
    for lang in BOTH {
        let nothing = Home {
            counts: Some(Counts::default()),
            jobs: Some(Vec::new()),
            more_href: None,
            runs: Some(Vec::new()),
            ..full(lang)
        };
        let filter = Filter {
            q: "erp \"x\" & <y>".into(),
            status: Some(JobStatus::Paused),
            paged: true,
        };
        let unmatched = Home {
            filter,
            ..nothing.clone()
        };
        let silent = jobs(lang)
            .into_iter()
            .map(|job| JobLine {
                silent: true,
                last: None,
                usual_ms: None,
                next: None,
                recent: Vec::new(),
                ..job
            })
            .collect();
        let down = Home {
            counts: None,
            runs: None,
            jobs: Some(silent),
            ..full(lang)
        };
        let dark = Home {
            counts: None,
            runs: None,
            jobs: None,
            more_href: None,
            ..full(lang)
        };
        let signed_out = Frame {
            who: None,
            ..frame(lang)
        };
        let ask = SignIn {
            frame: signed_out.clone(),
            problem: Some(say(
                lang,
                "This token is not valid. It may have been revoked.",
                "令牌无效，可能已被吊销。",
            )),
            next: Some("/?q=erp".into()),
            code: None,
            setup_href: Some("/setup".into()),
        };
        let problem = Problem {
            frame: signed_out,
            status: 404,
            title: say(lang, "There is no such page", "页面不存在"),
            detail: Some("/jobz".into()),
            hint: Some(say(
                lang,
                "check the address, or start from the jobs.",
                "检查地址，或从任务列表开始。",
            )),
            code: "not_found".into(),
            request_id: Some("req_01".into()),
        };
        for (name, html) in [
            ("home", home::render(&full(lang))),
            ("home-empty", home::render(&nothing)),
            ("home-unmatched", home::render(&unmatched)),
            ("home-half-down", home::render(&down)),
            ("home-down", home::render(&dark)),
            ("sign-in", sign_in::render(&ask)),
            ("error", error::render(&problem)),
        ] {
            pages.push((format!("{name}.{}", tag(lang)), html));
        }
    }
    pages
}
