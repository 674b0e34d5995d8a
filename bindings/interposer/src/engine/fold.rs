//! The reduction of rows that have been gathered on one rank.

use bytemuck::Pod;
use treefold::{FoldError, Operator, fold_rows};

use super::types::{Typed, typed};
use crate::task::{Element, Op};

/// Reduces rows of `width` elements, in rank order, element by element. The result has the bits of a plan over these ranks. All
/// slices are aligned, and there is at least one row.
pub(crate) fn fold(
    element: Element,
    op: Op,
    rows: &[u8],
    width: usize,
    result: &mut [u8],
) -> Result<(), FoldError> {
    let fold = Fold {
        rows,
        width,
        result,
    };
    typed(element, op, fold)
}

struct Fold<'a> {
    rows: &'a [u8],
    width: usize,
    result: &'a mut [u8],
}

impl Typed for Fold<'_> {
    type Outcome = Result<(), FoldError>;

    fn run<T: Pod, O: Operator<T> + 'static>(self, operator: O) -> Self::Outcome {
        let rows: &[T] = bytemuck::cast_slice(self.rows);
        let result = bytemuck::cast_slice_mut(self.result);
        fold_rows(rows, self.width, &operator, result)
    }
}
