//! What a run leaves on this rank: the result of its operation.

use std::mem;

use bytemuck::Pod;

use super::machine::Machine;
use super::memory::{Place, REGISTER_BYTES};
use super::scan;
use crate::operator::Operator;

/// What this rank gets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    /// Whether it gets anything.
    pub(super) is_mine: bool,
    pub(super) kind: EndingKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndingKind {
    /// The reduction, in canonical form.
    Reduction,
    /// The reduction of no items.
    Empty,
    /// A row, as it is.
    Row,
    /// The prefixes of this rank's items.
    Scan { is_exclusive: bool },
}

impl Ending {
    /// The input of a run: this rank's rows, or the row to broadcast, which is where the result will be.
    pub(super) fn input<'r, T>(&self, local: Option<&'r [T]>, result: &'r [T]) -> Option<&'r [T]> {
        match self.kind {
            EndingKind::Row => local.map(|_| result),
            _ => local,
        }
    }

    /// Leaves the result in `result`, by a machine whose run is over and whose values are all in its workspace or messages.
    pub(super) fn finish<T: Pod, O: Operator<T>, P: Place>(
        &self,
        machine: &mut Machine<'_, T, O, P>,
        rows: &[T],
        result: &mut [T],
    ) {
        let operator = machine.operator;
        match self.kind {
            EndingKind::Reduction => {
                copy(machine, result, |row, into| match (row, into) {
                    (&[value], [into]) if size_of::<T>() <= REGISTER_BYTES => {
                        *into = operator.canonical(value);
                    }
                    (row, into) => operator.copy_canonical(row, into),
                });
            }
            EndingKind::Row => copy(machine, result, |row, into| into.copy_from_slice(row)),
            EndingKind::Empty => {
                let empty = operator.empty();
                let empty = empty.expect("a plan without items has an empty value");
                result.fill(operator.canonical(empty));
            }
            EndingKind::Scan { is_exclusive } => {
                let mut stack = mem::take(&mut machine.state.scratch);
                scan::finish(machine, &mut stack, rows, is_exclusive, result);
                machine.state.scratch = stack;
                operator.make_canonical(result);
            }
        }
    }
}

/// Copies the parts of the program's result.
fn copy<T: Pod, O: Operator<T>, P: Place>(
    machine: &mut Machine<'_, T, O, P>,
    result: &mut [T],
    copy: impl Fn(&[T], &mut [T]),
) {
    let (program, memory) = (machine.program(), machine.memory());
    let mut rest = result;
    for &part in &program.result {
        let (own, others) = rest.split_at_mut(part.length);
        copy(P::read(part, &memory), own);
        rest = others;
    }
}
