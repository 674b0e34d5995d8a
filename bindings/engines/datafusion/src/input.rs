//! Reads the items of a batch. Only rows that pass the filter and have no null are kept.

use std::borrow::Cow;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use datafusion_common::{Result, internal_datafusion_err};

/// The items of the rows that are kept.
pub(crate) struct Items<'b, P: ArrowPrimitiveType> {
    columns: Vec<Cow<'b, [P::Native]>>,
    /// Which rows are kept; `None` if all are.
    kept: Option<BooleanBuffer>,
    rows: usize,
}

impl<'b, P: ArrowPrimitiveType> Items<'b, P> {
    pub(crate) fn of(arguments: &'b [ArrayRef], filter: Option<&BooleanArray>) -> Result<Self> {
        let rows = arguments.first().map_or(0, |argument| argument.len());
        let kept = kept(arguments, filter);
        let mut columns = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let array = argument.as_primitive_opt::<P>().ok_or_else(|| {
                internal_datafusion_err!("items are {}, not {}", argument.data_type(), P::DATA_TYPE)
            })?;
            let items = &array.values()[..];
            columns.push(match &kept {
                None => Cow::Borrowed(items),
                Some(kept) => kept.set_indices().map(|row| items[row]).collect(),
            });
        }
        Ok(Self {
            columns,
            kept,
            rows,
        })
    }

    pub(crate) fn columns(&self) -> [&[P::Native]; 2] {
        let first = self.columns.first().map_or(&[][..], |column| column);
        let second = self.columns.get(1).map_or(&[][..], |column| column);
        [first, second]
    }

    /// Returns the elements of the kept rows. `all` has one element for each row.
    pub(crate) fn of_rows<'r>(&self, all: &'r [usize]) -> Cow<'r, [usize]> {
        match &self.kept {
            None => Cow::Borrowed(all),
            Some(kept) => kept.set_indices().map(|row| all[row]).collect(),
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns for each row, in order, whether it is kept.
    pub(crate) fn are_kept(&self) -> impl Iterator<Item = bool> {
        let rows = 0..self.rows;
        rows.map(|row| self.kept.as_ref().is_none_or(|kept| kept.value(row)))
    }
}

/// An item that can be converted to a 64-bit word and back. Items that are equal have the same word, as have all NaNs.
pub(crate) trait Word: Copy {
    fn to_word(self) -> u64;

    fn of_word(word: u64) -> Self;
}

impl Word for f64 {
    fn to_word(self) -> u64 {
        if self.is_nan() {
            Self::NAN.to_bits()
        } else if self == 0.0 {
            0
        } else {
            self.to_bits()
        }
    }

    fn of_word(word: u64) -> Self {
        Self::from_bits(word)
    }
}

impl Word for i64 {
    fn to_word(self) -> u64 {
        self.cast_unsigned()
    }

    fn of_word(word: u64) -> Self {
        word.cast_signed()
    }
}

impl Word for u64 {
    fn to_word(self) -> u64 {
        self
    }

    fn of_word(word: u64) -> Self {
        word
    }
}

/// Returns which rows are kept, or `None` if all are.
fn kept(arguments: &[ArrayRef], filter: Option<&BooleanArray>) -> Option<BooleanBuffer> {
    let nulls = arguments.iter().filter_map(|argument| argument.nulls());
    let filters = filter.into_iter().flat_map(|filter| {
        let nulls = filter.nulls().map(NullBuffer::inner);
        [Some(filter.values()), nulls].into_iter().flatten()
    });
    let all = nulls.map(NullBuffer::inner).chain(filters);
    let kept = all.fold(None, |kept: Option<BooleanBuffer>, next| match kept {
        None => Some(next.clone()),
        Some(kept) => Some(&kept & next),
    });
    kept.filter(|kept| kept.count_set_bits() < kept.len())
}
