//! Sums by key as bytes, and their equality.

use super::moments::KeyedMoments;
use super::totals::Totals;
use super::{KeyedProducts, KeyedSums};
use crate::bytes::{BytesError, Kind, Reader, check_counters, header, write_number};
use crate::number::counters::Counters;
use crate::number::fixed::{Fixed, FixedFormat};
use crate::number::float::Float;
use crate::number::total::Total;
use crate::slots::moments::can_have;

/// The fewest bytes of a key: of a sum, and of moments.
const SUM_BYTES: usize = 9;
const MOMENTS_BYTES: usize = 8 + SUM_BYTES + 8;

impl<T: Float> KeyedSums<T> {
    /// The sums as bytes, for files and other programs. Sums that are equal have the same bytes, whatever order, calls and threads they come
    /// from.
    ///
    /// All numbers are little-endian. The header and a sum's number are those of [`Accumulator::to_bytes`](crate::Accumulator::to_bytes), the
    /// kind being 7.
    ///
    /// | bytes | what |
    /// |---|---|
    /// | 8 | the header |
    /// | 8 | the number of keys, `u64` |
    /// | for each key: 1 | 1 if some of its items are not finite, otherwise 0 |
    /// | if they are: 3 × 8 | how many are NaN, infinity, negative infinity: `u64` each |
    /// | 4 + 4 + n | the number: exponent of its unit `i32`, n `u32`, n bytes of two's complement |
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = begin::<T>(Kind::KeyedSums, self.keys());
        for key in 0..self.keys() {
            write_sum(&self.totals, key, &mut bytes);
        }
        bytes
    }

    /// The sums that bytes stand for.
    ///
    /// # Errors
    /// They are not those of such sums.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let mut reader = Reader::of::<T>(Kind::KeyedSums, bytes)?;
        let keys = keys(&mut reader, SUM_BYTES)?;
        let mut skipped = reader;
        let numbers = (0..keys).map_while(|_| skip_entry(&mut skipped).ok());
        let is_common = common_words::<T::Sums>(keys, numbers);
        let mut sums = Self::new(keys);
        for key in 0..keys {
            let (sum, items) = read_entry(&mut reader)?;
            sums.totals.raise_items(items + sum.counters.specials());
            let is_common = |word| is_common[word];
            sums.totals
                .add_number(key, &sum.fixed, sum.counters, is_common);
        }
        reader.end()?;
        Ok(sums)
    }
}

/// Sums are equal if there are as many, if their numbers are equal, and their counts of items that are not finite.
impl<T: Float> PartialEq for KeyedSums<T> {
    fn eq(&self, other: &Self) -> bool {
        are_equal(&self.totals, &other.totals)
    }
}

impl<T: Float> Eq for KeyedSums<T> {}

impl<T: Float> KeyedMoments<T> {
    /// The moments as bytes: as [`KeyedSums::to_bytes`], the kind being 8. Before each sum stands the number of the key's items, `u64`, and
    /// behind it the number that is the sum of the squares of those that are finite.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = begin::<T>(Kind::KeyedMoments, self.keys());
        for (key, count) in self.counts().iter().enumerate() {
            bytes.extend(count.to_le_bytes());
            write_sum(&self.sums, key, &mut bytes);
            write_number(&self.squares.total(key).fixed, &mut bytes);
        }
        bytes
    }

    /// The moments that bytes stand for.
    ///
    /// # Errors
    /// They are not those of such moments.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let mut reader = Reader::of::<T>(Kind::KeyedMoments, bytes)?;
        let keys = keys(&mut reader, MOMENTS_BYTES)?;
        let begin = reader;
        let skipped = || {
            let mut reader = begin;
            (0..keys).map_while(move |_| {
                reader.array::<8>().ok()?;
                Some((skip_entry(&mut reader).ok()?, reader.skip_number().ok()?))
            })
        };
        let of_sums = common_words::<T::Sums>(keys, skipped().map(|(sum, _)| sum));
        let of_squares = common_words::<T::Products>(keys, skipped().map(|(_, squares)| squares));
        let mut moments = Self::new(keys)?;
        for key in 0..keys {
            let count = u64::from_le_bytes(reader.array()?);
            let (sum, items) = read_entry(&mut reader)?;
            let (squares, squared): (Fixed<T::Products>, u64) = reader.number()?;
            let all = Counters {
                items: count.cast_signed(),
                ..sum.counters
            };
            check_counters(all, items.max(squared))?;
            let finite = count - sum.counters.specials();
            if !can_have(finite, &[&sum.fixed], &squares) {
                return Err(BytesError::Corrupted {
                    what: "the squares are not those of the items",
                });
            }
            moments.raise_items(count);
            moments
                .sums
                .add_number(key, &sum.fixed, sum.counters, |word| of_sums[word]);
            moments.squares.parts[0].add_number(key, &squares, sum.counters.squared(), |word| {
                of_squares[word]
            });
            moments.set_count(key, count);
        }
        reader.end()?;
        Ok(moments)
    }
}

impl<T: Float> PartialEq for KeyedMoments<T> {
    fn eq(&self, other: &Self) -> bool {
        self.counts() == other.counts()
            && are_equal(&self.sums, &other.sums)
            && self.squares == other.squares
    }
}

impl<T: Float> Eq for KeyedMoments<T> {}

/// As those of [`KeyedSums`].
impl<T: Float> PartialEq for KeyedProducts<T> {
    fn eq(&self, other: &Self) -> bool {
        let is_equal = |key| are_alike(&self.total(key), &other.total(key));
        self.keys() == other.keys() && (0..self.keys()).all(is_equal)
    }
}

impl<T: Float> Eq for KeyedProducts<T> {}

fn are_equal<F: FixedFormat>(left: &Totals<F>, right: &Totals<F>) -> bool {
    let is_equal = |key| are_alike(&left.total(key), &right.total(key));
    left.len() == right.len() && (0..left.len()).all(is_equal)
}

/// Whether sums of a key are equal.
pub(super) fn are_alike<F: FixedFormat>(left: &Total<F>, right: &Total<F>) -> bool {
    left.fixed == right.fixed && left.counters.of_specials() == right.counters.of_specials()
}

fn begin<T: Float>(kind: Kind, keys: usize) -> Vec<u8> {
    let mut bytes = header::<T>(kind);
    bytes.extend((keys as u64).to_le_bytes());
    bytes
}

/// The number of keys, each of which has so many bytes at least.
fn keys(reader: &mut Reader<'_>, key_bytes: usize) -> Result<usize, BytesError> {
    let keys = usize::try_from(u64::from_le_bytes(reader.array()?));
    keys.ok()
        .filter(|keys| *keys <= reader.left() / key_bytes)
        .ok_or(BytesError::Truncated)
}

/// For each word of a number, whether so many of the keys have it that a table of it is not much longer than their bytes.
fn common_words<F: FixedFormat>(
    keys: usize,
    numbers: impl Iterator<Item = (i32, usize)>,
) -> Vec<bool> {
    const RARE: usize = 16;
    let mut counts = vec![0; Fixed::<F>::WORDS];
    for (exponent, words) in numbers {
        let first = usize::try_from((i64::from(exponent) - i64::from(F::LOWEST)) / 64);
        let of_number = first.ok().and_then(|first| counts.get_mut(first..));
        let of_number = of_number.into_iter().flatten().take(words);
        of_number.for_each(|count| *count += 1);
    }
    counts.iter().map(|count| count * RARE >= keys).collect()
}

fn write_sum<F: FixedFormat>(totals: &Totals<F>, key: usize, bytes: &mut Vec<u8>) {
    write_entry(&totals.total(key), bytes);
}

/// Writes a sum without its number of items.
pub(crate) fn write_entry<F: FixedFormat>(total: &Total<F>, bytes: &mut Vec<u8>) {
    let specials = total.counters.of_specials();
    let [_, _, specials @ ..] = specials.words();
    let is_finite = specials == [0; 3];
    bytes.push(u8::from(!is_finite));
    if !is_finite {
        bytes.extend(specials.iter().flat_map(|count| count.to_le_bytes()));
    }
    write_number(&total.fixed, bytes);
}

/// Goes past a sum, as [`Reader::skip_number`].
fn skip_entry(reader: &mut Reader<'_>) -> Result<(i32, usize), BytesError> {
    if reader.array()? != [0] {
        reader.array::<{ 3 * 8 }>()?;
    }
    reader.skip_number()
}

/// Reads a sum without its number of items, and the fewest finite ones that it can be of.
pub(crate) fn read_entry<F: FixedFormat>(
    reader: &mut Reader<'_>,
) -> Result<(Total<F>, u64), BytesError> {
    let [are_special] = reader.array()?;
    let mut counters = Counters::default();
    if are_special != 0 {
        let mut words = [0; Counters::INTEGERS];
        for count in &mut words[2..] {
            *count = u64::from_le_bytes(reader.array()?);
        }
        counters = Counters::of_words(words);
        if are_special != 1 || counters == Counters::default() {
            return Err(BytesError::Corrupted {
                what: "counts of what is not finite",
            });
        }
    }
    let (fixed, items) = reader.number()?;
    let all = Counters {
        items: i64::MAX,
        ..counters
    };
    check_counters(all, items)?;
    Ok((Total { fixed, counters }, items))
}
