//! The end of a run, which writes this rank's result.

use std::mem;

use super::machine::Machine;
use super::memory::Place;
use super::scan;

/// What this rank gets as its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    /// Whether this rank gets a result.
    pub(super) is_mine: bool,
    pub(super) kind: EndingKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndingKind {
    /// The reduction, in canonical form.
    Reduction,
    /// The reduction of no items.
    Empty,
    /// A row, unchanged.
    Row,
    /// The prefixes of this rank's items.
    Scan { is_exclusive: bool },
}

impl Ending {
    /// The input of a run: this rank's rows or, for a broadcast, the row in `result`.
    pub(super) fn input<'r>(&self, local: Option<&'r [u8]>, result: &'r [u8]) -> Option<&'r [u8]> {
        match self.kind {
            EndingKind::Row => local.map(|_| result),
            _ => local,
        }
    }

    /// Writes the result to `result`. The machine's run is over, and all its values are in its workspace or its messages.
    pub(super) fn finish<P: Place>(
        &self,
        machine: &mut Machine<'_, P>,
        rows: &[u8],
        result: &mut [u8],
    ) {
        let values = machine.values;
        match self.kind {
            EndingKind::Reduction => {
                copy(machine, result, |row, into| {
                    values.copy_canonical(row, into);
                });
            }
            EndingKind::Row => copy(machine, result, |row, into| into.copy_from_slice(row)),
            EndingKind::Empty => values.write_empty(result),
            EndingKind::Scan { is_exclusive } => {
                let mut before = mem::take(&mut machine.state.scratch);
                scan::finish(machine, &mut before, rows, is_exclusive, result);
                machine.state.scratch = before;
                values.make_canonical(result);
            }
        }
    }
}

/// Copies each part of the program's result to `result` with the function `copy`.
fn copy<P: Place>(
    machine: &mut Machine<'_, P>,
    result: &mut [u8],
    copy: impl Fn(&[u8], &mut [u8]),
) {
    let (program, memory) = (machine.program(), machine.memory());
    let mut rest = result;
    for &part in &program.result {
        let (own, others) = rest.split_at_mut(part.length);
        copy(P::read(part, &memory), own);
        rest = others;
    }
}
