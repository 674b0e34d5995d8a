//! Simulates a schedule on a machine of given costs, message by message.
//!
//! A message begins when both ends have reached its step, as under synchronous sends. For b bytes, it takes alpha + beta b on its
//! link. A step ends once its last message has arrived and the rank's port has had time for all its messages. Then the rank
//! combines the b bytes that it received, which takes gamma b.

mod events;
mod machine;
mod outcome;
mod sizes;
mod symmetry;

use std::ops::Range;

use self::events::Events;
pub use self::machine::{Machine, Placement, SharedPort};
pub use self::outcome::{Flight, Simulation};
use self::sizes::Sizes;
use self::symmetry::by_symmetry;
use crate::catalogue::{Algorithm, Schedule};
use crate::vocabulary::Collective;

/// The largest number of ranks for which [`simulate`] runs the programs of all ranks even if each program grows with p.
pub const SYMMETRY_RANKS: usize = 4096;

/// The time that `schedule` takes on `machine` for rows of `row_bytes`.
///
/// `rows(range)` returns the number of rows that a message carries for a range of positions: the number of nodes in the fragment of their
/// items.
///
/// The programs of an allreduce by `direct`, `ring`, `circulant`, `rabenseifner` or `reduce-scatter-gather` grow with p. For more than
/// [`SYMMETRY_RANKS`] ranks, [`simulate_by_symmetry`] simulates such an allreduce.
///
/// # Panics
/// If ranks wait for each other in a cycle; [`check`](crate::check()) finds such cycles.
#[must_use]
pub fn simulate(
    schedule: &Schedule,
    machine: &Machine,
    row_bytes: f64,
    rows: &dyn Fn(Range<usize>) -> u64,
) -> Simulation {
    let algorithm = schedule.algorithm();
    let is_quadratic = (algorithm == Algorithm::Direct || algorithm.has_block_per_position())
        && schedule.collective() == Collective::Allreduce;
    if is_quadratic && schedule.ranks() > SYMMETRY_RANKS {
        simulate_by_symmetry(schedule, machine, row_bytes, rows)
    } else {
        let sizes = Sizes::new(schedule, row_bytes, rows);
        Events::new(schedule, machine, &sizes).simulate(&mut |_| {})
    }
}

/// Like [`simulate`], for a reduction that keeps no order: a message carries one row per column block, whichever positions it reduces.
///
/// All ranks' programs run, for any p.
///
/// # Panics
/// Those of [`simulate`].
#[must_use]
pub fn simulate_unordered(schedule: &Schedule, machine: &Machine, row_bytes: f64) -> Simulation {
    let sizes = Sizes::new(schedule, row_bytes, &|_| 1).unordered();
    Events::new(schedule, machine, &sizes).simulate(&mut |_| {})
}

/// The messages of a simulation, in unspecified order. All ranks' programs run, for any p.
///
/// # Panics
/// Those of [`simulate`].
#[must_use]
pub fn flights(
    schedule: &Schedule,
    machine: &Machine,
    row_bytes: f64,
    rows: &dyn Fn(Range<usize>) -> u64,
) -> Vec<Flight> {
    let sizes = Sizes::new(schedule, row_bytes, rows);
    let mut flights = Vec::new();
    Events::new(schedule, machine, &sizes).simulate(&mut |flight| flights.push(flight));
    flights
}

/// Like [`simulate`], but runs only rank 0's program, for any p.
///
/// The result is exact if all messages of a round have the same length and no port is shared.
#[must_use]
pub fn simulate_by_symmetry(
    schedule: &Schedule,
    machine: &Machine,
    row_bytes: f64,
    rows: &dyn Fn(Range<usize>) -> u64,
) -> Simulation {
    let sizes = Sizes::new(schedule, row_bytes, rows);
    by_symmetry(schedule, machine, &sizes)
}
