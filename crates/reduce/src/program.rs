//! What a rank does in a collective operation, as lists of places: a schedule, compiled.
//!
//! All values of a run lie in one workspace, each at a place of its own. A program says which rows to fold into which places, which
//! two places to combine into a third, and which places make a message.

use std::ops::Range;

use tree_index::Node;

/// Elements of the workspace, side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) length: usize,
}

impl Span {
    pub(crate) fn range(self) -> Range<usize> {
        self.start..self.start + self.length
    }

    /// What is left behind the first so many.
    pub(crate) fn behind(self, count: usize) -> Self {
        Self {
            start: self.start + count,
            length: self.length - count,
        }
    }
}

/// Rows that lie side by side in the local slice and in the tree: the nodes that they make up, and where their reductions go.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    pub(crate) rows: Range<usize>,
    /// The rows of each node.
    pub(crate) lengths: Vec<usize>,
    /// Where the first node's reduction begins; the others follow.
    pub(crate) start: usize,
}

/// `left` and `right`, element by element, into a third place of the same length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Combine {
    pub(crate) left: usize,
    pub(crate) right: usize,
    pub(crate) into: usize,
    pub(crate) length: usize,
}

/// A message: the spans of the workspace that it is made of.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) peer: usize,
    pub(crate) spans: Vec<Span>,
    /// The spans' elements in all; at least one.
    pub(crate) length: usize,
}

/// What happens between two waits. The combinations come first; then everything is posted, and
/// the receives are waited for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    pub(crate) combines: Vec<Combine>,
    /// Which of the program's sends and receives.
    pub(crate) sends: Range<usize>,
    pub(crate) receives: Range<usize>,
}

/// A node of the result, and where its value is.
pub(crate) type Place = (Node, Span);

/// What a scan needs for one stretch of this rank's items.
#[derive(Clone, Debug)]
pub(crate) struct Prefix {
    /// The stretch, as rows of the local slice and as the number of its first item.
    pub(crate) rows: Range<usize>,
    pub(crate) first_item: u64,
    /// The fragment of all items before it.
    pub(crate) places: Vec<Place>,
}

/// Where values are that are not in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// In the memory of one of the program's receives.
    Message(usize),
    /// In the row of one of the own nodes.
    Leaf(usize),
    /// In the result, from this element on.
    Result(usize),
}

/// Places that only stand for values: those are elsewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elsewhere {
    pub(crate) span: Span,
    pub(crate) home: Home,
}

/// Values that lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// `None` is the workspace.
    pub(crate) home: Option<Home>,
    /// From where on in there.
    pub(crate) start: usize,
    pub(crate) length: usize,
}

/// One rank's part in one collective operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) steps: Vec<Step>,
    pub(crate) sends: Vec<Message>,
    pub(crate) receives: Vec<Message>,
    /// What is left to combine when everything is here.
    pub(crate) last_combines: Vec<Combine>,
    /// What this rank wants, in order: by block, then by node.
    pub(crate) result: Vec<Place>,
    /// Of a scan: what it needs instead of a result.
    pub(crate) prefixes: Vec<Prefix>,
    pub(crate) workspace_length: usize,
    /// The places of wide rows that stand for values elsewhere, in order.
    pub(crate) elsewhere: Vec<Elsewhere>,
    /// Whether the own rows and the result are elsewhere.
    pub(crate) is_lent: bool,
    /// Elements of a row.
    pub(crate) width: usize,
}

impl Program {
    /// Where the values of these places are, as far as they lie together.
    pub(crate) fn part(&self, places: Span) -> Part {
        let Span { start, length } = places;
        let behind = self
            .elsewhere
            .partition_point(|elsewhere| elsewhere.span.start <= start);
        let before = behind.checked_sub(1).map(|index| self.elsewhere[index]);
        if let Some(Elsewhere { span, home }) = before
            && let Some(left) = (span.start + span.length).checked_sub(start)
            && left > 0
        {
            return Part {
                home: Some(home),
                start: start - span.start,
                length: length.min(left),
            };
        }
        let next = self.elsewhere.get(behind).map(|next| next.span.start);
        Part {
            home: None,
            start,
            length: next.map_or(length, |next| length.min(next - start)),
        }
    }

    /// The number of nodes that the own rows make up.
    pub(crate) fn leaves_count(&self) -> usize {
        let stretches = self.stretches.iter();
        stretches.fold(0, |count, stretch| count + stretch.lengths.len())
    }

    /// Whether each of them is a single row.
    pub(crate) fn leaves_are_rows(&self) -> bool {
        let lengths = self.stretches.iter().flat_map(|stretch| &stretch.lengths);
        lengths.into_iter().all(|&length| length == 1)
    }

    /// The elements that it leaves on its rank.
    pub(crate) fn result_length(&self) -> usize {
        let spans = self.result.iter().map(|(_, span)| span.length);
        spans.fold(0, |length, span| length + span)
    }
}

/// The columns of one of `blocks` blocks of a row: the first `width` mod `blocks` have one more.
pub(crate) fn columns(width: usize, blocks: usize, block: usize) -> Range<usize> {
    let start = |block: usize| width / blocks * block + (width % blocks).min(block);
    start(block)..start(block + 1)
}
