//! `cargo xtask simulate`: predicts how long schedules take on another machine.

use std::num::NonZeroUsize;

use checkout::names;
use clap::Args;
use comm::text::counted;
use distribution::Scheme;
use harness::Error;
use harness::output::Output;
use harness::simulation::{self, Question};
use reduce::DEFAULT_LINK;
use schedule::{Algorithm, Collective, Link, Machine, Parameters, Schedule};

/// The greatest number of ranks. Each takes about a hundred bytes, so more would not fit into a usual machine's memory.
const RANKS_MAX: usize = 1 << 24;

/// Options of `simulate`.
#[derive(Args, Clone, Debug)]
pub struct SimulateOptions {
    /// The number of ranks
    #[arg(long, default_value = "1024", value_name = "P", value_parser = at_most::<RANKS_MAX>)]
    ranks: usize,
    /// The number of items on all ranks together, for example 1000000 or 1e12 [default: one per rank]
    #[arg(long, value_name = "N", value_parser = whole)]
    items: Option<u64>,
    /// The number of doubles per item
    #[arg(long, default_value = "1", value_name = "COLUMNS", value_parser = at_most::<{ 1 << 40 }>)]
    width: usize,
    /// Schedules by name, or all
    #[arg(long, default_value = "all", value_name = "LIST")]
    algorithm: String,
    /// How items are distributed: lower, upper, power-of-two, optimized, optimized-published, score-optimal, score-optimal-busy, path-optimal
    #[arg(long, default_value = "lower", value_name = "NAME")]
    distribution: String,
    /// alpha: nanoseconds per message
    #[arg(long, value_name = "NS", value_parser = time)]
    alpha: Option<f64>,
    /// beta: nanoseconds per byte sent
    #[arg(long, value_name = "NS", value_parser = time)]
    beta: Option<f64>,
    /// gamma: nanoseconds per byte combined
    #[arg(long, value_name = "NS", value_parser = time)]
    gamma: Option<f64>,
    /// Ranks per node; messages between nodes take --far-alpha and --far-beta
    #[arg(long, default_value = "1", value_name = "RANKS")]
    node_ranks: NonZeroUsize,
    /// alpha between nodes
    #[arg(long, value_name = "NS", value_parser = time)]
    far_alpha: Option<f64>,
    /// beta between nodes
    #[arg(long, value_name = "NS", value_parser = time)]
    far_beta: Option<f64>,
    /// The number of messages that a rank sends and receives at once; also the parameter n of bruck and dissemination
    #[arg(long, value_name = "N")]
    ports: Option<NonZeroUsize>,
    /// The number of blocks in pipelines [default: the estimated best]
    #[arg(long, value_name = "BLOCKS")]
    blocks: Option<NonZeroUsize>,
    /// Predict the time to build a plan instead of the time to run it, both from a distribution's rule and from each rank's number of items
    #[arg(long)]
    building: bool,
    /// Write a JSON object for every row to a file, or to standard output (-)
    #[arg(long, value_name = "FILE|-")]
    json: Option<String>,
}

/// Runs the command.
pub fn run(options: &SimulateOptions) -> Result<(), Error> {
    let question = question(options)?;
    let told = |error: schedule::UnknownAlgorithm| error.to_string();
    let parse = |name: &str| name.parse().map_err(told);
    let algorithms = names("--algorithm", &options.algorithm, Algorithm::ALL, parse)?;
    let mut output = Output::open(options.json.as_deref())?;
    let Machine { near, far, .. } = question.machine;
    let words = |link: Link| {
        format!(
            "alpha = {} ns, beta = {} ns/byte, gamma = {} ns/byte",
            link.latency_ns, link.byte_ns, link.combine_byte_ns
        )
    };
    if options.building {
        let ranks = counted(question.ranks, "rank");
        output.say(format!("building a plan over {ranks}"));
        let all = question.building();
        for building in &all {
            output.json(building)?;
        }
        simulation::show_building(&all, &output);
        return output.finish();
    }
    output.say(format!(
        "allreduce of {} of {} over {}, {}",
        counted(question.items, "item"),
        match question.width {
            1 => "one double".to_owned(),
            width => format!("{width} doubles"),
        },
        counted(question.ranks, "rank"),
        options.distribution
    ));
    output.say(words(near));
    if near != far {
        output.say(format!(
            "between nodes of {}: {}",
            counted(options.node_ranks.get(), "rank"),
            words(far)
        ));
    }
    let rows = question.answers(&algorithms);
    for row in &rows {
        output.json(row)?;
    }
    simulation::show(&rows, &output);
    output.finish()
}

/// Parses a whole number, which may be written like 1e12.
fn whole(typed: &str) -> Result<u64, String> {
    /// 2^64.
    const END: f64 = 18_446_744_073_709_551_616.0;
    if let Ok(number) = typed.parse() {
        return Ok(number);
    }
    match typed.parse::<f64>() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number below 2^64"
        )]
        Ok(number) if number.fract() == 0.0 && (0.0..END).contains(&number) => Ok(number as u64),
        _ => Err("not a whole number below 2^64".to_owned()),
    }
}

fn at_most<const MOST: usize>(typed: &str) -> Result<usize, String> {
    match usize::try_from(whole(typed)?) {
        Ok(number @ 1..) if number <= MOST => Ok(number),
        _ => Err(format!("it is not between 1 and {MOST}")),
    }
}

fn time(typed: &str) -> Result<f64, String> {
    let time = typed.parse::<f64>().ok();
    let time = time.filter(|time| time.is_finite() && *time >= 0.0);
    time.ok_or_else(|| "it is not a number of at least 0 ns".to_owned())
}

/// Checks that schedules accept an option's value.
fn check(option: &'static str, parameters: Parameters) -> Result<(), Error> {
    Schedule::new(Algorithm::Bruck, Collective::Allreduce, 2)
        .and_then(|schedule| schedule.with(parameters))
        .map(drop)
        .map_err(|error| Error::option(option, error))
}

/// The simulation that the options ask for.
fn question(options: &SimulateOptions) -> Result<Question, Error> {
    let ranks = options.ranks;
    let items = options.items.unwrap_or(ranks as u64);
    let scheme = options.distribution.parse::<Scheme>();
    let scheme = scheme.map_err(|error| Error::option("--distribution", error))?;
    let distribution = scheme.distribute(items, ranks);
    let distribution = distribution.map_err(|error| Error::option("--items", error))?;
    let near = Link {
        latency_ns: options.alpha.unwrap_or(DEFAULT_LINK.latency_ns),
        byte_ns: options.beta.unwrap_or(DEFAULT_LINK.byte_ns),
        combine_byte_ns: options.gamma.unwrap_or(DEFAULT_LINK.combine_byte_ns),
    };
    let far = Link {
        latency_ns: options.far_alpha.unwrap_or(near.latency_ns),
        byte_ns: options.far_beta.unwrap_or(near.byte_ns),
        ..near
    };
    let width = options.width;
    let [blocks, ports] = [options.blocks, options.ports].map(|given| given.map(usize::from));
    if let Some(blocks) = blocks.filter(|&blocks| blocks > width) {
        let (blocks, columns) = (counted(blocks, "block"), counted(width, "column"));
        let reason = format!("{blocks} for {columns}; each block needs a column");
        return Err(Error::option("--blocks", reason));
    }
    let mut asked = Parameters::default();
    asked.blocks = blocks.unwrap_or(asked.blocks);
    check("--blocks", asked)?;
    let usual = Parameters::default();
    check("--ports", Parameters { ports, ..usual })?;
    Ok(Question {
        ranks,
        items,
        width,
        distribution,
        machine: Machine {
            near,
            far,
            node_ranks: options.node_ranks.get(),
            ports: ports.unwrap_or(1),
            ..Machine::flat(near)
        },
        ports,
        blocks,
    })
}
