//! The local part of scans: from the fragment of everything before this rank's items to a result for each of them.

use bytemuck::Pod;

use super::machine::Machine;
use super::memory::Place;
use super::program::Prefix;
use crate::fold::prefix::Stack;
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
