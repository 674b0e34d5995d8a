//! Topology and bits: section III-C, and this library's two-level schedule.

use std::collections::BTreeSet;

use distribution::Scheme;
use harness::Error;
use reduce::{Algorithm, Plan, threads};

use super::error::{binomial, data, recursive_doubling};
use crate::Context;
use crate::page::Page;
use crate::said::{listed, span, yes};

/// One value per rank, as on the paper's largest communicator.
const VALUES: usize = 2048;

/// How many data sets are reduced.
const SETS: u64 = 16;

/// x1, x2, x4 and x8: the assumed numbers of ranks per node.
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
    let bits = |&factor: &usize| sum(&nodes(values, factor, is_dealt)).to_bits();
    factors.iter().map(bits).collect::<BTreeSet<u64>>().len()
}

/// The number of distinct results of each data set.
fn counts(factors: &[usize], is_dealt: bool, sum: Unordered) -> Vec<usize> {
    let count = |seed| patterns(&data(VALUES, true, seed), factors, is_dealt, sum);
    (0..SETS).map(count).collect()
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

/// The number of results of a reduction, by its knowledge of nodes.
pub(super) fn by_topology(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Section III-C, bits by topology");
    page.text(format!(
        "One value on each of {VALUES} ranks, reduced in the orders of section III for x1, x2, x4 and x8 ranks a node: how many distinct results, least and most over {SETS} data sets. \
         Ranks lie side by side on nodes, or are dealt out to them in turn."
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

/// The hierarchical schedule on threads.
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

#[cfg(test)]
mod tests {
    use super::{allreduce_by_nodes, nodes, patterns, reduce_by_nodes};

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
}
