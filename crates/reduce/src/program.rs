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

/// A received message that stays in its own memory, and the places that stand for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) span: Span,
    /// Which of the program's receives.
    pub(crate) receive: usize,
}

/// Values that lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Whose memory: a kept message's, or else the workspace.
    pub(crate) kept: Option<usize>,
    /// From where on in there.
    pub(crate) start: usize,
    /// So many at most.
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
    /// The messages that are not copied into the workspace, by their places.
    pub(crate) kept: Vec<Kept>,
    /// Elements of a row.
    pub(crate) width: usize,
}

impl Program {
    /// Where the values of these places are, as far as they lie together.
    pub(crate) fn part(&self, places: Span) -> Part {
        let behind = self
            .kept
            .partition_point(|kept| kept.span.start <= places.start);
        let before = behind.checked_sub(1).map(|index| self.kept[index]);
        if let Some(Kept { span, receive }) = before
            && let Some(left) = (span.start + span.length).checked_sub(places.start)
            && left > 0
        {
            return Part {
                kept: Some(receive),
                start: places.start - span.start,
                length: places.length.min(left),
            };
        }
        let next = self.kept.get(behind).map(|kept| kept.span.start);
        let length = next.map_or(places.length, |next| places.length.min(next - places.start));
        Part {
            kept: None,
            start: places.start,
            length,
        }
    }
}

/// The columns of one of `blocks` blocks of a row: the first `width` mod `blocks` have one more.
pub(crate) fn columns(width: usize, blocks: usize, block: usize) -> Range<usize> {
    let start = |block: usize| width / blocks * block + (width % blocks).min(block);
    start(block)..start(block + 1)
}
