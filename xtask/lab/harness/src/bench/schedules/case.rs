//! One length, element and operator of the schedules' bench.

use std::fmt;

use reduce::{Algorithm, DEFAULT_LINK, Network, Operation, Operator, Plan, World};
use schedule::{Collective, Machine, simulate};

use super::{Job, Report, Row};
use crate::bench::timing::{median, slowest_after_ns, slowest_ns};
use crate::ordinary::{Element, Known, Ordinary};
use crate::{Backend, Error};

/// A sample is repeated until it lasts about this long.
const SAMPLE_NS: f64 = 100_000.0;

/// What chooses the schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Choice {
    /// The program.
    Named(Algorithm),
    /// The plan, by the measured network.
    Tuned,
    /// The plan, by what it assumes.
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

/// Every schedule on rows of one length.
pub(super) struct Case<'h> {
    pub(super) world: &'h World,
    pub(super) backend: Backend,
    pub(super) ordinary: &'h Ordinary,
    pub(super) network: Network,
    pub(super) report: &'h dyn Fn(Report),
    pub(super) job: &'h Job,
    pub(super) paper: u8,
    pub(super) collective: Collective,
    pub(super) width: usize,
    pub(super) rounds: usize,
    /// Blocks of this number of elements, of the schedules to which their number matters.
    pub(super) block_elements: Option<usize>,
}

impl Case<'_> {
    /// Every schedule that suits, and what a plan chooses.
    pub(super) fn measure<T, O>(
        &self,
        operator: O,
        value: fn(usize, usize) -> T,
    ) -> Result<(), Error>
    where
        T: Element + PartialEq + fmt::Debug,
        O: Known<T> + Copy + 'static,
    {
        let row_of =
            |rank| -> Vec<T> { (0..self.width).map(|column| value(rank, column)).collect() };
        let local = row_of(self.world.rank());
        // The definition: each column's tree, which is over ranks as each has one row.
        let columns = self.width.min(1000);
        let expected: Vec<T> = (0..columns)
            .map(|column| {
                let column: Vec<T> = (0..self.world.size())
                    .map(|rank| value(rank, column))
                    .collect();
                let folded = operator.fold(&column).expect("there are ranks");
                operator.canonical(folded)
            })
            .collect();
        let named = Algorithm::all()
            .filter(|&algorithm| self.suits(algorithm))
            .map(Choice::Named);
        let tuned = (self.job.algorithms.is_empty() || self.job.tuned).then_some(Choice::Tuned);
        let unmeasured = self.job.unmeasured.then_some(Choice::Unmeasured);
        for choice in named.chain(tuned).chain(unmeasured) {
            let mut builder = Plan::builder(self.world)
                .local_items(1)
                .width(self.width)
                .network(match choice {
                    Choice::Unmeasured => DEFAULT_LINK.into(),
                    _ => self.network,
                })
                .operator(operator);
            if let Choice::Named(algorithm) = choice {
                builder = builder.algorithm(algorithm);
            }
            if let Some(elements) = self.block_elements {
                builder = builder.blocks(self.width.div_ceil(elements));
            }
            let plan: Plan<T, O> = builder.build()?;
            let mut result = local.clone();
            self.once(&plan, &local, &mut result)?;
            let is_mine = self.collective == Collective::Allreduce || self.world.rank() == 0;
            if is_mine && result[..columns] != expected {
                let reason = format!("{} gives wrong bits", self.running(&plan));
                return Err(Error::Run(reason));
            }
            self.time(choice, &plan, &operator, &local, &mut result)?;
        }
        Ok(())
    }

    /// Whether a schedule is worth its time here.
    fn suits(&self, algorithm: Algorithm) -> bool {
        match self.collective {
            _ if !self.job.algorithms.is_empty() => self.job.algorithms.contains(&algorithm),
            _ if !algorithm.is_scheduled() => false,
            _ if self.block_elements.is_some() => {
                let unblocked = [Algorithm::RecursiveDoubling, Algorithm::Rabenseifner];
                unblocked.contains(&algorithm)
                    || algorithm
                        .scheduled()
                        .is_some_and(schedule::Algorithm::is_pipelined)
            }
            Collective::Allreduce => true,
            // Paper 5's trees, and the other reduces that are not an allreduce's half.
            _ => algorithm
                .scheduled()
                .is_some_and(schedule::Algorithm::has_own_reduce),
        }
    }

    fn once<T: Element, O: Operator<T> + 'static>(
        &self,
        plan: &Plan<T, O>,
        local: &[T],
        result: &mut [T],
    ) -> Result<(), Error> {
        match self.collective {
            Collective::Allreduce => plan.allreduce_into(local, result)?,
            _ => {
                plan.reduce_into(local, result)?;
            }
        }
        Ok(())
    }

    /// The transport's own.
    fn reference<T: Element, O: Known<T>>(
        &self,
        operator: &O,
        local: &[T],
        value: &mut [T],
    ) -> Result<(), Error> {
        match self.collective {
            Collective::Allreduce => self.ordinary.allreduce(operator, local, value),
            _ => self.ordinary.reduce(operator, local, value),
        }
    }

    fn time<T: Element, O: Known<T> + 'static>(
        &self,
        choice: Choice,
        plan: &Plan<T, O>,
        operator: &O,
        local: &[T],
        result: &mut [T],
    ) -> Result<(), Error> {
        let mut value = local.to_vec();
        // Two runs make the buffers, and three tell how many make a sample; of long ones, one does.
        let mut warm_ns = slowest_ns(self.world, 2, || self.once(plan, local, result))?;
        if warm_ns < 100.0 * SAMPLE_NS {
            warm_ns = slowest_ns(self.world, 3, || self.once(plan, local, result))?;
        }
        slowest_ns(self.world, 3, || {
            self.reference(operator, local, &mut value)
        })?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and 1000"
        )]
        let calls =
            (SAMPLE_NS / warm_ns).clamp(f64::from(self.job.calls_min.max(1)), 1000.0) as usize;
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds {
            own.push(slowest_after_ns(
                self.world,
                self.job.untimed,
                calls,
                || self.once(plan, local, result),
            )?);
            others.push(slowest_after_ns(
                self.world,
                self.job.untimed,
                calls,
                || self.reference(operator, local, &mut value),
            )?);
        }
        if self.world.rank() == 0 {
            let row = self.row(choice, plan, operator, own, others);
            (self.report)(Report::Row(Box::new(row)));
        }
        Ok(())
    }

    fn row<T: Element, O: Operator<T> + 'static>(
        &self,
        choice: Choice,
        plan: &Plan<T, O>,
        operator: &O,
        mut own: Vec<f64>,
        others: Vec<f64>,
    ) -> Row {
        own.sort_by(f64::total_cmp);
        // The order statistics at n/2 -+ 0.98 sqrt(n), between which the median lies 95 times of 100.
        let count = own.len() as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in the list"
        )]
        let place = |offset: f64| (count / 2.0 + offset).clamp(0.0, count - 1.0) as usize;
        let half = 0.98 * count.sqrt();
        let (low_ns, high_ns) = (own[place(-half)], own[place(half)]);
        let median_ns = median(own);
        let bytes = (self.width * size_of::<T>()) as f64;
        let (collective, own_name, mpi_name) = match self.collective {
            Collective::Allreduce => ("allreduce", "allreduce", "MPI_Allreduce"),
            _ => ("reduce", "reduce", "MPI_Reduce"),
        };
        let reference = match self.backend {
            Backend::Threads => own_name,
            Backend::Mpi => mpi_name,
        };
        Row {
            bench: "schedules".to_owned(),
            variant: choice.name(),
            remark: self.remark(choice, plan),
            paper: self.paper,
            collective: collective.to_owned(),
            operation: match operator.name() {
                "max" => "maximum".to_owned(),
                name => name.to_owned(),
            },
            element: std::any::type_name::<T>().to_owned(),
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
    fn running<T: Element, O: Operator<T> + 'static>(&self, plan: &Plan<T, O>) -> Algorithm {
        let running = plan.algorithm(self.operation());
        running.expect("every algorithm offers reductions")
    }

    /// What the plan has chosen, if it has, and how that runs, if the schedule's name does not say it.
    fn remark<T: Element, O: Operator<T> + 'static>(
        &self,
        choice: Choice,
        plan: &Plan<T, O>,
    ) -> Option<String> {
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

    /// What the simulator says of the same programs.
    fn simulated_ns<T: Element, O: Operator<T> + 'static>(
        &self,
        plan: &Plan<T, O>,
        row_bytes: f64,
    ) -> Option<f64> {
        let schedule = plan.schedule(self.operation())?;
        // Pipelines run through all blocks at once, the others are run for each.
        let runs = if schedule.algorithm().is_pipelined() {
            1.0
        } else {
            plan.blocks() as f64
        };
        let machine = Machine::of(&self.network, self.world.size());
        Some(runs * simulate(&schedule, &machine, row_bytes / runs, &|_| 1).time_ns)
    }
}
