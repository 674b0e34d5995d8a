//! Cases from seeds.

use std::ops::Range;

use reduce::{Algorithm, Operation};

use super::case::{Action, Case, Fault, FaultKind, Kind, Mode, Spec, Step};
use super::state::PlanState;
use crate::Backend;
use crate::data::Random;

/// The most plans of a case.
const PLANS_MAX: usize = 3;

/// The most steps of a case, besides the first building of its plans.
const STEPS_MAX: usize = 12;

/// A case for a backend; the same for the same seed. `faults` are those that may be put in: one of them is, in half of the cases.
#[must_use]
pub fn generate(seed: u64, backend: Backend, ranks_max: usize, faults: &[FaultKind]) -> Case {
    let random = &mut Dice(Random::new(seed));
    let ranks = 1 + random.below(ranks_max);
    let plans: Vec<Spec> = (0..1 + random.below(PLANS_MAX))
        .map(|_| random.spec(backend, ranks))
        .collect();
    let mut program = Program {
        plans: &plans,
        states: vec![PlanState::Unbuilt; plans.len()],
        steps: Vec::new(),
    };
    for plan in 0..plans.len() {
        program.push(plan, Action::Build);
    }
    for _ in 0..1 + random.below(STEPS_MAX) {
        let plan = random.below(plans.len());
        let action = program.action(random, plan);
        program.push(plan, action);
    }
    for plan in 0..plans.len() {
        if let PlanState::InFlight { .. } = program.states[plan] {
            program.push(plan, Action::Wait);
        }
    }
    let steps = program.steps;
    let fault = match !faults.is_empty() && random.below(2) == 0 {
        true => {
            let kind = *random.one_of(faults);
            random.fault(kind, ranks, &plans, &steps)
        }
        false => None,
    };
    let seed = random.0.word();
    Case {
        ranks,
        seed,
        plans,
        steps,
        fault,
    }
}

/// A program as it grows, and what state its plans are in.
struct Program<'p> {
    plans: &'p [Spec],
    states: Vec<PlanState>,
    steps: Vec<Step>,
}

impl Program<'_> {
    fn push(&mut self, plan: usize, action: Action) {
        let after = self.states[plan].after(self.steps.len(), action);
        self.states[plan] = after.expect("actions are drawn from those that the plan allows");
        self.steps.push(Step { plan, action });
    }

    /// What can be done with a plan now.
    fn action(&self, random: &mut Dice, plan: usize) -> Action {
        match self.states[plan] {
            PlanState::Unbuilt => Action::Build,
            PlanState::InFlight { .. } => match random.below(8) {
                0 => Action::GiveUp,
                1 => Action::Drop,
                2..5 => Action::Test,
                _ => Action::Wait,
            },
            PlanState::Ready => match random.below(10) {
                0 => Action::Build,
                1 => Action::Drop,
                _ => {
                    let calls = self.plans[plan].calls();
                    let (operation, mode) = *random.one_of(&calls);
                    Action::Call(operation, mode)
                }
            },
        }
    }
}

impl Spec {
    /// The calls that the plan offers.
    fn calls(&self) -> Vec<(Operation, Mode)> {
        let is_scheduled = self.algorithm.is_none_or(Algorithm::is_scheduled);
        let has_empty = self.kind != Kind::MaxI64;
        let mut calls = Vec::new();
        for &operation in Operation::ALL {
            let is_reduction = matches!(operation, Operation::Reduce | Operation::Allreduce);
            if !(is_scheduled || is_reduction) || (operation == Operation::Exscan && !has_empty) {
                continue;
            }
            calls.push((operation, Mode::Blocking));
            if is_scheduled && operation != Operation::Broadcast {
                calls.push((operation, Mode::Split));
            }
        }
        calls
    }
}

/// Draws parts of a case.
struct Dice(Random);

impl Dice {
    /// A number in 0..bound.
    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.0.below(bound as u64)).expect("it is below a usize")
    }

    fn one_of<'c, C>(&mut self, choices: &'c [C]) -> &'c C {
        &choices[self.below(choices.len())]
    }

    /// A fault at one of the steps where it can happen, if there are such steps.
    fn fault(
        &mut self,
        kind: FaultKind,
        ranks: usize,
        plans: &[Spec],
        steps: &[Step],
    ) -> Option<Fault> {
        let is_split = |step: &Step, operation| {
            let calls = plans[step.plan].calls();
            calls.contains(&(operation, Mode::Split))
        };
        let suits = |step: &Step| match (kind, step.action) {
            (FaultKind::Leave | FaultKind::Panic | FaultKind::Skip, _) => true,
            (FaultKind::CaughtPanic | FaultKind::WrongLength, Action::Call(..)) => true,
            (FaultKind::GiveUp, Action::Call(operation, _)) => is_split(step, operation),
            (FaultKind::GiveUp, Action::Wait) => true,
            _ => false,
        };
        let suiting: Vec<usize> = (0..steps.len())
            .filter(|&step| suits(&steps[step]))
            .collect();
        (!suiting.is_empty()).then(|| Fault {
            rank: self.below(ranks),
            step: *self.one_of(&suiting),
            kind,
        })
    }

    fn spec(&mut self, backend: Backend, ranks: usize) -> Spec {
        let kind = *self.one_of(Kind::ALL);
        let algorithms: Vec<Algorithm> = Algorithm::all()
            .filter(|&algorithm| algorithm != Algorithm::MpiNative || backend == Backend::Mpi)
            .collect();
        let algorithm = (self.below(4) > 0).then(|| *self.one_of(&algorithms));
        let is_scheduled = algorithm.is_none_or(Algorithm::is_scheduled);
        let width = match self.below(3) {
            _ if algorithm.is_some_and(|algorithm| !algorithm.takes_rows()) => 1,
            0 => 1 + self.below(5),
            // Long rows are reduced where they lie.
            1 if self.below(4) == 0 => 256 + self.below(200),
            _ => 1,
        };
        let items = match (kind, self.below(8)) {
            (Kind::MaxI64, 0) => 1,
            (_, 0) => 0,
            (_, 1) => 1,
            _ if width > 100 => 1 + self.below(20),
            _ => 1 + self.below(120),
        };
        let is_scattered = is_scheduled && self.below(3) == 0;
        Spec {
            kind,
            extents: match is_scattered {
                true => self.scattered(items as u64, ranks),
                false => self.contiguous(items as u64, ranks),
            },
            gathers_extents: self.below(2) == 0,
            width,
            algorithm,
            root: self.below(ranks),
            message_limit: (self.below(6) == 0).then(|| 1 + self.below(4)),
            blocks: (self.below(4) == 0).then(|| 1 + self.below(width)),
        }
    }

    /// Ranges in rank order, some of them empty.
    fn contiguous(&mut self, items: u64, ranks: usize) -> Vec<Vec<Range<u64>>> {
        let mut boundaries: Vec<u64> = (1..ranks).map(|_| self.0.below(items + 1)).collect();
        boundaries.extend([0, items]);
        boundaries.sort_unstable();
        let ranges = boundaries.windows(2).map(|ends| ends[0]..ends[1]);
        ranges
            .map(|range| Vec::from_iter((!range.is_empty()).then_some(range)))
            .collect()
    }

    /// Some ranges a rank, anywhere.
    fn scattered(&mut self, items: u64, ranks: usize) -> Vec<Vec<Range<u64>>> {
        let mut extents = vec![Vec::new(); ranks];
        let mut start = 0;
        while start < items {
            let end = items.min(start + 1 + self.0.below(items.div_ceil(ranks as u64) + 1));
            let own = &mut extents[self.below(ranks)];
            let place = self.below(own.len() + 1);
            own.insert(place, start..end);
            start = end;
        }
        extents
    }
}
