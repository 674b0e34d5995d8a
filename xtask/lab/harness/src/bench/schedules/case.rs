//! Measures the schedules for one row length, element type and operator.

use std::fmt;

use reduce::{Algorithm, AnyPlan, DEFAULT_LINK, Network, Operation, Plan, World};
use schedule::{Collective, Machine, simulate};

use super::{ScheduleJob, ScheduleRow};
use crate::bench::Report;
use crate::bench::timing::{median, slowest_after_ns, slowest_ns, whole};
use crate::ordinary::{Element, Known, Ordinary};
use crate::{Backend, Error};

/// The approximate duration of a sample.
const SAMPLE_NS: f64 = 100_000.0;

/// How the schedule is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Choice {
    /// The job names the algorithm.
    Named(Algorithm),
    /// The plan chooses the schedule for the measured network.
    Tuned,
    /// The plan chooses the schedule for the network that plans assume without a measurement.
    Unmeasured,
}

impl Choice {
    fn name(self) -> String {
        match self {
            Choice::Named(algorithm) => algorithm.to_string(),
            Choice::Tuned => "tuned".to_owned(),
            Choice::Unmeasured => "unmeasured".to_owned(),
        }
    }
}

/// A measurement of every suitable schedule on rows of one length.
pub(super) struct ScheduleCase<'h> {
    pub(super) world: &'h World,
    pub(super) backend: Backend,
    pub(super) ordinary: &'h Ordinary,
    pub(super) network: Network,
    pub(super) report: &'h dyn Fn(Report<ScheduleRow>),
    pub(super) job: &'h ScheduleJob,
    pub(super) paper: u8,
    pub(super) collective: Collective,
    pub(super) width: usize,
    pub(super) rounds: usize,
    /// The number of elements in a block, if the case prescribes one.
    pub(super) block_elements: Option<usize>,
}

/// A call that all ranks make together.
type TimedCall<'c> = &'c mut dyn FnMut() -> Result<(), Error>;

impl ScheduleCase<'_> {
    /// Measures every suitable schedule, and the plan's choice.
    pub(super) fn measure<T, O>(
        &self,
        operator: O,
        value: fn(usize, usize) -> T,
    ) -> Result<(), Error>
    where
        T: Element + PartialEq + fmt::Debug,
        O: Known<T> + Copy + 'static,
    {
        let (world, ordinary) = (self.world, self.ordinary);
        let columns = 0..self.width;
        let local: Vec<T> = columns.map(|column| value(world.rank(), column)).collect();
        // By the definition, a tree over the ranks reduces each column, since each rank has one row.
        let of_column = |column| -> T {
            let ranks = 0..world.size();
            let column: Vec<T> = ranks.map(|rank| value(rank, column)).collect();
            operator.canonical(operator.fold(&column).expect("there are ranks"))
        };
        let expected: Vec<T> = (0..self.width.min(1000)).map(of_column).collect();
        for choice in self.choices() {
            let mut builder = Plan::builder(world).local_items(1).width(self.width);
            builder = match choice {
                Choice::Named(algorithm) => builder.network(self.network).algorithm(algorithm),
                Choice::Tuned => builder.network(self.network),
                Choice::Unmeasured => builder.network(DEFAULT_LINK),
            };
            if let Some(elements) = self.block_elements {
                builder = builder.blocks(self.width.div_ceil(elements));
            }
            let plan = builder.operator(operator).build::<T>()?;
            let (mut result, mut other) = (local.clone(), local.clone());
            let run = |result: &mut [T]| -> Result<(), Error> {
                let ended = match self.collective {
                    Collective::Allreduce => plan.allreduce_into(&local, result),
                    _ => plan.reduce_into(&local, result).map(drop),
                };
                Ok(ended?)
            };
            run(&mut result)?;
            let is_mine = self.collective == Collective::Allreduce || world.rank() == 0;
            if is_mine && result[..expected.len()] != expected {
                let reason = format!("{} gives wrong bits", self.running(&plan));
                return Err(Error::Run(reason));
            }
            let mut reference = || match self.collective {
                Collective::Allreduce => ordinary.allreduce(&operator, &local, &mut other),
                _ => ordinary.reduce(&operator, &local, &mut other),
            };
            let samples = self.samples(&mut || run(&mut result), &mut reference)?;
            if world.rank() == 0 {
                let element = (std::any::type_name::<T>(), size_of::<T>());
                let row = self.row(choice, &plan, samples, element, operator.name());
                (self.report)(Report::Row(row));
            }
        }
        Ok(())
    }

    /// The choices that are worth measuring in this case.
    fn choices(&self) -> Vec<Choice> {
        let job = self.job;
        let named = Algorithm::all().filter(|&algorithm| self.suits(algorithm));
        let mut choices: Vec<Choice> = named.map(Choice::Named).collect();
        choices.extend((job.algorithms.is_empty() || job.tuned).then_some(Choice::Tuned));
        choices.extend(job.unmeasured.then_some(Choice::Unmeasured));
        choices
    }

    fn suits(&self, algorithm: Algorithm) -> bool {
        let scheduled = algorithm.scheduled();
        match self.collective {
            _ if !self.job.algorithms.is_empty() => self.job.algorithms.contains(&algorithm),
            _ if !algorithm.is_scheduled() => false,
            _ if self.block_elements.is_some() => {
                let unblocked = [Algorithm::RecursiveDoubling, Algorithm::Rabenseifner];
                let is_pipelined = scheduled.is_some_and(schedule::Algorithm::is_pipelined);
                unblocked.contains(&algorithm) || is_pipelined
            }
            Collective::Allreduce => true,
            // Paper 5's trees, and other algorithms with their own reduce.
            _ => scheduled.is_some_and(schedule::Algorithm::has_own_reduce),
        }
    }

    /// The times of two calls, measured alternately.
    fn samples(&self, own: TimedCall<'_>, other: TimedCall<'_>) -> Result<[Vec<f64>; 2], Error> {
        // Two runs allocate the buffers; if they are short, three more determine the number of calls in a sample.
        let mut warm_ns = slowest_ns(self.world, 2, &mut *own)?;
        if warm_ns < 100.0 * SAMPLE_NS {
            warm_ns = slowest_ns(self.world, 3, &mut *own)?;
        }
        slowest_ns(self.world, 3, &mut *other)?;
        let calls_min = f64::from(self.job.calls_min.max(1));
        let calls = whole((SAMPLE_NS / warm_ns).clamp(calls_min, 1000.0));
        let (world, untimed) = (self.world, self.job.untimed);
        let mut samples = [Vec::new(), Vec::new()];
        for _ in 0..self.rounds {
            samples[0].push(slowest_after_ns(world, untimed, calls, &mut *own)?);
            samples[1].push(slowest_after_ns(world, untimed, calls, &mut *other)?);
        }
        Ok(samples)
    }

    fn row(
        &self,
        choice: Choice,
        plan: &AnyPlan,
        [mut own, others]: [Vec<f64>; 2],
        (element, element_bytes): (&str, usize),
        operation: &str,
    ) -> ScheduleRow {
        own.sort_by(f64::total_cmp);
        // The order statistics at n/2 -+ 0.98 sqrt(n): the median is between them in 95 % of cases.
        let count = own.len() as f64;
        let place = |offset: f64| whole((count / 2.0 + offset).clamp(0.0, count - 1.0));
        let half = 0.98 * count.sqrt();
        let (low_ns, high_ns) = (own[place(-half)], own[place(half)]);
        let median_ns = median(own);
        let bytes = (self.width * element_bytes) as f64;
        let (collective, reference) = match (self.collective, self.backend) {
            (Collective::Allreduce, backend) => ("allreduce", backend.allreduce()),
            (_, Backend::Threads) => ("reduce", "reduce"),
            (_, Backend::Mpi) => ("reduce", "MPI_Reduce"),
        };
        let operation = match operation {
            "max" => "maximum",
            name => name,
        };
        ScheduleRow {
            bench: "schedules".to_owned(),
            variant: choice.name(),
            remark: self.remark(choice, plan),
            paper: self.paper,
            collective: collective.to_owned(),
            operation: operation.to_owned(),
            element: element.to_owned(),
            n: self.width as u64,
            ranks: self.world.size(),
            backend: self.backend.name().to_owned(),
            blocks: plan.blocks(),
            block_elements: self.block_elements.map(|elements| elements as u64),
            median_ns,
            low_ns,
            high_ns,
            simulated_ns: self.simulated_ns(plan, bytes),
            gbps: Some(bytes / median_ns),
            ratio: median_ns / median(others),
            reference: reference.to_owned(),
        }
    }

    fn operation(&self) -> Operation {
        match self.collective {
            Collective::Allreduce => Operation::Allreduce,
            _ => Operation::Reduce,
        }
    }

    /// The algorithm that runs for this case's collective.
    fn running(&self, plan: &AnyPlan) -> Algorithm {
        let running = plan.algorithm(self.operation());
        running.expect("every algorithm offers reductions")
    }

    /// The algorithm, if the plan chose one, and the schedule's remark, if there is one.
    fn remark(&self, choice: Choice, plan: &AnyPlan) -> Option<String> {
        let chosen = match choice {
            Choice::Named(_) => None,
            Choice::Tuned | Choice::Unmeasured => Some(self.running(plan).to_string()),
        };
        let how = plan.schedule(self.operation());
        let how = how.and_then(|schedule| schedule.remark());
        match (chosen, how) {
            (Some(chosen), Some(how)) => Some(format!("{chosen} ({how})")),
            (chosen, how) => chosen.or(how),
        }
    }

    /// The time that the simulator predicts for the plan's schedule.
    fn simulated_ns(&self, plan: &AnyPlan, row_bytes: f64) -> Option<f64> {
        let schedule = plan.schedule(self.operation())?;
        // Pipelined algorithms process all blocks in one run; the others need a run for each block.
        let is_pipelined = schedule.algorithm().is_pipelined();
        let runs = if is_pipelined {
            1.0
        } else {
            plan.blocks() as f64
        };
        let machine = Machine::of(&self.network, self.world.size());
        Some(runs * simulate(&schedule, &machine, row_bytes / runs, &|_| 1).time_ns)
    }
}
