//! Data generated from a seed, for Criterion's benches and for `cargo xtask`.

use std::ops::Range;

/// `count` negative numbers similar to per-site log-likelihoods, from -100 to -1, most of them small.
///
/// The same for the same seed, on every machine.
#[must_use]
pub fn log_likelihoods(count: usize, seed: u64) -> Vec<f64> {
    some_log_likelihoods(0..count as u64, seed)
}

/// The items in a range of the seed's infinite sequence.
#[must_use]
pub fn some_log_likelihoods(numbers: Range<u64>, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    random.skip(numbers.start);
    let mut one = || {
        let uniform = random.uniform();
        -(1.0 + 99.0 * uniform * uniform)
    };
    numbers.map(|_| one()).collect()
}

/// From one state of [`Random`] to the next.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Steele, Lea and Flood's SplitMix64 (2014): small, seedable, and the same everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers that follow from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Skips `words` words.
    pub fn skip(&mut self, words: u64) {
        self.0 = self.0.wrapping_add(STEP.wrapping_mul(words));
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in 0..bound; the bias of a remainder does not matter to a measurement.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.word() % bound
    }

    /// An index below a bound.
    pub fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).expect("it is below a usize")
    }

    /// A number in 0..1.
    pub fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::{log_likelihoods, some_log_likelihoods};

    #[test]
    fn any_part_of_the_data_is_the_same() {
        let all = log_likelihoods(100, 7);
        for (start, end) in [(0, 100), (3, 50), (99, 100), (40, 40)] {
            let numbers = start as u64..end as u64;
            assert_eq!(some_log_likelihoods(numbers, 7), all[start..end]);
        }
    }
}
