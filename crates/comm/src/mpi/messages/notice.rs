//! Notices, which ranks send in addition to messages: reports about their exchanges, questions, and answers.

use crate::conversation::{Conversations, GivenUp, Span};
use crate::tag::Tag;

/// The length of the longest notice in bytes. It fits into every ring.
pub(crate) const NOTICE_BYTES_MAX: usize = 4 + 4 * NUMBERS_MAX;

/// The number of ranks that a notice has room for.
pub(crate) const NUMBERS_MAX: usize = 16;

/// A notice, whose tag says which conversation it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// The sender takes no part in the conversation any more, from the turn of this exchange on.
    GivenUp {
        exchange: u16,
        /// The ranks whose silence made the sender give up; an empty span if these are unknown, `None` if there was another reason.
        silent: Option<Span>,
    },
    /// The sender waits in this exchange.
    Waiting { exchange: u16 },
    /// The sender asks which ranks the receiver waits for.
    Question {
        /// The number of the sender's inquiry.
        number: u16,
    },
    /// The sender waits for these ranks.
    Answer {
        /// The number of the receiver's inquiry.
        number: u16,
        awaited: Vec<usize>,
    },
}

impl Notice {
    /// The notice as bytes: the kind and the number of an exchange or an inquiry, in two bytes each; then ranks, in four bytes each.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let silent;
        let (kind, number, ranks): (u16, u16, &[usize]) = match self {
            Notice::GivenUp {
                exchange,
                silent: None,
            } => (0, *exchange, &[]),
            Notice::GivenUp {
                exchange,
                silent: Some(span),
            } => {
                silent = [span.first, span.count];
                (0, *exchange, &silent)
            }
            Notice::Waiting { exchange } => (1, *exchange, &[]),
            Notice::Question { number } => (2, *number, &[]),
            Notice::Answer { number, awaited } => {
                (3, *number, &awaited[..awaited.len().min(NUMBERS_MAX)])
            }
        };
        // MPI counts ranks in an int.
        let ranks = ranks
            .iter()
            .flat_map(|&rank| u32::try_from(rank).unwrap_or(u32::MAX).to_ne_bytes());
        let head = [kind.to_ne_bytes(), number.to_ne_bytes()];
        head.into_iter().flatten().chain(ranks).collect()
    }

    /// The notice with these bytes; `None` if they are not a notice.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let number = u16::from_ne_bytes(*number);
        let (ranks, []) = rest.as_chunks() else {
            return None;
        };
        let mut ranks = ranks.iter().map(|rank| u32::from_ne_bytes(*rank) as usize);
        Some(match u16::from_ne_bytes(*kind) {
            0 => Notice::GivenUp {
                exchange: number,
                silent: match (ranks.next(), ranks.next()) {
                    (None, _) => None,
                    (Some(first), count) => Some(Span {
                        first,
                        count: count?,
                    }),
                },
            },
            1 => Notice::Waiting { exchange: number },
            2 => Notice::Question { number },
            3 => Notice::Answer {
                number,
                awaited: ranks.collect(),
            },
            _ => return None,
        })
    }

    /// Whether the notice must wait for room in a full ring. Other notices are sent again later.
    pub(crate) fn must_arrive(&self) -> bool {
        matches!(self, Notice::GivenUp { .. })
    }

    /// Records a rank's notice about a conversation.
    pub(crate) fn note(self, conversations: &mut Conversations, rank: usize, about: Tag) {
        match self {
            Notice::GivenUp { exchange, silent } => {
                let from = about.with_exchange_number(exchange);
                conversations.note_given_up(GivenUp { rank, silent }, from);
                if let Some(silent) = silent {
                    conversations.inquiries.note_verdict(rank, silent);
                }
            }
            Notice::Waiting { exchange } => {
                conversations.note_waiting(rank, about.with_exchange_number(exchange));
            }
            Notice::Question { number } => conversations.inquiries.note_question(rank, number),
            Notice::Answer { number, awaited } => {
                conversations.inquiries.note_answer(rank, number, awaited);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NOTICE_BYTES_MAX, NUMBERS_MAX, Notice};
    use crate::conversation::Span;

    #[test]
    fn a_notice_comes_back_from_its_bytes() {
        let awaited: Vec<usize> = (0..NUMBERS_MAX).map(|index| index * 70_000).collect();
        let notices = [
            Notice::GivenUp {
                exchange: 65_535,
                silent: Some(Span {
                    first: 70_000,
                    count: 2,
                }),
            },
            Notice::GivenUp {
                exchange: 1,
                silent: Some(Span::default()),
            },
            Notice::GivenUp {
                exchange: 1,
                silent: None,
            },
            Notice::Waiting { exchange: 9 },
            Notice::Question { number: 65_535 },
            Notice::Answer {
                number: 7,
                awaited: Vec::new(),
            },
            Notice::Answer { number: 7, awaited },
        ];
        for notice in notices {
            let bytes = notice.to_bytes();
            assert!(bytes.len() <= NOTICE_BYTES_MAX);
            assert_eq!(Notice::from_bytes(&bytes), Some(notice));
        }
    }

    #[test]
    fn an_answer_names_as_many_ranks_as_there_is_room_for() {
        let answer = Notice::Answer {
            number: 1,
            awaited: vec![5; NUMBERS_MAX + 1],
        };
        assert_eq!(answer.to_bytes().len(), NOTICE_BYTES_MAX);
    }

    #[test]
    fn what_is_no_notice_is_none() {
        for bytes in [
            &[][..],
            &[0, 0],
            &[0, 0, 1, 0, 9, 0, 0, 0],
            &[4, 0, 0, 0],
            &[1, 0, 0, 0, 7],
        ] {
            assert_eq!(Notice::from_bytes(bytes), None, "{bytes:?}");
        }
    }
}
