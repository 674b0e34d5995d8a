//! Parses the command line, runs the command and sets the exit status: 0 for success; 1 if the command ran and its check failed; 2 for a
//! usage or input error, which is reported in one line.

use std::env;
use std::process::ExitCode;

use checkout::{ended, parsed, refuse};
use clap::{CommandFactory, Parser, Subcommand};
use harness::{Error, spread};
use install::install;
use peak_alloc::PeakAlloc;
use xtask::{bench, campaign, cluster, draw, mpi_runner, numbers, papers, schedules, simulate};

/// Counts allocated bytes for `campaign --leaks`.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Checks, measures and tests treefold's reductions.
#[derive(Parser)]
#[command(name = "cargo xtask", version, override_help = include_str!("../front/src/help.txt"))]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Sums data on many rank counts and compares the bits
    ReproCheck(repro_check::Options),
    /// Times kernels, look-ups and reductions next to plain ones
    Bench(bench::BenchOptions),
    /// Predicts how long schedules take on another machine
    Simulate(simulate::SimulateOptions),
    /// Writes the page that shows every schedule
    Schedules(schedules::SchedulesOptions),
    /// Recomputes the papers' tables and figures, next to the published values
    Papers(papers::PapersOptions),
    /// Redraws pictures from recorded measurements
    Draw(draw::DrawOptions),
    /// Updates the measured numbers on pages from the records in docs/
    Numbers,
    /// Runs random programs with injected faults and compares every result with the definition
    Campaign(campaign::CampaignOptions),
    /// Runs one of these commands on a virtual cluster, whose nodes are namespaces of this machine and whose network can delay and lose
    /// messages
    Cluster(cluster::ClusterOptions),
    /// Installs the libraries for C, C++ and Fortran
    Install(install::Options),
    /// Builds the release files in dist/ and tests them; the same as `test --stage release`
    Release,
    /// Runs what CI runs, or the named stages
    Test(gate::Options),
}

fn main() -> ExitCode {
    // `cluster` starts this program as its nodes.
    ::cluster::take_part();
    // An MPI launcher starts this program as ranks.
    if let Some(code) = mpi_runner::take_part() {
        return code;
    }
    if env::args_os().len() < 2 {
        let cli = Cli::command();
        let known: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
        return refuse(&format!("error: no command; known: {}", known.join(", ")));
    }
    let cli: Cli = match parsed() {
        Ok(cli) => cli,
        Err(status) => return status,
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
        Command::Release => {
            gate::run_stages(&gate::Options::of_stage("release")).map_err(Error::from)
        }
        Command::Test(options) => gate::run_stages(options).map_err(Error::from),
    };
    ended(result)
}
