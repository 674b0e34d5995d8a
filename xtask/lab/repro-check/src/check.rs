//! The options, runs and report of `repro-check`.

mod verdict;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use checkout::progress::Progress;
use checkout::table::thousands;
use clap::Args;
use comm::text::counted;
use launch::{Launcher, MpiOptions};
use reduce::Algorithm;
use simd_kernels::Level;

use self::verdict::Expectations;
use crate::data::{DataSet, Source, TABLE_4_1_ITEMS, TABLE_4_1_LARGE_ITEMS};
use crate::job::{Cases, Job, Row};
use crate::matrix::{self, Board, Items};
use crate::output::Output;
use crate::ranks::{on_processes, on_threads};
use crate::{Backend, Error, Order, Sharing, Way, choices, ranks};

/// The numbers of ranks in section 4.3 of the thesis.
const THESIS_RANKS: &str = "1..=241:16";

/// Algorithms in tree order, the exact sum, and the ordered baseline.
const DEFAULT_ALGORITHMS: [Way; 7] = [
    Way::Tree(Algorithm::Algorithm1),
    Way::Tree(Algorithm::Direct),
    Way::Tree(Algorithm::Binomial),
    Way::Tree(Algorithm::RecursiveDoubling),
    Way::Tree(Algorithm::MpiNative),
    Way::Exact,
    Way::LeftToRight,
];

/// The default numbers of ranks under MPI. They detect as many faults as the thesis' numbers, whose 241 processes take a minute to launch.
const MPI_RANKS: &str = "1,2,17,33";

/// The numbers of ranks on which the canary runs, too, if the user requested only one number.
const CANARY_RANKS: [usize; 3] = [1, 2, 3];

/// The most numbers of ranks that the report lists one by one.
const FEW_LAUNCHES: usize = 12;

/// Options of `repro-check`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Files of numbers: .txt, .csv, .csv:COLUMN, .npy, .f64, .binpsllh or .psllh [default: generated data]
    #[arg(long, num_args = 1.., value_name = "FILE")]
    input: Vec<PathBuf>,
    /// How ranks run: threads, mpi or all (both)
    #[arg(long, default_value = "threads", value_name = "NAME")]
    backend: String,
    #[command(flatten)]
    mpi: MpiOptions,
    /// Numbers of ranks: 1,17,33 or 1..=241:16 [default: 1..=241:16, under MPI 1,2,17,33]
    #[arg(long, value_name = "LIST")]
    ranks: Option<String>,
    /// Distributions by name, or all [default: all but random and scattered]
    #[arg(long, value_name = "NAME,…")]
    distribution: Option<String>,
    /// Algorithms by name, or all; the plain sum (unordered) always runs [default: algorithm1, direct, binomial, recursive-doubling,
    /// mpi-native, exact-sum, left-to-right]
    #[arg(long, value_name = "NAME,…")]
    algorithm: Option<String>,
    /// The seed of generated data and random distributions
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
    /// Generate data of all sizes in the thesis' Table 4.1, up to 21,410,970
    #[arg(long)]
    full: bool,
    /// Write a JSON object for every row to a file, or to standard output (-)
    #[arg(long, value_name = "FILE|-")]
    json: Option<String>,
    /// Plot the sums of the longest data set over the number of ranks to NAME.svg, and write the values to NAME.json
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Show the bits in hexadecimal, and each algorithm separately
    #[arg(short, long)]
    verbose: bool,
}

/// A function that draws the sums in rows to a file.
pub type Draw = fn(&Path, &[DataSet], &[Row]) -> Result<(), Error>;

/// Fails unless `--plot` names an .svg file and `draw` is given.
fn check_plot(path: &Path, draw: Option<Draw>) -> Result<(), Error> {
    let reason = match path.extension() {
        _ if draw.is_none() => "this program cannot draw; use `cargo xtask repro-check`",
        Some(extension) if extension == "svg" => return Ok(()),
        _ => "the file's name must end in .svg",
    };
    Err(Error::option("--plot", reason))
}

/// Runs the command; true if every row has the expected bits.
pub fn run(options: &Options, draw: Option<Draw>) -> Result<bool, Error> {
    let begin = Instant::now();
    let plot = options.plot.as_deref();
    plot.map_or(Ok(()), |path| check_plot(path, draw))?;
    let backends = Backend::parse(&options.backend)?;
    options.mpi.check_use(backends.contains(&Backend::Mpi))?;
    let installation = options.mpi.installation()?;
    let check = Check::new(options)?;
    // The launcher is found before anything runs, so that a missing MPI is reported at once.
    let needs_mpi = backends.contains(&Backend::Mpi);
    let launcher = needs_mpi.then(|| ranks::launcher(installation));
    let launcher = launcher.transpose()?;
    let mut output = Output::open(options.json.as_deref())?;
    let rows = check.run_launches(launcher.as_ref(), &mut output)?;
    let faults = check.expected.faults(&rows);
    for line in check.expected.summary(&check.data, &rows) {
        output.say(line);
    }
    if options.verbose {
        check.print_details(&rows, &output);
    }
    for backend in backends {
        output.say(check.ranks_that_ran(backend, options.verbose));
    }
    if let (Some(path), Some(draw)) = (plot, draw) {
        draw(path, &check.data, &rows)?;
        output.say(format!("plot: {}", path.display()));
    }
    output.say(format!("{:.1} s", begin.elapsed().as_secs_f64()));
    for fault in faults.iter().take(20) {
        output.say(format!("fault: {fault}"));
    }
    output.say_verdict(faults.is_empty(), &check.verdict(&rows, faults.len()));
    output.finish()?;
    Ok(faults.is_empty())
}

/// A check that is ready to run.
struct Check {
    job: Job,
    data: Vec<DataSet>,
    expected: Expectations,
    launches: Vec<Launch>,
}

/// A launch of ranks, as one communicator.
struct Launch {
    backend: Backend,
    ranks: usize,
    /// Whether only the canary runs, because the user did not request this number of ranks.
    only_canary: bool,
}

impl Check {
    fn new(options: &Options) -> Result<Self, Error> {
        let mut algorithms = match &options.algorithm {
            Some(typed) => choices::algorithms(typed)?,
            None => DEFAULT_ALGORITHMS.to_vec(),
        };
        // The plain sum is always run: unless it differs between numbers of ranks, the check proves nothing.
        algorithms.retain(|&way| way != Way::Unordered);
        algorithms.push(Way::Unordered);
        let distributions = match &options.distribution {
            Some(typed) => choices::distributions(typed)?,
            None => Sharing::named(),
        };
        let launches = launches(options)?;
        if !checks_anything(&launches, &algorithms, &distributions) {
            let reason = "nothing to check, because no chosen algorithm with a fixed result runs on this backend and these distributions";
            return Err(Error::option("--algorithm", reason));
        }

        let cases = |source| Cases {
            source,
            distributions: distributions.clone(),
            algorithms: algorithms.clone(),
        };
        let canary = Cases {
            source: Source::Canary,
            distributions: vec![Sharing::named()[0]],
            algorithms: vec![Way::Unordered],
        };
        let cases = sources(options).into_iter().map(cases);
        let cases: Vec<Cases> = cases.chain([canary]).collect();
        let data: Result<_, Error> = cases.iter().map(|cases| cases.source.load()).collect();
        let data = name_apart(data?);
        Ok(Self {
            expected: Expectations::of(&data),
            job: Job {
                cases,
                seed: options.seed,
            },
            data,
            launches,
        })
    }

    /// The job and data of a launch; the canary comes last.
    fn part(&self, launch: &Launch) -> (Job, &[DataSet]) {
        let canary = self.data.len() - 1;
        let others = if launch.only_canary { canary } else { 0 };
        let mut cases = self.job.cases[others..].to_vec();
        for cases in &mut cases {
            cases.algorithms.retain(|way| launch.backend.offers(*way));
        }
        let seed = self.job.seed;
        (Job { cases, seed }, &self.data[others..])
    }

    /// Prints the details for `--verbose`.
    fn print_details(&self, rows: &[Row], output: &Output) {
        output.say("spread between the largest and the smallest sum (number of bit patterns)");
        let cases = &self.job.cases[0];
        let algorithms = cases.algorithms.iter().map(ToString::to_string);
        let algorithms: Vec<String> = algorithms.collect();
        for line in self.expected.table(&self.data, &algorithms, rows).lines() {
            output.say(line);
        }
        let distributions = cases.distributions.iter().map(ToString::to_string);
        let distributions = distributions.collect::<Vec<_>>().join(", ");
        let level = Level::best();
        output.say(format!(
            "distributions: {distributions}; SIMD level: {level}"
        ));
    }

    /// The last line of the report, after `PASS` or `FAIL`.
    fn verdict(&self, rows: &[Row], faults: usize) -> String {
        let runs = format!("{} runs", thousands(rows.len()));
        if faults > 0 {
            return format!("{} in {runs}", counted(faults, "fault"));
        }
        let asked = self.launches.iter().filter(|launch| !launch.only_canary);
        let counts: BTreeSet<usize> = asked.map(|launch| launch.ranks).collect();
        let ranks = match (counts.first(), counts.last()) {
            (Some(first), Some(last)) if first != last => format!("{first} to {last} ranks"),
            (Some(one), _) => counted(*one, "rank"),
            _ => counted(0, "rank"),
        };
        let plain = match verdict::most_plain_values(rows) {
            0 | 1 => "plain sums of this data agree as well".to_owned(),
            most => format!("plain sums gave up to {most}"),
        };
        format!("one sum per data set on {ranks} ({runs}); {plain}")
    }

    fn ranks_that_ran(&self, backend: Backend, in_full: bool) -> String {
        let counts = |only_canary| {
            let is_it =
                |launch: &&Launch| (launch.backend, launch.only_canary) == (backend, only_canary);
            let launches = self.launches.iter().filter(is_it);
            let counts: Vec<String> = launches.map(|launch| launch.ranks.to_string()).collect();
            match &counts[..] {
                [first, .., last] if counts.len() > FEW_LAUNCHES && !in_full => {
                    format!("{first} to {last} ({} rank counts)", counts.len())
                }
                counts => counts.join(", "),
            }
        };
        let name = backend.name();
        match (counts(false).as_str(), counts(true).as_str()) {
            ("", _) => format!("{name}: not run"),
            (asked, "") => format!("{name}: p = {asked}"),
            (asked, added) => format!("{name}: p = {asked}; the canary also on {added}"),
        }
    }
}

/// Whether the bits of any row will be checked.
fn checks_anything(launches: &[Launch], ways: &[Way], distributions: &[Sharing]) -> bool {
    let is_checked = |backend: Backend, way: Way| {
        let suits = distributions.iter().any(|sharing| sharing.suits(way));
        way.order() != Order::None && backend.offers(way) && suits
    };
    let mut launches = launches.iter().filter(|launch| !launch.only_canary);
    launches.any(|launch| ways.iter().any(|&way| is_checked(launch.backend, way)))
}

fn sources(options: &Options) -> Vec<Source> {
    if !options.input.is_empty() {
        return options.input.iter().cloned().map(Source::File).collect();
    }
    let large = TABLE_4_1_LARGE_ITEMS.into_iter().filter(|_| options.full);
    let (sizes, seed) = (TABLE_4_1_ITEMS.into_iter().chain(large), options.seed);
    sizes
        .map(|items| Source::Generated { items, seed })
        .collect()
}

fn launches(options: &Options) -> Result<Vec<Launch>, Error> {
    let mut launches = Vec::new();
    for backend in Backend::parse(&options.backend)? {
        let default = match backend {
            Backend::Threads => THESIS_RANKS,
            Backend::Mpi => MPI_RANKS,
        };
        let counts = choices::rank_counts(options.ranks.as_deref().unwrap_or(default))?;
        let launch = |ranks, only_canary| Launch {
            backend,
            ranks,
            only_canary,
        };
        launches.extend(counts.iter().map(|&ranks| launch(ranks, false)));
        if counts.len() == 1 {
            let others = CANARY_RANKS.into_iter();
            let others = others.filter(|ranks| !counts.contains(ranks));
            launches.extend(others.map(|ranks| launch(ranks, true)));
        }
    }
    Ok(launches)
}

/// Makes the names of data sets distinct, since they identify rows.
fn name_apart(mut data: Vec<DataSet>) -> Vec<DataSet> {
    let mut taken: BTreeSet<String> = data.iter().map(|data| data.name.clone()).collect();
    let mut seen = BTreeSet::new();
    // The canary is last, and keeps its name.
    for data in data.iter_mut().rev() {
        if !seen.insert(data.name.clone()) {
            let mut numbered = (2_usize..).map(|number| format!("{}#{number}", data.name));
            let free = numbered.find(|name| !taken.contains(name));
            data.name = free.expect("there are more numbers than files");
            taken.insert(data.name.clone());
        }
    }
    data
}

/// The progress of a check.
struct Tally<'c> {
    check: &'c Check,
    progress: Progress,
    /// The number of runs in total.
    all: usize,
    done: AtomicUsize,
    faults: AtomicUsize,
}

impl Tally<'_> {
    /// Counts a run and updates the progress line.
    fn count(&self, row: &Row) {
        let is_wrong = usize::from(self.check.expected.fault(row).is_some());
        let faults = self.faults.fetch_add(is_wrong, Relaxed) + is_wrong;
        let done = self.done.fetch_add(1, Relaxed) + 1;
        let so_far = match faults {
            0 => "one sum per data set".to_owned(),
            _ => counted(faults, "fault"),
        };
        let (ranks, done, all) = (row.ranks, thousands(done), thousands(self.all));
        let line = format!("p = {ranks}: {done} of {all} runs, {so_far}");
        self.progress.say(line);
    }
}

impl Check {
    /// Runs all launches. Writes the rows of each launch as soon as it has ended.
    fn run_launches(
        &self,
        launcher: Option<&Launcher>,
        output: &mut Output,
    ) -> Result<Vec<Row>, Error> {
        let rows_count = |launch| self.part(launch).0.rows_count();
        let rows = self.launches.iter().map(rows_count);
        let tally = Tally {
            check: self,
            progress: Progress::of("starting ranks"),
            all: rows.fold(0, |total, rows| total + rows),
            done: AtomicUsize::new(0),
            faults: AtomicUsize::new(0),
        };
        let mut all = Vec::new();
        for launch in &self.launches {
            let rows = match (launch.backend, launcher) {
                (Backend::Mpi, Some(launcher)) => self.run_mpi(launcher, launch, &tally)?,
                _ => self.run_threads(launch, &tally)?,
            };
            for row in &rows {
                output.json(row)?;
            }
            all.extend(rows);
        }
        Ok(all)
    }

    fn run_threads(&self, launch: &Launch, tally: &Tally<'_>) -> Result<Vec<Row>, Error> {
        let (job, data) = self.part(launch);
        let board = Board::default();
        on_threads(launch.ranks, |world, report| {
            let report = |row| {
                tally.count(&row);
                report(row);
            };
            let items = Items::Shared(data, &board);
            matrix::check_all(world, Backend::Threads, &job, items, &report)
        })
    }

    fn run_mpi(
        &self,
        launcher: &Launcher,
        launch: &Launch,
        tally: &Tally<'_>,
    ) -> Result<Vec<Row>, Error> {
        let (job, data) = self.part(launch);
        // Rows arrive in the job's order. The names of data sets are replaced, since only this process makes them distinct.
        let each = |(cases, data): (&Cases, &'_ DataSet)| {
            std::iter::repeat_n(data.name.clone(), cases.rows_count())
        };
        let mut names = job.cases.iter().zip(data).flat_map(each);
        let mut rows: Vec<Row> = Vec::new();
        on_processes(launcher, launch.ranks, "repro", &job, |mut row: Row| {
            row.dataset = names.next().unwrap_or(row.dataset);
            tally.count(&row);
            rows.push(row);
        })?;
        let (found, all) = (rows.len(), job.rows_count());
        if found != all {
            let (shown, all) = (launcher.shown(launch.ranks), counted(all, "row"));
            let reason = format!("{shown}: only {found} of {all} arrived");
            return Err(Error::Mpi(reason));
        }
        Ok(rows)
    }
}
