//! Runs this program as a rank that `mpirun` started: all ranks run the same job, and rank 0 prints the results. Tests also start ranks
//! that misbehave on purpose, and ranks that reduce for a while and write a file when they end.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use comm::collective;
use harness::{Backend, Error, bench, campaign, endurance};
use reduce::World;
use repro_check::ranks::{self, print_row, read_job};

/// The silence limit of ranks while another one is silent on purpose.
const FAULT_SILENCE_LIMIT: Duration = Duration::from_secs(2);

/// Runs a rank if this program was started as one.
pub fn take_part() -> Option<ExitCode> {
    ranks::take_part(run)
}

fn run(world: &World, words: &[&str]) -> Result<(), Error> {
    use bench::{exact, reduce, schedules};
    let mpi = Backend::Mpi;
    match *words {
        ["repro", job] => ranks::check(world, job),
        ["bench", job] => reduce::on_rank(world, mpi, &read_job(job)?, &|row| print_row(&row)),
        ["exact", job] => {
            exact::on_rank(world, mpi, &read_job(job)?, &|row| print_row(&row))
        }
        ["schedules", job] => {
            schedules::on_rank(world, mpi, &read_job(job)?, &|row| print_row(&row))
        }
        ["papers", job] => {
            papers::job_on_rank(world, mpi, &read_job(job)?, &|times| print_row(&times))
        }
        ["campaign", job] => {
            campaign::silence_panics();
            campaign::run_cases(&read_job(job)?, &|report| print_row(&report))
        }
        ["fault", kind] => fault(world, kind),
        ["endure", folder, duration, limit] => endure(world, folder, duration, limit),
        _ => Err(Error::Run(
            "usage: xtask mpi-runner repro|bench|exact|schedules|papers|campaign JOB, fault KIND, or endure FOLDER SECONDS LIMIT"
                .to_owned(),
        )),
    }
}

/// The last rank misbehaves while the others wait for it.
fn fault(world: &World, kind: &str) -> Result<(), Error> {
    let last = world.size() - 1;
    let tag = world.fresh_tag()?;
    if world.rank() != last {
        // A panic ends the job, which must happen before any limit expires.
        if kind != "panic" {
            world.set_silence_limit(FAULT_SILENCE_LIMIT);
        }
        collective::receive(world.transport(), last, tag, 1)?;
        return Ok(());
    }
    match kind {
        "panic" => panic!("on purpose"),
        "leave" => Ok(()),
        "silence" => {
            std::thread::sleep(FAULT_SILENCE_LIMIT * 10);
            Ok(())
        }
        _ => Err(Error::Run(format!(
            "unknown fault `{kind}`; known: panic, leave, silence"
        ))),
    }
}

fn endure(world: &World, folder: &str, duration: &str, limit: &str) -> Result<(), Error> {
    let seconds = |word: &str| {
        let number = word.parse().map(Duration::from_secs);
        number.map_err(|_| Error::Run(format!("`{word}` is not a number of seconds")))
    };
    let (duration, limit) = (seconds(duration)?, seconds(limit)?);
    endurance::endure(world, Path::new(folder), duration, limit, &|line| {
        println!("{line}")
    })
}
