//! The suite under MPI: every process runs this program. `cargo xtask test` starts it with `mpirun`.

#![expect(clippy::print_stdout, reason = "its output is its report")]

mod counting;
mod suite;

use std::time::Duration;

use reduce::{World, mpi};

fn main() {
    if !mpi::is_launched() {
        println!("skipped: no launcher has started ranks");
        return;
    }
    mpi::run(check).expect("MPI starts once");
}

fn check(world: &World) {
    world.set_silence_limit(Duration::from_secs(60));
    let counting: (_, suite::Check) = ("runs allocate nothing", counting::runs_allocate_nothing);
    // Ranks that take turns on a core would take minutes for it.
    let has_cores = world.size() <= world.transport().hints().concurrency;
    let counting = has_cores.then_some(counting);
    let checks = suite::checks().chain(suite::faults::MISMATCHES);
    let checks: Vec<_> = checks.chain(counting).collect();
    for (name, check) in &checks {
        check(world);
        if world.rank() == 0 {
            eprintln!("test {name} ... ok");
        }
    }
    if world.rank() == 0 {
        let (checks_count, ranks) = (checks.len(), world.size());
        println!("reduce on MPI, {ranks} ranks: {checks_count} passed, 0 failed");
    }
}
