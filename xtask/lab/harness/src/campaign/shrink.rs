//! A failing case made smaller.

use super::case::Case;
use super::vocabulary::{Action, Mode, PlanState, Step};

/// The smallest case that still fails and is like this one, with steps and the fault left out as far as they do not matter, and why it
/// fails.
pub(super) fn shrink(
    case: Case,
    reason: String,
    mut fails: impl FnMut(&Case) -> Option<String>,
) -> (Case, String) {
    let mut smallest = (case, reason);
    loop {
        let mut smaller = candidates(&smallest.0).into_iter().filter(is_sound);
        let smaller = smaller.find_map(|case| fails(&case).map(|reason| (case, reason)));
        match smaller {
            Some(smaller) => smallest = smaller,
            None => return smallest,
        }
    }
}

/// The case without its fault, and without each of its steps. A run is left out whole, from its start to its end.
fn candidates(case: &Case) -> Vec<Case> {
    let mut candidates = Vec::new();
    if case.fault.is_some() {
        candidates.push(Case {
            fault: None,
            ..case.clone()
        });
    }
    for index in (0..case.steps.len()).rev() {
        candidates.extend(without(case, &[index]));
        candidates.extend(without(case, &run_from(case, index)));
    }
    candidates
}

/// The steps of the run that begins at a step, if one does.
fn run_from(case: &Case, start: usize) -> Vec<usize> {
    let Step { plan, action } = case.steps[start];
    if !matches!(action, Action::Call(_, Mode::Split)) {
        return vec![start];
    }
    let mut run = vec![start];
    let later = case.steps.iter().enumerate().skip(start + 1);
    for (index, step) in later.filter(|(_, step)| step.plan == plan) {
        match step.action {
            Action::Test => run.push(index),
            Action::Wait => {
                run.push(index);
                break;
            }
            _ => break,
        }
    }
    run
}

/// The case without some of its steps, in ascending order; `None` if the fault is at one of them.
fn without(case: &Case, steps: &[usize]) -> Option<Case> {
    let mut smaller = case.clone();
    for &index in steps.iter().rev() {
        smaller.steps.remove(index);
        match &mut smaller.fault {
            Some(fault) if fault.step == index => return None,
            Some(fault) if fault.step > index => fault.step -= 1,
            _ => {}
        }
    }
    Some(smaller)
}

/// Whether every step finds its plan in a state that allows it.
fn is_sound(case: &Case) -> bool {
    let mut states = vec![PlanState::Unbuilt; case.plans.len()];
    let mut steps = case.steps.iter().enumerate();
    steps.all(|(index, &Step { plan, action })| {
        let after = states[plan].after(index, action);
        states[plan] = after.unwrap_or(states[plan]);
        after.is_some()
    })
}
