//! Figures 4.1 and 4.4 for more ranks than this machine has.

use std::iter;

use distribution::{Cost, Scheme};
use harness::Error;
use harness::markdown::digits;
use harness::plot::{Axis, Line, Plot, Size};
use schedule::Machine;

use super::model::{
    CLUSTER_RANKS, FAR, FIELDS, Field, NEAR, NODE_RANKS, SHARED_RANKS, Times, cluster, optimized,
    shared_memory,
};
use super::optimal::path_us;
use super::runs::sizes;
use crate::said::{count, range, ratios};
use crate::{Comparison, Context, Page};

/// A line for each mode.
fn lines(all: &[Times], x: fn(&Times) -> usize, y: impl Fn(&Times, Field) -> f64) -> [Line; 3] {
    FIELDS.map(|(mode, time)| {
        let points = all.iter().map(|times| (x(times) as f64, y(times, time)));
        Line::new(mode.name(), points.collect())
    })
}

fn describe(page: &mut Page) {
    let (near, far) = (NEAR.latency_ns, FAR.latency_ns);
    page.paragraph(format!(
        "Simulated ranks fold as fast as one core here does when it has the memory to itself, and send message by message: α = {near} ns within a node, {far} ns between nodes of {NODE_RANKS} \
         ranks, β = {} ns a byte, γ = {} ns a byte combined, one port a rank; the machine with {SHARED_RANKS} ranks is one node. A plan and the left-to-right sum run recursive doubling when \
         the largest share is folded. Algorithm 1 sends what its message buffer holds, as published, and a binomial tree brings the result back; where ranks have a few items, values that wait in that buffer hold up \
         those that need them.",
        NEAR.byte_ns, NEAR.combine_byte_ns
    ));
}

/// The rest of Figure 4.1: p = 256 and 1280.
pub(super) fn largest(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.heading("p = 256 and p = 1280, simulated");
    describe(page);
    let sizes = sizes(context);
    let simulate = |ranks: usize, machine: &Machine| -> Vec<Times> {
        let times = sizes
            .iter()
            .map(|&items| Times::simulate(items, ranks, machine));
        times.collect()
    };
    let shared = simulate(SHARED_RANKS, &shared_memory());
    let cluster = simulate(CLUSTER_RANKS, &cluster());
    for (part, all) in [("a", &shared), ("b", &cluster)] {
        let lines = lines(all, |times| times.items, |times, time| time(times));
        let [plan, algorithm1, left_to_right] = &lines;
        let plot = Plot {
            title: format!(
                "On {} ranks, Algorithm 1 takes {} of a plan's time, a left-to-right sum {}",
                all[0].ranks,
                range(ratios(algorithm1, plan)),
                range(ratios(left_to_right, plan))
            ),
            subtitle: format!(
                "Simulated times of an allreduce of a sum over the lengths of the data sets, p = {}",
                all[0].ranks
            ),
            x: Axis::decades("N, items"),
            y: Axis::decades("time, µs"),
            lines: lines.to_vec(),
            size: Size::Page,
        };
        page.plot(part, plot)?;
    }
    compare_largest(page, &shared, &cluster);
    Ok(())
}

fn compare_largest(page: &mut Page, shared: &[Times], cluster: &[Times]) {
    let Some(longest) = shared.last() else {
        return;
    };
    let worst = |all: &[Times]| {
        let slowdowns = all.iter().map(|times| times.plan / times.left_to_right);
        slowdowns.fold(0.0, f64::max)
    };
    let by_thesis = optimized(longest.items, SHARED_RANKS).critical_path_ns(&Cost::THESIS);
    page.compare([
        Comparison::simulated(
            "p = 256, longest data set, Algorithm 1 with eq. 3.7's constants, µs",
            by_thesis / 1e3,
        )
        .published(248.0)
        .because("eq. 3.7's 4.15 ns an addition was measured on shorter data"),
        Comparison::simulated("p = 256, longest data set, Algorithm 1, µs", longest.algorithm1)
            .published(248.0)
            .because("a fold several times as fast, and no two ranks of the simulation share a cache or the memory's bandwidth"),
        Comparison::simulated("p = 256, longest data set, treefold's plan, µs", longest.plan)
            .published(248.0)
            .because("the same"),
        Comparison::simulated(
            "p = 256, worst slowdown over the baseline, plan",
            worst(shared),
        )
        .published("less than 2"),
        Comparison::simulated(
            "p = 1280, worst slowdown over the baseline, plan",
            worst(cluster),
        ),
    ]);
}

/// Figure 4.4: strong scaling of the longest data set.
pub(super) fn strong(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.machine(context, "1");
    describe(page);
    let items = sizes(context).into_iter().max().unwrap_or(0);
    let octaves = (0..=8).map(|log| 1 << log);
    let all: Vec<Times> = octaves
        .chain((320..=CLUSTER_RANKS).step_by(NODE_RANKS))
        .map(|ranks| Times::simulate(items, ranks, &cluster()))
        .collect();
    let plot = |title: String, y: &str, lines: Vec<Line>| Plot {
        title,
        subtitle: format!(
            "Simulated allreduce of {} doubles, nodes of {NODE_RANKS} ranks",
            count(items)
        ),
        x: Axis::doublings("p, ranks"),
        y: Axis::decades(y),
        lines,
        size: Size::Page,
    };
    let [plan, algorithm1, left_to_right] = FIELDS.map(|(_, time)| levels_off(&all, time));
    let title = format!(
        "A plan levels off from {plan} ranks on, Algorithm 1 from {algorithm1}, the left-to-right sum from {left_to_right}"
    );
    let times = lines(&all, |times| times.ranks, |times, time| time(times));
    page.plot("time", plot(title, "time, µs", times.to_vec()))?;
    let speed_up = |times: &Times, time: Field| time(&all[0]) / time(times);
    let most = FIELDS.map(|(_, time)| {
        let speed_ups = all.iter().map(|times| speed_up(times, time));
        format!("{:.0}", speed_ups.fold(0.0, f64::max))
    });
    let title = format!(
        "Cache effect, simulated: speed-ups above the ideal line, where shares fit into caches, up to {} by a plan, {} by Algorithm 1, {} from left to right",
        most[0], most[1], most[2]
    );
    let ideal = all
        .iter()
        .map(|times| (times.ranks as f64, times.ranks as f64));
    let ideal = Line::guide("ideal", ideal.collect());
    let speed_ups = lines(&all, |times| times.ranks, speed_up).into_iter();
    let speed_ups = speed_ups.chain([ideal]).collect();
    page.plot(
        "speedup",
        plot(title, "speed-up over one rank, ratio", speed_ups),
    )?;
    scaling_tables(page, &all);
    Ok(())
}

/// From there on, no number of ranks is faster by a tenth.
fn levels_off(all: &[Times], time: Field) -> usize {
    let best = all.iter().map(time).fold(f64::INFINITY, f64::min);
    let first = all.iter().find(|times| time(times) <= best * 1.1);
    first.map_or(0, |times| times.ranks)
}

fn scaling_tables(page: &mut Page, all: &[Times]) {
    let columns = FIELDS.map(|(mode, _)| [format!("{}, µs", mode.name()), "speed-up".to_owned()]);
    page.table(
        iter::once("ranks".to_owned()).chain(columns.into_iter().flatten()),
        all.iter().map(|times| {
            let cells =
                FIELDS.map(|(_, time)| [digits(time(times)), digits(time(&all[0]) / time(times))]);
            let cells = cells.into_iter().flatten();
            iter::once(times.ranks.to_string()).chain(cells).collect()
        }),
    );
    let [of_plan, of_algorithm1, of_left_to_right] = FIELDS.map(|(_, time)| levels_off(all, time));
    let faster = "a fold several times as fast leaves less to share out: messages between nodes outweigh it sooner";
    let items = all[0].items;
    page.compare([
        Comparison::simulated("levels off from p, treefold's plan", of_plan)
            .published(640_u64)
            .because(faster),
        Comparison::simulated("items a rank there", items / of_plan.max(1))
            .published("about 33000"),
        Comparison::simulated(
            "levels off from p, left-to-right + allreduce",
            of_left_to_right,
        ),
        Comparison::simulated("levels off from p, Algorithm 1", of_algorithm1)
            .published(640_u64)
            .because(faster),
    ]);
}

/// The rest of Figure 3.4: what waits for what in Algorithm 1, at the thesis' number of ranks.
pub(super) fn critical_paths(page: &mut Page) -> Result<(), Error> {
    page.heading("p = 256, simulated");
    page.paragraph(
        "The critical path of Algorithm 1: each rank works on one thing at a time, a message takes 281 ns, an addition 4.15 ns (eq. 3.7's constants).",
    );
    page.table(
        ["distribution", "critical path, µs"],
        Scheme::ALL
            .iter()
            .map(|&scheme| vec![format!("`{scheme}`"), digits(path_us(scheme))]),
    );
    let (even, optimized) = (path_us(Scheme::Upper), path_us(Scheme::Optimized));
    page.compare([
        Comparison::simulated("gain of optimized over even, µs", even - optimized)
            .published("about 4"),
        Comparison::simulated("time with optimized over even", optimized / even)
            .published(0.82)
            .because("18 % less, says the abstract"),
    ]);
    Ok(())
}
