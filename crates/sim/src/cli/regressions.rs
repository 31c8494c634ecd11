//! The seeds that once found a bug, as `crates/sim/regressions.txt` has them.

/// Its text, of the time when this was compiled.
const TEXT: &str = include_str!("../../regressions.txt");

/// Their seeds, in the order of the file.
pub fn seeds() -> Result<Vec<u64>, String> {
    read(TEXT)
}

/// Reads lines of `seed  invariant  what it was`; `#` begins a comment.
fn read(text: &str) -> Result<Vec<u64>, String> {
    let lines = text.lines().map(str::trim).enumerate();
    let told = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    told.map(|(n, line)| {
        let wrong = || {
            format!(
                "crates/sim/regressions.txt, line {}: `{line}` must be `seed  invariant  what it was`",
                n.saturating_add(1)
            )
        };
        let mut words = line.split_whitespace();
        let seed = words.next().and_then(|word| word.parse().ok());
        let says_what = words.count() >= 2;
        seed.filter(|_| says_what).ok_or_else(wrong)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_can_be_read() {
        seeds().unwrap();
    }

    #[test]
    fn a_line_has_a_seed_an_invariant_and_a_sentence() {
        assert_eq!(
            read("# why\n\n7  I4  twice\n 12 I1 two at once\n"),
            Ok(vec![7, 12])
        );
        for line in ["seven  I4  twice", "7", "7  I4", "-7  I4  twice"] {
            let error = read(&format!("# why\n{line}")).expect_err(line);
            assert!(error.contains("line 2"), "{error}");
        }
    }
}
