//! A run of several stages, such as a reduction and an exchange of what does not fit it.

use std::any::Any;
use std::cell::RefCell;
use std::mem;
use std::rc::Rc;

use comm::RequestId;

use super::form::{Outcome, Stepwise};
use super::part::Part;
use crate::engines::exchange::Exchange;
use crate::error::RunError;
use crate::world::Progress;
use crate::world::patience::Patience;

/// A run under way. Its callers have entered the world, but for those of [`Progress`].
pub(crate) struct Stages {
    form: Rc<dyn Stepwise>,
    stage: RefCell<Stage>,
}

/// A stage, and what follows once it is over.
pub(crate) enum Stage {
    Part(Part, Then<Part>),
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
    pub(crate) fn new(form: Rc<dyn Stepwise>, stage: Stage) -> Self {
        let stage = RefCell::new(stage);
        Self { form, stage }
    }

    /// Makes progress, and says whether the run is over. Drives all runs in flight, too, unless only in passing.
    pub(super) fn drive(&self, patience: Patience) -> bool {
        let mut stage = self.stage.borrow_mut();
        loop {
            let driven = match &*stage {
                Stage::Part(part, _) => part.drive(patience).unwrap_or(true),
                Stage::Exchange(exchange, _) => exchange.drive(patience).unwrap_or(true),
                Stage::Over(_) => return true,
            };
            if !driven {
                return false;
            }
            // Errors are those of the stage that is over.
            let next = match mem::replace(&mut *stage, Stage::Over(None)) {
                Stage::Part(part, then) => then(part),
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
            Ok(Stage::Part(part, _)) => part.awaited_ranks(),
            Ok(Stage::Exchange(exchange, _)) => exchange.awaited_ranks(),
            Ok(Stage::Over(_)) | Err(_) => Vec::new(),
        }
    }

    /// Waits for the end of the run.
    pub(crate) fn wait(&self) -> Result<Outcome, RunError> {
        self.drive(Patience::Unlimited);
        match &mut *self.stage.borrow_mut() {
            Stage::Over(outcome) => outcome.take().expect("it is taken once"),
            _ => unreachable!("the run is over"),
        }
    }

    pub(super) fn form(&self) -> &dyn Stepwise {
        &*self.form
    }
}

impl Drop for Stages {
    fn drop(&mut self) {
        self.form.is_under_way().set(false);
        if !matches!(self.stage.get_mut(), Stage::Over(_)) {
            self.form.abandon();
        }
    }
}

impl Progress for Stages {
    fn progress(&self) {
        // A borrowed stage is driven by the call on the stack.
        if self.stage.try_borrow_mut().is_ok() {
            self.drive(Patience::InPassing);
        }
    }

    fn awaited(&self, requests: &mut Vec<RequestId>) {
        match self.stage.try_borrow().as_deref() {
            Ok(Stage::Part(part, _)) => part.awaited(requests),
            Ok(Stage::Exchange(exchange, _)) => exchange.awaited(requests),
            Ok(Stage::Over(_)) | Err(_) => {}
        }
    }
}
