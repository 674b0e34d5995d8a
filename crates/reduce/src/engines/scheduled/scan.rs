//! The local part of scans: computes a result for each of this rank's items from the fragment of all items before them.

use super::machine::Machine;
use super::memory::Place;
use super::program::Prefix;

/// Scans this rank's rows, after the machine has computed the fragments before them. `before` is scratch memory.
pub(super) fn finish<P: Place>(
    machine: &mut Machine<'_, P>,
    before: &mut Vec<u8>,
    rows: &[u8],
    is_exclusive: bool,
    result: &mut [u8],
) {
    let (program, values) = (machine.program(), machine.values);
    let memory = machine.memory();
    let row = program.width;
    for Prefix {
        rows: own,
        first_item,
        nodes,
    } in &program.prefixes
    {
        before.clear();
        for &part in nodes {
            before.extend_from_slice(P::read(part, &memory));
        }
        let range = own.start * row..own.end * row;
        let (own, result) = (&rows[range.clone()], &mut result[range]);
        values.scan(row, before, *first_item, own, is_exclusive, result);
    }
}
