//! Table I and the worked examples, Figures 1, 3 and 4: what each rank has after each round, from our schedules' own steps.

use std::collections::BTreeSet;

use harness::Error;
use schedule::{Algorithm, Piece, Step, Transfer};

use super::adaption::boundary;
use super::allreduce;
use crate::said::{listed, part_of};
use crate::values::row;
use crate::{Context, Values};

/// The first table as it was published, for 9 ranks: rank, rounds 0, 1 and 2. S_l^p is what rank p has after round l.
const NINE: &str = r"
0	x_0	S_1^0 = x_0 \circ x_8 \circ x_7	S_2^0 = S_1^0 \circ S_1^6 \circ S_1^3
1	x_1	S_1^1 = x_1 \circ x_0 \circ x_8	S_2^1 = S_1^1 \circ S_1^7 \circ S_1^4
2	x_2	S_1^2 = x_2 \circ x_1 \circ x_0	S_2^2 = S_1^2 \circ S_1^8 \circ S_1^5
3	x_3	S_1^3 = x_3 \circ x_2 \circ x_1	S_2^3 = S_1^3 \circ S_1^0 \circ S_1^6
4	x_4	S_1^4 = x_4 \circ x_3 \circ x_2	S_2^4 = S_1^4 \circ S_1^1 \circ S_1^7
5	x_5	S_1^5 = x_5 \circ x_4 \circ x_3	S_2^5 = S_1^5 \circ S_1^2 \circ S_1^8
6	x_6	S_1^6 = x_6 \circ x_5 \circ x_4	S_2^6 = S_1^6 \circ S_1^3 \circ S_1^0
7	x_7	S_1^7 = x_7 \circ x_6 \circ x_5	S_2^7 = S_1^7 \circ S_1^4 \circ S_1^1
8	x_8	S_1^8 = x_8 \circ x_7 \circ x_6	S_2^8 = S_1^8 \circ S_1^5 \circ S_1^2";

/// The second one, for 8 ranks without adaption.
const EIGHT: &str = r"
0	x_0	S_1^0 = x_0 \circ x_7 \circ x_6	S_2^0 = S_1^0 \circ S_1^5 \circ S_1^2
1	x_1	S_1^1 = x_1 \circ x_0 \circ x_7	S_2^1 = S_1^1 \circ S_1^6 \circ S_1^3
2	x_2	S_1^2 = x_2 \circ x_1 \circ x_0	S_2^2 = S_1^2 \circ S_1^7 \circ S_1^4
3	x_3	S_1^3 = x_3 \circ x_2 \circ x_1	S_2^3 = S_1^3 \circ S_1^0 \circ S_1^5
4	x_4	S_1^4 = x_4 \circ x_3 \circ x_2	S_2^4 = S_1^4 \circ S_1^1 \circ S_1^6
5	x_5	S_1^5 = x_5 \circ x_4 \circ x_3	S_2^5 = S_1^5 \circ S_1^2 \circ S_1^7
6	x_6	S_1^6 = x_6 \circ x_5 \circ x_4	S_2^6 = S_1^6 \circ S_1^3 \circ S_1^0
7	x_7	S_1^7 = x_7 \circ x_6 \circ x_5	S_2^7 = S_1^7 \circ S_1^4 \circ S_1^1";

/// A cell's operands, as x_0 and S_1^6.
type Cell = Vec<String>;

/// Rounds 0, 1 and 2 of all ranks.
fn published(table: &str) -> Vec<Vec<Cell>> {
    let operands = |cell: &str| -> Cell {
        let value = cell.rsplit(" = ").next().unwrap_or(cell);
        value.split(r" \circ ").map(str::to_owned).collect()
    };
    let rows = table.trim().lines();
    rows.map(|row| row.split('\t').skip(1).map(operands).collect())
        .collect()
}

/// The ranks of some pieces.
fn ranks_of(pieces: &[Piece]) -> BTreeSet<usize> {
    pieces
        .iter()
        .flat_map(|piece| piece.positions.clone())
        .collect()
}

/// S_round^rank, which is x_rank before the first round.
fn result(round: usize, rank: usize) -> String {
    match round {
        0 => format!("x_{rank}"),
        _ => format!("S_{round}^{rank}"),
    }
}

/// What comes from a peer that held so much: its result, or some ranks' own, those behind it in turn.
fn operands(round: usize, ranks: usize, transfer: &Transfer, held: &BTreeSet<usize>) -> Cell {
    let (peer, received) = (transfer.peer, ranks_of(&transfer.pieces));
    if received == *held {
        return vec![result(round, peer)];
    }
    let behind = (0..ranks).map(|distance| (peer + ranks - distance) % ranks);
    let behind = behind.filter(|rank| received.contains(rank));
    behind.map(|rank| format!("x_{rank}")).collect()
}

/// What each rank has after each round of our schedule, as operands.
fn ours(ports: usize, ranks: usize) -> Vec<Vec<Cell>> {
    let schedule = allreduce(Algorithm::Dissemination, Some(ports), ranks);
    let mut programs: Vec<_> = (0..ranks).map(|rank| schedule.steps(rank)).collect();
    let mut held: Vec<BTreeSet<usize>> = (0..ranks).map(|rank| BTreeSet::from([rank])).collect();
    let mut cells: Vec<Vec<Cell>> = (0..ranks).map(|rank| vec![vec![result(0, rank)]]).collect();
    for round in 0.. {
        let steps: Option<Vec<Step>> = programs.iter_mut().map(Iterator::next).collect();
        let Some(steps) = steps else {
            break;
        };
        let before = held.clone();
        for (rank, step) in steps.iter().enumerate() {
            let mut cell = vec![result(round, rank)];
            for receive in &step.receives {
                cell.extend(operands(round, ranks, receive, &before[receive.peer]));
                held[rank].extend(ranks_of(&receive.pieces));
            }
            cells[rank].push(cell);
        }
    }
    cells
}

/// Table I.
pub(super) fn partial_results(_: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    for (ranks, table) in [(9, NINE), (8, EIGHT)] {
        let (name, ours) = (format!("{ranks} ranks"), ours(2, ranks));
        page.rows(&name, 0..ranks, |rank| {
            row(rank, ours[rank].iter().map(joined))
        });
        let published = published(table);
        for round in 0..3 {
            let pairs = published.iter().zip(&ours);
            let alike = pairs.filter(|(published, ours)| published[round] == ours[round]);
            let alike = part_of(alike.count(), ours.len());
            page.set(&format!("{name} {round}"), alike);
        }
        page.set("last", joined(&ours[0][2]));
    }
    Ok(())
}

fn joined(cell: &Cell) -> String {
    cell.join(" ∘ ")
}

/// A rank's steps.
fn steps(algorithm: Algorithm, ports: Option<usize>, ranks: usize, rank: usize) -> Vec<Step> {
    allreduce(algorithm, ports, ranks).steps(rank).collect()
}

/// The peers of some messages, in their order.
fn peers(transfers: &[Transfer]) -> String {
    listed(transfers.iter().map(|transfer| transfer.peer))
}

/// The ranks that a message to or from a peer is of.
fn ranks_with(transfers: &[Transfer], peer: usize) -> String {
    let transfer = transfers.iter().find(|transfer| transfer.peer == peer);
    transfer.map_or("nothing".to_owned(), |transfer| {
        format!("{:?}", ranks_of(&transfer.pieces))
    })
}

/// All of them.
pub(super) fn worked(_: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let exchange = |rank| steps(Algorithm::PairwiseExchange, None, 5, rank);
    let leftover = exchange(4);
    page.set("exchange to", peers(&leftover[0].sends));
    let last = &leftover[leftover.len() - 1];
    page.set("exchange from", peers(&last.receives));
    page.set("exchange steps", leftover.len());
    let rounds = (0..5).map(|rank| exchange(rank).len());
    page.set("exchange rounds", rounds.max());
    dissemination(page);
    bruck(page);
    Ok(())
}

fn dissemination(page: &mut Values) {
    for ranks in [5, 8] {
        let [_, one, two] = &ours(2, ranks)[0][..] else {
            panic!("two rounds");
        };
        let rounds = format!("{}; {}", joined(one), joined(two));
        page.set(&format!("of {ranks}"), rounds);
    }
    let zero = steps(Algorithm::Dissemination, Some(2), 8, 0);
    page.set("from in 1", peers(&zero[0].receives));
    page.set("from in 2", peers(&zero[1].receives));
    let (held, ranks) = (3, 8);
    // Rank 0 less a distance, modulo P.
    let behind = |distance: usize| (ranks - distance % ranks) % ranks;
    let own = [1, 2].map(|peer| behind(boundary(2, 1, peer)));
    let second = [1, 2].map(|peer| behind(2 * held + boundary(2, 1, peer)));
    let border = behind(ranks - 1);
    page.set("eq. 5", listed(own)).set("eq. 6", listed(second));
    page.set("border", border);
    page.set("coincide", border == second[0]);
    let two = steps(Algorithm::Dissemination, Some(2), 8, 2);
    page.set("sent", ranks_with(&two[1].sends, 0));
}

fn bruck(page: &mut Values) {
    let (ports, ranks) = (2, 8);
    let steps = steps(Algorithm::Bruck, Some(ports), ranks, 0);
    let base = ports + 1;
    let digits = [(ranks - 1) / base, (ranks - 1) % base];
    page.set("eq. 15", format!("{digits:?}"));
    page.set("bruck rounds", steps.len());
    let mut held: BTreeSet<usize> = BTreeSet::from([0]);
    let mut counts = Vec::new();
    for (step, round) in steps.iter().zip(1..) {
        page.set(&format!("bruck to in {round}"), peers(&step.sends));
        page.set(&format!("bruck from in {round}"), peers(&step.receives));
        for receive in &step.receives {
            held.extend(ranks_of(&receive.pieces));
        }
        counts.push(held.len() - 1);
    }
    page.set("c", listed(counts));
    let Step {
        sends, receives, ..
    } = &steps[1];
    for peer in [3, 5] {
        page.set(&format!("to {peer}"), ranks_with(sends, peer));
        page.set(&format!("from {peer}"), ranks_with(receives, peer));
    }
}

#[cfg(test)]
mod tests {
    use super::{EIGHT, NINE, ours, published};

    #[test]
    fn nine_ranks_are_as_published() {
        assert_eq!(published(NINE), ours(2, 9));
    }

    #[test]
    fn eight_ranks_are_adapted() {
        let (published, ours) = (published(EIGHT), ours(2, 8));
        for rank in 0..8 {
            assert_eq!(published[rank][..2], ours[rank][..2]);
            assert_ne!(published[rank][2], ours[rank][2]);
        }
        assert_eq!(ours[0][2], ["S_1^0", "S_1^5", "x_2", "x_1"]);
    }
}
