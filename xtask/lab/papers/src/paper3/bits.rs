//! Topology and bits: section III-C, and this library's two-level schedule beside it.

use std::collections::BTreeSet;

use distribution::Scheme;
use harness::Error;
use reduce::{Algorithm, Plan, threads};

use super::error::{binomial, data, recursive_doubling};
use crate::said::listed;
use crate::values::cells;
use crate::{Context, Values};

/// One value a rank, as on the paper's largest communicator.
const VALUES: usize = 2048;

/// How many data sets are reduced.
const SETS: u64 = 16;

/// x1, x2, x4 and x8: how many ranks of a node are known of.
const FACTORS: [usize; 4] = [1, 2, 4, 8];

/// Nodes that are no powers of two.
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

/// MPICH's topology-aware reduce to rank 0 (section III-A): all nodes but the root's within themselves, then their results with the
/// root's own value, then that with the other ranks of the root's node.
fn reduce_by_nodes(nodes: &[Vec<f64>]) -> f64 {
    let others = nodes[1..].iter().map(|node| binomial(node));
    let between: Vec<f64> = std::iter::once(nodes[0][0]).chain(others).collect();
    let mut last = nodes[0].clone();
    last[0] = binomial(&between);
    binomial(&last)
}

/// MPICH's topology-aware allreduce (section III-B): within nodes, then between them.
fn allreduce_by_nodes(nodes: &[Vec<f64>]) -> f64 {
    let within: Vec<f64> = nodes.iter().map(|node| binomial(node)).collect();
    recursive_doubling(&within)
}

/// A collective as the paper describes it.
type Unordered = fn(&[Vec<f64>]) -> f64;

/// The distinct results of one data set.
fn patterns(values: &[f64], factors: &[usize], is_dealt: bool, sum: Unordered) -> usize {
    let totals = factors
        .iter()
        .map(|&factor| sum(&nodes(values, factor, is_dealt)).to_bits());
    totals.collect::<BTreeSet<u64>>().len()
}

/// The least and the greatest number of distinct results, over all data sets.
fn spread(factors: &[usize], is_dealt: bool, sum: Unordered) -> (usize, usize) {
    let counts = (0..SETS).map(|seed| {
        let values = data(VALUES, true, seed);
        patterns(&values, factors, is_dealt, sum)
    });
    let counts: Vec<usize> = counts.collect();
    let least = counts.iter().min().copied().unwrap_or(0);
    (least, counts.iter().max().copied().unwrap_or(0))
}

/// All bits that real plans of the hierarchical schedule give, on every rank, for these nodes.
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

/// How many results a reduction has, by what it knows of nodes.
pub(super) fn by_topology(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let collectives: [(&str, Unordered); 2] = [
        ("MPI_Reduce", reduce_by_nodes),
        ("MPI_Allreduce", allreduce_by_nodes),
    ];
    let mut rows = Vec::new();
    for (name, sum) in collectives {
        let mut all = Vec::new();
        for (placement, is_dealt) in [("side by side", false), ("dealt out", true)] {
            let counts = [FACTORS, OTHER_FACTORS].map(|factors| spread(&factors, is_dealt, sum));
            all.extend(counts.map(|(_, most)| most));
            let [own, other] = counts.map(|(least, most)| {
                if least == most {
                    least.to_string()
                } else {
                    format!("{least} to {most}")
                }
            });
            rows.push(cells![name, placement, own, other]);
        }
        let case = page.case("collective");
        case.set("collective", name);
        case.set("changes", all.iter().any(|&most| most > 1));
        case.set("why", if all[0] == 1 {
            "nodes of 1, 2, 4 and 8 ranks side by side are subtrees of one binary tree: there the order is the same, and the claim needs nodes of other sizes, or ranks that \
             are dealt out"
        } else {
            "the root's own value meets the other nodes' before it meets its neighbours', so even x1, x2, x4, x8 differ"
        });
    }
    page.rows("results", rows, |row| row);
    ordered(context.quick, page)
}

/// The hierarchical schedule on threads.
fn ordered(quick: bool, page: &mut Values) -> Result<(), Error> {
    let values = data(VALUES, true, 0);
    let both = [FACTORS, OTHER_FACTORS].concat();
    let runs: [(usize, &[usize]); 3] = [(64, &FACTORS), (64, &OTHER_FACTORS), (60, &both)];
    let mut all = BTreeSet::new();
    for (ranks, factors) in &runs[..if quick { 1 } else { 3 }] {
        let bits = plans(*ranks, factors, &values)?;
        let case = page.case("plans");
        case.set("ranks", *ranks).set("results", bits.len());
        let factors = factors.iter().map(|factor| format!("x{factor}"));
        case.set("factors", listed(factors));
        all.extend(bits);
    }
    let expected = reduce::sum(&values)?.to_bits();
    page.set("alike", all == BTreeSet::from([expected]));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{FACTORS, allreduce_by_nodes, nodes, patterns, plans, reduce_by_nodes};

    #[test]
    fn nodes_hold_their_ranks() {
        let values = [0.0, 1.0, 2.0, 3.0, 4.0];
        assert_eq!(
            nodes(&values, 2, false),
            [vec![0.0, 1.0], vec![2.0, 3.0], vec![4.0]]
        );
        assert_eq!(
            nodes(&values, 2, true),
            [vec![0.0, 3.0], vec![1.0, 4.0], vec![2.0]]
        );
    }

    #[test]
    fn an_order_can_be_seen() {
        // The first meets the third, the second the fourth, where they are dealt out to two nodes.
        let values = [1.0, 1e16, 1.0, -1e16];
        for sum in [reduce_by_nodes, allreduce_by_nodes] {
            assert_eq!(patterns(&values, &[1], false, sum), 1);
        }
        assert_eq!(patterns(&values, &[1, 2], false, allreduce_by_nodes), 1);
        assert_eq!(patterns(&values, &[1, 2], true, allreduce_by_nodes), 2);
    }

    #[test]
    fn plans_give_the_bits_of_one_process() {
        let values: Vec<f64> = (1..=100).map(|i| 1.0 / f64::from(i)).collect();
        let bits = plans(9, &FACTORS, &values).expect("threads can be started");
        let expected = reduce::sum(&values).expect("the environment is the default one");
        assert_eq!(bits.into_iter().collect::<Vec<u64>>(), [expected.to_bits()]);
    }
}
