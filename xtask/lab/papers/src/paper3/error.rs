//! The error of a sum against the number of processes: section VI-A, eq. 1 and 2.

use harness::Error;
use harness::data::Random;
use harness::markdown::digits;
use harness::plot::{Axis, Line, Plot, Size, Style};

use super::exact::Exact;
use crate::{Comparison, Context, Page};

/// u, half the distance from 1 to the next double.
const ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// An order of additions over one value a process.
#[derive(Clone, Copy, Debug)]
struct Order {
    name: &'static str,
    sum: fn(&[f64]) -> f64,
}

const ORDERS: [Order; 4] = [
    Order {
        name: "tree",
        sum: |items| reduce::sum(items).expect("the environment is the default one"),
    },
    Order {
        name: "binomial by ranks",
        sum: binomial,
    },
    Order {
        name: "recursive doubling",
        sum: recursive_doubling,
    },
    Order {
        name: "left to right",
        sum: |items| items.iter().fold(0.0, |sum, item| sum + item),
    },
];

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

/// What came out for one number of processes, over all data sets.
#[derive(Clone, Debug)]
struct Found {
    ranks: usize,
    bound: f64,
    /// The greatest error of each order, relative to the sum of all absolute values.
    errors: [f64; ORDERS.len()],
    sums: usize,
    /// Sums in tree order whose error is above the bound, or is it.
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
    let number = || {
        let uniform = random.uniform();
        if is_signed {
            2.0 * uniform - 1.0
        } else {
            uniform
        }
    };
    std::iter::repeat_with(number).take(ranks).collect()
}

fn measure(ranks: usize, sets: u64) -> Found {
    let mut found = Found {
        ranks,
        bound: bound(ranks),
        errors: [0.0; ORDERS.len()],
        sums: 0,
        above: 0,
        at: 0,
        alike: [0; ORDERS.len()],
    };
    for seed in 0..sets {
        let items = data(ranks, seed % 2 == 1, seed * 1_000_003 + ranks as u64);
        let exact = Exact::of(&items);
        let magnitudes: Vec<f64> = items.iter().map(|item| item.abs()).collect();
        let magnitude = Exact::of(&magnitudes).value();
        let totals = ORDERS.map(|order| (order.sum)(&items));
        let errors = totals.map(|total| exact.error(total) / magnitude);
        for (index, (total, error)) in totals.into_iter().zip(errors).enumerate() {
            found.errors[index] = found.errors[index].max(error);
            found.alike[index] += usize::from(total.to_bits() == totals[0].to_bits());
        }
        found.sums += 1;
        found.above += usize::from(errors[0] > found.bound);
        found.at += usize::from(errors[0] >= found.bound);
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
    page.paragraph(
        "Each of N processes has one number. Eq. 1 and 2: the error of a pairwise sum, as a share of the sum of all absolute values, is g(log2 N) = \
         log2 N u / (1 - log2 N u). The paper prints it as an equation; it is a bound, and for other N than powers of two the logarithm is to be rounded up: that many additions \
         lie on the longest way. Below are that bound and the greatest error of real sums, of numbers between 0 and 1 and, as often, between -1 and 1, against sums \
         without rounding; the plot is in units of u = 2^-53.",
    );
    let sets = |ranks: usize| ((1_u64 << 20) / ranks as u64).clamp(8, 64);
    let found: Vec<Found> = sizes(context.quick)
        .map(|ranks| measure(ranks, sets(ranks)))
        .collect();
    let line = |name: &str, value: &dyn Fn(&Found) -> f64| {
        let points = found
            .iter()
            .map(|found| (found.ranks as f64, value(found) / ROUNDOFF));
        // Some small sums are exact: no error can be drawn.
        Line::new(name, points.filter(|point| point.1 > 0.0).collect())
    };
    let drawn = ORDERS
        .iter()
        .enumerate()
        .map(|(index, order)| line(order.name, &|found| found.errors[index]));
    let bound = Line {
        style: Style::Guide,
        ..line("bound for a tree, eq. 2", &|found| found.bound)
    };
    page.plot(
        "",
        Plot {
            title: format!(
                "Up to N = 2^{}, the greatest error found by a tree is {} u, from left to right {} u",
                found[found.len() - 1].ranks.ilog2(),
                digits(greatest(&found, 0)),
                digits(greatest(&found, 3))
            ),
            subtitle:
                "The greatest error found, over the sum of absolute values"
                    .to_owned(),
            x: Axis::doublings("N, processes with a number each"),
            y: Axis::decades("greatest error, u = 2^-53"),
            lines: drawn.chain([bound]).collect(),
            size: Size::Page,
        },
    )?;
    page.compare(comparisons(&found));
    table(page, &found);
    Ok(())
}

/// The greatest error of an order over all N, in units of u.
fn greatest(found: &[Found], order: usize) -> f64 {
    let errors = found.iter().map(|found| found.errors[order]);
    errors.fold(0.0, f64::max) / ROUNDOFF
}

fn comparisons(found: &[Found]) -> Vec<Comparison> {
    let (first, last) = (&found[0], &found[found.len() - 1]);
    let count = |of: &dyn Fn(&Found) -> usize| found.iter().map(of).fold(0, |sum, one| sum + one);
    let sums = count(&|found| found.sums);
    let million = 1 << 20;
    let powers = || found.iter().filter(|found| found.ranks.is_power_of_two());
    let alike = |index: usize| count(&|found| found.alike[index]);
    let share = |part: usize| format!("{part} of {sums}");
    let doubling = powers().all(|found| found.alike[2] == found.sums);
    vec![
        Comparison::computed("eq. 2, N = 2", bound(2)).published("around 1e-16"),
        Comparison::computed(format!("eq. 2, N = {million}"), bound(million)).published(2e-15),
        Comparison::computed(
            format!("eq. 2's denominator, N = {million}: below 1 by"),
            20.0 * ROUNDOFF,
        )
        .published("tends to 1"),
        Comparison::computed("sums in tree order above the bound", share(count(&|found| found.above)))
            .published("0"),
        Comparison::computed(
            "sums in tree order whose error is the bound",
            share(count(&|found| found.at)),
        )
        .published("all: abs(E) = g(log2 N) SUM(abs(X))")
        .because("eq. 1 is the greatest error that there can be: Higham, whom the paper cites, prints <="),
        Comparison::computed(
            format!("greatest error found in tree order, N = {}", last.ranks),
            last.errors[0],
        )
        .because(format!("{} of the bound", digits(last.errors[0] / last.bound))),
        Comparison::computed(
            format!("greatest error found from left to right, N = {}", last.ranks),
            last.errors[3],
        )
        .because(format!(
            "{} times the tree's; at N = {} {}",
            digits(last.errors[3] / last.errors[0]),
            first.ranks,
            if first.errors[3].to_bits() == first.errors[0].to_bits() { "the same" } else { "another" }
        )),
        Comparison::computed("sums by MPICH's binomial tree that have the tree's bits", share(alike(1)))
            .because("one value a process, rank 0 the root: the binomial tree over ranks is the tree of this library"),
        Comparison::computed("sums by recursive doubling that have the tree's bits", share(alike(2))).because(format!(
            "{} where N is a power of two; elsewhere ranks are paired before, which is another order",
            if doubling { "all" } else { "not all" }
        )),
        Comparison::computed("sums from left to right that have the tree's bits", share(alike(3))),
    ]
}

fn table(page: &mut Page, found: &[Found]) {
    page.heading("By N");
    let names = ORDERS.iter().map(|order| order.name);
    let headings = ["N", "sums", "bound"].into_iter().chain(names);
    page.table(
        headings,
        found.iter().map(|found| {
            let mut row = vec![
                found.ranks.to_string(),
                found.sums.to_string(),
                digits(found.bound),
            ];
            row.extend(found.errors.map(digits));
            row
        }),
    );
}

#[cfg(test)]
mod tests {
    use super::{binomial, bound, data, measure, recursive_doubling};

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

    #[test]
    fn no_error_is_above_the_bound() {
        for ranks in [2, 3, 5, 1000] {
            let found = measure(ranks, 32);
            assert_eq!((found.sums, found.above), (32, 0));
        }
    }
}
