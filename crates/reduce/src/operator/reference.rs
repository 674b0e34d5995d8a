//! References to operators are operators, so a program can choose one at run time.

use super::{Operator, PlainFold, Prefixes};

impl<T: Copy + 'static, O: Operator<T> + ?Sized> Operator<T> for &O {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn combine(&self, left: T, right: T) -> T {
        (**self).combine(left, right)
    }

    fn empty(&self) -> Option<T> {
        (**self).empty()
    }

    fn is_plain(&self) -> bool {
        (**self).is_plain()
    }

    fn canonical(&self, value: T) -> T {
        (**self).canonical(value)
    }

    fn plain_fold(&self) -> Option<PlainFold> {
        (**self).plain_fold()
    }

    fn fold_canonical(&self, items: &[T]) -> Option<T> {
        (**self).fold_canonical(items)
    }

    fn fold(&self, items: &[T]) -> Option<T> {
        (**self).fold(items)
    }

    fn fold_lanes(&self, items: &[T], lanes: usize) -> Option<T> {
        (**self).fold_lanes(items, lanes)
    }

    fn fold_products(&self, x: &[T], y: &[T]) -> Option<T> {
        (**self).fold_products(x, y)
    }

    fn write_products(&self, x: &[T], y: &[T], products: &mut [T]) -> bool {
        (**self).write_products(x, y, products)
    }

    fn fold_runs(&self, items: &[T], lengths: &[usize], results: &mut [T]) {
        (**self).fold_runs(items, lengths, results);
    }

    fn scan(&self, items: &[T], before: &mut Prefixes<T>, result: &mut [T]) {
        (**self).scan(items, before, result);
    }

    fn fold_rows(
        &self,
        items: &[T],
        width: usize,
        scratch: &mut Vec<T>,
        result: &mut [T],
    ) -> Option<()> {
        (**self).fold_rows(items, width, scratch, result)
    }

    fn combine_rows(&self, left: &[T], right: &[T], into: &mut [T]) {
        (**self).combine_rows(left, right, into);
    }

    fn combine_rows_canonical(&self, left: &[T], right: &[T], into: &mut [T]) {
        (**self).combine_rows_canonical(left, right, into);
    }

    fn make_canonical(&self, row: &mut [T]) {
        (**self).make_canonical(row);
    }

    fn copy_canonical(&self, row: &[T], into: &mut [T]) {
        (**self).copy_canonical(row, into);
    }
}
