//! Table I: what each rank has after each round, from our schedule's own steps.

use std::collections::BTreeSet;

use harness::Error;
use schedule::{Algorithm, Piece, Step, Transfer};

use super::allreduce;
use crate::{Comparison, Context, Page};

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
pub(super) fn ranks_of(pieces: &[Piece]) -> BTreeSet<usize> {
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
pub(super) fn ours(ports: usize, ranks: usize) -> Vec<Vec<Cell>> {
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

/// A table as ours is shown.
fn show(page: &mut Page, cells: &[Vec<Cell>]) {
    let rows = cells.iter().enumerate().map(|(rank, cells)| {
        let shown = cells.iter().map(|cell| cell.join(" ∘ "));
        std::iter::once(rank.to_string()).chain(shown).collect()
    });
    page.table(
        ["rank", "round 0", "round 1", "round 2"],
        rows.collect::<Vec<_>>(),
    );
}

/// How many cells of a round are the published ones.
fn alike(published: &[Vec<Cell>], ours: &[Vec<Cell>], round: usize) -> String {
    let is_alike = |&rank: &usize| published[rank].get(round) == ours[rank].get(round);
    let count = (0..published.len()).filter(is_alike).count();
    format!("{count} of {}", published.len())
}

/// Table I.
pub(super) fn partial_results(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph(
        "x_p is rank p's own, S_l^p what rank p has after round l, S_0^p = x_p. From the receives of our schedule `dissemination` with n = 2; order of operands as of messages.",
    );
    let (nine, eight) = (ours(2, 9), ours(2, 8));
    page.heading("9 ranks, ours");
    show(page, &nine);
    page.heading("8 ranks, ours");
    show(page, &eight);
    let (nine_published, eight_published) = (published(NINE), published(EIGHT));
    let mut comparisons = Vec::new();
    for round in 0..3 {
        let what = format!("9 ranks, round {round}: cells as published");
        comparisons.push(
            Comparison::computed(what, alike(&nine_published, &nine, round)).published("9 of 9"),
        );
    }
    for round in 0..3 {
        let what = format!("8 ranks, round {round}: cells as published");
        let why = match round {
            2 => {
                "the paper's second table shows the fault: unadapted, rank 0 counts x_0 twice (eq. 3). Ours is adapted: the last sender leaves its farthest out"
            }
            _ => "",
        };
        comparisons.push(
            Comparison::computed(what, alike(&eight_published, &eight, round))
                .published("8 of 8")
                .because(why),
        );
    }
    comparisons.push(
        Comparison::computed("8 ranks, rank 0, round 2", eight[0][2].join(" ∘ "))
            .published("S_1^0 ∘ S_1^5 ∘ S', S' = x_2 ∘ x_1 (Figure 3)"),
    );
    page.compare(comparisons);
    Ok(())
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
