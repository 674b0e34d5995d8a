//! Reads columns from Polars as slices.

use std::ops::Range;
use std::{ptr, slice};

use super::bytes::Bytes;
use super::data_type::DataType;
use super::layout::{ArrowArray, SeriesExport, items, numbers};
use crate::error::Error;

/// A column of Polars. Dropping this value releases the column.
#[derive(Debug)]
pub(crate) struct Series {
    export: SeriesExport,
    pub(crate) name: String,
    pub(crate) data_type: DataType,
}

/// Takes ownership of columns.
///
/// # Safety
/// `first` points to `count` columns, which conform to the interface and which nothing else releases.
pub(crate) unsafe fn all_of(first: *const SeriesExport, count: usize) -> Vec<Series> {
    let taken = (0..count).map(|number| {
        // SAFETY: there are `count` columns.
        let place = unsafe { first.add(number) };
        // SAFETY: as above; the column is not read a second time.
        let export = unsafe { ptr::read(place) };
        // SAFETY: a column has a field, which lives as long as the column.
        let field = unsafe { export.field.as_ref() };
        let (name, data_type) = field.map_or_else(
            || (String::new(), DataType::Other("without a field".into())),
            |field| (field.name(), DataType::of(field)),
        );
        Series {
            export,
            name,
            data_type,
        }
    });
    taken.collect()
}

impl Drop for Series {
    fn drop(&mut self) {
        for &array in self.export.pointers() {
            // SAFETY: the pointers are not null, and the arrays have not been moved.
            let release = unsafe { (*array).release };
            if let Some(release) = release {
                // SAFETY: the function is the array's own, and nothing borrows from the array any more.
                unsafe { release(array) };
            }
        }
        if let Some(release) = self.export.release {
            // SAFETY: the function is the column's own, and nothing borrows from the column any more.
            unsafe { release(&raw mut self.export) };
        }
    }
}

impl Series {
    pub(crate) fn len(&self) -> usize {
        let lengths = self.arrays().map(|array| array.length);
        lengths
            .filter_map(|length| usize::try_from(length).ok())
            .fold(0, |sum, length| sum + length)
    }

    pub(crate) fn chunks(&self) -> Result<Vec<Chunk<'_>>, Error> {
        let arrays = self.arrays();
        let chunks = arrays.map(|array| Chunk::of(array, &self.data_type));
        let chunks: Option<Vec<_>> = chunks.collect();
        let message = || Error::new(format!("column `{}` violates Arrow's format", self.name));
        chunks.ok_or_else(message)
    }

    fn arrays(&self) -> impl Iterator<Item = &ArrowArray> {
        let pointers = self.export.pointers().iter();
        // SAFETY: the pointers are not null, and arrays live as long as the column.
        pointers.map(|&pointer| unsafe { &*pointer })
    }
}

#[derive(Debug)]
pub(crate) struct Chunk<'a> {
    pub(crate) len: usize,
    /// `None` if no item is null.
    pub(crate) validity: Option<Validity<'a>>,
    pub(crate) values: Values<'a>,
}

/// The items of a chunk; null items have arbitrary values.
#[derive(Debug)]
pub(crate) enum Values<'a> {
    /// All items are null, or the type has no sums.
    None,
    I8(&'a [i8]),
    U8(&'a [u8]),
    I16(&'a [i16]),
    U16(&'a [u16]),
    I32(&'a [i32]),
    U32(&'a [u32]),
    I64(&'a [i64]),
    U64(&'a [u64]),
    F32(&'a [f32]),
    F64(&'a [f64]),
    Lists(Lists<'a>),
    Bytes(Bytes<'a>),
}

/// The lists of a chunk, one after the other.
#[derive(Debug)]
pub(crate) struct Lists<'a> {
    bounds: Bounds<'a>,
    pub(crate) items: Box<Chunk<'a>>,
}

/// The bounds of lists.
#[derive(Debug)]
enum Bounds<'a> {
    /// Offsets: list i has the items from offset i to offset i + 1.
    Listed(&'a [i64]),
    /// All lists have `width` items; the first list begins at item `first`.
    Even { first: usize, width: usize },
}

impl Lists<'_> {
    /// The range of a list's items.
    pub(crate) fn range(&self, list: usize) -> Range<usize> {
        match self.bounds {
            Bounds::Listed(bounds) => {
                let bound =
                    |number: usize| usize::try_from(bounds[number]).expect("bounds were checked");
                bound(list)..bound(list + 1)
            }
            Bounds::Even { first, width } => {
                let begin = first + list * width;
                begin..begin + width
            }
        }
    }
}

impl<'a> Chunk<'a> {
    /// Reads a chunk; `None` if it violates the interface in a way that can be detected.
    fn of(array: &'a ArrowArray, data_type: &DataType) -> Option<Self> {
        let len = usize::try_from(array.length).ok()?;
        let offset = usize::try_from(array.offset).ok()?;
        let nulls = array.buffer(0).filter(|_| array.null_count != 0);
        let validity = nulls.map(|bits| {
            let bytes = (offset + len).div_ceil(8);
            // SAFETY: there is a bit for each item, including the items before the first item of this chunk.
            let bytes = unsafe { slice::from_raw_parts(bits.cast::<u8>(), bytes) };
            Validity { bytes, offset }
        });
        let values = match data_type {
            DataType::Null | DataType::Other(_) => Values::None,
            DataType::Int8 => Values::I8(items(array)?),
            DataType::UInt8 => Values::U8(items(array)?),
            DataType::Int16 => Values::I16(items(array)?),
            DataType::UInt16 => Values::U16(items(array)?),
            DataType::Int32 => Values::I32(items(array)?),
            DataType::UInt32 => Values::U32(items(array)?),
            DataType::Int64 => Values::I64(items(array)?),
            DataType::UInt64 => Values::U64(items(array)?),
            DataType::Float32 => Values::F32(items(array)?),
            DataType::Float64 => Values::F64(items(array)?),
            DataType::Binary { are_views } => Values::Bytes(Bytes::of(array, *are_views)?),
            DataType::List(of) => {
                let bounds: &[i64] = if len == 0 {
                    &[0]
                } else {
                    numbers(array.buffer(1)?, offset, len + 1)?
                };
                let items = Self::of(array.child()?, of)?;
                let ascend = bounds.windows(2).all(|pair| pair[0] <= pair[1]);
                let end = usize::try_from(bounds[len]).ok()?;
                if bounds[0] < 0 || !ascend || end > items.len {
                    return None;
                }
                Values::Lists(Lists {
                    bounds: Bounds::Listed(bounds),
                    items: Box::new(items),
                })
            }
            DataType::Array(of, width) => {
                let items = Self::of(array.child()?, of)?;
                // Early versions of Polars pass an offset even if the first item belongs to the first list.
                let is_cut = items.len == len.checked_mul(*width)?;
                let first = if is_cut {
                    0
                } else {
                    offset.checked_mul(*width)?
                };
                let end = first.checked_add(len.checked_mul(*width)?)?;
                if end > items.len {
                    return None;
                }
                Values::Lists(Lists {
                    bounds: Bounds::Even {
                        first,
                        width: *width,
                    },
                    items: Box::new(items),
                })
            }
        };
        Some(Self {
            len,
            validity,
            values,
        })
    }

    /// Calls a function with each run of non-null items within a range.
    pub(crate) fn runs(&self, range: Range<usize>, mut run: impl FnMut(Range<usize>)) {
        match (&self.validity, &self.values) {
            (_, Values::None) => {}
            (None, _) if range.is_empty() => {}
            (None, _) => run(range),
            (Some(validity), _) => validity.runs(range, run),
        }
    }

    pub(crate) fn is_valid(&self, item: usize) -> bool {
        let validity = self.validity.as_ref();
        validity.is_none_or(|validity| validity.is_valid(item))
    }
}

/// A bit for each item: 1 if the item is not null.
#[derive(Debug)]
pub(crate) struct Validity<'a> {
    bytes: &'a [u8],
    /// The number of the first item's bit.
    offset: usize,
}

impl Validity<'_> {
    fn is_valid(&self, item: usize) -> bool {
        let bit = self.offset + item;
        self.bytes[bit / 8] >> (bit % 8) & 1 == 1
    }

    /// The bits of the items from `item` to `end`, or to the end of the word if that comes first, and the number of these bits.
    fn bits(&self, item: usize, end: usize) -> (u64, usize) {
        let bit = self.offset + item;
        let rest = &self.bytes[bit / 8..];
        let mut word = [0; 8];
        let count = rest.len().min(8);
        word[..count].copy_from_slice(&rest[..count]);
        let bits = u64::from_le_bytes(word) >> (bit % 8);
        (bits, (64 - bit % 8).min(end - item))
    }

    fn runs(&self, range: Range<usize>, mut run: impl FnMut(Range<usize>)) {
        let (mut at, end) = (range.start, range.end);
        while at < end {
            let (bits, count) = self.bits(at, end);
            at += (bits.trailing_zeros() as usize).min(count);
            let begin = at;
            while at < end {
                let (bits, count) = self.bits(at, end);
                let ones = (bits.trailing_ones() as usize).min(count);
                at += ones;
                if ones < count {
                    break;
                }
            }
            if begin < at {
                run(begin..at);
            }
        }
    }
}
