//! One length, element and operator of the schedules' bench.

use std::fmt;

use reduce::{Algorithm, Link, Operation, Operator, Plan, World};
use schedule::{Collective, Machine, Parameters, Schedule, simulate};

use super::{Report, Row};
use crate::bench::timing::{median, slowest_ns};
use crate::ordinary::{Element, Known, Ordinary};
use crate::{Backend, Error};

/// A sample is repeated until it lasts about this long.
const SAMPLE_NS: f64 = 100_000.0;

/// Every schedule on rows of one length.
pub(super) struct Case<'h> {
    pub(super) world: &'h World,
    pub(super) backend: Backend,
    pub(super) ordinary: &'h Ordinary,
    pub(super) link: Link,
    pub(super) report: &'h dyn Fn(Report),
    pub(super) algorithms: &'h [Algorithm],
    pub(super) tuned: bool,
    pub(super) calls_min: u32,
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
            .map(Some);
        let chosen = (self.algorithms.is_empty() || self.tuned).then_some(None);
        for algorithm in named.chain(chosen) {
            let mut builder = Plan::builder(self.world)
                .local_items(1)
                .width(self.width)
                .link(self.link)
                .operator(operator);
            if let Some(algorithm) = algorithm {
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
            self.time(algorithm, &plan, &operator, &local, &mut result)?;
        }
        Ok(())
    }

    /// Whether a schedule is worth its time here.
    fn suits(&self, algorithm: Algorithm) -> bool {
        match self.collective {
            _ if !self.algorithms.is_empty() => self.algorithms.contains(&algorithm),
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
        algorithm: Option<Algorithm>,
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
        let calls = (SAMPLE_NS / warm_ns).clamp(f64::from(self.calls_min.max(1)), 1000.0) as usize;
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds {
            own.push(slowest_ns(self.world, calls, || {
                self.once(plan, local, result)
            })?);
            others.push(slowest_ns(self.world, calls, || {
                self.reference(operator, local, &mut value)
            })?);
        }
        if self.world.rank() == 0 {
            let row = self.row(algorithm, plan, operator, own, others);
            (self.report)(Report::Row(Box::new(row)));
        }
        Ok(())
    }

    fn row<T: Element, O: Operator<T> + 'static>(
        &self,
        algorithm: Option<Algorithm>,
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
            variant: algorithm.map_or("tuned".to_owned(), |algorithm| algorithm.to_string()),
            remark: algorithm.is_none().then(|| self.running(plan).to_string()),
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
            simulated_ns: self.simulated_ns(self.running(plan), plan.blocks(), bytes),
            gbps: Some(bytes / median_ns),
            ratio: median_ns / median(others),
            reference: reference.to_owned(),
        }
    }

    /// The algorithm that runs for this case's collective.
    fn running<T: Element, O: Operator<T> + 'static>(&self, plan: &Plan<T, O>) -> Algorithm {
        let operation = match self.collective {
            Collective::Allreduce => Operation::Allreduce,
            _ => Operation::Reduce,
        };
        let running = plan.algorithm(operation);
        running.expect("every algorithm offers reductions")
    }

    /// What the simulator says of the same programs.
    fn simulated_ns(&self, algorithm: Algorithm, blocks: usize, row_bytes: f64) -> Option<f64> {
        let algorithm: schedule::Algorithm = algorithm.name().parse().ok()?;
        // Pipelines run through all blocks at once, the others are run for each.
        let (blocks, runs) = if algorithm.is_pipelined() {
            (blocks, 1.0)
        } else {
            (1, blocks as f64)
        };
        let parameters = Parameters {
            blocks,
            ..Parameters::default()
        };
        let schedule = Schedule::new(algorithm, self.collective, self.world.size()).ok()?;
        let schedule = schedule.with(parameters).ok()?;
        let machine = Machine::flat(self.link);
        Some(runs * simulate(&schedule, &machine, row_bytes / runs, &|_| 1).time_ns)
    }
}
