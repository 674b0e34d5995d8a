//! The commands' door: reads options, runs, and ends with the status that the command promises.
//!
//! 0: done, and as it must be. 1: done, and not so. 2: a usage or input error, reported in one line.

use std::process::ExitCode;

use checkout::{in_a_line, refuse};
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use harness::{Error, spread};
use install::install;
use peak_alloc::PeakAlloc;
use xtask::{
    bench, book, campaign, cluster, draw, mpi_runner, numbers, papers, schedules, simulate,
};

/// Counts what `campaign --leaks` looks at.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Reproducible reductions: check, measure, test.
#[derive(Parser)]
#[command(name = "cargo xtask", version, override_help = include_str!("../front/src/help.txt"))]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Reduces data over many numbers of ranks and compares the bits
    ReproCheck(repro_check::Options),
    /// Measures kernels, look-ups and reductions against their references
    Bench(bench::Options),
    /// Tells how long schedules would take on a machine that is not here
    Simulate(simulate::Options),
    /// Writes the page that shows every schedule
    Schedules(schedules::Options),
    /// Recomputes the tables and figures of the papers, beside what was published
    Papers(papers::Options),
    /// Draws measured pictures again from the numbers beside them
    Draw(draw::Options),
    /// Writes the measured numbers of pages again from the records in docs/
    Numbers,
    /// Runs random programs with faults and compares every result with the definition
    Campaign(campaign::Options),
    /// Runs a command of these whose ranks are spread over nodes: namespaces of this machine, joined by a network that delays and loses
    /// messages
    Cluster(cluster::Options),
    /// Installs the libraries for C, C++ and Fortran
    Install(install::Options),
    /// Makes in dist/ what people download, and tries it: the stage `release` of `test`
    Release,
    /// Builds the book of `docs/` as HTML
    Book(book::Options),
    /// Runs what CI runs, or the stages that are named
    Test(gate::Options),
}

fn main() -> ExitCode {
    // A cluster starts this program for each of its parts.
    ::cluster::take_part();
    // And so does a launcher of ranks.
    if let Some(code) = mpi_runner::take_part() {
        return code;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            ) =>
        {
            error.exit()
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            return refuse(
                "error: no command; known: repro-check, bench, simulate, schedules, papers, draw, numbers, campaign, cluster, install, release, book, test",
            );
        }
        Err(error) => return refuse(&in_a_line(&error.to_string())),
    };
    let result: Result<bool, Error> = match &cli.command {
        Command::ReproCheck(options) => repro_check::run(options, Some(spread::draw)),
        Command::Bench(options) => bench::run(options).map(|()| true),
        Command::Simulate(options) => simulate::run(options).map(|()| true),
        Command::Schedules(options) => schedules::run(options).map(|()| true),
        Command::Papers(options) => papers::run(options).map(|()| true),
        Command::Draw(options) => draw::run(options).map(|()| true),
        Command::Numbers => numbers::run().map(|()| true),
        Command::Campaign(options) => campaign::run(options, || MEMORY.current_usage()),
        Command::Cluster(options) => match cluster::run(options) {
            Ok(status) => return ExitCode::from(status),
            Err(error) => Err(error),
        },
        Command::Install(options) => install(options).map(|()| true).map_err(Error::from),
        Command::Book(options) => book::run(options).map(|()| true),
        Command::Release => {
            gate::run_stages(&gate::Options::of_stage("release")).map_err(Error::from)
        }
        Command::Test(options) => gate::run_stages(options).map_err(Error::from),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => refuse(&format!("error: {error}")),
    }
}
