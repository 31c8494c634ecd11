//! Options of the command line, as they were written.

use cronwright_sim::Mutation;

/// Options with a value, and what the value is.
const WITH_VALUE: &[(&str, &str)] = &[
    ("--seeds", "how many seeds, as in `--seeds 2000`"),
    ("--from", "the first seed, as in `--from 5000`"),
    ("--threads", "how many threads, as in `--threads 4`"),
    ("--seed", "one seed, as in `--seed 7`"),
    ("--write", "a file, as in `--write docs/machines.md`"),
    ("--check", "a file, as in `--check docs/machines.md`"),
    (
        "--mutation",
        "the name of a planted bug, as in `--mutation lock-is-date`",
    ),
];

/// Options without one.
const PLAIN: &[&str] = &["--trace", "--twice", "--verbose"];

/// Options as they were written, each taken out when it is understood.
pub struct Given(Vec<(&'static str, String)>);

impl Given {
    /// Reads all of them.
    pub fn read(words: &[String]) -> Result<Self, String> {
        let mut found: Vec<(&'static str, String)> = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let (name, value) =
                if let Some((known, what)) = WITH_VALUE.iter().find(|(known, _)| *known == name) {
                    let value = joined.or_else(|| words.next().cloned());
                    let missing = || format!("`{known}` lacks its value: {what}");
                    (*known, value.ok_or_else(missing)?)
                } else if let (Some(known), None) =
                    (PLAIN.iter().find(|known| **known == name), &joined)
                {
                    (*known, String::new())
                } else {
                    return Err(format!("`{word}` means nothing here: leave it out"));
                };
            if found.iter().any(|(known, _)| *known == name) {
                return Err(format!("`{name}` is there twice: give it once"));
            }
            found.push((name, value));
        }
        Ok(Self(found))
    }

    /// Whether it is there.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| *known == name)
    }

    fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| *known == name)?;
        Some(self.0.swap_remove(at).1)
    }

    /// Takes one without a value.
    pub fn flag(&mut self, name: &str) -> bool {
        self.take(name).is_some()
    }

    /// Takes a number.
    pub fn number(&mut self, name: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.take(name) else {
            return Ok(None);
        };
        let wrong = |_| {
            format!(
                "`{name}` wants a whole number from 0 to {}, not `{text}`",
                u64::MAX
            )
        };
        text.parse().map(Some).map_err(wrong)
    }

    /// Takes a text.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.take(name) {
            Some(text) if text.is_empty() => Err(format!("`{name}` is empty: name a file")),
            other => Ok(other),
        }
    }

    /// Takes the one seed that `with` is about.
    pub fn seed(&mut self, with: &str) -> Result<u64, String> {
        let seed = self.number("--seed")?;
        seed.ok_or_else(|| format!("{with} wants to know which seed: add `--seed S`"))
    }

    /// As many as there are cores when nothing is said.
    pub fn threads(&mut self) -> Result<usize, String> {
        match self.number("--threads")? {
            None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
            Some(threads @ 1..=1_024) => Ok(usize::try_from(threads).unwrap_or(1)),
            Some(other) => Err(format!("`--threads` goes from 1 to 1024, not {other}")),
        }
    }

    /// Takes the name of a planted bug.
    pub fn mutation(&mut self) -> Result<Option<Mutation>, String> {
        let Some(name) = self.take("--mutation") else {
            return Ok(None);
        };
        let unknown = || {
            let names: Vec<&str> = Mutation::ALL.iter().map(|known| known.name()).collect();
            format!(
                "`--mutation` knows no bug `{name}`: it is one of {}",
                names.join(", ")
            )
        };
        Mutation::parse(&name).map(Some).ok_or_else(unknown)
    }

    /// Refuses what is left.
    pub fn end(self, with: &str) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(format!("`{name}` does nothing with {with}: leave it out")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::help;

    #[test]
    fn help_names_every_option() {
        let plain = PLAIN.iter().copied();
        for name in plain.chain(WITH_VALUE.iter().map(|(name, _)| *name)) {
            assert!(help::TEXT.contains(name), "{name}");
        }
    }
}
