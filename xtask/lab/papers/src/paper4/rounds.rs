//! How many rounds the algorithms take: section III-D.

use harness::Error;
use harness::plot::Line;
use schedule::{Algorithm, check};

use super::{PORTS_MAX, RANKS_MAX, allreduce, log_up};
use crate::said::{line, part_of};
use crate::{Context, Values};

/// The rounds of an allreduce for all numbers of ranks from 2 on, by the checker.
fn rounds(algorithm: Algorithm, ports: Option<usize>, most: usize) -> Result<Vec<u64>, Error> {
    let rounds = (2..=most).map(|ranks| {
        let report = check(&allreduce(algorithm, ports, ranks));
        let report = report.map_err(|violation| Error::Run(format!("{algorithm}: {violation}")))?;
        Ok(report.rounds as u64)
    });
    rounds.collect()
}

/// For how many numbers of ranks a formula counts right.
fn agreement(counts: &[u64], formula: impl Fn(usize) -> u64) -> String {
    let ranks = counts.iter().zip(2..);
    let agree = ranks.filter(|&(&count, ranks)| count == formula(ranks));
    part_of(agree.count(), counts.len())
}

fn over_ranks(name: impl Into<String>, counts: &[u64]) -> Line {
    let points = counts.iter().zip(2_u32..);
    line(name, points, |(&count, ranks)| {
        (f64::from(ranks), count as f64)
    })
}

/// Formulas against counts.
pub(super) fn counted(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let most = context.quick_or(64, RANKS_MAX);
    page.set("most", most);
    let exchange = rounds(Algorithm::PairwiseExchange, None, most)?;
    let binomial = rounds(Algorithm::Binomial, None, most)?;
    let as_printed = agreement(&exchange, |ranks| log_up(2, ranks) + 2);
    page.set("exchange as printed", as_printed);
    page.set("exchange as it is", agreement(&exchange, exchange_rounds));
    let doubled = agreement(&binomial, |ranks| 2 * log_up(2, ranks));
    page.set("binomial right", doubled);
    page.set("exchange", exchange[most - 2]);
    page.set("binomial", binomial[most - 2]);
    let mut lines = vec![
        over_ranks("pairwise exchange", &exchange),
        over_ranks("binomial tree", &binomial),
    ];
    for algorithm in [Algorithm::Dissemination, Algorithm::Bruck] {
        for ports in 1..=PORTS_MAX {
            let counts = rounds(algorithm, Some(ports), most)?;
            let right = agreement(&counts, |ranks| log_up(ports + 1, ranks));
            let case = page.case("ports");
            case.set("algorithm", algorithm.name());
            case.set("right", right);
            case.set("n", ports).set("n + 1", ports + 1);
            if [1, 2, 5].contains(&ports) && algorithm == Algorithm::Bruck {
                page.set("bruck", counts[most - 2]);
                lines.push(over_ranks(
                    format!("dissemination and Bruck, n = {ports}"),
                    &counts,
                ));
            }
        }
    }
    page.draw("", lines);
    Ok(())
}

fn exchange_rounds(ranks: usize) -> u64 {
    let more = if ranks.is_power_of_two() { 0 } else { 2 };
    u64::from(ranks.ilog2()) + more
}

#[cfg(test)]
mod tests {
    use super::{agreement, exchange_rounds, log_up, rounds};
    use schedule::Algorithm;

    #[test]
    fn the_published_formula_is_never_right() {
        let counts = rounds(Algorithm::PairwiseExchange, None, 40).expect("a right schedule");
        assert_eq!(agreement(&counts, exchange_rounds), "39 of 39");
        assert_eq!(agreement(&counts, |ranks| log_up(2, ranks) + 2), "0 of 39");
    }
}
