//! Who is to blame where nothing came within the silence limit.
//!
//! The rank whose message did not come may itself wait for another one. So a rank whose wait is about to reach the limit asks the ranks
//! that it waits for whom *they* wait for, then asks those, and so on. A rank that waits answers within milliseconds; one that is stopped,
//! cut off, or busy elsewhere does not. All who ask follow the same waits, so they come to the same rank; and who decides first tells the
//! others when it [gives up](crate::Communicator::give_up).

use std::ops::Range;
use std::time::{Duration, Instant};

use super::channel::Channels;
use super::communicator::MpiCommunicator;
use super::message::Message;
use super::notice::{NUMBERS_MAX, Notice};
use crate::communicator::Communicator;
use crate::conversation::Span;
use crate::error::Error;
use crate::request::{RequestId, Requests};
use crate::tag::Tag;

/// The last part of a silence limit is for asking: a quarter of it, and at most this.
const ASKING_MAX: Duration = Duration::from_secs(5);

/// How often it looks for answers.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// It asks at most this number of ranks.
const ASKED_MAX: usize = 256;

/// How long a wait with this limit lasts before it asks.
pub(super) fn before_asking(limit: Duration) -> Duration {
    limit.saturating_sub(ASKING_MAX.min(limit / 4))
}

/// An inquiry of this rank.
#[derive(Debug)]
struct Inquiry {
    number: u16,
    asked: Vec<Asked>,
    /// When the last rank was asked.
    last_asked: Instant,
}

/// A rank that is asked.
#[derive(Debug)]
struct Asked {
    rank: usize,
    /// Whether another one waits for it; otherwise it is asked as one of such a rank's node.
    is_awaited: bool,
    is_sent: bool,
    has_answered: bool,
}

impl Inquiry {
    fn new(number: u16) -> Self {
        Self {
            number,
            asked: Vec::new(),
            last_asked: Instant::now(),
        }
    }

    /// Asks a rank, unless it was asked already.
    fn add(&mut self, rank: usize, is_awaited: bool) {
        if let Some(asked) = self.asked.iter_mut().find(|asked| asked.rank == rank) {
            asked.is_awaited |= is_awaited;
        } else if self.asked.len() < ASKED_MAX {
            self.asked.push(Asked {
                rank,
                is_awaited,
                is_sent: false,
                has_answered: false,
            });
        }
    }

    /// The ranks to blame: the first rank that others wait for and that has not answered; all of its node, if none of them has. `None` if
    /// all wait for each other.
    fn silent(&self, node_of: impl Fn(usize) -> Option<Range<usize>>) -> Option<Span> {
        let is_silent = |asked: &&Asked| asked.is_awaited && !asked.has_answered;
        let first = self.asked.iter().filter(is_silent);
        let first = first.map(|asked| asked.rank).min()?;
        let node = node_of(first).unwrap_or(first..first + 1);
        let says_nothing = |rank| {
            let asked = self.asked.iter().find(|asked| asked.rank == rank);
            asked.is_some_and(|asked| !asked.has_answered)
        };
        let node = match node.clone().all(says_nothing) {
            true => node,
            false => first..first + 1,
        };
        Some(Span {
            first: node.start,
            count: node.len(),
        })
    }
}

impl MpiCommunicator {
    /// Waits until one of the requests is complete, or has failed.
    ///
    /// # Errors
    /// [`Error::Silent`] if the silence limit is over, with the ranks to blame; another if the wait cannot go on.
    #[inline]
    pub(super) fn wait_within_limit(&self, awaited: &[RequestId]) -> Result<(), Error> {
        match self.poll_until(awaited, self.before_asking.get())? {
            true => Ok(()),
            false => self.wait_and_ask(awaited),
        }
    }

    /// The end of such a wait.
    #[cold]
    fn wait_and_ask(&self, awaited: &[RequestId]) -> Result<(), Error> {
        let limit = self.silence_limit.get();
        let asking = limit.saturating_sub(self.before_asking.get());
        let peers = peers_of(&mut self.requests.borrow_mut(), awaited);
        let mut inquiry = self.begin_inquiry(&peers);
        let begin = Instant::now();
        // Who was asked late has some time as well.
        while inquiry.last_asked.elapsed() < asking && begin.elapsed() < asking * 2 {
            self.go_on_asking(&mut inquiry)?;
            if self.poll_until(awaited, BETWEEN_LOOKS)? {
                return Ok(());
            }
        }
        let silent = inquiry.silent(|rank| self.other_node_of(rank));
        let silent = silent.unwrap_or(Span {
            first: peers[0],
            count: 1,
        });
        let tag = self.requests.borrow_mut().get_mut(awaited[0]).tag();
        self.blamed.set(Some((tag.number(), silent)));
        Err(Error::Silent {
            rank: self.rank,
            peers: silent.first..silent.first + silent.count,
            after: limit,
        })
    }

    fn begin_inquiry(&self, peers: &[usize]) -> Inquiry {
        let inquiries = &mut self.channels.borrow_mut().conversations.inquiries;
        inquiries.own = inquiries.own.wrapping_add(1);
        inquiries.answers.clear();
        let mut inquiry = Inquiry::new(inquiries.own);
        self.add_all(&mut inquiry, peers);
        inquiry
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
        for (rank, number) in channels.conversations.inquiries.questions.split_off(0) {
            let awaited = peers_of(requests, awaited);
            let answer = Notice::Answer { number, awaited };
            if !self.send_notice(requests, channels, rank, Tag::CONTROL, &answer)? {
                // There is no room in its ring at the moment.
                let inquiries = &mut channels.conversations.inquiries;
                inquiries.note_question(rank, number);
            }
        }
        Ok(())
    }

    /// Takes in what was answered, and asks those who were not asked yet.
    fn go_on_asking(&self, inquiry: &mut Inquiry) -> Result<(), Error> {
        let requests = &mut *self.requests.borrow_mut();
        let channels = &mut *self.channels.borrow_mut();
        for (rank, awaited) in channels.conversations.inquiries.answers.split_off(0) {
            let mut is_awaited = false;
            if let Some(asked) = inquiry.asked.iter_mut().find(|asked| asked.rank == rank) {
                asked.has_answered = true;
                is_awaited = asked.is_awaited;
            }
            if is_awaited {
                self.add_all(inquiry, &awaited);
            }
        }
        let question = Notice::Question {
            number: inquiry.number,
        };
        for asked in inquiry.asked.iter_mut().filter(|asked| !asked.is_sent) {
            asked.is_sent =
                self.send_notice(requests, channels, asked.rank, Tag::CONTROL, &question)?;
            if asked.is_sent {
                inquiry.last_asked = Instant::now();
            }
        }
        Ok(())
    }
}

/// The ranks for whose messages, or for whom as receivers, these requests wait; as many as an answer has room for.
fn peers_of(requests: &mut Requests<Message>, awaited: &[RequestId]) -> Vec<usize> {
    let awaited = awaited.iter().take(NUMBERS_MAX);
    let mut peers: Vec<usize> = awaited
        .map(|request| requests.get_mut(*request).peer())
        .collect();
    peers.sort_unstable();
    peers.dedup();
    peers
}
