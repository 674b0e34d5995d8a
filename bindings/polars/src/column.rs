//! Reads the items of chunks, by type.

use std::ops::Range;

use treefold::FoldError;
use treefold::exact::{Float, Options, Slot, Statistic};

use crate::arrow::{Chunk, Values};

/// The maximum number of items that are passed in one call.
pub(crate) const BLOCK_ITEMS: usize = 4096;

pub(crate) trait Real: Float + PartialEq {
    /// A chunk's items; empty if the items have another type.
    fn slice<'a>(values: &Values<'a>) -> &'a [Self];

    /// Converts a double that this type can represent.
    fn of(number: f64) -> Self;

    /// The sum in tree order.
    fn tree(items: &[Self]) -> Result<Self, FoldError>;
}

impl Real for f64 {
    fn slice<'a>(values: &Values<'a>) -> &'a [Self] {
        match values {
            Values::F64(items) => items,
            _ => &[],
        }
    }

    fn of(number: f64) -> Self {
        number
    }

    fn tree(items: &[Self]) -> Result<Self, FoldError> {
        treefold::sum(items)
    }
}

impl Real for f32 {
    fn slice<'a>(values: &Values<'a>) -> &'a [Self] {
        match values {
            Values::F32(items) => items,
            _ => &[],
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the cast is exact")]
    fn of(number: f64) -> Self {
        number as Self
    }

    fn tree(items: &[Self]) -> Result<Self, FoldError> {
        treefold::sum(items)
    }
}

/// Turns -0.0 into +0.0. Sums by key start at +0.0, and Polars does not say whether it calls a
/// function by key, so all sums of zeros are +0.0.
pub(crate) fn from_zero<T: Real>(value: T) -> T {
    if value == T::zeroed() {
        T::zeroed()
    } else {
        value
    }
}

/// A statistic of a slot of `items` items; null if it is undefined, such as the variance of at most `ddof` items.
pub(crate) fn value_of<S: Slot>(
    slot: &S,
    items: u64,
    statistic: Statistic,
    options: Options,
) -> Option<S::Item> {
    let is_defined = statistic == Statistic::Sum || items as f64 > options.ddof;
    is_defined
        .then(|| slot.statistic(statistic, options))
        .flatten()
}

/// Calls `add` with all non-null items, in blocks.
pub(crate) fn each_block<T: Real>(chunks: &[Chunk<'_>], mut add: impl FnMut(&[T])) {
    let mut few = Vec::new();
    for chunk in chunks {
        let items = T::slice(&chunk.values);
        chunk.runs(0..chunk.len, |run| {
            if run.len() >= BLOCK_ITEMS {
                add(&items[run]);
                return;
            }
            few.extend_from_slice(&items[run]);
            if few.len() >= BLOCK_ITEMS {
                add(&few);
                few.clear();
            }
        });
    }
    if !few.is_empty() {
        add(&few);
    }
}

/// Runs `$body` with the items of a chunk, if they are integers of any type.
macro_rules! with_integers {
    ($values:expr, $items:ident => $body:expr) => {
        match $values {
            $crate::arrow::Values::I8($items) => $body,
            $crate::arrow::Values::U8($items) => $body,
            $crate::arrow::Values::I16($items) => $body,
            $crate::arrow::Values::U16($items) => $body,
            $crate::arrow::Values::I32($items) => $body,
            $crate::arrow::Values::U32($items) => $body,
            $crate::arrow::Values::I64($items) => $body,
            $crate::arrow::Values::U64($items) => $body,
            _ => {}
        }
    };
}
pub(crate) use with_integers;

/// Calls a function with the non-null integers of a chunk within a range.
pub(crate) fn each_integer(chunk: &Chunk<'_>, range: Range<usize>, mut add: impl FnMut(i128)) {
    chunk.runs(range, |run| {
        with_integers!(&chunk.values, items => {
            for &item in &items[run] {
                add(i128::from(item));
            }
        });
    });
}
