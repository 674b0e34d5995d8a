//! From a schedule to a [`Program`] for one rank.
//!
//! Schedules speak of ranges of ranks. What the reduction of such a range is made of, the nodes of its
//! fragment, follows from the ownership alone; so every rank knows the length and the order
//! of every message before it comes, and a message is nothing but values.

use std::collections::BTreeMap;
use std::ops::Range;

use distribution::Ownership;
use schedule::{Collective, Piece, Schedule, Transfer, tile};
use tree_index::{Node, Tree};

use crate::program::{
    Combine, Elsewhere, Home, Message, Prefix, Program, Span, Step, Stretch, columns,
};

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
    pub(crate) memory: Placing,
    pub(crate) wanted: Wanted,
}

/// Up to so many messages that go at once are sooner there than one that has to be asked for.
const EAGER_MESSAGES: usize = 6;

/// What lies in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placing {
    /// Everything.
    Copied,
    /// What is received stays in its messages.
    Kept,
    /// The own rows and the result stay outside, too.
    Lent,
}

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
    pub(crate) fn compile(&self, rank: usize) -> Program {
        let position = self.ownership.position_of(rank);
        let mut compiler = Compiler {
            source: self,
            tree: Tree::new(self.ownership.items()),
            held: vec![BTreeMap::new(); self.schedule.blocks()],
            own: Vec::new(),
            combines: Vec::new(),
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
        compiler.program.last_combines = std::mem::take(&mut compiler.combines);
        compiler.place();
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
    /// The combinations of the step that is being compiled.
    combines: Vec<Combine>,
    program: Program,
}

impl Compiler<'_> {
    /// This rank's own rows: the nodes of every stretch that lies together in memory, too.
    fn hold_own(&mut self, rank: usize, position: usize) {
        let width = self.source.width;
        let mut nodes = Vec::new();
        for (extent, first_row) in self.source.stretches(rank) {
            let mut stretch = Stretch {
                rows: first_row..first_row,
                lengths: Vec::new(),
                start: self.program.workspace_length,
            };
            for node in self.tree.subtree_roots(extent) {
                let span = self.tree.span(node);
                let length = usize::try_from(span.end - span.start).expect("rows are in memory");
                stretch.rows.end += length;
                stretch.lengths.push(length);
                nodes.push((node, self.allocate(width)));
            }
            self.program.stretches.push(stretch);
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
                self.hold(block, piece.ranks, nodes.clone());
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
        let (tree, program, combines) = (self.tree, &mut self.program, &mut self.combines);
        let count = tree.merge(&mut nodes, |left, right| {
            let into = program.workspace_length;
            program.workspace_length += length;
            combines.push(Combine {
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
            let spans = self.spans_to_send(&send.pieces);
            let peer = self.source.ownership.rank_at(send.peer);
            let messages = self.split(peer, spans);
            self.program.sends.extend(messages);
        }
        let first_receive = self.program.receives.len();
        for receive in &step.receives {
            let span = self.receive(receive);
            let peer = self.source.ownership.rank_at(receive.peer);
            let messages = self.split(peer, vec![span]);
            self.program.receives.extend(messages);
        }
        let sends = first_send..self.program.sends.len();
        let receives = first_receive..self.program.receives.len();
        let combines = std::mem::take(&mut self.combines);
        self.program.steps.push(Step {
            combines,
            sends,
            receives,
        });
    }

    fn spans_to_send(&mut self, pieces: &[Piece]) -> Vec<Span> {
        let mut spans = Vec::new();
        for piece in pieces {
            for block in self.source.with_columns(&piece.blocks) {
                let length = self.source.columns(block).len();
                for (_, start) in self.gather(block, &piece.ranks) {
                    append(&mut spans, Span { start, length });
                }
            }
        }
        spans
    }

    /// Room for a message, side by side, and what will be held when it is there.
    fn receive(&mut self, transfer: &Transfer) -> Span {
        let start = self.program.workspace_length;
        for piece in &transfer.pieces {
            let ranges = self.source.ownership.union(piece.ranks.clone());
            let fragment: Vec<Node> = self.tree.fragment(ranges).collect();
            for block in self.source.with_columns(&piece.blocks) {
                let length = self.source.columns(block).len();
                let nodes = fragment
                    .iter()
                    .map(|&node| (node, self.allocate(length)))
                    .collect();
                self.hold(block, piece.ranks.clone(), nodes);
            }
        }
        let length = self.program.workspace_length - start;
        Span { start, length }
    }

    /// Messages of at most so many elements as may be; none where there is nothing to say.
    fn split(&self, peer: usize, spans: Vec<Span>) -> Vec<Message> {
        let Source {
            message_limit,
            eager_limit,
            ..
        } = *self.source;
        let length = spans.iter().fold(0, |total, span| total + span.length);
        let limit = if length <= EAGER_MESSAGES.saturating_mul(eager_limit) {
            message_limit.min(eager_limit)
        } else {
            message_limit
        };
        let mut messages: Vec<Message> = Vec::new();
        for mut span in spans {
            while span.length > 0 {
                if messages.last().is_none_or(|last| last.length == limit) {
                    messages.push(Message {
                        peer,
                        spans: Vec::new(),
                        length: 0,
                    });
                }
                let last = messages.last_mut().expect("one was pushed");
                let length = span.length.min(limit - last.length);
                last.spans.push(Span { length, ..span });
                last.length += length;
                span = span.behind(length);
            }
        }
        messages
    }

    fn finish(&mut self, wanted: &[Piece]) {
        for piece in wanted {
            for block in self.source.with_columns(&piece.blocks) {
                let length = self.source.columns(block).len();
                let nodes = self.gather(block, &piece.ranks);
                let places = nodes
                    .into_iter()
                    .map(|(node, start)| (node, Span { start, length }));
                self.program.result.extend(places);
            }
        }
    }

    /// Notes which values are not in the workspace.
    fn place(&mut self) {
        let (memory, program) = (self.source.memory, &mut self.program);
        if memory == Placing::Copied {
            return;
        }
        let messages = (0..).zip(&program.receives);
        let mut elsewhere: Vec<Elsewhere> = messages
            .map(|(receive, message)| Elsewhere {
                span: message.spans[0],
                home: Home::Message(receive),
            })
            .collect();
        program.is_lent = memory == Placing::Lent;
        if program.is_lent {
            let length = program.width;
            let starts = program.stretches.iter().flat_map(|stretch| {
                (0..stretch.lengths.len()).map(move |node| stretch.start + node * length)
            });
            elsewhere.extend((0..).zip(starts).map(|(leaf, start)| Elsewhere {
                span: Span { start, length },
                home: Home::Leaf(leaf),
            }));
        }
        elsewhere.sort_unstable_by_key(|elsewhere| elsewhere.span.start);
        program.elsewhere = elsewhere;
        if program.is_lent {
            // What is combined here for the result can be made there: the root of a tree is never combined again.
            let mut made = Vec::new();
            let mut offset = 0;
            for &(_, span) in &program.result {
                if program.part(span).home.is_none() {
                    made.push(Elsewhere {
                        span,
                        home: Home::Result(offset),
                    });
                }
                offset += span.length;
            }
            program.elsewhere.extend(made);
            let start = |elsewhere: &Elsewhere| elsewhere.span.start;
            program.elsewhere.sort_unstable_by_key(start);
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
                places: nodes
                    .into_iter()
                    .map(|(node, start)| (node, Span { start, length }))
                    .collect(),
            });
        }
    }
}

/// Adds a span; one that continues the last is part of it.
fn append(spans: &mut Vec<Span>, span: Span) {
    match spans.last_mut() {
        Some(last) if last.start + last.length == span.start => last.length += span.length,
        _ => spans.push(span),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use distribution::{Distribution, Ownership};
    use schedule::{Algorithm, Collective, Schedule};

    use super::{Placing, Source, Wanted};
    use crate::program::{Program, columns};

    fn program(ranks: usize, rank: usize, items: u64) -> Program {
        let schedule = Schedule::new(Algorithm::RecursiveDoubling, Collective::Allreduce, ranks);
        let source = Source {
            schedule: &schedule.unwrap(),
            ownership: &Ownership::from(Distribution::lower(items, ranks).unwrap()),
            width: 1,
            message_limit: usize::MAX,
            eager_limit: usize::MAX,
            memory: Placing::Copied,
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
                let steps = program.steps.iter().flat_map(|step| &step.combines);
                let combined = steps
                    .chain(&program.last_combines)
                    .map(|combine| combine.into);
                let received = program.receives.iter().flat_map(|message| &message.spans);
                let received = received.flat_map(|span| span.range());
                let written: Vec<usize> = own.chain(combined).chain(received).collect();
                let places: BTreeSet<usize> = written.iter().copied().collect();
                assert_eq!(places.len(), written.len());
                assert!(places.into_iter().eq(0..program.workspace_length));
            }
        }
    }

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
