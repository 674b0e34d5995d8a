//! What measurements are made on: the same data for Criterion's benches and for `cargo xtask`.

/// So many negative numbers in the manner of per-site log-likelihoods, from -100 to -1 and most of them small.
///
/// The same for the same seed, on every machine.
#[must_use]
pub fn log_likelihoods(count: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut one = || {
        let uniform = random.uniform();
        -(1.0 + 99.0 * uniform * uniform)
    };
    (0..count).map(|_| one()).collect()
}

/// Steele, Lea and Flood's SplitMix64 (2014): small, seedable, and the same everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers that follow from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in 0..bound; the bias of a remainder does not matter to a measurement.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.word() % bound
    }

    /// A number in 0..1.
    pub fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
