//! Bruck's global combine with n ports (paper 4, eq. 20 to 24, where the update of c is missing).
//!
//! ```text
//! p = 5, n = 1, position 0   holds
//! p - 1 = 100 in base n + 1  0
//! digit 1: from 1            0 1
//! digit 0: from 1            0 1 2          all that 1 has but its own
//! digit 0: from 2            0 1 2 3 4      all that 2 has but its own
//! ```
//!
//! With c positions held besides one's own and a digit a of p - 1 in base n + 1: the a nearest blocks of c + 1 positions come whole, from every
//! (c + 1)-th position on; the n - a blocks of c behind them without their senders' own. Then c is c (n + 1) + a.
//! ceil(log_(n+1) p) rounds for every p; p (a + (K - 1) n) messages, a being the first digit.

use crate::cyclic;
use crate::model::{Step, Transfer};

/// The reduction of all to all.
pub(crate) fn allreduce(
    ports: usize,
    ranks: usize,
    rank: usize,
) -> impl Iterator<Item = Step> + use<> {
    let base = ports + 1;
    let mut places = Vec::new();
    let mut rest = ranks - 1;
    while rest > 0 {
        places.push(rest % base);
        rest /= base;
    }
    let held_before = std::iter::once(0).chain(places.clone().into_iter().rev().scan(
        0,
        move |held, digit| {
            *held = *held * base + digit;
            Some(*held)
        },
    ));
    places
        .into_iter()
        .rev()
        .zip(held_before)
        .map(move |(digit, held)| {
            // How far on a block's sender is, whether it sends its own, too.
            let whole = (1..=digit).map(|i| (i * (held + 1), true));
            let others = (1..=ports - digit).map(|i| (digit * (held + 1) + i * held, false));
            let blocks: Vec<(usize, bool)> = whole.chain(others.filter(|_| held > 0)).collect();
            let sent = |from: usize, with_own: bool| {
                let own = usize::from(with_own);
                cyclic::pieces(ranks, from + 1 - own, held + own, 0..1)
            };
            Step {
                sends: blocks
                    .iter()
                    .map(|&(distance, with_own)| {
                        let to = (rank + ranks - distance) % ranks;
                        Transfer::new(to, sent(rank, with_own))
                    })
                    .collect(),
                receives: blocks
                    .iter()
                    .map(|&(distance, with_own)| {
                        let from = (rank + distance) % ranks;
                        Transfer::new(from, sent(from, with_own))
                    })
                    .collect(),
            }
        })
}
