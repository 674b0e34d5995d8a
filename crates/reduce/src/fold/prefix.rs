//! Computes, for each item, the reduction of all items before it.
//!
//! The reduction of the items 0..i is the tree over i items, whatever items follow: one subtree for each set bit of i, the
//! highest first, joined from right to left. Adding an item joins subtrees in the same way as adding 1 to i carries bits.

use crate::operator::Operator;

/// Rows of subtrees that wait for their right siblings, the highest first.
pub(crate) struct Stack<'s, T, O> {
    pub(crate) width: usize,
    pub(crate) rows: &'s mut Vec<T>,
    pub(crate) operator: &'s O,
}

impl<T: Copy + 'static, O: Operator<T>> Stack<'_, T, O> {
    /// Adds item number `item`. All items before it must have been added already.
    pub(crate) fn push(&mut self, item: u64, row: &[T]) {
        self.rows.extend_from_slice(row);
        for _ in 0..item.trailing_ones() {
            let rest = self.rows.len() - self.width;
            let (lefts, right) = self.rows.split_at_mut(rest);
            let left = lefts.len() - self.width;
            for (left, &right) in lefts[left..].iter_mut().zip(right.iter()) {
                *left = self.operator.combine(*left, right);
            }
            self.rows.truncate(rest);
        }
    }

    /// The reduction of all items that were added; the operator's empty value if there are none.
    pub(crate) fn join(&self, result: &mut [T]) {
        let mut rows = self.rows.chunks_exact(self.width).rev();
        match (rows.next(), self.operator.empty()) {
            (Some(last), _) => result.copy_from_slice(last),
            (None, Some(empty)) => result.fill(empty),
            (None, None) => {
                unreachable!("without items, the operator was checked to have an empty value")
            }
        }
        for left in rows {
            for (result, &left) in result.iter_mut().zip(left) {
                *result = self.operator.combine(left, *result);
            }
        }
    }
}
