//! End and others, *Butterfly-like Algorithms for GASPI Split Phase Allreduce* (2016): rounds, adaptation, and times on two clusters.

mod examples;
mod measured;
mod simulated;

use harness::Error;
use harness::plot::{Axis, Line};
use schedule::{Algorithm, Collective, Parameters, Schedule, Step, check};

use crate::page::Page;
use crate::said::{if_any, joined, line, part_of, yes};
use crate::{Context, Exhibit, Paper};

const PAPER: Paper = Paper {
    name: "Paper 4",
    pictures: &[
        "paper-4-rounds.svg",
        "paper-4-figures-7-14-cluster-1-integer.svg",
    ],
};

pub(super) const EXHIBITS: &[Exhibit] = &[
    PAPER.computed("paper-4-table-1", examples::partial_results),
    PAPER.computed("paper-4-examples", examples::worked),
    PAPER.computed("paper-4-adaption", tuples),
    PAPER.computed("paper-4-rounds", rounds_counted),
    PAPER.simulated("paper-4-figures-7-14", simulated::clusters),
    PAPER.measured("paper-4-measured", measured::here),
];

/// The largest number of ranks.
const RANKS_MAX: usize = 300;

/// The largest n.
const PORTS_MAX: usize = 8;

/// The schedule of an allreduce, with n messages at once if the algorithm offers this choice.
fn allreduce(algorithm: Algorithm, ports: Option<usize>, ranks: usize) -> Schedule {
    let parameters = Parameters {
        ports,
        ..Parameters::default()
    };
    Schedule::new(algorithm, Collective::Allreduce, ranks)
        .and_then(|schedule| schedule.with(parameters))
        .expect("there are ranks and ports")
}

/// Whether n-way dissemination adapts to this number of ranks.
fn adapts(ports: usize, ranks: usize) -> bool {
    let schedule = allreduce(Algorithm::Dissemination, Some(ports), ranks);
    schedule.effective() == schedule
}

/// The smallest n that adapts: the paper's choice.
fn smallest_ports(ranks: usize) -> usize {
    let mut all = 1..=PORTS_MAX;
    all.find(|&ports| adapts(ports, ranks)).unwrap_or(PORTS_MAX)
}

/// The least k with base^k >= number.
fn log_up(base: usize, number: usize) -> u64 {
    let powers = std::iter::successors(Some(1_usize), |power| power.checked_mul(base));
    powers.take_while(|&power| power < number).count() as u64
}

/// How far the boundary g_l\[j\] of a rank is behind the rank: n sum (n+1)^i for i = 0..l-2, plus j (n+1)^(l-1); 0 for l = 0.
fn boundary(ports: usize, round: u32, peer: usize) -> usize {
    let Some(before) = round.checked_sub(1) else {
        return 0;
    };
    let unit = (ports + 1).pow(before);
    (unit - 1) + peer * unit
}

/// The number of ranks whose values a rank has before the last round: (n+1)^(k-1).
fn held(ports: usize, ranks: usize) -> usize {
    let rounds = u32::try_from(log_up(ports + 1, ranks)).expect("a logarithm");
    (ports + 1).pow(rounds.saturating_sub(1))
}

/// The boundaries of a sender or a receiver, for all rounds l. There is only one for l = 0, where j does not matter.
fn boundaries(ports: usize, ranks: usize) -> Vec<usize> {
    let rounds = u32::try_from(log_up(ports + 1, ranks)).expect("a logarithm");
    let others =
        (1..rounds).flat_map(|round| (1..=ports).map(move |peer| boundary(ports, round, peer)));
    std::iter::once(0).chain(others).collect()
}

/// Whether eq. 8 has a solution.
fn has_tuple(ports: usize, ranks: usize) -> bool {
    let held = held(ports, ranks);
    let boundaries = boundaries(ports, ranks);
    let meets = |senders: usize, sent: usize| {
        let mut received = boundaries.iter();
        received.any(|received| senders * held + sent == ranks + received)
    };
    (1..=ports).any(|senders| boundaries.iter().any(|&sent| meets(senders, sent)))
}

/// Whether a sender's boundary coincides with the base border: P - 1 = g.
fn meets_base_border(ports: usize, ranks: usize) -> bool {
    let held = held(ports, ranks);
    let boundaries = boundaries(ports, ranks);
    (1..=ports).any(|senders| {
        let mut boundaries = boundaries.iter();
        boundaries.any(|boundary| senders * held + boundary + 1 == ranks)
    })
}

/// The counts for one n.
#[derive(Clone, Debug, Default)]
struct Row {
    ports: usize,
    /// The number of rank counts that have a solution of eq. 8; `by_border` also counts those with a boundary on the base border.
    by_tuple: usize,
    by_border: usize,
    /// The number of rank counts that are powers of n + 1 and have a boundary on the base border but no solution.
    by_border_powers: usize,
    ours: usize,
    /// The number of rank counts for which our condition agrees with the paper's.
    same: usize,
    least_unadapted: Option<usize>,
    /// The number of rank counts that do not adapt, but have Bruck's programs.
    covered: usize,
    right: usize,
    count: usize,
}

fn row(ports: usize, most: usize) -> Row {
    let mut row = Row {
        ports,
        ..Row::default()
    };
    for ranks in 2..=most {
        let by_tuple = has_tuple(ports, ranks);
        let by_border = by_tuple || meets_base_border(ports, ranks);
        let ours = adapts(ports, ranks);
        row.count += 1;
        row.by_tuple += usize::from(by_tuple);
        row.by_border += usize::from(by_border);
        let is_power = (ports + 1).pow(ranks.ilog(ports + 1)) == ranks;
        row.by_border_powers += usize::from(by_border && !by_tuple && is_power);
        row.ours += usize::from(ours);
        row.same += usize::from(by_border == ours);
        let schedule = allreduce(Algorithm::Dissemination, Some(ports), ranks);
        row.right += usize::from(check(&schedule).is_ok());
        if !ours {
            row.least_unadapted = row.least_unadapted.or(Some(ranks));
            let bruck = allreduce(Algorithm::Bruck, Some(ports), ranks);
            let is_alike = |rank: usize| {
                let steps = |of: &Schedule| of.steps(rank).collect::<Vec<Step>>();
                steps(&schedule) == steps(&bruck)
            };
            row.covered += usize::from((0..ranks).all(is_alike));
        }
    }
    row
}

/// Compares eq. 8 and Theorem 1 with our schedule.
fn tuples(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Theorem 1, which numbers of ranks n-way dissemination adapts to");
    let most = context.quick_or(64, RANKS_MAX);
    page.text(format!(
        "Unless P = (n + 1)^k, n-way dissemination counts some ranks twice in its last round. It can be adapted if a boundary of the last sender's data is also one of the receiver's. The table counts, for P = 2 \
         to {most}, the solutions of eq. 8 with 1 <= s <= n, 0 <= l < k, 1 <= j <= n, and the P to which our schedule `dissemination` adapts. Where it does not adapt, `dissemination` is Bruck's combine, which has as \
         many rounds. The checker proves it correct for every P."
    ));
    let rows: Vec<Row> = (1..=PORTS_MAX).map(|ports| row(ports, most)).collect();
    page.table(
        "n | eq. 8 | eq. 8 or g_B | `dissemination` | least P that does not adapt",
        rows.iter().map(|row| {
            let least = if_any(row.least_unadapted);
            let counts = [row.by_tuple, row.by_border, row.ours];
            format!("{} | {} | {least}", row.ports, joined(counts, " | "))
        }),
    );
    let smallest: Vec<usize> = (2..=most).map(smallest_ports).collect();
    let points = smallest.iter().zip(2_u32..);
    let points = points.map(|(&ports, ranks)| (f64::from(ranks), ports as f64));
    page.draw(
        "",
        "The smallest n for which n-way dissemination adapts, which the paper's library takes",
        Axis::linear("P, ranks"),
        Axis::linear("n, messages a round"),
        [Line::dots("smallest n", points.collect())],
    );
    let sum = |of: fn(&Row) -> usize| rows.iter().map(of).fold(0, |sum, one| sum + one);
    let pairs = sum(|row| row.count);
    let unadapted = sum(|row| row.count - row.ours);
    page.compare(format!(
        "n-way dissemination adapts to all pairs (n, P) | no | {} | {unadapted} of {pairs} pairs do not adapt
        pairs for which our schedule agrees with eq. 8 or g_B | all | {} of {pairs}
        pairs that adapt, but have no 5-tuple: g_B alone | – | {} | {} of them have P = (n + 1)^k, which needs no adaptation
        pairs for which the checker proves the schedule | – | {} of {pairs}
        pairs that do not adapt and have Bruck's programs | alternative solutions need to be found | {} of {unadapted} | Bruck's combine with the same n takes as many rounds, and works for all pairs",
        yes(unadapted == 0),
        sum(|row| row.same),
        sum(|row| row.by_border - row.by_tuple),
        sum(|row| row.by_border_powers),
        sum(|row| row.right),
        sum(|row| row.covered),
    ));
    Ok(())
}

/// The rounds of an allreduce on 2 to `most` ranks, as the checker counts them.
fn rounds(algorithm: Algorithm, ports: Option<usize>, most: usize) -> Result<Vec<u64>, Error> {
    let rounds = (2..=most).map(|ranks| {
        let report = check(&allreduce(algorithm, ports, ranks));
        let report = report.map_err(|violation| Error::Run(format!("{algorithm}: {violation}")))?;
        Ok(report.rounds as u64)
    });
    rounds.collect()
}

/// How often, over all rank counts, the formula matches the counted rounds.
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

/// Compares formulas with counted rounds.
fn rounds_counted(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Section III-D, numbers of rounds");
    let most = context.quick_or(64, RANKS_MAX);
    page.text(format!(
        "Rounds until the last rank is done, counted from the schedules for every P from 2 to {most}. A step is one round later than the latest step that it waits for. The checker that counts also proves each schedule correct."
    ));
    let exchange = rounds(Algorithm::PairwiseExchange, None, most)?;
    let binomial = rounds(Algorithm::Binomial, None, most)?;
    let mut lines = vec![
        over_ranks("pairwise exchange", &exchange),
        over_ranks("binomial tree", &binomial),
    ];
    let mut rows = format!(
        "pairwise exchange takes ceil(log2 P) + 2 rounds: true for | all | {} | a misprint: for P = 2^k + q, 2^k ranks exchange in k = floor(log2 P) rounds, plus 2 rounds if q > 0
        pairwise exchange takes floor(log2 P) + 2 rounds, log2 P for powers of two: true for | – | {}
        the binomial tree takes 2 ceil(log2 P) rounds: true for | all | {}",
        agreement(&exchange, |ranks| log_up(2, ranks) + 2),
        agreement(&exchange, exchange_rounds),
        agreement(&binomial, |ranks| 2 * log_up(2, ranks)),
    );
    let mut last = [exchange[most - 2], binomial[most - 2], 0];
    for algorithm in [Algorithm::Dissemination, Algorithm::Bruck] {
        for ports in 1..=PORTS_MAX {
            let counts = rounds(algorithm, Some(ports), most)?;
            let base = ports + 1;
            let right = agreement(&counts, |ranks| log_up(base, ranks));
            rows += &format!(
                "\n{algorithm}, n = {ports}, takes ceil(log_{base} P) rounds: true for | all | {right}"
            );
            if [1, 2, 5].contains(&ports) && algorithm == Algorithm::Bruck {
                last[2] = counts[most - 2];
                let name = format!("dissemination and Bruck, n = {ports}");
                lines.push(over_ranks(name, &counts));
            }
        }
    }
    page.draw(
        "",
        "Rounds of an allreduce, counted",
        Axis::linear("P, ranks"),
        Axis::linear("allreduce, rounds"),
        lines,
    );
    let [exchange, binomial, bruck] = last;
    page.says(format!(
        "On {most} ranks, a binomial tree takes {binomial} rounds, a pairwise exchange {exchange}, and Bruck's algorithm with n = 5 only {bruck}"
    ));
    page.compare(rows);
    Ok(())
}

fn exchange_rounds(ranks: usize) -> u64 {
    let more = if ranks.is_power_of_two() { 0 } else { 2 };
    u64::from(ranks.ilog2()) + more
}
