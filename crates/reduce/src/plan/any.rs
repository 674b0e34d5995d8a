//! A plan whatever the type of its items, which are bytes here: what all plans do is compiled once.

use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use super::Part;
use super::operands::{Bytes, Given, Operands};
use super::pending::AnyRun;
use crate::algorithm::Algorithm;
use crate::engines::Engine;
use crate::engines::scheduled::columns;
use crate::engines::terms::Terms;
use crate::engines::values::{Memory, Values};
use crate::environment;
use crate::error::RunError;
use crate::operation::{Call, Operation};
use crate::world::World;
use crate::world::conversation::{Claim, Conversation};

/// A reduction that ranks have agreed on. Slices of items are aligned for their type.
#[doc(hidden)]
pub struct AnyPlan {
    pub(super) world: World,
    pub(super) terms: Rc<Terms>,
    /// The elements of this rank's slice, and its bytes: more than any slice has, if no memory has room for them.
    pub(super) local_length: u64,
    local_bytes: usize,
    item_bytes: usize,
    /// Whether a reduction is a fold of `local`, which holds all items, in order: there is nothing for the engine to do.
    pub(super) is_local: bool,
    pub(super) values: Rc<dyn Values>,
    pub(super) engine: Box<dyn Engine>,
    /// Shared with the engine and a run under way.
    pub(super) conversation: Rc<Conversation>,
}

impl fmt::Debug for AnyPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("world", &self.world)
            .field("terms", &self.terms)
            .finish_non_exhaustive()
    }
}

impl AnyPlan {
    pub(super) fn new(
        world: &World,
        terms: Rc<Terms>,
        values: Rc<dyn Values>,
        engine: Box<dyn Engine>,
        conversation: Rc<Conversation>,
    ) -> Self {
        let count = terms.ownership.count(world.rank());
        let local_length = count.saturating_mul(terms.width as u64);
        let item_bytes = values.item().size();
        let local_bytes = local_length.saturating_mul(item_bytes as u64);
        Self {
            world: world.clone(),
            local_length,
            local_bytes: usize::try_from(local_bytes).unwrap_or(usize::MAX),
            item_bytes,
            terms,
            is_local: engine.is_local_fold(),
            values,
            engine,
            conversation,
        }
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    /// The bytes of an element.
    pub fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    /// The elements of an item.
    pub fn width(&self) -> usize {
        self.terms.width
    }

    pub fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        self.engine.algorithm(operation)
    }

    /// [`Plan::own_node_lengths`](super::Plan::own_node_lengths).
    pub fn own_node_lengths(&self, operation: Operation) -> Option<Vec<usize>> {
        self.engine.own_node_lengths(operation)
    }

    /// Whether it adds floats: then there are products.
    pub fn has_products(&self) -> bool {
        self.values.has_products()
    }

    /// Writes the products of as many items, of which there are some.
    pub fn write_products(&self, factors: &[&[u8]; 2], products: &mut [u8]) {
        self.values.write_products(factors, products);
    }

    /// The elements of the result of an operation.
    pub fn result_length(&self, operation: Operation) -> usize {
        match operation {
            Operation::Reduce | Operation::Allreduce | Operation::Broadcast => self.terms.width,
            Operation::ReduceScatter => self.scattered_columns().len(),
            Operation::Scan | Operation::Exscan => self.local_length_on_this_machine(),
        }
    }

    /// This rank's columns of a reduce-scatter.
    pub fn scattered_columns(&self) -> Range<usize> {
        columns(self.terms.width, self.world.size(), self.world.rank())
    }

    pub(super) fn rounds(&self) -> Option<u64> {
        if self.is_local {
            Some(0)
        } else {
            self.engine.rounds()
        }
    }

    /// The reduction on a rank that has all items. Returns `None` in all other cases, and if anything is wrong: a [`run`](Self::run) then decides.
    ///
    /// Between other work a plan is not in cache, so this reads as little of it as possible.
    #[inline]
    pub fn fold(&self, items: &[u8], result: &mut [u8]) -> Option<()> {
        let is_valid = self.is_local
            && items.len() == self.local_bytes
            && result.len() == self.item_bytes
            && environment::check().is_ok();
        if !is_valid {
            return None;
        }
        let claim = self
            .conversation
            .begin(&self.world, Operation::Allreduce)
            .ok()?;
        self.values.fold(items, result)?;
        claim.end(Ok(())).ok()?;
        // The operator may have changed it.
        environment::check().is_ok().then_some(())
    }

    /// The number of items in so many bytes.
    fn items_in(&self, bytes: &[u8]) -> usize {
        bytes.len() / self.item_bytes
    }

    /// Makes a blocking call, by the messages of `operation`. Returns whether this rank gets a result, which it writes to `result`.
    pub fn run(
        &self,
        operation: Operation,
        call: Call,
        operands: Operands<'_>,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        if call == Operation::Allreduce.into()
            && let Operands::Items(items) = operands
            && self.fold(items, result).is_some()
        {
            return Ok(true);
        }
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

    /// Begins the call and does not wait: the result will have `result_length` elements.
    pub fn start(
        &self,
        operation: Operation,
        call: Call,
        operands: Operands<'_>,
        result_length: usize,
    ) -> Result<AnyRun, RunError> {
        let claim = self.conversation.begin(&self.world, call)?;
        let part = self.start_claimed(claim, operation, Ok(operands), result_length);
        part.map(AnyRun::new)
    }

    /// Begins a call within another one that has entered the world. An error in place of operands is why this rank takes no part.
    pub(crate) fn start_within(
        &self,
        operation: Operation,
        operands: Result<Operands<'_>, RunError>,
        result_length: usize,
    ) -> Result<Part, RunError> {
        let claim = self.conversation.begin_within(operation)?;
        self.start_claimed(claim, operation, operands, result_length)
    }

    fn start_claimed(
        &self,
        claim: Claim<'_>,
        operation: Operation,
        operands: Result<Operands<'_>, RunError>,
        result_length: usize,
    ) -> Result<Part, RunError> {
        let result_bytes = result_length.saturating_mul(self.item_bytes);
        if let Err(error) = self.check_result_length(operation, result_bytes) {
            // No run is begun, so the others hear of it at once, wherever they wait for this rank.
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
                let (world, conversation) = (&self.world, &self.conversation);
                let failure = given.err();
                Ok(Part::new(
                    world,
                    flight,
                    conversation,
                    failure,
                    result_length,
                ))
            }
            Err(error) => claim.end(Err(error)),
        }
    }

    /// A run in which this rank takes no part, for a reason of its own, which it returns. The others hear of it.
    pub(crate) fn fail(&self, call: Call, error: RunError) -> RunError {
        let claim = match self.conversation.begin(&self.world, call) {
            Ok(claim) => claim,
            Err(refused) => return refused,
        };
        let outcome = self.engine.run(call.operation, Err(error), &mut []);
        match claim.end(outcome) {
            Err(error) => error,
            Ok(_) => unreachable!("a run that is given an error returns it"),
        }
    }

    /// Takes no part in the next run of an operation, whatever the others reduce in it: this rank's call cannot be made. They hear of it.
    pub fn refuse(&self, operation: Operation) {
        let rank = self.world.rank();
        let error = || RunError::NotFolded {
            rank,
            reason: "the call cannot be made".to_owned(),
        };
        if self.terms.choice.algorithm == Algorithm::MpiNative {
            // The others wait in the library.
            self.fail(operation.into(), error());
        } else if let Ok(claim) = self.conversation.begin(&self.world, operation) {
            self.conversation.give_up();
            let _ = claim.end::<()>(Err(error()));
        }
    }

    /// Operands as an engine takes them, if nothing is wrong on this rank alone.
    fn given<'r>(
        &self,
        operation: Operation,
        operands: Operands<'r>,
        result_bytes: usize,
    ) -> Result<Given<'r>, RunError> {
        match operands {
            Operands::Items(items) => {
                self.check(operation, items, result_bytes)?;
                Ok(Given {
                    bytes: Bytes::Lent(items),
                    are_nodes: false,
                })
            }
            Operands::Pairs(pairs) => self.products(operation, pairs, result_bytes),
            Operands::Nodes(nodes) => {
                let nodes = self.check_nodes(operation, nodes, result_bytes)?;
                Ok(Given {
                    bytes: Bytes::Lent(nodes),
                    are_nodes: true,
                })
            }
        }
    }

    fn check(
        &self,
        operation: Operation,
        items: &[u8],
        result_bytes: usize,
    ) -> Result<(), RunError> {
        let rank = || self.world.rank();
        if operation != Operation::Broadcast && items.len() != self.local_bytes {
            return Err(RunError::WrongLength {
                rank: rank(),
                planned: self.planned_length(),
                given: self.items_in(items) as u64,
            });
        }
        if operation == Operation::Exscan && !self.values.has_empty() {
            return Err(RunError::NoEmptyValue {
                rank: rank(),
                operator: self.values.name().to_owned(),
            });
        }
        self.check_call(operation, result_bytes)
    }

    /// Checks what does not depend on this rank's items.
    fn check_call(&self, operation: Operation, result_bytes: usize) -> Result<(), RunError> {
        self.check_result_length(operation, result_bytes)?;
        environment::check().map_err(|error| RunError::Environment {
            rank: self.world.rank(),
            error,
        })
    }

    fn check_result_length(&self, operation: Operation, bytes: usize) -> Result<(), RunError> {
        let expected = self.result_length(operation);
        if expected.saturating_mul(self.item_bytes) == bytes {
            return Ok(());
        }
        Err(RunError::WrongResultLength {
            rank: self.world.rank(),
            expected,
            given: bytes / self.item_bytes,
        })
    }

    /// The reductions of this rank's own nodes, if there are as many as planned and nothing else is wrong.
    fn check_nodes<'n>(
        &self,
        operation: Operation,
        nodes: Result<&'n [u8], &str>,
        result_bytes: usize,
    ) -> Result<&'n [u8], RunError> {
        let rank = self.world.rank();
        let algorithm = self.terms.choice.algorithm;
        let nodes = nodes.map_err(|reason| RunError::NotFolded {
            rank,
            reason: reason.to_owned(),
        })?;
        let lengths = self.engine.own_node_lengths(operation);
        let lengths = lengths.ok_or(RunError::NoOwnNodes { rank, algorithm })?;
        let planned = lengths.len() as u128 * self.terms.width as u128;
        let given = self.items_in(nodes) as u64;
        if u128::from(given) != planned {
            return Err(RunError::WrongLength {
                rank,
                planned,
                given,
            });
        }
        self.check_call(operation, result_bytes)?;
        Ok(nodes)
    }

    /// What this rank brings to the sums of the products of pairs, a column for each: the sums of its own nodes or, where the algorithm has no
    /// such nodes, the products.
    fn products<'r>(
        &self,
        operation: Operation,
        pairs: &[[&[u8]; 2]],
        result_bytes: usize,
    ) -> Result<Given<'r>, RunError> {
        let (rank, width) = (self.world.rank(), self.terms.width);
        if pairs.len() != width {
            return Err(RunError::WrongPairs {
                rank,
                planned: width,
                given: pairs.len(),
            });
        }
        let planned = self.terms.ownership.count(rank);
        for pair in pairs {
            let [first, second] = pair.map(|factor| self.items_in(factor) as u64);
            if first != second {
                return Err(RunError::Lengths {
                    rank,
                    first,
                    second,
                });
            }
            if first != planned {
                return Err(RunError::WrongLength {
                    rank,
                    planned: planned.into(),
                    given: first,
                });
            }
        }
        self.check_call(operation, result_bytes)?;
        let item = self.item_bytes;
        let lengths = self.engine.own_node_lengths(operation);
        let are_nodes = lengths.is_some();
        let count = self.items_in(pairs[0][0]);
        let rows = lengths.as_ref().map_or(count, Vec::len);
        let mut made = Memory::zeroed(rows * width * item);
        let mut products = Memory::default();
        for (column, pair) in pairs.iter().enumerate() {
            let row = made.bytes_mut().chunks_exact_mut(width * item);
            let places = row.map(|row| &mut row[column * item..][..item]);
            if let Some(lengths) = &lengths {
                let mut first = 0;
                for (place, length) in places.zip(lengths) {
                    let [x, y] = pair.map(|factor| &factor[first..][..length * item]);
                    self.values.fold_products(x, y, place);
                    first += length * item;
                }
            } else {
                products.resize(count * item);
                self.values.write_products(pair, products.bytes_mut());
                for (place, product) in places.zip(products.bytes().chunks_exact(item)) {
                    place.copy_from_slice(product);
                }
            }
        }
        Ok(Given {
            bytes: Bytes::Made(made),
            are_nodes,
        })
    }

    /// The elements of this rank's slice, also where no memory has room for them.
    #[cold]
    fn planned_length(&self) -> u128 {
        let count = self.terms.ownership.count(self.world.rank());
        u128::from(count) * self.terms.width as u128
    }

    /// The elements of this rank's slice, as far as a slice can be in memory.
    pub(super) fn local_length_on_this_machine(&self) -> usize {
        usize::try_from(self.local_length).unwrap_or(usize::MAX)
    }
}
