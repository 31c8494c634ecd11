//! Against an implementation nobody here wrote: vectors made by the reference library of Standard Webhooks
//! (see `data/make_standardwebhooks.py`).
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]

use cronwright_core::time::Millis;
use cronwright_protocol::keys::AppSecret;
use cronwright_protocol::sign::{callback_headers, nonce_from, verify_standard};
use serde_json::Value;

struct Vector {
    secret: AppSecret,
    id: String,
    seconds: i64,
    body: String,
    signature: String,
}

fn vectors() -> Vec<Vector> {
    let file: Value = serde_json::from_str(include_str!("data/standardwebhooks.json")).unwrap();
    let text = |vector: &Value, name: &str| vector[name].as_str().unwrap().to_owned();
    file["vectors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|vector| Vector {
            secret: AppSecret::parse(&text(vector, "secret")).unwrap(),
            id: text(vector, "id"),
            seconds: vector["timestamp"].as_i64().unwrap(),
            body: text(vector, "body"),
            signature: text(vector, "signature"),
        })
        .collect()
}

fn headers(vector: &Vector) -> [(&'static str, String); 3] {
    [
        ("Webhook-Id", vector.id.clone()),
        ("Webhook-Timestamp", vector.seconds.to_string()),
        ("Webhook-Signature", vector.signature.clone()),
    ]
}

#[test]
fn every_signature_of_the_reference_library_verifies_here() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 20);
    for vector in vectors {
        let now = Millis(vector.seconds * 1000);
        let claims = verify_standard(
            std::slice::from_ref(&vector.secret),
            &headers(&vector),
            vector.body.as_bytes(),
            now,
        )
        .unwrap();
        assert_eq!((claims.id, claims.at), (vector.id, now));
    }
}

#[test]
fn our_signature_is_the_one_the_reference_library_makes() {
    for vector in vectors() {
        let made = callback_headers(
            &"erp".parse().unwrap(),
            std::slice::from_ref(&vector.secret),
            &vector.id,
            Millis(vector.seconds * 1000 + 999),
            &nonce_from([7; 16]),
            vector.body.as_bytes(),
        )
        .unwrap();
        let found = made
            .iter()
            .find(|(name, _)| *name == "webhook-signature")
            .unwrap();
        assert_eq!(found.1, vector.signature, "{}", vector.id);
    }
}

#[test]
fn no_signature_of_the_reference_library_verifies_over_another_vector() {
    let vectors = vectors();
    for vector in &vectors {
        let now = Millis(vector.seconds * 1000);
        for other in vectors.iter().filter(|other| other.body != vector.body) {
            let secrets = [vector.secret.clone()];
            assert!(
                verify_standard(&secrets, &headers(vector), other.body.as_bytes(), now).is_err()
            );
        }
    }
}
