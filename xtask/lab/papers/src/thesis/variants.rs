//! Algorithm 1 and a plan on one data set: by distribution, and by when the message buffer is flushed.

use distribution::Scheme;
use harness::Error;
use harness::Sharing;

use super::distributions::path_us;
use super::runs::{RANKS_HERE, describe, runs};
use super::timings::{self, Job, Mode, Times, median_us};
use super::{ITEMS, distribute};
use crate::Context;
use crate::page::{Page, columns, row};

/// One rank per core, and more ranks than cores.
const MEASURED_RANKS: [usize; 2] = [2, 8];

const MODES: [Mode; 2] = [Mode::Algorithm1, Mode::Plan];

/// The times of modes on distributions of the example's items.
fn measure(
    context: &Context<'_>,
    ranks: usize,
    schemes: &[Scheme],
    modes: Vec<Mode>,
) -> Result<Vec<Times>, Error> {
    let job = Job {
        sizes: vec![ITEMS],
        sharings: schemes.iter().copied().map(Sharing::Named).collect(),
        modes,
        runs: runs(context),
    };
    timings::measure(context.settings.place, ranks, &job)
}

/// Figure 3.4: even and optimized distribution; and the critical path of Algorithm 1 at the thesis' number of ranks.
pub(super) fn even_against_optimized(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 3.4, even and optimized distribution");
    describe(context, page, "2", "`upper` and `optimized`");
    let schemes = [Scheme::Upper, Scheme::Optimized];
    let times = measure(context, RANKS_HERE, &schemes, MODES.to_vec())?;
    page.table(
        "mode | even (upper), µs | optimized, µs | optimized / even",
        MODES.map(|mode| {
            let [even, optimized] = schemes.map(|scheme| median_us(&times, mode, scheme));
            row(mode.name(), [even, optimized, optimized / even])
        }),
    );
    page.text("## p = 256, simulated\n\nThe critical path of Algorithm 1: each rank works on one thing at a time, a message takes 281 ns, an addition 4.15 ns (eq. 3.7's constants); `optimal-distributions` has all.");
    page.how = "simulated";
    let [even, optimized] = schemes.map(path_us);
    page.compare(format!(
        "gain of optimized over even, µs | about 4 | {}
        time with optimized over even | 0.82 | {} | the thesis' abstract says 18 % less",
        even - optimized,
        optimized / even
    ));
    Ok(())
}

/// Figure B.1: the size of the message buffer.
pub(super) fn flushing(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure B.1, when the message buffer is flushed");
    describe(context, page, "2", "`upper`, which cuts most");
    page.text("The buffer is flushed before work begins on a subtree of more leaves than the criterion; 1 is next to no buffer, never waits until four values are there, or the receiver changes.");
    let criteria = (0..=18).step_by(2).map(|log| 1_u64 << log);
    let modes = criteria.chain([u64::MAX]).map(Mode::Flushed).collect();
    let times = measure(context, RANKS_HERE, &[Scheme::Upper], modes)?;
    page.table(
        "criterion, leaves | 1 % | median | 99 %",
        times.iter().map(|times| {
            let cells = [1, 50, 99].map(|percent| times.percentile_us(percent));
            row(times.mode.name(), cells)
        }),
    );
    let median = |leaves| median_us(&times, Mode::Flushed(leaves), Scheme::Upper);
    page.compare(format!(
        "time if flushed before more than 64 leaves, over never flushing | relaxing yields no benefit | {} | 1 means equal times; a rank sends few values, and the fold takes most of the time",
        median(64) / median(u64::MAX)
    ));
    Ok(())
}

/// The best distributions by measured time, as far as two cores can show.
pub(super) fn distributions(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("The best distributions, in measured time");
    let named = "every distribution that has a name";
    describe(context, page, "2 and 8", named);
    page.text("N = 504850. The optima are those for so few ranks: eq. 3.7's constants make a message worth 68 additions, while here an addition takes far less.");
    let mut all = Vec::new();
    for ranks in MEASURED_RANKS {
        all.push(measure(context, ranks, Scheme::ALL, MODES.to_vec())?);
    }
    let modes = columns(MEASURED_RANKS, |ranks| {
        columns(MODES, |mode| format!("p = {ranks}: {}, µs", mode.name()))
    });
    page.table(
        &format!("distribution | busy ranks of 8 | {modes}"),
        Scheme::ALL.iter().map(|&scheme| {
            let shares = distribute(scheme, ITEMS as u64, MEASURED_RANKS[1]);
            let busy = (0..MEASURED_RANKS[1]).filter(|&rank| shares.count(rank) > 0);
            let medians = all
                .iter()
                .flat_map(|times| MODES.map(|mode| median_us(times, mode, scheme)));
            row(format!("`{scheme}` | {}", busy.count()), medians)
        }),
    );
    let two = |scheme| median_us(&all[0], Mode::Plan, scheme);
    for (scheme, why) in [
        (
            Scheme::ScoreOptimal,
            "on so few ranks, an aligned, uneven distribution has the least score",
        ),
        (Scheme::ScoreOptimalBusy, ""),
        (Scheme::PathOptimal, ""),
    ] {
        let ratio = two(scheme) / two(Scheme::Upper);
        page.compare(format!(
            "plan on {scheme} over upper, p = 2 | – | {ratio} | {why}"
        ));
    }
    Ok(())
}
