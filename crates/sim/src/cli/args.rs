//! The words of the command line.

use super::campaign::Campaign;
use super::cover::Cover;
use super::given::Given;
use super::mutations::Hunt;
use super::one::One;
use super::shrink::Shrink;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// `--help`.
    Help,
    /// `--seeds N`.
    Many(Campaign),
    /// `--seed S`.
    One(One),
    /// `mutations`.
    Mutations(Hunt),
    /// `shrink --seed S`.
    Shrink(Shrink),
    /// `coverage`.
    Coverage(Cover),
    /// `speed`.
    Speed,
}

/// How many seeds a planted bug is hunted with when nothing else is said.
const HUNT_SEEDS: u64 = 200;

/// How many seeds draw the diagrams when nothing else is said.
const COVER_SEEDS: u64 = 400;

/// What the words ask for; the error says which word is wrong and what to do.
pub fn parse(words: &[String]) -> Result<Command, String> {
    let is_help = |word: &String| matches!(word.as_str(), "--help" | "-h" | "help");
    if words.iter().any(is_help) {
        return Ok(Command::Help);
    }
    match words.split_first() {
        Some((name, rest)) if name == "mutations" => mutations(Given::read(rest)?),
        Some((name, rest)) if name == "shrink" => shrink(Given::read(rest)?),
        Some((name, rest)) if name == "speed" => {
            Given::read(rest)?.end("`speed`")?;
            Ok(Command::Speed)
        }
        Some((name, rest)) if name == "coverage" => coverage(Given::read(rest)?),
        Some((name, _)) if !name.starts_with('-') => Err(format!(
            "there is no command `{name}`: say `mutations`, `coverage`, `speed`, `shrink`, or begin with `--seeds N` or `--seed S`"
        )),
        _ => worlds(Given::read(words)?),
    }
}

fn worlds(mut given: Given) -> Result<Command, String> {
    if given.has("--seed") {
        return one(given, "`--seed`");
    }
    let seeds = given
        .number("--seeds")?
        .ok_or("nothing is asked for: say `--seeds N` for many worlds or `--seed S` for one")?;
    let from = given.number("--from")?.unwrap_or(0);
    if from.checked_add(seeds).is_none() {
        return Err("`--from` and `--seeds` together go past the last seed: lower one".into());
    }
    let campaign = Campaign {
        from,
        seeds,
        threads: given.threads()?,
        twice: given.flag("--twice"),
        verbose: given.flag("--verbose"),
    };
    given.end("`--seeds`")?;
    Ok(Command::Many(campaign))
}

fn one(mut given: Given, with: &str) -> Result<Command, String> {
    let one = One {
        seed: given.seed(with)?,
        mutation: given.mutation()?,
        trace: given.flag("--trace"),
    };
    given.end(with)?;
    Ok(Command::One(one))
}

fn mutations(mut given: Given) -> Result<Command, String> {
    if given.has("--seed") {
        if !given.has("--mutation") {
            return Err("`mutations --seed` wants to know which bug: add `--mutation NAME`".into());
        }
        return one(given, "`mutations --seed`");
    }
    let hunt = Hunt {
        seeds: given.number("--seeds")?.unwrap_or(HUNT_SEEDS),
        only: given.mutation()?,
        threads: given.threads()?,
    };
    given.end("`mutations`")?;
    Ok(Command::Mutations(hunt))
}

fn shrink(mut given: Given) -> Result<Command, String> {
    let shrink = Shrink {
        seed: given.seed("`shrink`")?,
        mutation: given.mutation()?,
    };
    given.end("`shrink`")?;
    Ok(Command::Shrink(shrink))
}

fn coverage(mut given: Given) -> Result<Command, String> {
    let cover = Cover {
        seeds: given.number("--seeds")?.unwrap_or(COVER_SEEDS),
        write: given.text("--write")?,
        check: given.text("--check")?,
    };
    given.end("`coverage`")?;
    Ok(Command::Coverage(cover))
}

#[cfg(test)]
mod tests {
    use cronwright_sim::Mutation;

    use super::*;

    fn read(line: &str) -> Result<Command, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn words_mean_what_help_says() {
        let many = Campaign {
            from: 5,
            seeds: 20,
            threads: 3,
            twice: true,
            verbose: false,
        };
        assert_eq!(
            read("--seeds 20 --from=5 --threads 3 --twice"),
            Ok(Command::Many(many))
        );
        let one = |mutation, trace| {
            Ok(Command::One(One {
                seed: 7,
                mutation,
                trace,
            }))
        };
        let bug = Some(Mutation::D1IsTruth);
        assert_eq!(read("--seed 7 --trace"), one(None, true));
        assert_eq!(read("--mutation d1-is-truth --seed 7"), one(bug, false));
        assert_eq!(
            read("mutations --mutation d1-is-truth --seed 7 --trace"),
            one(bug, true)
        );
        let shrink = Shrink {
            seed: 7,
            mutation: bug,
        };
        assert_eq!(
            read("shrink --seed 7 --mutation d1-is-truth"),
            Ok(Command::Shrink(shrink))
        );
        let hunt = Hunt {
            seeds: HUNT_SEEDS,
            only: None,
            threads: 1,
        };
        assert_eq!(read("mutations --threads 1"), Ok(Command::Mutations(hunt)));
        assert_eq!(read("shrink --help"), Ok(Command::Help));
    }

    #[test]
    fn every_error_names_the_word_that_is_wrong() {
        for (line, word) in [
            ("", "`--seeds N`"),
            ("run", "`run`"),
            ("--seeds", "`--seeds`"),
            ("--seeds -1", "`-1`"),
            ("--seeds 1 --seeds 2", "`--seeds`"),
            ("--seeds 2 --from 18446744073709551615", "`--from`"),
            ("--seeds 1 --threads 0", "`--threads`"),
            ("--seeds 1 --trace", "`--trace`"),
            ("--seeds 1 --twice=yes", "`--twice=yes`"),
            ("--seed 1 --seeds 2", "`--seeds`"),
            ("--seed 1 --fast", "`--fast`"),
            ("--seed 1 --mutation none", "`none`"),
            ("mutations --seed 1", "`--mutation NAME`"),
            ("shrink", "`--seed S`"),
            ("shrink --seed 1 --twice", "`--twice`"),
        ] {
            let error = read(line).expect_err(line);
            assert!(error.contains(word), "{line}: {error}");
        }
    }
}
