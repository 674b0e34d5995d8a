//! The error of a sum against the number of processes: section VI-A, eq. 1 and 2.

use exact_sum::Sum;
use harness::Error;
use harness::data::Random;
use harness::markdown::digits;
use harness::plot::{Axis, Line};

use crate::Context;
use crate::page::Page;
use crate::said::{line, most};

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
pub(super) fn binomial(items: &[f64]) -> f64 {
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

/// MPICH's allreduce of short rows: where p is 2^k + q, the first 2q ranks are paired before.
pub(super) fn recursive_doubling(items: &[f64]) -> f64 {
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
    /// The number of sums in tree order whose error is at least the bound.
    above: usize,
    at: usize,
    /// Sums of each order with the tree's bits.
    alike: [usize; ORDERS.len()],
}

/// g(ceil(log2 N)), eq. 2.
fn bound(ranks: usize) -> f64 {
    let levels = f64::from(ranks.next_power_of_two().ilog2());
    levels * ROUNDOFF / (1.0 - levels * ROUNDOFF)
}

/// Some numbers from 0 to 1, or from -1 to 1.
pub(super) fn data(ranks: usize, is_signed: bool, seed: u64) -> Vec<f64> {
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

/// Eq. 1 and 2, and real sums.
pub(super) fn over_ranks(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Section VI-A, error against system size (eq. 1 and 2)");
    page.text(
        "Each of N processes has one number. Eq. 1 and 2: the error of a pairwise sum, as a share of the sum of all absolute values, is g(log2 N) = log2 N u / (1 - log2 N u). The paper prints it as an \
         equation; it is a bound, and for other N than powers of two the logarithm is to be rounded up. Below are that bound and the greatest error of real sums, of numbers between 0 and 1 and, as often, \
         between -1 and 1, against sums without rounding; u = 2^-53.",
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
        "The greatest error found, over the sum of absolute values",
        Axis::doublings("N, processes with a number each"),
        Axis::decades("greatest error, u = 2^-53"),
        lines.chain([Line::guide(bounds.name, bounds.points)]),
    );
    page.says(format!(
        "Up to N = 2^{}, the greatest error found by a tree is {} u, from left to right {} u",
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
        sums in tree order whose error is the bound | all: abs(E) = g(log2 N) SUM(abs(X)) | {at} of {sums} | eq. 1 is an upper bound: Higham, whom the paper cites, prints <=
        greatest error found in tree order, N = {ranks} | – | {tree} | {} of the bound
        greatest error found from left to right, N = {ranks} | – | {left_to_right} | {} times the tree's error; at N = 2 {}
        sums by MPICH's binomial tree that have the tree's bits | – | {binomial} of {sums} | with one value per process and root 0, the binomial tree over ranks is treefold's tree
        sums by recursive doubling that have the tree's bits | – | {doubling} of {sums} | {all} of them if N is a power of two; for other N, some ranks are paired first, which is another order
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

#[cfg(test)]
mod tests {
    use super::{binomial, bound, data, recursive_doubling};

    #[test]
    fn the_bound_is_the_published_one() {
        assert!((bound(1 << 20) - 2.2e-15).abs() < 0.1e-15);
        assert_eq!(bound(3).to_bits(), bound(4).to_bits());
    }

    #[test]
    fn binomial_trees_over_ranks_are_the_tree() {
        for ranks in 1..200 {
            let items = data(ranks, true, ranks as u64);
            let tree = reduce::sum(&items).expect("the environment is the default one");
            assert_eq!(binomial(&items).to_bits(), tree.to_bits(), "p = {ranks}");
            if ranks.is_power_of_two() {
                assert_eq!(recursive_doubling(&items).to_bits(), tree.to_bits());
            }
        }
    }
}
