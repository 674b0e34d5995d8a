//! The local part of scans: from the fragment of everything before this rank's items to a result for each of them.
//!
//! The reduction of the items 0..i is the tree over i items, whatever lies behind: subtrees for the set bits of i, the
//! highest first, joined from right to left. Going on by one item is adding 1 in binary, as in the streaming folds.

use std::cell::RefCell;

use bytemuck::Pod;

use crate::operator::Operator;
use crate::program::Prefix;
use crate::run::Run;

/// At most so many subtrees wait for their siblings, and one comes.
const ROWS_MAX: usize = u64::BITS as usize + 1;

/// The memory of scans.
pub(crate) struct Scan<T> {
    width: usize,
    stack: RefCell<Vec<T>>,
}

impl<T: Pod> Scan<T> {
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width,
            stack: RefCell::new(Vec::with_capacity(ROWS_MAX * width)),
        }
    }

    /// The scan of this rank's rows, inclusive or exclusive, after a run that has brought the prefixes.
    pub(crate) fn finish<O: Operator<T>>(
        &self,
        operator: &O,
        run: &Run<T, O>,
        local: &[T],
        is_exclusive: bool,
        result: &mut [T],
    ) {
        let mut stack = Stack {
            width: self.width,
            rows: &mut self.stack.borrow_mut(),
            operator,
        };
        for Prefix {
            rows,
            first_item,
            places,
        } in run.prefixes()
        {
            stack.rows.clear();
            for &(_, span) in places {
                let end = stack.rows.len();
                stack.rows.resize(end + span.length, T::zeroed());
                run.copy(span, &mut stack.rows[end..]);
            }
            for (row, item) in rows.clone().zip(*first_item..) {
                let columns = row * self.width..(row + 1) * self.width;
                if is_exclusive {
                    stack.join(&mut result[columns.clone()]);
                    stack.push(item, &local[columns]);
                } else {
                    stack.push(item, &local[columns.clone()]);
                    stack.join(&mut result[columns]);
                }
            }
        }
    }
}

/// Rows of subtrees that wait for their right siblings, the highest first.
struct Stack<'s, T, O> {
    width: usize,
    rows: &'s mut Vec<T>,
    operator: &'s O,
}

impl<T: Pod, O: Operator<T>> Stack<'_, T, O> {
    /// Adds item number `item`: as many items are in already.
    fn push(&mut self, item: u64, row: &[T]) {
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

    /// The reduction of all that is in; of nothing, the operator's empty value.
    fn join(&self, result: &mut [T]) {
        let mut rows = self.rows.chunks_exact(self.width).rev();
        match (rows.next(), self.operator.empty()) {
            (Some(last), _) => result.copy_from_slice(last),
            (None, Some(empty)) => result.fill(empty),
            (None, None) => unreachable!("an exclusive scan was checked to have an empty value"),
        }
        for left in rows {
            for (result, &left) in result.iter_mut().zip(left) {
                *result = self.operator.combine(left, *result);
            }
        }
    }
}
