//! Compares each rank's result with the expected one, and shrinks failing cases.

use reduce::Operation;

use super::case::{Case, FaultKind, Own, Trait};
use super::element::with_kind;
use super::slot::Outcome;
use super::vocabulary::{Action, Mode, PlanState, Step};
use super::{exact, keyed, tree};

/// Judges the ranks' outcomes: for each rank, a list with an outcome for each of its steps. Returns the failure, if any.
pub(super) fn judge(case: &Case, outcomes: &[Vec<Outcome>]) -> Option<String> {
    let mut ranks = outcomes.iter().enumerate();
    let wrong = ranks.find_map(|(rank, outcomes)| {
        let mut judge = Judge::new(case, rank);
        let wrong = outcomes.iter().find_map(|outcome| judge.next(outcome));
        wrong.or_else(|| judge.end())
    });
    wrong.or_else(|| disagreement(case, outcomes))
}

/// Checks that all ranks got the same reason why a plan cannot be built.
fn disagreement(case: &Case, outcomes: &[Vec<Outcome>]) -> Option<String> {
    let fault = case.fault_that(Trait::DetectedAtOnce)?;
    let step = fault.step;
    let mut texts = outcomes.iter().filter_map(|given| given.get(step)?.text());
    let first = texts.next()?;
    let other = texts.find(|&text| text != first)?;
    Some(format!(
        "step {step}: `{first}`, and on another rank `{other}`"
    ))
}

/// The flaw of an error's text, if it has one: control characters, an internal term, or a plural after the number 1.
fn flaw(text: &str) -> Option<&'static str> {
    const PARTS: [&str; 2] = ["Tag(", "18446744073709551615"];
    const PLURALS: [&str; 5] = ["1 ranks", "1 items", "1 elements", "1 values", "1 bytes"];
    let is_one =
        |at: usize| !text[..at].ends_with(|before: char| before.is_ascii_digit() || before == '.');
    let plural = |part: &&str| text.match_indices(*part).any(|(at, _)| is_one(at));
    let mut parts = PARTS.into_iter().filter(|part| text.contains(part));
    match parts.next() {
        _ if text.chars().any(char::is_control) => Some("control characters"),
        None => PLURALS.into_iter().find(plural),
        part => part,
    }
}

/// Judges the outcomes of one rank, step by step.
///
/// Without a fault, every outcome must be the expected one. With a fault, an error is allowed from the fault's step on.
#[derive(Debug)]
pub(super) struct Judge<'c> {
    case: &'c Case,
    rank: usize,
    step: usize,
    states: Vec<PlanState>,
    /// The first step that may fail.
    first_fault: usize,
}

impl<'c> Judge<'c> {
    /// A judge before the rank's first step.
    #[must_use]
    pub(super) fn new(case: &'c Case, rank: usize) -> Self {
        Self {
            case,
            rank,
            step: 0,
            states: vec![PlanState::Unbuilt; case.plans.len()],
            first_fault: match case.harm() {
                None => case.steps.len(),
                // The fault ends the job, so any rank may end at any step.
                Some(fault) if fault.kind.is(Trait::EndsJob) => 0,
                Some(fault) => fault.step,
            },
        }
    }

    /// Judges the next step's outcome. Returns the failure, if any.
    pub(super) fn next(&mut self, outcome: &Outcome) -> Option<String> {
        let (rank, index) = (self.rank, self.step);
        let expected = self.advance();
        let fault = self.case.fault;
        let is_faulty = fault.is_some_and(|fault| (fault.rank, fault.step) == (rank, index));
        let detected = self.case.fault_that(Trait::DetectedAtOnce);
        let is_detected = detected.is_some_and(|fault| fault.step == index);
        let is_late = self.end_of(index) >= self.first_fault;
        if let Some(flaw) = outcome.text().and_then(flaw) {
            return Some(format!(
                "rank {rank}, step {index}: {flaw:?} in {outcome:?}"
            ));
        }
        let is_right = match outcome {
            // Each rank reports the error of its own environment.
            Outcome::Failed(text) if self.rounds_everywhere(index) => {
                text.starts_with(&format!("rank {rank}: ")) && text.contains("this thread")
            }
            Outcome::Failed(_) => is_late,
            // An error must not name a rank without a fault, unless that rank may be silent: after a fault, ranks that have ended their program
            // wait in the MPI library until the next one begins.
            Outcome::Silent(_, peers) => {
                let mut others = peers.clone().filter(|&peer| {
                    fault.is_none_or(|fault| fault.rank != peer && fault.kind == FaultKind::Silence)
                });
                is_late && others.next().is_none()
            }
            // A rank that notifies others of its fault leaves none waiting.
            Outcome::Deadlock(_) => is_late && self.case.fault_that(Trait::NotifiesRanks).is_none(),
            // A plan has a run under way only if the program has not waited for it.
            Outcome::UnderWay => {
                let fault = fault.map(|fault| (fault.kind, fault.rank));
                is_late && fault == Some((FaultKind::Skip, rank))
            }
            Outcome::Endless => false,
            // In this step, only ranks without a result may have no error.
            Outcome::Nothing if self.rounds_everywhere(index) => *outcome == expected,
            Outcome::Nothing | Outcome::Value(_) if is_detected => false,
            // The faulty step may give no result.
            Outcome::Nothing => is_faulty || *outcome == expected,
            Outcome::Value(_) => *outcome == expected,
        };
        let step = self.case.steps[index];
        (!is_right).then(|| {
            let wanted = match (is_detected, outcome.difference(&expected)) {
                (true, _) => "an error".to_owned(),
                (false, None) => format!("{expected:?}"),
                (false, Some(byte)) => format!("{expected:?}, from byte {byte} on"),
            };
            format!("rank {rank}, step {index}, {step:?}: {outcome:?}, not {wanted}")
        })
    }

    /// Judges the rank's end after the steps so far. Returns the failure, if any.
    #[must_use]
    pub(super) fn end(&self) -> Option<String> {
        let steps = self.case.steps.len();
        let is_early = self.step < steps && self.first_fault == steps;
        is_early.then(|| format!("rank {} ended at step {}", self.rank, self.step))
    }

    /// Whether the processors of all ranks round up in a step.
    fn rounds_everywhere(&self, step: usize) -> bool {
        let fault = self.case.fault;
        fault.is_some_and(|fault| (fault.kind, fault.step) == (FaultKind::AllRounding, step))
    }

    /// Advances to the next step and updates the state of its plan. Returns the expected outcome.
    fn advance(&mut self) -> Outcome {
        let Self {
            case, rank, step, ..
        } = *self;
        let (plan, action) = (case.steps[step].plan, case.action(rank, step));
        let expected = match (self.states[plan], action) {
            (_, Action::Call(operation, Mode::Blocking)) => Some((operation, step)),
            (_, Action::Rebuild(_)) => Some((Operation::Allreduce, step)),
            (PlanState::InFlight { operation, start }, Action::Wait) => Some((operation, start)),
            _ => None,
        };
        let after = self.states[plan].after(step, action);
        self.states[plan] =
            after.expect("every step of a case finds its plan in a state that allows it");
        self.step += 1;
        expected.map_or(Outcome::Nothing, |(operation, step)| {
            case.own(plan, rank)
                .expected(operation, case.items_step(step))
        })
    }

    /// The last step at which a fault can make this step fail: for a test, the wait for its run. A test of a cancelled run may always fail.
    fn end_of(&self, index: usize) -> usize {
        let Step { plan, action } = self.case.steps[index];
        if action != Action::Test {
            return index;
        }
        let mut later = self.case.steps.iter().enumerate().skip(index + 1);
        match later.find(|(_, step)| step.plan == plan && step.action != Action::Test) {
            Some((index, step)) if step.action == Action::Wait => index,
            _ => usize::MAX,
        }
    }
}

/// Shrinks a failing case: leaves out the fault and steps as long as the case still fails. Returns the case and its failure.
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

/// Smaller cases: without the fault, without a single step, or without a whole run, from its start to its end.
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

/// The steps of the run that begins at a step; if none does, the step alone.
fn run_from(case: &Case, start: usize) -> Vec<usize> {
    let Step { plan, action } = case.steps[start];
    if !matches!(action, Action::Call(_, Mode::Split)) {
        return vec![start];
    }
    let mut run = vec![start];
    let later = case.steps.iter().enumerate().skip(start + 1);
    for (index, step) in later.filter(|(_, step)| step.plan == plan) {
        if matches!(step.action, Action::Test | Action::Wait) {
            run.push(index);
        }
        if step.action != Action::Test {
            break;
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

impl Own {
    /// The expected result of a call with a step's items.
    pub(super) fn expected(&self, operation: Operation, step: usize) -> Outcome {
        let columns = match operation {
            Operation::Reduce if self.rank != self.spec.root => return Outcome::Nothing,
            Operation::ReduceScatter => self.columns_of(self.rank),
            _ => 0..self.spec.width,
        };
        Outcome::Value(with_kind!(
            self.spec.kind,
            [tree::expected, exact::expected, keyed::expected],
            (self, operation, step, columns)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::{Judge, Outcome, flaw};
    use crate::Backend;
    use crate::campaign::{FaultKind, Generator};

    #[test]
    fn texts_that_no_error_may_have() {
        for (text, is_bad) in [
            ("rank 1: 11 ranks, 1 item", false),
            ("the root 1 is silent", false),
            ("0.1 items", false),
            ("has 1 ranks", true),
            ("a\tb", true),
            ("Tag(1, turn 1)", true),
            ("for 18446744073709551615 elements", true),
        ] {
            assert_eq!(flaw(text).is_some(), is_bad, "{text}");
        }
    }

    /// A rank named in an error must have a fault.
    #[test]
    fn no_rank_without_a_fault_is_blamed() {
        let generator = Generator::new(Backend::Mpi, None, &[FaultKind::Silence]);
        let mut cases = (0..100).map(|seed| generator.case(seed));
        let case = cases.find(|case| case.fault.is_some_and(|fault| fault.step == 0));
        let case = case.expect("some of many cases begin with a fault");
        let rank = case.fault.map_or(0, |fault| fault.rank);
        let is_right = |peers| {
            let silent = Outcome::Silent("rank 0: nothing came".to_owned(), peers);
            Judge::new(&case, 0).next(&silent).is_none()
        };
        assert!(is_right(0..0) && is_right(rank..rank + 1));
        assert!(!is_right(rank + 1..rank + 2) && !is_right(0..case.ranks));
    }
}
