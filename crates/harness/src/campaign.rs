//! Random programs over random worlds, with faults at random points, judged by the definition of the order.
//!
//! A [`Case`] is drawn from a seed: plans, and the collective calls that all ranks make on them. [`execute`] runs it on the ranks of
//! a world, and [`judge`] compares what every rank got with the recursive definition over all items. On threads, the same seed
//! also draws the order in which ranks run and messages arrive, so a seed replays a case exactly.

mod case;
mod element;
mod execute;
mod expected;
mod generate;
mod shrink;
mod slot;

use std::panic;
use std::sync::Mutex;

use reduce::threads;

pub use case::{Action, Case, Fault, FaultKind, Kind, Mode, Outcome, Spec, Step};
pub use execute::execute;
pub use expected::judge;
pub use generate::generate;
pub use shrink::shrink;

/// Runs a case on threads, one at a time in the order that its seed draws, and returns what is wrong with it, if anything is.
pub fn check_on_threads(case: &Case) -> Option<String> {
    let outcomes = Mutex::new(vec![Vec::new(); case.ranks]);
    let ended = threads::run_seeded(case.ranks, case.seed, |world| {
        execute(case, world, &|outcome| {
            let mut outcomes = outcomes.lock().expect("nothing panics while it is locked");
            outcomes[world.rank()].push(outcome);
        });
    });
    let may_panic = case
        .fault
        .is_some_and(|fault| fault.kind == FaultKind::Panic);
    if let Err(error) = ended
        && !may_panic
    {
        return Some(format!("the job failed: {error}"));
    }
    let outcomes = outcomes
        .into_inner()
        .expect("nothing panics while it is locked");
    judge(case, &outcomes)
}

/// Silences the messages of panics that a campaign causes on purpose.
pub fn silence_panics() {
    panic::set_hook(Box::new(|_| {}));
}
