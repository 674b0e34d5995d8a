//! Theorem 1: for which numbers of ranks there is a 5-tuple (s, l_snd, l_rcv, j_snd, j_rcv), by eq. 8.

use std::collections::BTreeMap;

use harness::Error;
use harness::plot::Line;
use schedule::{Algorithm, Schedule, Step, check};

use super::{PORTS_MAX, RANKS_MAX, adapts, allreduce, log_up, smallest_ports};
use crate::said::part_of;
use crate::values::{Value, cells};
use crate::{Context, Values};

/// n sum (n+1)^i for i = 0..l-2, and j (n+1)^(l-1): how far behind a rank its boundary g_l\[j\] lies; 0 for l = 0.
pub(super) fn boundary(ports: usize, round: u32, peer: usize) -> usize {
    let Some(before) = round.checked_sub(1) else {
        return 0;
    };
    let unit = (ports + 1).pow(before);
    (unit - 1) + peer * unit
}

/// (n+1)^(k-1): what a rank has before the last round.
fn held(ports: usize, ranks: usize) -> usize {
    let rounds = u32::try_from(log_up(ports + 1, ranks)).expect("a logarithm");
    (ports + 1).pow(rounds.saturating_sub(1))
}

/// The boundaries of one side, with their rounds l; with l = 0, j says nothing.
fn boundaries(ports: usize, ranks: usize) -> Vec<(u32, usize)> {
    let rounds = u32::try_from(log_up(ports + 1, ranks)).expect("a logarithm");
    let others = (1..rounds)
        .flat_map(|round| (1..=ports).map(move |peer| (round, boundary(ports, round, peer))));
    std::iter::once((0, 0)).chain(others).collect()
}

/// The cases of Theorem 1 in which eq. 8 has a solution.
fn cases(ports: usize, ranks: usize) -> [bool; 5] {
    let held = held(ports, ranks);
    let boundaries = boundaries(ports, ranks);
    let mut found = [false; 5];
    for senders in 1..=ports {
        for &(sent_round, sent) in &boundaries {
            for &(received_round, received) in &boundaries {
                let case = match (received_round, sent_round) {
                    (1.., 1..) => 1,
                    (1.., 0) => 2,
                    (0, 0) => 3,
                    (0, 1) => 4,
                    (0, _) => 5,
                };
                found[case - 1] |= senders * held + sent == ranks + received;
            }
        }
    }
    found
}

/// Whether a sender's boundary coincides with the base border: P - 1 = g.
fn meets_base_border(ports: usize, ranks: usize) -> bool {
    let held = held(ports, ranks);
    let boundaries = boundaries(ports, ranks);
    (1..=ports).any(|senders| {
        let mut boundaries = boundaries.iter();
        boundaries.any(|(_, boundary)| senders * held + boundary + 1 == ranks)
    })
}

/// All that is asked of one n.
#[derive(Clone, Debug, Default)]
struct Row {
    ports: usize,
    /// With a solution of eq. 8; with one, or a boundary on the base border.
    by_tuple: usize,
    by_border: usize,
    /// Of those without a solution, the powers of n + 1.
    by_border_powers: usize,
    ours: usize,
    /// Where ours and the paper's condition say the same.
    same: usize,
    /// The numbers of ranks with a tuple of each case.
    cases: [usize; 5],
    least_unadapted: Option<usize>,
    /// Without adaption, those whose programs are Bruck's.
    covered: usize,
    right: usize,
    count: usize,
}

fn row(ports: usize, most: usize) -> Row {
    let mut row = Row {
        ports,
        ..Row::default()
    };
    for ranks in 2..=most {
        let cases = cases(ports, ranks);
        let by_tuple = cases.contains(&true);
        let by_border = by_tuple || meets_base_border(ports, ranks);
        let ours = adapts(ports, ranks);
        row.count += 1;
        row.by_tuple += usize::from(by_tuple);
        row.by_border += usize::from(by_border);
        let is_power = (ports + 1).pow(ranks.ilog(ports + 1)) == ranks;
        row.by_border_powers += usize::from(by_border && !by_tuple && is_power);
        row.ours += usize::from(ours);
        row.same += usize::from(by_border == ours);
        for (count, is_found) in row.cases.iter_mut().zip(cases) {
            *count += usize::from(is_found);
        }
        let schedule = allreduce(Algorithm::Dissemination, Some(ports), ranks);
        row.right += usize::from(check(&schedule).is_ok());
        if !ours {
            row.least_unadapted = row.least_unadapted.or(Some(ranks));
            let bruck = allreduce(Algorithm::Bruck, Some(ports), ranks);
            let is_alike = |rank: usize| {
                let steps = |of: &Schedule| of.steps(rank).collect::<Vec<Step>>();
                steps(&schedule) == steps(&bruck)
            };
            row.covered += usize::from((0..ranks).all(is_alike));
        }
    }
    row
}

/// Eq. 8 and Theorem 1 against our schedule.
pub(super) fn tuples(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let most = context.quick_or(64, RANKS_MAX);
    page.set("most", most);
    let rows: Vec<Row> = (1..=PORTS_MAX).map(|ports| row(ports, most)).collect();
    page.rows("ports", rows.iter(), |row| {
        let Row {
            ports,
            by_tuple,
            by_border,
            ours,
            ..
        } = *row;
        let cells = cells![ports, by_tuple, by_border, ours, row.least_unadapted];
        [cells, row.cases.map(Value::from).to_vec()].concat()
    });
    let smallest: Vec<usize> = (2..=most).map(smallest_ports).collect();
    page.set("greatest n", smallest.iter().max().copied());
    let points = smallest.iter().zip(2_u32..);
    let points = points.map(|(&ports, ranks)| (f64::from(ranks), ports as f64));
    page.draw("", [Line::dots("smallest n", points.collect())]);
    let mut counts = BTreeMap::new();
    for ports in smallest {
        *counts.entry(ports).or_insert(0_u64) += 1;
    }
    page.rows("smallest", counts, |(ports, count)| cells![ports, count]);
    let sum = |of: fn(&Row) -> usize| rows.iter().map(of).fold(0, |sum, one| sum + one);
    let pairs = sum(|row| row.count);
    let unadapted = sum(|row| row.count - row.ours);
    page.set("pairs", pairs).set("unadapted", unadapted);
    page.set("adapts", unadapted == 0);
    page.set("same", part_of(sum(|row| row.same), pairs));
    page.set("by border alone", sum(|row| row.by_border - row.by_tuple));
    page.set("powers", sum(|row| row.by_border_powers));
    page.set("right", part_of(sum(|row| row.right), pairs));
    page.set("covered", part_of(sum(|row| row.covered), unadapted));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{cases, meets_base_border, row};

    /// n and P of all pairs up to 300 that do not adapt, as another model counted them.
    #[test]
    fn pairs_that_do_not_adapt() {
        for (ports, unadapted, least) in [
            (1, 191, Some(13)),
            (2, 121, Some(40)),
            (3, 69, Some(85)),
            (4, 48, Some(156)),
            (5, 25, Some(259)),
            (6, 0, None),
            (7, 0, None),
            (8, 0, None),
        ] {
            let row = row(ports, 300);
            assert_eq!((row.same, row.right), (row.count, row.count), "n = {ports}");
            assert_eq!(
                (row.count - row.ours, row.least_unadapted),
                (unadapted, least)
            );
        }
    }

    #[test]
    fn the_worked_example() {
        // P = 8, n = 2: g_B meets g_1^2[1], as the paper has it; eq. 8 has solutions, too.
        assert!(meets_base_border(2, 8) && cases(2, 8).contains(&true));
        assert!(meets_base_border(2, 9) && !cases(2, 9).contains(&true));
    }
}
