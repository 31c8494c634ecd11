//! Which jobs need attention, by the hour.
//!
//! An index on every job's next instant would cost two rows a run. Instead each hour has a list of the
//! jobs that may need attention in it. A list may name too many, never too few: a job is written into
//! the list of its next instant in the commit that plans it, and stays in the current hour's list until
//! nothing about it is open. Only the lists up to now are in memory, so defined jobs that are not due
//! cost nothing, and after a restart the same lists say what has to be looked at.

use std::collections::{BTreeMap, BTreeSet};

use cronwright_core::time::{HOUR, Millis};

use super::sql::{Sql, StorageError, read, write};

const CREATE: &str = "CREATE TABLE IF NOT EXISTS wheel (hour INTEGER NOT NULL, chunk INTEGER NOT NULL, jobs TEXT NOT NULL, PRIMARY KEY (hour, chunk)) WITHOUT ROWID";
const UP_TO: &str = "SELECT hour, chunk, jobs FROM wheel WHERE hour <= ? ORDER BY hour";
const ONE: &str = "SELECT jobs FROM wheel WHERE hour = ? AND chunk = ?";
const PUT: &str = "INSERT INTO wheel (hour, chunk, jobs) VALUES (?, ?, ?) ON CONFLICT (hour, chunk) DO UPDATE SET jobs = excluded.jobs";
const DROP_UP_TO: &str = "DELETE FROM wheel WHERE hour < ?";
const NEXT: &str = "SELECT min(hour) FROM wheel WHERE hour > ?";

/// Jobs in one row of a list.
const CHUNK: u32 = 512;

/// The hour of an instant.
#[must_use]
pub fn hour_of(at: Millis) -> i64 {
    at.0.div_euclid(HOUR)
}

/// The lists, as far as they are in memory.
#[derive(Default)]
pub struct Wheel {
    /// The hour up to which lists are loaded.
    hour: i64,
    /// Jobs in the lists up to that hour.
    current: BTreeSet<u32>,
    /// Those of them that storage lists under that very hour.
    stored: BTreeSet<u32>,
    /// Whether storage has lists of hours before.
    past: bool,
    /// The later hour into whose list a job was written last.
    later: BTreeMap<u32, i64>,
    /// The next hour that has a list.
    next: Option<i64>,
}

impl Wheel {
    /// Makes the table.
    ///
    /// # Errors
    /// When storage fails.
    pub fn open(sql: &Sql) -> Result<(), StorageError> {
        sql.run(CREATE, vec![]).map(drop)
    }

    /// Loads the lists up to `hour`; gives the jobs that were not in memory yet.
    ///
    /// # Errors
    /// When storage fails.
    pub fn advance(&mut self, sql: &Sql, hour: i64) -> Result<Vec<u32>, StorageError> {
        let mut news = Vec::new();
        self.stored.clear();
        for row in sql.run(UP_TO, vec![hour.into()])? {
            let jobs: Vec<u32> = read("wheel", row.text(2))?;
            if row.number(0) == Some(hour) {
                self.stored.extend(&jobs);
            } else {
                self.past = true;
            }
            news.extend(jobs.into_iter().filter(|job| self.current.insert(*job)));
        }
        self.hour = hour;
        self.later.retain(|_, later| *later > hour);
        self.refresh_next(sql)?;
        Ok(news)
    }

    /// The hour up to which lists are loaded.
    #[must_use]
    pub fn hour(&self) -> i64 {
        self.hour
    }

    /// When the next list has to be loaded, if there is one.
    #[must_use]
    pub fn next_list(&self) -> Option<Millis> {
        self.next.map(|hour| Millis(hour.saturating_mul(HOUR)))
    }

    /// Drops the lists of past hours, keeping `keep` in the current one; gives the jobs that are out.
    ///
    /// # Errors
    /// When storage fails.
    pub fn sweep(&mut self, sql: &Sql, keep: &BTreeSet<u32>) -> Result<Vec<u32>, StorageError> {
        let out: Vec<u32> = self.current.difference(keep).copied().collect();
        self.current = keep.clone();
        // Written only where storage names too few: a list that names too many is harmless.
        let missing: BTreeSet<u32> = keep
            .difference(&self.stored)
            .map(|job| job / CHUNK)
            .collect();
        for chunk in missing {
            let jobs: Vec<u32> = keep
                .iter()
                .filter(|job| *job / CHUNK == chunk)
                .copied()
                .collect();
            self.put(sql, self.hour, chunk, &jobs)?;
            self.stored.extend(jobs);
        }
        if std::mem::take(&mut self.past) {
            sql.run(DROP_UP_TO, vec![self.hour.into()])?;
        }
        Ok(out)
    }

    /// Writes jobs into the lists of the hours in which they need attention.
    ///
    /// # Errors
    /// When storage fails.
    pub fn list(&mut self, sql: &Sql, wanted: &[(u32, i64)]) -> Result<(), StorageError> {
        let mut rows: BTreeMap<(i64, u32), Vec<u32>> = BTreeMap::new();
        for (job, hour) in wanted {
            let hour = (*hour).max(self.hour);
            let known = if hour == self.hour {
                !self.current.insert(*job)
            } else {
                self.later.insert(*job, hour) == Some(hour)
            };
            if !known {
                rows.entry((hour, job / CHUNK)).or_default().push(*job);
            }
        }
        for ((hour, chunk), jobs) in rows {
            let stored = sql.run(ONE, vec![hour.into(), i64::from(chunk).into()])?;
            let mut listed: BTreeSet<u32> = match stored.first() {
                Some(row) => read("wheel", row.text(0))?,
                None => BTreeSet::new(),
            };
            let before = listed.len();
            listed.extend(jobs);
            if listed.len() > before {
                self.put(sql, hour, chunk, &listed.into_iter().collect::<Vec<_>>())?;
            }
        }
        Ok(())
    }

    fn put(&mut self, sql: &Sql, hour: i64, chunk: u32, jobs: &[u32]) -> Result<(), StorageError> {
        sql.run(
            PUT,
            vec![
                hour.into(),
                i64::from(chunk).into(),
                write("wheel", &jobs)?.into(),
            ],
        )?;
        if hour > self.hour {
            self.next = Some(self.next.map_or(hour, |next| next.min(hour)));
        }
        Ok(())
    }

    fn refresh_next(&mut self, sql: &Sql) -> Result<(), StorageError> {
        self.next = sql
            .run(NEXT, vec![self.hour.into()])?
            .first()
            .and_then(|row| row.number(0));
        Ok(())
    }
}
