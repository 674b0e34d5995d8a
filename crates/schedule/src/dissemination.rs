//! n-way dissemination and its adaption to numbers of ranks that are no power of n + 1 (paper 4, Theorem 1).
//!
//! ```text
//! p = 8, n = 2, position 0     holds                        m = 3
//! round 1: from 7, 6           6 7 0
//! round 2: from 5, 3           6 7 0 | 3 4 5 | 1 2          sender 2 sends its nearest b = 2
//! ```
//!
//! In round l a position gets what those (n + 1)^(l-1), 2 (n + 1)^(l-1), … behind it hold, n of them. Before the last of
//! K = ceil(log_(n+1) p) rounds it holds m = (n + 1)^(K-1) positions, and p = s m + b - c with 1 <= s <= n: in the last round s - 1 senders send everything and one
//! more its nearest b; if that reaches around to the receiver's own, it leaves out its nearest c. Nothing can be subtracted from a
//! floating-point sum, so b and c have to be boundaries between pieces that were stored: 0, 1, or (j + 1)(n + 1)^(l-1). Where there are none
//! such (p = 13 for n = 1, p = 40 for n = 2), [`adaption`] says so, and Bruck's combine with the same n takes the same rounds.
//!
//! K rounds, p((K - 1) n + s) messages, one fewer a position where b = 0.

use crate::cyclic;
use crate::model::{Step, Transfer};

/// How p is made up in the last round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Adaption {
    /// What every position holds before it.
    pub(crate) held: usize,
    /// The senders, of which the last sends b.
    pub(crate) senders: usize,
    /// b: the positions that the last sender sends.
    pub(crate) sent: usize,
    /// c: the positions that the receiver leaves out of its own.
    pub(crate) left_out: usize,
}

/// The adaption of n-way dissemination to p positions, with the fewest positions counted in vain; `None` if there is none.
pub(crate) fn adaption(ports: usize, ranks: usize) -> Option<Adaption> {
    let mut held = 1;
    while held * (ports + 1) < ranks {
        held *= ports + 1;
    }
    let mut boundaries = vec![0, 1];
    let mut unit = 1;
    while unit < held {
        boundaries.extend((1..=ports).map(|j| (j + 1) * unit));
        unit *= ports + 1;
    }
    let mut found: Vec<Adaption> = Vec::new();
    for senders in 1..=ports {
        for &left_out in &boundaries {
            let Some(sent) = (ranks + left_out).checked_sub(senders * held) else {
                continue;
            };
            if boundaries.contains(&sent) && sent <= held && left_out <= held {
                found.push(Adaption {
                    held,
                    senders,
                    sent,
                    left_out,
                });
            }
        }
    }
    found
        .into_iter()
        .min_by_key(|adaption| (adaption.left_out, adaption.senders))
}

/// The reduction of all to all; `adaption` is that of n and p.
pub(crate) fn allreduce(
    ports: usize,
    adaption: Adaption,
    ranks: usize,
    rank: usize,
) -> impl Iterator<Item = Step> + use<> {
    let behind = move |from: usize, distance: usize| (from + ranks - distance % ranks) % ranks;
    // The `width` nearest of what `from` holds: itself and those behind it.
    let held = move |from: usize, width: usize| {
        cyclic::pieces(ranks, behind(from, width - 1), width, 0..1)
    };
    // From each distance behind, so many of the nearest that are held there.
    let exchange = move |widths: Vec<(usize, usize)>| Step {
        sends: widths
            .iter()
            .map(|&(distance, width)| Transfer::new((rank + distance) % ranks, held(rank, width)))
            .collect(),
        receives: widths
            .iter()
            .map(|&(distance, width)| {
                let peer = behind(rank, distance);
                Transfer::new(peer, held(peer, width))
            })
            .collect(),
    };
    let Adaption {
        held: last_held,
        senders,
        sent,
        ..
    } = adaption;
    let units = std::iter::successors(Some(1), move |unit| Some(unit * (ports + 1)));
    let rounds = units
        .take_while(move |&unit| unit < last_held)
        .map(move |unit| exchange((1..=ports).map(|j| (j * unit, unit)).collect()));
    let last = (1..=senders)
        .map(|i| (i * last_held, if i < senders { last_held } else { sent }))
        .filter(|&(distance, width)| width > 0 && distance % ranks != 0)
        .collect();
    rounds.chain((ranks > 1).then(|| exchange(last)))
}
