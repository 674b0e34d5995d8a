//! `ReproRed`'s contexts, which are implemented with plans.

use std::cell::Cell;
use std::env;
use std::fs;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use treefold::{Plan, Sum, World};
use treefold_c::failure::Failure;

use crate::failure::{of_build, of_run};
use crate::handle::handle;

handle!(
    /// `ReductionContext`: a plan, and the buffer of this rank's numbers.
    pub ReductionContext, Context, 5, "context"
);

/// The environment variable by which `ReproRed` chooses an order.
const MODE_VARIABLE: &str = "REPR_REDUCE";

/// The values of `REPR_REDUCE` that mean tree order, which is treefold's order.
const TREE_MODES: [&str; 2] = ["BINARY_TREE", "DUAL_TREE"];

/// The environment variable that names the rank to be debugged.
const DEBUG_VARIABLE: &str = "DEBUG_MPI_RANK";

/// The pause between two checks for a debugger.
const DEBUGGER_PAUSE: Duration = Duration::from_millis(100);

/// How many reductions this process has run.
static REDUCTIONS: AtomicU64 = AtomicU64::new(0);

/// A rank's numbers. Between calls, the program may read and write them at any time, through a pointer.
pub(crate) struct Buffer(pub(crate) Box<[Cell<f64>]>);

impl Buffer {
    /// A buffer of `count` zeros.
    pub(crate) fn new(count: usize) -> Self {
        Self(vec![Cell::new(0.0); count].into())
    }

    /// The address of the numbers.
    pub(crate) fn pointer(&self) -> *mut f64 {
        self.0.as_ptr().cast_mut().cast()
    }
}

/// A sum over ranks.
pub(crate) struct Context {
    plan: Plan<f64, Sum>,
    buffer: Buffer,
}

impl Context {
    /// Creates a context in which this rank has the numbers `start..start + count`. Collective.
    pub(crate) fn new(world: &World, start: i32, count: i32) -> Result<Self, Failure> {
        tell_order(world);
        let number = |name, value: i32| {
            let reason = |_| Failure::argument(name, format_args!("{value} is negative"));
            u64::try_from(value).map_err(reason)
        };
        let start = number("global_start_idx", start)?;
        let count = number("local_summands", count)?;
        let range = start..start + count;
        let plan = Plan::builder(world)
            .extents(&[range])
            .build()
            .map_err(|error| of_build(&error))?;
        let buffer = Buffer::new(usize::try_from(count).expect("it was an int"));
        Ok(Self { plan, buffer })
    }

    /// This rank's numbers.
    pub(crate) fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The sum of all ranks' numbers. Collective.
    pub(crate) fn reduce(&self, numbers: &[f64]) -> Result<f64, Failure> {
        REDUCTIONS.fetch_add(1, Ordering::Relaxed);
        self.plan.allreduce(numbers).map_err(|error| of_run(&error))
    }
}

/// How many reductions this process has run.
pub(crate) fn reductions() -> u64 {
    REDUCTIONS.load(Ordering::Relaxed)
}

/// Prints a line once, on rank 0, if the environment requests another order than tree order.
fn tell_order(world: &World) {
    thread_local! {
        static IS_REPORTED: Cell<bool> = const { Cell::new(false) };
    }
    let is_reported = IS_REPORTED.with(|reported| reported.replace(true));
    let Ok(mode) = env::var(MODE_VARIABLE) else {
        return;
    };
    // Empty means unset.
    let is_another = !mode.is_empty() && !TREE_MODES.contains(&mode.as_str());
    if !is_reported && world.rank() == 0 && is_another {
        let mode = mode.escape_debug();
        eprintln!("treefold: {MODE_VARIABLE}={mode}: treefold's tree order is used instead");
    }
}

/// The rank of MPI_COMM_WORLD that waits for a debugger, if any.
pub(crate) fn debugged_rank() -> Option<usize> {
    env::var(DEBUG_VARIABLE).ok()?.parse().ok()
}

/// Waits until a debugger is attached to this process.
pub(crate) fn await_debugger() {
    eprintln!("treefold: process {} waits for a debugger", process::id());
    while !is_traced() {
        thread::sleep(DEBUGGER_PAUSE);
    }
}

/// Whether a debugger is attached, according to Linux. True on other systems, so that the process does not wait.
fn is_traced() -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else {
        return true;
    };
    let tracer = status
        .lines()
        .find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_none_or(|id| id.trim() != "0")
}
