//! A plan of any kind. Its items are bytes, so the code that all plans share is compiled only once.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use distribution::Ownership;
use schedule::Schedule;

use super::form::Form;
use super::request::PlanKind;
use crate::algorithm::Algorithm;
use crate::engines::Engine;
use crate::engines::scheduled::columns;
use crate::engines::terms::{Choice, Terms};
use crate::engines::values::{Memory, Values};
use crate::operation::Operation;
use crate::operator::PlainFold;
use crate::world::World;
use crate::world::conversation::Conversation;

/// A plan of any kind: [`Plan`](crate::Plan), [`LanesPlan`](crate::LanesPlan), [`exact::Plan`](crate::exact::Plan) and
/// [`KeyedPlan`](crate::exact::KeyedPlan) dereference to it. Plans of sums by 64-bit keys have no rows and no algorithm, and
/// their width is 1.
///
/// A plan printed with `{}` shows the steps of this rank in an allreduce, the cost of scattered items, and the operations that run another
/// algorithm.
///
/// ```
/// use reduce::{Algorithm, Plan, threads};
///
/// let printed = threads::run(2, |world| {
///     let builder = Plan::builder(world).local_items(3);
///     let plan = builder.algorithm(Algorithm::RecursiveDoubling).build::<f64>().unwrap();
///     plan.to_string()
/// })?;
/// assert_eq!(
///     printed[1],
///     "rank 1 of 2: sum of 6 items of 1 element, 3 of them here, by recursive-doubling\n\
///      fold this rank's items into 2 values\n\
///      step 1: send 2 values to rank 0; receive 2 values from rank 0\n\
///      combine 3 times\n\
///      other operations: reduce and broadcast by binomial\n"
/// );
/// # Ok::<(), threads::RunError>(())
/// ```
// The order of the fields puts those that a fold reads in one cache line.
#[repr(C)]
pub struct AnyPlan {
    /// The function that performs an allreduce, if that is only a fold of a call's items by an operator that makes no calls on plans.
    pub(super) fold: Option<PlainFold>,
    /// The length of this rank's slice, in elements and in bytes. The maximum of the type if the slice is too long for any memory.
    pub(super) local_length: u64,
    pub(super) local_bytes: usize,
    /// The size of a row; the greatest number if a row is too long for any memory.
    pub(super) row_bytes: usize,
    pub(crate) conversation: Rc<Conversation>,
    pub(super) world: World,
    /// Whether this rank has all items, in order. A reduction is then only a fold, without the engine.
    pub(super) is_local: bool,
    pub(super) item_bytes: usize,
    pub(super) kind: PlanKind,
    pub(super) values: Rc<dyn Values>,
    pub(super) terms: Rc<Terms>,
    /// Shared with runs under way.
    pub(super) engine: Rc<dyn Engine>,
    pub(super) form: Form,
    /// Encoded items, and the result before it is decoded. Runs reuse this memory.
    pub(super) scratch: Cell<[Memory; 2]>,
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
        kind: PlanKind,
        terms: Rc<Terms>,
        values: Rc<dyn Values>,
        engine: Rc<dyn Engine>,
        conversation: Rc<Conversation>,
    ) -> Self {
        let count = terms.ownership.count(world.rank());
        let local_length = count.saturating_mul(terms.width as u64);
        let item_bytes = values.item().size();
        let local_bytes = local_length.saturating_mul(item_bytes as u64);
        let local_bytes = usize::try_from(local_bytes).unwrap_or(usize::MAX);
        let is_local = engine.is_local_fold();
        let is_fold = is_local && isize::try_from(local_bytes).is_ok();
        Self {
            world: world.clone(),
            local_length,
            local_bytes,
            item_bytes,
            row_bytes: item_bytes.saturating_mul(terms.width),
            terms,
            is_local,
            fold: is_fold.then(|| values.plain_fold()).flatten(),
            values,
            engine,
            conversation,
            kind,
            form: Form::Items,
            scratch: Cell::default(),
        }
    }

    /// This plan, in another form.
    pub(crate) fn with_form(&self, form: Form) -> Self {
        Self {
            world: self.world.clone(),
            terms: Rc::clone(&self.terms),
            values: Rc::clone(&self.values),
            engine: Rc::clone(&self.engine),
            conversation: Rc::clone(&self.conversation),
            fold: self.fold.filter(|_| matches!(form, Form::Items)),
            form,
            scratch: Cell::default(),
            ..*self
        }
    }

    /// The world that the plan was built on.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Which rank owns which items or, for a sum in lanes, which rows of lanes.
    pub fn ownership(&self) -> &Ownership {
        &self.terms.ownership
    }

    /// The number of elements of an item: more than 1 if items are rows; the number of lanes or keys, for sums in lanes or by key.
    pub fn width(&self) -> usize {
        self.terms.width
    }

    /// The algorithm that runs for an operation; `None` if the plan does not offer the operation.
    ///
    /// Some algorithms run another algorithm for some operations: a plan by `ring`, for example, runs a reduce along a binomial tree.
    /// [`Schedule::effective`](schedule::Schedule::effective) has the table.
    ///
    /// ```
    /// use reduce::{Algorithm, Operation, Plan, threads};
    ///
    /// threads::run(2, |world| {
    ///     let builder = Plan::builder(world).local_items(1).algorithm(Algorithm::Ring);
    ///     let plan = builder.build::<f64>().unwrap();
    ///     assert_eq!(plan.algorithm(Operation::Allreduce), Some(Algorithm::Ring));
    ///     assert_eq!(plan.algorithm(Operation::Reduce), Some(Algorithm::Binomial));
    /// })?;
    /// # Ok::<(), threads::RunError>(())
    /// ```
    pub fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        self.engine.algorithm(operation)
    }

    /// The schedule that runs for an operation, for the checker and the simulator of crate `schedule`; `None` if no schedule runs, as with
    /// [`Algorithm::MpiNative`].
    pub fn schedule(&self, operation: Operation) -> Option<Schedule> {
        self.engine.schedule(operation)
    }

    pub(crate) fn root(&self) -> usize {
        self.terms.root
    }

    /// The size of the engine's items, in bytes.
    pub(crate) fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    /// The number of column blocks in which an allreduce reduces a row.
    pub fn blocks(&self) -> usize {
        let Choice {
            parameters, strips, ..
        } = self.terms.choice;
        parameters.blocks.max(strips)
    }

    /// The columns that this rank gets from a reduce-scatter.
    pub fn scattered_columns(&self) -> Range<usize> {
        columns(self.terms.width, self.world.size(), self.world.rank())
    }

    /// The number of steps in which this rank communicated in the last blocking run. `None` before the first run, or if the algorithm is not
    /// a schedule.
    ///
    /// A run of sums by key has several stages; only the steps of the stage that adds the keys' rows are counted.
    pub fn rounds(&self) -> Option<u64> {
        if self.is_local {
            Some(0)
        } else {
            self.engine.rounds()
        }
    }

    /// The lengths, in rows, of the runs of rows that this rank folds separately before it communicates, in order.
    /// `None` if the [algorithm](crate::AnyPlan::algorithm) is not a schedule.
    ///
    /// This is for rows that are folded elsewhere, such as on a GPU: [`Plan::allreduce_folded`](crate::Plan::allreduce_folded) and the
    /// other `_folded` methods accept the folds of these runs, one row for each run, in place of the rows.
    ///
    /// ```
    /// use reduce::{Operation, Plan, threads};
    ///
    /// let totals = threads::run(2, |world| {
    ///     let local = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]][world.rank()];
    ///     let plan = Plan::builder(world).local_items(3).build::<f64>().unwrap();
    ///     let mut rest = &local[..];
    ///     let mut fold = |length| reduce::sum(rest.split_off(..length).unwrap()).unwrap();
    ///     let lengths = plan.own_node_lengths(Operation::Allreduce).unwrap();
    ///     let nodes: Vec<f64> = lengths.into_iter().map(&mut fold).collect();
    ///     let mut total = [0.0];
    ///     plan.allreduce_folded(Ok(&nodes), &mut total).unwrap();
    ///     total[0]
    /// })?;
    /// let sum = reduce::sum(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).unwrap();
    /// assert_eq!(totals, [sum, sum]);
    /// # Ok::<(), threads::RunError>(())
    /// ```
    pub fn own_node_lengths(&self, operation: Operation) -> Option<Vec<usize>> {
        self.engine.own_node_lengths(operation)
    }

    /// Whether the plan adds floats in tree order, so that it can reduce products.
    #[doc(hidden)]
    pub fn has_products(&self) -> bool {
        matches!(self.form, Form::Items) && self.values.has_products()
    }

    /// The number of the engine's elements in the result of an operation.
    #[doc(hidden)]
    pub fn result_length(&self, operation: Operation) -> usize {
        match operation {
            Operation::Reduce | Operation::Allreduce | Operation::Broadcast => self.terms.width,
            Operation::ReduceScatter => self.scattered_columns().len(),
            Operation::Scan | Operation::Exscan => {
                usize::try_from(self.local_length).unwrap_or(usize::MAX)
            }
        }
    }
}
