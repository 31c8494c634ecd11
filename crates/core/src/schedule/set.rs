//! Small sets of small numbers, as bits.

use super::civil::{FIRST_YEAR, LAST_YEAR};

/// A set of numbers 0-63.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits(pub u64);

impl Bits {
    /// All of `lo..=hi`.
    pub const fn span(lo: u32, hi: u32) -> Self {
        Self((u64::MAX >> (63 - hi)) & (u64::MAX << lo))
    }

    pub const fn insert(&mut self, value: u32) {
        self.0 |= 1 << value;
    }

    pub const fn has(self, value: u32) -> bool {
        value < 64 && self.0 >> value & 1 == 1
    }

    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The members below `value`.
    pub const fn below(self, value: u32) -> Self {
        if value >= 64 {
            self
        } else {
            Self(self.0 & ((1 << value) - 1))
        }
    }

    /// The smallest member that is at least `value`.
    pub const fn at_or_after(self, value: u32) -> Option<u32> {
        if value >= 64 {
            return None;
        }
        let rest = self.0 & (u64::MAX << value);
        if rest == 0 {
            None
        } else {
            Some(rest.trailing_zeros())
        }
    }

    /// The largest member that is at most `value`.
    pub const fn at_or_before(self, value: u32) -> Option<u32> {
        let rest = self.below(value.saturating_add(1)).0;
        if rest == 0 {
            None
        } else {
            Some(63 - rest.leading_zeros())
        }
    }

    pub const fn first(self) -> Option<u32> {
        self.at_or_after(0)
    }

    pub const fn last(self) -> Option<u32> {
        self.at_or_before(63)
    }

    /// The members, ascending.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let value = (rest != 0).then(|| rest.trailing_zeros())?;
            rest &= rest - 1;
            Some(value)
        })
    }
}

/// A set of years 1970-2199.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Years([Bits; 4]);

impl Years {
    pub fn all() -> Self {
        let mut years = Self::default();
        for year in FIRST_YEAR..=LAST_YEAR {
            years.insert(year);
        }
        years
    }

    fn place(year: i32) -> Option<(usize, u32)> {
        let index = u32::try_from(year.checked_sub(FIRST_YEAR)?).ok()?;
        (year <= LAST_YEAR).then_some(((index / 64) as usize, index % 64))
    }

    pub fn insert(&mut self, year: i32) {
        if let Some((word, bit)) = Self::place(year)
            && let Some(bits) = self.0.get_mut(word)
        {
            bits.insert(bit);
        }
    }

    pub fn has(&self, year: i32) -> bool {
        Self::place(year)
            .is_some_and(|(word, bit)| self.0.get(word).is_some_and(|bits| bits.has(bit)))
    }

    /// The members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = i32> {
        (FIRST_YEAR..=LAST_YEAR).filter(|year| self.has(*year))
    }

    pub fn last(&self) -> Option<i32> {
        (FIRST_YEAR..=LAST_YEAR).rev().find(|year| self.has(*year))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_word_are_ordinary_members() {
        let bits = Bits(1 | 1 << 63);
        assert_eq!(bits.at_or_after(1), Some(63));
        assert_eq!(bits.at_or_before(62), Some(0));
        assert_eq!(bits.last(), Some(63));
        assert_eq!(Bits::span(0, 63).len(), 64);
        assert_eq!(Bits::span(1, 31).below(31).len(), 30);
    }

    #[test]
    fn years_end_where_the_calendar_does() {
        let all = Years::all();
        assert!(all.has(1970) && all.has(2199));
        assert!(!all.has(1969) && !all.has(2200));
        assert_eq!(all.iter().count(), 230);
    }
}
