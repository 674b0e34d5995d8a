//! Checks that a run of a plan allocates nothing, by counting allocations on every rank's own thread.
//!
//! `tests/plans.rs` runs the check on threads and under `mpirun`.

#![allow(clippy::unwrap_used, reason = "a check fails where it unwraps")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use reduce::{Algorithm, Plan, World};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "`GlobalAlloc` is an unsafe trait")]
// SAFETY: the system allocator does all the work, and counting does not touch the memory that it returns.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends may allocate after its counter is gone.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller promises what the system allocator requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller promises what the system allocator requires.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller promises what the system allocator requires.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

pub(crate) fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// Checks every schedule with two of the four shapes of rows. A world with one more rank checks the other two shapes.
pub(crate) fn runs_allocate_nothing(world: &World) {
    const ROWS: [(usize, usize); 4] = [(1, 1), (3, 3), (100, 1), (300, 7)];
    let scheduled = Algorithm::all().filter(|algorithm| algorithm.is_scheduled());
    for (algorithm, turn) in scheduled.zip(world.size()..) {
        for (width, blocks) in [ROWS[turn % 4], ROWS[(turn + 2) % 4]] {
            check(world, algorithm, width, blocks);
        }
    }
}

/// Checks one schedule. Allreduces by a second plan keep the ranks in step, because a rank ahead of its receivers needs memory for messages.
fn check(world: &World, algorithm: Algorithm, width: usize, blocks: usize) {
    let build = || {
        Plan::builder(world)
            .local_items(100)
            .width(width)
            .blocks(blocks)
            .algorithm(algorithm)
            .build::<f64>()
            .unwrap()
    };
    let (plan, in_step) = (build(), build());
    let own = vec![0.1; 100 * width];
    let mut row = vec![0.0; width];
    let mut columns = vec![0.0; plan.scattered_columns().len()];
    let mut prefixes = vec![0.0; own.len()];
    let mut ignored = vec![0.0; width];
    let mut run_all = || {
        plan.allreduce_into(&own, &mut row).unwrap();
        plan.reduce_into(&own, &mut row).unwrap();
        in_step.allreduce_into(&own, &mut ignored).unwrap();
        plan.reduce_scatter(&own, &mut columns).unwrap();
        in_step.allreduce_into(&own, &mut ignored).unwrap();
        plan.scan(&own, &mut prefixes).unwrap();
        in_step.allreduce_into(&own, &mut ignored).unwrap();
        plan.broadcast(&mut row).unwrap();
        in_step.allreduce_into(&own, &mut ignored).unwrap();
        plan.start_allreduce_row(&own)
            .unwrap()
            .wait_into(&mut row)
            .unwrap();
    };
    // The first runs compile, and the mailboxes grow.
    for _ in 0..20 {
        run_all();
    }
    // If the system has stopped a rank for a while, waiting messages need memory. A run that itself allocates does so every time.
    let counts = [(); 3].map(|()| {
        let before = allocations();
        for _ in 0..5 {
            run_all();
        }
        allocations() - before
    });
    assert!(
        counts.contains(&0),
        "{algorithm}, width {width}, rank {}: {counts:?}",
        world.rank()
    );
}
