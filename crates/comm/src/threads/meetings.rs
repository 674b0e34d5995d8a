//! Meetings of ranks that may have lost others: a meeting ends when every rank has come or has left.

use std::sync::Arc;

use super::group::Group;
use crate::error::Error;

/// Why a rank comes to a meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To agree, or not.
    Agree(bool),
    /// To go on without the ranks that have left.
    Shrink,
}

/// The network of the surviving ranks. A rank's number there is its index in `ranks`.
#[derive(Debug)]
pub(super) struct ShrunkNetwork<N: ?Sized> {
    pub(super) network: Arc<N>,
    /// The ranks' old numbers, in ascending order.
    pub(super) ranks: Arc<[usize]>,
}

/// The outcome of a meeting; the same for all ranks that came.
#[derive(Debug)]
pub(super) struct MeetingOutcome<N: ?Sized> {
    /// Whether every rank of the network has come, and has agreed.
    pub(super) all_agreed: bool,
    /// The network of the surviving ranks, if all of them came to shrink.
    pub(super) shrunk: Option<ShrunkNetwork<N>>,
    /// The error, if the meeting failed because the other ranks wait for each other elsewhere.
    pub(super) failure: Option<Error>,
}

// Implemented by hand: the derived `Clone` would require that the network is `Clone`, too.
impl<N: ?Sized> Clone for ShrunkNetwork<N> {
    fn clone(&self) -> Self {
        Self {
            network: Arc::clone(&self.network),
            ranks: Arc::clone(&self.ranks),
        }
    }
}

impl<N: ?Sized> Clone for MeetingOutcome<N> {
    fn clone(&self) -> Self {
        Self {
            all_agreed: self.all_agreed,
            shrunk: self.shrunk.clone(),
            failure: self.failure.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Elsewhere,
    Here(Purpose),
    Left,
}

/// The meetings of every group of a network's ranks.
#[derive(Debug)]
pub(super) struct AllMeetings<N: ?Sized> {
    ranks: usize,
    has_left: Vec<bool>,
    groups: Vec<Meetings<N>>,
}

impl<N: ?Sized> AllMeetings<N> {
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            ranks,
            has_left: vec![false; ranks],
            groups: Vec::new(),
        }
    }

    /// The meetings of a group.
    pub(super) fn of(&mut self, group: &Group) -> &mut Meetings<N> {
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
    pub(super) fn successors(&self) -> Vec<ShrunkNetwork<N>> {
        let successors = self.groups.iter().flat_map(|meetings| &meetings.successors);
        successors.cloned().collect()
    }

    /// The number of meetings that have ended.
    pub(super) fn ended_count(&self) -> u64 {
        self.groups
            .iter()
            .fold(0, |count, meetings| count + meetings.ended_count)
    }

    /// Notes that a rank has left. Returns the ranks whose meetings this ends.
    pub(super) fn leave(&mut self, rank: usize, make: impl Fn(usize) -> Arc<N>) -> Vec<usize> {
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
pub(super) struct Meetings<N: ?Sized> {
    group: Group,
    members_count: usize,
    places: Vec<Place>,
    ended_count: u64,
    /// The outcome of the last meeting. All its ranks see it before the next meeting ends, since each must come to that or leave.
    outcome: Option<MeetingOutcome<N>>,
    successors: Vec<ShrunkNetwork<N>>,
}

impl<N: ?Sized> Meetings<N> {
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
    pub(super) fn outcome(&self) -> MeetingOutcome<N> {
        self.outcome.clone().expect("a meeting has ended")
    }

    /// Notes that a rank has come. If that ends the meeting, returns the ranks that came; `make` makes a network of that many ranks.
    pub(super) fn come(
        &mut self,
        rank: usize,
        purpose: Purpose,
        make: impl FnOnce(usize) -> Arc<N>,
    ) -> Option<Vec<usize>> {
        self.places[rank] = Place::Here(purpose);
        self.end_if_complete(make)
    }

    /// Notes that a rank has left. Returns as [`come`](Meetings::come).
    fn leave(&mut self, rank: usize, make: impl FnOnce(usize) -> Arc<N>) -> Option<Vec<usize>> {
        self.places[rank] = Place::Left;
        self.end_if_complete(make)
    }

    fn end_if_complete(&mut self, make: impl FnOnce(usize) -> Arc<N>) -> Option<Vec<usize>> {
        let here = self.here();
        if here.is_empty() || self.places.contains(&Place::Elsewhere) {
            return None;
        }
        let all_came_to = |purpose| {
            here.iter()
                .all(|&rank| self.places[rank] == Place::Here(purpose))
        };
        let all_agreed = here.len() == self.members_count && all_came_to(Purpose::Agree(true));
        let shrunk = all_came_to(Purpose::Shrink).then(|| ShrunkNetwork {
            network: make(here.len()),
            ranks: here.as_slice().into(),
        });
        self.successors.extend(shrunk.clone());
        self.end(
            &here,
            MeetingOutcome {
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

    fn end(&mut self, here: &[usize], outcome: MeetingOutcome<N>) {
        self.outcome = Some(outcome);
        self.ended_count += 1;
        for &rank in here {
            self.places[rank] = Place::Elsewhere;
        }
    }

    /// Texts that say which rank waits in a meeting for which.
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
            MeetingOutcome {
                all_agreed: false,
                shrunk: None,
                failure: Some(failure.clone()),
            },
        );
        Some(here)
    }
}
