//! Checks that worlds, plans and runs in flight leak no memory in any order of drops. Counts the memory of all threads.

#![allow(clippy::unwrap_used, reason = "a check fails where it unwraps")]
#![expect(clippy::print_stdout, reason = "the program prints its report")]

#[path = "suite/handles.rs"]
mod handles;
mod live;

use reduce::World;
use reduce::threads::run;

/// One check. Every rank of a world calls this function.
type Check = fn(&World);

fn main() {
    for ranks in [1, 2, 3, 5] {
        for (name, check) in handles::CHECKS {
            // The first runs make the permanent allocations.
            run(ranks, check).unwrap_or_else(|error| panic!("{name}, p = {ranks}: {error}"));
            let before = live::bytes();
            for _ in 0..20 {
                run(ranks, check).unwrap_or_else(|error| panic!("{name}, p = {ranks}: {error}"));
            }
            let leaked = live::bytes() - before;
            assert!(
                leaked < 20,
                "{name}, p = {ranks}: {leaked} bytes leaked in 20 runs"
            );
            println!("test {name}, p = {ranks} ... ok");
        }
    }
}
