//! MPI's own reductions, made reproducible: `MPI_Allreduce` and `MPI_Reduce` with an operation that merges fragments.
//!
//! Merging is associative, as MPI requires of an operation. Merging needs the ranks in order, which MPI guarantees for an operation that
//! does not commute. The result therefore has the tree's bits, whichever tuned, topology-aware algorithm the library chooses. A fragment
//! travels in a slot with a header. The slot has a fixed length, as MPI requires:
//!
//! ```text
//! state  first rank  end of ranks  values of the fragment's nodes, left to right … unused
//! ```
//!
//! There is one slot for each column of a row. The state of a slot with values also says which call its ranks are in.
//!
//! A slot is marked as failed until its values are combined, so that a rank whose operator panics passes on no partial result. A result
//! is valid only if the header of its slot covers all ranks.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;

use distribution::Ownership;
use tree_index::{Node, Tree};

use crate::algorithm::Algorithm;
use crate::engines::terms::Terms;
use crate::engines::values::{self, Values};
use crate::engines::{Engine, Flight, not_offered};
use crate::environment;
use crate::error::RunError;
use crate::operation::Operation;
use crate::world::World;
use crate::world::conversation::Conversation;

/// Number of words before a slot's values.
const HEADER_WORDS: usize = 3;
const HEADER_BYTES: usize = HEADER_WORDS * size_of::<u64>();

/// The slot holds values.
const WHOLE: u64 = 0;
/// The rank in the second word has failed.
const FAILED: u64 = 1;
/// The library has combined the slots of ranks that are not neighbours. This is a bug in the library or in this engine.
const TORN: u64 = 2;
/// The ranks in the other two words are in different calls. The second and the third byte of the state are the calls' kinds.
const MISMATCHED: u64 = 3;

/// The first word of a slot: its state, and the kinds of the calls that its ranks are in.
fn state(state: u64, kinds: [u8; 2]) -> u64 {
    state | u64::from(kinds[0]) << 8 | u64::from(kinds[1]) << 16
}

/// The engine for the transport's own reductions.
pub(crate) struct Native {
    world: World,
    terms: Rc<Terms>,
    values: Rc<dyn Values>,
    conversation: Rc<Conversation>,
    tree: Tree,
    slot_bytes: usize,
    memory: RefCell<NativeMemory>,
}

struct NativeMemory {
    slots: Vec<u8>,
    /// This rank's folded rows.
    rows: values::Memory,
    merging: Merging,
}

/// Two adjacent fragments that are to be merged. Each node has the offset of its value in `values`.
struct Merging {
    nodes: Vec<(Node, usize)>,
    values: Vec<u8>,
}

impl Native {
    pub(crate) fn new(
        world: &World,
        terms: Rc<Terms>,
        values: Rc<dyn Values>,
        conversation: Rc<Conversation>,
    ) -> Self {
        let item_bytes = values.item().size();
        let (tree, width) = (Tree::new(terms.ownership.items()), terms.width);
        // A fragment has at most max(1, 2 ceil(log2 N) - 2) nodes.
        let nodes_max = (2 * tree.height() as usize).max(3) - 2;
        let slot_bytes = HEADER_BYTES + (nodes_max * item_bytes).next_multiple_of(8);
        let memory = NativeMemory {
            slots: vec![0; width * slot_bytes],
            rows: values::Memory::zeroed(nodes_max * width * item_bytes),
            merging: Merging {
                nodes: Vec::with_capacity(2 * nodes_max),
                values: Vec::with_capacity(2 * nodes_max * item_bytes),
            },
        };
        Self {
            world: world.clone(),
            terms,
            values,
            conversation,
            tree,
            slot_bytes,
            memory: RefCell::new(memory),
        }
    }
}

/// The nodes of the fragment that the items of ranks `first..end` make up.
fn fragment(
    tree: Tree,
    ownership: &Ownership,
    [first, end]: [u64; 2],
) -> impl Iterator<Item = Node> {
    let rank = |word: u64| usize::try_from(word).expect("ranks are counted by usize");
    tree.fragment(ownership.union(rank(first)..rank(end)))
}

/// Whether a slot holds values.
fn is_whole(state: u64) -> bool {
    state & 0xFF == WHOLE
}

/// The kind of call that the ranks of a slot with values are in.
fn kind(state: u64) -> u8 {
    state.to_le_bytes()[1]
}

fn read_header(slot: &[u8]) -> [u64; HEADER_WORDS] {
    bytemuck::pod_read_unaligned(&slot[..HEADER_BYTES])
}

fn write_header(slot: &mut [u8], header: [u64; HEADER_WORDS]) {
    slot[..HEADER_BYTES].copy_from_slice(bytemuck::bytes_of(&header));
}

impl Engine for Native {
    fn run(
        &self,
        operation: Operation,
        rows: Result<&[u8], RunError>,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        let root = match operation {
            Operation::Allreduce => None,
            Operation::Reduce => Some(self.terms.root),
            _ => return Err(not_offered(&self.world, &self.terms)),
        };
        let outcome = self.reduce_slots(root, rows.as_ref().ok().copied(), result);
        // This rank's own failure takes precedence over another rank's failure.
        rows.and(outcome)
    }

    fn start(
        &self,
        _operation: Operation,
        _rows: Option<&[u8]>,
    ) -> Result<Rc<dyn Flight>, RunError> {
        Err(not_offered(&self.world, &self.terms))
    }

    fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        let is_offered = matches!(operation, Operation::Reduce | Operation::Allreduce);
        is_offered.then_some(self.terms.choice.algorithm)
    }
}

impl Native {
    fn reduce_slots(
        &self,
        root: Option<usize>,
        local: Option<&[u8]>,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        let rank = self.world.rank();
        let NativeMemory {
            slots,
            rows,
            merging,
        } = &mut *self.memory.borrow_mut();
        // A panic of the operator is caught, because the other ranks wait for this rank's slots in the library.
        let filled = panic::catch_unwind(AssertUnwindSafe(|| match local {
            Some(local) => self.fill(slots, rows.bytes_mut(), local),
            None => self.fill_failed(slots),
        }));
        let deviation = Cell::new(environment::check().err());
        if filled.is_err() || deviation.get().is_some() {
            self.fill_failed(slots);
        }
        let merging = RefCell::new(merging);
        let combine = |left: &[u8], right: &mut [u8]| {
            self.merge(&mut merging.borrow_mut(), left, right);
            // Values that were computed in another environment must not leave this rank.
            if let Err(error) = environment::check() {
                deviation.set(Some(error));
                write_header(right, [FAILED, rank as u64, 0]);
            }
        };
        let reductions = self.world.transport().native_reductions();
        let reductions = reductions.expect("the builder has checked for them");
        let reduced = reductions.reduce_slots(root, slots, self.slot_bytes, &combine);
        if let Err(payload) = filled {
            panic::resume_unwind(payload);
        }
        reduced?;
        if let Some(error) = deviation.get() {
            return Err(RunError::Environment { rank, error });
        }
        if root.is_some_and(|root| root != rank) {
            return Ok(false);
        }
        let item_bytes = self.values.item().size();
        let slots = slots.chunks_exact(self.slot_bytes);
        for (value, slot) in result.chunks_exact_mut(item_bytes).zip(slots) {
            self.check(slot)?;
            value.copy_from_slice(&slot[HEADER_BYTES..][..item_bytes]);
        }
        if self.terms.ownership.items() == 0 {
            self.values.write_empty(result);
        } else {
            self.values.make_canonical(result);
        }
        Ok(true)
    }

    /// Merges the fragments of both slots into `right`. If they cannot be merged, `right` gets a state that says why.
    fn merge(&self, merging: &mut Merging, left: &[u8], right: &mut [u8]) {
        let (tree, ownership) = (self.tree, &self.terms.ownership);
        let (left_header, right_header) = (read_header(left), read_header(right));
        let ([left_state, first, middle], [right_state, start, end]) = (left_header, right_header);
        if !is_whole(left_state) {
            return write_header(right, left_header);
        }
        if !is_whole(right_state) {
            return;
        }
        if left_state != right_state {
            let kinds = [left_state, right_state].map(kind);
            return write_header(right, [state(MISMATCHED, kinds), first, start]);
        }
        let are_neighbours = first < middle && middle == start && start < end;
        if !are_neighbours || end > self.world.size() as u64 {
            return write_header(right, [TORN, first, end]);
        }
        write_header(right, [FAILED, self.world.rank() as u64, 0]);
        let item_bytes = self.values.item().size();
        let Merging { nodes, values } = merging;
        nodes.clear();
        values.clear();
        for (slot, ranks) in [(left, [first, middle]), (&*right, [middle, end])] {
            let items = slot[HEADER_BYTES..].chunks_exact(item_bytes);
            for (node, item) in fragment(tree, ownership, ranks).zip(items) {
                nodes.push((node, values.len()));
                values.extend_from_slice(item);
            }
        }
        // The value of a left child is before the value of the right child.
        let length = tree.merge(nodes, |left, right| {
            let (lefts, rights) = values.split_at_mut(right);
            let left_item = &mut lefts[left..][..item_bytes];
            self.values.combine(left_item, &rights[..item_bytes]);
            left
        });
        let places = right[HEADER_BYTES..].chunks_exact_mut(item_bytes);
        for (place, &(_, start)) in places.zip(&nodes[..length]) {
            place.copy_from_slice(&values[start..][..item_bytes]);
        }
        write_header(right, [left_state, first, end]);
    }

    /// Checks that a slot that the library returns covers all ranks.
    fn check(&self, slot: &[u8]) -> Result<(), RunError> {
        let header = read_header(slot);
        match header {
            [state, 0, end] if state == self.whole() && end == self.world.size() as u64 => Ok(()),
            [FAILED, failed, _] => {
                let rank = usize::try_from(failed).unwrap_or(usize::MAX);
                Err(RunError::RankFailed { rank })
            }
            [state, first, second] if state & 0xFF == MISMATCHED => {
                let [_, first_kind, second_kind, ..] = state.to_le_bytes();
                let (from, kind) = if first_kind == self.conversation.tag().kind() {
                    (second, second_kind)
                } else {
                    (first, first_kind)
                };
                let from = usize::try_from(from).unwrap_or(usize::MAX);
                Err(self.conversation.mismatched(from, kind))
            }
            _ => {
                let rank = self.world.rank();
                Err(RunError::Torn { rank })
            }
        }
    }

    /// The first word of a slot that holds values of the call under way.
    fn whole(&self) -> u64 {
        state(WHOLE, [self.conversation.tag().kind(), 0])
    }

    /// Writes to all slots that this rank has failed.
    fn fill_failed(&self, slots: &mut [u8]) {
        for slot in slots.chunks_exact_mut(self.slot_bytes) {
            write_header(slot, [FAILED, self.world.rank() as u64, 0]);
        }
    }

    /// Fills the slots with this rank's fragment, column by column.
    fn fill(&self, slots: &mut [u8], rows: &mut [u8], local: &[u8]) {
        let item_bytes = self.values.item().size();
        let (rank, row_bytes) = (self.world.rank() as u64, self.terms.width * item_bytes);
        let ranks = [rank, rank + 1];
        let mut folded_rows = 0;
        let mut local = local;
        for (node, row) in
            fragment(self.tree, &self.terms.ownership, ranks).zip(rows.chunks_exact_mut(row_bytes))
        {
            let span = self.tree.span(node);
            let count = usize::try_from(span.end - span.start).expect("rows are in memory");
            let (own, rest) = local.split_at(count * row_bytes);
            self.values.fold_rows(own, row);
            (folded_rows, local) = (folded_rows + 1, rest);
        }
        for (column, slot) in slots.chunks_exact_mut(self.slot_bytes).enumerate() {
            write_header(slot, [self.whole(), rank, rank + 1]);
            let places = slot[HEADER_BYTES..].chunks_exact_mut(item_bytes);
            let rows = rows.chunks_exact(row_bytes).take(folded_rows);
            for (place, row) in places.zip(rows) {
                place.copy_from_slice(&row[column * item_bytes..][..item_bytes]);
            }
        }
    }
}
