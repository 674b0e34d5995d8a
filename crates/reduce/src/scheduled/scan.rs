//! The local part of scans: from the fragment of everything before this rank's items to a result for each of them.
//!
//! The reduction of the items 0..i is the tree over i items, whatever items follow: subtrees for the set bits of i, the
//! highest first, joined from right to left. Adding an item is adding 1 in binary, as in the streaming folds.

use bytemuck::Pod;

use super::machine::Machine;
use super::memory::Place;
use super::program::Prefix;
use crate::operator::Operator;

/// The scan of this rank's rows, inclusive or exclusive, by a machine whose run has computed the prefixes. `stack` is scratch memory.
pub(super) fn finish<T: Pod, O: Operator<T>, P: Place>(
    machine: &mut Machine<'_, T, O, P>,
    stack: &mut Vec<T>,
    rows: &[T],
    is_exclusive: bool,
    result: &mut [T],
) {
    let (program, operator) = (machine.program(), machine.operator);
    let memory = machine.memory();
    let width = program.width;
    let mut stack = Stack {
        width,
        rows: stack,
        operator,
    };
    for Prefix {
        rows: own,
        first_item,
        nodes,
    } in &program.prefixes
    {
        stack.rows.clear();
        for &part in nodes {
            stack.rows.extend_from_slice(P::read(part, &memory));
        }
        for (row, item) in own.clone().zip(*first_item..) {
            let columns = row * width..(row + 1) * width;
            if is_exclusive {
                stack.join(&mut result[columns.clone()]);
                stack.push(item, &rows[columns]);
            } else {
                stack.push(item, &rows[columns.clone()]);
                stack.join(&mut result[columns]);
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
    /// Adds item number `item`; `item` items are in already.
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

    /// The reduction of all items that are in; the operator's empty value if there are none.
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
