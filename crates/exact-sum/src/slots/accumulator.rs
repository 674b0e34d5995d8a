//! Defines the trait that all exact sums implement.

use std::fmt;

use bytemuck::{Pod, cast_slice, cast_slice_mut};

use crate::bytes::BytesError;
use crate::number::counters::{LimitError, RemoveError};

/// An exact sum of any kind: [`Sum`](crate::Sum), [`ProductSum`](crate::ProductSum), or a sum of complex numbers.
///
/// In messages, a sum has one of two forms. [`Words`](Self::Words) are short, and [`merge_words`](Self::merge_words) merges them.
/// [`Integers`](Self::Integers) are twice as long, and are merged by adding them one by one, as MPI's `MPI_SUM` does.
///
/// ```
/// use exact_sum::{Accumulator, Sum};
///
/// let [mut left, mut right] = [Sum::<f64>::new(); 2];
/// left.add(&[1e300, 1.0]);
/// right.add(&[-1e300]);
///
/// let mut words = left.words();
/// Sum::<f64>::merge_words(&mut words, &right.words());
/// let mut sum = Sum::<f64>::new();
/// sum.add_words(&words)?;
/// assert_eq!(sum.value(), 1.0);
///
/// let mut integers = left.integers();
/// for (integer, other) in integers.iter_mut().zip(right.integers()) {
///     *integer += other;
/// }
/// let mut sum = Sum::<f64>::new();
/// sum.add_integers(&integers)?;
/// assert_eq!(sum.value(), 1.0);
/// # Ok::<(), exact_sum::LimitError>(())
/// ```
pub trait Accumulator:
    sealed::Sealed + Clone + Default + Eq + fmt::Debug + Send + Sync + 'static
{
    /// An array of `u64`, or two such arrays.
    type Words: Pod;

    /// An array of `i64`, or two such arrays. The integers of up to 2^30 sums can be added without overflow.
    type Integers: Pod;

    /// The type of the sum and of its items, as text that ranks compare.
    fn name() -> String;

    /// Adds another sum.
    ///
    /// # Errors
    /// Both sums together have more than 2^63 - 1 items (half as many for products of complex items). A failed call changes nothing.
    fn merge(&mut self, other: &Self) -> Result<(), LimitError>;

    /// Removes the items of `other`.
    ///
    /// # Errors
    /// `other` has more items, NaNs, infinities or negative zeros than this sum. A failed call changes nothing.
    fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError>;

    /// The number of items, or of products.
    fn items(&self) -> u64;

    /// The sum as bytes, for files and other programs. Equal sums have equal bytes, whatever order, threads or ranks produced them.
    ///
    /// All numbers are little-endian. The header has 8 bytes: `tfx`, the version 1, the kind (1 for a sum, 2 for a sum of products, 3 for a
    /// sum of complex items, 4 for a sum of products of complex items), the size of an item's type in bytes, and two zeros. One or two
    /// parts follow. Each has five counts of 8 bytes (all items, then the items that are -0.0, NaN, +infinity and -infinity); the exponent
    /// of a unit, 4 bytes; the length of a number in bytes, 4 bytes; and the number: the sum of the finite items in that unit, in two's
    /// complement. At either end of the number, words of 8 bytes that are not needed are left out.
    ///
    /// ```
    /// use exact_sum::{Accumulator, Sum};
    ///
    /// let bytes = Sum::of(&[0.1, 0.2]).to_bytes();
    /// assert_eq!(Sum::<f64>::of_bytes(&bytes)?.value(), 0.1 + 0.2);
    /// # Ok::<(), exact_sum::BytesError>(())
    /// ```
    fn to_bytes(&self) -> Vec<u8>;

    /// The sum that bytes hold.
    ///
    /// # Errors
    /// The bytes hold no sum of this kind.
    fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError>;

    /// The sum as words.
    fn words(&self) -> Self::Words;

    /// Adds the sum that words represent.
    ///
    /// # Errors
    /// Those of [`merge`](Self::merge).
    fn add_words(&mut self, words: &Self::Words) -> Result<(), LimitError>;

    /// Checks that [`add_words`](Self::add_words) would accept these words for a sum without items.
    #[doc(hidden)]
    fn check_words(words: &Self::Words) -> Result<(), LimitError>;

    /// Adds a sum to another, both given as words. If both have too many items together, a later [`add_words`](Self::add_words) fails.
    fn merge_words(words: &mut Self::Words, other: &Self::Words);

    /// The sum as integers.
    fn integers(&self) -> Self::Integers;

    /// Adds the sum that integers represent.
    ///
    /// # Errors
    /// Those of [`merge`](Self::merge). More than 2^64 - 1 items are not detected, since the integer that counts them wraps.
    fn add_integers(&mut self, integers: &Self::Integers) -> Result<(), LimitError>;
}

pub(crate) mod sealed {
    /// A trait that other crates cannot implement.
    pub trait Sealed {}
}

/// The parts of a value, which all have one type.
pub(crate) fn parts<A: Pod, P: Pod>(all: &A) -> &[P] {
    cast_slice(std::slice::from_ref(all))
}

/// The parts of a value, which all have one type.
pub(crate) fn parts_mut<A: Pod, P: Pod>(all: &mut A) -> &mut [P] {
    cast_slice_mut(std::slice::from_mut(all))
}

/// Implements [`Accumulator`] for a sum that consists of one or two totals of a format. The methods that programs need most are also
/// inherent methods. `$products` is the number of real products of an item.
macro_rules! accumulator {
    ($sum:ident, $format:ident, $words:ty, $integers:ty, $products:literal, $kind:expr, $name:literal) => {
        impl<T: Float> $sum<T> {
            /// Adds another sum.
            ///
            /// # Errors
            /// The sums together have more than 2^63 - 1 items (half as many for products of complex items). A failed call changes nothing.
            pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
                check_counts(self.totals(), other.totals())?;
                for (own, other) in self.totals_mut().into_iter().zip(other.totals()) {
                    own.merge(other);
                }
                Ok(())
            }

            /// Removes the items of `other`.
            ///
            /// # Errors
            /// `other` has more items, NaNs, infinities or negative zeros than this sum. A failed call changes nothing.
            pub fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
                for (own, other) in self.totals().into_iter().zip(other.totals()) {
                    own.counters.without(other.counters)?;
                }
                for (own, other) in self.totals_mut().into_iter().zip(other.totals()) {
                    own.unmerge(other);
                }
                Ok(())
            }

            /// The number of items, or of products.
            #[must_use]
            pub fn items(&self) -> u64 {
                self.totals()[0].counters.items.cast_unsigned() / $products
            }

            /// Changes all totals, or none if one of the changes fails.
            fn try_change(
                &mut self,
                change: impl Fn(usize, &mut Total<T::$format>) -> Result<(), LimitError>,
            ) -> Result<(), LimitError> {
                let mut totals = self.totals().map(|total| *total);
                for (part, total) in totals.iter_mut().enumerate() {
                    change(part, total)?;
                }
                for (own, total) in self.totals_mut().into_iter().zip(totals) {
                    *own = total;
                }
                Ok(())
            }
        }

        /// Sums are equal if their numbers and their counts of each kind of item are equal.
        impl<T: Float> PartialEq for $sum<T> {
            fn eq(&self, other: &Self) -> bool {
                self.totals() == other.totals()
            }
        }

        impl<T: Float> Eq for $sum<T> {}

        impl<T: Float> Sealed for $sum<T> {}

        impl<T: Float> Accumulator for $sum<T> {
            type Words = $words;
            type Integers = $integers;

            fn name() -> String {
                format!("{} of {}", $name, T::NAME)
            }

            fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
                self.merge(other)
            }

            fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
                self.unmerge(other)
            }

            fn items(&self) -> u64 {
                self.items()
            }

            fn to_bytes(&self) -> Vec<u8> {
                bytes::write::<T, _, _>($kind, self.totals())
            }

            fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
                let sum = Self::of_totals(bytes::read::<T, _, _>($kind, bytes)?);
                let items = sum.totals()[0].counters.items;
                if !items.cast_unsigned().is_multiple_of($products) {
                    return Err(BytesError::Corrupted {
                        what: "the number of real products is odd",
                    });
                }
                Ok(sum)
            }

            fn words(&self) -> Self::Words {
                let mut words = Self::Words::zeroed();
                for (part, total) in parts_mut(&mut words).iter_mut().zip(self.totals()) {
                    *part = total.words();
                }
                words
            }

            fn add_words(&mut self, words: &Self::Words) -> Result<(), LimitError> {
                self.try_change(|part, total| total.add_words(&parts(words)[part]))
            }

            fn check_words(words: &Self::Words) -> Result<(), LimitError> {
                let mut parts = parts(words).iter();
                parts.try_for_each(Total::<T::$format>::check_words)
            }

            fn merge_words(words: &mut Self::Words, other: &Self::Words) {
                for (words, other) in parts_mut(words).iter_mut().zip(parts(other)) {
                    Total::<T::$format>::merge_words(words, other);
                }
            }

            fn integers(&self) -> Self::Integers {
                let mut integers = Self::Integers::zeroed();
                for (part, total) in parts_mut(&mut integers).iter_mut().zip(self.totals()) {
                    *part = total.integers();
                }
                integers
            }

            fn add_integers(&mut self, integers: &Self::Integers) -> Result<(), LimitError> {
                self.try_change(|part, total| total.add_integers(&parts(integers)[part]))
            }
        }
    };
}

pub(crate) use accumulator;
