//! Stops one process. All other ranks' errors must name that rank, though most wait for other ranks. All must end within two silence
//! limits: one for their wait, one for the program's end. `cargo xtask test` starts this program with `mpirun` and the rank to stop.

#![expect(clippy::print_stdout, reason = "the program's output is its report")]

use std::env;
use std::process::{self, Command};
use std::thread;
use std::time::{Duration, Instant};

use comm::{Communicator, Error, Request, Tag, collective, mpi};

/// The silence limit. It is longer than the launcher takes to start all processes.
const LIMIT: Duration = Duration::from_secs(3);

/// How much longer a limited wait may take on a busy machine.
const MARGIN: Duration = Duration::from_secs(2);

/// How much later than the others the late rank begins to wait.
const LATE: Duration = Duration::from_secs(1);

fn main() {
    let Some(stopped) = env::args().nth(1) else {
        println!("skipped: no argument names a rank to stop");
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

/// Every rank waits for a message from the next rank. The rank after the stopped rank begins later; others notify it.
fn exchange(world: &mpi::MpiCommunicator, stopped: usize) {
    world.set_silence_limit(LIMIT);
    collective::allgather(world, Tag::CONTROL, vec![0]).expect("all ranks take part");
    let (tag, tested, awaited) = (Tag::new(1), Tag::new(2), Tag::new(3));
    for tag in [tag, tested, awaited] {
        world.open(tag).expect("all ranks take part");
    }
    if world.rank() == stopped {
        let own = process::id().to_string();
        let stopped = Command::new("kill").args(["-STOP", &own]).status();
        stopped.expect("every system has `kill`");
        // The process gets here when a launcher wakes it, in order to end it.
        process::exit(0);
    }
    let next = (world.rank() + 1) % world.size();
    let is_late = world.rank() == (stopped + 1) % world.size();
    if is_late {
        thread::sleep(LATE);
    }
    let begin = Instant::now();
    let error = collective::receive(world, next, tag, 1).expect_err("no rank sends this");
    is_named(&error, world, stopped);
    let waited = begin.elapsed();
    // A rank that began to wait a little earlier may have notified this rank.
    let least = if is_late {
        LIMIT - LATE * 2
    } else {
        LIMIT - LATE
    };
    assert!(waited >= least && waited < LIMIT + MARGIN, "{waited:?}");
    if is_late {
        assert!(waited < LIMIT, "{waited:?}");
    }
    world.give_up(tag);
    a_loop_ends(world, tested, stopped, |request| world.test(request));
    a_loop_ends(world, awaited, stopped, |request| {
        world.wait_any(&[request.id()], Some(Duration::from_millis(1)))
    });
}

fn is_named(error: &Error, world: &mpi::MpiCommunicator, stopped: usize) {
    let silent = Error::Silent {
        rank: world.rank(),
        peers: stopped..stopped + 1,
        after: LIMIT,
    };
    assert_eq!(*error, silent);
}

/// A loop of calls with pauses between them also ends, with an error that names the stopped rank.
fn a_loop_ends(
    world: &mpi::MpiCommunicator,
    tag: Tag,
    stopped: usize,
    asks: impl Fn(&Request) -> Result<bool, Error>,
) {
    let next = (world.rank() + 1) % world.size();
    let request = world.start_receive(next, tag, vec![0]);
    let request = request.expect("the rank exists");
    let begin = Instant::now();
    let error = loop {
        match asks(&request) {
            Ok(false) => assert!(
                begin.elapsed() < LIMIT * 8,
                "the limit did not end the call"
            ),
            // Another rank has notified this rank.
            Ok(true) => break world.wait(request).expect_err("no rank sends this"),
            Err(error) => {
                world.cancel(request);
                break error;
            }
        }
        thread::sleep(Duration::from_millis(1));
    };
    is_named(&error, world, stopped);
    world.give_up(tag);
}
