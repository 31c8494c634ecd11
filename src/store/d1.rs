//! The store's database in the Worker.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use wasm_bindgen::{JsCast, JsValue};
use worker::{D1Database, D1PreparedStatement, D1Result, Delay};

use super::{Cell, Database, Query, Row, StoreError, Written};

/// D1 has been seen to hang for 30 s; nobody who asks the store has that long.
const ANSWER_LIMIT_MS: u64 = 10_000;

impl Database for D1Database {
    async fn read(&self, query: Query) -> Result<Vec<Row>, StoreError> {
        let statement = prepare(self, query)?;
        let rows = in_time(statement.raw_js_value()).await?;
        rows.into_iter().map(row).collect()
    }

    async fn write(&self, queries: Vec<Query>) -> Result<Vec<Written>, StoreError> {
        let statements = queries
            .into_iter()
            .map(|query| prepare(self, query))
            .collect::<Result<Vec<_>, _>>()?;
        if statements.is_empty() {
            return Ok(Vec::new());
        }
        in_time(self.batch(statements))
            .await?
            .iter()
            .map(written)
            .collect()
    }
}

fn prepare(db: &D1Database, query: Query) -> Result<D1PreparedStatement, StoreError> {
    let values: Vec<JsValue> = query.values.into_iter().map(value).collect();
    #[allow(clippy::disallowed_methods, reason = "the one door to D1")]
    let statement = db.prepare(query.sql);
    statement.bind(&values).map_err(unavailable)
}

fn value(cell: Cell) -> JsValue {
    match cell {
        Cell::Null => JsValue::NULL,
        Cell::Number(number) => JsValue::from_f64(number),
        Cell::Text(text) => JsValue::from_str(&text),
    }
}

fn row(value: JsValue) -> Result<Row, StoreError> {
    let cells = value
        .dyn_into::<js_sys::Array>()
        .map_err(|_| StoreError::Unavailable("an answer that has no rows".to_owned()))?;
    cells.iter().map(cell).collect()
}

fn cell(value: JsValue) -> Result<Cell, StoreError> {
    if value.is_null() || value.is_undefined() {
        return Ok(Cell::Null);
    }
    if let Some(number) = value.as_f64() {
        return Ok(Cell::Number(number));
    }
    value.as_string().map(Cell::Text).ok_or_else(|| {
        StoreError::Unavailable("an answer with a value that is neither number nor text".to_owned())
    })
}

fn written(result: &D1Result) -> Result<Written, StoreError> {
    let meta = result
        .meta()
        .map_err(unavailable)?
        .ok_or_else(|| StoreError::Unavailable("an answer without figures".to_owned()))?;
    let count = |figure: Option<usize>| figure.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    Ok(Written {
        changes: count(meta.changes),
        rows_written: count(meta.rows_written),
    })
}

async fn in_time<T>(answer: impl Future<Output = worker::Result<T>>) -> Result<T, StoreError> {
    let mut answer = pin!(answer);
    let mut limit = pin!(Delay::from(Duration::from_millis(ANSWER_LIMIT_MS)));
    poll_fn(|context| {
        if let Poll::Ready(result) = answer.as_mut().poll(context) {
            return Poll::Ready(result.map_err(unavailable));
        }
        let late = || StoreError::Unavailable(format!("no answer within {ANSWER_LIMIT_MS} ms"));
        limit.as_mut().poll(context).map(|()| Err(late()))
    })
    .await
}

fn unavailable(error: worker::Error) -> StoreError {
    StoreError::Unavailable(match error {
        worker::Error::D1(error) => error.cause(),
        other => other.to_string(),
    })
}
