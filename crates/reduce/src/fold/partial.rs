//! Partial reductions: the contribution of some of the items, as a value that can be kept, sent and merged.

use std::iter;
use std::ops::Range;

use comm::text::counted;
use tree_index::{Node, Tree};

use super::empty;
use crate::environment;
use crate::error::FoldError;
use crate::operator::Operator;

/// The contribution of some of N items to the reduction of all N items: the reductions of the largest subtrees that these items fill.
///
/// Partials of different items can be [merged](Partial::merge), in any grouping. The partial of all items has the bits of
/// [`fold`](crate::fold). A pool of processes can therefore reduce items, or a file can be read in pieces, and the result does not depend
/// on the pieces. A contiguous range of items fills at most 2 log2(N) such subtrees.
///
/// Items may be rows of `width` values, which are reduced element by element. A partial knows the name of its operator, and does not merge
/// with a partial of another operator.
///
/// ```
/// use reduce::{Partial, Sum};
///
/// let items = [0.1, 0.2, 0.3, 0.4, 0.5];
/// let first = Partial::new(&items[..3], 0, 5, &Sum)?;
/// let last = Partial::new(&items[3..], 3, 5, &Sum)?;
/// assert_eq!(last.merge(&first, &Sum)?.result(&Sum)?, [reduce::sum(&items)?]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Partial<T> {
    tree: Tree,
    width: usize,
    /// The operator's name.
    operator: String,
    /// The subtrees, from left to right, with their rows.
    nodes: Vec<(Node, Vec<T>)>,
}

/// Why items cannot form a [`Partial`], why partials cannot be merged, or why a partial has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartialError {
    /// A range contains numbers that no item has.
    #[error("there are no items {start}..{end}: the items are 0..{total}")]
    Range {
        /// The first item of the range.
        start: u64,
        /// The number after the last item of the range.
        end: u128,
        /// The number of all items.
        total: u64,
    },
    /// The number of rows is not the number of items in the ranges.
    #[error("the number of rows is {found}, but the ranges have {}", counted(.ranges, "item"))]
    Rows {
        /// The number of items in the ranges.
        ranges: u128,
        /// The number of rows.
        found: u64,
    },
    /// An item occurs twice.
    #[error("item {item} occurs twice")]
    Overlap {
        /// The first such item.
        item: u64,
    },
    /// The partials belong to different reductions.
    #[error(
        "a partial of {} of {} cannot be merged with one of {} of {other_width}",
        counted(.total, "item"), counted(.width, "value"), counted(.other_total, "item")
    )]
    Differs {
        /// The number of all items.
        total: u64,
        /// The number of values of an item.
        width: usize,
        /// The number of all items, in the other partial.
        other_total: u64,
        /// The number of values of an item, in the other partial.
        other_width: usize,
    },
    /// A partial belongs to another operator.
    #[error("the partial is of operator `{own}`, not of `{other}`")]
    OtherOperator {
        /// The partial's operator.
        own: String,
        /// The operator of the call, or of the other partial.
        other: String,
    },
    /// Items are missing.
    #[error("the partial has {found} of {}; item {missing} is missing", counted(.total, "item"))]
    Incomplete {
        /// The number of items that the partial has.
        found: u64,
        /// The number of all items.
        total: u64,
        /// The first item that is missing.
        missing: u64,
    },
    /// A node cannot follow the previous nodes of a partial.
    #[error(
        "in a partial of {}, the subtree of height {y} at item {x} cannot come next, or its row has the wrong length",
        counted(.total, "item")
    )]
    Node {
        /// The node's first item.
        x: u64,
        /// The node's height.
        y: u32,
        /// The number of all items.
        total: u64,
    },
    /// The reduction of items failed.
    #[error(transparent)]
    Fold(#[from] FoldError),
}

impl<T: Copy + 'static> Partial<T> {
    /// The partial of `items`, which are numbered from `start` on, out of `total` items in all.
    ///
    /// # Errors
    /// Those of [`of_rows`](Partial::of_rows).
    pub fn new<O: Operator<T>>(
        items: &[T],
        start: u64,
        total: u64,
        operator: &O,
    ) -> Result<Self, PartialError> {
        let end = u128::from(start) + items.len() as u128;
        let Ok(end) = u64::try_from(end) else {
            return Err(PartialError::Range { start, end, total });
        };
        Self::of_rows(items, 1, iter::once(start..end), total, operator)
    }

    /// The partial of items that are rows of `width` values, out of `total` items in all. The ranges hold the items' numbers, in the order of
    /// the rows.
    ///
    /// # Errors
    /// A range contains numbers that no item has; ranges overlap; the number of items in the ranges is not the number of rows; or this
    /// thread's floating-point environment is not IEEE 754's default.
    pub fn of_rows<O: Operator<T>>(
        rows: &[T],
        width: usize,
        ranges: impl IntoIterator<Item = Range<u64>>,
        total: u64,
        operator: &O,
    ) -> Result<Self, PartialError> {
        environment::check().map_err(FoldError::from)?;
        super::rows::check_width(rows, width)?;
        let found = (rows.len() / width) as u64;
        let pieces = pieces(&mut ranges.into_iter(), found, total)?;
        let tree = Tree::new(total);
        let mut scratch = Vec::new();
        let mut nodes = Vec::new();
        for (range, first_row) in pieces {
            let index = |item: u64| {
                let row = usize::try_from(u128::from(item - range.start) + first_row);
                row.expect("the rows are in memory") * width
            };
            for node in tree.subtree_roots(range.clone()) {
                let span = tree.span(node);
                let rows = &rows[index(span.start)..index(span.end)];
                nodes.push((node, reduced(rows, width, &mut scratch, operator)));
            }
        }
        Self::merged(tree, width, nodes, operator)
    }

    /// The partial of the items of both partials.
    ///
    /// # Errors
    /// The partials differ in their number of items or values, or belong to another operator; an item is in both; or this thread's
    /// floating-point environment is not IEEE 754's default.
    pub fn merge<O: Operator<T>>(&self, other: &Self, operator: &O) -> Result<Self, PartialError> {
        environment::check().map_err(FoldError::from)?;
        self.check_operator(operator.name())?;
        other.check_operator(operator.name())?;
        if (self.tree, self.width) != (other.tree, other.width) {
            return Err(PartialError::Differs {
                total: self.total(),
                width: self.width,
                other_total: other.total(),
                other_width: other.width,
            });
        }
        let both: Vec<_> = self.nodes.iter().chain(&other.nodes).collect();
        let order = ascending(self.tree, both.iter().map(|(node, _)| *node).collect())?;
        let nodes = order.into_iter().map(|place| both[place].clone());
        Self::merged(self.tree, self.width, nodes.collect(), operator)
    }

    fn merged<O: Operator<T>>(
        tree: Tree,
        width: usize,
        mut nodes: Vec<(Node, Vec<T>)>,
        operator: &O,
    ) -> Result<Self, PartialError> {
        let length = tree.merge(&mut nodes, |left: Vec<T>, right| {
            let mut row = left.clone();
            operator.combine_rows(&left, &right, &mut row);
            row
        });
        nodes.truncate(length);
        // An operator may have changed the environment.
        environment::check().map_err(FoldError::from)?;
        Ok(Self {
            tree,
            width,
            operator: operator.name().to_owned(),
            nodes,
        })
    }

    fn check_operator(&self, other: &str) -> Result<(), PartialError> {
        if self.operator == other {
            return Ok(());
        }
        Err(PartialError::OtherOperator {
            own: self.operator.clone(),
            other: other.to_owned(),
        })
    }

    /// The reduction of all N items, as a row.
    ///
    /// # Errors
    /// The partial belongs to another operator; items are missing; or N is 0 and the operator has no empty value.
    pub fn result<O: Operator<T>>(&self, operator: &O) -> Result<Vec<T>, PartialError> {
        self.check_operator(operator.name())?;
        if self.total() == 0 {
            return Ok(vec![empty(operator)?; self.width]);
        }
        match &self.nodes[..] {
            [(node, row)] if self.tree.root() == Some(*node) => {
                let row = row.iter().map(|&value| operator.canonical(value));
                Ok(row.collect())
            }
            _ => Err(self.incomplete()),
        }
    }

    fn incomplete(&self) -> PartialError {
        let spans = self.nodes.iter().map(|&(node, _)| self.tree.span(node));
        let (mut found, mut missing) = (0, 0);
        for span in spans {
            if span.start == missing {
                missing = span.end;
            }
            found += span.end - span.start;
        }
        let total = self.total();
        PartialError::Incomplete {
            found,
            total,
            missing,
        }
    }

    /// N, the number of all items.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.tree.items()
    }

    /// The number of values of an item.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The name of the operator.
    #[must_use]
    pub fn operator(&self) -> &str {
        &self.operator
    }

    /// The subtrees, from left to right: first item, height, and row. [`from_nodes`](Partial::from_nodes) is the inverse.
    pub fn nodes(&self) -> impl Iterator<Item = (u64, u32, &[T])> {
        let nodes = self.nodes.iter();
        nodes.map(|(node, row)| (node.x, node.y, &row[..]))
    }

    /// Restores a partial from its [`nodes`](Partial::nodes), which may come from another process, and from its [width](Partial::width),
    /// its [total](Partial::total) and the name of its [operator](Partial::operator).
    ///
    /// # Errors
    /// The nodes are not subtrees of `total` items, are not in order from left to right, overlap, are not the largest subtrees, or have rows
    /// of another width.
    pub fn from_nodes(
        nodes: impl IntoIterator<Item = (u64, u32, Vec<T>)>,
        width: usize,
        total: u64,
        operator: &str,
    ) -> Result<Self, PartialError> {
        let tree = Tree::new(total);
        let (mut end, mut last) = (0, None);
        let nodes = nodes.into_iter().map(|(x, y, row)| {
            let node = Node { x, y };
            let is_node = (end..total).contains(&x) && y <= tree.max_y(x) && row.len() == width;
            let is_largest = |last| tree.join(last, node).is_none();
            if !is_node || !last.is_none_or(is_largest) {
                return Err(PartialError::Node { x, y, total });
            }
            end = tree.span(node).end;
            last = Some(node);
            Ok((node, row))
        });
        let nodes = nodes.collect::<Result<_, _>>()?;
        Ok(Self {
            tree,
            width,
            operator: operator.to_owned(),
            nodes,
        })
    }
}

/// The ranges that are not empty, in ascending order, each with the index of its first row. Checks that they have `found` items.
fn pieces(
    ranges: &mut dyn Iterator<Item = Range<u64>>,
    found: u64,
    total: u64,
) -> Result<Vec<(Range<u64>, u128)>, PartialError> {
    let mut pieces = Vec::new();
    let mut first_row = 0_u128;
    for range in ranges {
        let Range { start, end } = range;
        if start > end || end > total {
            let end = end.into();
            return Err(PartialError::Range { start, end, total });
        }
        pieces.push((range, first_row));
        // Ranges may overlap, so the sum of their lengths may exceed 64 bits.
        first_row += u128::from(end - start);
    }
    if u128::from(found) != first_row {
        let ranges = first_row;
        return Err(PartialError::Rows { ranges, found });
    }
    pieces.retain(|(range, _)| !range.is_empty());
    pieces.sort_unstable_by_key(|(range, _)| range.start);
    if let Some(pair) = pieces
        .windows(2)
        .find(|pair| pair[0].0.end > pair[1].0.start)
    {
        let item = pair[1].0.start;
        return Err(PartialError::Overlap { item });
    }
    Ok(pieces)
}

/// The indices of nodes, ordered from left to right; an error if two nodes have an item in common.
fn ascending(tree: Tree, nodes: Vec<Node>) -> Result<Vec<usize>, PartialError> {
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_unstable_by_key(|&place| nodes[place]);
    let spans = || order.iter().map(|&place| tree.span(nodes[place]));
    let mut pairs = spans().zip(spans().skip(1));
    match pairs.find(|(left, right)| left.end > right.start) {
        Some((_, Range { start: item, .. })) => Err(PartialError::Overlap { item }),
        None => Ok(order),
    }
}

/// The reduction of at least one row.
fn reduced<T: Copy + 'static, O: Operator<T>>(
    rows: &[T],
    width: usize,
    scratch: &mut Vec<T>,
    operator: &O,
) -> Vec<T> {
    if width == 1 {
        return vec![operator.fold(rows).expect(NOT_EMPTY)];
    }
    let mut row = rows[..width].to_vec();
    let folded = operator.fold_rows(rows, width, scratch, &mut row);
    folded.expect(NOT_EMPTY);
    row
}

const NOT_EMPTY: &str = "a subtree has items";
