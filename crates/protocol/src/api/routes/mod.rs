//! The one route table: what exists, who may use it, what it takes and what it answers.
//!
//! What is not in it does not exist. No `GET` changes anything.

mod access;
mod callbacks;
mod find;
mod jobs;
mod kinds;
mod op;
mod pages;
mod route;
mod runs;
mod system;

pub use find::{Found, Params, find, is_reserved};
pub use kinds::{Body, Method, Need, Param, Reply, Takes};
pub use op::Op;
pub use route::Route;

use super::role::Role;

/// Bytes of a body that is no job document.
pub const MAX_BODY: usize = 1024 * 1024;

const VIEWER: Need = Need::Role(Role::Viewer);
const OPERATOR: Need = Need::Role(Role::Operator);
const ADMIN: Need = Need::Role(Role::Admin);

const CURSOR: Param = Param(
    "cursor",
    Takes::Text(200),
    "Where the page begins: `nextCursor` of the page before.",
);
const LIMIT: Param = Param(
    "limit",
    Takes::Int(1, 200),
    "Items on the page. Default 50.",
);

/// Every route.
pub fn all() -> impl Iterator<Item = &'static Route> {
    [
        jobs::ROUTES,
        runs::ROUTES,
        callbacks::ROUTES,
        access::ROUTES,
        system::ROUTES,
        pages::ROUTES,
    ]
    .into_iter()
    .flatten()
}
