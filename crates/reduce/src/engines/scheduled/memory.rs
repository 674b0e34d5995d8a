//! Where the values of a run are: in its workspace and, for long rows, also in messages and in the caller's slices.

use super::buffer::Buffer;
use super::program::{Combine, Part};
use crate::engines::values::Values;

/// All memory that holds values of a run.
#[derive(Debug)]
pub(crate) struct RunMemory<'m> {
    pub(crate) workspace: &'m mut [u8],
    pub(crate) receives: &'m [Buffer],
    /// A received message that is not in its buffer, with its number among the receives.
    pub(crate) arrived: Option<(usize, &'m [u8])>,
    /// Whole rows: the reductions of this rank's own nodes, in order.
    pub(crate) own_nodes: &'m [u8],
    /// A whole row, or the columns of this rank.
    pub(crate) result: &'m mut [u8],
    /// The length of a whole row, in bytes.
    pub(crate) row: usize,
    /// The strip's offset in a row, in bytes.
    pub(crate) first_column: usize,
}

/// Where a value of a run is: [`Packed`] or [`Located`].
pub(crate) trait Place: Copy + 'static {
    /// Copies the values of a received message to their place or, if they stay in the message, aligns the message.
    fn take_in(part: Part<Self>, message: &mut Buffer, workspace: &mut [u8], alignment: usize);

    /// Like [`take_in`](Place::take_in), for a message that is not in its buffer.
    fn take_in_bytes(
        part: Part<Self>,
        bytes: &[u8],
        message: &mut Buffer,
        workspace: &mut [u8],
        alignment: usize,
    );

    /// Whether the place is in the result, so that combinations write the value there directly.
    fn is_in_result(self) -> bool;

    /// The values of a part.
    fn read<'m>(part: Part<Self>, memory: &'m RunMemory<'_>) -> &'m [u8];

    /// Performs combinations, one after the other.
    fn combine(combines: &[Combine<Self>], memory: &mut RunMemory<'_>, values: &dyn Values);
}

/// An offset in the workspace, for a run that has all its values there.
pub(crate) type Packed = usize;

impl Place for Packed {
    fn take_in(part: Part<Self>, message: &mut Buffer, workspace: &mut [u8], _alignment: usize) {
        workspace[part.place..][..part.length].copy_from_slice(&message.memory);
    }

    #[inline]
    fn take_in_bytes(
        part: Part<Self>,
        bytes: &[u8],
        _message: &mut Buffer,
        workspace: &mut [u8],
        _alignment: usize,
    ) {
        workspace[part.place..][..part.length].copy_from_slice(bytes);
    }

    fn is_in_result(self) -> bool {
        false
    }

    #[inline]
    fn read<'m>(part: Part<Self>, memory: &'m RunMemory<'_>) -> &'m [u8] {
        &memory.workspace[part.place..][..part.length]
    }

    #[inline]
    fn combine(combines: &[Combine<Self>], memory: &mut RunMemory<'_>, values: &dyn Values) {
        values.combine_all(combines, memory.workspace);
    }
}

/// Where a value of a long row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Located {
    /// In the workspace, from this byte on.
    Workspace(usize),
    /// In a received message, from this byte on.
    Message { index: usize, start: usize },
    /// In the row of one of this rank's own nodes, from this byte of the strip on.
    OwnNode { index: usize, start: usize },
    /// In the result, from this byte of the strip on.
    Result(usize),
}

impl Located {
    /// The values in a message or an own node; `None` for values in the workspace or the result.
    fn outside<'m>(
        self,
        length: usize,
        receives: &'m [Buffer],
        arrived: Option<(usize, &'m [u8])>,
        own_nodes: &'m [u8],
        node_start: impl Fn(usize) -> usize,
    ) -> Option<&'m [u8]> {
        match self {
            Located::Message { index, start } => {
                let values = match arrived {
                    Some((arrived, values)) if arrived == index => values,
                    _ => receives[index].values(),
                };
                Some(&values[start..][..length])
            }
            Located::OwnNode { index, start } => {
                Some(&own_nodes[node_start(index) + start..][..length])
            }
            Located::Workspace(_) | Located::Result(_) => None,
        }
    }

    /// The range of the workspace that has the value.
    fn in_workspace(self, length: usize) -> std::ops::Range<usize> {
        match self {
            Located::Workspace(start) => start..start + length,
            _ => {
                unreachable!("messages and own nodes are outside, and no operand is in the result")
            }
        }
    }
}

impl Place for Located {
    fn take_in(_part: Part<Self>, message: &mut Buffer, _workspace: &mut [u8], alignment: usize) {
        message.align(alignment);
    }

    fn take_in_bytes(
        part: Part<Self>,
        bytes: &[u8],
        message: &mut Buffer,
        workspace: &mut [u8],
        alignment: usize,
    ) {
        message.fill(bytes);
        Self::take_in(part, message, workspace, alignment);
    }

    fn is_in_result(self) -> bool {
        matches!(self, Located::Result(_))
    }

    fn read<'m>(part: Part<Self>, memory: &'m RunMemory<'_>) -> &'m [u8] {
        let node_start = |index: usize| index * memory.row + memory.first_column;
        let Part { place, length } = part;
        match place {
            Located::Workspace(start) => &memory.workspace[start..][..length],
            Located::Result(start) => &memory.result[memory.first_column + start..][..length],
            outside => outside
                .outside(
                    length,
                    memory.receives,
                    memory.arrived,
                    memory.own_nodes,
                    node_start,
                )
                .expect("it is neither in the workspace nor in the result"),
        }
    }

    fn combine(combines: &[Combine<Self>], memory: &mut RunMemory<'_>, values: &dyn Values) {
        let apart = "every value has a place of its own";
        let (receives, arrived, own_nodes) = (memory.receives, memory.arrived, memory.own_nodes);
        let (row, first_column) = (memory.row, memory.first_column);
        let outside = |place: Located, length| {
            place.outside(length, receives, arrived, own_nodes, |index| {
                index * row + first_column
            })
        };
        let workspace = &mut *memory.workspace;
        for &Combine {
            left,
            right,
            into,
            length,
        } in combines
        {
            let (values_left, values_right) = (outside(left, length), outside(right, length));
            if let Located::Result(start) = into {
                let left = values_left.unwrap_or_else(|| &workspace[left.in_workspace(length)]);
                let right = values_right.unwrap_or_else(|| &workspace[right.in_workspace(length)]);
                let into = &mut memory.result[first_column + start..][..length];
                values.combine_rows_canonical(left, right, into);
                continue;
            }
            let into = into.in_workspace(length);
            match (values_left, values_right) {
                (None, None) => {
                    let ranges = [left.in_workspace(length), right.in_workspace(length), into];
                    let [left, right, into] = workspace.get_disjoint_mut(ranges).expect(apart);
                    values.combine_rows(left, right, into);
                }
                (Some(left), None) => {
                    let ranges = [right.in_workspace(length), into];
                    let [right, into] = workspace.get_disjoint_mut(ranges).expect(apart);
                    values.combine_rows(left, right, into);
                }
                (None, Some(right)) => {
                    let ranges = [left.in_workspace(length), into];
                    let [left, into] = workspace.get_disjoint_mut(ranges).expect(apart);
                    values.combine_rows(left, right, into);
                }
                (Some(left), Some(right)) => {
                    values.combine_rows(left, right, &mut workspace[into]);
                }
            }
        }
    }
}
