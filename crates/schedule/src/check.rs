//! The proof of a schedule for a given p: what is said to be sent is there, what is sent is received, and nobody waits in a
//! cycle.
//!
//! A piece that is sent must be tiled by pieces that were held before the step, and a piece that is received is the very one
//! that was sent. So, if no position waits in a cycle, every piece is by induction what its name says: the reduction
//! of its positions, each once and in order. What is wanted must be tiled, too.
//!
//! Waiting is checked as if sends were synchronous: a step ends when all its sends and receives have met the
//! other side's. Whatever comes through that comes through under any transport.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::model::{Piece, Schedule, Step};
use crate::tile::tile;

/// What a schedule costs, counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The most communicating steps of any position.
    pub steps: usize,
    /// The rounds until the last position is done, if every step takes one after those that it waits for.
    pub rounds: usize,
    /// All messages.
    pub messages: usize,
}

/// What is wrong with a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A position sends what it has not.
    #[error("position {rank}, step {step}: {piece} is sent to {to}, but is not held")]
    NotHeld {
        /// The sender.
        rank: usize,
        /// Its step, from 0.
        step: usize,
        /// The receiver.
        to: usize,
        /// What it has not.
        piece: Piece,
    },
    /// A position lacks what it wants.
    #[error("position {rank} ends without {piece}")]
    NotDelivered {
        /// The position.
        rank: usize,
        /// What it lacks.
        piece: Piece,
    },
    /// A message without a receive, or a receive without a message.
    #[error("{from} sends {sent} messages to {to}, which receives {received}")]
    Unmatched {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// How many are sent.
        sent: usize,
        /// How many are received.
        received: usize,
    },
    /// The two ends of a message disagree.
    #[error("message {number} from {from} to {to}: {sent:?} is sent, {received:?} is received")]
    Different {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// Which of their messages, from 0.
        number: usize,
        /// What is sent.
        sent: Vec<Piece>,
        /// What is received.
        received: Vec<Piece>,
    },
    /// Positions wait for each other for ever.
    #[error("a cycle of waits: {0:?}")]
    Cycle(
        /// Who waits for whom.
        Vec<(usize, usize)>,
    ),
    /// A peer that does not exist, or oneself.
    #[error("position {rank}, step {step}: {peer} is no peer")]
    NoPeer {
        /// The position.
        rank: usize,
        /// Its step, from 0.
        step: usize,
        /// Who is named.
        peer: usize,
    },
}

/// Checks a schedule.
///
/// # Errors
///
/// The first violation that is found.
pub fn check(schedule: &Schedule) -> Result<Report, Violation> {
    let programs: Vec<Vec<Step>> = (0..schedule.ranks())
        .map(|rank| schedule.steps(rank).collect())
        .collect();
    check_programs(
        &programs,
        |rank| schedule.held(rank),
        |rank| schedule.wanted(rank),
    )
}

/// Checks the programs of all positions, given what each holds at the start and wants at the end.
///
/// # Errors
///
/// The first violation that is found.
pub fn check_programs(
    programs: &[Vec<Step>],
    held: impl Fn(usize) -> Vec<Piece>,
    wanted: impl Fn(usize) -> Vec<Piece>,
) -> Result<Report, Violation> {
    for (rank, program) in programs.iter().enumerate() {
        check_holdings(rank, program, programs.len(), held(rank), &wanted(rank))?;
    }
    let streams = match_messages(programs)?;
    let rounds = check_waits(programs, &streams)?;
    let is_communicating = |step: &&Step| !step.sends.is_empty() || !step.receives.is_empty();
    let steps = programs
        .iter()
        .map(|program| program.iter().filter(is_communicating).count());
    Ok(Report {
        steps: steps.max().unwrap_or(0),
        rounds,
        messages: streams
            .values()
            .map(|stream| stream.len())
            .fold(0, |sum, count| sum + count),
    })
}

/// One position by itself: it sends what it has, and ends with what it wants.
fn check_holdings(
    rank: usize,
    program: &[Step],
    ranks: usize,
    held: Vec<Piece>,
    wanted: &[Piece],
) -> Result<(), Violation> {
    let mut holdings = Holdings::default();
    held.into_iter().for_each(|piece| holdings.add(piece));
    for (number, step) in program.iter().enumerate() {
        for transfer in step.sends.iter().chain(&step.receives) {
            let peer = transfer.peer;
            if peer >= ranks || peer == rank {
                return Err(Violation::NoPeer {
                    rank,
                    step: number,
                    peer,
                });
            }
        }
        for send in &step.sends {
            if let Some(piece) = send.pieces.iter().find(|&piece| !holdings.have(piece)) {
                return Err(Violation::NotHeld {
                    rank,
                    step: number,
                    to: send.peer,
                    piece: piece.clone(),
                });
            }
        }
        let received = step.receives.iter().flat_map(|receive| &receive.pieces);
        received.for_each(|piece| holdings.add(piece.clone()));
    }
    match wanted.iter().find(|&piece| !holdings.have(piece)) {
        None => Ok(()),
        Some(piece) => Err(Violation::NotDelivered {
            rank,
            piece: piece.clone(),
        }),
    }
}

/// What a position holds, by first position.
#[derive(Default)]
struct Holdings(BTreeMap<usize, Vec<Piece>>);

impl Holdings {
    fn add(&mut self, piece: Piece) {
        self.0.entry(piece.ranks.start).or_default().push(piece);
    }

    fn have(&self, piece: &Piece) -> bool {
        piece.ranks.is_empty()
            || self.have_in(&piece.ranks, &piece.blocks)
            || piece.blocks.len() > 1
                && piece
                    .blocks
                    .clone()
                    .all(|block| self.have_in(&piece.ranks, &(block..block + 1)))
    }

    fn have_in(&self, ranks: &Range<usize>, blocks: &Range<usize>) -> bool {
        let longest = |start, end_max| {
            self.0
                .get(&start)?
                .iter()
                .filter(|held| held.ranks.end <= end_max)
                .filter(|held| held.blocks.start <= blocks.start && blocks.end <= held.blocks.end)
                .map(|held| (held.ranks.end, ()))
                .max()
        };
        tile(ranks, longest).is_some()
    }
}

/// By sender and receiver: the steps in which each message is sent and received.
type Streams = BTreeMap<(usize, usize), Vec<(usize, usize)>>;

fn match_messages(programs: &[Vec<Step>]) -> Result<Streams, Violation> {
    type Ends<'p> = Vec<(usize, &'p [Piece])>;
    let mut ends: BTreeMap<(usize, usize), (Ends<'_>, Ends<'_>)> = BTreeMap::new();
    for (rank, program) in programs.iter().enumerate() {
        for (number, step) in program.iter().enumerate() {
            for send in &step.sends {
                let (sends, _) = ends.entry((rank, send.peer)).or_default();
                sends.push((number, &send.pieces));
            }
            for receive in &step.receives {
                let (_, receives) = ends.entry((receive.peer, rank)).or_default();
                receives.push((number, &receive.pieces));
            }
        }
    }
    let mut streams = Streams::new();
    for ((from, to), (sends, receives)) in ends {
        if sends.len() != receives.len() {
            return Err(Violation::Unmatched {
                from,
                to,
                sent: sends.len(),
                received: receives.len(),
            });
        }
        let pairs = sends.iter().zip(&receives).enumerate();
        for (number, ((_, sent), (_, received))) in pairs {
            if sent != received {
                return Err(Violation::Different {
                    from,
                    to,
                    number,
                    sent: sent.to_vec(),
                    received: received.to_vec(),
                });
            }
        }
        let steps = sends.iter().zip(&receives).map(|(&(s, _), &(r, _))| (s, r));
        streams.insert((from, to), steps.collect());
    }
    Ok(streams)
}

/// Lets every position go as far as synchronous sends allow, and returns the rounds that it takes.
fn check_waits(programs: &[Vec<Step>], streams: &Streams) -> Result<usize, Violation> {
    // For every position and step, whom it must meet, and in which of their steps.
    let mut meetings: Vec<Vec<Vec<(usize, usize)>>> = programs
        .iter()
        .map(|program| vec![Vec::new(); program.len()])
        .collect();
    for (&(from, to), steps) in streams {
        for &(send_step, receive_step) in steps {
            meetings[from][send_step].push((to, receive_step));
            meetings[to][receive_step].push((from, send_step));
        }
    }
    let mut reached = vec![0; programs.len()];
    // The round in which each position has come to its next step.
    let mut begun: Vec<Vec<usize>> = vec![vec![0]; programs.len()];
    let mut to_visit: Vec<usize> = (0..programs.len()).collect();
    while let Some(rank) = to_visit.pop() {
        while let Some(peers) = meetings[rank].get(reached[rank]) {
            if peers.iter().any(|&(peer, step)| reached[peer] < step) {
                break;
            }
            // Both ends have to be there; a step without messages takes no time.
            let met = peers.iter().map(|&(peer, step)| begun[peer][step]).max();
            let own = begun[rank][reached[rank]];
            let ended = met.map_or(own, |met| met.max(own) + 1);
            begun[rank].push(ended);
            reached[rank] += 1;
            // Those that it meets next may have waited for this.
            if let Some(next) = meetings[rank].get(reached[rank]) {
                to_visit.extend(next.iter().map(|&(peer, _)| peer));
            }
        }
    }
    let waits: Vec<(usize, usize)> = (0..programs.len())
        .filter_map(|rank| {
            let peers = meetings[rank].get(reached[rank])?;
            let late = peers.iter().find(|&&(peer, step)| reached[peer] < step);
            late.map(|&(peer, _)| (rank, peer))
        })
        .collect();
    if waits.is_empty() {
        let last = begun.iter().filter_map(|rounds| rounds.last().copied());
        Ok(last.max().unwrap_or(0))
    } else {
        Err(Violation::Cycle(waits))
    }
}
