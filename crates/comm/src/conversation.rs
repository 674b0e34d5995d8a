//! What a rank knows of its conversations: which of them are open, in which a rank has given up, and where others wait.

use std::collections::{HashMap, HashSet};

use crate::tag::Tag;

#[derive(Debug, Default)]
pub(crate) struct Conversations {
    /// The greatest number that was opened. They are opened in ascending order.
    newest: u64,
    open: HashSet<u64>,
    /// By number: a rank that takes no part from this turn on, which is the earliest heard of.
    given_up: HashMap<u64, (usize, Tag)>,
    /// The exchanges that ranks have said that they wait in, or have sent a message of.
    #[cfg(feature = "mpi")]
    others: Vec<(usize, Tag)>,
}

impl Conversations {
    pub(crate) fn open(&mut self, tag: Tag) {
        self.newest = self.newest.max(tag.number());
        self.open.insert(tag.number());
    }

    pub(crate) fn close(&mut self, tag: Tag) {
        self.open.remove(&tag.number());
        self.given_up.remove(&tag.number());
        #[cfg(feature = "mpi")]
        self.others
            .retain(|(_, other)| other.number() != tag.number());
    }

    /// Whether nobody here waits for messages of this conversation any more.
    pub(crate) fn is_closed(&self, tag: Tag) -> bool {
        let was_opened = (1..=self.newest).contains(&tag.number());
        was_opened && !self.open.contains(&tag.number())
    }

    /// Notes that a rank has given up from this tag's turn on.
    pub(crate) fn note_given_up(&mut self, rank: usize, tag: Tag) {
        if self.is_closed(tag) {
            return;
        }
        let first = self.given_up.entry(tag.number()).or_insert((rank, tag));
        if first.1.turns_to(tag) < 0 {
            *first = (rank, tag);
        }
    }

    /// The rank that takes no part in an exchange, if there is one: then nobody can count on the others either.
    #[inline]
    pub(crate) fn who_gave_up(&self, tag: Tag) -> Option<usize> {
        if self.given_up.is_empty() {
            return None;
        }
        let &(rank, from) = self.given_up.get(&tag.number())?;
        (from.turns_to(tag) >= 0).then_some(rank)
    }

    /// Notes that a rank is in an exchange.
    #[cfg(feature = "mpi")]
    pub(crate) fn note_other(&mut self, rank: usize, tag: Tag) {
        if !self.is_closed(tag) {
            let is_another =
                |&(other, its): &(usize, Tag)| (other, its.number()) != (rank, tag.number());
            self.others.retain(is_another);
            self.others.push((rank, tag));
        }
    }

    /// A rank that is, or was, in another exchange of the same turn.
    #[cfg(feature = "mpi")]
    pub(crate) fn who_is_elsewhere(&self, tag: Tag) -> Option<(usize, Tag)> {
        let is_elsewhere = |&&(_, other): &&(usize, Tag)| {
            other.number() == tag.number() && other.turn() == tag.turn() && other != tag
        };
        self.others.iter().find(is_elsewhere).copied()
    }
}
