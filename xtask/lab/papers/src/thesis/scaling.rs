//! Figures 4.1 and 4.4 for more ranks than this machine has.

use distribution::{Cost, Scheme};
use harness::Error;
use harness::plot::Line;

use super::distribute;
use super::model::{CLUSTER_RANKS, FIELDS, Field, LINKS, NODE_RANKS, SHARED_RANKS, Times};
use super::runs::sizes;
use crate::said::{least, line, most, range, ratios};
use crate::values::row;
use crate::{Context, Values};

/// A line for each mode.
fn lines(all: &[Times], x: fn(&Times) -> usize, y: impl Fn(&Times, Field) -> f64) -> [Line; 3] {
    FIELDS.map(|(mode, time)| line(mode.name(), all, |times| (x(times) as f64, y(times, time))))
}

fn describe(page: &mut Values) {
    let (near, far) = (LINKS.near.latency_ns, LINKS.far.latency_ns);
    let words = format!(
        "Simulated ranks fold as fast as one core here does when it has the memory to itself, and send message by message: α = {near} ns within a node, {far} ns between nodes of {NODE_RANKS} \
         ranks, β = {} ns a byte, γ = {} ns a byte combined, one port a rank; the machine with {SHARED_RANKS} ranks is one node. A plan and the left-to-right sum run recursive doubling when \
         the largest share is folded. Algorithm 1 sends what its message buffer holds, as published, and a binomial tree brings the result back; where ranks have a few items, values that wait in that buffer hold up \
         those that need them.",
        LINKS.near.byte_ns, LINKS.near.combine_byte_ns
    );
    page.set("simulation", words);
}

/// The rest of Figure 4.1: p = 256 and 1280.
pub(super) fn largest(context: &Context<'_>, page: &mut Values) {
    describe(page);
    let sizes = sizes(context);
    // The machine with shared memory is one node.
    for (part, ranks, node_ranks) in [
        ("a", SHARED_RANKS, SHARED_RANKS),
        ("b", CLUSTER_RANKS, NODE_RANKS),
    ] {
        let machine = LINKS.machine(node_ranks);
        let times = sizes.iter();
        let times = times.map(|&items| Times::simulate(items, ranks, &machine));
        let all: Vec<Times> = times.collect();
        let lines = lines(&all, |times| times.items, |times, time| time(times));
        let [plan, algorithm1, left_to_right] = &lines;
        let slowdowns = all.iter().map(|times| times.plan / times.left_to_right);
        page.set(&format!("worst of {ranks}"), most(slowdowns));
        if ranks == SHARED_RANKS {
            let longest = &all[all.len() - 1];
            let by_thesis = distribute(Scheme::Optimized, longest.items as u64, ranks);
            let by_thesis_ns = by_thesis.critical_path_ns(&Cost::THESIS);
            page.set("longest by eq. 3.7", by_thesis_ns / 1e3);
            page.set("longest by algorithm 1", longest.algorithm1);
            page.set("longest by plan", longest.plan);
        }
        let case = page.case("machine");
        case.set("part", part).set("ranks", ranks);
        case.set("algorithm 1", range(ratios(algorithm1, plan)));
        case.set("left-to-right", range(ratios(left_to_right, plan)));
        case.draw(part, lines);
    }
}

/// Figure 4.4: strong scaling of the longest data set.
pub(super) fn strong(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    page.set("machine", context.machine("1"));
    describe(page);
    let items = sizes(context).into_iter().max().unwrap_or(0);
    let octaves = (0..=8).map(|log| 1 << log);
    let ranks = octaves.chain((320..=CLUSTER_RANKS).step_by(NODE_RANKS));
    let machine = LINKS.machine(NODE_RANKS);
    let all = ranks.map(|ranks| Times::simulate(items, ranks, &machine));
    let all: Vec<Times> = all.collect();
    let speed_up = |times: &Times, time: Field| time(&all[0]) / time(times);
    let names = ["plan", "algorithm 1", "left-to-right"];
    for (name, (_, time)) in names.into_iter().zip(FIELDS) {
        // From there on, no number of ranks is faster by a tenth.
        let best = least(all.iter().map(time));
        let level = all.iter().find(|times| time(times) <= best * 1.1);
        let level = level.map_or(0, |times| times.ranks);
        page.set(name, level);
        let speed_ups = all.iter().map(|times| speed_up(times, time));
        page.set(&format!("{name} speed-up"), most(speed_ups));
        if name == "plan" {
            page.set("share", items / level.max(1));
        }
    }
    page.set("items", items);
    let times = lines(&all, |times| times.ranks, |times, time| time(times));
    page.draw("time", times);
    let ideal = all.iter().map(|times| times.ranks as f64);
    let ideal = Line::guide("ideal", ideal.map(|ranks| (ranks, ranks)).collect());
    let speed_ups = lines(&all, |times| times.ranks, speed_up);
    page.draw("speedup", speed_ups.into_iter().chain([ideal]));
    page.cells("modes", FIELDS, |(mode, _)| {
        format!("{}, µs | speed-up", mode.name())
    });
    page.rows("times", &all, |times| {
        let cells = FIELDS.map(|(_, time)| [time(times), speed_up(times, time)]);
        row(times.ranks, cells.into_iter().flatten())
    });
    Ok(())
}
