//! Lets ranks agree on the units of their integers. They reduce short [`Terms`], one for each part of a key's sums.

use crate::number::counters::{LimitError, items_of_both};

/// What one or more ranks report about one part of every key's sums. [`combine`] joins the terms of two groups of ranks.
pub type Terms = [i64; 6];

// Indices of the terms:
/// The lowest exponent of a unit of a rank's integers.
pub(crate) const LOWEST: usize = 0;
/// The exponent of a power of two above the magnitudes of all integers times their units.
pub(crate) const HIGHEST: usize = 1;
/// The largest number of nonzero integers that one rank has.
pub(crate) const VOTES: usize = 2;
/// The exponent of the unit of the integers that [`VOTES`] counts.
pub(crate) const VOTED: usize = 3;
/// 1 if a key already has an entry, otherwise 0.
pub(crate) const HAS_ENTRIES: usize = 4;
/// An upper bound on the number of items that a key has on all ranks together, as an unsigned 64-bit number.
pub(crate) const ITEMS: usize = 5;

/// The terms of no integers.
pub const NO_TERMS: Terms = [i64::MAX, i64::MIN, 0, 0, 0, 0];

/// The joint terms of two groups of ranks.
#[must_use]
pub fn combine(left: Terms, right: Terms) -> Terms {
    let vote = |terms: &Terms| (terms[VOTES], terms[VOTED]);
    let (votes, voted) = vote(&left).max(vote(&right));
    let [items, others] = [left, right].map(|terms| terms[ITEMS].cast_unsigned());
    [
        left[LOWEST].min(right[LOWEST]),
        left[HIGHEST].max(right[HIGHEST]),
        votes,
        voted,
        left[HAS_ENTRIES] | right[HAS_ENTRIES],
        items.saturating_add(others).cast_signed(),
    ]
}

/// The unit that ranks have agreed on for one part.
#[derive(Clone, Copy, Debug)]
pub struct Agreed {
    pub(crate) unit: i32,
    /// The most bits that an integer may have, so that the sum of all ranks' integers does not overflow.
    bits: u32,
    pub(crate) all_fit: bool,
    has_entries: bool,
    pub(crate) items: u64,
}

impl Agreed {
    /// The unit that `ranks` ranks agree on, given their joint terms.
    ///
    /// # Errors
    /// The ranks have more than 2^63 - 1 items.
    pub fn on(terms: Terms, ranks: usize) -> Result<Self, LimitError> {
        let more = usize::BITS - (ranks - 1).leading_zeros();
        let bits = i128::BITS - 1 - more;
        let is_zero = terms[LOWEST] == i64::MAX;
        let all_fit = is_zero || terms[HIGHEST] - terms[LOWEST] <= i64::from(bits);
        let unit = match (is_zero, all_fit) {
            (true, _) => 0,
            (false, true) => terms[LOWEST],
            (false, false) => terms[VOTED],
        };
        Ok(Self {
            unit: i32::try_from(unit).expect("units are exponents of doubles"),
            bits,
            all_fit,
            has_entries: terms[HAS_ENTRIES] != 0,
            items: items_of_both(terms[ITEMS].cast_unsigned(), 0)?,
        })
    }

    /// Whether any rank may have entries in addition to its rows.
    #[must_use]
    pub fn may_have_entries(&self) -> bool {
        self.has_entries || !self.all_fit
    }

    /// Converts an integer from units of 2^`unit` to the agreed unit, if the result is an integer that fits.
    #[inline]
    pub(crate) fn fit(&self, integer: i128, unit: i32) -> Option<i128> {
        let fitting = moved(integer, unit - self.unit);
        fitting.filter(|fitting| bits_of(magnitude(*fitting)) <= self.bits)
    }
}

/// The terms of integers in units of 2^`unit`: `count` of them are not zero, and `bits` is the bitwise or of their [`magnitude`]s.
pub(crate) fn terms_of(unit: i32, bits: i128, count: usize, has_entries: bool) -> Terms {
    let mut terms = NO_TERMS;
    if bits != 0 || count > 0 {
        let unit = i64::from(unit);
        let count = i64::try_from(count).expect("fewer integers fit in memory");
        terms = [unit, unit + i64::from(bits_of(bits)), count, unit, 0, 0];
    }
    terms[HAS_ENTRIES] = has_entries.into();
    terms
}

/// integer * 2^places, if the result is an integer of 128 bits.
#[inline]
pub(crate) fn moved(integer: i128, places: i32) -> Option<i128> {
    let distance = places.unsigned_abs();
    if distance >= i128::BITS {
        return (integer == 0).then_some(0);
    }
    let is_up = places >= 0;
    let moved = if is_up {
        integer << distance
    } else {
        integer >> distance
    };
    let back = if is_up {
        moved >> distance
    } else {
        moved << distance
    };
    (back == integer).then_some(moved)
}

/// A number that is less than 2^b if and only if `integer` is in the range from -2^b to 2^b - 1.
#[inline]
pub(crate) fn magnitude(integer: i128) -> i128 {
    integer ^ (integer >> (i128::BITS - 1))
}

#[inline]
pub(crate) fn bits_of(magnitude: i128) -> u32 {
    i128::BITS - magnitude.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::{Agreed, combine, moved, terms_of};

    /// The largest integers that fit add up over all ranks without overflow, and no larger integer fits.
    #[test]
    fn sums_of_all_ranks_have_room() {
        for ranks in [1, 2, 3, 4, 5, 64, 65, 1_000_000] {
            let more = (0..).find(|&more| 1_usize << more >= ranks).unwrap();
            let most = i128::MAX >> more;
            let agreed = Agreed::on(terms_of(-10, most, 1, false), ranks).unwrap();
            assert!(!agreed.may_have_entries(), "{ranks} ranks");
            let all = i128::try_from(ranks).unwrap();
            for integer in [most, -most - 1, 1, -1, 0] {
                assert_eq!(agreed.fit(integer, -10), Some(integer));
                assert!(integer.checked_mul(all).is_some(), "{ranks} ranks");
            }
            if ranks > 1 {
                assert_eq!(agreed.fit(most + 1, -10), None);
                assert_eq!(agreed.fit(-most - 2, -10), None);
                let wider = Agreed::on(terms_of(-10, most + 1, 1, false), ranks).unwrap();
                assert!(wider.may_have_entries(), "{ranks} ranks");
            }
        }
    }

    #[test]
    fn an_integer_in_another_unit_is_exact_or_none() {
        for integer in [1, -1, 6, -6, i128::MAX, i128::MIN, 1 << 100, 0] {
            for places in [
                -200_i32, -128, -127, -2, -1, 0, 1, 26, 27, 126, 127, 128, 200,
            ] {
                let expected = if integer == 0 {
                    Some(0)
                } else if places >= 0 {
                    let factor = 2_i128.checked_pow(places.unsigned_abs());
                    // -2^127 has 128 bits with its sign, and 2^127 has more.
                    match factor {
                        Some(factor) => integer.checked_mul(factor),
                        None => (places == 127 && integer == -1).then_some(i128::MIN),
                    }
                } else {
                    let zeros = integer.trailing_zeros();
                    let is_whole = zeros >= places.unsigned_abs();
                    is_whole.then(|| integer >> places.unsigned_abs().min(127))
                };
                assert_eq!(moved(integer, places), expected, "{integer} by {places}");
            }
        }
    }

    #[test]
    fn terms_are_those_of_the_most_integers_where_not_all_fit() {
        let few = terms_of(-900, 1 << 90, 3, false);
        let many = terms_of(100, 1 << 90, 4, false);
        for all in [combine(few, many), combine(many, few)] {
            let agreed = Agreed::on(all, 2).unwrap();
            assert_eq!((agreed.unit, agreed.all_fit), (100, false));
        }
        let near = terms_of(80, 1, 1, false);
        assert_eq!(Agreed::on(combine(near, many), 2).unwrap().unit, 80);
        let has_entries = combine(terms_of(0, 0, 0, true), many);
        assert!(Agreed::on(has_entries, 2).unwrap().may_have_entries());
    }
}
