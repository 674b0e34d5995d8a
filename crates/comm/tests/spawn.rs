//! Processes that a program starts: ranks of another world, which have counted their communicators themselves. Both sides exchange messages, and
//! free communicators in several orders. `cargo xtask test` starts this program with `mpirun`; it starts more of itself.

#![expect(clippy::print_stdout, reason = "its output is its report")]

use std::env;
use std::process::Command;

use ::mpi::collective::Root as _;
use ::mpi::environment::library_version;
use ::mpi::topology::{Communicator as _, InterCommunicator, MergeOrder, Rank, SimpleCommunicator};
use comm::mpi::MpiCommunicator;
use comm::{Communicator, Tag, collective, mpi};

const CHILDREN: Rank = 2;

const ROUNDS: usize = 2;

fn main() {
    mpi::run(|world| check(&world)).expect("MPI starts once");
}

fn check(world: &MpiCommunicator) {
    exchange(world);
    let all = SimpleCommunicator::world();
    let (between, order) = match all.parent() {
        Some(between) => (between, MergeOrder::High),
        None if !can_start() => {
            if world.rank() == 0 {
                println!("skipped: this MPI library starts no processes");
            }
            return;
        }
        None => {
            let own = Command::new(env::current_exe().expect("it is running"));
            let started = all.process_at_rank(0).spawn(&own, CHILDREN);
            (started.expect("there is room for two"), MergeOrder::Low)
        }
    };
    for round in 0..ROUNDS {
        together(&all, &between, order, round);
    }
    exchange(world);
    if world.rank() == 0 && matches!(order, MergeOrder::Low) {
        let size = world.size();
        println!("comm on MPI, {size} ranks and {CHILDREN} that they have started: passed");
    }
}

/// Debian's MPICH is built for UCX, by which this version starts none: the call fails.
fn can_start() -> bool {
    let version = library_version().unwrap_or_default();
    !version.contains("ch4:ucx")
}

/// Communicators of both sides, while others of one side live: more on one than on the other.
fn together(
    all: &SimpleCommunicator,
    between: &InterCommunicator,
    order: MergeOrder,
    round: usize,
) {
    let own_count = match order {
        MergeOrder::Low => 1,
        MergeOrder::High => 3,
    };
    let own: Vec<_> = (0..own_count).map(|_| duplicate(all)).collect();
    let merged = between.merge(order);
    drop(duplicate(&merged));
    // Frees the one before.
    let both = duplicate(&merged);
    if round.is_multiple_of(2) {
        own.into_iter().for_each(free);
        free(both);
    } else {
        free(both);
        own.iter().for_each(exchange);
        own.into_iter().for_each(free);
    }
}

fn duplicate(parent: &SimpleCommunicator) -> MpiCommunicator {
    let copy = MpiCommunicator::duplicate(parent).expect("every communicator can be duplicated");
    exchange(&copy);
    copy
}

/// Every rank hears every other one.
fn exchange(world: &MpiCommunicator) {
    let own = u8::try_from(world.rank()).expect("there are few");
    let ranks = collective::allgather(world, Tag::CONTROL, vec![own]).expect("all are there");
    let expected: Vec<u8> = (0..).take(world.size()).collect();
    assert_eq!(ranks, expected);
}

/// Collective.
fn free(world: MpiCommunicator) {
    let library_own = world.library_communicator();
    drop(world);
    library_own.free().expect("MPI can be called");
}
