//! Who is to blame where nothing came within the silence limit.
//!
//! The rank whose message did not come may itself wait for another one. So a rank whose wait is about to reach the limit asks the ranks
//! that it waits for whom *they* wait for, then asks those, and so on. A rank that waits answers within milliseconds; one that is stopped,
//! cut off, or busy elsewhere does not. All who ask follow the same waits, so they come to the same rank; and who decides first tells the
//! others when it [gives up](crate::Communicator::give_up).

use std::cmp::Reverse;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::channel::Channels;
use super::communicator::MpiCommunicator;
use super::message::Message;
use super::notice::{NUMBERS_MAX, Notice};
use super::trouble;
use crate::communicator::Communicator;
use crate::conversation::Span;
use crate::error::Error;
use crate::request::{RequestId, Requests};
use crate::tag::Tag;

/// The last part of a silence limit is for asking: a quarter of it, and at most this.
const ASKING_MAX: Duration = Duration::from_secs(5);

/// It asks at most this number of ranks.
const ASKED_MAX: usize = 256;

/// How long a wait with this limit lasts before it asks.
fn before_asking(limit: Duration) -> Duration {
    limit.saturating_sub(ASKING_MAX.min(limit / 4))
}

/// The same in milliseconds.
pub(super) fn before_asking_ms(limit: Duration) -> u64 {
    to_ms(before_asking(limit))
}

/// Where a rank was heard within so much of the limit, it is not silent.
fn silence_ms_min(limit: Duration) -> u64 {
    to_ms(limit / 4 * 3)
}

fn to_ms(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

/// An inquiry of this rank.
#[derive(Debug)]
pub(super) struct Inquiry {
    number: u16,
    /// The number of messages that had come when it began.
    heard: u32,
    begin: Instant,
    /// When this rank last went on with it.
    last: Instant,
    asked: Vec<Asked>,
    /// Whether this rank has looked for what others said when they gave up, since the limit was over.
    has_looked: bool,
}

/// A rank that is asked.
#[derive(Debug)]
struct Asked {
    rank: usize,
    since: Instant,
    /// Whether another one waits for it; otherwise it is asked as one of such a rank's node.
    is_awaited: bool,
    is_sent: bool,
    has_answered: bool,
}

impl Inquiry {
    fn new(number: u16, heard: u32, now: Instant) -> Self {
        Self {
            number,
            heard,
            begin: now,
            last: now,
            asked: Vec::new(),
            has_looked: false,
        }
    }

    /// Asks a rank, unless it was asked already.
    fn add(&mut self, rank: usize, is_awaited: bool) {
        if let Some(asked) = self.asked.iter_mut().find(|asked| asked.rank == rank) {
            asked.is_awaited |= is_awaited;
        } else if self.asked.len() < ASKED_MAX {
            self.asked.push(Asked {
                rank,
                since: self.last,
                is_awaited,
                is_sent: false,
                has_answered: false,
            });
        }
    }

    /// Notes that a rank has answered. Says whether others wait for it: then it matters for whom it waits itself.
    fn note_answer(&mut self, rank: usize) -> bool {
        let asked = self.asked.iter_mut().find(|asked| asked.rank == rank);
        asked.is_some_and(|asked| {
            asked.has_answered = true;
            asked.is_awaited
        })
    }

    /// Whether those who were asked last had this time for their answers, or all had twice as much.
    fn is_over(&self, asking: Duration) -> bool {
        let since = |begin| self.last.duration_since(begin);
        let last_asked = self.asked.iter().map(|asked| asked.since).max();
        since(last_asked.unwrap_or(self.begin)) >= asking || since(self.begin) >= asking * 2
    }

    /// The ranks to blame: the first rank that others wait for, that has not answered in this time, and of which nothing was heard; all of
    /// its node, if that is so of all of them. None if it is so of no rank.
    fn silent(
        &self,
        time: Duration,
        is_unheard: impl Fn(usize) -> bool,
        node_of: impl Fn(usize) -> Option<Range<usize>>,
    ) -> Span {
        let is_silent = |asked: &Asked| {
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

impl MpiCommunicator {
    /// Asks whose silence it is that this rank has asked for the first of the requests for so long.
    ///
    /// # Errors
    /// [`Error::Silent`] if the silence limit is over, and those who were asked had time to answer.
    #[cold]
    pub(super) fn inquire(
        &self,
        requests: &mut Requests<Message>,
        channels: &mut Channels,
        awaited: &[RequestId],
        asked_ms: u64,
    ) -> Result<(), Error> {
        let limit = self.silence_limit.get();
        let is_over = asked_ms > to_ms(limit);
        let now = self.clock.now();
        let mut inquiry = self.inquiry.borrow_mut();
        let is_first = requests.get_mut(awaited[0]).asked().inquires_first();
        // It serves all requests that this rank asks for in vain.
        let is_current = |inquiry: &Inquiry| {
            let is_used = now.duration_since(inquiry.last) < ASKING_MAX;
            inquiry.heard == self.heard.get() && (is_used || !is_first)
        };
        let inquiry = match &mut *inquiry {
            Some(inquiry) if is_current(inquiry) => inquiry,
            inquiry => inquiry.insert(self.begin_inquiry(channels, now)),
        };
        inquiry.last = now;
        if is_over && !inquiry.has_looked {
            inquiry.has_looked = true;
            let taken = trouble::take_all_notices(channels);
            taken.map_err(|failure| self.explain(failure))?;
        }
        self.add_all(inquiry, &self.peers_of(requests, channels, awaited));
        self.go_on_asking(requests, channels, inquiry)?;
        let asking = limit.saturating_sub(before_asking(limit));
        if !is_over || !inquiry.is_over(asking) {
            return Ok(());
        }
        let is_unheard = |rank| u64::from(channels.silence_ms(rank)) >= silence_ms_min(limit);
        let silent = inquiry.silent(asking / 2, is_unheard, |rank| self.other_node_of(rank));
        let tag = requests.get_mut(awaited[0]).tag();
        self.blamed.set(Some((tag.number(), silent)));
        Err(Error::Silent {
            rank: self.rank,
            peers: silent.ranks(),
            after: limit,
        })
    }

    fn begin_inquiry(&self, channels: &mut Channels, now: Instant) -> Inquiry {
        let inquiries = &mut channels.conversations.inquiries;
        inquiries.own = inquiries.own.wrapping_add(1);
        inquiries.answers.clear();
        Inquiry::new(inquiries.own, self.heard.get(), now)
    }

    /// Whether nothing was heard of any of these ranks lately, in no conversation.
    pub(super) fn are_silent(&self, ranks: &Range<usize>) -> bool {
        let channels = self.channels.borrow();
        let least = silence_ms_min(self.silence_limit.get());
        ranks
            .clone()
            .all(|rank| u64::from(channels.silence_ms(rank)) >= least)
    }

    /// Asks these ranks, and all ranks of their nodes.
    fn add_all(&self, inquiry: &mut Inquiry, ranks: &[usize]) {
        for &rank in ranks {
            if rank == self.rank || rank >= self.size() {
                continue;
            }
            inquiry.add(rank, true);
            self.other_node_of(rank)
                .into_iter()
                .flatten()
                .for_each(|mate| inquiry.add(mate, false));
        }
    }

    /// The ranks of a rank's node, where that is not this rank's own.
    fn other_node_of(&self, rank: usize) -> Option<Range<usize>> {
        let node_ranks = self.hints().node_ranks?;
        let first = rank - rank % node_ranks;
        let node = first..(first + node_ranks).min(self.size());
        (!node.contains(&self.rank)).then_some(node)
    }

    /// Answers the ranks that have asked for whom this one waits, as it does for these requests.
    pub(super) fn answer_questions(
        &self,
        requests: &mut Requests<Message>,
        channels: &mut Channels,
        awaited: &[RequestId],
    ) -> Result<(), Error> {
        let questions = channels.conversations.inquiries.questions.split_off(0);
        if questions.is_empty() {
            return Ok(());
        }
        let mut peers = self.peers_of(requests, channels, awaited);
        peers.truncate(NUMBERS_MAX);
        for (rank, number) in questions {
            let awaited = peers.clone();
            let answer = Notice::Answer { number, awaited };
            if !self.send_notice(requests, channels, rank, Tag::CONTROL, &answer)? {
                // There is no room in its ring at the moment.
                let inquiries = &mut channels.conversations.inquiries;
                inquiries.note_question(rank, number);
            }
        }
        Ok(())
    }

    /// Takes in what was answered, or said by who has given up since, and asks those who were not asked yet.
    fn go_on_asking(
        &self,
        requests: &mut Requests<Message>,
        channels: &mut Channels,
        inquiry: &mut Inquiry,
    ) -> Result<(), Error> {
        let inquiries = &mut channels.conversations.inquiries;
        let mut answers = inquiries.answers.split_off(0);
        let limit_ms = to_ms(self.silence_limit.get());
        let others = inquiry.asked.iter().filter(|asked| !asked.has_answered);
        answers.extend(others.filter_map(|asked| {
            let silent = inquiries.last_word(asked.rank, limit_ms)?;
            Some((asked.rank, silent.ranks().collect()))
        }));
        for (rank, awaited) in answers {
            if inquiry.note_answer(rank) {
                self.add_all(inquiry, &awaited);
            }
        }
        let question = Notice::Question {
            number: inquiry.number,
        };
        for asked in inquiry.asked.iter_mut().filter(|asked| !asked.is_sent) {
            asked.is_sent =
                self.send_notice(requests, channels, asked.rank, Tag::CONTROL, &question)?;
        }
        Ok(())
    }

    /// The ranks that this one waits for, or as receivers, at the moment: as these requests, and all that it has just asked for, say. That of
    /// the first request comes first, then those of which nothing was heard for the longest time.
    fn peers_of(
        &self,
        requests: &mut Requests<Message>,
        channels: &Channels,
        awaited: &[RequestId],
    ) -> Vec<usize> {
        let now_ms = self.clock.now_ms();
        let first = requests.get_mut(awaited[0]).peer();
        let rest = awaited[1..].iter();
        let mut peers: Vec<usize> = rest
            .map(|request| requests.get_mut(*request).peer())
            .collect();
        let asked_for = requests.iter_mut().filter_map(|message| {
            let is_asked_for = message.is_pending() && message.asked().is_asked_for(now_ms);
            is_asked_for.then(|| message.peer())
        });
        peers.extend(asked_for);
        peers.sort_unstable();
        peers.dedup();
        peers.retain(|&peer| peer != first);
        peers.sort_by_key(|&peer| Reverse(channels.silence_ms(peer)));
        peers.insert(0, first);
        peers
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Inquiry;
    use crate::conversation::Span;

    const TIME: Duration = Duration::from_millis(10);

    /// An inquiry among nodes of two ranks, after some time.
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
        // Asked just now.
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
