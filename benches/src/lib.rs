//! What measurements are made on: the same data for Criterion's benches and for `cargo xtask`.

/// So many negative numbers in the manner of per-site log-likelihoods, most between -100 and -1.
///
/// The same for the same seed, on every machine.
#[must_use]
pub fn log_likelihoods(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    (0..count)
        .map(|_| -(1.0 + 99.0 * square(uniform(&mut state))))
        .collect()
}

/// A number in 0..1, by Steele, Lea and Flood's SplitMix64 (2014).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    (z >> 11) as f64 / (1_u64 << 53) as f64
}

fn square(x: f64) -> f64 {
    x * x
}
