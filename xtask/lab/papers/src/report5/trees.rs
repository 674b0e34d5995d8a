//! How large the trees are, how deep, and how many rounds they take.

use harness::Error;
use harness::markdown::digits;
use schedule::{Algorithm, Collective, Link, Machine};

use super::jupiter::TREES;
use crate::cluster::Run;
use crate::{Comparison, Context, Page};

/// A round is a nanosecond, whatever is sent.
const ROUND: Link = Link {
    latency_ns: 1.0,
    byte_ns: 0.0,
    combine_byte_ns: 0.0,
};

/// The deepest trees that are counted.
const ORDER_MAX: usize = 9;

/// What is counted of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counted {
    nodes: usize,
    depth: usize,
    rounds: f64,
}

fn simulate(algorithm: Algorithm, ranks: usize) -> Run {
    Run {
        algorithm,
        collective: Collective::Reduce { root: 0 },
        ranks,
        machine: Machine::flat(ROUND),
    }
}

/// From the program of every rank: its parent is the one to whom it sends.
fn counted(algorithm: Algorithm, ranks: usize) -> Counted {
    let run = simulate(algorithm, ranks);
    let schedule = run.schedule(1);
    let parents: Vec<Option<usize>> = (0..ranks)
        .map(|rank| {
            let mut sends = schedule.steps(rank).flat_map(|step| step.sends);
            sends.next().map(|send| send.peer)
        })
        .collect();
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
    let fits = |&ranks: &usize| simulate(algorithm, ranks).time_ns(0.0, 1) <= rounds as f64;
    (1..).take_while(fits).last().unwrap_or(1)
}

fn names(algorithm: Algorithm) -> (&'static str, &'static str) {
    match algorithm {
        Algorithm::Binomial => ("B_i", "2^i"),
        Algorithm::Fibonacci => ("F_i", "fib(i + 3) - 1"),
        _ => ("T_i", "2^(i + 1) - 1"),
    }
}

/// The page.
pub(super) fn fill(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    let order_max = if context.quick { 6 } else { ORDER_MAX };
    page.paragraph(format!(
        "Counted from the programs of all ranks, for reduces to rank 0 on as many ranks as the formula says, i = 0 to {order_max}. A round is one message a rank; a rank receives \
         one at once."
    ));
    let orders = 0..=order_max;
    let all = |algorithm: Algorithm| -> Vec<Counted> {
        let nodes = orders.clone().map(|order| nodes(algorithm, order));
        nodes.map(|ranks| counted(algorithm, ranks)).collect()
    };
    let trees = TREES.map(|algorithm| (algorithm, all(algorithm)));
    page.table(
        ["i".to_owned()].into_iter().chain(
            trees
                .iter()
                .map(|(algorithm, _)| format!("`{algorithm}`: nodes, depth, rounds")),
        ),
        orders.clone().map(|order| {
            let cells = trees.iter().map(|(_, counted)| {
                let Counted {
                    nodes,
                    depth,
                    rounds,
                } = counted[order];
                format!("{nodes}, {depth}, {}", digits(rounds))
            });
            [order.to_string()].into_iter().chain(cells).collect()
        }),
    );
    page.compare(
        trees
            .iter()
            .flat_map(|(algorithm, counted)| compare(*algorithm, counted)),
    );
    page.heading("How many ranks so many rounds can take");
    capacities(page, order_max);
    page.heading("The rounds of the sweep");
    sweep(page);
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
        _ => values.map(digits).collect::<Vec<_>>().join(", "),
    }
}

fn compare(algorithm: Algorithm, counted: &[Counted]) -> [Comparison; 2] {
    let (name, size) = names(algorithm);
    let depths = counted.iter().map(|counted| counted.depth as f64);
    let rounds = law(counted.iter().map(|counted| counted.rounds));
    let rounds = Comparison::computed(format!("{name} of {size} nodes: rounds"), rounds);
    [
        Comparison::computed(format!("{name} of {size} nodes: depth"), law(depths)).published("i"),
        match algorithm {
            Algorithm::Binary => rounds.published("i + 1").because(
                "two children of the same size are ready in the same round, and a rank receives one message a round: two rounds a level. One more in all would need both children's messages in \
                 one round on every level but one",
            ),
            _ => rounds.published("i"),
        },
    ]
}

fn capacities(page: &mut Page, rounds_max: usize) {
    page.table(
        ["rounds".to_owned()]
            .into_iter()
            .chain(TREES.map(|tree| format!("`{tree}`: ranks"))),
        (1..=rounds_max).map(|rounds| {
            let cells = TREES.map(|tree| most_in(tree, rounds).to_string());
            [rounds.to_string()].into_iter().chain(cells).collect()
        }),
    );
    let three = |tree| most_in(tree, 3);
    page.compare([Comparison::computed(
        "ranks that three rounds can take: binomial less Fibonacci",
        three(Algorithm::Binomial) - three(Algorithm::Fibonacci),
    )
    .published(1_u64)]);
}

/// The report's numbers of processes.
fn sweep(page: &mut Page) {
    let shown = [1, 2, 4, 8, 16, 32, 36];
    page.table(
        ["processes".to_owned()]
            .into_iter()
            .chain(TREES.map(|tree| format!("`{tree}`: rounds, depth"))),
        shown.map(|nodes| {
            let ranks = 16 * nodes;
            let cells = TREES.map(|tree| {
                let Counted { depth, rounds, .. } = counted(tree, ranks);
                format!("{}, {depth}", digits(rounds))
            });
            [ranks.to_string()].into_iter().chain(cells).collect()
        }),
    );
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
