//! Answers schedule cases as the reference oracle does, for a differential run by hand.
//!
//! Reads `id, dialect, zone, text, from` per line (tabs; `unix6` is `unix-seconds`) and prints
//! `id, engine, next1, next2, next3`, with `none` when no fire is left and `ERR` for a refusal.
//!
//! `python3 fuzz.py 1 10000 | cargo run -p cronwright-core --release --example answer_tsv`

use std::io::{self, BufRead, Write};

use cronwright_core::schedule::{Cron, Dialect, Zones, parse_rfc3339, rfc3339};

fn main() -> io::Result<()> {
    let mut zones = Zones::default();
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line?;
        let mut parts = line.split('\t');
        let (Some(id), Some(dialect), Some(zone), Some(text), Some(from)) = (
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
        ) else {
            continue;
        };
        let answer = answer(&mut zones, dialect, zone, text, from);
        writeln!(out, "{id}\tengine\t{answer}")?;
    }
    Ok(())
}

fn answer(zones: &mut Zones, dialect: &str, zone: &str, text: &str, from: &str) -> String {
    let dialect = match dialect {
        "unix6" => Ok(Dialect::UnixSeconds),
        name => name.parse(),
    };
    let cron = dialect.and_then(|dialect| Cron::parse(text, dialect, zones.get(zone)?));
    let (Ok(cron), Some(mut at)) = (cron, parse_rfc3339(from)) else {
        return "ERR".to_owned();
    };
    let mut fires = Vec::new();
    while fires.len() < 3 {
        match cron.next(at) {
            Some(fire) => {
                fires.push(rfc3339(fire));
                at = fire;
            }
            None => fires.push("none".to_owned()),
        }
    }
    fires.join("\t")
}
