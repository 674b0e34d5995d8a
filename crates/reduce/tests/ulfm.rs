//! Tests that the remaining processes continue after others were killed. `cargo xtask test --stage ulfm` starts this program with Open MPI's
//! `mpirun --with-ft ulfm`. The program's arguments are the number of the [`losses::Moment`] of each loss, and an algorithm.

#![expect(clippy::print_stdout, reason = "the program prints its report")]
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

#[allow(dead_code, reason = "other tests use the rest")]
mod suite;

use std::env;
use std::time::Duration;

use distribution::Rebalance;
use reduce::{Algorithm, World, mpi};
use suite::losses::{self, Loss, MOMENTS};

/// The number of processes that are left at the end.
const LEFT: usize = 2;

fn main() {
    if !mpi::is_launched() {
        println!("skipped: no launcher has started ranks");
        return;
    }
    mpi::run(check).expect("MPI starts once");
}

fn check(world: &World) {
    world.set_silence_limit(Duration::from_secs(60));
    if let Err(error) = world.agree(true) {
        if world.rank() == 0 {
            println!("skipped: {error}");
        }
        return;
    }
    for (_, check) in losses::CHECKS {
        check(world);
    }
    let mut arguments = env::args().skip(1);
    let (Some(moment), Some(algorithm)) = (arguments.next(), arguments.next()) else {
        return losses::nobody_is_lost(world);
    };
    let number: usize = moment.parse().expect("the number of a moment");
    let moment = MOMENTS[number];
    let algorithm: Algorithm = algorithm.parse().unwrap();
    let rule = [Rebalance::MinimalMovement, Rebalance::EvenShares][number % 2];
    losses::lose_one_after_the_other(world, LEFT, algorithm, rule, moment, Loss::Kill);
    println!("this is one of the {LEFT} processes left: {moment:?}, {algorithm}, {rule:?}");
}
