//! From a schedule to a [`Program`] for one rank, whose places are offsets in one workspace.
//!
//! Schedules speak of ranges of ranks. What the reduction of such a range is made of, the nodes of its
//! fragment, follows from the ownership alone; so every rank knows the length and the order
//! of every message before it comes, and a message is nothing but values.

use std::collections::BTreeMap;
use std::ops::Range;

use distribution::Ownership;
use schedule::{Collective, Piece, Schedule, Transfer, tile};
use tree_index::{Node, Tree};

use super::program::{Combine, Message, Part, Prefix, Program, Step, Stretch, columns};

/// What a program is compiled from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'s> {
    pub(crate) schedule: &'s Schedule,
    pub(crate) ownership: &'s Ownership,
    /// Elements of a row.
    pub(crate) width: usize,
    /// Longer messages are split, in elements.
    pub(crate) message_limit: usize,
    /// Messages of some times this are split into such, in elements: the transport sends them sooner than one.
    pub(crate) eager_limit: usize,
    pub(crate) wanted: Wanted,
}

/// Up to so many messages that go at once are sooner there than one that has to be asked for.
const EAGER_MESSAGES: usize = 6;

/// What a program leaves on its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// What the schedule says.
    Reduction,
    /// The fragment before each of its stretches.
    Prefixes,
}

impl Source<'_> {
    /// The program of a rank.
    pub(crate) fn compile(&self, rank: usize) -> Program<usize> {
        let position = self.ownership.position_of(rank);
        let mut compiler = Compiler {
            source: self,
            tree: Tree::new(self.ownership.items()),
            held: vec![BTreeMap::new(); self.schedule.blocks()],
            own: Vec::new(),
            program: Program {
                width: self.width,
                ..Program::default()
            },
        };
        compiler.hold_own(rank, position);
        for step in self.schedule.steps(position) {
            compiler.step(&step);
        }
        match self.wanted {
            Wanted::Reduction => compiler.finish(&self.schedule.wanted(position)),
            Wanted::Prefixes => compiler.finish_scan(rank, position),
        }
        compiler.program.last_combines = compiler.new_combines();
        compiler.program
    }

    /// The columns of a block, which belongs to the rank at the position of the same number.
    pub(crate) fn columns(&self, block: usize) -> Range<usize> {
        let rank = match self.schedule.collective() {
            Collective::ReduceScatter => self.ownership.rank_at(block),
            _ => block,
        };
        columns(self.width, self.schedule.blocks(), rank)
    }

    /// Those of some blocks that have any columns: where there are more blocks than columns, most have none.
    fn with_columns(&self, blocks: &Range<usize>) -> impl Iterator<Item = usize> {
        blocks
            .clone()
            .filter(|&block| !self.columns(block).is_empty())
    }

    /// A rank's items as ranges that lie together in its slice, too, each with the row where it begins.
    fn stretches(&self, rank: usize) -> Vec<(Range<u64>, usize)> {
        let mut stretches: Vec<(Range<u64>, usize)> = Vec::new();
        let mut row = 0;
        for extent in self.ownership.extents(rank) {
            let count = usize::try_from(extent.end - extent.start).expect("rows are in memory");
            match stretches.last_mut() {
                Some((last, _)) if last.end == extent.start => last.end = extent.end,
                _ => stretches.push((extent, row)),
            }
            row += count;
        }
        stretches
    }
}

/// The reduction of a range of positions, of one block.
#[derive(Clone, Debug)]
struct Held {
    positions: Range<usize>,
    /// Its nodes, and where each begins in the workspace.
    nodes: Vec<(Node, usize)>,
}

struct Compiler<'s> {
    source: &'s Source<'s>,
    tree: Tree,
    /// Everything that is here, by block and first position.
    held: Vec<BTreeMap<usize, Vec<Held>>>,
    /// The nodes of this rank's own rows, and where they are.
    own: Vec<(Node, usize)>,
    program: Program<usize>,
}

impl Compiler<'_> {
    /// This rank's own rows: the nodes of every stretch that lies together in memory, too.
    fn hold_own(&mut self, rank: usize, position: usize) {
        let width = self.source.width;
        let mut nodes = Vec::new();
        for (extent, first_row) in self.source.stretches(rank) {
            let first_length = self.program.lengths.len();
            let start = self.program.workspace_length;
            let mut rows = first_row..first_row;
            for node in self.tree.subtree_roots(extent) {
                let span = self.tree.span(node);
                let length = usize::try_from(span.end - span.start).expect("rows are in memory");
                rows.end += length;
                self.program.lengths.push(length);
                nodes.push((node, self.allocate(width)));
            }
            self.program.stretches.push(Stretch {
                rows,
                lengths: first_length..self.program.lengths.len(),
                start,
            });
        }
        nodes.sort_unstable_by_key(|&(node, _)| node);
        for block in 0..self.held.len() {
            let columns = self.source.columns(block);
            if columns.is_empty() {
                continue;
            }
            let of_block = nodes.iter().map(|&(node, at)| (node, at + columns.start));
            let nodes = self.merge(of_block.collect(), columns.len());
            for piece in self.source.schedule.held(position) {
                self.hold(block, piece.positions, nodes.clone());
            }
        }
        self.own = nodes;
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

    /// Merges nodes in order, noting what is to be combined.
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

    /// The nodes of a range of positions, joined from what is held, and held from now on.
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
            panic!("the schedule is checked: positions {positions:?} are held in parts")
        });
        if let [whole] = tiles[..] {
            return whole.nodes.clone();
        }
        let mut nodes: Vec<(Node, usize)> = tiles
            .iter()
            .flat_map(|tile| tile.nodes.iter().copied())
            .collect();
        // Tiles ascend, but ownership may interleave.
        nodes.sort_unstable_by_key(|&(node, _)| node);
        let nodes = self.merge(nodes, self.source.columns(block).len());
        self.hold(block, positions.clone(), nodes.clone());
        nodes
    }

    fn step(&mut self, step: &schedule::Step) {
        // Sends use what was held before the step.
        let first_send = self.program.sends.len();
        for send in &step.sends {
            let parts = self.parts_to_send(&send.pieces);
            let peer = self.source.ownership.rank_at(send.peer);
            let messages = self.split(peer, parts);
            self.program.sends.extend(messages);
        }
        let first_receive = self.program.receives.len();
        for receive in &step.receives {
            let part = self.receive(receive);
            let peer = self.source.ownership.rank_at(receive.peer);
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
        });
    }

    /// The combinations since the last step.
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
            for block in self.source.with_columns(&piece.blocks) {
                let length = self.source.columns(block).len();
                for (_, place) in self.gather(block, &piece.positions) {
                    append(&mut parts, Part { place, length });
                }
            }
        }
        parts
    }

    /// Room for a message, side by side, and what will be held when it is there.
    fn receive(&mut self, transfer: &Transfer) -> Part<usize> {
        let start = self.program.workspace_length;
        for piece in &transfer.pieces {
            let ranges = self.source.ownership.union(piece.positions.clone());
            let fragment: Vec<Node> = self.tree.fragment(ranges).collect();
            for block in self.source.with_columns(&piece.blocks) {
                let length = self.source.columns(block).len();
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

    /// Messages of at most the limits' lengths; none where there is nothing to send.
    fn split(&mut self, peer: usize, parts: Vec<Part<usize>>) -> Vec<Message> {
        let Source {
            message_limit,
            eager_limit,
            ..
        } = *self.source;
        let length = parts.iter().fold(0, |total, part| total + part.length);
        let limit = if length <= EAGER_MESSAGES.saturating_mul(eager_limit) {
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
            for block in self.source.with_columns(&piece.blocks) {
                let length = self.source.columns(block).len();
                let nodes = self.gather(block, &piece.positions);
                let parts = nodes.into_iter().map(|(_, place)| Part { place, length });
                self.program.result.extend(parts);
            }
        }
    }

    /// The fragment before each of this rank's stretches, of what is held of the single positions.
    fn finish_scan(&mut self, rank: usize, position: usize) {
        let length = self.source.width;
        let source = self.source;
        for (extent, first_row) in source.stretches(rank) {
            let mut nodes: Vec<(Node, usize)> = Vec::new();
            if source.ownership.is_one_stretch_each() {
                nodes = self.gather(0, &(0..position));
            } else {
                // A node of one's own may reach across the stretch's start, a leaf does not.
                nodes.extend(&self.own);
                let others = (0..source.ownership.ranks()).filter(|&other| other != position);
                for other in others {
                    nodes.extend(self.gather(0, &(other..other + 1)));
                }
                nodes.retain(|(node, _)| node.x < extent.start);
                nodes.sort_unstable_by_key(|&(node, _)| node);
                nodes = self.merge(nodes, length);
            }
            let count = usize::try_from(extent.end - extent.start).expect("rows are in memory");
            self.program.prefixes.push(Prefix {
                rows: first_row..first_row + count,
                first_item: extent.start,
                nodes: nodes
                    .into_iter()
                    .map(|(_, place)| Part { place, length })
                    .collect(),
            });
        }
    }
}

/// Adds a part; one that continues the last is part of it.
fn append(parts: &mut Vec<Part<usize>>, part: Part<usize>) {
    match parts.last_mut() {
        Some(last) if last.place + last.length == part.place => last.length += part.length,
        _ => parts.push(part),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use distribution::{Distribution, Ownership};
    use schedule::{Algorithm, Collective, Schedule};

    use super::{Source, Wanted};
    use crate::scheduled::program::Program;

    fn program(ranks: usize, rank: usize, items: u64) -> Program<usize> {
        let schedule = Schedule::new(Algorithm::RecursiveDoubling, Collective::Allreduce, ranks);
        let source = Source {
            schedule: &schedule.unwrap(),
            ownership: &Ownership::from(Distribution::lower(items, ranks).unwrap()),
            width: 1,
            message_limit: usize::MAX,
            eager_limit: usize::MAX,
            wanted: Wanted::Reduction,
        };
        source.compile(rank)
    }

    /// O(log p) steps of O(log N) values each: 20 exchanges of at most 2 log2 N values.
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
                let stretches = program.stretches.iter();
                let own = stretches
                    .flat_map(|stretch| stretch.start..stretch.start + stretch.lengths.len());
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
