//! Running a case on a rank.

use std::panic::{AssertUnwindSafe, catch_unwind};

use reduce::{Operation, World};

use super::case::{Action, Case, FaultKind, Mode, Outcome, Step};
use super::element::set_panics;
use super::slot::{Slot, build};

/// Runs a case on this rank, and hands over what every step gave. Collective.
///
/// # Panics
/// The case says so.
pub fn execute(case: &Case, world: &World, report: &dyn Fn(Outcome)) {
    let mut slots: Vec<Option<Box<dyn Slot>>> = Vec::new();
    slots.resize_with(case.plans.len(), || None);
    for (index, &step) in case.steps.iter().enumerate() {
        let here = |rank, at| (rank, at) == (world.rank(), index);
        let fault = case.fault.filter(|fault| here(fault.rank, fault.step));
        let mut run = |surplus| execute_step(case, world, &mut slots, index, surplus);
        match fault.map(|fault| fault.kind) {
            None => report(run(0)),
            Some(FaultKind::WrongLength) => report(run(1)),
            Some(FaultKind::Leave) => return,
            Some(FaultKind::Panic) => panic!("a rank that panics on purpose"),
            Some(FaultKind::Skip) => report(Outcome::Nothing),
            Some(FaultKind::CaughtPanic) => {
                set_panics(true);
                let caught = catch_unwind(AssertUnwindSafe(|| run(0)));
                set_panics(false);
                report(caught.unwrap_or_else(|_| Outcome::Failed("a caught panic".to_owned())));
            }
            Some(FaultKind::GiveUp) => {
                let started = match step.action {
                    Action::Call(operation, _) => start(&mut slots[step.plan], operation, index),
                    _ => Outcome::Nothing,
                };
                if let Some(slot) = &mut slots[step.plan] {
                    slot.give_up();
                }
                report(started);
            }
        }
    }
}

fn start(slot: &mut Option<Box<dyn Slot>>, operation: Operation, step: usize) -> Outcome {
    match slot {
        Some(slot) => slot.start(operation, step, 0),
        None => Outcome::Failed("there is no plan".to_owned()),
    }
}

/// What a step gives. Without its plan, which could not be built, it fails.
fn execute_step(
    case: &Case,
    world: &World,
    slots: &mut [Option<Box<dyn Slot>>],
    index: usize,
    surplus: usize,
) -> Outcome {
    let Step { plan, action } = case.steps[index];
    let slot = &mut slots[plan];
    if action == Action::Build {
        *slot = None;
        return match build(&case.plans[plan], case.seed, world) {
            Ok(built) => {
                *slot = Some(built);
                Outcome::Nothing
            }
            Err(error) => Outcome::Failed(error),
        };
    }
    let Some(built) = slot else {
        return Outcome::Failed("there is no plan".to_owned());
    };
    match action {
        Action::Build => unreachable!("it is built above"),
        Action::Call(operation, Mode::Blocking) => built.call(operation, index, surplus),
        Action::Call(operation, Mode::Split) => built.start(operation, index, surplus),
        Action::Test => built.test(),
        Action::Wait => built.wait(),
        Action::GiveUp => {
            built.give_up();
            Outcome::Nothing
        }
        Action::Drop => {
            *slot = None;
            Outcome::Nothing
        }
    }
}
