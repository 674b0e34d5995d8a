//! How many rounds the algorithms take: section III-D.

use harness::Error;
use harness::plot::{Axis, Line, Plot, Size};
use schedule::{Algorithm, check};

use super::{PORTS_MAX, RANKS_MAX, allreduce, log_up};
use crate::{Comparison, Context, Page};

/// The rounds of an allreduce, by the checker.
fn rounds(algorithm: Algorithm, ports: Option<usize>, ranks: usize) -> Result<u64, Error> {
    let report = check(&allreduce(algorithm, ports, ranks));
    let report = report.map_err(|violation| Error::Run(format!("{algorithm}: {violation}")))?;
    Ok(report.rounds as u64)
}

/// The rounds for all numbers of ranks from 2 on.
fn all_rounds(algorithm: Algorithm, ports: Option<usize>, most: usize) -> Result<Vec<u64>, Error> {
    (2..=most)
        .map(|ranks| rounds(algorithm, ports, ranks))
        .collect()
}

/// For how many numbers of ranks a formula counts right.
fn agreement(counts: &[u64], formula: impl Fn(usize) -> u64) -> String {
    let agree = counts
        .iter()
        .zip(2..)
        .filter(|&(&count, ranks)| count == formula(ranks));
    format!("{} of {}", agree.count(), counts.len())
}

fn line(name: impl Into<String>, counts: &[u64]) -> Line {
    let points = counts.iter().zip(2_u32..);
    let points = points.map(|(&count, ranks)| (f64::from(ranks), count as f64));
    Line::new(name, points.collect())
}

/// Formulas against counts.
pub(super) fn counted(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    let most = if context.quick { 64 } else { RANKS_MAX };
    page.paragraph(format!(
        "Rounds until the last rank is done, counted from the schedules for every P from 2 to {most}, if a step takes one round after those that it waits for. The checker that counts also proves \
         each schedule right."
    ));
    let exchange = all_rounds(Algorithm::PairwiseExchange, None, most)?;
    let binomial = all_rounds(Algorithm::Binomial, None, most)?;
    let mut lines = vec![
        line("pairwise exchange", &exchange),
        line("binomial tree", &binomial),
    ];
    let mut comparisons = vec![
        Comparison::computed("pairwise exchange takes ceil(log2 P) + 2: right for P", agreement(&exchange, |ranks| log_up(2, ranks) + 2))
            .published("all")
            .because("a misprint: with P = 2^k + q, the exchange is among 2^k ranks, k = floor(log2 P) rounds, and 2 more if q > 0"),
        Comparison::computed("pairwise exchange takes floor(log2 P) + 2, of powers of two log2 P: right for P", agreement(&exchange, exchange_rounds)),
        Comparison::computed("the binomial tree takes 2 ceil(log2 P): right for P", agreement(&binomial, |ranks| 2 * log_up(2, ranks)))
            .published("all"),
    ];
    for algorithm in [Algorithm::Dissemination, Algorithm::Bruck] {
        for ports in 1..=PORTS_MAX {
            let counts = all_rounds(algorithm, Some(ports), most)?;
            let formula = |ranks| log_up(ports + 1, ranks);
            let what = format!(
                "{algorithm}, n = {ports}, takes ceil(log_{} P): right for P",
                ports + 1
            );
            comparisons
                .push(Comparison::computed(what, agreement(&counts, formula)).published("all"));
            if [1, 2, 5].contains(&ports) && algorithm == Algorithm::Bruck {
                lines.push(line(
                    format!("dissemination and Bruck, n = {ports}"),
                    &counts,
                ));
            }
        }
    }
    let last = |line: &Line| line.points.last().map_or(0.0, |point| point.1);
    page.plot(
        "",
        Plot {
            title: format!(
                "On {most} ranks, a binomial tree takes {} rounds, a pairwise exchange {}, Bruck's with n = 5 only {}",
                last(&lines[1]),
                last(&lines[0]),
                last(&lines[lines.len() - 1])
            ),
            subtitle: "Rounds of an allreduce, counted".to_owned(),
            x: Axis::linear("P, ranks"),
            y: Axis::linear("allreduce, rounds"),
            lines,
            size: Size::Page,
        },
    )?;
    page.compare(comparisons);
    Ok(())
}

fn exchange_rounds(ranks: usize) -> u64 {
    let more = if ranks.is_power_of_two() { 0 } else { 2 };
    u64::from(ranks.ilog2()) + more
}

#[cfg(test)]
mod tests {
    use super::{agreement, all_rounds, exchange_rounds, log_up};
    use schedule::Algorithm;

    #[test]
    fn the_published_formula_is_never_right() {
        let counts = all_rounds(Algorithm::PairwiseExchange, None, 40).expect("a right schedule");
        assert_eq!(agreement(&counts, exchange_rounds), "39 of 39");
        assert_eq!(agreement(&counts, |ranks| log_up(2, ranks) + 2), "0 of 39");
    }
}
