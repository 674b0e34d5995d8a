//! What a rank does in a collective operation: a schedule, compiled to flat lists of places.
//!
//! Every value of a run has a place of its own. A program says which rows to fold into which places, which two places to combine into
//! a third, and which places make up a message. A run reads each list from front to back. Places and lengths are in items while a
//! program is compiled, and in bytes when it runs.
//!
//! The type of a place says where values are. Short rows are copied, so all values are in one workspace, and a place is an
//! offset there ([`Packed`](super::memory::Packed)). Long rows stay where they are: see [`Located`](super::memory::Located).

use std::ops::Range;

/// Adjacent values; `place` is the place of the first value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part<P> {
    pub(crate) place: P,
    pub(crate) length: usize,
}

/// Rows that are contiguous in the local slice and in the tree: the nodes that they make up, and where their reductions go.
#[derive(Clone, Debug)]
pub(crate) struct LocalRange {
    pub(crate) rows: Range<usize>,
    /// Range of the program's `lengths`, which has the number of rows of each node.
    pub(crate) lengths: Range<usize>,
    /// Where the first node's reduction begins in the workspace; the reductions of the other nodes follow.
    pub(crate) start: usize,
}

/// Combines `left` and `right`, element by element, into a third place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Combine<P> {
    pub(crate) left: P,
    pub(crate) right: P,
    pub(crate) into: P,
    pub(crate) length: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) peer: usize,
    /// Range of the program's `parts`. A received message is one part.
    pub(crate) parts: Range<usize>,
    /// The total length of the parts; at least the length of an item.
    pub(crate) length: usize,
}

/// A step: combinations, then sends, then a wait for the messages that it receives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    /// Range of the program's `combines`. The next two fields are ranges of its `sends` and `receives`.
    pub(crate) combines: Range<usize>,
    pub(crate) sends: Range<usize>,
    pub(crate) receives: Range<usize>,
    /// Whether the step receives one message that only the next combinations read, so that they may read it in place.
    pub(crate) is_combined_on_arrival: bool,
}

/// What a scan needs for one local range.
#[derive(Clone, Debug)]
pub(crate) struct Prefix<P> {
    /// The range's rows in the local slice, and the number of its first item.
    pub(crate) rows: Range<usize>,
    pub(crate) first_item: u64,
    /// The fragment of all items before the range, node by node.
    pub(crate) nodes: Vec<Part<P>>,
}

/// What one rank does in one collective operation.
#[derive(Clone, Debug)]
pub(crate) struct Program<P> {
    pub(crate) local_ranges: Vec<LocalRange>,
    /// The number of rows of each of this rank's own nodes.
    pub(crate) lengths: Vec<usize>,
    pub(crate) steps: Vec<Step>,
    /// The combinations in the order in which they happen: first those of the steps, then the last ones, after all messages have arrived.
    pub(crate) combines: Vec<Combine<P>>,
    pub(crate) last_combines: Range<usize>,
    pub(crate) sends: Vec<Message>,
    pub(crate) receives: Vec<Message>,
    /// The parts of messages.
    pub(crate) parts: Vec<Part<P>>,
    /// This rank's result, in order: by block, then by node.
    pub(crate) result: Vec<Part<P>>,
    /// What a scan has instead of `result`.
    pub(crate) prefixes: Vec<Prefix<P>>,
    pub(crate) workspace_length: usize,
    /// The length of a row.
    pub(crate) width: usize,
}

impl Program<usize> {
    /// Converts places and lengths from items to bytes.
    pub(super) fn in_bytes(mut self, item_bytes: usize) -> Self {
        let scale = |number: &mut usize| *number *= item_bytes;
        let scale_part = |part: &mut Part<usize>| {
            scale(&mut part.place);
            scale(&mut part.length);
        };
        for local in &mut self.local_ranges {
            scale(&mut local.start);
        }
        for combine in &mut self.combines {
            let Combine {
                left,
                right,
                into,
                length,
            } = combine;
            [left, right, into, length].into_iter().for_each(scale);
        }
        for message in self.sends.iter_mut().chain(&mut self.receives) {
            scale(&mut message.length);
        }
        let nodes = self
            .prefixes
            .iter_mut()
            .flat_map(|prefix| &mut prefix.nodes);
        let parts = self.parts.iter_mut().chain(&mut self.result).chain(nodes);
        parts.for_each(scale_part);
        scale(&mut self.workspace_length);
        scale(&mut self.width);
        self
    }
}

impl<P> Program<P> {
    /// The length of the longest message.
    pub(super) fn longest_message(&self) -> usize {
        let messages = self.sends.iter().chain(&self.receives);
        messages.map(|message| message.length).max().unwrap_or(0)
    }

    /// The combinations between a step and the next step, or the end.
    pub(super) fn combines_after(&self, step: usize) -> Range<usize> {
        let next = self.steps.get(step + 1);
        next.map_or(&self.last_combines, |next| &next.combines)
            .clone()
    }

    /// The number of nodes that this rank's rows make up: its own nodes.
    pub(crate) fn own_nodes_count(&self) -> usize {
        self.lengths.len()
    }

    /// Whether each own node is a single row.
    pub(crate) fn own_nodes_are_rows(&self) -> bool {
        self.lengths.iter().all(|&length| length == 1)
    }

    /// The length of this rank's result.
    pub(crate) fn result_length(&self) -> usize {
        let parts = self.result.iter().map(|part| part.length);
        parts.fold(0, |length, part| length + part)
    }
}

impl<P> Default for Program<P> {
    fn default() -> Self {
        Self {
            local_ranges: Vec::new(),
            lengths: Vec::new(),
            steps: Vec::new(),
            combines: Vec::new(),
            last_combines: 0..0,
            sends: Vec::new(),
            receives: Vec::new(),
            parts: Vec::new(),
            result: Vec::new(),
            prefixes: Vec::new(),
            workspace_length: 0,
            width: 0,
        }
    }
}

/// The columns of one of `blocks` blocks of a row: the first `width` mod `blocks` blocks have one column more.
pub(crate) fn columns(width: usize, blocks: usize, block: usize) -> Range<usize> {
    let start = |block: usize| width / blocks * block + (width % blocks).min(block);
    start(block)..start(block + 1)
}

#[cfg(test)]
mod tests {
    use super::columns;

    #[test]
    fn blocks_of_columns_are_as_even_as_they_can_be() {
        for width in 0..20 {
            for blocks in 1..9 {
                let all: Vec<_> = (0..blocks)
                    .map(|block| columns(width, blocks, block))
                    .collect();
                assert!(all.iter().cloned().flatten().eq(0..width));
                let lengths = || all.iter().map(ExactSizeIterator::len);
                assert!(lengths().max().unwrap() - lengths().min().unwrap() <= 1);
            }
        }
    }
}
