//! Values on their way into and out of SQLite.

use cronwright_core::time::Millis;

use super::StoreError;

/// One value. D1 has no 64-bit integers: numbers travel as doubles, exact up to 2⁵³.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value.
    Null,
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

/// A statement and the values of `?1`, `?2`, …
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// One of [`super::statements`].
    pub sql: &'static str,
    /// At most 100 (a limit of D1).
    pub values: Vec<Cell>,
}

impl Query {
    /// The statement with these values.
    pub(super) fn new(sql: &'static str, values: impl Into<Vec<Cell>>) -> Self {
        Self {
            sql,
            values: values.into(),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Millis> for Cell {
    fn from(at: Millis) -> Self {
        Self::Number(at.0 as f64)
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Self {
        Self::Number(f64::from(number))
    }
}

impl From<u16> for Cell {
    fn from(number: u16) -> Self {
        Self::Number(f64::from(number))
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The cells of one row.
pub type Row = Vec<Cell>;

/// Reads a row's cells in the order of the query's columns.
pub(super) struct Reader {
    table: &'static str,
    cells: std::vec::IntoIter<Cell>,
}

impl Reader {
    pub(super) fn new(table: &'static str, row: Row) -> Self {
        Self {
            table,
            cells: row.into_iter(),
        }
    }

    fn next(&mut self, column: &'static str) -> Result<Cell, StoreError> {
        self.cells
            .next()
            .ok_or_else(|| StoreError::corrupt(self.table, column, "missing in the answer"))
    }

    pub(super) fn opt_text(&mut self, column: &'static str) -> Result<Option<String>, StoreError> {
        match self.next(column)? {
            Cell::Null => Ok(None),
            Cell::Text(text) => Ok(Some(text)),
            Cell::Number(number) => Err(StoreError::corrupt(
                self.table,
                column,
                format_args!("the number {number} for a text"),
            )),
        }
    }

    pub(super) fn text(&mut self, column: &'static str) -> Result<String, StoreError> {
        self.opt_text(column)?.ok_or_else(|| self.null(column))
    }

    /// A whole number that fits `T`.
    pub(super) fn opt_int<T: TryFrom<i64>>(
        &mut self,
        column: &'static str,
    ) -> Result<Option<T>, StoreError> {
        let number = match self.next(column)? {
            Cell::Null => return Ok(None),
            Cell::Number(number) => number,
            Cell::Text(_) => {
                return Err(StoreError::corrupt(
                    self.table,
                    column,
                    "a text for a number",
                ));
            }
        };
        let whole = number.fract() == 0.0;
        // The cast saturates; what does not fit is refused by `T` or is beyond any instant we keep.
        let fits = whole.then(|| T::try_from(number as i64).ok()).flatten();
        fits.map(Some).ok_or_else(|| {
            StoreError::corrupt(self.table, column, format_args!("{number} is out of range"))
        })
    }

    pub(super) fn int<T: TryFrom<i64>>(&mut self, column: &'static str) -> Result<T, StoreError> {
        self.opt_int(column)?.ok_or_else(|| self.null(column))
    }

    pub(super) fn millis(&mut self, column: &'static str) -> Result<Millis, StoreError> {
        self.int::<i64>(column).map(Millis)
    }

    pub(super) fn opt_millis(
        &mut self,
        column: &'static str,
    ) -> Result<Option<Millis>, StoreError> {
        Ok(self.opt_int::<i64>(column)?.map(Millis))
    }

    /// A word of a fixed list, or an id.
    pub(super) fn word<T>(
        &mut self,
        column: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        let text = self.text(column)?;
        parse(&text).ok_or_else(|| {
            StoreError::corrupt(
                self.table,
                column,
                format_args!("{text:?} is no such value"),
            )
        })
    }

    /// A word of a fixed list, or an id, or nothing.
    pub(super) fn opt_word<T>(
        &mut self,
        column: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        let Some(text) = self.opt_text(column)? else {
            return Ok(None);
        };
        let value = parse(&text);
        value.map(Some).ok_or_else(|| {
            StoreError::corrupt(
                self.table,
                column,
                format_args!("{text:?} is no such value"),
            )
        })
    }

    /// A JSON document.
    pub(super) fn json<T: serde::de::DeserializeOwned>(
        &mut self,
        column: &'static str,
    ) -> Result<T, StoreError> {
        let text = self.text(column)?;
        serde_json::from_str(&text).map_err(|error| StoreError::corrupt(self.table, column, error))
    }

    fn null(&self, column: &'static str) -> StoreError {
        StoreError::corrupt(self.table, column, "no value")
    }
}

/// A value as JSON text, for a column that holds JSON.
pub(super) fn to_json<T: serde::Serialize>(
    table: &'static str,
    column: &'static str,
    value: &T,
) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::corrupt(table, column, error))
}
