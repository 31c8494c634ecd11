//! What routes are described with.

use crate::api::role::Role;

/// An HTTP method that some route takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are HTTP's own")]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether it may change something.
    #[must_use]
    pub const fn is_unsafe(self) -> bool {
        !matches!(self, Self::Get)
    }
}

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Everyone.
    Anyone,
    /// A token or session of this role or a higher one.
    Role(Role),
    /// The callee of the run, by `X-Run-Token`, or an operator.
    Callee,
    /// A session; who has none is led to the sign-in page.
    Page,
}

/// A parameter of the query or a header.
#[derive(Clone, Copy, Debug)]
pub struct Param(
    /// Its name.
    pub &'static str,
    /// What it takes.
    pub Takes,
    /// What it is for.
    pub &'static str,
);

/// What a parameter takes.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// A text of at most so many characters.
    Text(usize),
    /// A whole number in a range.
    Int(i64, i64),
    /// One of a few words.
    Word(&'static [&'static str]),
}

/// A body.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// Name of the schema.
    pub schema: &'static str,
    /// Most bytes.
    pub max: usize,
    /// Whether it may be left out.
    pub optional: bool,
}

/// An answer that is no problem.
#[derive(Clone, Copy, Debug)]
pub struct Reply(
    /// The status.
    pub u16,
    /// Name of the schema of its JSON, a media type for anything else, or nothing.
    pub &'static str,
    /// What it means.
    pub &'static str,
);
