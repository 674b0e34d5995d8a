//! Compares every schedule with the transport's own collective, as papers 2, 4 and 5 do.
//!
//! Each rank has one row. Paper 2's harness varies the row's length, and gives a 95 % confidence interval for the median. Paper 4's harness
//! reduces one integer and 255 doubles, by sum and by maximum. Paper 5's harness reduces to a root. A schedule is checked before it is timed.
//! It is timed alternately with its reference.

mod case;

use ::reduce::{Algorithm, Link, Max, Sum, World};
use case::ScheduleCase;
use schedule::Collective;
use serde::{Deserialize, Serialize};

use super::{Measured, Report, quick_or, rows_of};
use crate::measured::Time;
use crate::names;
use crate::ordinary::Ordinary;
use crate::output::Output;
use crate::{Backend, Error, Place};

/// The numbers of elements of a block for which paper 2's harness measures the second-longest row.
const BLOCK_ELEMENTS: [usize; 6] = [1_000, 4_000, 16_000, 64_000, 250_000, 1_000_000];

/// The job of every rank.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ScheduleJob {
    /// The papers whose harnesses run: 2, 4 and 5.
    pub papers: Vec<u8>,
    /// The schedules. If empty, all that suit a harness, and the plan's choice.
    #[serde(with = "names::list")]
    pub algorithms: Vec<Algorithm>,
    /// Whether the plan's choice for the measured network is measured in addition to the named schedules.
    pub tuned: bool,
    /// Whether the plan's choice without a measured network is measured.
    pub unmeasured: bool,
    /// The numbers of doubles in a row, for the harnesses of papers 2 and 5.
    pub widths: Vec<usize>,
    /// The number of doubles in the row that is cut into blocks of several sizes.
    pub cut_width: usize,
    /// The numbers of doubles in the blocks of this row. Blocks longer than the row are left out.
    pub cut_elements: Vec<usize>,
    /// The fewest calls in a sample; 0 stands for 1.
    pub calls_min: u32,
    /// The number of untimed calls before a sample. They synchronise the ranks, which at first begin a message's latency apart.
    pub untimed: usize,
    /// How often each measurement is repeated; for long rows, a quarter of this.
    pub rounds: usize,
}

/// The measurement of one schedule in one harness, which is one line of `--json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScheduleRow {
    /// `schedules`.
    pub bench: String,
    /// The algorithm; or `tuned`, the plan's choice for the measured network; or `unmeasured`, its choice without a measured network.
    pub variant: String,
    /// The algorithm that a plan chose, and its blocks, ports and levels.
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
    /// The number of column blocks.
    pub blocks: usize,
    /// The requested number of elements in a block, in paper 2's harness; null if the plan chose it.
    pub block_elements: Option<u64>,
    /// The median over the rounds of the slowest rank's time, in nanoseconds.
    pub median_ns: f64,
    /// The lower end of a 95 % confidence interval of the median, by order statistics.
    pub low_ns: f64,
    /// The upper end of this interval.
    pub high_ns: f64,
    /// The time that the simulator predicts for the measured network.
    pub simulated_ns: Option<f64>,
    /// The rate at which rows are reduced, in 10^9 bytes a second.
    pub gbps: Option<f64>,
    /// The time divided by the reference's.
    pub ratio: f64,
    /// The reference, measured alternately.
    pub reference: String,
}

/// The rows of one schedule.
pub fn of(
    rows: &[ScheduleRow],
    algorithm: Algorithm,
) -> impl Iterator<Item = &ScheduleRow> + Clone {
    rows.iter()
        .filter(move |row| row.variant == algorithm.name())
}

/// The reference of all rows.
pub fn reference(rows: &[ScheduleRow]) -> &str {
    rows.first().map_or("", |row| row.reference.as_str())
}

/// Runs the bench in a place.
pub fn launch(
    place: &Place,
    ranks: usize,
    quick: bool,
    output: &Output,
) -> Result<Vec<ScheduleRow>, Error> {
    let powers = (0..=7).map(|power| 10_usize.pow(power));
    let job = ScheduleJob {
        papers: vec![2, 4, 5],
        widths: quick_or(quick, vec![1, 1000], powers.collect()),
        cut_width: quick_or(quick, 1000, 1_000_000),
        cut_elements: BLOCK_ELEMENTS.to_vec(),
        rounds: quick_or(quick, 5, 30),
        ..ScheduleJob::default()
    };
    measure(place, ranks, &job, output)
}

/// The algorithms that suit a scalar.
const SCALAR: [Algorithm; 6] = [
    Algorithm::RecursiveDoubling,
    Algorithm::Hierarchical,
    Algorithm::Binomial,
    Algorithm::Rabenseifner,
    Algorithm::Direct,
    Algorithm::Algorithm1,
];

/// Measures an allreduce of one double per rank, in a place: some algorithms, and the plan's choice.
pub fn launch_scalar(
    place: &Place,
    ranks: usize,
    quick: bool,
    output: &Output,
) -> Result<Vec<ScheduleRow>, Error> {
    let job = ScheduleJob {
        papers: vec![2],
        algorithms: SCALAR.to_vec(),
        tuned: true,
        unmeasured: true,
        widths: vec![1],
        calls_min: 10,
        untimed: 2,
        rounds: quick_or(quick, 5, 30),
        ..ScheduleJob::default()
    };
    measure(place, ranks, &job, output)
}

/// Measures a job in a place.
pub fn measure(
    place: &Place,
    ranks: usize,
    job: &ScheduleJob,
    output: &Output,
) -> Result<Vec<ScheduleRow>, Error> {
    rows_of(place, ranks, ("schedules", job), on_rank, output)
}

/// Measures the job on the ranks of a world; rank 0 passes all results to `report`. Collective.
pub fn on_rank(
    world: &World,
    backend: Backend,
    job: &ScheduleJob,
    report: &dyn Fn(Report<ScheduleRow>),
) -> Result<(), Error> {
    let network = world.measure_link()?;
    let ordinary = Ordinary::new(world, backend)?;
    if world.rank() == 0 {
        let link = |link: Link| {
            format!(
                "alpha = {:.0} ns, beta = {:.3} ns/byte, gamma = {:.3} ns/byte",
                link.latency_ns, link.byte_ns, link.combine_byte_ns
            )
        };
        let (ranks, [near, far]) = (world.size(), [network.near, network.far].map(link));
        let (node_ranks, crowding_ns) = (network.node_ranks, network.crowding_ns);
        report(Report::Said(if near == far {
            format!("p = {ranks}, measured: {near}")
        } else {
            format!(
                "p = {ranks}, measured: within a node of {node_ranks} {near}; between nodes {far}, {crowding_ns:.0} ns for each further message"
            )
        }));
    }
    let case = |paper, collective, width, rounds| ScheduleCase {
        world,
        backend,
        ordinary: &ordinary,
        network,
        report,
        job,
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
            case(2, allreduce, width, rounds(width)).measure::<f64, _>(Sum, f64_values)?;
        }
        let width = job.cut_width;
        let elements = job.cut_elements.iter().copied();
        for elements in elements.filter(|&elements| elements <= width) {
            let case = ScheduleCase {
                block_elements: Some(elements),
                ..case(2, allreduce, width, rounds(width))
            };
            case.measure::<f64, _>(Sum, f64_values)?;
        }
    }
    if has(4) {
        let [one, row] = [1, 255].map(|width| case(4, allreduce, width, job.rounds));
        one.measure::<i64, _>(Sum, i64_values)?;
        one.measure::<i64, _>(Max, i64_values)?;
        row.measure::<f64, _>(Sum, f64_values)?;
        row.measure::<f64, _>(Max, f64_values)?;
    }
    if has(5) {
        let root = Collective::Reduce { root: 0 };
        for &width in &job.widths {
            case(5, root, width, rounds(width)).measure::<f64, _>(Sum, f64_values)?;
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

impl Measured for ScheduleRow {
    fn ratios(_bench: &str) -> String {
        "one row per rank; time".to_owned()
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        let us = |ns: f64| format!("{:.2}", ns / 1e3);
        let operation = format!("{} {}", self.operation, self.element);
        let interval = format!("{}–{}", us(self.low_ns), us(self.high_ns));
        vec![
            ("schedule", self.variant.clone()),
            ("paper", self.paper.to_string()),
            ("operation", operation),
            ("ranks", self.ranks.to_string()),
            ("elements", self.n.to_string()),
            ("blocks", self.blocks.to_string()),
            ("µs", us(self.median_ns)),
            ("95 %", interval),
            ("model µs", self.simulated_ns.map(us).unwrap_or_default()),
            ("ratio", format!("{:.2}", self.ratio)),
            ("reference", self.reference.clone()),
            ("", self.remark.clone().unwrap_or_default()),
        ]
    }

    fn time(&self) -> Option<Time> {
        let is_told = (self.paper, self.block_elements) == (2, None);
        is_told.then(|| Time {
            variant: self.variant.clone(),
            n: self.n,
            ranks: Some(self.ranks),
            ns: self.median_ns,
            reference: self.reference.clone(),
            reference_ns: self.median_ns / self.ratio,
            ..Time::default()
        })
    }
}
