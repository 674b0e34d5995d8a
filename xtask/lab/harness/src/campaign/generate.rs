//! Generates cases from seeds.

use std::iter;
use std::ops::{Range, RangeInclusive};

use reduce::Algorithm;

use super::case::{Case, Fault, FaultKind, TAGS, Trait};
use super::vocabulary::{Action, Keyed, Kind, Mode, PlanState, Spec, Step};
use crate::data::Random;
use crate::{Backend, Way, scattered};

/// The most plans of a case, besides one that is rebuilt repeatedly.
const PLANS_MAX: usize = 3;

/// The most steps of a case, in addition to building its plans.
const STEPS_MAX: usize = 12;

/// One in this many cases rebuilds a plan repeatedly.
const REBUILD_RARITY: usize = 50;

/// How many times such a repeatedly rebuilt plan is built in a step.
const REBUILDS: Range<u32> = 10..300;

/// Of the cases that draw the fault `tag-reuse`, only one in this many gets it, since it takes a second.
const TAG_REUSE_RARITY: usize = 50;

/// The generator of cases.
#[derive(Clone, Debug)]
pub struct Generator {
    /// The backend that the cases run on.
    pub backend: Backend,
    /// The numbers of ranks of the cases.
    pub ranks: RangeInclusive<usize>,
    /// The faults to inject: half of the cases get one, if it is possible on the backend and suits a step.
    pub faults: Vec<FaultKind>,
}

impl Generator {
    /// A generator of cases with up to `ranks_max` ranks. Under MPI, each case has at least two ranks: a single rank never waits for another.
    #[must_use]
    pub fn new(backend: Backend, ranks_max: Option<usize>, faults: &[FaultKind]) -> Self {
        let (least, most) = match backend {
            Backend::Threads => (1, 9),
            Backend::Mpi => (2, 5),
        };
        Self {
            backend,
            ranks: least..=ranks_max.unwrap_or(most).max(least),
            faults: faults.to_vec(),
        }
    }

    /// Generates the case of a seed. Equal seeds give equal cases.
    #[must_use]
    pub fn case(&self, seed: u64) -> Case {
        let random = &mut Dice(Random::new(seed));
        let kind = self.kind(random);
        let rebuilds = match kind {
            Some(FaultKind::TagReuse) => Some(TAGS..TAGS + TAGS / 5),
            _ => (random.below(REBUILD_RARITY) == 0).then_some(REBUILDS),
        };
        let ranks = match kind {
            // More ranks would take too long.
            Some(FaultKind::TagReuse) => *self.ranks.end().min(&2),
            _ => random.within(&self.ranks),
        };
        let plans_count = 1 + random.below(PLANS_MAX) + usize::from(rebuilds.is_some());
        let is_small = rebuilds.is_some();
        let plans = (0..plans_count).map(|_| random.spec(self.backend, ranks, is_small));
        let plans: Vec<Spec> = plans.collect();
        let steps = ProgramDraft::draw(random, &plans, rebuilds);
        let fault = kind.and_then(|kind| random.fault(kind, ranks, &plans, &steps));
        let fault = fault.filter(|fault| {
            let plan = &plans[steps[fault.step].plan];
            let disagrees = match fault.kind {
                // A single rank cannot disagree with others.
                FaultKind::OtherEmpty | FaultKind::OtherKind => ranks > 1,
                FaultKind::OtherOwnership => plan.other_ownership(fault.rank).is_some(),
                // The rank's later builds may match the others' earlier ones, since exact plans cannot detect that they are for other items.
                FaultKind::Skip => {
                    let alike = plans.iter().filter(|other| other.kind == plan.kind);
                    !plan.kind.is_exact() || alike.count() == 1
                }
                _ => true,
            };
            disagrees && lets_no_library_wait(*fault, &plans, &steps)
        });
        Case {
            ranks,
            seed: random.word(),
            plans,
            steps,
            fault,
        }
    }

    /// Draws the fault of a case, if it gets one.
    fn kind(&self, random: &mut Dice) -> Option<FaultKind> {
        let mut possible = self.faults.clone();
        possible.retain(|kind| kind.is_possible(self.backend));
        if possible.is_empty() || random.below(2) == 0 {
            return None;
        }
        let kind = *random.one_of(&possible);
        let is_rare = kind == FaultKind::TagReuse && possible.len() > 1;
        (!is_rare || random.below(TAG_REUSE_RARITY) == 0).then_some(kind)
    }
}

/// Whether, with this fault, all ranks make every call of the MPI library. The library would wait for a missing rank without limit. Therefore
/// the faulty rank must make all its calls, and no plan that calls the library may be spent on one rank while others run it.
fn lets_no_library_wait(fault: Fault, plans: &[Spec], steps: &[Step]) -> bool {
    let is_harmless = fault.kind.is(Trait::Harmless);
    let is_started = |plan: &Spec| plan.kind == Kind::Started;
    if plans.iter().any(is_started) {
        return is_harmless;
    }
    let is_native = |plan: usize| plans[plan].algorithm == Some(Algorithm::MpiNative);
    if is_harmless || !(0..plans.len()).any(is_native) {
        return true;
    }
    let plan = steps[fault.step].plan;
    let mut later = steps[fault.step + 1..].iter();
    let next = later.find(|step| step.plan == plan);
    let is_run_again = next.is_some_and(|step| step.action != Action::Build);
    let is_last = !is_native(plan) || fault.kind.is(Trait::DetectedAtOnce) || !is_run_again;
    fault.kind.is(Trait::MakesAllCalls) && is_last
}

/// A growing program, and the states of its plans.
struct ProgramDraft<'p> {
    plans: &'p [Spec],
    states: Vec<PlanState>,
    steps: Vec<Step>,
    /// How often the last plan is built in its next step, if it is rebuilt repeatedly.
    rebuilds: Option<Range<u32>>,
}

impl<'p> ProgramDraft<'p> {
    fn draw(random: &mut Dice, plans: &'p [Spec], rebuilds: Option<Range<u32>>) -> Vec<Step> {
        let mut program = ProgramDraft {
            plans,
            states: vec![PlanState::Unbuilt; plans.len()],
            steps: Vec::new(),
            rebuilds,
        };
        for plan in 0..plans.len() {
            program.push(plan, Action::Build);
        }
        if program.rebuilds.is_some() {
            program.abandon(random);
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
        program.steps
    }

    fn push(&mut self, plan: usize, action: Action) {
        let after = self.states[plan].after(self.steps.len(), action);
        self.states[plan] = after.expect("actions are drawn from those that the plan allows");
        self.steps.push(Step { plan, action });
    }

    /// Starts a run and leaves it under way, or cancels it. No later plan may receive the run's messages.
    fn abandon(&mut self, random: &mut Dice) {
        let mut calls = self.plans[0].calls();
        calls.retain(|&(_, mode)| mode == Mode::Split);
        if !calls.is_empty() {
            let (operation, mode) = *random.one_of(&calls);
            self.push(0, Action::Call(operation, mode));
            if random.below(2) == 0 {
                self.push(0, Action::GiveUp);
            }
        }
    }

    /// Draws one of the actions that a plan allows now.
    fn action(&mut self, random: &mut Dice, plan: usize) -> Action {
        let is_last = plan + 1 == self.plans.len();
        match self.states[plan] {
            PlanState::Unbuilt | PlanState::Ready if is_last && self.rebuilds.is_some() => {
                let times = self.rebuilds.replace(REBUILDS).unwrap_or_default();
                Action::Rebuild(times.start + random.number(times.end - times.start))
            }
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

/// Under MPI, one in this many plans is replaced by MPI's own functions.
const STARTED_RARITY: usize = 10;

/// Draws parts of a case.
struct Dice(Random);

impl Dice {
    fn word(&mut self) -> u64 {
        self.0.word()
    }

    /// A random number in 0..bound.
    fn below(&mut self, bound: usize) -> usize {
        self.0.index(bound)
    }

    fn number(&mut self, bound: u32) -> u32 {
        u32::try_from(self.0.below(bound.into())).expect("it is below a u32")
    }

    fn one_of<'c, C>(&mut self, choices: &'c [C]) -> &'c C {
        &choices[self.below(choices.len())]
    }

    /// Draws a fault at one of the steps where it can happen, if there are any.
    fn fault(
        &mut self,
        kind: FaultKind,
        ranks: usize,
        plans: &[Spec],
        steps: &[Step],
    ) -> Option<Fault> {
        let suits = |&step: &usize| {
            kind.suits(steps[step].action, &plans[steps[step].plan])
                && (kind != FaultKind::Skip || !is_like_next(steps, step))
        };
        let suiting: Vec<usize> = (0..steps.len()).filter(suits).collect();
        if suiting.is_empty() {
            return None;
        }
        let (rank, step) = (self.below(ranks), *self.one_of(&suiting));
        let instead = match (kind, steps[step].action) {
            (FaultKind::OtherCollective, Action::Call(operation, mode)) => {
                let others = plans[steps[step].plan].others(operation, mode);
                Some(*self.one_of(&others))
            }
            _ => None,
        };
        Some(Fault {
            rank,
            step,
            kind,
            lasts: kind.is(Trait::Lasting) && self.below(2) == 0,
            instead,
        })
    }

    fn within(&mut self, range: &RangeInclusive<usize>) -> usize {
        range.start() + self.below(range.end() + 1 - range.start())
    }

    /// Draws a plan; a `small` one has few items of one element.
    fn spec(&mut self, backend: Backend, ranks: usize, small: bool) -> Spec {
        if backend == Backend::Mpi && self.below(STARTED_RARITY) == 0 {
            return self.started(ranks, small);
        }
        let kind = *self.one_of(Kind::ALL);
        let is_offered = |&algorithm: &Algorithm| backend.offers(Way::Tree(algorithm));
        let algorithms: Vec<Algorithm> = Algorithm::all().filter(is_offered).collect();
        let algorithm = (self.below(4) > 0).then(|| *self.one_of(&algorithms));
        // Moments are rows, even for one key.
        let algorithm = algorithm.filter(|algorithm| match kind {
            Kind::Keyed(Keyed::Moments) => algorithm.takes_rows(),
            _ => !kind.is_hashed(),
        });
        let is_scheduled = algorithm.is_none_or(Algorithm::is_scheduled);
        let width = match self.below(3) {
            _ if small || algorithm.is_some_and(|algorithm| !algorithm.takes_rows()) => 1,
            0 => 1 + self.below(5),
            // An exact sum takes a few hundred bytes.
            1 if matches!(kind, Kind::Exact(_)) => 1 + self.below(40),
            // Long rows are reduced in place.
            1 if self.below(4) == 0 => 256 + self.below(200),
            _ => 1,
        };
        let items = match (kind, self.below(8)) {
            (kind, 0) if !kind.has_empty() => 1,
            (_, 0) => 0,
            (_, 1) => 1,
            _ if small => 1 + self.below(8),
            _ if matches!(kind, Kind::Keyed(_)) && self.below(8) == 0 => 1 + self.below(2000),
            _ if width > 100 => 1 + self.below(20),
            _ => 1 + self.below(120),
        };
        let is_scattered = is_scheduled && self.below(3) == 0;
        Spec {
            kind,
            extents: if is_scattered {
                let items = items as u64;
                scattered(&mut self.0, items, ranks, items.div_ceil(ranks as u64) + 1)
            } else {
                self.contiguous(items as u64, ranks)
            },
            gathers_extents: self.below(2) == 0,
            width,
            algorithm,
            root: self.below(ranks),
            message_limit: (self.below(6) == 0).then(|| 1 + self.below(4)),
            blocks: (self.below(4) == 0).then(|| 1 + self.below(width)),
        }
    }

    /// Sums by MPI's own functions, with one item per rank.
    fn started(&mut self, ranks: usize, small: bool) -> Spec {
        let width = match self.below(3) {
            0 if !small => 1 + self.below(400),
            1 if !small => 1 + self.below(8),
            _ => 1,
        };
        let extents = (0..ranks as u64).map(|item| iter::once(item..item + 1).collect());
        Spec {
            kind: Kind::Started,
            extents: extents.collect(),
            gathers_extents: false,
            width,
            algorithm: None,
            root: self.below(ranks),
            message_limit: None,
            blocks: None,
        }
    }

    /// Ranges in rank order, some of them empty.
    fn contiguous(&mut self, items: u64, ranks: usize) -> Vec<Vec<Range<u64>>> {
        let mut boundaries: Vec<u64> = (1..ranks).map(|_| self.0.below(items + 1)).collect();
        boundaries.extend([0, items]);
        boundaries.sort_unstable();
        let own = |ends: &[u64]| Vec::from_iter((ends[0] < ends[1]).then(|| ends[0]..ends[1]));
        boundaries.windows(2).map(own).collect()
    }
}

/// Whether a step is followed by an equal one: the plan is built again, or run again with the same operation. If a rank skips one of several
/// equal calls, its calls match the first calls of the other ranks, so only the last call of the others can fail.
fn is_like_next(steps: &[Step], index: usize) -> bool {
    let Step { plan, action } = steps[index];
    let later = steps[index + 1..].iter().filter(|step| step.plan == plan);
    let is_build = |action: Action| matches!(action, Action::Build | Action::Rebuild(_));
    let Action::Call(operation, _) = action else {
        return is_build(action) && later.clone().any(|step| is_build(step.action));
    };
    let next = later
        .map(|step| step.action)
        .find(|action| !matches!(action, Action::Test | Action::Wait | Action::GiveUp));
    matches!(next, Some(Action::Call(other, _)) if other == operation)
}
