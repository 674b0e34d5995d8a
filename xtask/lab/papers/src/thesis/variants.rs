//! Algorithm 1 and a plan on one data set: by distribution, and by when the message buffer is flushed.

use distribution::Scheme;
use harness::Error;
use harness::Sharing;

use super::distributions::path_us;
use super::runs::{RANKS_HERE, describe, runs};
use super::timings::{self, Job, Mode, Times, median_us};
use super::{ITEMS, distribute};
use crate::values::{Value, cells, row};
use crate::{Context, Values};

/// A rank a core, and ranks that take turns.
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
    timings::measure(context.place, ranks, &job)
}

/// Figure 3.4: even and optimized distribution; and what waits for what in Algorithm 1, at the thesis' number of ranks.
pub(super) fn even_against_optimized(
    context: &Context<'_>,
    page: &mut Values,
) -> Result<(), Error> {
    describe(context, page, "2", "`upper` and `optimized`");
    let schemes = [Scheme::Upper, Scheme::Optimized];
    let times = measure(context, RANKS_HERE, &schemes, MODES.to_vec())?;
    page.rows("modes", MODES, |mode| {
        let [even, optimized] = schemes.map(|scheme| median_us(&times, mode, scheme));
        let ratio = format!("{:.3}", optimized / even);
        cells![mode.name(), even, optimized, ratio]
    });
    page.rows("paths", Scheme::ALL, |&scheme| {
        cells![format!("`{scheme}`"), path_us(scheme)]
    });
    let [even, optimized] = schemes.map(path_us);
    page.set("gain", even - optimized);
    page.set("time", optimized / even);
    Ok(())
}

/// Figure B.1: how long a value may wait for others.
pub(super) fn flushing(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    describe(context, page, "2", "`upper`, which cuts most");
    let criteria = (0..=18).step_by(2).map(|log| 1_u64 << log);
    let modes = criteria.chain([u64::MAX]).map(Mode::Flushed).collect();
    let times = measure(context, RANKS_HERE, &[Scheme::Upper], modes)?;
    page.rows("criteria", times.iter(), |times| {
        let cells = [1, 50, 99].map(|percent| times.percentile_us(percent));
        row(times.mode.name(), cells)
    });
    let median = |leaves| median_us(&times, Mode::Flushed(leaves), Scheme::Upper);
    page.set("gain", median(64) / median(u64::MAX));
    Ok(())
}

/// The best distributions in measured time, as far as two cores tell.
pub(super) fn distributions(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let named = "every distribution that has a name";
    describe(context, page, "2 and 8", named);
    let mut all = Vec::new();
    for ranks in MEASURED_RANKS {
        all.push(measure(context, ranks, Scheme::ALL, MODES.to_vec())?);
    }
    let columns = MEASURED_RANKS
        .iter()
        .flat_map(|ranks| MODES.map(|mode| (ranks, mode)));
    page.cells("modes", columns, |(ranks, mode)| {
        format!("p = {ranks}: {}, µs", mode.name())
    });
    page.rows("schemes", Scheme::ALL.iter(), |&scheme| {
        let shares = distribute(scheme, ITEMS as u64, MEASURED_RANKS[1]);
        let busy = (0..MEASURED_RANKS[1]).filter(|&rank| shares.count(rank) > 0);
        let medians = all
            .iter()
            .flat_map(|times| MODES.map(|mode| median_us(times, mode, scheme)));
        let first = cells![format!("`{scheme}`"), busy.count()];
        first.into_iter().chain(medians.map(Value::from)).collect()
    });
    let two = |scheme| median_us(&all[0], Mode::Plan, scheme);
    for scheme in [
        Scheme::ScoreOptimal,
        Scheme::ScoreOptimalBusy,
        Scheme::PathOptimal,
    ] {
        page.set(scheme.name(), two(scheme) / two(Scheme::Upper));
    }
    Ok(())
}
