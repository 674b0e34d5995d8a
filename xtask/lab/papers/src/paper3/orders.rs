//! Orders of additions: the error of a sum by the number of processes (section VI-A, eq. 1 and 2), and the effect of topology on the bits of
//! the paper's and of treefold's two-level schedules (section III-C).

use std::collections::BTreeSet;

use distribution::Scheme;
use exact_sum::Sum;
use harness::Error;
use harness::data::Random;
use harness::markdown::digits;
use harness::plot::{Axis, Line};
use reduce::{Algorithm, Plan, threads};

use crate::Context;
use crate::page::Page;
use crate::said::{line, listed, most, span, yes};

/// u, half the distance from 1 to the next double.
const ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// An order of additions of one value per process.
type Order = (&'static str, fn(&[f64]) -> f64);

const ORDERS: [Order; 4] = [
    ("tree", tree),
    ("binomial by ranks", binomial),
    ("recursive doubling", recursive_doubling),
    ("left to right", |items| {
        items.iter().fold(0.0, |sum, item| sum + item)
    }),
];

fn tree(items: &[f64]) -> f64 {
    reduce::sum(items).expect("the environment is the default one")
}

/// MPICH's reduce to rank 0: rank r receives from r + 1, r + 2, r + 4, … as long as these are its children.
fn binomial(items: &[f64]) -> f64 {
    let mut values = items.to_vec();
    let mut distance = 1;
    while distance < values.len() {
        for rank in (0..values.len() - distance).step_by(2 * distance) {
            values[rank] += values[rank + distance];
        }
        distance *= 2;
    }
    values[0]
}

/// MPICH's allreduce of short rows: if p is 2^k + q, the first 2q ranks first add in pairs.
fn recursive_doubling(items: &[f64]) -> f64 {
    let leftover = items.len() - (1 << items.len().ilog2());
    let (paired, single) = items.split_at(2 * leftover);
    let pairs = paired.chunks_exact(2).map(|pair| pair[0] + pair[1]);
    let values: Vec<f64> = pairs.chain(single.iter().copied()).collect();
    binomial(&values)
}

/// The results for one number of processes, over all data sets.
#[derive(Clone, Debug, Default)]
struct Found {
    ranks: usize,
    /// The greatest error of each order, relative to the sum of all absolute values.
    errors: [f64; ORDERS.len()],
    sums: usize,
    /// The numbers of sums in tree order whose error is above the bound (`above`), and at least the bound (`at`).
    above: usize,
    at: usize,
    /// The number of sums of each order that have the tree's bits.
    alike: [usize; ORDERS.len()],
}

/// g(ceil(log2 N)), eq. 2.
fn bound(ranks: usize) -> f64 {
    let levels = f64::from(ranks.next_power_of_two().ilog2());
    levels * ROUNDOFF / (1.0 - levels * ROUNDOFF)
}

/// Random numbers from 0 to 1, or from -1 to 1.
fn data(ranks: usize, is_signed: bool, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let (scale, least) = if is_signed { (2.0, -1.0) } else { (1.0, 0.0) };
    (0..ranks)
        .map(|_| scale * random.uniform() + least)
        .collect()
}

fn measure(ranks: usize, sets: u64) -> Found {
    let mut found = Found {
        ranks,
        ..Found::default()
    };
    for seed in 0..sets {
        let items = data(ranks, seed % 2 == 1, seed * 1_000_003 + ranks as u64);
        let magnitudes: Vec<f64> = items.iter().map(|item| item.abs()).collect();
        let magnitude = exact_sum::sum(&magnitudes);
        let exact = Sum::of(&items);
        let totals = ORDERS.map(|(_, sum)| sum(&items));
        let errors = totals.map(|total| {
            let mut difference = exact;
            difference.add(&[-total]);
            difference.value().abs() / magnitude
        });
        for (index, (total, error)) in totals.into_iter().zip(errors).enumerate() {
            found.errors[index] = found.errors[index].max(error);
            found.alike[index] += usize::from(total.to_bits() == totals[0].to_bits());
        }
        found.sums += 1;
        found.above += usize::from(errors[0] > bound(ranks));
        found.at += usize::from(errors[0] >= bound(ranks));
    }
    found
}

/// Powers of two up to a million, and numbers between them.
fn sizes(quick: bool) -> impl Iterator<Item = usize> {
    let most = if quick { 1 << 12 } else { 1 << 20 };
    let powers = (1..=20).flat_map(|log| [1 << log, (11 << log) / 7]);
    powers.filter(move |&ranks| ranks <= most)
}

/// Compares eq. 1 and 2 with the errors of real sums.
pub(super) fn over_ranks(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Section VI-A, error against system size (eq. 1 and 2)");
    page.text(
        "Each of N processes has one number. By eq. 1 and 2, the error of a pairwise sum, divided by the sum of all absolute values, is g(log2 N) = log2 N u / (1 - log2 N u), with u = 2^-53. The paper prints \
         an equation, but g is a bound; if N is not a power of two, the logarithm must be rounded up. Below are this bound and the greatest error of real sums, compared with exact ones. Half of the data sets \
         have numbers between 0 and 1, half between -1 and 1.",
    );
    let sets = |ranks: usize| ((1_u64 << 20) / ranks as u64).clamp(8, 64);
    let found = sizes(context.settings.quick).map(|ranks| measure(ranks, sets(ranks)));
    let found: Vec<Found> = found.collect();
    let over_ranks = |name: &str, value: &dyn Fn(&Found) -> f64| {
        // Some small sums are exact and have no error to draw.
        let drawn = found.iter().filter(|found| value(found) > 0.0);
        line(name, drawn, |found| {
            (found.ranks as f64, value(found) / ROUNDOFF)
        })
    };
    let orders = ORDERS.iter().enumerate();
    let lines = orders.map(|(order, (name, _))| over_ranks(name, &|found| found.errors[order]));
    let bounds = over_ranks("bound for a tree, eq. 2", &|found| bound(found.ranks));
    let greatest =
        |order: usize| digits(most(found.iter().map(|found| found.errors[order])) / ROUNDOFF);
    let (first, last) = (&found[0], &found[found.len() - 1]);
    page.draw(
        "",
        "The greatest error found, divided by the sum of absolute values",
        Axis::doublings("N, the number of processes (one value each)"),
        Axis::decades("greatest error, u = 2^-53"),
        lines.chain([Line::guide(bounds.name, bounds.points)]),
    );
    page.says(format!(
        "Up to N = 2^{}, the greatest error found is {} u for a tree and {} u from left to right",
        last.ranks.ilog2(),
        greatest(0),
        greatest(3)
    ));
    let count = |of: &dyn Fn(&Found) -> usize| found.iter().map(of).fold(0, |sum, one| sum + one);
    let sums = count(&|found| found.sums);
    let [above, at] = [count(&|found| found.above), count(&|found| found.at)];
    let [_, binomial, doubling, left] =
        [0, 1, 2, 3].map(|order| count(&|found| found.alike[order]));
    let mut powers = found.iter().filter(|found| found.ranks.is_power_of_two());
    let are_all = powers.all(|found| found.alike[2] == found.sums);
    let all = if are_all { "all" } else { "not all" };
    let is_same = first.errors[3].to_bits() == first.errors[0].to_bits();
    let (ranks, [tree, .., left_to_right]) = (last.ranks, last.errors);
    page.compare(format!(
        "eq. 2, N = 2 | around 1e-16 | {}
        eq. 2, N = 1048576 | 2e-15 | {}
        1 minus eq. 2's denominator, N = 1048576 | tends to 1 | {}
        sums in tree order above the bound | 0 | {above} of {sums}
        sums in tree order whose error equals the bound | all: abs(E) = g(log2 N) SUM(abs(X)) | {at} of {sums} | eq. 1 is an upper bound: Higham, whom the paper cites, prints <=
        greatest error found in tree order, N = {ranks} | – | {tree} | {} of the bound
        greatest error found from left to right, N = {ranks} | – | {left_to_right} | {} times the tree's error; at N = 2 {}
        sums by MPICH's binomial tree that have the tree's bits | – | {binomial} of {sums} | with one value per process and root 0, the binomial tree over ranks is treefold's tree
        sums by recursive doubling that have the tree's bits | – | {doubling} of {sums} | {all} of them if N is a power of two; for other N, the order differs: some ranks are paired first
        sums from left to right that have the tree's bits | – | {left} of {sums}",
        bound(2),
        bound(1 << 20),
        20.0 * ROUNDOFF,
        digits(tree / bound(ranks)),
        digits(left_to_right / tree),
        if is_same { "the same error" } else { "another error" },
    ));
    Ok(())
}

/// The number of values, one per rank: as many as on the paper's largest communicator.
const VALUES: usize = 2048;

/// How many data sets are reduced.
const SETS: u64 = 16;

/// x1, x2, x4 and x8: the assumed numbers of ranks per node.
const FACTORS: [usize; 4] = [1, 2, 4, 8];

/// x1, x3, x6 and x12: numbers of ranks per node that, apart from 1, are not powers of two.
const OTHER_FACTORS: [usize; 4] = [1, 3, 6, 12];

/// The values of each node, in the order of its ranks.
fn nodes(values: &[f64], node_ranks: usize, is_dealt: bool) -> Vec<Vec<f64>> {
    if !is_dealt {
        return values.chunks(node_ranks).map(<[f64]>::to_vec).collect();
    }
    let count = values.len().div_ceil(node_ranks);
    let node = |node: usize| values.iter().copied().skip(node).step_by(count).collect();
    (0..count).map(node).collect()
}

/// MPICH's topology-aware reduce to rank 0 (section III-A): reduces within each node except the root's, then these results with the root's
/// own value, then this sum with the other values of the root's node.
fn reduce_by_nodes(nodes: &[Vec<f64>]) -> f64 {
    let others = nodes[1..].iter().map(|node| binomial(node));
    let between: Vec<f64> = std::iter::once(nodes[0][0]).chain(others).collect();
    let mut last = nodes[0].clone();
    last[0] = binomial(&between);
    binomial(&last)
}

/// MPICH's topology-aware allreduce (section III-B): reduces within nodes, then between them.
fn allreduce_by_nodes(nodes: &[Vec<f64>]) -> f64 {
    let within: Vec<f64> = nodes.iter().map(|node| binomial(node)).collect();
    recursive_doubling(&within)
}

/// A collective as the paper describes it.
type Unordered = fn(&[Vec<f64>]) -> f64;

/// The number of distinct results of one data set.
fn patterns(values: &[f64], factors: &[usize], is_dealt: bool, sum: Unordered) -> usize {
    let bits = |&factor: &usize| sum(&nodes(values, factor, is_dealt)).to_bits();
    factors.iter().map(bits).collect::<BTreeSet<u64>>().len()
}

/// The number of distinct results of each data set.
fn counts(factors: &[usize], is_dealt: bool, sum: Unordered) -> Vec<usize> {
    let count = |seed| patterns(&data(VALUES, true, seed), factors, is_dealt, sum);
    (0..SETS).map(count).collect()
}

/// The distinct bits that plans of the hierarchical schedule give on any rank, for these numbers of ranks per node.
fn plans(ranks: usize, factors: &[usize], values: &[f64]) -> Result<BTreeSet<u64>, Error> {
    let distribution = Scheme::Lower.distribute(values.len() as u64, ranks)?;
    let mut bits = BTreeSet::new();
    for &node_ranks in factors {
        let totals = threads::run(ranks, |world| -> Result<(f64, Option<f64>), Error> {
            let own = distribution.range(world.rank());
            let place = |item: u64| usize::try_from(item).expect("an index of a slice");
            let local = &values[place(own.start)..place(own.end)];
            let plan = Plan::builder(world)
                .distribution(&distribution)
                .algorithm(Algorithm::Hierarchical)
                .node_ranks(node_ranks)
                .build()?;
            Ok((plan.allreduce(local)?, plan.reduce(local)?))
        });
        for totals in totals? {
            let (all, root) = totals?;
            bits.insert(all.to_bits());
            bits.extend(root.map(f64::to_bits));
        }
    }
    Ok(bits)
}

/// Counts the distinct results of a reduction that assumes different numbers of ranks per node.
pub(super) fn by_topology(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Section III-C, bits by topology");
    page.text(format!(
        "Each of {VALUES} ranks has one value, and these are added in the orders of section III for several numbers of ranks per node. The table shows how many distinct results there are, from least to most over \
         {SETS} data sets. Ranks are placed on nodes side by side, or dealt out to them round-robin."
    ));
    let collectives: [(&str, Unordered); 2] = [
        ("MPI_Reduce", reduce_by_nodes),
        ("MPI_Allreduce", allreduce_by_nodes),
    ];
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for (name, sum) in collectives {
        let found = [("side by side", false), ("dealt out", true)].map(|(placement, is_dealt)| {
            let counts = [FACTORS, OTHER_FACTORS].map(|factors| counts(&factors, is_dealt, sum));
            let [own, other] = counts
                .each_ref()
                .map(|counts| span(counts.iter().map(|&n| n as f64)));
            rows.push(format!("{name} | {placement} | {own} | {other}"));
            counts
        });
        let changes = yes(found.iter().flatten().flatten().any(|&count| count > 1));
        let why = if found[0][0].iter().all(|&count| count == 1) {
            "nodes of 1, 2, 4 and 8 ranks side by side are subtrees of one binary tree, so their order is the same; nodes of other sizes, or ranks dealt out to nodes, change it"
        } else {
            "the root's value is added to other nodes' results before its neighbours' values, so even x1, x2, x4, x8 differ"
        };
        claims.push(format!(
            "{name}: the topology changes the bits | yes: heavily dependent on the hardware topology | {changes} | {why}"
        ));
    }
    let columns = "collective | ranks of a node | results of x1, x2, x4, x8 | of x1, x3, x6, x12";
    page.table(columns, rows);
    page.compare(claims.join("\n"));
    ordered(context.settings.quick, page)
}

/// Counts the distinct results of the hierarchical schedule, on threads.
fn ordered(quick: bool, page: &mut Page) -> Result<(), Error> {
    let values = data(VALUES, true, 0);
    let both = [FACTORS, OTHER_FACTORS].concat();
    let runs: [(usize, &[usize]); 3] = [(64, &FACTORS), (64, &OTHER_FACTORS), (60, &both)];
    let mut all = BTreeSet::new();
    for (ranks, factors) in &runs[..if quick { 1 } else { 3 }] {
        let bits = plans(*ranks, factors, &values)?;
        let factors = listed(factors.iter().map(|factor| format!("x{factor}")));
        page.compare(format!(
            "`hierarchical` on {ranks} ranks, {VALUES} items, {factors}: distinct results of reduce and allreduce, on all ranks | – | {} | real plans, on threads",
            bits.len()
        ));
        all.extend(bits);
    }
    let is_one = yes(all == BTreeSet::from([reduce::sum(&values)?.to_bits()]));
    page.compare(format!(
        "all of these equal the result of one process | – | {is_one}"
    ));
    Ok(())
}
