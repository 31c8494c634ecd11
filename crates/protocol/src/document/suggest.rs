//! "Did you mean": the nearest of a few known names.

/// The known name nearest to `found`, if it is near enough to be a slip.
pub(super) fn nearest<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    // Longer texts are no slips, and the distance costs their product.
    if found.len() > 40 {
        return None;
    }
    let wanted = plain(found);
    let reach = (wanted.len() / 3).clamp(1, 3);
    let scored = known
        .iter()
        .map(|name| (distance(&wanted, &plain(name)), *name));
    scored
        .min_by_key(|(score, _)| *score)
        .filter(|(score, _)| *score <= reach)
        .map(|(_, name)| name)
}

/// Lower case without separators, so that `time_out_ms` is near `timeoutMs`.
fn plain(name: &str) -> Vec<char> {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Edits (insert, drop, replace) between two names, by one row of the usual table.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let (mut diagonal, mut left) = (i, i.saturating_add(1));
        let mut next = vec![left];
        for (y, above) in b.iter().zip(row.iter().skip(1)) {
            let replaced = diagonal.saturating_add(usize::from(x != y));
            left = replaced
                .min(left.saturating_add(1))
                .min(above.saturating_add(1));
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_find_their_name() {
        let known = ["timeoutMs", "retryTimes", "cron", "name"];
        assert_eq!(nearest("timeout_ms", &known), Some("timeoutMs"));
        assert_eq!(nearest("retrytime", &known), Some("retryTimes"));
        assert_eq!(nearest("corn", &known), None);
        assert_eq!(nearest("crom", &known), Some("cron"));
        assert_eq!(nearest("schedule", &known), None);
    }

    #[test]
    fn distance_is_the_number_of_edits() {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(distance(&chars("kitten"), &chars("sitting")), 3);
        assert_eq!(distance(&chars(""), &chars("abc")), 3);
        assert_eq!(distance(&chars("abc"), &chars("")), 3);
    }
}
