//! What every rank must get, by the recursive definition of the order over all items.

use std::ops::Range;

use reduce::{Operation, Operator};

use super::case::{Action, Case, FaultKind, Mode, Outcome, Spec, Step};
use super::element::{Element, rows, with_kind};
use super::state::PlanState;

/// What is wrong with what the ranks got, if anything is: a list for each rank, with an outcome for each of its steps.
///
/// Without a fault, every outcome is the expected one. With a fault, an error may stand in its place from the fault's step on.
pub fn judge(case: &Case, outcomes: &[Vec<Outcome>]) -> Option<String> {
    let first_fault = match case.fault {
        None => case.steps.len(),
        // A panic ends the job on every rank, wherever it is.
        Some(fault) if fault.kind == FaultKind::Panic => 0,
        Some(fault) => fault.step,
    };
    for (rank, outcomes) in outcomes.iter().enumerate() {
        let may_end = case.fault.is_some();
        if outcomes.len() != case.steps.len() && !may_end {
            return Some(format!("rank {rank} ended at step {}", outcomes.len()));
        }
        let mut states = vec![PlanState::Unbuilt; case.plans.len()];
        for (index, outcome) in outcomes.iter().enumerate() {
            let is_faulty = case
                .fault
                .is_some_and(|fault| (fault.rank, fault.step) == (rank, index));
            let expected = advance(&mut states, case, index, rank);
            let is_right = match outcome {
                Outcome::Failed(_) => end(case, index) >= first_fault,
                // What the faulty call returns instead of a value is its own affair.
                Outcome::Nothing => is_faulty || *outcome == expected,
                Outcome::Value(_) => *outcome == expected,
            };
            if !is_right {
                let step = case.steps[index];
                return Some(format!(
                    "rank {rank}, step {index}, {step:?}: {outcome:?}, not {expected:?}"
                ));
            }
        }
    }
    None
}

/// The last step whose fault can make a step fail: for a test, the wait for the run. A run that is given up may fail without one.
fn end(case: &Case, index: usize) -> usize {
    let Step { plan, action } = case.steps[index];
    if action != Action::Test {
        return index;
    }
    let mut later = case.steps.iter().enumerate().skip(index + 1);
    match later.find(|(_, step)| step.plan == plan && step.action != Action::Test) {
        Some((index, step)) if step.action == Action::Wait => index,
        _ => usize::MAX,
    }
}

/// What a step gives on a rank, and what it makes of its plan's state.
fn advance(states: &mut [PlanState], case: &Case, index: usize, rank: usize) -> Outcome {
    let Step { plan, action } = case.steps[index];
    let expected = match (states[plan], action) {
        (_, Action::Call(operation, Mode::Blocking)) => Some((operation, index)),
        (PlanState::InFlight { operation, start }, Action::Wait) => Some((operation, start)),
        _ => None,
    };
    let after = states[plan].after(index, action);
    states[plan] = after.expect("every step of a case finds its plan in a state that allows it");
    expected.map_or(Outcome::Nothing, |(operation, step)| {
        case.plans[plan].expected(operation, case.seed, step, rank)
    })
}

impl Spec {
    /// N, the number of items.
    pub(super) fn items(&self) -> u64 {
        let own = self.extents.iter().flatten();
        own.fold(0, |items, range| items + (range.end - range.start))
    }

    /// What a call with a step's items gives on a rank.
    fn expected(&self, operation: Operation, seed: u64, step: usize, rank: usize) -> Outcome {
        with_kind!(self.kind, expected_of(self, operation, seed, step, rank))
    }
}

fn expected_of<T: Element, O: Operator<T>>(
    operator: O,
    spec: &Spec,
    operation: Operation,
    seed: u64,
    step: usize,
    rank: usize,
) -> Outcome {
    let (items, width, ranks) = (spec.items(), spec.width, spec.extents.len());
    let all = rows::<T>(items, width, seed, step);
    let row_of = |rows: &[T], column: usize| -> T {
        let column: Vec<T> = rows.iter().skip(column).step_by(width).copied().collect();
        let combine = |left, right| operator.combine(left, right);
        let total = simd_kernels::by_definition(&column, &combine).or(operator.empty());
        operator
            .canonical(total.expect("nothing is reduced by operators with an empty value alone"))
    };
    let total =
        |columns: Range<usize>| -> Vec<T> { columns.map(|column| row_of(&all, column)).collect() };
    let values = match operation {
        Operation::Reduce if rank != spec.root => return Outcome::Nothing,
        Operation::Reduce | Operation::Allreduce => total(0..width),
        Operation::ReduceScatter => total(columns(width, ranks, rank)),
        Operation::Scan | Operation::Exscan => {
            let own = spec.extents[rank].iter().cloned().flatten();
            let end = |item: u64| match operation {
                Operation::Scan => item + 1,
                _ => item,
            };
            let index = |item: u64| usize::try_from(item).expect("the items are in memory") * width;
            own.flat_map(|item| {
                let before = &all[..index(end(item))];
                (0..width).map(move |column| (before, column))
            })
            .map(|(before, column)| row_of(before, column))
            .collect()
        }
        _ => rows(1, width, seed, step),
    };
    Outcome::Value(bytemuck::cast_slice(&values).to_vec())
}

/// A rank's columns of a reduce-scatter: the first `width` mod p ranks have one more.
fn columns(width: usize, ranks: usize, rank: usize) -> Range<usize> {
    let start = |rank: usize| width / ranks * rank + (width % ranks).min(rank);
    start(rank)..start(rank + 1)
}
