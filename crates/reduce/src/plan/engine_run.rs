//! One run of an engine, between its start and its end. Its own handle drives it, or the run in stages that contains it.

use std::rc::Rc;

use comm::RequestId;

use super::operands::check_result;
use crate::engines::Flight;
use crate::error::RunError;
use crate::world::World;
use crate::world::conversation::Conversation;
use crate::world::patience::Patience;

pub(crate) struct EngineRun {
    pub(super) flight: Rc<dyn Flight>,
    pub(super) world: World,
    conversation: Rc<Conversation>,
    /// This rank's own failure, which the rank has reported to the others.
    pub(super) failure: Option<Box<RunError>>,
    pub(super) item_bytes: usize,
    /// The number of elements of the result.
    pub(super) result_length: usize,
    is_over: bool,
}

impl EngineRun {
    pub(super) fn new(
        world: &World,
        flight: Rc<dyn Flight>,
        conversation: &Rc<Conversation>,
        failure: Option<RunError>,
        item_bytes: usize,
        result_length: usize,
    ) -> Self {
        Self {
            flight,
            world: world.clone(),
            conversation: Rc::clone(conversation),
            failure: failure.map(Box::new),
            item_bytes,
            result_length,
            is_over: false,
        }
    }

    /// Makes progress. Returns whether the run is over. Also drives the other runs in flight, unless `patience` is `InPassing`.
    pub(crate) fn drive(&self, patience: Patience) -> Result<bool, RunError> {
        if let Patience::InPassing = patience {
            self.flight.progress();
            return Ok(self.flight.is_over());
        }
        self.flight
            .drive(patience)
            .map_err(|error| self.explain(error))
    }

    pub(crate) fn awaited(&self, requests: &mut Vec<RequestId>) {
        self.flight.awaited(requests);
    }

    pub(crate) fn awaited_ranks(&self) -> Vec<usize> {
        self.flight.awaited_ranks()
    }

    /// Converts an error of the transport to the plan's error.
    pub(super) fn explain(&self, error: RunError) -> RunError {
        match error {
            RunError::Transport(error) => self.conversation.explain(error),
            error => error,
        }
    }

    /// Waits for the end of the run, and leaves its result in `result`. Returns whether this rank gets a result. The caller must have
    /// entered the world.
    ///
    /// If the slice has another length, no result is written, but the run completes and the plan can be run again.
    pub(crate) fn deliver(mut self, result: &mut [u8]) -> Result<bool, RunError> {
        let given = result.len() / self.item_bytes;
        let mismatch = check_result(self.world.rank(), self.result_length, given).err();
        let outcome = match (self.failure.take(), &mismatch) {
            // This rank completes the run, so that the others learn of the failure, and returns its own error.
            (Some(failure), _) => {
                let _ = self.flight.drive(Patience::Unlimited);
                Err(*failure)
            }
            (None, Some(_)) => self.flight.wait_without_result().map(|()| false),
            (None, None) => self.flight.wait_and_deliver(result),
        };
        let outcome = outcome.map_err(|error| self.explain(error));
        self.is_over = true;
        match &outcome {
            Ok(_) => self.conversation.settle(),
            Err(error) => self.conversation.spend(error),
        }
        let outcome = outcome.map_err(|error| self.conversation.own_first(error));
        outcome.and_then(|is_mine| mismatch.map_or(Ok(is_mine), Err))
    }
}

impl Drop for EngineRun {
    fn drop(&mut self) {
        if !self.is_over {
            self.flight.abandon();
            self.conversation.abandon();
        }
    }
}
