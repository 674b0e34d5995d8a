//! Writes and reads sums as bytes, for files and other programs.

pub mod partial;

use std::error::Error;
use std::fmt;

use bytemuck::Zeroable;

use crate::number::counters::{Counters, LimitError, items_of_both};
use crate::number::fixed::{Fixed, FixedFormat};
use crate::number::float::Float;
use crate::number::total::Total;
use crate::statistic::Held;

/// The kind of sum that bytes hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Sum = 1,
    ProductSum = 2,
    ComplexSum = 3,
    ComplexProductSum = 4,
    Moments = 5,
    ComplexMoments = 6,
    KeyedSums = 7,
    KeyedMoments = 8,
    CoMoments = 9,
    Powers = 10,
    KeyedMeans = 11,
    KeyedProducts = 12,
    KeyedWeightedMeans = 13,
    KeyedCoMoments = 14,
    KeyedPowers = 15,
    KeyedExtrema = 16,
    KeyedIntegers = 17,
    KeyedIntegerMoments = 18,
}

impl Kind {
    const NAMES: [(Self, &str); 18] = [
        (Self::Sum, Held::Sum.name()),
        (Self::ProductSum, Held::Products.name()),
        (Self::ComplexSum, "a sum of complex numbers"),
        (
            Self::ComplexProductSum,
            "a sum of products of complex numbers",
        ),
        (Self::Moments, Held::Moments.name()),
        (Self::ComplexMoments, "moments of complex numbers"),
        (Self::KeyedSums, "sums by key"),
        (Self::KeyedMoments, "moments by key"),
        (Self::CoMoments, Held::CoMoments.name()),
        (Self::Powers, Held::Powers.name()),
        (Self::KeyedMeans, "means by key"),
        (Self::KeyedProducts, "sums of products by key"),
        (Self::KeyedWeightedMeans, "weighted means by key"),
        (Self::KeyedCoMoments, "co-moments by key"),
        (Self::KeyedPowers, "powers by key"),
        (Self::KeyedExtrema, "extrema by key"),
        (Self::KeyedIntegers, "sums of integers by key"),
        (Self::KeyedIntegerMoments, "moments of integers by key"),
    ];

    /// The kind that has this number in headers, and its name.
    fn numbered(kind: u8) -> Option<(Self, &'static str)> {
        let mut kinds = Self::NAMES.into_iter();
        kinds.find(|(known, _)| *known as u8 == kind)
    }

    /// The kind that the header of `bytes` names. Returns an error unless the items are doubles.
    pub(crate) fn of_doubles(bytes: &[u8]) -> Result<Self, BytesError> {
        let kind = bytes.get(4).copied().unwrap_or_default();
        let known = Self::numbered(kind).map_or(Self::Sum, |(known, _)| known);
        Reader::of::<f64>(known, bytes).map(|_| known)
    }

    pub(crate) fn name(self) -> &'static str {
        let (_, name) = Self::numbered(self as u8).expect("the table has all kinds");
        name
    }
}

/// Why bytes cannot be read as a sum, or why the sum they hold cannot be added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BytesError {
    /// The bytes do not begin with the header of a sum.
    NotASum,
    /// The bytes were written in another version of the format.
    Version {
        /// The version in the header of the bytes.
        version: u8,
    },
    /// The bytes hold another kind of sum, or items of another type.
    Kind {
        /// What the bytes hold.
        found: String,
        /// What the caller asked for.
        expected: String,
    },
    /// The bytes end too early.
    Truncated,
    /// More bytes follow the sum.
    TooMany {
        /// The number of bytes after the sum.
        bytes: usize,
    },
    /// The bytes are damaged: no sum is written as these bytes.
    Corrupted {
        /// What is wrong with the bytes.
        what: &'static str,
    },
    /// A sum would exceed a limit.
    Limit(LimitError),
}

impl From<LimitError> for BytesError {
    fn from(error: LimitError) -> Self {
        Self::Limit(error)
    }
}

impl fmt::Display for BytesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASum => f.write_str("the bytes are not an exact sum"),
            Self::Version { version } => {
                write!(
                    f,
                    "the bytes have format version {version}, but only version {VERSION} can be read"
                )
            }
            Self::Kind { found, expected } => write!(f, "the bytes are {found}, not {expected}"),
            Self::Truncated => f.write_str("the bytes end too early"),
            Self::TooMany { bytes } => write!(f, "{bytes} bytes follow the sum"),
            Self::Corrupted { what } => write!(f, "the bytes of the sum are damaged: {what}"),
            Self::Limit(error) => error.fmt(f),
        }
    }
}

impl Error for BytesError {}

const MAGIC: [u8; 3] = *b"tfx";
const VERSION: u8 = 1;

/// Returns the bytes of a sum: a header, then the sum's parts.
pub(crate) fn write<T: Float, F: FixedFormat, const PARTS: usize>(
    kind: Kind,
    parts: [&Total<F>; PARTS],
) -> Vec<u8> {
    let mut bytes = header::<T>(kind);
    for part in parts {
        write_total(part, &mut bytes);
    }
    bytes
}

/// Reads the parts of a sum.
pub(crate) fn read<T: Float, F: FixedFormat, const PARTS: usize>(
    kind: Kind,
    bytes: &[u8],
) -> Result<[Total<F>; PARTS], BytesError> {
    let mut reader = Reader::of::<T>(kind, bytes)?;
    let mut parts = [Total::ZERO; PARTS];
    for part in &mut parts {
        *part = reader.total()?;
    }
    reader.end()?;
    check_parts(&parts.each_ref())?;
    Ok(parts)
}

/// Checks that the parts of a sum have the same number of items.
pub(crate) fn check_parts<F: FixedFormat>(parts: &[&Total<F>]) -> Result<(), BytesError> {
    let mut items = parts.iter().map(|part| part.counters.items);
    let first = items.next();
    let are_equal = items.all(|items| Some(items) == first);
    are_equal.then_some(()).ok_or(BytesError::Corrupted {
        what: "its parts have different numbers of items",
    })
}

/// Checks that the number of items is at least the sum of the counts of negative zeros, NaNs and infinities, plus
/// `others`, the number of items that are none of these.
pub(crate) fn check_counters(counters: Counters, others: u64) -> Result<(), BytesError> {
    let [items, kinds @ ..] = counters.words();
    let mut left = items_of_both(items, 0).ok();
    for kind in kinds {
        left = left.and_then(|left| left.checked_sub(kind));
    }
    let what = match left {
        None => "the counts of items contradict each other",
        Some(left) if left < others => "a number is too large for the number of items",
        Some(_) => return Ok(()),
    };
    Err(BytesError::Corrupted { what })
}

pub(crate) fn header<T: Float>(kind: Kind) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend([VERSION, kind as u8, T::BYTES, 0, 0]);
    bytes
}

pub(crate) fn write_total<F: FixedFormat>(total: &Total<F>, bytes: &mut Vec<u8>) {
    for count in total.counters.words() {
        bytes.extend(count.to_le_bytes());
    }
    write_number(&total.fixed, bytes);
}

pub(crate) fn write_number<F: FixedFormat>(number: &Fixed<F>, bytes: &mut Vec<u8>) {
    let words = number.words();
    let (first, words) = shortest(&words.as_ref()[..Fixed::<F>::WORDS]);
    let unit = if words.is_empty() {
        0
    } else {
        unit::<F>(first)
    };
    bytes.extend(unit.to_le_bytes());
    bytes.extend(length(8 * words.len()).to_le_bytes());
    for word in words {
        bytes.extend(word.to_le_bytes());
    }
}

/// Converts a small number of words or bytes.
fn length(length: usize) -> i32 {
    i32::try_from(length).expect("a sum has few words")
}

/// The exponent of the unit of word number `first`.
fn unit<F: FixedFormat>(first: usize) -> i32 {
    F::LOWEST + 64 * length(first)
}

/// The index of the first word that a number in two's complement needs, and all words that it needs. Zero needs none.
pub(crate) fn shortest(words: &[u64]) -> (usize, &[u64]) {
    let first = words.iter().take_while(|&&word| word == 0).count();
    let mut words = &words[first..];
    while let [.., below, highest] = words
        && *highest == (below.cast_signed() >> 63).cast_unsigned()
    {
        words = &words[..words.len() - 1];
    }
    (first, words)
}

/// The smallest number of items that can have this sum; `None` if that is more items than a sum may have.
fn least_items<F: FixedFormat>(number: &Fixed<F>) -> Option<u64> {
    let Some((_, magnitude)) = number.magnitude() else {
        return Some(0);
    };
    let below = u32::try_from(F::HIGHEST - magnitude.exponent).ok()?;
    let whole = magnitude.bits.checked_shr(below).unwrap_or(0);
    let items = u64::try_from(whole).ok()?.checked_add(1)?;
    items_of_both(items, 0).ok()
}

/// The bytes that are still to be read.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    /// A reader of bytes without a header.
    pub(crate) fn without_header(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    /// A reader of the bytes after the header of a sum of this kind.
    pub(crate) fn of<T: Float>(kind: Kind, bytes: &'b [u8]) -> Result<Self, BytesError> {
        Self::of_header::<T>(kind, bytes, [0; 2])
    }

    /// Like [`of`](Self::of), but for a header that ends with the bytes `end`.
    pub(crate) fn of_header<T: Float>(
        kind: Kind,
        bytes: &'b [u8],
        end: [u8; 2],
    ) -> Result<Self, BytesError> {
        let mut reader = Self(bytes);
        let begins_as_a_sum = bytes.iter().zip(MAGIC).all(|(byte, magic)| *byte == magic);
        if !begins_as_a_sum {
            return Err(BytesError::NotASum);
        }
        let [_, _, _, version] = reader.array()?;
        if version != VERSION {
            return Err(BytesError::Version { version });
        }
        let [found, size, ends @ ..] = reader.array::<4>()?;
        if [found, size] != [kind as u8, T::BYTES] {
            return Err(BytesError::Kind {
                found: named(found, size),
                expected: named(kind as u8, T::BYTES),
            });
        }
        if ends != end {
            return Err(BytesError::Corrupted {
                what: "the last two bytes of the header are wrong",
            });
        }
        Ok(reader)
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], BytesError> {
        let (taken, rest) = self
            .0
            .split_at_checked(length)
            .ok_or(BytesError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], BytesError> {
        let bytes = self.take(N)?;
        Ok(bytes.try_into().expect("the length is right"))
    }

    pub(crate) fn total<F: FixedFormat>(&mut self) -> Result<Total<F>, BytesError> {
        let mut counts = [0; Counters::INTEGERS];
        for count in &mut counts {
            *count = u64::from_le_bytes(self.array()?);
        }
        let counters = Counters::of_words(counts);
        let (fixed, items) = self.number()?;
        check_counters(counters, items)?;
        Ok(Total { fixed, counters })
    }

    /// Reads a number. Also returns the smallest number of items that can have this number as their sum. Returns an error if a sum may not
    /// have that many items.
    pub(crate) fn number<F: FixedFormat>(&mut self) -> Result<(Fixed<F>, u64), BytesError> {
        let corrupted = |what| Err(BytesError::Corrupted { what });
        let exponent = i32::from_le_bytes(self.array()?);
        let length = u32::from_le_bytes(self.array()?) as usize;
        let (given, tail) = self.take(length)?.as_chunks::<8>();
        if !tail.is_empty() {
            return corrupted("the length of a number is not a multiple of 8 bytes");
        }
        let mut number = Fixed::ZERO;
        let Some(last) = given.last() else {
            return match exponent {
                0 => Ok((number, 0)),
                _ => corrupted("zero has an exponent"),
            };
        };
        let first = usize::try_from((i64::from(exponent) - i64::from(F::LOWEST)) / 64);
        let first = first.unwrap_or(usize::MAX);
        let mut words = F::Words::zeroed();
        let words = &mut words.as_mut()[..Fixed::<F>::WORDS];
        let fits = first < words.len() && given.len() <= words.len() - first;
        if !fits || unit::<F>(first) != exponent {
            return corrupted("a number is out of range");
        }
        let filling = if last[7] >> 7 == 0 { 0 } else { u64::MAX };
        words[first..].fill(filling);
        for (word, bytes) in words[first..].iter_mut().zip(given) {
            *word = u64::from_le_bytes(*bytes);
        }
        if shortest(words) != (first, &words[first..][..given.len()]) {
            return corrupted("a number is longer than it has to be");
        }
        number.add_words(words);
        let end = unit::<F>(first + given.len());
        let items = if end <= F::HIGHEST {
            Some(1)
        } else {
            least_items(&number)
        };
        let too_large = BytesError::Corrupted {
            what: "a number is larger than any sum",
        };
        Ok((number, items.ok_or(too_large)?))
    }

    pub(crate) fn skip(&mut self, bytes: usize) -> Result<(), BytesError> {
        self.take(bytes).map(drop)
    }

    /// Skips a number. Returns the exponent of its unit and its number of words.
    pub(crate) fn skip_number(&mut self) -> Result<(i32, usize), BytesError> {
        let exponent = i32::from_le_bytes(self.array()?);
        let length = u32::from_le_bytes(self.array()?) as usize;
        self.take(length)?;
        Ok((exponent, length / 8))
    }

    pub(crate) fn left(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn end(self) -> Result<(), BytesError> {
        match self.0.len() {
            0 => Ok(()),
            bytes => Err(BytesError::TooMany { bytes }),
        }
    }
}

/// The kind of sum and the type of items that a header names.
fn named(kind: u8, size: u8) -> String {
    let kind = Kind::numbered(kind).map_or("an unknown kind of sum", |(_, name)| name);
    match size {
        4 => format!("{kind} of f32"),
        8 => format!("{kind} of f64"),
        _ => format!("{kind} of items of {size} bytes"),
    }
}
