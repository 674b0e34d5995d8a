//! n-way dissemination and its adaption to numbers of ranks that are not a power of n + 1 (paper 4, Theorem 1).
//!
//! ```text
//! p = 8, n = 2, position 0     holds                        m = 3
//! round 1: from 7, 6           6 7 0
//! round 2: from 5, 3           6 7 0 | 3 4 5 | 1 2          sender 2 sends its nearest b = 2
//! ```
//!
//! In round l, a position receives all that n others hold, which are (n + 1)^(l-1), 2 (n + 1)^(l-1), … positions behind it. Before
//! the last of K = ceil(log_(n+1) p) rounds, it holds the pieces of m = (n + 1)^(K-1) positions. Write p = s m + b - c with
//! 1 <= s <= n and 1 <= b <= m. In the last round, s - 1 senders send all their m pieces, and one more sends its nearest b. If the
//! received pieces overlap with the m pieces that the receiver holds, the receiver leaves out its own nearest c.
//!
//! Nothing can be subtracted from a floating-point sum, so the nearest b positions must be whole stored pieces, as must the nearest c.
//! Each of b and c is therefore 1 or (j + 1)(n + 1)^(l-1), with 1 <= j <= n; c may also be 0. For some p there are no such b and c (p = 13
//! for n = 1, p = 40 for n = 2). Then [`adaption`] returns `None`, and Bruck's combine with the same n runs in the same number of rounds.
//!
//! Dissemination takes K rounds and p((K - 1) n + s) messages.

use std::iter;

use crate::vocabulary::{Piece, Step, Transfer};

/// The numbers in p = s m + b - c that define the last round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Adaption {
    /// m: the number of positions whose pieces every position holds before the last round.
    held: usize,
    /// s: the number of senders to each position; the last sender sends only b pieces.
    senders: usize,
    /// b: the number of positions whose pieces the last sender sends.
    sent: usize,
}

/// The adaption of n-way dissemination to p positions with the least c and, on a tie, the least s; `None` if there is none.
///
/// Takes O(n log p) time.
pub(crate) fn adaption(ports: usize, ranks: usize) -> Option<Adaption> {
    let base = ports + 1;
    let mut held = 1;
    while held * base < ranks {
        held *= base;
    }
    // c: 0, 1, then (j + 1)(n + 1)^(l-1) for every round l before the last, in ascending order.
    let units = iter::successors(Some(1), |unit| Some(unit * base)).take_while(|&unit| unit < held);
    let multiples = units.flat_map(|unit| (1..=ports).map(move |j| (j + 1) * unit));
    let mut left_out = [0, 1].into_iter().chain(multiples);
    left_out.find_map(|left_out| {
        let (senders, rest) = ((ranks + left_out - 1) / held, (ranks + left_out - 1) % held);
        let adaption = Adaption {
            held,
            senders,
            sent: rest + 1,
        };
        let is_adapted = (1..=ports).contains(&senders) && is_boundary(adaption.sent, base);
        is_adapted.then_some(adaption)
    })
}

/// Whether the nearest `width` positions that a position holds are whole received pieces: `width` is 1 or (j + 1)(n + 1)^(l-1).
fn is_boundary(width: usize, base: usize) -> bool {
    let mut rest = width;
    while rest.is_multiple_of(base) {
        rest /= base;
    }
    rest < base
}

/// The steps of an allreduce; `adaption` must have been found for n = `ports` and p = `ranks`.
pub(crate) fn allreduce(
    ports: usize,
    adaption: Adaption,
    ranks: usize,
    position: usize,
) -> impl Iterator<Item = Step> + use<> {
    let behind = move |from: usize, distance: usize| (from + ranks - distance % ranks) % ranks;
    // The `width` nearest positions that `from` holds: `from` and those behind it.
    let held =
        move |from: usize, width: usize| Piece::cyclic(ranks, behind(from, width - 1), width, 0..1);
    // `widths`: for each distance, the number of nearest positions whose pieces the sender at that distance sends.
    let exchange = move |widths: Vec<(usize, usize)>| {
        let sends = widths.iter().map(|&(distance, width)| {
            Transfer::new((position + distance) % ranks, held(position, width))
        });
        let receives = widths.iter().map(|&(distance, width)| {
            let peer = behind(position, distance);
            Transfer::new(peer, held(peer, width))
        });
        Step::new(sends, receives)
    };
    let Adaption {
        held: last_held,
        senders,
        sent,
    } = adaption;
    let units = iter::successors(Some(1), move |unit| Some(unit * (ports + 1)));
    let rounds = units
        .take_while(move |&unit| unit < last_held)
        .map(move |unit| exchange((1..=ports).map(|j| (j * unit, unit)).collect()));
    let last = (1..=senders)
        .map(|i| (i * last_held, if i < senders { last_held } else { sent }))
        .filter(|&(distance, width)| width > 0 && distance % ranks != 0)
        .collect();
    rounds.chain((ranks > 1).then(|| exchange(last)))
}
