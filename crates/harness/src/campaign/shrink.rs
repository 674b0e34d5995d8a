//! A failing case made smaller.

use super::case::{Action, Case, Mode};

/// The smallest case that still fails and is like this one, with steps and the fault left out as far as they do not matter.
#[must_use]
pub fn shrink(case: &Case, fails: impl Fn(&Case) -> bool) -> Case {
    let mut smallest = case.clone();
    loop {
        let smaller = candidates(&smallest).into_iter();
        let smaller = smaller.filter(is_sound).find(|case| fails(case));
        match smaller {
            Some(smaller) => smallest = smaller,
            None => return smallest,
        }
    }
}

/// The case without its fault, and without each of its steps.
fn candidates(case: &Case) -> Vec<Case> {
    let mut candidates = Vec::new();
    if case.fault.is_some() {
        candidates.push(Case {
            fault: None,
            ..case.clone()
        });
    }
    for index in (0..case.steps.len()).rev() {
        let mut smaller = case.clone();
        smaller.steps.remove(index);
        match &mut smaller.fault {
            Some(fault) if fault.step == index => continue,
            Some(fault) if fault.step > index => fault.step -= 1,
            _ => {}
        }
        candidates.push(smaller);
    }
    candidates
}

/// Whether every step finds its plan in a state that allows it.
fn is_sound(case: &Case) -> bool {
    let mut is_built = vec![false; case.plans.len()];
    let mut is_in_flight = is_built.clone();
    for step in &case.steps {
        let (is_built, is_in_flight) = (&mut is_built[step.plan], &mut is_in_flight[step.plan]);
        let (needs_plan, needs_run) = match step.action {
            Action::Build => (false, None),
            Action::Call(..) => (true, Some(false)),
            Action::Test | Action::Wait | Action::GiveUp => (true, Some(true)),
            Action::Drop => (true, None),
        };
        if (needs_plan && !*is_built) || needs_run.is_some_and(|needs| needs != *is_in_flight) {
            return false;
        }
        (*is_built, *is_in_flight) = match step.action {
            Action::Call(_, Mode::Split) | Action::Test => (true, true),
            Action::Build | Action::Wait | Action::Call(_, Mode::Blocking) => (true, false),
            Action::GiveUp | Action::Drop => (false, false),
        };
    }
    true
}
