//! The contract under MPI: every process runs this program. `cargo xtask test` starts it with `mpirun`.

#![expect(clippy::print_stdout, reason = "its output is its report")]

mod contract;

use comm::{Communicator, mpi};

fn main() {
    let world = mpi::init().expect("MPI starts once");
    let duplicate = mpi::MpiCommunicator::duplicate(&::mpi::topology::SimpleCommunicator::world())
        .expect("the world can be duplicated");
    // On one node, as `cargo xtask test` starts it.
    let is_off = std::env::var(mpi::SHARED_MEMORY_VARIABLE).is_ok_and(|value| value == "off");
    assert_eq!(world.shares_memory(), world.size() > 1 && !is_off);
    for (name, check) in contract::CHECKS {
        for fresh in contract::TAGS {
            check(&world, fresh);
            check(&duplicate, fresh);
        }
        if world.rank() == 0 {
            eprintln!("test {name} ... ok");
        }
    }
    if world.rank() == 0 {
        let checks_count = contract::CHECKS.len();
        println!(
            "comm contract on MPI, {} ranks: {checks_count} passed, 0 failed",
            world.size()
        );
    }
}
