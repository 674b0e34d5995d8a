//! Blocking runs of plans of any kind, and the start of runs that another call ends.

use std::any::Any;
use std::rc::Rc;

use super::form::{EncodedEnding, Encoding, Form};
use super::operands::{Operands, not_taken};
use super::pending::AnyPending;
use super::stages::{Outcome, Staged, UnderWay};
use super::{AnyPlan, EngineRun};
use crate::algorithm::Algorithm;
use crate::engines::not_offered;
use crate::engines::values::Memory;
use crate::environment;
use crate::error::RunError;
use crate::operation::{Call, Operation};
use crate::world::conversation::Claim;

impl AnyPlan {
    /// Whether an allreduce is only a fold by one of this crate's operators.
    ///
    /// After other work a plan is not in cache, so this function and [`fold`](Self::fold) read as few of its fields as possible.
    #[doc(hidden)]
    #[inline]
    pub fn is_fold(&self) -> bool {
        self.fold.is_some()
    }

    /// Performs an allreduce that is only a fold. Does nothing and returns `None` for other plans, and if anything is wrong:
    /// [`run`](Self::run) then returns the error.
    #[doc(hidden)]
    #[inline(always)]
    pub fn fold(&self, items: &[u8], result: &mut [u8]) -> Option<()> {
        let is_valid = self.is_idle() && self.are_plain(items, result);
        is_valid.then(|| self.fold?(items, result))?
    }

    /// Whether a run can begin at once.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.conversation.is_ready() && self.world.is_idle()
    }

    /// Whether an allreduce of these items needs no further checks.
    #[inline]
    fn are_plain(&self, items: &[u8], result: &[u8]) -> bool {
        items.len() == self.local_bytes
            && result.len() == self.row_bytes
            && environment::check().is_ok()
    }

    /// Reduces the items, by any operator, on a rank that has all of the engine's items. Returns `None` if anything is wrong.
    fn fold_items(&self, items: &[u8], result: &mut [u8]) -> Option<()> {
        let claim = self
            .conversation
            .begin(&self.world, Operation::Allreduce)
            .ok()?;
        self.values.fold(items, result)?;
        claim.end(Ok(())).ok()?;
        // The operator may have changed the environment.
        environment::check().is_ok().then_some(())
    }

    /// Makes a blocking call. Writes the result to `result`, and returns whether this rank gets a result.
    #[doc(hidden)]
    pub fn run(
        &self,
        call: impl Into<Call>,
        operands: Operands<'_>,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        let call = call.into();
        match &self.form {
            Form::Items => self.run_items(call, operands, result),
            Form::Encoded(encoding) => self.run_encoded(&**encoding, call, operands, result),
            Form::Staged(..) => self.run_values(call.operation, self.state_of(operands), result),
        }
    }

    /// Begins a call without waiting for its result.
    #[doc(hidden)]
    pub fn start(
        &self,
        call: impl Into<Call>,
        operands: Operands<'_>,
    ) -> Result<AnyPending, RunError> {
        let call = call.into();
        match &self.form {
            Form::Items => self.start_items(call, operands, self.result_length(call.operation)),
            Form::Encoded(encoding) => self.start_encoded(encoding, call, operands),
            Form::Staged(_, is_under_way) => {
                let _busy = self.world.enter()?;
                let form = Rc::clone(self.staged(call.operation)?);
                let stages = form.start(call.operation, self.state_of(operands))?;
                let under_way = UnderWay::begin(is_under_way);
                Ok(AnyPending::of_stages(&self.world, stages, under_way))
            }
        }
    }

    /// The form of a plan of states, if a run of this operation can begin. If not, nothing is sent.
    fn staged(&self, operation: Operation) -> Result<&Rc<dyn Staged>, RunError> {
        use Operation::{Allreduce, Reduce, ReduceScatter};
        let rank = self.world.rank();
        match &self.form {
            Form::Staged(_, is_under_way) if is_under_way.get() => Err(RunError::UnderWay { rank }),
            Form::Staged(form, _) if matches!(operation, Allreduce | Reduce | ReduceScatter) => {
                Ok(form)
            }
            _ => Err(not_taken(rank)),
        }
    }

    fn state_of<'r>(&self, operands: Operands<'r>) -> Result<&'r dyn Any, RunError> {
        match operands {
            Operands::State(state) => Ok(state),
            _ => Err(not_taken(self.world.rank())),
        }
    }

    /// Makes a blocking call on a state, such as sums by key, and writes the resulting state's values. Returns whether this rank gets them.
    /// A rank without a valid state passes an error instead, and the run reports this rank's failure to the other ranks.
    pub(crate) fn run_values(
        &self,
        operation: Operation,
        state: Result<&dyn Any, RunError>,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        let form = self.staged(operation)?;
        let checked = form.check_result(operation, result.len());
        match Rc::clone(form).run(operation, checked.and(state))? {
            Some(total) => form.write_values(total, result).map(|()| true),
            None => Ok(false),
        }
    }

    /// Like [`run_values`](Self::run_values), but returns the resulting state.
    pub(crate) fn run_states(
        &self,
        operation: Operation,
        state: Result<&dyn Any, RunError>,
    ) -> Result<Outcome, RunError> {
        let form = self.staged(operation)?;
        let total = Rc::clone(form).run(operation, state)?;
        total.map(|total| form.state(total)).transpose()
    }

    /// Like [`run_values`](Self::run_values), but replaces `state` by the resulting state. Returns whether this rank gets the latter.
    #[doc(hidden)]
    pub fn run_state(&self, operation: Operation, state: &mut dyn Any) -> Result<bool, RunError> {
        let form = self.staged(operation)?;
        match Rc::clone(form).run(operation, Ok(&*state))? {
            Some(total) => form.replace(state, total).map(|()| true),
            None => Ok(false),
        }
    }

    /// Whether `state` has the type of the states that the plan reduces.
    #[doc(hidden)]
    pub fn takes_state(&self, state: &dyn Any) -> bool {
        matches!(&self.form, Form::Staged(form, _) if form.takes(state))
    }

    /// Like [`run`](Self::run), for operands that are already in the engine's form.
    #[inline]
    pub(crate) fn run_items(
        &self,
        call: Call,
        operands: Operands<'_>,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        self.run_by(call.operation, call, operands, result)
    }

    /// Like [`run_items`](Self::run_items), but with the messages of `operation` instead of those of `call`.
    pub(crate) fn run_by(
        &self,
        operation: Operation,
        call: Call,
        operands: Operands<'_>,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        if operation == Operation::Allreduce
            && call == operation.into()
            && let Operands::Items(items) = operands
            && self.are_plain(items, result)
        {
            if !self.is_local {
                let claim = self.conversation.begin(&self.world, call)?;
                return claim.end(self.engine.run(operation, Ok(items), result));
            }
            if self.fold_items(items, result).is_some() {
                return Ok(true);
            }
        }
        self.run_checked(operation, call, operands, result)
    }

    /// As [`run_by`](Self::run_by), for all calls. Out of line, since a short call has no need of this code.
    #[inline(never)]
    fn run_checked(
        &self,
        operation: Operation,
        call: Call,
        operands: Operands<'_>,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        let claim = self.conversation.begin(&self.world, call)?;
        let outcome = match self.given(operation, operands, result.len()) {
            Ok(given) if given.are_nodes => {
                self.engine.run_folded(operation, given.bytes(), result)
            }
            Ok(given) => self.engine.run(operation, Ok(given.bytes()), result),
            Err(refused @ RunError::NoOwnNodes { .. }) => Err(refused),
            Err(error) => self.engine.run(operation, Err(error), result),
        };
        claim.end(outcome)
    }

    /// Like [`start`](Self::start), for operands that are already in the engine's form and a result of `result_length` elements.
    pub(crate) fn start_items(
        &self,
        call: Call,
        operands: Operands<'_>,
        result_length: usize,
    ) -> Result<AnyPending, RunError> {
        let claim = self.conversation.begin(&self.world, call)?;
        let part = self.start_claimed(claim, call.operation, Ok(operands), result_length);
        Ok(AnyPending::of_engine_run(part?, None))
    }

    /// Begins a call within another call, which has entered the world. A rank without valid operands passes an error instead, and the run
    /// reports this rank's failure to the other ranks.
    pub(crate) fn start_within(
        &self,
        operation: Operation,
        operands: Result<Operands<'_>, RunError>,
    ) -> Result<EngineRun, RunError> {
        let claim = self.conversation.begin_within(operation)?;
        self.start_claimed(claim, operation, operands, self.result_length(operation))
    }

    fn start_claimed(
        &self,
        claim: Claim<'_>,
        operation: Operation,
        operands: Result<Operands<'_>, RunError>,
        result_length: usize,
    ) -> Result<EngineRun, RunError> {
        let result_bytes = result_length.saturating_mul(self.item_bytes);
        if let Err(error) = self.check_result_length(operation, result_bytes) {
            // No run is begun, so the other ranks are notified at once, wherever they wait for this rank.
            self.conversation.give_up();
            return claim.end(Err(error));
        }
        let given = operands.and_then(|operands| self.given(operation, operands, result_bytes));
        let started = match &given {
            Ok(given) if given.are_nodes => {
                self.engine.start_folded(operation, Some(given.bytes()))
            }
            Ok(given) => self.engine.start(operation, Some(given.bytes())),
            Err(refused @ RunError::NoOwnNodes { .. }) => return claim.end(Err(refused.clone())),
            Err(_) => self.engine.start(operation, None),
        };
        match started {
            Ok(flight) => {
                claim.hand_over();
                Ok(EngineRun::new(
                    &self.world,
                    flight,
                    &self.conversation,
                    given.err(),
                    self.item_bytes,
                    result_length,
                ))
            }
            Err(error) => claim.end(Err(error)),
        }
    }

    /// Like [`run`](Self::run), for operands that must first be encoded.
    pub(crate) fn run_encoded(
        &self,
        encoding: &dyn Encoding,
        call: Call,
        operands: Operands<'_>,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        let (rank, operation) = (self.world.rank(), call.operation);
        let messages = encoding.messages(operation);
        let [mut own, mut all] = self.scratch.take();
        let encoded = encoding.encode(self, operation, operands, Some(result.len()), &mut own);
        let outcome = match encoded {
            Ok(encoded) => {
                all.resize(self.result_length(messages) * self.item_bytes);
                let encoded = encoded.operands(operands, &own);
                self.run_by(messages, call, encoded, all.bytes_mut())
            }
            Err(error) => Err(self.fail(messages, call, error)),
        };
        let decoded = outcome.and_then(|is_mine| {
            if is_mine {
                let items = operands.items();
                encoding.decode(rank, operation, items, all.bytes(), result)?;
            }
            Ok(is_mine)
        });
        self.scratch.set([own, all]);
        decoded
    }

    fn start_encoded(
        &self,
        encoding: &Rc<dyn Encoding>,
        call: Call,
        operands: Operands<'_>,
    ) -> Result<AnyPending, RunError> {
        let operation = call.operation;
        let messages = encoding.messages(operation);
        let claim = self.conversation.begin(&self.world, call)?;
        let mut own = Memory::default();
        let encoded = match encoding.encode(self, operation, operands, None, &mut own) {
            Ok(encoded) => encoded.operands(operands, &own),
            Err(_) if !self.terms.choice.algorithm.is_scheduled() => {
                return claim.end(Err(not_offered(&self.world, &self.terms)));
            }
            Err(error) => {
                self.conversation.give_up();
                return claim.end(Err(error));
            }
        };
        let part =
            self.start_claimed(claim, messages, Ok(encoded), self.result_length(messages))?;
        let mut items = Memory::default();
        if matches!(operation, Operation::Scan | Operation::Exscan) {
            items.copy_from(operands.items());
        }
        let ending = EncodedEnding {
            encoding: Rc::clone(encoding),
            operation,
            items,
        };
        Ok(AnyPending::of_engine_run(part, Some(Box::new(ending))))
    }

    /// Refuses a run because of this rank's own `error`. Notifies the other ranks, and returns the error.
    pub(crate) fn fail(&self, messages: Operation, call: Call, error: RunError) -> RunError {
        let claim = match self.conversation.begin(&self.world, call) {
            Ok(claim) => claim,
            Err(refused) => return refused,
        };
        let outcome = self.engine.run(messages, Err(error), &mut []);
        claim.fail(outcome.expect_err("a run that is given an error returns it"))
    }

    /// Like [`refuse`](Self::refuse), for a call that would have started a run. Does nothing if the algorithm has only blocking runs, because
    /// no rank has then started a run.
    #[doc(hidden)]
    pub fn refuse_to_start(&self, operation: Operation) {
        // An allreduce always runs the chosen algorithm; other operations may run a stand-in.
        let chosen = self.algorithm(Operation::Allreduce);
        if chosen.is_none_or(Algorithm::is_scheduled) {
            self.refuse(operation);
        }
    }

    /// Refuses the next run of an operation, whatever the other ranks reduce, because this rank cannot make its call. Notifies the other
    /// ranks, and spends the plan. Does nothing if a run is under way or an operator makes the call.
    #[doc(hidden)]
    pub fn refuse(&self, operation: Operation) {
        if let Form::Staged(form, is_under_way) = &self.form {
            if !is_under_way.get() && !self.world.is_in_operator() {
                form.refuse(operation);
            }
            return;
        }
        let rank = self.world.rank();
        let error = || RunError::NotFolded {
            rank,
            reason: "the arguments of its call are invalid".to_owned(),
        };
        let messages = match &self.form {
            Form::Encoded(encoding) => encoding.messages(operation),
            _ => operation,
        };
        if self.terms.choice.algorithm == Algorithm::MpiNative {
            // The other ranks wait in the MPI library.
            self.fail(messages, operation.into(), error());
        } else if let Ok(claim) = self.conversation.begin(&self.world, operation) {
            self.conversation.give_up();
            claim.fail(error());
        }
    }
}
