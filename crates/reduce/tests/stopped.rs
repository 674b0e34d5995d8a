//! Stops a process while the other processes test their runs, or repeatedly wait for a short time. The silence limit must end these loops,
//! as it ends blocking waits. With many runs in flight, errors must name only the stopped rank. `cargo xtask test` starts this program by
//! `mpirun`, with the number of the rank to stop.

#![expect(clippy::print_stdout, reason = "the program prints its report")]

use std::env;
use std::process::{self, Command};
use std::thread;
use std::time::{Duration, Instant};

use reduce::{Plan, RunError, Sum, World, exact, mpi};

const LIMIT: Duration = Duration::from_secs(2);

/// The test fails if a loop takes longer than this time, which is far longer than the silence limit.
const MOST: Duration = Duration::from_secs(20);

/// A rank's work between two tests of its runs.
const WORK: Duration = Duration::from_millis(1);

/// The number of runs in flight.
const MANY: usize = 100;

fn main() {
    let Some(stopped) = env::args().nth(1) else {
        println!("skipped: no rank is to be stopped");
        return;
    };
    let stopped: usize = stopped.parse().expect("the number of a rank");
    let begin = Instant::now();
    let outcome = mpi::run(|world| check(world, stopped));
    let ended = begin.elapsed();
    match outcome {
        Err(mpi::RunError::NotEnded { rank, after }) => {
            assert_eq!(after, LIMIT);
            println!("rank {rank} ends after {ended:.1?}");
        }
        other => panic!("rank {stopped} has come to the end: {other:?}"),
    }
}

fn plan(world: &World) -> Plan<f64, Sum> {
    let plan = Plan::builder(world).local_items(1).build();
    plan.expect("all ranks build it")
}

fn check(world: &World, stopped: usize) {
    let (tested, awaited) = (plan(world), plan(world));
    let exact = Plan::builder(world).build_exact::<exact::Sum<f64>>();
    let exact = exact.expect("all ranks build it");
    let many: Vec<_> = (0..MANY).map(|_| plan(world)).collect();
    a_test_after_a_long_time_is_no_alarm(world, &tested, stopped);
    if world.rank() == stopped {
        let own = process::id().to_string();
        let stopped = Command::new("kill").args(["-STOP", &own]).status();
        stopped.expect("every system has `kill`");
        // Launchers wake a process before they end it.
        process::exit(0);
    }
    // A rank that has just received a message from the stopped rank would not name that rank, whatever the other ranks report.
    thread::sleep(LIMIT);
    let run = tested.start_allreduce(&[1.0]).expect("it is idle");
    named("tests", stopped, || run.test().err());
    let run = awaited.start_allreduce(&[1.0]).expect("it is idle");
    named("short waits", stopped, || match run.wait_timeout(WORK) {
        Err(RunError::TimedOut { .. }) => None,
        outcome => outcome.err(),
    });
    let run = exact.start_allreduce(&exact::Sum::default());
    let run = run.expect("it is idle");
    named("tests of an exact sum", stopped, || run.test().err());
    many_in_flight(world, &many, stopped);
}

fn a_test_after_a_long_time_is_no_alarm(world: &World, plan: &Plan<f64, Sum>, late: usize) {
    world.set_silence_limit(LIMIT);
    if world.rank() == late {
        thread::sleep(LIMIT * 2);
        // The others may be busy meanwhile.
        world.set_silence_limit(LIMIT * 20);
    }
    let run = plan.start_allreduce(&[1.0]).expect("it is idle");
    if world.rank() != late {
        run.test().expect("the first test comes in time");
        thread::sleep(LIMIT + LIMIT / 2);
        run.test().expect("the pause counts as one second");
    }
    world.set_silence_limit(LIMIT * 20);
    run.wait().expect("all ranks start the run");
    world.set_silence_limit(LIMIT);
}

fn named(what: &str, stopped: usize, fails: impl FnMut() -> Option<RunError>) {
    let peers = silent_after(what, fails);
    assert_eq!(peers, stopped..stopped + 1, "{what}");
}

fn silent_after(what: &str, mut fails: impl FnMut() -> Option<RunError>) -> std::ops::Range<usize> {
    let begin = Instant::now();
    loop {
        match fails() {
            None => assert!(begin.elapsed() < MOST, "{what} never meet the limit"),
            Some(RunError::Transport(comm::Error::Silent { peers, after, .. })) => {
                assert_eq!(after, LIMIT);
                return peers;
            }
            Some(other) => panic!("{what}: {other}"),
        }
        thread::sleep(WORK);
    }
}

/// A rank might not find out which rank is silent, but it must not name a wrong one. Each rank first waits for one run, then tests the others.
fn many_in_flight(world: &World, plans: &[Plan<f64, Sum>], stopped: usize) {
    let start = |plan: &Plan<f64, Sum>| plan.start_allreduce(&[1.0]).expect("it is idle");
    let mut runs: Vec<_> = plans.iter().map(start).collect();
    runs.rotate_left(world.rank() * MANY / world.size());
    let tested = runs.split_off(1);
    let mut blamed = vec![silent_after("a run beside many", || {
        runs[0].wait_timeout(MOST).err()
    })];
    let mut failed = vec![false; tested.len()];
    while failed.contains(&false) {
        blamed.push(silent_after("one of many", || {
            let mut left = tested
                .iter()
                .zip(&mut failed)
                .filter(|(_, failed)| !**failed);
            left.find_map(|(run, failed)| {
                let error = run.test().err();
                *failed = error.is_some();
                error
            })
        }));
    }
    assert!(
        blamed
            .iter()
            .all(|peers| peers.is_empty() || *peers == (stopped..stopped + 1))
    );
    let unknown = blamed.iter().filter(|peers| peers.is_empty()).count();
    println!(
        "rank {}: {unknown} of {MANY} runs do not know which rank is silent",
        world.rank()
    );
}
