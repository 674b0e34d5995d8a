//! Measures the time of a call from C compared with the same call from Rust. Both calls run alternately in one process.
//!
//! `cargo build --release -p treefold-c-mpi --features local --example cost`, then `mpirun -n 2 target/release/examples/cost`.

#![expect(
    unsafe_code,
    clippy::print_stdout,
    reason = "calls the functions that C programs call, and prints their times"
)]

use std::ffi::c_void;
use std::hint::black_box;
use std::ptr;
use std::time::Instant;

use treefold::{Plan, World};
use treefold_c_mpi::boundary::{builders, calls, communicators, exports};
use treefold_c_mpi::local::boundary::tree as c_local;

/// How often each of the two calls is measured. The program prints the medians of the times and of their differences.
const ROUNDS: usize = 301;

/// The time per call in nanoseconds, averaged over `calls` calls.
fn time(calls: usize, mut call: impl FnMut()) -> f64 {
    let begin = Instant::now();
    for _ in 0..calls {
        call();
    }
    begin.elapsed().as_secs_f64() * 1e9 / calls as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Times both calls alternately, and prints the times.
fn compare(world: &World, name: &str, calls: usize, mut rust: impl FnMut(), mut c: impl FnMut()) {
    let (mut rust_ns, mut c_ns, mut difference_ns) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // The call that runs second finds warm caches, so the order alternates.
        let (first, second) = match round % 2 {
            0 => (time(calls, &mut rust), time(calls, &mut c)),
            _ => {
                let second = time(calls, &mut c);
                (time(calls, &mut rust), second)
            }
        };
        rust_ns.push(first);
        c_ns.push(second);
        difference_ns.push(second - first);
    }
    if world.rank() == 0 {
        let (rust, c, difference) = (median(rust_ns), median(c_ns), median(difference_ns));
        println!("{name:30} {rust:12.1} {c:12.1} {difference:8.1}");
    }
}

fn main() -> Result<(), treefold::mpi::RunError> {
    treefold::mpi::run(|world| {
        if world.rank() == 0 {
            println!(
                "{:30} {:>12} {:>12} {:>8}",
                "ns per call", "Rust", "C", "more"
            );
        }
        for items in [2, 1000, 1_000_000] {
            measure(world, items);
        }
    })
}

fn measure(world: &World, items: usize) {
    let x: Vec<f64> = (0..items).map(|i| 1.0 / (i + 1) as f64).collect();
    let calls = (20_000 / items).clamp(1, 200);
    let mut sum = 0.0;
    compare(
        world,
        &format!("sum of {items}"),
        calls,
        || {
            black_box(treefold::sum(black_box(&x)).expect("the environment is the default"));
        },
        || {
            // SAFETY: `x` has `x.len()` items, and `sum` has room for one.
            let status = unsafe { c_local::treefold_sum_f64(x.as_ptr(), x.len(), &raw mut sum) };
            assert_eq!(black_box(status), 0);
        },
    );

    let begin = items * world.rank() / world.size();
    let local = &x[begin..items * (world.rank() + 1) / world.size()];
    let count = local.len() as u64;
    let plan = Plan::builder(world).local_items(count).build::<f64>();
    let plan = plan.expect("all ranks build it");
    let c_plan = c_plan(count);
    compare(
        world,
        &format!("allreduce of {items}, {} ranks", world.size()),
        calls,
        || {
            black_box(plan.allreduce(black_box(local)).expect("no rank fails"));
        },
        || {
            let (items, result) = (local.as_ptr().cast(), (&raw mut sum).cast::<c_void>());
            // SAFETY: `local` has `local.len()` items, and `sum` has room for one.
            let status =
                unsafe { calls::treefold_allreduce(c_plan, items, local.len(), result, 1) };
            assert_eq!(black_box(status), 0);
        },
    );
}

/// Builds a plan for sums over all ranks, with the calls that a C program makes.
fn c_plan(count: u64) -> *const exports::treefold_plan {
    let library = treefold::mpi::library().expect("MPI is initialised");
    // SAFETY: MPI is initialised, and the handle is a communicator of this library.
    let world = unsafe { library.comm_to_fortran(library.handles.MPI_COMM_WORLD) };
    let world = world.expect("every library has Fortran's numbers");
    let (mut comm, mut builder, mut plan) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: `world` is MPI_COMM_WORLD in Fortran, and `comm` is room for a handle.
    let duplicated =
        unsafe { communicators::treefold_comm_duplicate_f(world, world, &raw mut comm) };
    // SAFETY: `builder` is room for a handle.
    let begun = unsafe { builders::treefold_builder_create(comm, 2, 1, &raw mut builder) };
    let set = builders::treefold_builder_local_items(builder, count);
    // SAFETY: `plan` is room for a handle.
    let built = unsafe { exports::treefold_plan_build(builder, &raw mut plan) };
    assert_eq!((duplicated, begun, set, built), (0, 0, 0, 0));
    plan
}
