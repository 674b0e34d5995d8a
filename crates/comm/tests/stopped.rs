//! A process that is stopped: all others end within the silence limits of their wait and of the program's end. `cargo xtask test` starts
//! this program with `mpirun`, with the number of the rank that stops.

#![expect(clippy::print_stdout, reason = "its output is its report")]

use std::env;
use std::process::{self, Command};
use std::time::{Duration, Instant};

use comm::{Communicator, Error, Tag, collective, mpi};

/// Longer than the launcher takes to start all processes.
const LIMIT: Duration = Duration::from_secs(3);

/// What a limited wait may take more on a busy machine.
const MARGIN: Duration = Duration::from_secs(2);

fn main() {
    let Some(stopped) = env::args().nth(1) else {
        println!("skipped: no rank is to be stopped");
        return;
    };
    let stopped: usize = stopped.parse().expect("the number of a rank");
    let begin = Instant::now();
    let outcome = mpi::run(|world| exchange(&world, stopped));
    let ended = begin.elapsed();
    match outcome {
        Err(mpi::RunError::NotEnded { rank, after }) => {
            assert_eq!(after, LIMIT);
            println!("rank {rank} ends after {ended:.1?}");
        }
        other => panic!("rank {stopped} has come to the end: {other:?}"),
    }
}

/// Every rank waits for a message of the one that stops.
fn exchange(world: &mpi::MpiCommunicator, stopped: usize) {
    world.set_silence_limit(LIMIT);
    let tag = Tag::CONTROL;
    collective::allgather(world, tag, vec![0]).expect("all are there");
    if world.rank() == stopped {
        let own = process::id().to_string();
        let stopped = Command::new("kill").args(["-STOP", &own]).status();
        stopped.expect("every system has `kill`");
        // Launchers wake a process before they end it.
        process::exit(0);
    }
    let begin = Instant::now();
    let error = collective::receive(world, stopped, tag, 1).expect_err("nobody sends it");
    let silent = Error::Silent {
        rank: world.rank(),
        peer: stopped,
        after: LIMIT,
    };
    assert_eq!(error, silent);
    let waited = begin.elapsed();
    assert!(waited >= LIMIT && waited < LIMIT + MARGIN, "{waited:?}");
}
