//! Writes and reads the slots of all keys as bytes.

use hashbrown::HashMap;

use super::columns::Columns;
use super::columns::layout::Field;
use super::{Keyed, KeyedSlot};
use crate::bytes::{BytesError, Reader, check_counters, header, write_number};
use crate::number::counters::Counters;
use crate::number::fixed::FixedFormat;
use crate::number::total::Total;

impl<S: KeyedSlot> Keyed<S> {
    /// The slots as bytes, for files and other programs. Equal slots have equal bytes, whatever order, calls and threads produced them.
    ///
    /// All numbers are little-endian. The header and numbers have the formats of [`Accumulator::to_bytes`](crate::Accumulator::to_bytes).
    ///
    /// | bytes | what |
    /// |---|---|
    /// | 8 | the header |
    /// | 8 | the number of keys, `u64` |
    /// | for each key | its fields |
    ///
    /// | kind | slot | fields |
    /// |---|---|---|
    /// | 7 | [`Sum`](crate::Sum) | a sum |
    /// | 8 | [`Moments`](crate::Moments) | the number of items, a sum, and a number: the sum of the squares of the finite items |
    /// | 11 | [`Mean`](crate::Mean) | the number of items, a sum |
    /// | 12 | [`ProductSum`](crate::ProductSum) | a sum |
    /// | 13 | [`WeightedMean`](crate::WeightedMean) | the sum of the products, the sum of the weights |
    /// | 14 | [`CoMoments`](crate::CoMoments) | the fields of kind 8 for x; the same for y, except the number of items; and a number: the sum of the products of finite items |
    /// | 15 | [`Powers`](crate::Powers) | the fields of kind 8, and two numbers: the sum of the cubes and the sum of the fourth powers |
    /// | 16 | [`Extrema`](crate::Extrema) | the negated minimum, and the maximum |
    /// | 17 | [`IntegerSum`](crate::IntegerSum) | the number of items, the lower 64 bits of the sum, and the integer above them |
    /// | 18 | [`IntegerMoments`](crate::IntegerMoments) | the fields of kind 17, then the sum of the squares in two parts |
    ///
    /// Numbers of items are `u64`, but all fields of kinds 16 to 18 are `i128`. An extremum is stored as the bits of the double; if the
    /// double is negative, all bits except the sign are inverted. Without items, it is stored as -2^127. A sum has these fields:
    ///
    /// | bytes | what |
    /// |---|---|
    /// | 1 | 1 if some of the sum's items are not finite, otherwise 0 |
    /// | 3 × 8, only after a 1 | the numbers of NaNs, of positive infinities and of negative infinities, `u64` each |
    /// | 4 + 4 + n | the number: the exponent of its unit (`i32`), n (`u32`), and n bytes of two's complement |
    ///
    /// If rows have more than one item, the last byte of the header is 1, and the width of rows (`u64`) follows the number of keys. The
    /// slots of a key are then adjacent.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = header::<S::Item>(S::KIND);
        bytes.extend((self.keys as u64).to_le_bytes());
        if self.width > 1 {
            bytes[HAS_WIDTH] = 1;
            bytes.extend((self.width as u64).to_le_bytes());
        }
        for slot in 0..self.slots() {
            self.columns.write(slot, &mut bytes);
        }
        bytes
    }

    /// The slots that bytes hold.
    ///
    /// # Errors
    /// The bytes hold no slots of this kind, or there is no memory for the slots.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let has_width = bytes.get(HAS_WIDTH) == Some(&1);
        let mut reader = Reader::of_header::<S::Item>(S::KIND, bytes, [0, has_width.into()])?;
        let keys = read_length(&mut reader)?;
        let width = if has_width {
            read_length(&mut reader)?
        } else {
            1
        };
        let fields = S::Columns::fields(S::LAYOUT);
        let least = fields.iter().map(|field| field.least_bytes());
        let least = least.fold(0, |sum, bytes| sum + bytes);
        let slots = keys
            .checked_mul(width)
            .filter(|slots| *slots <= reader.left() / least);
        let slots = slots.ok_or(BytesError::Truncated)?;
        if has_width && width < 2 {
            let what = "the width of rows is not more than 1";
            return Err(BytesError::Corrupted { what });
        }
        let common = common_words(&fields, slots, reader);
        let mut columns = S::Columns::new(S::LAYOUT, slots)?;
        for slot in 0..slots {
            let is_common = |field: usize, exponent: i32| common[field].contains(&exponent.into());
            columns.read(slot, &mut reader, &is_common)?;
        }
        reader.end()?;
        Ok(Self {
            keys,
            width,
            columns,
        })
    }
}

/// The index of the header's byte that says whether there is a width.
const HAS_WIDTH: usize = 7;

fn read_length(reader: &mut Reader<'_>) -> Result<usize, BytesError> {
    let length = usize::try_from(u64::from_le_bytes(reader.array()?));
    length.map_err(|_| BytesError::Truncated)
}

impl Field {
    /// The smallest number of bytes that the field can have.
    fn least_bytes(self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Number => 8,
            Self::Entry => 9,
        }
    }

    /// Skips the field. Returns the exponent of the unit of its number, and the length of the number in words.
    fn skip(self, reader: &mut Reader<'_>) -> Result<(i32, usize), BytesError> {
        match self {
            Self::Bytes(bytes) => reader.skip(bytes).map(|()| (0, 0)),
            Self::Number => reader.skip_number(),
            Self::Entry => {
                if reader.array()? != [0] {
                    reader.skip(3 * 8)?;
                }
                reader.skip_number()
            }
        }
    }
}

/// For each field, the exponents of the words that many slots have. Only these words get a table with room for all slots, so that the
/// tables are not much larger than the bytes.
fn common_words(fields: &[Field], slots: usize, mut reader: Reader<'_>) -> Vec<Vec<i64>> {
    /// A word is common if at least one slot in this many has it.
    const RARE: usize = 16;
    let mut counts: Vec<HashMap<i64, usize>> = vec![HashMap::new(); fields.len()];
    'slots: for _ in 0..slots {
        for (field, counts) in fields.iter().zip(&mut counts) {
            let Ok((lowest, words)) = field.skip(&mut reader) else {
                break 'slots;
            };
            for exponent in (i64::from(lowest)..)
                .step_by(64)
                .take(words.min(MOST_WORDS))
            {
                *counts.entry(exponent).or_default() += 1;
            }
        }
    }
    let is_common = |(_, count): &(i64, usize)| count * RARE >= slots;
    let of_field = |counts: HashMap<i64, usize>| {
        let common = counts.into_iter().filter(is_common);
        common.map(|(exponent, _)| exponent).collect()
    };
    counts.into_iter().map(of_field).collect()
}

/// The largest number of words of a number.
const MOST_WORDS: usize = 200;

pub(super) fn read_count(reader: &mut Reader<'_>) -> Result<u64, BytesError> {
    reader.array().map(u64::from_le_bytes)
}

/// Checks that `count` items can have this sum. Its finite part needs at least `of_number` items.
pub(super) fn check_count<F: FixedFormat>(
    count: u64,
    sum: &Total<F>,
    of_number: u64,
) -> Result<(), BytesError> {
    let all = Counters {
        items: count.cast_signed(),
        ..sum.counters
    };
    check_counters(all, of_number)
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

/// Reads a sum without its number of items. Also returns the smallest number of finite items that can have this sum.
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
                what: "the counts of NaNs and infinities are invalid",
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
