//! Replaces workspace offsets by *homes*, the memory where values really are, so that long rows are not copied.
//!
//! This rank's rows stay in the caller's slice, and received values stay in the message's memory. The combinations that make the result
//! write it to the caller's slice. A part that spans several homes is cut, so that a run need not search for homes.

use std::ops::Range;

use super::memory::Located;
use super::program::{Combine, Part, Prefix, Program};

/// Which values a run uses in place, without copying them to its workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InPlace {
    /// Received messages.
    Receives,
    /// Received messages, this rank's rows in the caller's slice, and the result in the caller's slice.
    ReceivesAndCaller,
}

/// A range of workspace offsets whose values are elsewhere.
#[derive(Clone, Copy, Debug)]
struct Elsewhere {
    start: usize,
    length: usize,
    home: Located,
}

impl Program<usize> {
    /// Replaces the offsets of values that stay in place by the values' homes.
    pub(crate) fn locate(self, in_place: InPlace) -> Program<Located> {
        let homes = Homes::of(&self, in_place);
        let mut located = Program {
            local_ranges: self.local_ranges,
            lengths: self.lengths,
            sends: self.sends,
            receives: self.receives,
            workspace_length: self.workspace_length,
            width: self.width,
            ..Program::default()
        };
        for mut step in self.steps {
            let first = located.combines.len();
            for &combine in &self.combines[step.combines] {
                homes.cut_combine(combine, &mut located.combines);
            }
            step.combines = first..located.combines.len();
            located.steps.push(step);
        }
        let first = located.combines.len();
        for &combine in &self.combines[self.last_combines] {
            homes.cut_combine(combine, &mut located.combines);
        }
        located.last_combines = first..located.combines.len();
        for message in located.sends.iter_mut().chain(&mut located.receives) {
            let first = located.parts.len();
            for &part in &self.parts[message.parts.clone()] {
                located.parts.extend(homes.cut(part));
            }
            message.parts = first..located.parts.len();
        }
        located.result = self
            .result
            .iter()
            .flat_map(|&part| homes.cut(part))
            .collect();
        located.prefixes = self
            .prefixes
            .into_iter()
            .map(|prefix| Prefix {
                rows: prefix.rows,
                first_item: prefix.first_item,
                nodes: prefix
                    .nodes
                    .iter()
                    .flat_map(|&part| homes.cut(part))
                    .collect(),
            })
            .collect();
        located.note_combined_on_arrival();
        located
    }
}

impl Program<Located> {
    /// Marks the steps that receive exactly one message, if only the next combinations read that message.
    fn note_combined_on_arrival(&mut self) {
        let operands = |combines: Range<usize>| {
            let combines = self.combines[combines].iter();
            combines.flat_map(|combine| [combine.left, combine.right])
        };
        let prefixes = self.prefixes.iter().flat_map(|prefix| &prefix.nodes);
        let sends = self.sends.iter();
        let sent = sends.flat_map(|send| &self.parts[send.parts.clone()]);
        let parts = prefixes.chain(sent).chain(&self.result);
        let places = operands(0..self.combines.len()).chain(parts.map(|part| part.place));
        let mut readers = vec![0; self.receives.len()];
        for index in places.filter_map(Located::message) {
            readers[index] += 1;
        }
        let is_combined = |step: usize| {
            let receives = &self.steps[step].receives;
            let next = operands(self.combines_after(step)).filter_map(Located::message);
            let next_readers = next.filter(|&index| index == receives.start).count();
            receives.len() == 1 && next_readers > 0 && next_readers == readers[receives.start]
        };
        let are_combined: Vec<bool> = (0..self.steps.len()).map(is_combined).collect();
        for (step, is_combined) in self.steps.iter_mut().zip(are_combined) {
            step.is_combined_on_arrival = is_combined;
        }
    }
}

/// The ranges of the workspace whose values are elsewhere, in ascending order.
struct Homes(Vec<Elsewhere>);

impl Homes {
    fn of(program: &Program<usize>, in_place: InPlace) -> Self {
        let messages = program.receives.iter().enumerate();
        let mut homes: Vec<Elsewhere> = messages
            .map(|(index, message)| {
                let Part { place, length } = program.parts[message.parts.start];
                Elsewhere {
                    start: place,
                    length,
                    home: Located::Message { index, start: 0 },
                }
            })
            .collect();
        if in_place == InPlace::ReceivesAndCaller {
            let length = program.width;
            let starts = program.local_ranges.iter().flat_map(|local| {
                (0..local.lengths.len()).map(move |node| local.start + node * length)
            });
            homes.extend(starts.enumerate().map(|(index, start)| Elsewhere {
                start,
                length,
                home: Located::OwnNode { index, start: 0 },
            }));
        }
        let mut homes = Self(homes);
        homes.sort();
        if in_place == InPlace::ReceivesAndCaller {
            // The caller's slice is the home of all other parts of the result, because no combination reads a part of the result.
            let mut offset = 0;
            let mut made = Vec::new();
            for &Part { place, length } in &program.result {
                if homes.leading_piece(place, length).home.is_none() {
                    made.push(Elsewhere {
                        start: place,
                        length,
                        home: Located::Result(offset),
                    });
                }
                offset += length;
            }
            homes.0.extend(made);
            homes.sort();
        }
        homes
    }

    fn sort(&mut self) {
        self.0.sort_unstable_by_key(|elsewhere| elsewhere.start);
    }

    /// The longest piece with a single home at the start of a part. The home `None` is the workspace.
    fn leading_piece(&self, place: usize, length: usize) -> LeadingPiece {
        let following = self.0.partition_point(|elsewhere| elsewhere.start <= place);
        let before = following.checked_sub(1).map(|index| self.0[index]);
        if let Some(Elsewhere {
            start,
            length: whole,
            home,
        }) = before
            && let Some(left) = (start + whole).checked_sub(place)
            && left > 0
        {
            return LeadingPiece {
                home: Some(home.advanced_by(place - start)),
                length: length.min(left),
            };
        }
        let next = self.0.get(following).map(|next| next.start);
        LeadingPiece {
            home: None,
            length: next.map_or(length, |next| length.min(next - place)),
        }
    }

    /// Cuts a part into pieces that have one home each.
    fn cut(&self, part: Part<usize>) -> impl Iterator<Item = Part<Located>> {
        let mut rest = part;
        std::iter::from_fn(move || {
            if rest.length == 0 {
                return None;
            }
            let LeadingPiece { home, length } = self.leading_piece(rest.place, rest.length);
            let place = home.unwrap_or(Located::Workspace(rest.place));
            rest.place += length;
            rest.length -= length;
            Some(Part { place, length })
        })
    }

    /// Cuts a combination into pieces, so that each operand of a piece has one home.
    fn cut_combine(&self, combine: Combine<usize>, pieces: &mut Vec<Combine<Located>>) {
        let mut done = 0;
        while done < combine.length {
            let leading = |place: usize| {
                let LeadingPiece { home, length } =
                    self.leading_piece(place + done, combine.length - done);
                (home.unwrap_or(Located::Workspace(place + done)), length)
            };
            let (left, left_length) = leading(combine.left);
            let (right, right_length) = leading(combine.right);
            let (into, into_length) = leading(combine.into);
            let length = left_length.min(right_length).min(into_length);
            pieces.push(Combine {
                left,
                right,
                into,
                length,
            });
            done += length;
        }
    }
}

struct LeadingPiece {
    home: Option<Located>,
    length: usize,
}

impl Located {
    /// The number of the message that holds the place.
    fn message(self) -> Option<usize> {
        match self {
            Located::Message { index, .. } => Some(index),
            _ => None,
        }
    }

    /// The place `skipped` bytes further on.
    fn advanced_by(self, skipped: usize) -> Self {
        match self {
            Located::Workspace(start) => Located::Workspace(start + skipped),
            Located::Message { index, start } => Located::Message {
                index,
                start: start + skipped,
            },
            Located::OwnNode { index, start } => Located::OwnNode {
                index,
                start: start + skipped,
            },
            Located::Result(start) => Located::Result(start + skipped),
        }
    }
}
