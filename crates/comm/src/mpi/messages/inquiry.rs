//! Finds out which rank is silent if nothing arrives within the silence limit.
//!
//! The rank whose message is missing may itself wait for another rank. So shortly before its wait reaches the limit, a rank asks the
//! awaited ranks for which ranks they wait, then asks those ranks, and so on. A rank that waits answers within milliseconds; a rank that is
//! stopped, cut off, or busy elsewhere does not. All ranks that ask follow the same waits, so they find the same rank. The first rank to
//! decide notifies the others when it [gives up](crate::Communicator::give_up).

use std::ops::Range;
use std::time::{Duration, Instant};

use crate::conversation::Span;

/// An inquiry takes the last quarter of a silence limit, but at most this time.
pub(crate) const ASKING_MAX: Duration = Duration::from_secs(5);

/// An inquiry asks at most this number of ranks.
const ASKED_MAX: usize = 256;

/// How long a rank with this silence limit waits before its inquiry.
pub(crate) fn before_inquiry(limit: Duration) -> Duration {
    limit.saturating_sub(ASKING_MAX.min(limit / 4))
}

/// [`before_inquiry`] in milliseconds.
pub(crate) fn before_inquiry_ms(limit: Duration) -> u64 {
    to_ms(before_inquiry(limit))
}

/// A rank is silent if no message has come from it for this number of milliseconds.
pub(crate) fn silence_ms_min(limit: Duration) -> u64 {
    to_ms(limit / 4 * 3)
}

pub(crate) fn to_ms(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

/// An inquiry of this rank.
#[derive(Debug)]
pub(crate) struct Inquiry {
    pub(crate) number: u16,
    /// The number of messages that had arrived when the inquiry began.
    pub(crate) heard: u32,
    pub(crate) begin: Instant,
    /// When this rank last continued the inquiry.
    pub(crate) last: Instant,
    pub(crate) asked: Vec<AskedRank>,
    /// Whether, since the limit was reached, this rank has looked for notices of ranks that gave up.
    pub(crate) has_looked: bool,
}

/// A rank that is asked.
#[derive(Debug)]
pub(crate) struct AskedRank {
    pub(crate) rank: usize,
    pub(crate) since: Instant,
    /// Whether another rank waits for this rank. Otherwise it is asked because it shares a node with an awaited rank.
    pub(crate) is_awaited: bool,
    pub(crate) is_sent: bool,
    pub(crate) has_answered: bool,
}

impl Inquiry {
    pub(crate) fn new(number: u16, heard: u32, now: Instant) -> Self {
        Self {
            number,
            heard,
            begin: now,
            last: now,
            asked: Vec::new(),
            has_looked: false,
        }
    }

    /// Adds a rank to ask, unless it was added already.
    pub(crate) fn add(&mut self, rank: usize, is_awaited: bool) {
        if let Some(asked) = self.asked.iter_mut().find(|asked| asked.rank == rank) {
            asked.is_awaited |= is_awaited;
        } else if self.asked.len() < ASKED_MAX {
            self.asked.push(AskedRank {
                rank,
                since: self.last,
                is_awaited,
                is_sent: false,
                has_answered: false,
            });
        }
    }

    /// Notes a rank's answer. Returns whether others wait for that rank. If so, the ranks that it waits for must be asked, too.
    pub(crate) fn note_answer(&mut self, rank: usize) -> bool {
        let asked = self.asked.iter_mut().find(|asked| asked.rank == rank);
        asked.is_some_and(|asked| {
            asked.has_answered = true;
            asked.is_awaited
        })
    }

    /// Whether the ranks that were asked last have had the time `asking` to answer, or the inquiry has taken twice that time.
    pub(crate) fn is_over(&self, asking: Duration) -> bool {
        let since = |begin| self.last.duration_since(begin);
        let last_asked = self.asked.iter().map(|asked| asked.since).max();
        since(last_asked.unwrap_or(self.begin)) >= asking || since(self.begin) >= asking * 2
    }

    /// The silent ranks: the lowest rank that others wait for, that has not answered in this time, and from which nothing has come; or
    /// all ranks of that rank's node, if all are silent. Empty if there is no such rank.
    pub(crate) fn silent(
        &self,
        time: Duration,
        is_unheard: impl Fn(usize) -> bool,
        node_of: impl Fn(usize) -> Option<Range<usize>>,
    ) -> Span {
        let is_silent = |asked: &AskedRank| {
            let had_time = self.last.duration_since(asked.since) >= time;
            had_time && !asked.has_answered && is_unheard(asked.rank)
        };
        let awaited = self.asked.iter().filter(|asked| asked.is_awaited);
        let first = awaited.filter(|asked| is_silent(asked));
        let Some(first) = first.map(|asked| asked.rank).min() else {
            return Span::default();
        };
        let node = node_of(first).unwrap_or(first..first + 1);
        let says_nothing = |rank| {
            let asked = self.asked.iter().find(|asked| asked.rank == rank);
            asked.is_some_and(is_silent)
        };
        let node = if node.clone().all(says_nothing) {
            node
        } else {
            first..first + 1
        };
        Span {
            first: node.start,
            count: node.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Inquiry;
    use crate::conversation::Span;

    const TIME: Duration = Duration::from_millis(10);

    /// The first silent rank and the number of silent ranks, if each node has two ranks.
    fn silent(inquiry: &Inquiry, is_unheard: impl Fn(usize) -> bool) -> (usize, usize) {
        let node_of = |rank| Some(rank / 2 * 2..rank / 2 * 2 + 2);
        let Span { first, count } = inquiry.silent(TIME, is_unheard, node_of);
        (first, count)
    }

    #[test]
    fn only_a_rank_of_which_nothing_was_heard_is_blamed() {
        let begin = Instant::now();
        let mut inquiry = Inquiry::new(1, 0, begin);
        inquiry.add(3, true);
        inquiry.add(2, false);
        inquiry.last = begin + TIME;
        // Rank 4 has had no time to answer.
        inquiry.add(4, true);
        assert_eq!(silent(&inquiry, |_| true), (2, 2));
        assert_eq!(silent(&inquiry, |rank| rank != 2), (3, 1));
        assert_eq!(silent(&inquiry, |rank| rank != 3), (0, 0));
        assert!(inquiry.note_answer(3) && !inquiry.note_answer(2) && !inquiry.note_answer(9));
        assert_eq!(silent(&inquiry, |_| true), (0, 0));
        inquiry.last += TIME;
        assert_eq!(silent(&inquiry, |_| true), (4, 1));
    }

    #[test]
    fn who_was_asked_late_has_some_time_as_well() {
        let begin = Instant::now();
        let mut inquiry = Inquiry::new(1, 0, begin);
        inquiry.add(3, true);
        inquiry.last = begin + TIME / 2;
        inquiry.add(2, true);
        let mut is_over = |after| {
            inquiry.last = begin + after;
            inquiry.is_over(TIME)
        };
        assert!(!is_over(TIME) && is_over(TIME * 3 / 2));
        inquiry.add(4, true);
        inquiry.last = begin + TIME * 2;
        assert!(inquiry.is_over(TIME));
    }
}
