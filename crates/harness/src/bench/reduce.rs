//! Allreduce of one double's sum over ranks, by distribution and algorithm, against the two unreproducible ways.

use std::collections::BTreeSet;

use ::reduce::{Algorithm, Operator, Plan, Sum};
use comm::{Communicator, Reduction};
use distribution::Ownership;
use serde::{Deserialize, Serialize};
use simd_kernels::Level;

use super::timing::{median, slowest_ns};
use super::{Row, on_ranks};
use crate::Error;
use crate::choices::{Backend, Sharing};
use crate::data::{TABLE_4_1_ITEMS, TABLE_4_1_LARGE_ITEMS};
use crate::output::Output;

/// What every rank measures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The numbers of items.
    sizes: Vec<usize>,
    /// How they are spread.
    distributions: Vec<Sharing>,
    /// How often everything is measured.
    rounds: usize,
}

/// What rank 0 tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Report {
    /// A time.
    Row(Row),
    /// The default plan's sum of so many items, over all distributions: one pattern, if all is well.
    Bits {
        /// The number of items, N.
        n: usize,
        /// Each bit pattern, in hexadecimal.
        bits: BTreeSet<String>,
    },
}

impl Report {
    /// Keeps a row, and shows bits to a person.
    fn sort(self, rows: &mut Vec<Row>, output: &Output) {
        match self {
            Report::Row(row) => rows.push(row),
            Report::Bits { n, bits } => {
                let bits: Vec<String> = bits.into_iter().collect();
                output.say(format!("reduce, N = {n}: bits {}", bits.join(", ")));
            }
        }
    }
}

/// Runs the bench on a backend.
pub fn launch(
    backend: Backend,
    ranks: usize,
    quick: bool,
    output: &Output,
) -> Result<Vec<Row>, Error> {
    // One item a rank: an allreduce of one number.
    let mut sizes = vec![ranks];
    if quick {
        sizes.extend([460, 1602]);
    } else {
        sizes.extend(TABLE_4_1_ITEMS);
        sizes.extend(TABLE_4_1_LARGE_ITEMS);
    }
    let job = Job {
        sizes,
        distributions: Sharing::contiguous(),
        rounds: if quick { 5 } else { 31 },
    };
    let mut rows = Vec::new();
    on_ranks(backend, ranks, "bench", &job, run, |report: Report| {
        report.sort(&mut rows, output)
    })?;
    Ok(rows)
}

/// One way to get the total.
#[derive(Debug)]
pub enum Way<'c> {
    /// Of ours.
    Plan(Box<Plan<'c, f64, Sum>>),
    /// A local fold, then the backend's own allreduce.
    Reference(fn(&[f64]) -> f64),
}

impl Way<'_> {
    /// The fastest unreproducible way.
    pub const UNORDERED_SIMD: Self =
        Way::Reference(|local| simd_kernels::unordered_sum(Level::best(), local));

    /// The papers' baseline.
    pub const LEFT_TO_RIGHT: Self =
        Way::Reference(|local| simd_kernels::left_to_right(local).unwrap_or(0.0));

    /// The total of all ranks' items. Collective.
    pub fn run(&self, comm: &dyn Communicator, local: &[f64]) -> Result<f64, Error> {
        match self {
            Way::Plan(plan) => plan.allreduce(local).map_err(failed),
            Way::Reference(fold) => allreduce(comm, fold(local)),
        }
    }
}

fn failed(error: impl ToString) -> Error {
    Error::Run(error.to_string())
}

fn allreduce(comm: &dyn Communicator, value: f64) -> Result<f64, Error> {
    let mut total = 0.0_f64;
    let combine = |left: &mut [u8], right: &[u8]| {
        let float = |bytes: &[u8]| bytes.try_into().map_or(f64::NAN, f64::from_ne_bytes);
        let total = float(left) + float(right);
        left.copy_from_slice(&total.to_ne_bytes());
    };
    let reduction = Reduction {
        native: Operator::<f64>::native(&Sum),
        combine: &combine,
    };
    let (value, result) = (
        bytemuck::bytes_of(&value),
        bytemuck::bytes_of_mut(&mut total),
    );
    comm.allreduce_unordered(value, result, &reduction)
        .map_err(failed)?;
    Ok(total)
}

/// Measures the job on the ranks of `comm`; rank 0 hands everything to `report`. Collective.
pub fn run(
    comm: &dyn Communicator,
    backend: Backend,
    job: &Job,
    report: &dyn Fn(Report),
) -> Result<(), Error> {
    for &size in &job.sizes {
        let mut bits = BTreeSet::new();
        for sharing in &job.distributions[..distributions_count(job, size)] {
            let ownership = sharing.distribute(size as u64, comm.size(), 1)?;
            let distribution = ownership.as_distribution();
            let range = distribution
                .ok_or_else(|| failed("scattered items"))?
                .range(comm.rank());
            let local = &crate::data::some_log_likelihoods(range, 1)[..];
            let ways = ways(comm, backend, &ownership)?;
            // Ranks that take turns on a core take far longer.
            let turns = comm.size().div_ceil(comm.concurrency());
            let repeats = (1_000_000 / size / turns.pow(2)).clamp(1, 200);
            let medians = medians_ns(comm, &ways, local, job.rounds, repeats)?;
            if comm.rank() == 0 {
                rows(backend, comm.size(), size, *sharing, &ways, &medians)
                    .into_iter()
                    .map(Report::Row)
                    .for_each(report);
            }
            if let Some((_, plan)) = ways.last() {
                let total = plan.run(comm, local)?;
                bits.insert(format!("{:016X}", total.to_bits()));
            }
        }
        if comm.rank() == 0 {
            report(Report::Bits { n: size, bits });
        }
    }
    Ok(())
}

/// One brings everything to one rank, and whatever runs next finds the caches full of that; the others are for rows of many columns
/// (`bench schedules`).
const NOT_MEASURED: [Algorithm; 12] = [
    Algorithm::LeftToRight,
    Algorithm::ReduceBroadcast,
    Algorithm::LinearPipelined,
    Algorithm::BinaryPipelined,
    Algorithm::LinearDoublyPipelined,
    Algorithm::BinaryDoublyPipelined,
    Algorithm::DualRoot,
    Algorithm::TwoTree,
    Algorithm::ReduceScatterGather,
    Algorithm::Rabenseifner,
    Algorithm::Ring,
    Algorithm::Circulant,
];

/// Of many items, one distribution is enough: their own time hides the messages'.
fn distributions_count(job: &Job, size: usize) -> usize {
    if size >= TABLE_4_1_LARGE_ITEMS[0] {
        1
    } else {
        job.distributions.len()
    }
}

type Named<'c> = (String, Way<'c>);

/// The references first, then every algorithm, the default plan last.
fn ways<'c>(
    comm: &'c dyn Communicator,
    backend: Backend,
    ownership: &Ownership,
) -> Result<Vec<Named<'c>>, Error> {
    let allreduce = match backend {
        Backend::Threads => "allreduce",
        Backend::Mpi => "MPI_Allreduce",
    };
    let mut ways = vec![
        (format!("unordered-simd+{allreduce}"), Way::UNORDERED_SIMD),
        (format!("left-to-right+{allreduce}"), Way::LEFT_TO_RIGHT),
    ];
    let named = Algorithm::ALL
        .into_iter()
        .filter(|algorithm| !NOT_MEASURED.contains(algorithm))
        .filter(|&algorithm| backend.offers(algorithm))
        .map(|algorithm| (algorithm.to_string(), Some(algorithm)));
    for (name, algorithm) in named.chain([("plan".to_owned(), None)]) {
        let mut builder = Plan::builder(comm).ownership(ownership);
        if let Some(algorithm) = algorithm {
            builder = builder.algorithm(algorithm);
        }
        let plan = builder.build().map_err(failed)?;
        ways.push((name, Way::Plan(Box::new(plan))));
    }
    Ok(ways)
}

/// The medians over the rounds of the slowest rank's time for one call, in nanoseconds.
fn medians_ns(
    comm: &dyn Communicator,
    ways: &[Named<'_>],
    local: &[f64],
    rounds: usize,
    repeats: usize,
) -> Result<Vec<f64>, Error> {
    let mut samples = vec![Vec::with_capacity(rounds); ways.len()];
    for _ in 0..rounds {
        for ((_, way), samples) in ways.iter().zip(&mut samples) {
            // What ran before may have left the caches to itself.
            way.run(comm, local)?;
            samples.push(slowest_ns(comm, repeats, || {
                std::hint::black_box(way.run(comm, local)?);
                Ok(())
            })?);
        }
    }
    Ok(samples.into_iter().map(median).collect())
}

fn rows(
    backend: Backend,
    ranks: usize,
    size: usize,
    sharing: Sharing,
    ways: &[Named<'_>],
    medians: &[f64],
) -> Vec<Row> {
    let (references, variants) = ways.split_at(2);
    let mut rows = Vec::new();
    for ((variant, _), &median_ns) in variants.iter().zip(&medians[2..]) {
        for ((reference, _), reference_ns) in references.iter().zip(medians) {
            rows.push(Row {
                bench: "reduce".to_owned(),
                variant: variant.clone(),
                n: size as u64,
                ranks,
                backend: backend.name().to_owned(),
                distribution: Some(sharing.to_string()),
                median_ns,
                gbps: Some(size as f64 * 8.0 / median_ns),
                ratio: median_ns / reference_ns,
                reference: reference.clone(),
            });
        }
    }
    rows
}
