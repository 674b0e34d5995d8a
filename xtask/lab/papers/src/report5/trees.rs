//! Compares sizes, depths and rounds of the trees with the published ones.

use harness::Error;
use harness::markdown::digits;
use schedule::{Algorithm, Collective};

use super::TREES;
use crate::Context;
use crate::cluster::{ROUND, Run};
use crate::page::{Page, columns, row};
use crate::said::listed;

/// The greatest order of the trees that are counted.
const ORDER_MAX: usize = 9;

fn reduce(algorithm: Algorithm, ranks: usize) -> Run {
    Run::flat(algorithm, Collective::Reduce { root: 0 }, ranks, ROUND)
}

/// A tree's depth and rounds, counted from the programs of all ranks, in which each rank sends to its parent.
fn counted(algorithm: Algorithm, ranks: usize) -> (usize, f64) {
    let run = reduce(algorithm, ranks);
    let schedule = run.schedule(1);
    let parent = |&rank: &usize| {
        let mut sends = schedule.steps(rank).flat_map(|step| step.sends);
        sends.next().map(|send| send.peer)
    };
    let depth = |rank: usize| std::iter::successors(parent(&rank), parent).count();
    let depth = (0..ranks).map(depth).max().unwrap_or(0);
    (depth, run.time_ns(0.0, 1))
}

/// A Fibonacci number; fib(1) = fib(2) = 1.
fn fib(index: usize) -> usize {
    let (mut this, mut next) = (0, 1);
    for _ in 0..index {
        (this, next) = (next, this + next);
    }
    this
}

/// The published number of nodes in a tree of this order.
fn nodes(algorithm: Algorithm, order: usize) -> usize {
    match algorithm {
        Algorithm::Binomial => 1 << order,
        Algorithm::Fibonacci => fib(order + 3) - 1,
        _ => (2 << order) - 1,
    }
}

/// The largest number of ranks on which a reduce takes at most `rounds` rounds.
fn most_in(algorithm: Algorithm, rounds: usize) -> usize {
    let fits = |&ranks: &usize| reduce(algorithm, ranks).time_ns(0.0, 1) <= rounds as f64;
    (1..).take_while(fits).last().unwrap_or(1)
}

/// Compares the published sizes, depths and rounds with those of the programs.
pub(super) fn fill(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Sections 1 and 2, sizes, depths and rounds of the trees");
    let order_max = context.quick_or(6, ORDER_MAX);
    page.text(format!(
        "These values are counted from the programs of all ranks, for reduces to rank 0 on the published numbers of nodes, for i = 0 to {order_max}. A message takes one round, and a rank receives one message at a time."
    ));
    let named = |what: &str| columns(TREES, |tree| format!("`{tree}`: {what}"));
    let trees = TREES.map(|tree| {
        let orders = (0..=order_max).map(|order| counted(tree, nodes(tree, order)));
        orders.collect::<Vec<(usize, f64)>>()
    });
    let cell = |tree, order, (depth, rounds)| {
        format!("{}, {depth}, {}", nodes(tree, order), digits(rounds))
    };
    page.table(
        &format!("i | {}", named("nodes, depth, rounds")),
        (0..=order_max).map(|order| {
            let trees = TREES.into_iter().zip(&trees);
            row(
                order,
                trees.map(|(tree, counts)| cell(tree, order, counts[order])),
            )
        }),
    );
    for ((tree, rounds, why), counted) in [
        ("B_i of 2^i", "i", ""),
        ("F_i of fib(i + 3) - 1", "i", ""),
        (
            "T_i of 2^(i + 1) - 1",
            "i + 1",
            "two children of equal size are ready in the same round, and a rank receives one message per round, so a level takes two rounds. The published i + 1 would need both messages in one round on all levels but one",
        ),
    ]
    .into_iter()
    .zip(&trees)
    {
        page.compare(format!(
            "{tree} nodes: depth | i | {}
            {tree} nodes: rounds | {rounds} | {} | {why}",
            law(counted.iter().map(|counts| counts.0 as f64)),
            law(counted.iter().map(|counts| counts.1))
        ));
    }
    page.text("## Largest numbers of ranks, by rounds");
    page.table(
        &format!("rounds | {}", named("ranks")),
        (1..=order_max).map(|rounds| row(rounds, TREES.map(|tree| most_in(tree, rounds)))),
    );
    page.compare(format!(
        "ranks that three rounds can reduce: binomial minus Fibonacci | 1 | {}",
        most_in(Algorithm::Binomial, 3) - most_in(Algorithm::Fibonacci, 3)
    ));
    Ok(())
}

/// "i" or "2i" if all values are that multiple of the order i, otherwise the values.
fn law(values: impl Iterator<Item = f64> + Clone) -> String {
    let is = |factor: f64| {
        let mut orders = values.clone().zip(0_u32..);
        orders.all(|(value, order)| value.total_cmp(&(factor * f64::from(order))).is_eq())
    };
    match (is(1.0), is(2.0)) {
        (true, _) => "i".to_owned(),
        (_, true) => "2i".to_owned(),
        _ => listed(values.map(digits)),
    }
}
