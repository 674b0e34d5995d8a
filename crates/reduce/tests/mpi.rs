//! The suite under MPI: every process runs this program. `cargo xtask test` starts it with `mpirun`.

#![expect(clippy::print_stdout, reason = "its output is its report")]

mod suite;

use std::time::Duration;

use comm::{Communicator, mpi};

fn main() {
    let world = mpi::init().expect("MPI starts once");
    world.set_silence_limit(Duration::from_secs(60));
    for (name, check) in suite::checks() {
        check(&world);
        if world.rank() == 0 {
            eprintln!("test {name} ... ok");
        }
    }
    if world.rank() == 0 {
        let (checks_count, ranks) = (suite::checks().count(), world.size());
        println!("reduce on MPI, {ranks} ranks: {checks_count} passed, 0 failed");
    }
}
