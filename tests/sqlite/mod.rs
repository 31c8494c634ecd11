//! The store's database in the tests: SQLite itself with every migration applied, and numbers bound as
//! doubles as D1 does.
#![allow(dead_code, missing_docs, reason = "each test file uses a part")]

use std::cell::Cell as Flag;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use cronwright::store::{Cell, Database, Query, Row, StoreError, Written};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Statement, params_from_iter};

pub struct Sqlite {
    pub connection: Connection,
    /// The next write happens, but its answer is lost.
    pub lose_answer: Flag<bool>,
    /// Nothing answers.
    pub down: Flag<bool>,
}

impl Sqlite {
    /// An empty database after every migration.
    pub fn new() -> Self {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("PRAGMA foreign_keys = ON")
            .unwrap();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for file in files {
            connection
                .execute_batch(&std::fs::read_to_string(&file).unwrap())
                .unwrap_or_else(|error| panic!("{file:?}: {error}"));
        }
        Self {
            connection,
            lose_answer: Flag::new(false),
            down: Flag::new(false),
        }
    }

    fn answer(&self) -> Result<(), StoreError> {
        if self.down.get() {
            Err(StoreError::Unavailable("down".to_owned()))
        } else {
            Ok(())
        }
    }
}

struct Bound(Cell);

impl rusqlite::ToSql for Bound {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match &self.0 {
            Cell::Null => ToSqlOutput::Owned(Value::Null),
            Cell::Number(number) => ToSqlOutput::Owned(Value::Real(*number)),
            Cell::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        })
    }
}

impl Database for Sqlite {
    async fn read(&self, query: Query) -> Result<Vec<Row>, StoreError> {
        self.answer()?;
        let mut statement = self.connection.prepare_cached(query.sql).map_err(failed)?;
        rows(&mut statement, query.values).map_err(failed)
    }

    async fn write(&self, queries: Vec<Query>) -> Result<Vec<Written>, StoreError> {
        self.answer()?;
        let transaction = self.connection.unchecked_transaction().map_err(failed)?;
        let mut written = Vec::new();
        for query in queries {
            let values = params_from_iter(query.values.into_iter().map(Bound));
            let changes = transaction
                .prepare_cached(query.sql)
                .map_err(failed)?
                .execute(values)
                .map_err(failed)?;
            written.push(Written {
                changes: changes as u64,
                rows_written: changes as u64,
            });
        }
        transaction.commit().map_err(failed)?;
        if self.lose_answer.replace(false) {
            return Err(StoreError::Unavailable("the answer was lost".to_owned()));
        }
        Ok(written)
    }
}

fn rows(statement: &mut Statement<'_>, values: Vec<Cell>) -> rusqlite::Result<Vec<Row>> {
    let columns = statement.column_count();
    let mut rows = statement.query(params_from_iter(values.into_iter().map(Bound)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let cells = (0..columns).map(|column| {
            Ok(match row.get_ref(column)? {
                ValueRef::Null => Cell::Null,
                ValueRef::Integer(number) => Cell::Number(number as f64),
                ValueRef::Real(number) => Cell::Number(number),
                ValueRef::Text(text) => Cell::Text(String::from_utf8(text.to_vec()).unwrap()),
                ValueRef::Blob(_) => panic!("no column is a blob"),
            })
        });
        found.push(cells.collect::<rusqlite::Result<Row>>()?);
    }
    Ok(found)
}

fn failed(error: rusqlite::Error) -> StoreError {
    StoreError::Unavailable(error.to_string())
}

/// The result of a future that waits for nothing.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the test database answers at once"),
    }
}
