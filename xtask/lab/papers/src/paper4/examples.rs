//! Table I and the worked examples, Figures 1, 3 and 4: what each rank has after each round, from our schedules' own steps.

use std::collections::BTreeSet;

use harness::Error;
use schedule::{Algorithm, Piece, Step, Transfer};

use super::{allreduce, boundary};
use crate::Context;
use crate::page::{Page, row};
use crate::said::{joined, listed, yes};

/// A cell's operands, such as x_0 and S_1^6.
type Cell = Vec<String>;

/// Rounds 0, 1 and 2 of a rank in the published tables: for 9 ranks, or for 8 ranks without adaptation. After a round, a rank has its own
/// result and those of two ranks, which are 1 and 2 ranks behind it in round 1, and 3 and 6 in round 2.
fn published(ranks: usize, rank: usize) -> [Cell; 3] {
    let behind = |round: usize, distance: usize| {
        let operand = |times| result(round, (rank + 2 * ranks - times * distance) % ranks);
        [0, 1, 2].map(operand).to_vec()
    };
    [vec![result(0, rank)], behind(0, 1), behind(1, 3)]
}

/// The ranks of some pieces.
fn ranks_of(pieces: &[Piece]) -> BTreeSet<usize> {
    let positions = pieces.iter().map(|piece| piece.positions.clone());
    positions.flatten().collect()
}

/// S_l^p, the result of rank p after round l. Before the first round, this is its value x_p.
fn result(round: usize, rank: usize) -> String {
    match round {
        0 => format!("x_{rank}"),
        _ => format!("S_{round}^{rank}"),
    }
}

/// The operands from a peer: the peer's result or, if the message is adapted, the values x_p that it has, from the peer's backwards.
fn operands(round: usize, ranks: usize, transfer: &Transfer) -> Cell {
    let (peer, received) = (transfer.peer, ranks_of(&transfer.pieces));
    if received.len() == HELD[round] {
        return vec![result(round, peer)];
    }
    let behind = (0..ranks).map(|distance| (peer + ranks - distance) % ranks);
    let behind = behind.filter(|rank| received.contains(rank));
    behind.map(|rank| format!("x_{rank}")).collect()
}

/// How many ranks' values each rank has before rounds 1 and 2.
const HELD: [usize; 2] = [1, 3];

/// What a rank has after each round of our schedule, as operands.
fn ours(ranks: usize, rank: usize) -> Vec<Cell> {
    let steps = steps(Algorithm::Dissemination, Some(2), ranks, rank);
    let rounds = steps.iter().enumerate().map(|(round, step)| {
        let received = step.receives.iter();
        let received = received.flat_map(|receive| operands(round, ranks, receive));
        [result(round, rank)].into_iter().chain(received).collect()
    });
    let own = vec![result(0, rank)];
    [own].into_iter().chain(rounds).collect()
}

/// Compares Table I with our schedule.
pub(super) fn partial_results(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Table I, partial results of 2-way dissemination");
    page.text("x_p is rank p's own value, S_l^p its result after round l. The cells follow from the receives of our schedule `dissemination` with n = 2; operands are in the order of messages.");
    let tables = [9, 8];
    for ranks in tables {
        page.text(format!("## {ranks} ranks, ours"));
        let rows = (0..ranks).map(|rank| row(rank, ours(ranks, rank).iter().map(in_words)));
        page.table("rank | round 0 | round 1 | round 2", rows);
    }
    let unadapted = "the paper's second table shows the unadapted algorithm, in which rank 0 counts x_0 twice (eq. 3). Ours is adapted: the last sender sends only the nearest 2 of its 3 contributions";
    for ranks in tables {
        for round in 0..3 {
            let is_alike =
                |&rank: &usize| published(ranks, rank)[round] == ours(ranks, rank)[round];
            let alike = (0..ranks).filter(is_alike).count();
            let why = if (ranks, round) == (8, 2) {
                unadapted
            } else {
                ""
            };
            page.compare(format!(
                "{ranks} ranks, round {round}: cells as published | {ranks} of {ranks} | {alike} of {ranks} | {why}"
            ));
        }
    }
    page.compare(format!(
        "8 ranks, rank 0, round 2 | S_1^0 ∘ S_1^5 ∘ S', S' = x_2 ∘ x_1 (Figure 3) | {}",
        in_words(&ours(8, 0)[2])
    ));
    Ok(())
}

fn in_words(cell: &Cell) -> String {
    joined(cell, " ∘ ")
}

/// A rank's steps.
fn steps(algorithm: Algorithm, ports: Option<usize>, ranks: usize, rank: usize) -> Vec<Step> {
    allreduce(algorithm, ports, ranks).steps(rank).collect()
}

/// The peers of some messages, in their order.
fn peers(transfers: &[Transfer]) -> String {
    listed(transfers.iter().map(|transfer| transfer.peer))
}

/// The ranks whose values a message to or from a peer has.
fn ranks_with(transfers: &[Transfer], peer: usize) -> String {
    let mut own = transfers.iter().filter(|transfer| transfer.peer == peer);
    let ranks = own.next().map(|transfer| ranks_of(&transfer.pieces));
    ranks.map_or("nothing".to_owned(), |ranks| format!("{ranks:?}"))
}

/// Compares the examples of Figures 1 to 4 with our schedules.
pub(super) fn worked(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figures 1, 3 and 4, eq. 3 and 15 to 24, the worked examples");
    page.text("This page compares what the paper's text and formulas say about the examples with the steps of our schedules. The figures themselves are only pictures.");
    page.text("## Figure 1: pairwise exchange, P = 5");
    let exchange = |rank| steps(Algorithm::PairwiseExchange, None, 5, rank);
    let leftover = exchange(4);
    page.compare(format!(
        "rank 4, left over (q = 1), first sends to | one of the first q ranks: 0 | {}
        rank 4 finally receives the result from | 0 | {}
        number of rank 4's steps | 2: before and after the other ranks' steps | {}
        steps of rank 0: the butterfly's rounds, and one step before and one after for rank 4 | – | {} | floor(log2 5) + 2",
        peers(&leftover[0].sends),
        peers(&leftover[leftover.len() - 1].receives),
        leftover.len(),
        (0..5).map(|rank| exchange(rank).len()).max().unwrap_or(0),
    ));
    dissemination(page);
    bruck(page);
    Ok(())
}

fn dissemination(page: &mut Page) {
    let [of_five, of_eight] = [5, 8].map(|ranks| {
        let rounds = &ours(ranks, 0)[1..];
        joined(rounds.iter().map(in_words), "; ")
    });
    let zero = steps(Algorithm::Dissemination, Some(2), 8, 0);
    let two = steps(Algorithm::Dissemination, Some(2), 8, 2);
    let (held, ranks) = (3, 8);
    // The rank at a distance behind rank 0, modulo P.
    let behind = |distance: usize| (ranks - distance % ranks) % ranks;
    let own = [1, 2].map(|peer| behind(boundary(2, 1, peer)));
    let second = [1, 2].map(|peer| behind(2 * held + boundary(2, 1, peer)));
    let border = behind(ranks - 1);
    page.text("## Figures 2 and 3: 2-way dissemination, P = 5 and P = 8");
    page.compare(format!(
        "P = 5, rank 0: rounds 1 and 2 | – | {of_five} | Figure 2 is only a picture; the checker proves that the adapted scheme counts every rank once
        P = 8: rank 0 receives in round 1 from | 7, 6 | {}
        P = 8: rank 0 receives in round 2 from | 5, 2 | {}
        eq. 5: g_1[1], g_1[2] of rank 0 | – | {} | the last rank of each range, inclusive
        eq. 6: g_1^2[1], g_1^2[2] of rank 0's second sender, rank 2 | – | {}
        g_B of rank 0 and g_1^2[1] coincide | yes | {} | both are {border}, which is P - 1 behind rank 0
        rank 2 sends to rank 0 the reduction of ranks | x_2 ∘ x_1 | {}
        P = 8, rank 0: rounds 1 and 2 | eq. 3: x_0 twice without adaptation; with it, S_1^0 ∘ S_1^5 ∘ (x_2 ∘ x_1) | {of_eight}",
        peers(&zero[0].receives),
        peers(&zero[1].receives),
        listed(own),
        listed(second),
        yes(border == second[0]),
        ranks_with(&two[1].sends, 0),
    ));
}

fn bruck(page: &mut Page) {
    let (ports, ranks) = (2, 8);
    let steps = steps(Algorithm::Bruck, Some(ports), ranks, 0);
    let base = ports + 1;
    let digits = [(ranks - 1) / base, (ranks - 1) % base];
    let mut held: BTreeSet<usize> = BTreeSet::from([0]);
    let counts = steps.iter().map(|step| {
        let received = step.receives.iter();
        held.extend(received.flat_map(|receive| ranks_of(&receive.pieces)));
        held.len() - 1
    });
    let counts = listed(counts);
    let [one, two] = &steps[..] else {
        panic!("two rounds");
    };
    page.text("## Figure 4: Bruck's global combine, P = 8, n = 2");
    page.compare(format!(
        "eq. 15: (alpha_1, alpha_0) of P - 1 = 7 in base 3 | [2, 1] | {digits:?}
        rounds | 2 | {}
        eq. 16, 17: rank 0 sends in round 1 to | 7, 6 | {}
        rank 0 receives in round 1 from | 1, 2 | {}
        c, after rounds 1 and 2 | 2 | {counts} | the paper does not print the update of c after the first round: c (n + 1) + alpha
        eq. 20, 21: rank 0 sends in round 2 to | 5, 3 | {}
        to 5 it sends S_2[1], with its own value | x_0 ∘ x_1 ∘ x_2 (eq. 19) | {}
        to 3 it sends S_2[0], without its own value | x_1 ∘ x_2 (eq. 18) | {}
        eq. 22, 23: rank 0 receives in round 2 from | 3, 5 | {}
        eq. 24: from 3 | (x_3 ∘ x_4 ∘ x_5) | {}
        eq. 24: from 5 | (x_6 ∘ x_7) | {}",
        steps.len(),
        peers(&one.sends),
        peers(&one.receives),
        peers(&two.sends),
        ranks_with(&two.sends, 5),
        ranks_with(&two.sends, 3),
        peers(&two.receives),
        ranks_with(&two.receives, 3),
        ranks_with(&two.receives, 5),
    ));
}
