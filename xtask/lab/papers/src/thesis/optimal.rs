//! The best distributions: of the score, which the thesis only comes near to, and of the critical path, its future work.

use distribution::{Cost, Scheme};
use harness::Error;
use harness::Sharing;
use harness::markdown::digits;

use super::runs::{describe, runs};
use super::timings::{self, Job, Mode, median_us};
use super::{ITEMS, RANKS, example};
use crate::{Comparison, Context, Page};

/// A rank a core, and ranks that take turns.
const MEASURED_RANKS: [usize; 2] = [2, 8];

fn score_us(scheme: Scheme) -> f64 {
    example(scheme).score(&Cost::THESIS) / 1e3
}

/// The critical path of the example.
pub(super) fn path_us(scheme: Scheme) -> f64 {
    example(scheme).critical_path_ns(&Cost::THESIS) / 1e3
}

/// All distributions by score and critical path, N = 504850 and p = 256.
pub(super) fn models(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph(format!(
        "N = {ITEMS}, p = {RANKS}, 281 ns a message and 4.15 ns an addition. `score-optimal` has the least score (eq. 3.7) of all distributions, `score-optimal-busy` the least of those that \
         leave no rank without items; both are proven, and checked against all distributions of few items. `path-optimal` has the shortest critical path of Algorithm 1 that a search \
         finds; [distributions](../items-and-ranks.md) says what is proven of it."
    ));
    page.table(
        [
            "distribution",
            "messages",
            "largest share",
            "busy ranks",
            "score, µs",
            "critical path, µs",
        ],
        Scheme::ALL.iter().copied().map(|scheme| {
            let distribution = example(scheme);
            let counts = (0..RANKS).map(|rank| distribution.count(rank));
            let busy = counts.clone().filter(|&count| count > 0).count();
            vec![
                format!("`{scheme}`"),
                distribution.message_count().to_string(),
                counts.max().unwrap_or(0).to_string(),
                busy.to_string(),
                digits(score_us(scheme)),
                digits(path_us(scheme)),
            ]
        }),
    );
    let least = |value: fn(Scheme) -> f64| {
        let best = Scheme::ALL.iter().copied();
        let best = best.min_by(|&a, &b| value(a).total_cmp(&value(b)));
        best.map_or("", Scheme::name)
    };
    page.compare([
        Comparison::computed("least score, µs", score_us(Scheme::ScoreOptimal))
            .published(184.5)
            .because("the thesis' optimized distribution; most ranks are idle in ours"),
        Comparison::computed(
            "least score with every rank busy, µs",
            score_us(Scheme::ScoreOptimalBusy),
        )
        .published(184.5),
        Comparison::computed(
            "shortest critical path found, µs",
            path_us(Scheme::PathOptimal),
        )
        .because("critical path analysis is future work in the thesis"),
        Comparison::computed("best by score", least(score_us)),
        Comparison::computed("best by critical path", least(path_us)),
    ]);
    page.paragraph(
        "The score counts all messages as if they were sent one after the other, so it wants few of them and lets most ranks idle. The critical path sees that they overlap: by it the score's \
         optimum is slower than the even distribution, and what counts is the largest share. The two models agree on little but that boundaries should be aligned.",
    );
    Ok(())
}

/// The same distributions in measured time, as far as two cores tell.
pub(super) fn measured(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    describe(
        context,
        page,
        "2 and 8",
        "every distribution that has a name",
    );
    page.paragraph(format!(
        "N = {ITEMS}. The optima are those for so few ranks: eq. 3.7's constants make a message worth 68 additions, while here an addition takes far less."
    ));
    let modes = [Mode::Algorithm1, Mode::Plan];
    let mut all = Vec::new();
    for ranks in MEASURED_RANKS {
        let job = Job {
            sizes: vec![ITEMS],
            sharings: Scheme::ALL.iter().copied().map(Sharing::Named).collect(),
            modes: modes.to_vec(),
            runs: runs(context),
        };
        all.push(timings::measure(context.place, ranks, &job)?);
    }
    let headings = MEASURED_RANKS
        .into_iter()
        .flat_map(|ranks| modes.map(|mode| format!("p = {ranks}: {}, µs", mode.name())));
    page.table(
        ["distribution".to_owned(), "busy ranks of 8".to_owned()]
            .into_iter()
            .chain(headings),
        Scheme::ALL.iter().map(|&scheme| {
            let shares = scheme
                .distribute(ITEMS as u64, MEASURED_RANKS[1])
                .expect("there are ranks");
            let busy = (0..MEASURED_RANKS[1])
                .filter(|&rank| shares.count(rank) > 0)
                .count();
            let cells = all
                .iter()
                .flat_map(|times| modes.map(|mode| digits(median_us(times, mode, scheme))));
            let first = [format!("`{scheme}`"), busy.to_string()];
            first.into_iter().chain(cells).collect()
        }),
    );
    let two = |scheme| median_us(&all[0], Mode::Plan, scheme);
    let ratio = |scheme| two(scheme) / two(Scheme::Upper);
    page.compare([
        Comparison::measured(
            "plan on score-optimal over upper, p = 2",
            ratio(Scheme::ScoreOptimal),
        )
        .because("with so few ranks the least score is an aligned, uneven share"),
        Comparison::measured(
            "plan on score-optimal-busy over upper, p = 2",
            ratio(Scheme::ScoreOptimalBusy),
        ),
        Comparison::measured(
            "plan on path-optimal over upper, p = 2",
            ratio(Scheme::PathOptimal),
        ),
    ]);
    Ok(())
}
