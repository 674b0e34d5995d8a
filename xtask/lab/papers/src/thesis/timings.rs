//! The thesis' protocol: every mode runs a hundred times, each run is timed separately, and the first and last eight runs are dropped.

use distribution::Scheme;
use harness::Error;
use harness::baselines::Baseline;
use harness::bench::reduce::own_items;
use harness::bench::timing::slowest_ns;
use harness::ranks::on_ranks;
use harness::{Backend, Place, Runner, Sharing};
use reduce::{Algorithm, MessageBuffer, Plan, World};
use serde::{Deserialize, Serialize};

/// A mode of summation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// The default plan.
    Plan,
    /// The thesis' algorithm with its message buffer.
    Algorithm1,
    /// Algorithm 1. Its buffer is flushed before each subtree that has more leaves than this.
    Flushed(u64),
    /// A left-to-right fold on every rank, then the backend's allreduce: the thesis' baseline.
    LeftToRight,
    /// A fast unordered fold on every rank, then the backend's allreduce.
    Unordered,
}

impl Mode {
    /// The mode's name in tables and plots.
    pub fn name(self) -> String {
        match self {
            Mode::Plan => "treefold's plan".to_owned(),
            Mode::Algorithm1 => "Algorithm 1".to_owned(),
            Mode::Flushed(u64::MAX) => "never".to_owned(),
            Mode::Flushed(leaves) => leaves.to_string(),
            Mode::LeftToRight => "left-to-right + allreduce".to_owned(),
            Mode::Unordered => "unordered SIMD + allreduce".to_owned(),
        }
    }
}

/// A measurement on all ranks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The numbers of items.
    pub sizes: Vec<usize>,
    /// The distributions of items.
    pub sharings: Vec<Sharing>,
    /// The modes to time, alternately.
    pub modes: Vec<Mode>,
    /// The number of runs, including those that are dropped.
    pub runs: usize,
}

/// The times of one mode's runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// The mode.
    pub mode: Mode,
    /// The distribution of items.
    pub sharing: Sharing,
    /// The number of items.
    pub items: usize,
    /// The number of ranks.
    pub ranks: usize,
    /// The times of the slowest rank in each run, ascending.
    pub samples_ns: Vec<f64>,
}

impl Times {
    /// The time in microseconds that `percent` per cent of the samples do not exceed.
    pub fn percentile_us(&self, percent: usize) -> f64 {
        let last = self.samples_ns.len().saturating_sub(1);
        let sample = self.samples_ns.get(last * percent / 100);
        sample.map_or(f64::NAN, |ns| ns / 1e3)
    }

    /// The middle sample, in microseconds.
    pub fn median_us(&self) -> f64 {
        self.percentile_us(50)
    }
}

/// Measures a job on a backend's ranks.
pub(super) fn measure(place: &Place, ranks: usize, job: &Job) -> Result<Vec<Times>, Error> {
    let mut all = Vec::new();
    let keep = |times| all.push(times);
    on_ranks(place, ranks, "papers", job, on_rank, keep)?;
    Ok(all)
}

/// The median of one mode's runs on one distribution, in microseconds.
pub(super) fn median_us(times: &[Times], mode: Mode, scheme: Scheme) -> f64 {
    let suits = |times: &&Times| (times.mode, times.sharing) == (mode, Sharing::Named(scheme));
    times.iter().find(suits).map_or(f64::NAN, Times::median_us)
}

/// Measures the job on the ranks of a world. Rank 0 passes all times to `report`. Collective.
pub fn on_rank(
    world: &World,
    backend: Backend,
    job: &Job,
    report: &dyn Fn(Times),
) -> Result<(), Error> {
    for &items in &job.sizes {
        for &sharing in &job.sharings {
            for times in time(world, backend, job, items, sharing)? {
                if world.rank() == 0 {
                    report(times);
                }
            }
        }
    }
    Ok(())
}

/// Times all modes alternately.
fn time(
    world: &World,
    backend: Backend,
    job: &Job,
    items: usize,
    sharing: Sharing,
) -> Result<Vec<Times>, Error> {
    let (ownership, local) = own_items(world, sharing, items)?;
    let runner = |&mode: &Mode| {
        let builder = Plan::builder(world).ownership(&ownership);
        let buffered = |flush_leaves| MessageBuffer {
            flush_leaves,
            ..MessageBuffer::default()
        };
        let builder = match mode {
            Mode::Plan => builder,
            Mode::Algorithm1 => builder.algorithm(Algorithm::Algorithm1),
            Mode::Flushed(leaves) => builder
                .algorithm(Algorithm::Algorithm1)
                .message_buffer(buffered(leaves)),
            Mode::LeftToRight => {
                let baseline = Baseline::locally_left_to_right(world, backend)?;
                return Ok(Runner::Baseline(baseline));
            }
            Mode::Unordered => {
                return Ok(Runner::Baseline(Baseline::unordered(world, backend)?));
            }
        };
        Ok(Runner::plan(builder.build()?))
    };
    let runners: Vec<Runner> = job.modes.iter().map(runner).collect::<Result<_, Error>>()?;
    let mut samples = vec![Vec::new(); runners.len()];
    for _ in 0..job.runs {
        for (runner, samples) in runners.iter().zip(&mut samples) {
            // This call is not timed, because the previous run has filled the caches with other data.
            runner.allreduce(&local)?;
            samples.push(slowest_ns(world, 1, || {
                std::hint::black_box(runner.allreduce(&local)?);
                Ok(())
            })?);
        }
    }
    // The number of runs dropped at either end: as in the thesis, eight of a hundred.
    let dropped = job.runs * 8 / 100;
    let times = |(&mode, mut samples_ns): (&Mode, Vec<f64>)| {
        samples_ns.truncate(job.runs - dropped);
        samples_ns.drain(..dropped);
        samples_ns.sort_by(f64::total_cmp);
        Times {
            mode,
            sharing,
            items,
            ranks: world.size(),
            samples_ns,
        }
    };
    Ok(job.modes.iter().zip(samples).map(times).collect())
}
