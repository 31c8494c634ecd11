//! Planned instants: cron texts, fixed periods and single instants, in time zones.
//!
//! The engine is this project's own (DESIGN.md says why). A cron text is read once into sets
//! (`parse`, `spec`); the calendar part is a question about days (`days`), the time of day another
//! (`wall`), and a zone's clock changes are handled in one place (`next`). Descriptions, lints and
//! previews are made from the same sets, so that no page can disagree with what fires.
//!
//! Nothing here panics, whatever the text, and every search is bounded by the year 2199.

mod auto;
mod civil;
mod cron;
mod days;
mod describe;
mod describe_en;
mod describe_zh;
mod dialect;
mod error;
mod every;
mod lint;
mod lint_clock;
mod never;
mod next;
mod odd;
mod parse;
mod parse_days;
mod planned;
mod preview;
mod rfc3339;
mod set;
mod shape;
mod spec;
mod token;
mod wall;
mod zone;

pub use auto::{Reading, readings, resolve_dialect};
pub use cron::Cron;
pub use describe::Lang;
pub use dialect::{Dialect, DialectChoice};
pub use error::{Field, ScheduleError, code};
pub use every::{Every, MAX_PERIOD, MIN_PERIOD, parse_period};
pub use lint::Lint;
pub use never::Never;
pub use odd::Text;
pub use parse::MAX_TEXT;
pub use planned::Schedule;
pub use preview::{Fire, MAX_FIRES, Preview, preview};
pub use rfc3339::{parse_rfc3339, rfc3339, rfc3339_at};
pub use zone::{Local, Zone, Zones, tzdb_version};
