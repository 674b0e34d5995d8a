//! Defines integers of a fixed number of words.

use num_bigint::BigInt;

use crate::number::fixed::{Magnitude, magnitude_of};

/// An integer of N words in two's complement, the lowest word first. Results wrap, so callers must know how many bits their results have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wide<const N: usize>(pub(crate) [u64; N]);

impl<const N: usize> Default for Wide<N> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<const N: usize> Wide<N> {
    pub(crate) const ZERO: Self = Self([0; N]);

    /// A number, which must fit N words.
    #[inline(always)]
    pub(crate) fn of(number: i128) -> Self {
        let mut words = [sign(number < 0); N];
        for (place, word) in words.iter_mut().take(2).enumerate() {
            *word = lower_word((number >> (64 * place)).cast_unsigned());
        }
        Self(words)
    }

    /// integer * 2^places, which must fit N words.
    #[inline(always)]
    pub(crate) fn shifted(integer: i128, places: u32) -> Self {
        if N == 4 {
            return Self::of_halves(if places < 128 {
                // The shift has two steps, because `places` may be 0, and a single shift by 128 places would overflow.
                let upper = integer >> 1 >> (127 - places);
                (integer.cast_unsigned() << places, upper)
            } else {
                (0, integer << (places - 128))
            });
        }
        let (skipped, places) = ((places / 64) as usize, places % 64);
        let [lowest, lower] = words_of(integer.cast_unsigned() << places);
        let [higher, _] = words_of((integer >> 1 >> (127 - places)).cast_unsigned());
        let [sign, _] = words_of((integer >> 127).cast_unsigned());
        let mut words = [sign; N];
        words[..skipped].fill(0);
        for (word, own) in words[skipped..].iter_mut().zip([lowest, lower, higher]) {
            *word = own;
        }
        Self(words)
    }

    /// This number times 2^places, if there is room.
    #[inline(always)]
    pub(crate) fn raised(self, places: u32) -> Option<Self> {
        if N == 2 {
            let number = self.lower();
            let room = (number ^ number >> 127).leading_zeros() - 1;
            return (places <= room).then(|| Self::of(number << places));
        }
        let Self(words) = self;
        let (skipped, shift) = ((places / 64) as usize, places % 64);
        let mut raised = [0; N];
        let mut below = 0;
        for (raised, word) in raised.iter_mut().skip(skipped).zip(words) {
            *raised = word << shift | below >> 1 >> (63 - shift);
            below = word;
        }
        let sign = sign(self.is_negative());
        let unlike = words.iter().rposition(|word| *word != sign);
        let bits = unlike.map_or(0, |place| {
            64 * (place + 1) - (words[place] ^ sign).leading_zeros() as usize
        });
        (bits + (places as usize) < 64 * N).then_some(Self(raised))
    }

    /// The number with these lower 128 bits, and this integer above them.
    #[inline(always)]
    pub(crate) fn of_halves((lower, upper): (u128, i128)) -> Self {
        let [lowest, next] = words_of(lower);
        let [higher, highest] = words_of(upper.cast_unsigned());
        let [sign, _] = words_of((upper >> 127).cast_unsigned());
        let mut words = [sign; N];
        for (word, own) in words.iter_mut().zip([lowest, next, higher, highest]) {
            *word = own;
        }
        Self(words)
    }

    /// The lower 128 bits.
    #[inline(always)]
    pub(crate) fn lower(self) -> i128 {
        let [lower, upper] = [self.0[0], self.0[1]].map(u128::from);
        (upper << 64 | lower).cast_signed()
    }

    #[inline(always)]
    pub(crate) fn is_negative(self) -> bool {
        self.0[N - 1].cast_signed() < 0
    }

    #[inline(always)]
    pub(crate) fn plus(mut self, other: Self) -> Self {
        let mut carry = false;
        for (own, other) in self.0.iter_mut().zip(other.0) {
            (*own, carry) = added(*own, other, carry);
        }
        self
    }

    /// The difference.
    #[inline(always)]
    pub(crate) fn less(mut self, other: Self) -> Self {
        let mut carry = true;
        for (own, other) in self.0.iter_mut().zip(other.0) {
            (*own, carry) = added(*own, !other, carry);
        }
        self
    }

    /// The sum, or the difference if `is_less`.
    #[inline(always)]
    pub(crate) fn changed(self, other: Self, is_less: bool) -> Self {
        if is_less {
            self.less(other)
        } else {
            self.plus(other)
        }
    }

    /// The same number in more words, or in fewer if they are enough.
    #[inline(always)]
    pub(crate) fn resized<const R: usize>(self) -> Wide<R> {
        let mut words = [sign(self.is_negative()); R];
        for (word, own) in words.iter_mut().zip(self.0) {
            *word = own;
        }
        Wide(words)
    }

    /// The product, in R words.
    #[inline(always)]
    pub(crate) fn times<const M: usize, const R: usize>(self, other: Wide<M>) -> Wide<R> {
        // Read as unsigned, the words of a negative number x stand for x + 2^(64 N). This makes the product too large by 2^(64 N) times `other`.
        let product: Wide<R> = self.times_unsigned(other);
        let product = product.less_above::<M>(N, other.0, self.is_negative());
        product.less_above::<N>(M, self.0, other.is_negative())
    }

    /// The product with a number that is not negative, computed faster than by [`times`](Self::times).
    #[inline(always)]
    pub(crate) fn times_count<const R: usize>(self, count: u64) -> Wide<R> {
        let product: Wide<R> = self.times_unsigned(Wide([count]));
        product.less_above::<1>(N, [count], self.is_negative())
    }

    /// The square of a number, computed faster than by [`times`](Self::times).
    #[inline(always)]
    pub(crate) fn square_of(number: i128) -> Self {
        let magnitude = number.unsigned_abs();
        let words = Wide([lower_word(magnitude), lower_word(magnitude >> u64::BITS)]);
        words.times_unsigned(words)
    }

    /// The product of both numbers, whose words are read as unsigned.
    #[inline(always)]
    fn times_unsigned<const M: usize, const R: usize>(self, other: Wide<M>) -> Wide<R> {
        const { assert!(R <= N + M, "a product has at most N + M words") };
        let mut words = [0; R];
        for (place, own) in self.0.into_iter().enumerate() {
            let mut carry = 0_u64;
            for (other_place, other) in other.0.into_iter().enumerate() {
                if let Some(word) = words.get_mut(place + other_place) {
                    let sum =
                        u128::from(own) * u128::from(other) + u128::from(*word) + u128::from(carry);
                    *word = lower_word(sum);
                    carry = lower_word(sum >> u64::BITS);
                }
            }
            if let Some(word) = words.get_mut(place + M) {
                *word = carry;
            }
        }
        Wide(words)
    }

    /// Subtracts a number of M words, shifted up by `place` words, if `is_so`.
    #[inline(always)]
    fn less_above<const M: usize>(mut self, place: usize, words: [u64; M], is_so: bool) -> Self {
        let mask = sign(is_so);
        let mut carry = true;
        for (own, word) in self.0.iter_mut().skip(place).zip(words) {
            (*own, carry) = added(*own, !(word & mask), carry);
        }
        self
    }

    /// The same number as an integer of any size.
    pub(crate) fn big(self) -> BigInt {
        let Self(words) = self;
        BigInt::from_signed_bytes_le(words.map(u64::to_le_bytes).as_flattened())
    }

    /// The number of bits of the magnitude.
    pub(crate) fn bits(self) -> i32 {
        self.magnitude(0)
            .map_or(0, |(_, magnitude)| magnitude.bits_end())
    }

    /// The sign and the magnitude of this number times 2^unit; `None` for zero.
    #[inline(always)]
    pub(crate) fn magnitude(self, unit: i32) -> Option<(bool, Magnitude)> {
        let Self(mut words) = self;
        magnitude_of(&mut words, unit)
    }
}

/// The sum of two words and a carry, and the next carry.
#[inline(always)]
fn added(own: u64, other: u64, carry: bool) -> (u64, bool) {
    let (sum, is_over) = own.overflowing_add(other);
    let (sum, is_over_by_carry) = sum.overflowing_add(carry.into());
    (sum, is_over | is_over_by_carry)
}

/// The word that extends a number in two's complement upwards.
#[inline(always)]
fn sign(is_negative: bool) -> u64 {
    u64::from(is_negative).wrapping_neg()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "only the lowest word is needed"
)]
#[inline(always)]
fn lower_word(number: u128) -> u64 {
    number as u64
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "both halves are returned")]
pub(crate) fn words_of(integer: u128) -> [u64; 2] {
    [integer as u64, (integer >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use proptest::prelude::*;

    use super::Wide;

    fn word() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), Just(1 << 63)]
    }

    proptest! {
        #[test]
        fn is_an_integer(a in [word(), word(), word()], b in [word(), word()], shift in 0..128_u32, number: i128) {
            let (a, b) = (Wide(a), Wide(b));
            let product: Wide<5> = a.times(b);
            prop_assert_eq!(product.big(), a.big() * b.big());
            prop_assert_eq!(Wide::<5>::shifted(number, shift).big(), BigInt::from(number) << shift);
            let lower: Wide<3> = a.times(b);
            prop_assert_eq!(lower, product.resized());
            let (long, other): (Wide<4>, Wide<4>) = (a.resized(), b.resized());
            prop_assert_eq!(long.big(), a.big());
            prop_assert_eq!(long.plus(other).big(), a.big() + b.big());
            prop_assert_eq!(long.less(other).big(), a.big() - b.big());
            prop_assert_eq!(a.times_count::<4>(b.0[0]).big(), a.big() * b.0[0]);
            let number = number >> shift;
            prop_assert_eq!(Wide::<4>::square_of(number).big(), BigInt::from(number) * number);
            prop_assert_eq!(Wide::<3>::of(number).big(), BigInt::from(number));
            match a.magnitude(7) {
                None => prop_assert_eq!(a, Wide::ZERO),
                Some((is_negative, magnitude)) => {
                    prop_assert_eq!(is_negative, a.is_negative());
                    let all = a.big().magnitude().clone();
                    let dropped = i64::from(magnitude.exponent) - 7;
                    let kept = if dropped < 0 { &all << dropped.unsigned_abs() } else { &all >> dropped.unsigned_abs() };
                    prop_assert_eq!(kept, magnitude.bits.into());
                    prop_assert_eq!(magnitude.bits >> 127, 1);
                }
            }
        }
    }
}
