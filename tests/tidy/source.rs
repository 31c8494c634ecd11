//! Rust text as the rules see it: code without comments and texts, texts on their own.

use std::ops::Range;

/// A file of Rust.
pub struct Source {
    /// Relative to the repository, with `/`.
    pub path: String,
    /// As it is.
    pub text: String,
    /// The same, line by line and column by column, but comments and the insides of literals are blank.
    pub code: String,
    /// Texts in quotes, and the line each begins in.
    pub literals: Vec<(usize, String)>,
    /// Lines of `#[cfg(test)]` items.
    tests: Vec<Range<usize>>,
    /// Where lines end.
    line_ends: Vec<usize>,
}

/// A function: its name, its first line, and how many lines it has.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub line: usize,
    pub lines: usize,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        let (code, literals) = split(text);
        let tests = tests(&code);
        let line_ends = code.match_indices('\n').map(|(at, _)| at).collect();
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            code,
            literals,
            tests,
            line_ends,
        }
    }

    /// Lines of code that ships, numbered from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self.code.lines().enumerate().map(|(n, line)| (n + 1, line));
        numbered.filter(|(n, _)| !self.is_test(*n))
    }

    /// Lines that ship, blank ones and comments included.
    pub fn shipped(&self) -> usize {
        self.lines().count()
    }

    /// The number of the line in which a byte of the code is.
    fn line(&self, at: usize) -> usize {
        1 + self.line_ends.partition_point(|end| *end < at)
    }

    pub fn is_test(&self, line: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&line))
    }

    /// Functions with a body that ship.
    pub fn functions(&self) -> Vec<Function> {
        let mut found = Vec::new();
        for (at, word) in words(&self.code).filter(|(_, word)| *word == "fn") {
            let rest = self.code.get(at + word.len()..).unwrap_or_default();
            let Some((_, name)) = words(rest).next() else {
                continue;
            };
            let line = self.line(at);
            // `fn(u8) -> u8` is a type, and a function without a body is a promise.
            let is_type = rest.trim_start().starts_with('(');
            if let Some(body) = body(rest).filter(|_| !is_type && !self.is_test(line)) {
                let lines = line_of(rest, body.end);
                found.push(Function {
                    name: name.to_owned(),
                    line,
                    lines,
                });
            }
        }
        found
    }

    /// Modules that this file declares in files of their own, with their `#[path]` if they have one.
    pub fn modules(&self) -> Vec<(String, Option<String>)> {
        let mut found = Vec::new();
        let mut path = None;
        for (n, line) in self.code.lines().enumerate() {
            let line = line.trim();
            if line.starts_with("#[path") {
                path = self.literal_in(n + 1);
            } else if let Some(name) = module(line) {
                found.push((name.to_owned(), path.take()));
            } else if !line.starts_with('#') && !line.is_empty() {
                path = None;
            }
        }
        found
    }

    fn literal_in(&self, line: usize) -> Option<String> {
        let found = self.literals.iter().find(|(at, _)| *at == line)?;
        Some(found.1.clone())
    }

    /// Every path of two or more segments, in `use` trees and elsewhere, with its line.
    pub fn paths(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some((start, word)) = words(self.code.get(at..).unwrap_or_default()).next() {
            let start = at + start;
            at = start + word.len();
            let line = self.line(start);
            let mut tree = self.code.get(at..).unwrap_or_default();
            if tree.trim_start().starts_with("::") {
                let before = tree.len();
                let mut ends = Vec::new();
                tree = spread(word, tree, &mut ends);
                at += before - tree.len();
                found.extend(ends.into_iter().map(|path| (line, path)));
            }
        }
        found.retain(|(line, _)| !self.is_test(*line));
        found
    }
}

/// Follows a path from behind its first segment, through the braces of a `use`; gives what comes after.
fn spread<'t>(so_far: &str, tree: &'t str, ends: &mut Vec<String>) -> &'t str {
    let Some(rest) = tree.trim_start().strip_prefix("::") else {
        ends.push(so_far.to_owned());
        return tree;
    };
    let rest = rest.trim_start();
    let Some(mut inside) = rest.strip_prefix('{') else {
        let Some((0, word)) = words(rest).next() else {
            ends.push(so_far.to_owned());
            return rest;
        };
        let after = rest.get(word.len()..).unwrap_or_default();
        return spread(&format!("{so_far}::{word}"), after, ends);
    };
    loop {
        inside = inside.trim_start_matches(|c: char| c.is_whitespace() || c == ',' || c == '*');
        if let Some(after) = inside.strip_prefix('}') {
            return after;
        }
        let Some((0, word)) = words(inside).next() else {
            return inside;
        };
        let after = inside.get(word.len()..).unwrap_or_default();
        inside = spread(&format!("{so_far}::{word}"), after, ends);
        // `as name` changes nothing about where it leads.
        if let Some(renamed) = inside.trim_start().strip_prefix("as ") {
            let name = words(renamed)
                .next()
                .map_or(0, |(at, name)| at + name.len());
            inside = renamed.get(name..).unwrap_or_default();
        }
    }
}

/// The name in `mod name;`, with any visibility.
fn module(line: &str) -> Option<&str> {
    let declared = line.strip_suffix(';')?;
    let (before, name) = declared.rsplit_once("mod ")?;
    let fits = before.is_empty() || before.starts_with("pub");
    (fits && words(name).eq([(0, name)])).then_some(name)
}

/// Words of code and where each begins.
pub fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + code.get(at..)?.find(is_part)?;
        let rest = code.get(start..)?;
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        at = start + end;
        Some((start, rest.get(..end)?))
    })
}

/// The number of the line in which a byte is.
fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

/// The first block after here, outside parentheses; none when a `;` comes first.
fn body(code: &str) -> Option<Range<usize>> {
    let (mut round, mut curly, mut start) = (0_i32, 0_i32, 0);
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'(' | b'[' => round += 1,
            b')' | b']' => round -= 1,
            b';' if round == 0 && curly == 0 => return None,
            b'{' if round == 0 || curly > 0 => {
                if curly == 0 {
                    start = at;
                }
                curly += 1;
            }
            b'}' if curly > 0 => {
                curly -= 1;
                if curly == 0 {
                    return Some(start..at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Lines of the items behind `#[cfg(test)]`.
fn tests(code: &str) -> Vec<Range<usize>> {
    let marks = code.match_indices("#[cfg(test)]");
    marks
        .map(|(at, mark)| {
            let rest = code.get(at + mark.len()..).unwrap_or_default();
            let end = body(rest).map_or_else(|| rest.find(';').unwrap_or(0), |body| body.end);
            line_of(code, at)..line_of(code, at + mark.len() + end) + 1
        })
        .collect()
}

/// Parts code from comments and literals.
fn split(text: &str) -> (String, Vec<(usize, String)>) {
    let mut code = String::with_capacity(text.len());
    let mut literals = Vec::new();
    let mut rest = text;
    let mut line = 1;
    let mut last = ' ';
    while let Some(c) = rest.chars().next() {
        let (length, quoted) = piece(rest, last);
        let taken = rest.get(..length).unwrap_or(rest);
        if let Some((open, close)) = quoted {
            literals.push((
                line,
                taken
                    .get(open..length - close)
                    .unwrap_or_default()
                    .to_owned(),
            ));
        }
        if length == c.len_utf8() {
            code.push(c);
        } else {
            // Columns stay where they are, and a text stays a text.
            let blank = taken.char_indices().map(|(at, c)| match c {
                '\n' => '\n',
                '"' if quoted.is_some() && (at == 0 || at + 1 == length) => '"',
                _ => ' ',
            });
            code.extend(blank);
        }
        line += taken.matches('\n').count();
        last = taken.chars().next_back().unwrap_or(c);
        rest = rest.get(length..).unwrap_or_default();
    }
    (code, literals)
}

/// How long the next piece is: a comment, a literal, or one character. For a text in quotes, also how
/// long its marks are.
fn piece(rest: &str, last: char) -> (usize, Option<(usize, usize)>) {
    let one = rest.chars().next().map_or(1, char::len_utf8);
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), None);
    }
    if rest.starts_with("/*") {
        return (comment(rest), None);
    }
    let begins_word = !(last.is_alphanumeric() || last == '_');
    if let Some(prefix) = ["r", "br", "cr"]
        .into_iter()
        .find(|p| begins_word && rest.starts_with(p))
    {
        let behind = rest.get(prefix.len()..).unwrap_or_default();
        let hashes = behind.bytes().take_while(|byte| *byte == b'#').count();
        if behind
            .get(hashes..)
            .is_some_and(|text| text.starts_with('"'))
        {
            let open = prefix.len() + hashes + 1;
            let end = format!("\"{}", "#".repeat(hashes));
            let inside = rest.get(open..).unwrap_or_default();
            let length = inside.find(&end).unwrap_or(inside.len());
            let total = (open + length + end.len()).min(rest.len());
            return (total, Some((open, hashes + 1)));
        }
    }
    if rest.starts_with('"') {
        return (quoted(rest, '"'), Some((1, 1)));
    }
    if rest.starts_with('\'') {
        // `'a'` and `'\n'` are characters, `'a` is a lifetime.
        let mut after = rest.chars().skip(1);
        let (first, second) = (after.next(), after.next());
        if first == Some('\\') || second == Some('\'') {
            return (quoted(rest, '\''), None);
        }
    }
    (one, None)
}

/// Length of a block comment; they nest.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        match rest {
            open if open.starts_with("/*") => (depth, at) = (depth + 1, at + 2),
            close if close.starts_with("*/") => (depth, at) = (depth - 1, at + 2),
            other => at += other.chars().next().map_or(1, char::len_utf8),
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Length of a literal with escapes.
fn quoted(text: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == mark => return at + 1,
            _ => {}
        }
    }
    text.len()
}
