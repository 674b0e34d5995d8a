//! Where ranks come together that may have lost others: a meeting ends when every rank has come or has left.

use std::sync::Arc;

use super::network::Network;

/// Why a rank comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// To say yes or no.
    Agree(bool),
    /// To go on without those that have left.
    Shrink,
}

/// The network of the ranks that are left. A rank's number there is its place in `ranks`.
#[derive(Clone, Debug)]
pub(super) struct Shrunk {
    pub(super) network: Arc<dyn Network>,
    /// Their numbers before, in ascending order.
    pub(super) ranks: Arc<[usize]>,
}

/// What a meeting has come to; the same for all that came.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Whether every rank of the network has come, and has said yes.
    pub(super) all_agreed: bool,
    /// The network to go on with, if all that came wished so.
    pub(super) shrunk: Option<Shrunk>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Elsewhere,
    Here(Wish),
    Left,
}

/// The meetings of a network's ranks, one after the other.
#[derive(Debug)]
pub(super) struct Meetings {
    places: Vec<Place>,
    ended_count: u64,
    /// Of the last one. No other ends before all of its ranks have seen it: they must come to that one, or leave.
    outcome: Option<Outcome>,
    successors: Vec<Shrunk>,
}

impl Meetings {
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            places: vec![Place::Elsewhere; ranks],
            ended_count: 0,
            outcome: None,
            successors: Vec::new(),
        }
    }

    /// How many have ended.
    pub(super) fn ended_count(&self) -> u64 {
        self.ended_count
    }

    /// What the last one has come to.
    ///
    /// # Panics
    /// None has ended.
    pub(super) fn outcome(&self) -> Outcome {
        self.outcome.clone().expect("a meeting has ended")
    }

    /// The networks that ranks have gone on with.
    pub(super) fn successors(&self) -> &[Shrunk] {
        &self.successors
    }

    /// A rank comes. If that ends the meeting, returns who was there; `make` makes a network of so many ranks.
    pub(super) fn come(
        &mut self,
        rank: usize,
        wish: Wish,
        make: impl FnOnce(usize) -> Arc<dyn Network>,
    ) -> Option<Vec<usize>> {
        self.places[rank] = Place::Here(wish);
        self.end_if_complete(make)
    }

    /// A rank leaves, and will not come. Returns as [`come`](Meetings::come).
    pub(super) fn leave(
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
        let is_here = |&rank: &usize| matches!(self.places[rank], Place::Here(_));
        let here: Vec<usize> = (0..self.places.len()).filter(is_here).collect();
        if here.is_empty() || self.places.contains(&Place::Elsewhere) {
            return None;
        }
        let all_wish = |wish| {
            here.iter()
                .all(|&rank| self.places[rank] == Place::Here(wish))
        };
        let all_agreed = here.len() == self.places.len() && all_wish(Wish::Agree(true));
        let shrunk = all_wish(Wish::Shrink).then(|| Shrunk {
            network: make(here.len()),
            ranks: here.as_slice().into(),
        });
        self.successors.extend(shrunk.clone());
        self.outcome = Some(Outcome { all_agreed, shrunk });
        self.ended_count += 1;
        for &rank in &here {
            self.places[rank] = Place::Elsewhere;
        }
        Some(here)
    }
}
