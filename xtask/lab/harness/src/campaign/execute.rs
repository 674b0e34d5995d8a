//! Runs a case on a rank.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{self, Command, Stdio};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use reduce::{BuildError, Operation, Pending, Plan, RunError, Sum, World};

use super::case::{Case, Fault, FaultKind, Own, TAGS, Trait};
use super::element::{set_call, set_panics, with_kind};
use super::environment::{Environment, within};
use super::slot::{Asked, Outcome, Polls, Slot};
use super::vocabulary::{Action, Kind, Mode};
use super::{exact, keyed, started, tree};

/// How long a rank waits for another one, on transports that cannot detect that a rank has ended. Without a fault, no rank is silent
/// for this long.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a rank waits for another one in the step of a fault and in later steps.
const PATIENCE_AFTER_FAULT: Duration = Duration::from_secs(1);

/// How long a rank sleeps or is stopped.
const PAUSE: Duration = Duration::from_millis(5);

/// How long a rank is silent if the others should give up.
const SILENCE: Duration = Duration::from_millis(2500);

/// How many more times than other ranks a rank with the fault `extra-tests` tests its run.
const EXTRA_TESTS: usize = 30;

/// Runs a case on this rank and reports the outcome of every step. Collective.
///
/// # Panics
/// The fault of the case is a panic.
pub(super) fn execute(case: &Case, world: &World, report: &mut dyn FnMut(Outcome)) {
    let mut program = RankProgram {
        case,
        world,
        slots: case.plans.iter().map(|_| None).collect(),
        hand: None,
    };
    let own = case.fault.filter(|fault| fault.is_of(world.rank()));
    world.set_silence_limit(PATIENCE);
    if case.fault.map(|fault| fault.kind) == Some(FaultKind::NestedCall) {
        program.hand = Some(Hand::new(world));
    }
    for index in 0..case.steps.len() {
        if case.harm().is_some_and(|fault| fault.step == index) {
            world.set_silence_limit(PATIENCE_AFTER_FAULT);
        }
        let mut outcome = None;
        let environment = own.map_or(Environment::Default, |fault| fault.environment(index));
        within(environment, &mut || {
            outcome = match own.filter(|fault| fault.step == index) {
                Some(fault) => program.faulty_step(index, fault),
                None => Some(program.step(index, 0)),
            };
        });
        match outcome {
            Some(outcome) => report(outcome),
            None => return,
        }
    }
    if let Some(hand) = program.hand {
        hand.finish();
    }
}

/// A rank's program.
struct RankProgram<'c> {
    case: &'c Case,
    world: &'c World,
    /// The plans that are built.
    slots: Vec<Option<Slot>>,
    /// The objects for an operator's call, if the case has a nested call.
    hand: Option<Hand>,
}

impl RankProgram<'_> {
    /// Runs the step at which this rank has the fault. Returns `None` if the rank ends there.
    fn faulty_step(&mut self, index: usize, fault: Fault) -> Option<Outcome> {
        let plan = self.case.steps[index].plan;
        let slot = &mut self.slots[plan];
        // These faults happen before the step, or end the rank.
        match fault.kind {
            FaultKind::Leave => return None,
            FaultKind::Panic => panic!("a rank that panics on purpose"),
            FaultKind::Kill => kill(),
            FaultKind::Sleep => thread::sleep(PAUSE),
            FaultKind::Stop => stop(PAUSE),
            FaultKind::Silence => stop(SILENCE),
            FaultKind::ExtraTests => {
                for _ in 0..EXTRA_TESTS {
                    slot.iter_mut().for_each(|slot| drop(slot.test()));
                }
            }
            _ => {}
        }
        Some(match fault.kind {
            FaultKind::Skip => Outcome::Nothing,
            FaultKind::WrongLength => self.step(index, 1),
            kind if kind.is(Trait::DetectedAtOnce) => self.build(plan, Some(kind)),
            FaultKind::OtherOperand => match slot {
                Some(slot) => slot.call(Asked {
                    is_of_products: true,
                    // The rank's items are those of another step.
                    ..Asked::new(Operation::Allreduce, Mode::Blocking, index + 1)
                }),
                None => Outcome::Failed("there is no plan".to_owned()),
            },
            FaultKind::CaughtPanic => {
                set_panics(true);
                let caught = catch_unwind(AssertUnwindSafe(|| self.step(index, 0)));
                set_panics(false);
                caught.unwrap_or_else(|_| Outcome::Failed("a caught panic".to_owned()))
            }
            FaultKind::NestedCall => {
                let hand = self.hand.take().expect("it is made before the steps");
                let (outcome, was_refused) = hand.within(self.case.seed, || self.step(index, 0));
                self.hand = Some(hand);
                if was_refused {
                    outcome
                } else {
                    Outcome::Failed("an operator's call was not refused".to_owned())
                }
            }
            FaultKind::GiveUp => match (slot, self.case.steps[index].action) {
                (Some(slot), Action::Call(operation, _)) => {
                    let started = slot.call(Asked::new(operation, Mode::Split, index));
                    slot.give_up();
                    started
                }
                (slot, _) => {
                    slot.iter_mut().for_each(Slot::give_up);
                    Outcome::Nothing
                }
            },
            // The step itself has the fault: `execute` sets environments, and `Case::action` returns the other collective.
            _ => self.step(index, 0),
        })
    }

    /// Runs a step, with surplus elements if it is a call. The step fails if its plan could not be built.
    fn step(&mut self, index: usize, surplus: usize) -> Outcome {
        let plan = self.case.steps[index].plan;
        let action = self.case.action(self.world.rank(), index);
        let items = self.case.items_step(index);
        let polls = self.polls(index);
        match action {
            Action::Build => return self.build(plan, None),
            Action::Rebuild(times) => return self.rebuild(plan, times, items),
            _ => {}
        }
        let Some(built) = &mut self.slots[plan] else {
            return Outcome::Failed("there is no plan".to_owned());
        };
        match action {
            Action::Build | Action::Rebuild(_) => unreachable!("they are above"),
            Action::Call(operation, mode) => built.call(Asked {
                surplus,
                ..Asked::new(operation, mode, items)
            }),
            Action::Test => built.test(),
            Action::Wait => built.wait(polls),
            Action::GiveUp => {
                built.give_up();
                Outcome::Nothing
            }
            Action::Drop => {
                self.slots[plan] = None;
                Outcome::Nothing
            }
        }
    }

    /// How often a run is tested before a wait: never in steps with odd numbers. A run that is tested often enough ends, unless another rank
    /// waits in a call that cannot end. This rank may then learn of the fault only when it waits, too.
    fn polls(&self, index: usize) -> Polls {
        match self.case.fault.map(|fault| fault.kind) {
            _ if index % 2 == 1 => Polls::No,
            // With two ranks, the only other rank has left. With more, a third rank may still wait for the rank that has left.
            Some(FaultKind::Leave) if self.case.ranks == 2 => Polls::UntilItEnds,
            Some(FaultKind::Skip | FaultKind::OtherCollective) => Polls::Briefly,
            Some(FaultKind::OtherOperand | FaultKind::Leave) => Polls::Briefly,
            _ => Polls::UntilItEnds,
        }
    }

    fn build(&mut self, plan: usize, fault: Option<FaultKind>) -> Outcome {
        self.slots[plan] = None;
        match build(self.case.own(plan, self.world.rank()), self.world, fault) {
            Ok(built) => {
                self.slots[plan] = Some(built);
                Outcome::Nothing
            }
            Err(outcome) => outcome,
        }
    }

    /// Builds a plan, reduces with it and drops it, `times` times. Returns the first error. Without errors, returns the value if all values are
    /// equal, or else two different values, joined. In some cases, all reductions run at once, and ranks wait for them in different orders.
    fn rebuild(&mut self, plan: usize, times: u32, items: usize) -> Outcome {
        let allreduce = |mode| Asked::new(Operation::Allreduce, mode, items);
        let calls = self.case.plans[plan].calls();
        let is_split = calls.contains(&(Operation::Allreduce, Mode::Split));
        let are_at_once = is_split && times < TAGS && self.case.seed.is_multiple_of(2);
        let mut in_flight = VecDeque::new();
        for _ in 0..if are_at_once { times } else { 0 } {
            let built = self.build(plan, None);
            let Some(mut slot) = self.slots[plan].take() else {
                return built;
            };
            match slot.call(allreduce(Mode::Split)) {
                Outcome::Nothing => in_flight.push_back(slot),
                failed => return failed,
            }
        }
        let mut first = None;
        for turn in 0..times {
            let outcome = if are_at_once {
                let from_front = (turn as usize + self.world.rank()).is_multiple_of(2);
                let next = if from_front {
                    in_flight.pop_front()
                } else {
                    in_flight.pop_back()
                };
                next.map_or(Outcome::Nothing, |mut slot| slot.wait(Polls::No))
            } else {
                let built = self.build(plan, None);
                match &mut self.slots[plan] {
                    Some(built) => built.call(allreduce(Mode::Blocking)),
                    None => built,
                }
            };
            self.slots[plan] = None;
            match (outcome, &first) {
                (Outcome::Value(value), None) => first = Some(value),
                (Outcome::Value(value), Some(first)) if value != *first => {
                    return Outcome::Value([&first[..], &value].concat());
                }
                (Outcome::Value(_), Some(_)) => {}
                (outcome, _) => return outcome,
            }
        }
        first.map_or(Outcome::Nothing, Outcome::Value)
    }
}

/// Stops this process for a while.
fn stop(pause: Duration) {
    let (id, seconds) = (process::id(), pause.as_secs_f64());
    run_in_shell(format!("kill -STOP {id}; sleep {seconds}; kill -CONT {id}"));
}

/// Kills this process.
fn kill() -> ! {
    run_in_shell(format!("kill -KILL {}", process::id()));
    loop {
        thread::park();
    }
}

/// Runs shell commands and waits for them.
fn run_in_shell(commands: String) {
    let mut shell = Command::new("sh");
    shell.stdin(Stdio::null()).stdout(Stdio::null());
    let status = shell.args(["-c", &commands]).status();
    let status = status.expect("every Unix has a shell");
    assert!(status.success(), "`{commands}`: {status}");
}

/// Builds a plan from its specification, with a fault. Collective.
fn build(own: Own, world: &World, fault: Option<FaultKind>) -> Result<Slot, Outcome> {
    let form = match own.spec.kind {
        Kind::Started => started::form(own),
        kind => with_kind!(
            kind,
            [tree::build, exact::build, keyed::build],
            (own, world, fault)
        )?,
    };
    Ok(Slot::new(form))
}

/// The objects on which an operator makes a call while it combines. All ranks have equal objects.
struct Hand(Rc<Things>);

struct Things {
    world: World,
    plan: Plan<f64, Sum>,
    run: Pending<f64>,
}

/// Makes a call and returns whether it was refused.
type Call = fn(&Things) -> bool;

const CALLS: &[Call] = &[
    |hand| is_refused_by_transport(&hand.world.agree(true)),
    |hand| is_refused_by_transport(&hand.world.measure_link()),
    |hand| is_refused_by_transport(&hand.world.fresh_tag()),
    |hand| is_not_built(&Plan::builder(&hand.world).local_items(1).build::<f64>()),
    |hand| is_refused(&hand.plan.allreduce(&[1.0])),
    |hand| is_refused(&hand.plan.scan(&[1.0], &mut [0.0])),
    |hand| is_refused(&hand.plan.start_allreduce(&[1.0])),
    |hand| is_refused(&hand.run.test()),
];

fn is_refused<R>(result: &Result<R, RunError>) -> bool {
    matches!(result, Err(RunError::Nested { .. }))
}

fn is_refused_by_transport<R>(result: &Result<R, comm::Error>) -> bool {
    matches!(result, Err(comm::Error::Nested { .. }))
}

fn is_not_built<R>(result: &Result<R, BuildError>) -> bool {
    matches!(result, Err(BuildError::Nested { .. }))
}

impl Hand {
    /// Creates the objects. Collective.
    fn new(world: &World) -> Self {
        let plan = || {
            let plan = Plan::builder(world).local_items(1).build::<f64>();
            plan.expect("no rank has a fault yet")
        };
        let run = plan().start_allreduce(&[1.0]);
        Self(Rc::new(Things {
            world: world.clone(),
            plan: plan(),
            run: run.expect("no rank has a fault yet"),
        }))
    }

    /// Runs `body`, whose first combination makes a call drawn from the seed. Returns the body's result, and false if the call succeeded.
    fn within<R>(&self, seed: u64, body: impl FnOnce() -> R) -> (R, bool) {
        let was_refused = Rc::new(Cell::new(true));
        let call = CALLS[usize::try_from(seed % CALLS.len() as u64).expect("it is small")];
        let (hand, refused) = (Rc::clone(&self.0), Rc::clone(&was_refused));
        set_call(Some(Box::new(move || refused.set(call(&hand)))));
        let given = body();
        set_call(None);
        (given, was_refused.get())
    }

    /// Uses these objects again: a refused call must have changed nothing. Collective.
    ///
    /// # Panics
    /// A refused call has changed something.
    fn finish(self) {
        let hand = Rc::into_inner(self.0).expect("the operator's call is over");
        let ranks = hand.world.size() as f64;
        assert_eq!(hand.plan.allreduce(&[1.0]), Ok(ranks));
        assert_eq!(hand.run.wait(), Ok(ranks));
    }
}
