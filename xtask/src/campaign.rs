//! `cargo xtask campaign`: runs random programs with injected faults and compares every result with the definition.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use ::cluster::{Control, Order, Random};
use checkout::names;
use checkout::progress::Progress;
use clap::{Args, value_parser};
use harness::campaign::{Campaign, FaultKind, Generator, Summary, silence_panics};
use harness::output::Output;
use harness::{Backend, Error, Place};
use launch::MpiOptions;
use serde_json::Value;

/// Options of `campaign`.
#[derive(Args, Clone, Debug)]
pub struct CampaignOptions {
    /// The seed of the first case; each further case adds 1
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
    /// The number of cases
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    cases: u64,
    /// How ranks run: threads, mpi, all (both), or cluster (MPI on virtual clusters whose networks also have faults)
    #[arg(long, default_value = "threads", value_name = "NAME", value_parser = ["threads", "mpi", "all", CLUSTER])]
    backend: String,
    #[command(flatten)]
    mpi: MpiOptions,
    /// The greatest number of ranks of a case [default: 9 on threads, 5 under MPI]
    #[arg(long, value_name = "P")]
    ranks: Option<NonZeroUsize>,
    /// Which faults to inject: names from docs/testing.md, all or none [default: all]
    #[arg(long, value_name = "NAME,…")]
    faults: Option<String>,
    /// With --backend threads: fail cases that leak memory. Cases then run one at a time
    #[arg(long)]
    leaks: bool,
    /// The libtreefold_pmpi.so that MPI ranks load [default: a new build]
    #[arg(long, value_name = "FILE")]
    interposer: Option<PathBuf>,
    /// Write a JSON object for each failing case and each backend to a file, or to standard output (-)
    #[arg(long, value_name = "FILE|-")]
    json: Option<String>,
}

/// Runs the command; true if no case failed.
///
/// `live_bytes` returns how many bytes this process has allocated and not freed.
pub fn run(options: &CampaignOptions, live_bytes: fn() -> usize) -> Result<bool, Error> {
    let faults = match options.faults.as_deref() {
        None => FaultKind::ALL.to_vec(),
        Some("none") => Vec::new(),
        Some(typed) => names("--faults", typed, FaultKind::ALL, str::parse)?,
    };
    let backends = match &*options.backend {
        CLUSTER => Vec::new(),
        name => Backend::parse(name)?,
    };
    if options.leaks && backends != [Backend::Threads] {
        let reason = "it counts only the memory of this process; use --backend threads";
        return Err(Error::option("--leaks", reason));
    }
    let mut output = Output::open(options.json.as_deref())?;
    let mut is_sound = true;
    silence_panics();
    if backends.is_empty() {
        let progress = options.progress(CLUSTER);
        let done = |cases| progress.advance(cases);
        is_sound = run_on_clusters(options, options.seeds(), &mut output, &done)?;
    } else {
        options.mpi.check_use(backends.contains(&Backend::Mpi))?;
    }
    for backend in backends {
        let campaign = Campaign {
            seeds: options.seeds(),
            place: Place::ready(backend, &options.mpi.installation()?)?,
            interposer: options.interposer.clone(),
            generator: Generator::new(backend, options.ranks.map(usize::from), &faults),
            live_bytes: options.leaks.then_some(live_bytes),
        };
        let progress = options.progress(backend.name());
        let findings = campaign.run(&|| progress.advance(1))?;
        drop(progress);
        campaign.write(&findings, &mut output)?;
        is_sound &= findings.failures.is_empty();
    }
    output.finish()?;
    Ok(is_sound)
}

impl CampaignOptions {
    /// The seeds of all cases.
    fn seeds(&self) -> Range<u64> {
        self.seed..self.seed.saturating_add(self.cases)
    }

    fn progress(&self, backend: &str) -> Progress {
        Progress::to(backend, self.cases, "cases")
    }
}

/// The backend that runs cases on virtual clusters.
const CLUSTER: &str = "cluster";

/// Cases per cluster.
const CASES: u64 = 40;

/// Kinds of trouble, each with the orders that begin and end it, if any. In `delay`, only the programs have faults. In `loss`, the network
/// loses frames. In `link-down`, one node after another is cut off, and in `stopped`, stopped, for up to 2 s each.
const TROUBLES: [(&str, Option<[Order; 2]>); 4] = [
    ("delay", None),
    (LOSS, None),
    ("link-down", Some([Order::Cut, Order::Heal])),
    ("stopped", Some([Order::Stop, Order::Resume])),
];
const LOSS: &str = "loss";

/// The settings of a virtual cluster with one kind of trouble.
struct Troubled {
    seed: u64,
    nodes: usize,
    ranks_per_node: usize,
    delay_us: u64,
    /// The share of lost frames, in tenths of a percent.
    loss: u64,
    orders: Option<[Order; 2]>,
    /// The trouble's name.
    name: &'static str,
}

impl Troubled {
    fn of(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let kind = usize::try_from(seed / CASES % TROUBLES.len() as u64).expect("a few");
        let (name, orders) = TROUBLES[kind];
        Self {
            seed,
            name,
            nodes: 2 + random.below(3),
            ranks_per_node: 1 + random.below(2),
            delay_us: [0, 50, 200, 1000][random.below(4)],
            loss: match name {
                LOSS => 1 + random.below(10) as u64,
                _ => 0,
            },
            orders,
        }
    }

    /// The command that starts this program again to run `cases` cases in such a cluster.
    fn command(&self, cases: u64, options: &CampaignOptions) -> Result<Command, Error> {
        let own = std::env::current_exe().map_err(|error| Error::Run(error.to_string()))?;
        let ranks = self.nodes * self.ranks_per_node;
        let ranks = options.ranks.map_or(ranks, |most| ranks.min(most.get()));
        let mut command = Command::new(own);
        let (seed, nodes, ranks_per_node) = (self.seed, self.nodes, self.ranks_per_node);
        let (delay_us, percent, tenths) = (self.delay_us, self.loss / 10, self.loss % 10);
        let words = format!(
            "cluster --nodes {nodes} --ranks-per-node {ranks_per_node} --delay {delay_us}us --loss {percent}.{tenths}% --seed {seed}"
        );
        command.args(words.split(' '));
        options.mpi.pass_on(&mut command);
        let words = format!("-- campaign --json - --seed {seed} --cases {cases} --ranks {ranks}");
        command.args(words.split(' '));
        // Cases of some program faults have a short silence limit. An interrupted network would exceed this limit, too.
        let faults = match (self.orders, self.loss) {
            (None, 0) => options.faults.as_deref().unwrap_or("all"),
            _ => "none",
        };
        command.args(["--faults", faults]);
        if let Some(interposer) = &options.interposer {
            command.arg("--interposer").arg(interposer);
        }
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }

    /// Disturbs one node after another until the cluster has ended.
    fn trouble(&self, mut control: Control, ended: &Receiver<()>) {
        let Some([begin, end]) = self.orders else {
            return;
        };
        let mut random = Random::new(!self.seed);
        let mut sleep = |least: usize, more: usize| {
            let pause = Duration::from_millis((least + random.below(more)) as u64);
            let waited = ended.recv_timeout(pause);
            let goes_on = waited == Err(RecvTimeoutError::Timeout);
            (goes_on, random.below(self.nodes))
        };
        let mut least = 300;
        loop {
            let (goes_on, node) = sleep(least, 1500);
            // TCP doubles its pause before each retransmission: after frequent interruptions, a connection would not recover.
            least = 4000;
            if !goes_on || control.tell(begin, node).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(100));
            let (goes_on, _) = sleep(0, 1900);
            if control.tell(end, node).is_err() || !goes_on {
                return;
            }
        }
    }
}

/// Runs the cases; true if none failed. After each cluster, calls `done` with the number of its cases.
fn run_on_clusters(
    options: &CampaignOptions,
    seeds: Range<u64>,
    output: &mut Output,
    done: &dyn Fn(u64),
) -> Result<bool, Error> {
    ::cluster::check().map_err(|error| Error::Run(error.to_string()))?;
    let begin = Instant::now();
    let mut summary = Summary::of(CLUSTER, seeds.start);
    let mut clusters: BTreeMap<String, u64> = BTreeMap::new();
    let mut seed = seeds.start;
    while seed < seeds.end {
        let cases = CASES.min(seeds.end - seed);
        let cluster = Troubled::of(seed);
        let name = cluster.name;
        *clusters.entry(name.to_owned()).or_default() += 1;
        for line in run_one(&cluster, cluster.command(cases, options)?)? {
            if line.get("case").is_some() {
                output.json(&line)?;
                output.say(format!(
                    "FAILED: --backend cluster --seed {seed} --cases {cases} ({name}): {line}"
                ));
            } else {
                summary.add(&serde_json::from_value(line)?);
            }
        }
        seed += cases;
        done(cases);
    }
    summary.seconds = begin.elapsed().as_secs_f64();
    summary.clusters = Some(clusters);
    summary.write(output)?;
    Ok(summary.failures == 0)
}

/// Runs the cases of a cluster and returns their lines of JSON.
fn run_one(cluster: &Troubled, mut command: Command) -> Result<Vec<Value>, Error> {
    let failed = |error: io::Error| Error::Run(format!("the cluster: {error}"));
    let mut child = command.spawn().map_err(failed)?;
    let ended = follow(cluster, &mut child);
    let status = child.wait().map_err(failed)?;
    let (lines, said) = ended?;
    // Status 1 means that a case failed; a line of JSON reports that case.
    match status.code() {
        Some(0 | 1) if !lines.is_empty() => Ok(lines),
        _ => Err(Error::Run(format!(
            "the cluster of seed {}: {status}\n{said}",
            cluster.seed
        ))),
    }
}

/// Disturbs a cluster's nodes until it ends. Returns its lines of JSON and its standard error.
fn follow(cluster: &Troubled, child: &mut Child) -> Result<(Vec<Value>, String), Error> {
    let failed = |error: io::Error| Error::Run(format!("the cluster: {error}"));
    let lines = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut errors = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut first = String::new();
    errors.read_line(&mut first).map_err(failed)?;
    let control = Control::announced(&first).map_err(|_| Error::Run(first.clone()))?;
    thread::scope(|scope| {
        let (end, ended) = mpsc::channel();
        scope.spawn(move || cluster.trouble(control, &ended));
        let said = scope.spawn(move || {
            let lines = errors.lines().map_while(Result::ok);
            lines.fold(first, |said, line| said + &line + "\n")
        });
        let lines = lines.lines().map_while(Result::ok);
        let lines = lines.map(|line| serde_json::from_str(&line));
        let lines: Result<Vec<Value>, _> = lines.collect();
        drop(end);
        let said = said.join().unwrap_or_default();
        Ok((lines?, said))
    })
}
