//! How large the trees are, how deep, and how many rounds they take.

use harness::Error;
use harness::markdown::digits;
use schedule::{Algorithm, Collective};

use super::TREES;
use crate::cluster::{ROUND, Run};
use crate::said::listed;
use crate::values::row;
use crate::{Context, Values};

/// The deepest trees that are counted.
const ORDER_MAX: usize = 9;

/// What is counted of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counted {
    nodes: usize,
    depth: usize,
    rounds: f64,
}

fn reduce(algorithm: Algorithm, ranks: usize) -> Run {
    Run::flat(algorithm, Collective::Reduce { root: 0 }, ranks, ROUND)
}

/// From the program of every rank: its parent is the one to whom it sends.
fn counted(algorithm: Algorithm, ranks: usize) -> Counted {
    let run = reduce(algorithm, ranks);
    let schedule = run.schedule(1);
    let parents = (0..ranks).map(|rank| {
        let mut sends = schedule.steps(rank).flat_map(|step| step.sends);
        sends.next().map(|send| send.peer)
    });
    let parents: Vec<Option<usize>> = parents.collect();
    let depth = |rank: usize| {
        let above = std::iter::successors(parents[rank], |&parent| parents[parent]);
        above.count()
    };
    Counted {
        nodes: ranks,
        depth: (0..ranks).map(depth).max().unwrap_or(0),
        rounds: run.time_ns(0.0, 1),
    }
}

/// fib(1) = fib(2) = 1.
fn fib(index: usize) -> usize {
    let (mut this, mut next) = (0, 1);
    for _ in 0..index {
        (this, next) = (next, this + next);
    }
    this
}

/// The number of nodes of the tree of an order, as it is published.
fn nodes(algorithm: Algorithm, order: usize) -> usize {
    match algorithm {
        Algorithm::Binomial => 1 << order,
        Algorithm::Fibonacci => fib(order + 3) - 1,
        _ => (2 << order) - 1,
    }
}

/// The most ranks whose reduce takes at most `rounds` rounds, counted.
fn most_in(algorithm: Algorithm, rounds: usize) -> usize {
    let fits = |&ranks: &usize| reduce(algorithm, ranks).time_ns(0.0, 1) <= rounds as f64;
    (1..).take_while(fits).last().unwrap_or(1)
}

/// The page.
pub(super) fn fill(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let order_max = context.quick_or(6, ORDER_MAX);
    page.set("most", order_max);
    let trees = TREES.map(|tree| {
        let orders = (0..=order_max).map(|order| counted(tree, nodes(tree, order)));
        orders.collect::<Vec<Counted>>()
    });
    page.rows("trees", 0..=order_max, |order| {
        row(
            order,
            trees.iter().map(|counted| {
                let Counted {
                    nodes,
                    depth,
                    rounds,
                } = counted[order];
                format!("{nodes}, {depth}, {}", digits(rounds))
            }),
        )
    });
    for (tree, counted) in TREES.iter().zip(&trees) {
        let depths = counted.iter().map(|counted| counted.depth as f64);
        let rounds = counted.iter().map(|counted| counted.rounds);
        page.set(&format!("{tree} depth"), law(depths));
        page.set(&format!("{tree} rounds"), law(rounds));
    }
    page.rows("capacities", 1..=order_max, |rounds| {
        row(rounds, TREES.map(|tree| most_in(tree, rounds)))
    });
    let less = most_in(Algorithm::Binomial, 3) - most_in(Algorithm::Fibonacci, 3);
    page.set("less", less);
    // The report's numbers of processes.
    page.rows("sweep", [1, 2, 4, 8, 16, 32, 36], |nodes| {
        let ranks = 16 * nodes;
        row(
            ranks,
            TREES.map(|tree| {
                let Counted { depth, rounds, .. } = counted(tree, ranks);
                format!("{}, {depth}", digits(rounds))
            }),
        )
    });
    Ok(())
}

/// "i" or "2i" where that is so for all orders, otherwise the numbers.
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

#[cfg(test)]
mod tests {
    use super::{counted, fib, most_in};
    use schedule::Algorithm;

    #[test]
    fn trees_are_counted() {
        assert_eq!([fib(1), fib(2), fib(3), fib(6)], [1, 1, 2, 8]);
        let seven = counted(Algorithm::Fibonacci, 7);
        assert_eq!((seven.depth, seven.nodes), (3, 7));
        assert_eq!(most_in(Algorithm::Binomial, 3), 8);
        assert_eq!(most_in(Algorithm::Fibonacci, 3), 7);
    }
}
