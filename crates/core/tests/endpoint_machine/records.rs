//! Stored records of every past version stay readable: a file per version, one record a line.

use cronwright_core::endpoint::{
    AttemptRow, Breaker, Config, Delivery, DeliveryState, EndpointMachine, RECORD_VERSION, Settle,
    Stats,
};
use cronwright_core::job::def::CallbackPreset;
use cronwright_core::outcome::FetchFault;
use cronwright_core::time::Millis;

use super::world::{URL, job_id, run_id};

const V1: &str = include_str!("records_v1.jsonl");

/// The smallest record.
pub fn delivery(seq: u64) -> Delivery {
    Delivery {
        run: run_id(1, seq),
        job: job_id(1),
        seq,
        preset: CallbackPreset::Standard,
        state: DeliveryState::Waiting,
        attempts: 0,
        starts: 0,
        losses: 0,
        round: 0,
        word: 0,
        not_before: Millis(1_796_000_000_500),
        enqueued_at: Millis(1_796_000_000_500),
        give_up_at: Millis(1_796_000_100_500),
        ended_at: None,
        code: None,
        history: Vec::new(),
        settle: Settle::Unsettled,
        body: format!(r#"{{"seq":{seq}}}"#),
    }
}

/// One of every kind, with every field used somewhere.
fn current() -> (Vec<Config>, Vec<Delivery>) {
    let at = Millis(1_796_000_001_000);
    let config = Config {
        app: "app_erp".parse().unwrap(),
        url: URL.to_owned(),
        key_versions: vec![1],
        breaker: Breaker::default(),
        created_at: at,
        stats: Stats::default(),
    };
    let stats = Stats {
        delivered: 5,
        failed: 1,
        attempts: 12,
        last_delivered_at: Some(at),
        last_failed_at: Some(Millis(1_796_000_002_000)),
    };
    let open = Breaker::Open {
        since: at,
        probe_at: Millis(1_796_000_061_000),
    };
    let half = Breaker::HalfOpen {
        since: at,
        probing: run_id(1, 2),
    };
    let configs = vec![
        config.clone(),
        Config {
            breaker: open,
            stats,
            key_versions: vec![3, 2],
            ..config.clone()
        },
        Config {
            breaker: half,
            ..config
        },
    ];
    let row = AttemptRow {
        attempt: 1,
        at,
        status: Some(500),
        fault: None,
        ms: 41,
        excerpt: Some("oops".to_owned()),
    };
    let cut = AttemptRow {
        attempt: 2,
        at,
        status: None,
        fault: Some(FetchFault::Timeout),
        ms: 15_000,
        excerpt: None,
    };
    let deadline = Millis(1_796_000_021_000);
    let deliveries = vec![
        delivery(1),
        Delivery {
            state: DeliveryState::InFlight {
                attempt: 3,
                since: at,
                deadline,
            },
            preset: CallbackPreset::Durable,
            attempts: 2,
            starts: 3,
            losses: 1,
            history: vec![row.clone(), cut.clone()],
            ..delivery(2)
        },
        Delivery {
            state: DeliveryState::Done,
            attempts: 1,
            starts: 1,
            word: 1,
            ended_at: Some(at),
            settle: Settle::Acked,
            ..delivery(3)
        },
        Delivery {
            state: DeliveryState::Dead,
            attempts: 6,
            starts: 12,
            round: 1,
            word: 3,
            ended_at: Some(at),
            code: Some("http_500".to_owned()),
            history: vec![row, cut],
            settle: Settle::Owed {
                told: 2,
                again_at: deadline,
            },
            ..delivery(4)
        },
    ];
    (configs, deliveries)
}

fn written() -> String {
    let (configs, deliveries) = current();
    let mut lines: Vec<String> = configs
        .iter()
        .map(|config| serde_json::to_string(config).unwrap())
        .collect();
    lines.extend(
        deliveries
            .iter()
            .map(|delivery| serde_json::to_string(delivery).unwrap()),
    );
    lines.join("\n") + "\n"
}

#[test]
fn records_of_version_1_are_read_as_they_were_meant() {
    let (configs, deliveries) = current();
    let lines: Vec<&str> = V1.lines().collect();
    let (first, rest) = lines.split_at(configs.len());
    let read: Vec<Config> = first
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(read, configs);
    let read: Vec<Delivery> = rest
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(read, deliveries);
    let machine = EndpointMachine::restore(configs[0].clone(), read);
    assert_eq!(machine.view().dead, 1);
}

#[test]
fn what_is_written_now_is_version_1_to_the_byte() {
    assert_eq!(
        RECORD_VERSION, 1,
        "a new version needs a new file; the old ones stay"
    );
    assert_eq!(written(), V1);
}
