//! How a rank asks other ranks which ranks they wait for, and answers such questions.

use std::cmp::Reverse;
use std::ops::Range;
use std::time::Instant;

use crate::error::Error;
use crate::mpi::channels::channel::Channels;
use crate::mpi::channels::trouble;
use crate::mpi::communicator::MpiCommunicator;
use crate::mpi::messages::inquiry::{ASKING_MAX, Inquiry, before_inquiry, silence_ms_min, to_ms};
use crate::mpi::messages::message::Message;
use crate::mpi::messages::notice::{NUMBERS_MAX, Notice};
use crate::request::{RequestId, Requests};
use crate::tag::Tag;

impl MpiCommunicator {
    /// Inquires which rank is silent, after this rank has waited for the first request for `waited_ms`.
    ///
    /// # Errors
    /// [`Error::Silent`] if the silence limit is reached and the ranks that were asked have had time to answer.
    #[cold]
    pub(crate) fn inquire(
        &self,
        requests: &mut Requests<Message>,
        channels: &mut Channels,
        awaited: &[RequestId],
        waited_ms: u64,
    ) -> Result<(), Error> {
        let limit = self.silence_limit.get();
        let is_over = waited_ms > to_ms(limit);
        let now = self.clock.now();
        let mut inquiry = self.inquiry.borrow_mut();
        let is_first = requests.get_mut(awaited[0]).wait_time().is_first_inquiry();
        // One inquiry serves all requests that this rank waits for.
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
        let asking = limit.saturating_sub(before_inquiry(limit));
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

    /// Whether no message has come from any of these ranks lately, in any conversation.
    pub(crate) fn are_silent(&self, ranks: &Range<usize>) -> bool {
        let channels = self.channels.borrow();
        let least = silence_ms_min(self.silence_limit.get());
        ranks
            .clone()
            .all(|rank| u64::from(channels.silence_ms(rank)) >= least)
    }

    /// Adds these ranks, and all ranks of their nodes, to an inquiry.
    fn add_all(&self, inquiry: &mut Inquiry, ranks: &[usize]) {
        for &rank in ranks {
            if rank == self.rank || rank >= self.size {
                continue;
            }
            inquiry.add(rank, true);
            self.other_node_of(rank)
                .into_iter()
                .flatten()
                .for_each(|mate| inquiry.add(mate, false));
        }
    }

    /// The ranks of another rank's node; `None` if that is this rank's node.
    fn other_node_of(&self, rank: usize) -> Option<Range<usize>> {
        let node_ranks = self.hints.node_ranks?;
        let first = rank - rank % node_ranks;
        let node = first..(first + node_ranks).min(self.size);
        (!node.contains(&self.rank)).then_some(node)
    }

    /// Answers the ranks that have asked which ranks this rank waits for. The caller waits for the requests `awaited`.
    pub(crate) fn answer_questions(
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
                // The ring to that rank is full, so the question is answered later.
                let inquiries = &mut channels.conversations.inquiries;
                inquiries.note_question(rank, number);
            }
        }
        Ok(())
    }

    /// Evaluates answers, and notices of ranks that have given up; then asks the ranks that were not asked yet.
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

    /// The peers (senders or receivers) of these requests and of all other requests that this rank has recently waited for. The first
    /// request's peer comes first; the other peers follow, in descending order of the length of their silence.
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
            let is_recent = message.is_pending() && message.wait_time().is_recent(now_ms);
            is_recent.then(|| message.peer())
        });
        peers.extend(asked_for);
        peers.sort_unstable();
        peers.dedup();
        peers.retain(|&peer| peer != first);
        peers.sort_by_cached_key(|&peer| Reverse(channels.silence_ms(peer)));
        peers.insert(0, first);
        peers
    }
}
