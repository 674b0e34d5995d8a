//! Checks all positions together: each message has two ends that agree, and no positions wait for each other in a cycle.

use std::collections::BTreeMap;

use super::violation::Violation;
use crate::vocabulary::{Piece, Step};

/// For each sender and receiver, their messages, each as the sender's step and the receiver's step.
pub(super) type Streams = BTreeMap<(usize, usize), Vec<(usize, usize)>>;

/// Pairs the sends from each position to another position with the receives of the latter, in order.
pub(super) fn match_messages(programs: &[Vec<Step>]) -> Result<Streams, Violation> {
    type Ends<'p> = Vec<(usize, &'p [Piece])>;
    let mut ends: BTreeMap<(usize, usize), (Ends<'_>, Ends<'_>)> = BTreeMap::new();
    for (position, program) in programs.iter().enumerate() {
        for (number, step) in program.iter().enumerate() {
            for send in &step.sends {
                let (sends, _) = ends.entry((position, send.peer)).or_default();
                sends.push((number, &send.pieces));
            }
            for receive in &step.receives {
                let (_, receives) = ends.entry((receive.peer, position)).or_default();
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

/// Advances every position as far as synchronous sends allow, and returns the number of rounds until the last position has ended.
pub(super) fn check_waits(programs: &[Vec<Step>], streams: &Streams) -> Result<usize, Violation> {
    // For every position and step, the peers that the position must meet, and the number of the peer's step.
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
    // For each position, the rounds in which it began its steps; the last entry is for the step that comes next.
    let mut begun: Vec<Vec<usize>> = vec![vec![0]; programs.len()];
    let mut to_visit: Vec<usize> = (0..programs.len()).collect();
    while let Some(position) = to_visit.pop() {
        while let Some(peers) = meetings[position].get(reached[position]) {
            if peers.iter().any(|&(peer, step)| reached[peer] < step) {
                break;
            }
            // A message takes a round once both ends have arrived; a step without messages takes no round.
            let met = peers.iter().map(|&(peer, step)| begun[peer][step]).max();
            let own = begun[position][reached[position]];
            let ended = met.map_or(own, |met| met.max(own) + 1);
            begun[position].push(ended);
            reached[position] += 1;
            // The peers of the next step may have waited for this position.
            if let Some(next) = meetings[position].get(reached[position]) {
                to_visit.extend(next.iter().map(|&(peer, _)| peer));
            }
        }
    }
    let waits: Vec<(usize, usize)> = (0..programs.len())
        .filter_map(|position| {
            let peers = meetings[position].get(reached[position])?;
            let late = peers.iter().find(|&&(peer, step)| reached[peer] < step);
            late.map(|&(peer, _)| (position, peer))
        })
        .collect();
    if waits.is_empty() {
        let last = begun.iter().filter_map(|rounds| rounds.last().copied());
        Ok(last.max().unwrap_or(0))
    } else {
        Err(Violation::Cycle(waits))
    }
}
