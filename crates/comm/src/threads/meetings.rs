//! Meetings, in which ranks agree or shrink their communicator even if ranks are lost. A meeting ends when every rank has come or left.

use std::sync::Arc;

use super::group::Group;
use super::network::{Network, Outcome, Purpose, Successor};
use crate::error::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Elsewhere,
    Here(Purpose),
    Left,
}

/// The meetings of every group of a network's ranks.
#[derive(Debug)]
pub(super) struct AllMeetings {
    ranks: usize,
    has_left: Vec<bool>,
    groups: Vec<Meetings>,
}

impl AllMeetings {
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            ranks,
            has_left: vec![false; ranks],
            groups: Vec::new(),
        }
    }

    /// The meetings of a group.
    pub(super) fn of(&mut self, group: &Group) -> &mut Meetings {
        let found = self
            .groups
            .iter()
            .position(|meetings| meetings.group == *group);
        let index = found.unwrap_or_else(|| {
            self.groups
                .push(Meetings::new(group, self.ranks, &self.has_left));
            self.groups.len() - 1
        });
        &mut self.groups[index]
    }

    /// Whether more than `before_count` meetings of a group have ended.
    pub(super) fn has_ended(&self, group: &Group, before_count: u64) -> bool {
        let mut groups = self.groups.iter();
        groups.any(|meetings| meetings.group == *group && meetings.ended_count > before_count)
    }

    /// The networks of surviving ranks that meetings have made.
    pub(super) fn successors(&self) -> Vec<Successor> {
        let successors = self.groups.iter().flat_map(|meetings| &meetings.successors);
        successors.cloned().collect()
    }

    /// The number of meetings that have ended.
    pub(super) fn ended_count(&self) -> u64 {
        self.groups
            .iter()
            .fold(0, |count, meetings| count + meetings.ended_count)
    }

    /// Notes that a rank has left. If that ends meetings, returns the ranks that came to them.
    pub(super) fn leave(
        &mut self,
        rank: usize,
        make: impl Fn(usize) -> Arc<dyn Network>,
    ) -> Vec<usize> {
        self.has_left[rank] = true;
        let groups = self.groups.iter_mut();
        let ended = groups.filter_map(|meetings| meetings.leave(rank, &make));
        ended.flatten().collect()
    }

    /// Whether every rank waits in a meeting or has left.
    pub(super) fn have_all_ranks(&self) -> bool {
        let is_here = |rank: usize| {
            let mut groups = self.groups.iter();
            groups.any(|meetings| matches!(meetings.places[rank], Place::Here(_)))
        };
        (0..self.ranks).all(|rank| self.has_left[rank] || is_here(rank))
    }

    /// Ends all meetings, when no rank can go on. Returns the ranks that were in meetings.
    pub(super) fn give_up(&mut self) -> Vec<usize> {
        let waits: Vec<String> = self.groups.iter().flat_map(Meetings::waits).collect();
        let failure = Error::Deadlock(waits.join(", "));
        let groups = self.groups.iter_mut();
        let ended = groups.filter_map(|meetings| meetings.give_up(&failure));
        ended.flatten().collect()
    }
}

/// The meetings of a group, one after the other. Ranks are given by their numbers in the network.
#[derive(Debug)]
pub(super) struct Meetings {
    group: Group,
    members_count: usize,
    places: Vec<Place>,
    ended_count: u64,
    /// The outcome of the last meeting. All ranks see it before the next meeting ends, since each must come to the next meeting or leave.
    outcome: Option<Outcome>,
    successors: Vec<Successor>,
}

impl Meetings {
    fn new(group: &Group, ranks: usize, has_left: &[bool]) -> Self {
        let place = |rank| {
            if group.has(rank) && !has_left[rank] {
                Place::Elsewhere
            } else {
                Place::Left
            }
        };
        Self {
            group: group.clone(),
            members_count: (0..ranks).filter(|&rank| group.has(rank)).count(),
            places: (0..ranks).map(place).collect(),
            ended_count: 0,
            outcome: None,
            successors: Vec::new(),
        }
    }

    /// The number of meetings that have ended.
    pub(super) fn ended_count(&self) -> u64 {
        self.ended_count
    }

    /// The outcome of the last meeting.
    ///
    /// # Panics
    /// No meeting has ended.
    pub(super) fn outcome(&self) -> Outcome {
        self.outcome.clone().expect("a meeting has ended")
    }

    /// Notes that a rank has come. If that ends the meeting, returns the ranks that came; `make` makes a network of that size.
    pub(super) fn come(
        &mut self,
        rank: usize,
        purpose: Purpose,
        make: impl FnOnce(usize) -> Arc<dyn Network>,
    ) -> Option<Vec<usize>> {
        self.places[rank] = Place::Here(purpose);
        self.end_if_complete(make)
    }

    /// Notes that a rank has left. Returns what [`come`](Meetings::come) returns.
    fn leave(
        &mut self,
        rank: usize,
        make: impl FnOnce(usize) -> Arc<dyn Network>,
    ) -> Option<Vec<usize>> {
        self.places[rank] = Place::Left;
        self.end_if_complete(make)
    }

    fn end_if_complete(
        &mut self,
        make: impl FnOnce(usize) -> Arc<dyn Network>,
    ) -> Option<Vec<usize>> {
        let here = self.here();
        if here.is_empty() || self.places.contains(&Place::Elsewhere) {
            return None;
        }
        let all_came_to = |purpose| {
            here.iter()
                .all(|&rank| self.places[rank] == Place::Here(purpose))
        };
        let all_agreed = here.len() == self.members_count && all_came_to(Purpose::Agree(true));
        let shrunk = all_came_to(Purpose::Shrink).then(|| Successor {
            network: make(here.len()),
            ranks: here.as_slice().into(),
        });
        self.successors.extend(shrunk.clone());
        self.end(
            &here,
            Outcome {
                all_agreed,
                shrunk,
                failure: None,
            },
        );
        Some(here)
    }

    fn here(&self) -> Vec<usize> {
        let is_here = |&rank: &usize| matches!(self.places[rank], Place::Here(_));
        (0..self.places.len()).filter(is_here).collect()
    }

    fn end(&mut self, here: &[usize], outcome: Outcome) {
        self.outcome = Some(outcome);
        self.ended_count += 1;
        for &rank in here {
            self.places[rank] = Place::Elsewhere;
        }
    }

    /// Texts that say which rank waits for which other rank in a meeting.
    fn waits(&self) -> Vec<String> {
        let awaited = self
            .places
            .iter()
            .position(|place| *place == Place::Elsewhere);
        let waits = awaited.map(|awaited| {
            let here = self.here().into_iter();
            here.map(move |rank| format!("rank {rank} waits in a meeting for rank {awaited}"))
        });
        waits.into_iter().flatten().collect()
    }

    fn give_up(&mut self, failure: &Error) -> Option<Vec<usize>> {
        let here = self.here();
        if here.is_empty() {
            return None;
        }
        self.end(
            &here,
            Outcome {
                all_agreed: false,
                shrunk: None,
                failure: Some(failure.clone()),
            },
        );
        Some(here)
    }
}
