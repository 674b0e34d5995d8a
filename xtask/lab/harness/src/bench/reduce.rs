//! Measures allreduces that sum doubles over ranks, for each distribution and algorithm. The references are two sums that are not
//! reproducible and, on one rank, the local fold.

use std::collections::BTreeSet;

use ::reduce::{Algorithm, Plan, World};
use distribution::Ownership;
use serde::{Deserialize, Serialize};

use super::timing::{Meeting, cold_medians_ns, median, slowest_ns};
use super::{Report, Row, quick_or, rows_of};
use crate::baselines::Baseline;
use crate::data::{TABLE_4_1_ITEMS, TABLE_4_1_LARGE_ITEMS, some_log_likelihoods};
use crate::ordinary::Ordinary;
use crate::output::Output;
use crate::{Backend, Error, Place, Runner, Sharing, Way};

/// The job of every rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReduceJob {
    /// The numbers of items.
    sizes: Vec<usize>,
    /// The distributions of the items.
    distributions: Vec<Sharing>,
    /// How often each measurement is repeated.
    rounds: usize,
}

/// Runs the bench in a place, with few sizes and rounds if `quick` is true.
pub fn launch(
    place: &Place,
    ranks: usize,
    quick: bool,
    output: &Output,
) -> Result<Vec<Row>, Error> {
    // The first size is one item per rank: an allreduce of one number.
    let all = [&TABLE_4_1_ITEMS[..], &TABLE_4_1_LARGE_ITEMS].concat();
    let job = ReduceJob {
        sizes: [vec![ranks], quick_or(quick, vec![460, 1602], all)].concat(),
        distributions: Sharing::contiguous(),
        rounds: quick_or(quick, 5, 31),
    };
    rows_of(place, ranks, ("bench", &job), on_rank, output)
}

/// The distribution of this number of items, and this rank's items.
pub fn own_items(
    world: &World,
    sharing: Sharing,
    items: usize,
) -> Result<(Ownership, Vec<f64>), Error> {
    let ownership = sharing.distribute(items as u64, world.size(), 1)?;
    let distribution = ownership.as_distribution();
    let range = distribution
        .ok_or_else(|| Error::Run(format!("{sharing} scatters the items")))?
        .range(world.rank());
    Ok((ownership, some_log_likelihoods(range, 1)))
}

/// Measures the job on the ranks of a world; rank 0 passes all results to `report`. Collective.
pub fn on_rank(
    world: &World,
    backend: Backend,
    job: &ReduceJob,
    report: &dyn Fn(Report<Row>),
) -> Result<(), Error> {
    for &size in &job.sizes {
        let mut bits = BTreeSet::new();
        // For many items, one distribution is enough, because the fold takes much longer than the messages.
        let is_long = size >= TABLE_4_1_LARGE_ITEMS[0];
        let distributions = if is_long { 1 } else { job.distributions.len() };
        for sharing in &job.distributions[..distributions] {
            let (ownership, local) = own_items(world, *sharing, size)?;
            let local = &local[..];
            let (references, variants) = runners(world, backend, &ownership)?;
            let runners: Vec<&NamedRunner> = references.iter().chain(&variants).collect();
            // Ranks that share a core take far longer.
            let turns = world.size().div_ceil(world.transport().hints().concurrency);
            let repeats = (1_000_000 / size / turns.pow(2)).clamp(1, 200);
            let warm_ns = medians_ns(world, &runners, local, job.rounds, repeats)?;
            let mut states = vec![("warm", warm_ns)];
            let is_short = size <= COLD_ITEMS_MAX;
            if is_short || size == WARM_ITEMS {
                let ordinary = Ordinary::new(world, backend)?;
                let call = |runner| move || call(runner, local);
                let calls: Vec<_> = runners.iter().map(|(_, runner)| call(runner)).collect();
                let calls: Vec<_> = calls.iter().map(|call| call as &dyn Fn() -> _).collect();
                let rounds = COLD_ROUNDS_FACTOR * job.rounds;
                let cold = [
                    ("cold", Meeting::Clock),
                    ("cold-after-barrier", Meeting::Barrier(&[])),
                ];
                let warm = [("warm-items", Meeting::Barrier(local))];
                for &(state, meeting) in if is_short { &cold[..] } else { &warm } {
                    let medians = cold_medians_ns(world, &ordinary, rounds, meeting, &calls)?;
                    states.push((state, medians));
                }
            }
            let of_state = |(state, medians): (&str, Vec<f64>)| {
                let (references_ns, variants_ns) = medians.split_at(references.len());
                for ((variant, _), &ns) in variants.iter().zip(variants_ns) {
                    for ((reference, _), &reference_ns) in references.iter().zip(references_ns) {
                        report(Report::Row(Row {
                            ranks: world.size(),
                            backend: backend.name().to_owned(),
                            distribution: Some(sharing.to_string()),
                            gbps: Some(size as f64 * 8.0 / ns),
                            state: state.to_owned(),
                            ..Row::of("reduce", (variant, ns), size, (reference, reference_ns))
                        }));
                    }
                }
            };
            if world.rank() == 0 {
                states.into_iter().for_each(of_state);
            }
            if let Some((_, plan)) = variants.last() {
                let total = plan.allreduce(local)?;
                bits.insert(format!("{:016X}", total.to_bits()));
            }
        }
        if world.rank() == 0 {
            let bits = Vec::from_iter(bits).join(", ");
            report(Report::Said(format!("reduce, N = {size}: bits {bits}")));
        }
    }
    Ok(())
}

/// The algorithms that are not measured. The first gathers all items on one rank, which fills the caches before the next measurement; the others
/// are for rows of many columns (`bench schedules`).
const NOT_MEASURED: [Way; 12] = [
    Way::LeftToRight,
    Way::Tree(Algorithm::ReduceBroadcast),
    Way::Tree(Algorithm::LinearPipelined),
    Way::Tree(Algorithm::BinaryPipelined),
    Way::Tree(Algorithm::LinearDoublyPipelined),
    Way::Tree(Algorithm::BinaryDoublyPipelined),
    Way::Tree(Algorithm::DualRoot),
    Way::Tree(Algorithm::TwoTree),
    Way::Tree(Algorithm::ReduceScatterGather),
    Way::Tree(Algorithm::Rabenseifner),
    Way::Tree(Algorithm::Ring),
    Way::Tree(Algorithm::Circulant),
];

/// Above this number of items, the fold alone takes longer than filling the caches again.
const COLD_ITEMS_MAX: usize = 2000;

/// The number of items for state `warm-items`: they fit into the cores' own caches.
const WARM_ITEMS: usize = TABLE_4_1_ITEMS[4];

/// How many times as many rounds single calls are measured. Their times vary more than the mean time of hundreds of calls.
const COLD_ROUNDS_FACTOR: usize = 5;

type NamedRunner = (String, Runner);

/// The references, and the variants that are compared with them: every algorithm, and last the default plan.
fn runners(
    world: &World,
    backend: Backend,
    ownership: &Ownership,
) -> Result<(Vec<NamedRunner>, Vec<NamedRunner>), Error> {
    let allreduce = backend.allreduce();
    let named = |fold, baseline| (format!("{fold}+{allreduce}"), Runner::Baseline(baseline));
    let left_to_right = Baseline::locally_left_to_right(world, backend)?;
    let mut references = vec![
        named("unordered-simd", Baseline::unordered(world, backend)?),
        named("left-to-right", left_to_right),
    ];
    if world.size() == 1 {
        references.push(("local fold".to_owned(), Runner::LocalFold));
    }
    let mut variants = Vec::new();
    let is_measured = |way: &Way| !NOT_MEASURED.contains(way) && backend.offers(*way);
    for way in Way::all().into_iter().filter(is_measured) {
        let runner = Runner::new(way, world, backend, ownership)?;
        variants.push((way.to_string(), runner));
    }
    let plan = Plan::builder(world).ownership(ownership).build()?;
    variants.push(("plan".to_owned(), Runner::plan(plan)));
    Ok((references, variants))
}

/// The approximate time limit of a sample of many calls. On a slow network, a sample has few calls.
const SAMPLE_NS_MAX: f64 = 2e7;

/// The medians over the rounds of the slowest rank's time for one call, in nanoseconds.
fn medians_ns(
    world: &World,
    runners: &[&NamedRunner],
    local: &[f64],
    rounds: usize,
    repeats_max: usize,
) -> Result<Vec<f64>, Error> {
    let mut samples = vec![Vec::with_capacity(rounds); runners.len()];
    for _ in 0..rounds {
        for ((_, runner), samples) in runners.iter().zip(&mut samples) {
            // This call's time is not recorded, since the previous variant may have filled the caches.
            let once_ns = slowest_ns(world, 1, || call(runner, local))?;
            let is_short = |calls: &usize| *calls as f64 * once_ns < SAMPLE_NS_MAX;
            let repeats = (1..=repeats_max).take_while(is_short).count().max(1);
            samples.push(slowest_ns(world, repeats, || call(runner, local))?);
        }
    }
    Ok(samples.into_iter().map(median).collect())
}

fn call(runner: &Runner, local: &[f64]) -> Result<(), Error> {
    std::hint::black_box(runner.allreduce(local)?);
    Ok(())
}
