//! Runs reductions one after the other for a while, on ranks whose messages may be late or lost. After a failure, the same ranks can reduce
//! again.
//!
//! A rank that is cut off cannot report to its launcher. Therefore every rank writes its outcome to a file in a shared folder.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use checkout::files;
use reduce::{Plan, Sum, World};

use crate::Error;

/// The file that signals failed ranks to continue.
pub const AGAIN: &str = "again";

/// How long ranks that have failed wait for the file [`AGAIN`].
const AGAIN_LIMIT: Duration = Duration::from_secs(30);

/// The number of reductions after a failure.
const ROUNDS_AGAIN: u64 = 100;

/// How often rank 0 reports its progress.
const BETWEEN_REPORTS: Duration = Duration::from_millis(100);

/// The name of a rank's file.
pub fn file(rank: usize) -> String {
    format!("rank-{rank}")
}

/// Reduces for `duration` with a silence limit. Rank 0 passes lines to `report`: `round` with the round's number, and at the end `done` with
/// the number of rounds and the milliseconds of the longest round. Collective.
///
/// A rank whose reduction fails writes the error and the reduction's milliseconds to its file. If the file [`AGAIN`] is then created, all
/// ranks reduce again, and add a line with `again` and the number of successful reductions.
///
/// # Errors
/// A reduction failed and the ranks did not continue, or failed again; a sum has wrong bits; a file cannot be written.
pub fn endure(
    world: &World,
    folder: &Path,
    duration: Duration,
    silence_limit: Duration,
    report: &dyn Fn(&str),
) -> Result<(), Error> {
    world.set_silence_limit(silence_limit);
    let begin = Instant::now();
    let mut last_report = begin;
    let mut longest = Duration::ZERO;
    let mut round = 0;
    let mut round_begin = begin;
    let path = folder.join(file(world.rank()));
    let mut rounds = || {
        let sum = repeated_sum(world)?;
        loop {
            round_begin = Instant::now();
            let stops = sum(round, world.rank() == 0 && begin.elapsed() > duration)?;
            longest = longest.max(round_begin.elapsed());
            round += 1;
            if world.rank() == 0 && last_report.elapsed() > BETWEEN_REPORTS {
                last_report = Instant::now();
                report(&format!("round {round}"));
            }
            if stops {
                return Ok(());
            }
        }
    };
    let ended: Result<(), Error> = rounds();
    let Err(error) = ended else {
        if world.rank() == 0 {
            report(&format!("done {round} {}", longest.as_millis()));
        }
        return Ok(files::write(&path, "done\n")?);
    };
    let after = round_begin.elapsed().as_millis();
    let outcome = format!("{error}\n{after}\n");
    files::write(&path, &outcome)?;
    let (again, failed) = (folder.join(AGAIN), Instant::now());
    while !again.exists() {
        if failed.elapsed() > AGAIN_LIMIT {
            return Err(error);
        }
        thread::sleep(Duration::from_millis(20));
    }
    let sum = repeated_sum(world)?;
    for round in 0..ROUNDS_AGAIN {
        sum(round, false)?;
    }
    let outcome = format!("{outcome}again {ROUNDS_AGAIN}\n");
    Ok(files::write(&path, outcome)?)
}

/// Builds a plan that sums rows. A rank's row has a number, and a second one that is 1 if the rank stops. The returned function reduces once,
/// compares the bits, and returns whether any rank stops.
fn repeated_sum(world: &World) -> Result<impl Fn(u64, bool) -> Result<bool, Error>, Error> {
    let plan: Plan<f64, Sum> = Plan::builder(world).local_items(1).width(2).build()?;
    Ok(move |round: u64, stops: bool| {
        let number = |rank: usize| ((round as f64) + 0.1) / (rank as f64 + 3.0);
        let own = [number(world.rank()), f64::from(u8::from(stops))];
        let mut sums = [0.0_f64; 2];
        plan.allreduce_into(&own, &mut sums)?;
        let numbers: Vec<f64> = (0..world.size()).map(number).collect();
        let expected = reduce::sum(&numbers)?;
        if sums[0].to_bits() != expected.to_bits() {
            let reason = format!("round {round} gave {:e}, not {expected:e}", sums[0]);
            return Err(Error::Run(reason));
        }
        Ok(sums[1] > 0.0)
    })
}
