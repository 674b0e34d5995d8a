//! Where the values of a run are: most in its workspace, those of wide rows where they came from or go to.
//!
//! A value of a wide row is not worth a copy. The own rows stay in the caller's slice, what is received in the message's memory,
//! and the combinations that make the result go right there. A program names all of them by places, as if they were in the
//! workspace; [`Elsewhere`](crate::program::Elsewhere) says which are not.

use bytemuck::Pod;

use crate::buffer::Buffer;
use crate::operator::Operator;
use crate::program::{Combine, Home, Part, Program, Span};

/// What a run reads where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources<'m, T> {
    pub(crate) program: &'m Program,
    pub(crate) receives: &'m [Buffer],
    /// Whole rows: the reductions of the own nodes, in order.
    pub(crate) leaves: &'m [T],
    /// The elements of a whole row.
    pub(crate) row: usize,
    /// The first column that the program is about.
    pub(crate) first_column: usize,
}

/// The values of a run.
#[derive(Debug)]
pub(crate) struct Memory<'m, T> {
    pub(crate) sources: Sources<'m, T>,
    pub(crate) workspace: &'m mut [T],
    /// A whole row, or the columns of this rank.
    pub(crate) result: &'m mut [T],
}

impl<'m, T: Pod> Sources<'m, T> {
    /// Where the values of these places are, as far as they lie together.
    fn part(&self, places: Span) -> Part {
        let part = self.program.part(places);
        match part.home {
            // Memory that is not aligned for the values is copied.
            Some(Home::Message(index)) if self.receives[index].values::<T>().is_none() => Part {
                home: None,
                start: places.start,
                ..part
            },
            _ => part,
        }
    }

    /// The values of a part that is neither in the workspace nor in the result.
    fn values(&self, part: Part) -> Option<&'m [T]> {
        let start = match part.home? {
            Home::Message(index) => {
                return self.receives[index]
                    .values()
                    .map(|values| &values[part.start..][..part.length]);
            }
            Home::Leaf(leaf) => leaf * self.row + self.first_column + part.start,
            Home::Result(_) => return None,
        };
        Some(&self.leaves[start..][..part.length])
    }
}

impl<T: Pod> Memory<'_, T> {
    /// The values of these places, piece by piece.
    pub(crate) fn pieces(&self, places: Span) -> impl Iterator<Item = &[T]> {
        let mut rest = places;
        std::iter::from_fn(move || {
            if rest.length == 0 {
                return None;
            }
            let part = self.sources.part(rest);
            rest = rest.behind(part.length);
            Some(self.read(part))
        })
    }

    fn read(&self, part: Part) -> &[T] {
        if let Some(values) = self.sources.values(part) {
            return values;
        }
        match part.home {
            Some(Home::Result(offset)) => {
                let start = self.sources.first_column + offset + part.start;
                &self.result[start..][..part.length]
            }
            _ => &self.workspace[part.start..][..part.length],
        }
    }

    /// Combines two rows, each of which may lie in several parts, into a third; where that is the result, in canonical form.
    pub(crate) fn combine<O: Operator<T>>(&mut self, operator: &O, combine: Combine) {
        let sources = self.sources;
        let mut done = 0;
        while done < combine.length {
            let part = |start: usize| {
                sources.part(Span {
                    start: start + done,
                    length: combine.length - done,
                })
            };
            let (left, right, into) = (part(combine.left), part(combine.right), part(combine.into));
            let length = left.length.min(right.length).min(into.length);
            done += length;
            let [left, right, into] = [left, right, into].map(|part| Part { length, ..part });
            let range = |part: Part| part.start..part.start + length;
            let apart = "every value has a place of its own";
            let (values_left, values_right) = (sources.values(left), sources.values(right));
            if let Some(Home::Result(offset)) = into.home {
                let workspace = &*self.workspace;
                let left = values_left.unwrap_or_else(|| &workspace[range(left)]);
                let right = values_right.unwrap_or_else(|| &workspace[range(right)]);
                let start = sources.first_column + offset + into.start;
                let into = &mut self.result[start..][..length];
                operator.combine_rows_canonical(left, right, into);
                continue;
            }
            match (values_left, values_right) {
                (None, None) => {
                    let ranges = [range(left), range(right), range(into)];
                    let [left, right, into] = self.workspace.get_disjoint_mut(ranges).expect(apart);
                    operator.combine_rows(left, right, into);
                }
                (Some(values), None) => {
                    let ranges = [range(right), range(into)];
                    let [right, into] = self.workspace.get_disjoint_mut(ranges).expect(apart);
                    operator.combine_rows(values, right, into);
                }
                (None, Some(values)) => {
                    let ranges = [range(left), range(into)];
                    let [left, into] = self.workspace.get_disjoint_mut(ranges).expect(apart);
                    operator.combine_rows(left, values, into);
                }
                (Some(left), Some(right)) => {
                    operator.combine_rows(left, right, &mut self.workspace[range(into)]);
                }
            }
        }
    }

    /// Brings what the program wanted to the result, in canonical form, as far as it is not made there.
    pub(crate) fn deliver<O: Operator<T>>(&mut self, operator: &O) {
        let program = self.sources.program;
        let mut start = self.sources.first_column;
        for &(_, span) in &program.result {
            let mut rest = span;
            while rest.length > 0 {
                let part = self.sources.part(rest);
                if !matches!(part.home, Some(Home::Result(_))) {
                    let values = self.sources.values(part);
                    let values =
                        values.unwrap_or_else(|| &self.workspace[part.start..][..part.length]);
                    let into = &mut self.result[start..][..part.length];
                    operator.copy_canonical(values, into);
                }
                start += part.length;
                rest = rest.behind(part.length);
            }
        }
    }
}
