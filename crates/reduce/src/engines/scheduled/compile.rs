//! Compiles a schedule to a [`Program`] for one rank. The program's places are offsets in one workspace.
//!
//! A schedule says which range of ranks a message reduces. The ownership alone determines the nodes of that range's fragment, so every
//! rank knows the length and the order of a message before it arrives. Messages therefore hold only values.

use std::collections::BTreeMap;
use std::ops::Range;

use distribution::Ownership;
use schedule::{Collective, Piece, Schedule, Transfer, tile};
use tree_index::{Node, Tree};

use super::program::{Combine, LocalRange, Message, Part, Prefix, Program, Step, columns};

/// What a program is compiled from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'s> {
    pub(crate) schedule: &'s Schedule,
    pub(crate) ownership: &'s Ownership,
    /// Elements of a row.
    pub(crate) width: usize,
    /// Messages of more than this number of elements are split.
    pub(crate) message_limit: usize,
    /// The longest message that the transport sends eagerly, in elements.
    pub(crate) eager_limit: usize,
    /// A message that is at most this many times as long as the eager limit is split into eager messages.
    pub(crate) eager_messages: usize,
    pub(crate) output: Output,
}

/// What a program produces on its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// The reduction of the blocks that the schedule gives this rank.
    Result,
    /// The fragment before each of this rank's local ranges.
    Prefixes,
}

impl Input<'_> {
    /// Compiles the program of a rank.
    pub(crate) fn compile(&self, rank: usize) -> Program<usize> {
        let position = self.ownership.position_of(rank);
        let mut compiler = Compiler {
            input: self,
            tree: Tree::new(self.ownership.items()),
            held: vec![BTreeMap::new(); self.schedule.blocks()],
            own_nodes: Vec::new(),
            program: Program {
                width: self.width,
                ..Program::default()
            },
        };
        compiler.hold_own(rank, position);
        for step in self.schedule.steps(position) {
            compiler.step(&step);
        }
        match self.output {
            Output::Result => compiler.finish(&self.schedule.wanted(position)),
            Output::Prefixes => compiler.finish_scan(rank, position),
        }
        compiler.program.last_combines = compiler.new_combines();
        compiler.program
    }

    /// The columns of a block of the schedule. A reduce-scatter numbers its blocks by position, and rank r gets the r-th block of columns.
    pub(crate) fn columns(&self, block: usize) -> Range<usize> {
        let column_block = match self.schedule.collective() {
            Collective::ReduceScatter => self.ownership.rank_at(block),
            _ => block,
        };
        columns(self.width, self.schedule.blocks(), column_block)
    }

    /// The blocks that have columns. If there are more blocks than columns, some blocks have none.
    fn with_columns(&self, blocks: &Range<usize>) -> impl Iterator<Item = usize> {
        blocks
            .clone()
            .filter(|&block| !self.columns(block).is_empty())
    }

    /// The ranges of a rank's items that are also contiguous in its slice, each with the index of its first row in the slice.
    fn local_ranges(&self, rank: usize) -> Vec<(Range<u64>, usize)> {
        let mut local_ranges: Vec<(Range<u64>, usize)> = Vec::new();
        let mut row = 0;
        for extent in self.ownership.extents(rank) {
            let count = rows_of(&extent);
            match local_ranges.last_mut() {
                Some((last, _)) if last.end == extent.start => last.end = extent.end,
                _ => local_ranges.push((extent, row)),
            }
            row = row.saturating_add(count);
        }
        local_ranges
    }
}

/// One block of the reduction of a range of positions.
#[derive(Clone, Debug)]
struct Held {
    positions: Range<usize>,
    /// The nodes of the reduction, and where each begins in the workspace.
    nodes: Vec<(Node, usize)>,
}

struct Compiler<'s> {
    input: &'s Input<'s>,
    tree: Tree,
    /// Every reduction that this rank has, by block and by first position.
    held: Vec<BTreeMap<usize, Vec<Held>>>,
    /// The nodes of each of this rank's local ranges, not merged across ranges, and their places.
    own_nodes: Vec<(Node, usize)>,
    program: Program<usize>,
}

impl Compiler<'_> {
    /// Records the nodes of each of this rank's local ranges, and the fragment into which they merge.
    fn hold_own(&mut self, rank: usize, position: usize) {
        let width = self.input.width;
        let mut nodes = Vec::new();
        for (extent, first_row) in self.input.local_ranges(rank) {
            let first_length = self.program.lengths.len();
            let start = self.program.workspace_length;
            let mut rows = first_row..first_row;
            for node in self.tree.subtree_roots(extent) {
                let span = self.tree.span(node);
                let length = rows_of(&span);
                rows.end = rows.end.saturating_add(length);
                self.program.lengths.push(length);
                nodes.push((node, self.allocate(width)));
            }
            self.program.local_ranges.push(LocalRange {
                rows,
                lengths: first_length..self.program.lengths.len(),
                start,
            });
        }
        sort(&mut nodes);
        for block in 0..self.held.len() {
            let columns = self.input.columns(block);
            if columns.is_empty() {
                continue;
            }
            let of_block = nodes.iter().map(|&(node, at)| (node, at + columns.start));
            let nodes = self.merge(of_block.collect(), columns.len());
            for piece in self.input.schedule.held(position) {
                self.hold(block, piece.positions, nodes.clone());
            }
        }
        self.own_nodes = nodes;
    }

    fn allocate(&mut self, length: usize) -> usize {
        let start = self.program.workspace_length;
        self.program.workspace_length += length;
        start
    }

    fn hold(&mut self, block: usize, positions: Range<usize>, nodes: Vec<(Node, usize)>) {
        self.held[block]
            .entry(positions.start)
            .or_default()
            .push(Held { positions, nodes });
    }

    /// Merges nodes in order, and adds the combinations to the program.
    fn merge(&mut self, mut nodes: Vec<(Node, usize)>, length: usize) -> Vec<(Node, usize)> {
        let (tree, program) = (self.tree, &mut self.program);
        let count = tree.merge(&mut nodes, |left, right| {
            let into = program.workspace_length;
            program.workspace_length += length;
            program.combines.push(Combine {
                left,
                right,
                into,
                length,
            });
            into
        });
        nodes.truncate(count);
        nodes
    }

    /// Merges reductions that this rank has into the nodes of a range of positions. Records that this rank now has this reduction, too.
    fn gather(&mut self, block: usize, positions: &Range<usize>) -> Vec<(Node, usize)> {
        if positions.is_empty() {
            return Vec::new();
        }
        let held = &self.held[block];
        let longest = |start, end_max| {
            let pieces = held.get(&start)?.iter();
            let fitting = pieces.filter(|piece| piece.positions.end <= end_max);
            let longest = fitting.max_by_key(|piece| piece.positions.end)?;
            Some((longest.positions.end, longest))
        };
        let tiles = tile(positions, longest).unwrap_or_else(|| {
            panic!("the schedule is checked, so reductions cover positions {positions:?}")
        });
        if let [whole] = tiles[..] {
            return whole.nodes.clone();
        }
        let mut nodes: Vec<(Node, usize)> = tiles
            .iter()
            .flat_map(|tile| tile.nodes.iter().copied())
            .collect();
        sort(&mut nodes);
        let nodes = self.merge(nodes, self.input.columns(block).len());
        self.hold(block, positions.clone(), nodes.clone());
        nodes
    }

    fn step(&mut self, step: &schedule::Step) {
        // Sends use only reductions that this rank had before the step.
        let first_send = self.program.sends.len();
        for send in &step.sends {
            let parts = self.parts_to_send(&send.pieces);
            let peer = self.input.ownership.rank_at(send.peer);
            let messages = self.split(peer, parts);
            self.program.sends.extend(messages);
        }
        let first_receive = self.program.receives.len();
        for receive in &step.receives {
            let part = self.receive(receive);
            let peer = self.input.ownership.rank_at(receive.peer);
            let messages = self.split(peer, vec![part]);
            self.program.receives.extend(messages);
        }
        let sends = first_send..self.program.sends.len();
        let receives = first_receive..self.program.receives.len();
        let combines = self.new_combines();
        self.program.steps.push(Step {
            combines,
            sends,
            receives,
            is_combined_on_arrival: false,
        });
    }

    /// The combinations added since the last step.
    fn new_combines(&self) -> Range<usize> {
        let first = self
            .program
            .steps
            .last()
            .map_or(0, |step| step.combines.end);
        first..self.program.combines.len()
    }

    fn parts_to_send(&mut self, pieces: &[Piece]) -> Vec<Part<usize>> {
        let mut parts = Vec::new();
        for piece in pieces {
            for block in self.input.with_columns(&piece.blocks) {
                let length = self.input.columns(block).len();
                for (_, place) in self.gather(block, &piece.positions) {
                    append(&mut parts, Part { place, length });
                }
            }
        }
        parts
    }

    /// Allocates contiguous room for a message, and records the reductions that this rank has once the message has arrived.
    fn receive(&mut self, transfer: &Transfer) -> Part<usize> {
        let start = self.program.workspace_length;
        for piece in &transfer.pieces {
            let ranges = self.input.ownership.union(piece.positions.clone());
            let fragment: Vec<Node> = self.tree.fragment(ranges).collect();
            for block in self.input.with_columns(&piece.blocks) {
                let length = self.input.columns(block).len();
                let nodes = fragment
                    .iter()
                    .map(|&node| (node, self.allocate(length)))
                    .collect();
                self.hold(block, piece.positions.clone(), nodes);
            }
        }
        Part {
            place: start,
            length: self.program.workspace_length - start,
        }
    }

    /// Splits parts into messages that are no longer than the limit; returns no message if the parts are empty.
    fn split(&mut self, peer: usize, parts: Vec<Part<usize>>) -> Vec<Message> {
        let Input {
            message_limit,
            eager_limit,
            eager_messages,
            ..
        } = *self.input;
        let length = parts.iter().fold(0, |total, part| total + part.length);
        let limit = if length <= eager_messages.saturating_mul(eager_limit) {
            message_limit.min(eager_limit)
        } else {
            message_limit
        };
        let all = &mut self.program.parts;
        let mut messages: Vec<Message> = Vec::new();
        for mut part in parts {
            while part.length > 0 {
                if messages.last().is_none_or(|last| last.length == limit) {
                    messages.push(Message {
                        peer,
                        parts: all.len()..all.len(),
                        length: 0,
                    });
                }
                let last = messages.last_mut().expect("one was pushed");
                let length = part.length.min(limit - last.length);
                all.push(Part { length, ..part });
                last.parts.end += 1;
                last.length += length;
                part.place += length;
                part.length -= length;
            }
        }
        messages
    }

    fn finish(&mut self, wanted: &[Piece]) {
        for piece in wanted {
            for block in self.input.with_columns(&piece.blocks) {
                let length = self.input.columns(block).len();
                let nodes = self.gather(block, &piece.positions);
                let parts = nodes.into_iter().map(|(_, place)| Part { place, length });
                self.program.result.extend(parts);
            }
        }
    }

    /// Computes the fragment before each of this rank's local ranges: the fragment before the previous range, merged with the nodes
    /// between the starts of the two ranges.
    fn finish_scan(&mut self, rank: usize, position: usize) {
        let length = self.input.width;
        let input = self.input;
        let mut ranges = input.local_ranges(rank);
        let mut nodes = if input.ownership.is_one_stretch_each() {
            self.gather(0, &(0..position))
        } else {
            ranges.sort_unstable_by_key(|(extent, _)| extent.start);
            // The nodes of single local ranges are used, because a merged node may span the start of a range.
            let mut nodes = self.own_nodes.clone();
            let others = (0..input.ownership.ranks()).filter(|&other| other != position);
            for other in others {
                nodes.extend(self.gather(0, &(other..other + 1)));
            }
            sort(&mut nodes);
            nodes
        }
        .into_iter()
        .peekable();
        let mut before: Vec<(Node, usize)> = Vec::new();
        for (extent, first_row) in ranges {
            while let Some(next) = nodes.next_if(|(node, _)| node.x < extent.start) {
                before.push(next);
            }
            before = self.merge(before, length);
            let count = rows_of(&extent);
            let parts = before.iter().map(|&(_, place)| Part { place, length });
            self.program.prefixes.push(Prefix {
                rows: first_row..first_row.saturating_add(count),
                first_item: extent.start,
                nodes: parts.collect(),
            });
        }
    }
}

/// The number of rows of a range of items. A rank may own more items than a slice can hold. Then no run passes the length check.
fn rows_of(items: &Range<u64>) -> usize {
    usize::try_from(items.end - items.start).unwrap_or(usize::MAX)
}

/// Adds a part, or extends the last part if the new one continues it.
fn append(parts: &mut Vec<Part<usize>>, part: Part<usize>) {
    match parts.last_mut() {
        Some(last) if last.place + last.length == part.place => last.length += part.length,
        _ => parts.push(part),
    }
}

/// Sorts nodes from left to right. The nodes of each tile are already in order; only the stable sort merges such runs in linear time.
fn sort(nodes: &mut [(Node, usize)]) {
    nodes.sort_by_key(|&(node, _)| node);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use distribution::{Distribution, Ownership};
    use schedule::{Algorithm, Collective, Schedule};

    use super::{Input, Output};
    use crate::engines::scheduled::program::Program;

    fn program(ranks: usize, rank: usize, items: u64) -> Program<usize> {
        let schedule = Schedule::new(Algorithm::RecursiveDoubling, Collective::Allreduce, ranks);
        let input = Input {
            schedule: &schedule.unwrap(),
            ownership: &Ownership::from(Distribution::lower(items, ranks).unwrap()),
            width: 1,
            message_limit: usize::MAX,
            eager_limit: usize::MAX,
            eager_messages: 1,
            output: Output::Result,
        };
        input.compile(rank)
    }

    /// A rank compiles O(log p) steps of O(log N) values each: here 20 exchanges of at most 2 log2 N values.
    #[test]
    fn one_rank_of_a_million_compiles_little() {
        for rank in [0, 1, 123_456, 999_999] {
            let program = program(1_000_000, rank, 1_000_000_000_000);
            assert!(program.steps.len() <= 21, "{} steps", program.steps.len());
            assert!(
                program.workspace_length < 21 * 40,
                "{} values",
                program.workspace_length
            );
            assert_eq!(program.result.len(), 1);
        }
    }

    #[test]
    fn values_have_places_of_their_own() {
        for (ranks, items) in [(1, 10), (3, 100), (6, 4), (7, 1000)] {
            for rank in 0..ranks {
                let program = program(ranks, rank, items);
                let local_ranges = program.local_ranges.iter();
                let own =
                    local_ranges.flat_map(|local| local.start..local.start + local.lengths.len());
                let combined = program.combines.iter().map(|combine| combine.into);
                let received = program
                    .receives
                    .iter()
                    .flat_map(|message| &program.parts[message.parts.clone()])
                    .flat_map(|part| part.place..part.place + part.length);
                let written: Vec<usize> = own.chain(combined).chain(received).collect();
                let places: BTreeSet<usize> = written.iter().copied().collect();
                assert_eq!(places.len(), written.len());
                assert!(places.into_iter().eq(0..program.workspace_length));
            }
        }
    }
}
