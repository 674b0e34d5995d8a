//! The trait of exact sums.

use std::fmt;

use bytemuck::Pod;

use crate::bytes::BytesError;
use crate::number::counters::{LimitError, RemoveError};

/// An exact sum of any kind: [`Sum`](crate::Sum), [`ProductSum`](crate::ProductSum), or a sum of complex numbers.
///
/// In messages it has one of two forms. [`Words`](Self::Words) are short, and are merged by [`merge_words`](Self::merge_words).
/// [`Integers`](Self::Integers) are twice as long, and are merged by adding them one by one, as MPI's `MPI_SUM` adds integers.
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
    /// An array of `u64`, or an array of two of them.
    type Words: Pod;

    /// An array of `i64`, or an array of two of them. The integers of up to 2^30 sums can be added without overflow.
    type Integers: Pod;

    /// The type of the sum and of its items, as text that ranks compare.
    fn name() -> String;

    /// Adds another sum.
    ///
    /// # Errors
    /// Together they have more than 2^63 - 1 items (half as many for products of complex items). A failed call changes nothing.
    fn merge(&mut self, other: &Self) -> Result<(), LimitError>;

    /// Removes the items of `other`.
    ///
    /// # Errors
    /// More items are removed than were added, or more NaNs, infinities or negative zeros. A failed call changes nothing.
    fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError>;

    /// The number of items, or of products.
    fn items(&self) -> u64;

    /// The sum as bytes, for files and other programs. Equal sums give equal bytes, whatever order, threads or ranks made them.
    ///
    /// All numbers are little-endian. The header has 8 bytes: `tfx`, the version 1, the kind (1 a sum, 2 a sum of products, 3 a sum of complex
    /// items, 4 a sum of their products), the size of an item's type in bytes, and two zeros. Then follow, for each of one or two parts:
    /// five counts of 8 bytes (all items, and those that are -0.0, NaN, +infinity and -infinity); the exponent of a unit, 4 bytes; the length of a
    /// number in bytes, 4 bytes; and the number: the finite items' sum in that unit, in two's complement. Words of 8 bytes that are not needed, at
    /// either end of the number, are left out.
    ///
    /// ```
    /// use exact_sum::{Accumulator, Sum};
    ///
    /// let bytes = Sum::of(&[0.1, 0.2]).to_bytes();
    /// assert_eq!(Sum::<f64>::of_bytes(&bytes)?.value(), 0.1 + 0.2);
    /// # Ok::<(), exact_sum::BytesError>(())
    /// ```
    fn to_bytes(&self) -> Vec<u8>;

    /// The sum that bytes stand for.
    ///
    /// # Errors
    /// The bytes hold no sum of this kind.
    fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError>;

    /// The sum as words.
    fn words(&self) -> Self::Words;

    /// Adds the sum that words stand for.
    ///
    /// # Errors
    /// As [`merge`](Self::merge).
    fn add_words(&mut self, words: &Self::Words) -> Result<(), LimitError>;

    /// Checks that [`add_words`](Self::add_words) would add these words to a sum of no items.
    #[doc(hidden)]
    fn check_words(words: &Self::Words) -> Result<(), LimitError>;

    /// Adds a sum to another, both as words. If they have too many items, a later [`add_words`](Self::add_words) returns the error.
    fn merge_words(words: &mut Self::Words, other: &Self::Words);

    /// The sum as integers.
    fn integers(&self) -> Self::Integers;

    /// Adds the sum that integers stand for.
    ///
    /// # Errors
    /// As [`merge`](Self::merge). More than 2^64 - 1 items are not detected, since their integers wrap.
    fn add_integers(&mut self, integers: &Self::Integers) -> Result<(), LimitError>;
}

pub(crate) mod sealed {
    /// Other crates cannot implement it.
    pub trait Sealed {}
}
