//! A run of several stages, such as a reduction of rows and an exchange of numbers that do not fit the rows.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem;
use std::rc::Rc;

use comm::RequestId;

use super::engine_run::EngineRun;
use crate::engines::exchange::Exchange;
use crate::error::RunError;
use crate::operation::Operation;
use crate::world::patience::Patience;
use crate::world::{Progress, World};

/// This rank's result of a run in stages, of a type that the plan's form knows. `None` if the rank gets no result.
pub(crate) type Outcome = Option<Box<dyn Any>>;

/// A form whose operands are states, such as sums by key, and whose runs have several stages. A rank without a valid state passes an
/// error instead, and the run reports this rank's failure to the other ranks.
pub(crate) trait Staged {
    fn world(&self) -> &World;

    /// Begins a run, in a call that has entered the world.
    fn start(
        self: Rc<Self>,
        operation: Operation,
        state: Result<&dyn Any, RunError>,
    ) -> Result<Stages, RunError>;

    /// Performs a blocking run.
    fn run(
        self: Rc<Self>,
        operation: Operation,
        state: Result<&dyn Any, RunError>,
    ) -> Result<Outcome, RunError> {
        let world = self.world().clone();
        let _busy = world.enter()?;
        self.start(operation, state)?.wait()
    }

    /// Checks, before a blocking run, that the result has `bytes` bytes, if its length is known in advance.
    fn check_result(&self, operation: Operation, bytes: usize) -> Result<(), RunError>;

    /// Writes the values of an outcome.
    fn write_values(&self, total: Box<dyn Any>, result: &mut [u8]) -> Result<(), RunError>;

    /// The state in an outcome.
    fn state(&self, total: Box<dyn Any>) -> Result<Box<dyn Any>, RunError>;

    /// Replaces a state of the form's type by the state in an outcome.
    fn replace(&self, state: &mut dyn Any, total: Box<dyn Any>) -> Result<(), RunError>;

    /// Whether `state` has the type of the states that the form reduces.
    fn takes(&self, state: &dyn Any) -> bool;

    /// Refuses the next run of an operation. Notifies the other ranks, and spends the plan.
    fn refuse(&self, operation: Operation);

    /// Spends the plan after a failed run. The other ranks are notified, since they may wait for this rank in any later stage.
    fn spend(&self);

    /// Spends the plan after a run that was dropped, without communicating.
    fn abandon(&self);
}

/// A run in stages. Callers of its methods must have entered the world; only the methods of [`Progress`] do not require that.
pub(crate) struct Stages {
    form: Rc<dyn Staged>,
    stage: RefCell<Stage>,
}

/// A stage, and what follows once it is over.
pub(crate) enum Stage {
    Run(EngineRun, Then<EngineRun>),
    Exchange(Exchange, Then<Exchange>),
    /// `None` once the outcome is taken.
    Over(Option<Result<Outcome, RunError>>),
}

pub(crate) type Then<W> = Box<dyn FnOnce(W) -> Result<Stage, RunError>>;

impl Stage {
    pub(crate) fn over(outcome: Option<impl Any>) -> Self {
        Self::Over(Some(Ok(outcome.map(|total| Box::new(total) as _))))
    }
}

impl Stages {
    pub(crate) fn new(form: Rc<dyn Staged>, stage: Stage) -> Self {
        let stage = RefCell::new(stage);
        Self { form, stage }
    }

    /// Makes progress. Returns whether the run is over. Also drives all runs in flight, unless `patience` is `InPassing`.
    pub(super) fn drive(&self, patience: Patience) -> bool {
        let mut stage = self.stage.borrow_mut();
        loop {
            let driven = match &*stage {
                Stage::Run(run, _) => run.drive(patience).unwrap_or(true),
                Stage::Exchange(exchange, _) => exchange.drive(patience).unwrap_or(true),
                Stage::Over(_) => return true,
            };
            if !driven {
                return false;
            }
            // If the stage has failed, `then` returns its error.
            let next = match mem::replace(&mut *stage, Stage::Over(None)) {
                Stage::Run(run, then) => then(run),
                Stage::Exchange(exchange, then) => then(exchange),
                over @ Stage::Over(_) => Ok(over),
            };
            *stage = next.unwrap_or_else(|error| {
                if !error.is_of_all() {
                    self.form.spend();
                }
                Stage::Over(Some(Err(error)))
            });
        }
    }

    /// The error of a run that is over.
    pub(super) fn error(&self) -> Option<RunError> {
        match &*self.stage.borrow() {
            Stage::Over(Some(Err(error))) => Some(error.clone()),
            _ => None,
        }
    }

    pub(super) fn awaited_ranks(&self) -> Vec<usize> {
        match self.stage.try_borrow().as_deref() {
            Ok(Stage::Run(run, _)) => run.awaited_ranks(),
            Ok(Stage::Exchange(exchange, _)) => exchange.awaited_ranks(),
            Ok(Stage::Over(_)) | Err(_) => Vec::new(),
        }
    }

    /// Waits for the end of the run.
    pub(crate) fn wait(&self) -> Result<Outcome, RunError> {
        self.drive(Patience::Unlimited);
        match &mut *self.stage.borrow_mut() {
            Stage::Over(outcome) => outcome.take().expect("an outcome is taken once"),
            _ => unreachable!("the run is over"),
        }
    }

    pub(super) fn form(&self) -> &dyn Staged {
        &*self.form
    }
}

impl Drop for Stages {
    fn drop(&mut self) {
        if !matches!(self.stage.get_mut(), Stage::Over(_)) {
            self.form.abandon();
        }
    }
}

impl Progress for Stages {
    fn progress(&self) {
        // If the stage is borrowed, a call on this thread's stack drives it.
        if self.stage.try_borrow_mut().is_ok() {
            self.drive(Patience::InPassing);
        }
    }

    fn awaited(&self, requests: &mut Vec<RequestId>) {
        match self.stage.try_borrow().as_deref() {
            Ok(Stage::Run(run, _)) => run.awaited(requests),
            Ok(Stage::Exchange(exchange, _)) => exchange.awaited(requests),
            Ok(Stage::Over(_)) | Err(_) => {}
        }
    }
}

/// While this value lives, its plan is marked as having a run under way.
pub(super) struct UnderWay(Rc<Cell<bool>>);

impl UnderWay {
    pub(super) fn begin(is_under_way: &Rc<Cell<bool>>) -> Self {
        is_under_way.set(true);
        Self(Rc::clone(is_under_way))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.set(false);
    }
}
