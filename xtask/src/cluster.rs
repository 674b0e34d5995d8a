//! `cargo xtask cluster`: runs a command with its ranks on the nodes of a virtual cluster.

use std::ffi::OsString;

use ::cluster::{Loss, Place, Settings, parse_delay};
use clap::Args;
use harness::Error;
use launch::MpiOptions;

/// Options of `cluster`.
#[derive(Args, Clone, Debug)]
pub struct ClusterOptions {
    /// The number of nodes
    #[arg(long, default_value_t = 2, value_name = "N")]
    nodes: usize,
    /// Ranks per node; a node is filled before the next one gets ranks
    #[arg(long, default_value_t = 1, value_name = "N")]
    ranks_per_node: usize,
    /// Delay added to each message between nodes, for example 1ms or 50us
    #[arg(
        long,
        default_value = "0",
        value_name = "TIME",
        allow_hyphen_values = true
    )]
    delay: String,
    /// Share of network frames between nodes to drop, for example 0.5%
    #[arg(
        long,
        default_value = "0",
        value_name = "PERCENT",
        allow_hyphen_values = true
    )]
    loss: String,
    /// The seed that decides which frames are dropped
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
    #[command(flatten)]
    mpi: MpiOptions,
    /// Run any program on the first node; `mpirun` there uses all nodes
    #[arg(long)]
    exec: bool,
    /// A command of cargo xtask, such as repro-check or bench; its --backend defaults to mpi
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Commands that take `--backend`.
const WITH_BACKEND: [&str; 3] = ["repro-check", "bench", "campaign"];

/// Runs the command and returns its exit status.
pub fn run(options: &ClusterOptions) -> Result<u8, Error> {
    let places = [Place::Outside, Place::FirstNode];
    let settings = Settings {
        nodes: options.nodes,
        ranks_per_node: options.ranks_per_node,
        delay: parse_delay(&options.delay).map_err(translated)?,
        loss: Loss::parse(&options.loss).map_err(translated)?,
        seed: options.seed,
        place: places[usize::from(options.exec)],
    };
    settings.check().map_err(translated)?;
    let installation = options.mpi.installation()?;
    let started = if options.exec {
        ::cluster::run(&settings, &options.command, |_| ())
    } else {
        let command = own_command(&options.command)?;
        ::cluster::check().map_err(translated)?;
        let first_node = ::cluster::on_first_node().map_err(translated)?;
        let installation = installation.started_by(first_node);
        ::cluster::run(&settings, &command, |first| installation.pass_on(first))
    };
    started.map_err(translated)
}

/// The command line that runs a command of this program.
fn own_command(words: &[OsString]) -> Result<Vec<OsString>, Error> {
    let has = |option: &str| {
        let mut words = words.iter().filter_map(|word| word.to_str());
        words.any(|word| word == option || word.starts_with(&format!("{option}=")))
    };
    // After `--`, these options would start ranks outside the nodes.
    let mut misplaced = ["--mpi", "--launcher"].into_iter();
    if let Some(option) = misplaced.find(|option| has(option)) {
        let reason = format!("must be before `--`, as in `cluster {option} … -- …`");
        return Err(Error::option(option, reason));
    }
    let own = std::env::current_exe().map_err(|error| Error::Run(error.to_string()))?;
    let mut command = vec![own.into_os_string()];
    command.extend(words.iter().take(1).cloned());
    let takes_backend = |name| WITH_BACKEND.iter().any(|known| name == known);
    if words.first().is_some_and(takes_backend) && !has("--backend") {
        command.extend(["--backend", "mpi"].map(OsString::from));
    }
    command.extend(words.iter().skip(1).cloned());
    Ok(command)
}

fn translated(error: ::cluster::Error) -> Error {
    match error {
        ::cluster::Error::Option { option, reason } => Error::option(option, reason),
        other => Error::Run(other.to_string()),
    }
}
