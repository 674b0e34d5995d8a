//! The contract under MPI: every process runs this program. `cargo xtask test` starts it with `mpirun`.

#![expect(clippy::print_stdout, reason = "its output is its report")]

use comm::{Communicator, contract, mpi};

fn main() {
    mpi::run(check).expect("MPI starts once");
}

fn check(world: mpi::MpiCommunicator) {
    let duplicate = mpi::MpiCommunicator::duplicate(&::mpi::topology::SimpleCommunicator::world())
        .expect("the world can be duplicated");
    // On one node, as `cargo xtask test` starts it.
    let is_off = std::env::var(mpi::SHARED_MEMORY_VARIABLE).is_ok_and(|value| value == "off");
    assert_eq!(world.shares_memory(), world.size() > 1 && !is_off);
    let report = |name: &str| {
        if world.rank() == 0 {
            eprintln!("test {name} ... ok");
        }
    };
    contract::check(&world, report);
    contract::check(&duplicate, |_| ());
    if world.rank() == 0 {
        let size = world.size();
        println!("comm contract on MPI, {size} ranks, two communicators: passed");
    }
}
