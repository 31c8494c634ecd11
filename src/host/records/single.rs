//! The records of an object that hosts one endpoint: its own record, and one for each delivery.

use cronwright_core::endpoint::{Change, Config, Delivery, EndpointMachine};
use worker::SqlStorageValue;

use super::meta;
use super::sql::{Sql, StorageError, read, write};

const CREATE: &str = "CREATE TABLE IF NOT EXISTS deliveries (run TEXT PRIMARY KEY, delivery TEXT NOT NULL) WITHOUT ROWID";
const ALL: &str = "SELECT delivery FROM deliveries";
const PUT: &str = "INSERT INTO deliveries (run, delivery) SELECT value ->> 0, value ->> 1 FROM json_each(?) WHERE true ON CONFLICT (run) DO UPDATE SET delivery = excluded.delivery";
const DROP: &str = "DELETE FROM deliveries WHERE run IN (SELECT value FROM json_each(?))";

/// Makes the table.
///
/// # Errors
/// When storage fails.
pub fn open(sql: &Sql) -> Result<(), StorageError> {
    sql.run(CREATE, vec![]).map(drop)
}

/// The endpoint, if there is one here.
///
/// # Errors
/// When storage fails.
pub fn load(sql: &Sql) -> Result<Option<EndpointMachine>, StorageError> {
    let Some(text) = meta::get(sql, "config")? else {
        return Ok(None);
    };
    let config: Config = read("config", &text)?;
    let rows = sql.run(ALL, vec![])?;
    let deliveries = rows
        .iter()
        .map(|row| read::<Delivery>("delivery", row.text(0)))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Some(EndpointMachine::restore(config, deliveries)))
}

/// Stores what turns changed. The last change of a record wins.
///
/// # Errors
/// When storage fails.
pub fn commit(sql: &Sql, changes: Vec<((), Change)>) -> Result<(), StorageError> {
    let mut puts: Vec<(String, String)> = Vec::new();
    let mut drops: Vec<String> = Vec::new();
    for ((), change) in changes {
        match change {
            Change::PutConfig(config) => meta::put(sql, "config", &write("config", &config)?)?,
            Change::PutDelivery(delivery) => {
                let run = delivery.run.to_string();
                drops.retain(|dropped| *dropped != run);
                puts.retain(|(put, _)| *put != run);
                puts.push((run, write("delivery", &delivery)?));
            }
            Change::DropDelivery(run) => {
                let run = run.to_string();
                puts.retain(|(put, _)| *put != run);
                drops.push(run);
            }
        }
    }
    let all = |text: String| -> Vec<SqlStorageValue> { vec![text.into()] };
    if !puts.is_empty() {
        sql.run(PUT, all(write("deliveries", &puts)?))?;
    }
    if !drops.is_empty() {
        sql.run(DROP, all(write("runs", &drops)?))?;
    }
    Ok(())
}
