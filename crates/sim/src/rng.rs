//! The one source of chance: splitmix64, the same on every machine.

/// A stream of numbers.
#[derive(Clone, Debug)]
pub struct Rng(u64);

/// Chances are given in parts per million.
pub const MILLION: u32 = 1_000_000;

impl Rng {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x51_7c_c1_b7_27_22_0a_95)
    }

    /// A stream of its own for one purpose, so that leaving one actor out does not change the others.
    #[must_use]
    pub fn fork(seed: u64, purpose: u64) -> Self {
        let mut parent = Self::new(seed ^ purpose.wrapping_mul(0xd6e8_feb8_6659_fd93));
        Self(parent.next())
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 when that is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next().checked_rem(limit).unwrap_or(0)
    }

    /// A span in `from..=to`, in ms.
    pub fn span(&mut self, from: i64, to: i64) -> i64 {
        let width = u64::try_from(to.saturating_sub(from)).unwrap_or(0);
        let over = i64::try_from(self.below(width.saturating_add(1))).unwrap_or(0);
        from.saturating_add(over)
    }

    /// True with a chance of `ppm` in a million.
    pub fn chance(&mut self, ppm: u32) -> bool {
        ppm > 0 && self.below(u64::from(MILLION)) < u64::from(ppm)
    }

    /// One of a list; none when it is empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        let index = self.below(u64::try_from(list.len()).unwrap_or(0));
        list.get(usize::try_from(index).unwrap_or(0))
    }
}
