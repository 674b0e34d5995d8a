//! What a rank knows about its conversations: which are open, in which a rank has given up, and in which others wait.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
#[cfg(feature = "mpi")]
use std::ops::Range;

use crate::hash::WordHasher;
use crate::tag::Tag;

/// A rank that has given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GivenUp {
    pub(crate) rank: usize,
    /// The ranks whose silence made this rank give up; empty if these are unknown, `None` if there was another reason. With threads, the
    /// rank that left.
    pub(crate) silent: Option<Span>,
}

/// Consecutive ranks; empty if the count is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) first: usize,
    pub(crate) count: usize,
}

#[cfg(feature = "mpi")]
impl Span {
    pub(crate) fn ranks(self) -> Range<usize> {
        self.first..self.first + self.count
    }
}

#[derive(Debug, Default)]
pub(crate) struct Conversations {
    /// The greatest number that was opened. Conversations are opened in ascending order of their numbers.
    newest: u64,
    open: HashSet<u64, BuildHasherDefault<WordHasher>>,
    /// For each conversation's number: the rank that has given up in the earliest turn, and the tag of that turn.
    given_up: HashMap<u64, (GivenUp, Tag)>,
    /// For each conversation's number: the sender and the tag of a message that met a receive of another exchange.
    #[cfg(feature = "mpi")]
    mismatched: HashMap<u64, (usize, Tag)>,
    /// Ranks that have sent a notice that they wait, each with the exchange in which it waits.
    #[cfg(feature = "mpi")]
    waiting: Vec<(usize, Tag)>,
    #[cfg(feature = "mpi")]
    pub(crate) inquiries: Inquiries,
}

/// The questions by which ranks ask each other which ranks they wait for, and the answers.
#[cfg(feature = "mpi")]
#[derive(Debug, Default)]
pub(crate) struct Inquiries {
    /// Ranks that have asked this rank, and the numbers of their inquiries.
    pub(crate) questions: Vec<(usize, u16)>,
    /// The number of this rank's last inquiry.
    pub(crate) own: u16,
    /// The ranks that have answered this rank's last inquiry, each with the ranks that it waits for.
    pub(crate) answers: Vec<(usize, Vec<usize>)>,
    /// Ranks that have given up because others are silent, each with the silent ranks and the time when this rank learned of them. This
    /// list is needed because a rank that has given up may no longer wait for any rank, and then answers no questions.
    verdicts: Vec<(usize, Span, u32)>,
    /// The time in milliseconds when this rank last read the clock.
    pub(crate) now_ms: u32,
}

#[cfg(feature = "mpi")]
impl Inquiries {
    /// Notes a rank's question, which replaces its earlier question.
    pub(crate) fn note_question(&mut self, rank: usize, number: u16) {
        self.questions.retain(|(asking, _)| *asking != rank);
        self.questions.push((rank, number));
    }

    /// Notes that a rank has given up because these ranks are silent. The latest notice of a rank counts.
    pub(crate) fn note_verdict(&mut self, rank: usize, silent: Span) {
        self.verdicts.retain(|(other, ..)| *other != rank);
        self.verdicts.push((rank, silent, self.now_ms));
    }

    /// The silent ranks that a rank named when it gave up, if it gave up within the last `within_ms`.
    pub(crate) fn last_word(&self, rank: usize, within_ms: u64) -> Option<Span> {
        let is_it = |&&(other, _, at): &&(usize, Span, u32)| {
            other == rank && u64::from(self.now_ms.wrapping_sub(at)) <= within_ms
        };
        self.verdicts
            .iter()
            .find(is_it)
            .map(|&(_, silent, _)| silent)
    }

    /// Notes an answer, unless it belongs to an earlier inquiry.
    pub(crate) fn note_answer(&mut self, rank: usize, number: u16, awaited: Vec<usize>) {
        if number == self.own {
            self.answers.push((rank, awaited));
        }
    }
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
        {
            self.mismatched.remove(&tag.number());
            self.forget_waits(tag);
        }
    }

    /// A tag of each open conversation.
    #[cfg(feature = "mpi")]
    pub(crate) fn open_tags(&self) -> Vec<Tag> {
        self.open.iter().map(|&number| Tag::new(number)).collect()
    }

    /// Whether the conversation was open and is closed, so that no receive of this rank can match its messages any more.
    pub(crate) fn is_closed(&self, tag: Tag) -> bool {
        let was_opened = (1..=self.newest).contains(&tag.number());
        was_opened && !self.open.contains(&tag.number())
    }

    /// Notes that a rank has given up from this tag's turn on.
    pub(crate) fn note_given_up(&mut self, rank: GivenUp, tag: Tag) {
        if self.is_closed(tag) {
            return;
        }
        let first = self.given_up.entry(tag.number()).or_insert((rank, tag));
        if first.1.turns_to(tag) < 0 {
            *first = (rank, tag);
        }
    }

    /// A rank that has given up in this exchange. If there is one, no other rank can complete the exchange.
    #[inline]
    pub(crate) fn who_gave_up(&self, tag: Tag) -> Option<GivenUp> {
        if self.given_up.is_empty() {
            return None;
        }
        let &(rank, from) = self.given_up.get(&tag.number())?;
        (from.turns_to(tag) >= 0).then_some(rank)
    }

    /// Notes that a message from a rank has met a receive of another exchange.
    #[cfg(feature = "mpi")]
    pub(crate) fn note_mismatched(&mut self, from: usize, found: Tag) {
        self.mismatched.insert(found.number(), (from, found));
    }

    /// Notes a rank's notice that it waits in an exchange.
    #[cfg(feature = "mpi")]
    pub(crate) fn note_waiting(&mut self, rank: usize, tag: Tag) {
        if !self.is_closed(tag) {
            self.waiting.push((rank, tag));
        }
    }

    /// Forgets all notices that ranks wait in this conversation.
    #[cfg(feature = "mpi")]
    pub(crate) fn forget_waits(&mut self, tag: Tag) {
        self.waiting
            .retain(|(_, other)| other.number() != tag.number());
    }

    /// A rank that is in another exchange of this conversation: that rank has sent a message of that exchange, or waits in that exchange.
    #[cfg(feature = "mpi")]
    pub(crate) fn who_is_elsewhere(&self, tag: Tag) -> Option<(usize, Tag)> {
        let is_elsewhere = |&&(_, other): &&(usize, Tag)| {
            other.number() == tag.number() && other.turn() == tag.turn() && other != tag
        };
        let mismatched = self.mismatched.get(&tag.number());
        let waits = || self.waiting.iter().find(is_elsewhere);
        mismatched.or_else(waits).copied()
    }
}
