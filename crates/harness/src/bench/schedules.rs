//! Every schedule against the transport's own collective, in the manner of papers 2, 4 and 5.
//!
//! Each rank has one row. Paper 2's harness sweeps the row's length, with a 95 % confidence interval for the median;
//! paper 4's reduces one integer and 255 doubles, by sum and by maximum; paper 5's reduces to a root. A schedule is checked before it is
//! timed, and timed turn by turn with its reference.

use std::fmt;

use ::reduce::{Algorithm, Link, Max, Operator, Plan, Sum, measure_link};
use bytemuck::Pod;
use comm::{Communicator, Reduction};
use schedule::{Collective, Machine, Parameters, Schedule, simulate};
use serde::{Deserialize, Serialize};

use super::on_ranks;
use super::timing::{median, slowest_ns};
use crate::Error;
use crate::choices::Backend;
use crate::output::Output;

/// A sample is repeated until it lasts about this long.
const SAMPLE_NS: f64 = 100_000.0;

/// The elements of a block, in paper 2's sweep of the longest row but one.
const BLOCK_ELEMENTS: [usize; 6] = [1_000, 4_000, 16_000, 64_000, 250_000, 1_000_000];

/// What every rank measures.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Job {
    /// Whose harnesses: 2, 4 and 5.
    pub papers: Vec<u8>,
    /// The schedules; none for all that suit a harness, and what a plan chooses.
    #[serde(with = "crate::job::names")]
    pub algorithms: Vec<Algorithm>,
    /// The numbers of doubles of a row, of the harnesses of papers 2 and 5.
    pub widths: Vec<usize>,
    /// The row that is cut into blocks of several sizes, in doubles.
    pub cut_width: usize,
    /// The doubles of these blocks; those that are longer than the row are left out.
    pub cut_elements: Vec<usize>,
    /// How often everything is measured; long rows a quarter as often.
    pub rounds: usize,
}

/// One schedule, in one harness: one line of `--json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// `schedules`.
    pub bench: String,
    /// The algorithm, or `tuned`: what a plan chooses by the measured link.
    pub variant: String,
    /// What is to be said of it: for `tuned`, what was chosen.
    pub remark: Option<String>,
    /// The paper whose harness it is: 2, 4 or 5.
    pub paper: u8,
    /// allreduce or reduce.
    pub collective: String,
    /// sum or maximum.
    pub operation: String,
    /// f64 or i64.
    pub element: String,
    /// The number of elements of a row.
    pub n: u64,
    /// The number of ranks, p; each has one row.
    pub ranks: usize,
    /// `threads` or `mpi`.
    pub backend: String,
    /// The column blocks.
    pub blocks: usize,
    /// The elements of a block that were asked for, in paper 2's sweep; null where the plan chose.
    pub block_elements: Option<u64>,
    /// The median over the rounds of the slowest rank's time, in nanoseconds.
    pub median_ns: f64,
    /// A 95 % confidence interval of the median, by order statistics.
    pub low_ns: f64,
    /// Its upper end.
    pub high_ns: f64,
    /// What the simulator says, with the measured link.
    pub simulated_ns: Option<f64>,
    /// The rate at which rows are reduced, in 10^9 bytes a second.
    pub gbps: Option<f64>,
    /// This one's time over the reference's.
    pub ratio: f64,
    /// What it is compared with, in turns.
    pub reference: String,
}

/// The rows of one schedule.
pub fn of(rows: &[Row], algorithm: Algorithm) -> impl Iterator<Item = &Row> + Clone {
    rows.iter()
        .filter(move |row| row.variant == algorithm.name())
}

/// What all of them are compared with.
pub fn reference(rows: &[Row]) -> &str {
    rows.first().map_or("", |row| row.reference.as_str())
}

/// What rank 0 tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Report {
    /// A time.
    Row(Box<Row>),
    /// The link as it was measured.
    Link {
        /// alpha, in nanoseconds.
        alpha_ns: f64,
        /// beta, in nanoseconds a byte.
        beta_ns: f64,
        /// gamma, in nanoseconds a byte.
        gamma_ns: f64,
    },
}

/// Runs the bench on a backend.
pub fn launch(
    backend: Backend,
    ranks: usize,
    quick: bool,
    output: &Output,
) -> Result<Vec<Row>, Error> {
    let widths = if quick {
        vec![1, 1000]
    } else {
        (0..=7).map(|power| 10_usize.pow(power)).collect()
    };
    let job = Job {
        papers: vec![2, 4, 5],
        algorithms: Vec::new(),
        widths,
        cut_width: if quick { 1000 } else { 1_000_000 },
        cut_elements: BLOCK_ELEMENTS.to_vec(),
        rounds: if quick { 5 } else { 30 },
    };
    measure(backend, ranks, &job, output)
}

/// Measures a job on a backend.
pub fn measure(
    backend: Backend,
    ranks: usize,
    job: &Job,
    output: &Output,
) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    let sort = |report| {
        match report {
        Report::Row(row) => rows.push(*row),
        Report::Link {
            alpha_ns,
            beta_ns,
            gamma_ns,
        } => output.say(format!(
            "p = {ranks}, measured: alpha = {alpha_ns:.0} ns, beta = {beta_ns:.3} ns/byte, gamma = {gamma_ns:.3} ns/byte"
        )),
    }
    };
    on_ranks(backend, ranks, "schedules", job, run, sort)?;
    Ok(rows)
}

fn failed(error: impl ToString) -> Error {
    Error::Run(error.to_string())
}

/// Measures the job on the ranks of `comm`; rank 0 hands everything to `report`. Collective.
pub fn run(
    comm: &dyn Communicator,
    backend: Backend,
    job: &Job,
    report: &dyn Fn(Report),
) -> Result<(), Error> {
    let link = measure_link(comm).map_err(failed)?;
    if comm.rank() == 0 {
        report(Report::Link {
            alpha_ns: link.latency_ns,
            beta_ns: link.byte_ns,
            gamma_ns: link.combine_byte_ns,
        });
    }
    let harness = |paper, collective, width, rounds| Harness {
        comm,
        backend,
        link,
        report,
        algorithms: &job.algorithms,
        paper,
        collective,
        width,
        rounds,
        block_elements: None,
    };
    let allreduce = Collective::Allreduce;
    let rounds = |width: usize| match width {
        ..1_000_000 => job.rounds,
        _ => job.rounds.div_ceil(4),
    };
    let has = |paper: u8| job.papers.contains(&paper);
    if has(2) {
        for &width in &job.widths {
            harness(2, allreduce, width, rounds(width)).measure::<f64, _>(Sum, f64_values)?;
        }
        let width = job.cut_width;
        let elements = job.cut_elements.iter().copied();
        for elements in elements.filter(|&elements| elements <= width) {
            let harness = Harness {
                block_elements: Some(elements),
                ..harness(2, allreduce, width, rounds(width))
            };
            harness.measure::<f64, _>(Sum, f64_values)?;
        }
    }
    if has(4) {
        harness(4, allreduce, 1, job.rounds).measure::<i64, _>(Sum, i64_values)?;
        harness(4, allreduce, 1, job.rounds).measure::<i64, _>(Max, i64_values)?;
        harness(4, allreduce, 255, job.rounds).measure::<f64, _>(Sum, f64_values)?;
        harness(4, allreduce, 255, job.rounds).measure::<f64, _>(Max, f64_values)?;
    }
    if has(5) {
        let root = Collective::Reduce { root: 0 };
        for &width in &job.widths {
            harness(5, root, width, rounds(width)).measure::<f64, _>(Sum, f64_values)?;
        }
    }
    Ok(())
}

fn f64_values(rank: usize, column: usize) -> f64 {
    1.0 / (1 + rank * 31 + column % 1013) as f64
}

fn i64_values(rank: usize, column: usize) -> i64 {
    (rank as i64 * 7919 + column as i64).wrapping_mul(0x9E37_79B9)
}

/// One length, type and operator.
struct Harness<'h> {
    comm: &'h dyn Communicator,
    backend: Backend,
    link: Link,
    report: &'h dyn Fn(Report),
    algorithms: &'h [Algorithm],
    paper: u8,
    collective: Collective,
    width: usize,
    rounds: usize,
    /// Blocks of so many elements, of the schedules to which their number matters.
    block_elements: Option<usize>,
}

impl Harness<'_> {
    /// Every schedule that suits, and what a plan chooses.
    fn measure<T, O>(&self, operator: O, value: fn(usize, usize) -> T) -> Result<(), Error>
    where
        T: Pod + PartialEq + fmt::Debug,
        O: Operator<T> + Copy + 'static,
    {
        let row_of =
            |rank| -> Vec<T> { (0..self.width).map(|column| value(rank, column)).collect() };
        let local = row_of(self.comm.rank());
        // The definition: each column's tree, which is over ranks as each has one row.
        let columns = self.width.min(1000);
        let expected: Vec<T> = (0..columns)
            .map(|column| {
                let column: Vec<T> = (0..self.comm.size())
                    .map(|rank| value(rank, column))
                    .collect();
                let folded = operator.fold(&column).expect("there are ranks");
                operator.canonical(folded)
            })
            .collect();
        let named = Algorithm::ALL
            .into_iter()
            .filter(|algorithm| algorithm.is_scheduled())
            .filter(|&algorithm| self.suits(algorithm))
            .map(Some);
        let chosen = self.algorithms.is_empty().then_some(None);
        for algorithm in named.chain(chosen) {
            let mut builder = Plan::builder(self.comm)
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
            let plan: Plan<'_, T, O> = builder.build().map_err(failed)?;
            let mut result = local.clone();
            self.once(&plan, &local, &mut result)?;
            let is_mine = self.collective == Collective::Allreduce || self.comm.rank() == 0;
            if is_mine && result[..columns] != expected {
                return Err(failed(format!("{} gives wrong bits", plan.algorithm())));
            }
            self.time(algorithm, &plan, &operator, &local, &mut result)?;
        }
        Ok(())
    }

    /// Whether a schedule is worth its time here.
    fn suits(&self, algorithm: Algorithm) -> bool {
        match self.collective {
            _ if !self.algorithms.is_empty() => self.algorithms.contains(&algorithm),
            _ if self.block_elements.is_some() => matches!(
                algorithm,
                Algorithm::LinearPipelined
                    | Algorithm::BinaryPipelined
                    | Algorithm::LinearDoublyPipelined
                    | Algorithm::BinaryDoublyPipelined
                    | Algorithm::DualRoot
                    | Algorithm::TwoTree
                    | Algorithm::RecursiveDoubling
                    | Algorithm::Rabenseifner
            ),
            Collective::Allreduce => true,
            // Paper 5's trees, and the other reduces that are not an allreduce's half.
            _ => matches!(
                algorithm,
                Algorithm::Direct
                    | Algorithm::Binomial
                    | Algorithm::Fibonacci
                    | Algorithm::Binary
                    | Algorithm::LinearPipelined
                    | Algorithm::BinaryPipelined
                    | Algorithm::ReduceScatterGather
            ),
        }
    }

    fn once<T: Pod, O: Operator<T> + 'static>(
        &self,
        plan: &Plan<'_, T, O>,
        local: &[T],
        result: &mut [T],
    ) -> Result<(), Error> {
        match self.collective {
            Collective::Allreduce => plan.allreduce_into(local, result),
            _ => plan.reduce_into(local, result).map(drop),
        }
        .map_err(failed)
    }

    /// The transport's own.
    fn reference<T: Pod, O: Operator<T>>(
        &self,
        operator: &O,
        local: &[T],
        value: &mut [T],
    ) -> Result<(), Error> {
        let combine = |left: &mut [u8], right: &[u8]| {
            let left: &mut [T] = bytemuck::cast_slice_mut(left);
            for (left, right) in left.iter_mut().zip(right.chunks_exact(size_of::<T>())) {
                *left = operator.combine(*left, bytemuck::pod_read_unaligned(right));
            }
        };
        let reduction = Reduction {
            native: operator.native(),
            combine: &combine,
        };
        let (local, bytes) = (bytemuck::cast_slice(local), bytemuck::cast_slice_mut(value));
        let done = match self.collective {
            Collective::Allreduce => self.comm.allreduce_unordered(local, bytes, &reduction),
            _ => self.comm.reduce_unordered(0, local, bytes, &reduction),
        };
        done.map(drop).map_err(failed)
    }

    fn time<T: Pod, O: Operator<T> + 'static>(
        &self,
        algorithm: Option<Algorithm>,
        plan: &Plan<'_, T, O>,
        operator: &O,
        local: &[T],
        result: &mut [T],
    ) -> Result<(), Error> {
        let mut value = local.to_vec();
        // Two runs make the buffers, and three tell how many make a sample; of long ones, one does.
        let mut warm_ns = slowest_ns(self.comm, 2, || self.once(plan, local, result))?;
        if warm_ns < 100.0 * SAMPLE_NS {
            warm_ns = slowest_ns(self.comm, 3, || self.once(plan, local, result))?;
        }
        slowest_ns(self.comm, 3, || self.reference(operator, local, &mut value))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and 1000"
        )]
        let calls = (SAMPLE_NS / warm_ns).clamp(1.0, 1000.0) as usize;
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds {
            own.push(slowest_ns(self.comm, calls, || {
                self.once(plan, local, result)
            })?);
            others.push(slowest_ns(self.comm, calls, || {
                self.reference(operator, local, &mut value)
            })?);
        }
        if self.comm.rank() == 0 {
            let row = self.row(algorithm, plan, operator, own, others);
            (self.report)(Report::Row(Box::new(row)));
        }
        Ok(())
    }

    fn row<T: Pod, O: Operator<T> + 'static>(
        &self,
        algorithm: Option<Algorithm>,
        plan: &Plan<'_, T, O>,
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
            remark: algorithm.is_none().then(|| plan.algorithm().to_string()),
            paper: self.paper,
            collective: collective.to_owned(),
            operation: match operator.name() {
                "max" => "maximum".to_owned(),
                name => name.to_owned(),
            },
            element: std::any::type_name::<T>().to_owned(),
            n: self.width as u64,
            ranks: self.comm.size(),
            backend: self.backend.name().to_owned(),
            blocks: plan.blocks(),
            block_elements: self.block_elements.map(|elements| elements as u64),
            median_ns,
            low_ns,
            high_ns,
            simulated_ns: self.simulated_ns(plan.algorithm(), plan.blocks(), bytes),
            gbps: Some(bytes / median_ns),
            ratio: median_ns / median(others),
            reference: reference.to_owned(),
        }
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
        let schedule = Schedule::new(algorithm, self.collective, self.comm.size()).ok()?;
        let schedule = schedule.with(parameters).ok()?;
        let machine = Machine::flat(self.link);
        Some(runs * simulate(&schedule, &machine, row_bytes / runs, &|_| 1).time_ns)
    }
}
