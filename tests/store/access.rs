//! Apps, endpoints, tokens, sessions, set-up, audit and retention.

use cronwright::store::audit::AuditEntry;
use cronwright::store::endpoints::{Breaker, EndpointRow};
use cronwright::store::retention::Retention;
use cronwright::store::tokens::{Role, TokenRow};
use cronwright::store::{apps, audit, endpoints, retention, sessions, setup, tokens};
use cronwright_core::ids::{AppId, EndpointId, digest16};
use cronwright_core::time::{DAY, HOUR, MINUTE, Millis};

use crate::sqlite::{Sqlite, now};

const T: Millis = Millis(1_796_000_000_000);

fn token(id: &str) -> TokenRow {
    TokenRow {
        id: id.into(),
        name: format!("{id}’s token"),
        role: Role::Operator,
        jobs: Some(vec!["job_1".parse().unwrap()]),
        created_at: T,
        created_by: "setup".into(),
        expires_at: Some(T.plus(DAY)),
        revoked_at: None,
        last_used_at: None,
    }
}

fn app() -> AppId {
    "erp".parse().unwrap()
}

#[test]
fn one_of_fifty_set_ups_wins_and_only_its_token_exists() {
    let db = Sqlite::new();
    assert!(!now(setup::is_done(&db)).unwrap());
    let won = (0..50)
        .filter(|n| {
            now(setup::claim(
                &db,
                &token(&format!("tok_{n}")),
                &n.to_string(),
                T,
            ))
            .unwrap()
        })
        .count();
    assert_eq!(won, 1);
    assert!(now(setup::is_done(&db)).unwrap());
    assert_eq!(now(tokens::list(&db, None, 500)).unwrap(), [token("tok_0")]);
}

#[test]
fn a_set_up_whose_answer_was_lost_wins_when_repeated() {
    let db = Sqlite::new();
    db.lose_answer.set(true);
    assert!(now(setup::claim(&db, &token("a"), "h", T)).is_err());
    assert!(!now(setup::claim(&db, &token("b"), "i", T)).unwrap());
    assert!(now(setup::claim(&db, &token("a"), "h", T)).unwrap());
    assert_eq!(now(tokens::by_hash(&db, "h")).unwrap(), Some(token("a")));
    assert_eq!(now(tokens::by_hash(&db, "i")).unwrap(), None);
}

#[test]
fn a_token_lives_until_it_expires_or_is_revoked() {
    let db = Sqlite::new();
    assert!(now(tokens::create(&db, &token("a"), "h")).unwrap());
    assert!(!now(tokens::create(&db, &token("a"), "other")).unwrap());
    let found = now(tokens::by_hash(&db, "h")).unwrap().unwrap();
    assert!(found.is_live(T) && !found.is_live(T.plus(DAY)));
    assert!(now(tokens::revoke(&db, "a", T.plus(1))).unwrap());
    assert!(!now(tokens::revoke(&db, "a", T.plus(2))).unwrap());
    let found = now(tokens::get(&db, "a")).unwrap().unwrap();
    assert_eq!(found.revoked_at, Some(T.plus(1)));
    assert!(!found.is_live(T));
}

#[test]
fn use_of_a_token_is_noted_at_most_once_an_hour() {
    let db = Sqlite::new();
    now(tokens::create(&db, &token("a"), "h")).unwrap();
    for (after, noted) in [(0, 0), (HOUR, 0), (HOUR + 1, HOUR + 1)] {
        now(tokens::touch(&db, "a", T.plus(after))).unwrap();
        assert_eq!(
            now(tokens::get(&db, "a")).unwrap().unwrap().last_used_at,
            Some(T.plus(noted))
        );
    }
}

#[test]
fn a_session_ends_by_idling_by_age_by_sign_out_and_with_its_token() {
    let db = Sqlite::new();
    now(tokens::create(&db, &token("a"), "h")).unwrap();
    now(sessions::create(&db, "s", "a", T, T.plus(5 * HOUR))).unwrap();
    let find = || now(sessions::find(&db, "s")).unwrap().unwrap();
    assert!(find().is_live(T.plus(HOUR - 1), HOUR) && !find().is_live(T.plus(HOUR), HOUR));
    now(sessions::touch(&db, "s", T.plus(10 * MINUTE))).unwrap();
    assert_eq!(find().seen_at, T, "a use within ten minutes costs no row");
    now(sessions::touch(&db, "s", T.plus(HOUR))).unwrap();
    assert!(find().is_live(T.plus(HOUR), HOUR) && !find().is_live(T.plus(5 * HOUR), DAY));
    assert_eq!(find().token.role, Role::Operator);
    now(tokens::revoke(&db, "a", T)).unwrap();
    assert!(!find().is_live(T.plus(HOUR), HOUR));
    assert!(
        now(sessions::revoke(&db, "s", T)).unwrap() && !now(sessions::revoke(&db, "s", T)).unwrap()
    );
    assert_eq!(now(sessions::find(&db, "t")).unwrap(), None);
    assert!(now(sessions::create(&db, "t", "nobody", T, T)).is_err());
}

#[test]
fn a_rotation_keeps_the_previous_version_for_a_while_and_happens_once() {
    let db = Sqlite::new();
    assert!(now(apps::create(&db, &app(), "ERP", T, "a")).unwrap());
    assert!(!now(apps::create(&db, &app(), "again", T, "a")).unwrap());
    let until = T.plus(DAY);
    assert!(now(apps::rotate(&db, &app(), 1, until)).unwrap());
    assert!(!now(apps::rotate(&db, &app(), 1, until)).unwrap());
    let found = now(apps::get(&db, &app())).unwrap().unwrap();
    assert_eq!(
        (found.live_versions(T), found.live_versions(until)),
        (vec![2, 1], vec![2])
    );
    assert_eq!(now(apps::list(&db, None, 9)).unwrap(), [found]);
    assert_eq!(now(apps::list(&db, Some(&app()), 9)).unwrap(), []);
}

#[test]
fn an_older_copy_of_an_endpoint_never_replaces_a_newer_one() {
    let db = Sqlite::new();
    let url = "https://a.example/hook".to_owned();
    let newer = EndpointRow {
        id: EndpointId::of(&app(), &url),
        app: app(),
        url,
        breaker: Breaker::Open,
        waiting: 3,
        dead: 1,
        created_at: T,
        updated_at: T.plus(2),
    };
    let older = EndpointRow {
        breaker: Breaker::Closed,
        updated_at: T.plus(1),
        ..newer.clone()
    };
    for copy in [&older, &newer, &older] {
        now(endpoints::upsert(&db, copy)).unwrap();
    }
    assert_eq!(
        now(endpoints::get(&db, &newer.id)).unwrap().as_ref(),
        Some(&newer)
    );
    assert_eq!(
        now(endpoints::list(&db, Some(&app()), None, 9)).unwrap(),
        std::slice::from_ref(&newer)
    );
    assert_eq!(
        now(endpoints::list(&db, None, None, 9)).unwrap(),
        std::slice::from_ref(&newer)
    );
    assert_eq!(
        now(endpoints::list(&db, Some(&app()), Some(&newer.id), 9)).unwrap(),
        []
    );
}

fn entry(n: i64) -> AuditEntry {
    let detail = serde_json::json!({ "n": n });
    AuditEntry {
        at: T.plus(n * DAY),
        actor: "a".into(),
        action: "job.create".into(),
        object: "job_1".into(),
        detail,
        request_id: format!("req_{n}"),
    }
}

#[test]
fn the_audit_has_one_entry_per_request_action_and_object() {
    let db = Sqlite::new();
    for n in [0, 1, 1, 2] {
        db.lose_answer.set(true);
        assert!(now(audit::append(&db, &entry(n))).is_err());
        now(audit::append(&db, &entry(n))).unwrap();
    }
    let page = now(audit::list(&db, None, 2)).unwrap();
    assert_eq!(
        page.iter().map(|row| row.entry.clone()).collect::<Vec<_>>(),
        [entry(2), entry(1)]
    );
    let rest = now(audit::list(&db, Some(page[1].id), 9)).unwrap();
    assert_eq!(
        rest.iter().map(|row| row.entry.clone()).collect::<Vec<_>>(),
        [entry(0)]
    );
}

#[test]
fn a_sweep_removes_what_is_past_its_retention_and_not_more_than_it_may() {
    let db = Sqlite::new();
    now(tokens::create(&db, &token("a"), "h")).unwrap();
    for n in 0..10 {
        now(audit::append(&db, &entry(n))).unwrap();
        now(sessions::create(
            &db,
            &digest16(&[&n.to_string()]),
            "a",
            T,
            T.plus(n * DAY),
        ))
        .unwrap();
    }
    let keep = Retention {
        audit_days: 5,
        sessions_days: 5,
        per_sweep: 3,
        ..Retention::default()
    };
    let sweeps: Vec<_> = (0..3)
        .map(|_| now(retention::sweep(&db, T.plus(10 * DAY), &keep)).unwrap())
        .collect();
    assert_eq!(
        sweeps
            .iter()
            .map(|swept| (swept.audit, swept.sessions))
            .collect::<Vec<_>>(),
        [(3, 3), (2, 2), (0, 0)]
    );
}
