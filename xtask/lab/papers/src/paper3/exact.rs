//! Sums without any rounding, to measure errors against.

/// A sum as doubles that do not overlap, the least first (Shewchuk, 1997): together they are it exactly, as long as nothing overflows.
#[derive(Clone, Debug, Default)]
pub(super) struct Exact {
    parts: Vec<f64>,
}

impl Exact {
    /// The sum of these.
    pub(super) fn of(items: &[f64]) -> Self {
        let mut sum = Self::default();
        for &item in items {
            sum.add(item);
        }
        sum
    }

    fn add(&mut self, item: f64) {
        let mut carry = item;
        let mut kept = 0;
        for index in 0..self.parts.len() {
            let (sum, error) = two_sum(carry, self.parts[index]);
            if error != 0.0 {
                self.parts[kept] = error;
                kept += 1;
            }
            carry = sum;
        }
        self.parts.truncate(kept);
        self.parts.push(carry);
    }

    /// About this sum: off by the last place at most.
    pub(super) fn value(&self) -> f64 {
        self.parts.iter().fold(0.0, |sum, part| sum + part)
    }

    /// How far a total is from this sum.
    pub(super) fn error(&self, total: f64) -> f64 {
        let mut difference = self.clone();
        difference.add(-total);
        difference.value().abs()
    }
}

/// The sum, and what its rounding lost (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    let of_a = sum - of_b;
    (sum, (a - of_a) + (b - of_b))
}

#[cfg(test)]
mod tests {
    use super::Exact;
    use harness::data::Random;

    #[test]
    fn nothing_is_lost() {
        let tiny = 2_f64.powi(-60);
        let mut items = vec![1e100];
        items.extend([tiny; 1 << 10]);
        items.push(-1e100);
        assert_eq!(
            Exact::of(&items).value().to_bits(),
            2_f64.powi(-50).to_bits()
        );
    }

    /// Numbers that are multiples of 2^-80 below 2^40 fit into integers of 128 bits.
    #[test]
    fn integers_agree() {
        let mut random = Random::new(3);
        for _ in 0..100 {
            let scaled: Vec<(i64, u64)> = (0..200)
                .map(|_| (random.word().cast_signed() >> 11, random.below(60)))
                .collect();
            let items: Vec<f64> = scaled
                .iter()
                .map(|&(whole, shift)| whole as f64 * (shift as f64 - 80.0).exp2())
                .collect();
            let total = items.iter().fold(0.0, |sum, item| sum + item);
            let integer = |x: f64| -> i128 {
                // Exact: a double of at most 2^53 units of 2^-80, times a power of two.
                let bits = x * 80_f64.exp2();
                #[expect(clippy::cast_possible_truncation, reason = "below 2^120")]
                let whole = bits as i128;
                whole
            };
            let exact = items.iter().fold(0, |sum, &item| sum + integer(item));
            let error = (exact - integer(total)).unsigned_abs() as f64 * (-80_f64).exp2();
            let found = Exact::of(&items).error(total);
            assert!(
                (found - error).abs() <= 1e-15 * error,
                "{found:e}, {error:e}"
            );
        }
    }
}
