//! What plans of all kinds do: of tree order, of exact sums, and by key.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;
use treefold::{
    Algorithm, AnyPlan, AnyRun, Call, Operand, Operands, Operation, Operator, Plan, RunError, World,
};
use treefold_c::boundary::treefold_keyed;
use treefold_c::failure::Failure;
use treefold_c::keyed::Keys;

use crate::failure::of_run;
use crate::run::UnderWay;

/// A plan of any kind, on items of a type.
pub(crate) trait Reduction<T>: 'static {
    /// A run of it.
    type Started: UnderWay<T> + 'static;

    fn world(&self) -> &World;

    /// The elements of an item.
    fn width(&self) -> usize;

    fn algorithm(&self, operation: Operation) -> Option<Algorithm>;

    fn scattered_columns(&self) -> Range<usize>;

    fn text(&self) -> String;

    /// An allreduce of single items.
    fn allreduce(&self, local: &[T]) -> Result<T, Failure>;

    /// A blocking operation: says whether this rank gets a result.
    fn run(&self, operation: Operation, local: &[T], result: &mut [T]) -> Result<bool, Failure>;

    /// The same on pairs of items.
    fn run_pairs(&self, operation: Operation, _: [&[T]; 2], _: &mut [T]) -> Result<bool, Failure> {
        self.refuse(operation);
        Err(no_pairs())
    }

    /// Several dot products at once: each pair of arrays gives an element of the result.
    fn run_dots(
        &self,
        operation: Operation,
        _: &[[&[T]; 2]],
        _: &mut [T],
    ) -> Result<bool, Failure> {
        self.refuse(operation);
        Err(no_pairs())
    }

    /// The same on items with keys, which plans by key alone have.
    fn run_by_key(
        &self,
        operation: Operation,
        _: Keys<'_>,
        _: &[T],
        _: &mut [T],
    ) -> Result<bool, Failure> {
        self.refuse(operation);
        Err(no_keys())
    }

    /// The same on a state by key, which becomes the result.
    fn run_keyed(&self, operation: Operation, _: *const treefold_keyed) -> Result<bool, Failure> {
        self.refuse(operation);
        Err(no_keys())
    }

    fn start(&self, operation: Operation, local: &[T]) -> Result<Self::Started, Failure>;

    /// The same on pairs of items.
    fn start_pairs(&self, operation: Operation, _: [&[T]; 2]) -> Result<Self::Started, Failure> {
        self.refuse_to_start(operation);
        Err(no_pairs())
    }

    /// Several dot products at once.
    fn start_dots(&self, operation: Operation, _: &[[&[T]; 2]]) -> Result<Self::Started, Failure> {
        self.refuse_to_start(operation);
        Err(no_pairs())
    }

    /// The same on items with keys, which plans by key alone have.
    fn start_by_key(
        &self,
        operation: Operation,
        _: Keys<'_>,
        _: &[T],
    ) -> Result<Self::Started, Failure> {
        self.refuse_to_start(operation);
        Err(no_keys())
    }

    /// As [`AnyPlan::refuse`](crate::plan::AnyPlan::refuse).
    fn refuse(&self, operation: Operation);

    /// As [`AnyPlan::refuse_to_start`](crate::plan::AnyPlan::refuse_to_start).
    fn refuse_to_start(&self, operation: Operation);
}

/// Two arrays are given to a plan that takes one.
pub(crate) fn no_pairs() -> Failure {
    Failure::argument(
        "plan",
        "it takes one array of items: it is of no dot products",
    )
}

/// Keys are given to a plan that takes none.
fn no_keys() -> Failure {
    Failure::argument("plan", "it takes items without keys: it is not by key")
}

/// Whether a result has as many elements as it should.
pub(crate) fn check_length(rank: usize, expected: usize, given: usize) -> Result<(), RunError> {
    if expected == given {
        Ok(())
    } else {
        Err(RunError::WrongResultLength {
            rank,
            expected,
            given,
        })
    }
}

/// What comes of starting an operation with items that cannot be right: the run is abandoned, or its failure told by `refuse`.
pub(crate) fn end_refused<S>(world: &World, started: Result<S, RunError>, refuse: impl FnOnce()) {
    match started {
        Ok(started) => {
            drop(started);
            world.tell_abandoned();
        }
        Err(RunError::NotOffered { .. }) => refuse(),
        Err(_) => {}
    }
}

/// A plan in tree order on items of a type, whatever its operator.
pub(crate) struct InTree<T> {
    plan: AnyPlan,
    items: PhantomData<T>,
}

impl<T: Pod> InTree<T> {
    pub(crate) fn new<O: Operator<T> + 'static>(plan: Plan<T, O>) -> Self {
        Self {
            plan: plan.into_any(),
            items: PhantomData,
        }
    }

    #[cfg(feature = "cuda")]
    pub(crate) fn own_node_lengths(&self, operation: Operation) -> Option<Vec<usize>> {
        self.plan.own_node_lengths(operation)
    }

    /// The products of rows, element by element.
    ///
    /// # Errors
    /// The plan is of no dot products, or the arrays' lengths differ.
    fn products(&self, x: &[T], y: &[T]) -> Result<Vec<T>, Failure> {
        if !self.plan.has_products() {
            return Err(no_pairs());
        }
        if x.len() != y.len() {
            return Err(of_run(&RunError::Lengths {
                rank: self.plan.world().rank(),
                first: x.len() as u64,
                second: y.len() as u64,
            }));
        }
        let mut products = vec![T::zeroed(); x.len()];
        let factors = [x, y].map(bytemuck::cast_slice);
        self.plan
            .write_products(&factors, bytemuck::cast_slice_mut(&mut products));
        Ok(products)
    }

    /// A blocking call.
    pub(crate) fn run_on(
        &self,
        call: impl Into<Call>,
        operands: Operands<'_>,
        result: &mut [T],
    ) -> Result<bool, Failure> {
        let call = call.into();
        let result = bytemuck::cast_slice_mut(result);
        let outcome = self.plan.run(call.operation, call, operands, result);
        outcome.map_err(|error| of_run(&error))
    }

    /// The same without the wait.
    pub(crate) fn start_on(
        &self,
        call: impl Into<Call>,
        operands: Operands<'_>,
    ) -> Result<AnyRun, Failure> {
        let call = call.into();
        let length = self.plan.result_length(call.operation);
        let started = self.plan.start(call.operation, call, operands, length);
        started.map_err(|error| of_run(&error))
    }
}

fn items<T: Pod>(local: &[T]) -> Operands<'_> {
    Operands::Items(bytemuck::cast_slice(local))
}

fn pairs_of<'x, T: Pod>(pairs: &[[&'x [T]; 2]]) -> Vec<[&'x [u8]; 2]> {
    let bytes = |pair: &[&'x [T]; 2]| pair.map(|factor| bytemuck::cast_slice(factor));
    pairs.iter().map(bytes).collect()
}

impl<T: Pod> Reduction<T> for InTree<T> {
    type Started = AnyRun;

    fn world(&self) -> &World {
        self.plan.world()
    }

    fn width(&self) -> usize {
        self.plan.width()
    }

    fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        self.plan.algorithm(operation)
    }

    fn scattered_columns(&self) -> Range<usize> {
        self.plan.scattered_columns()
    }

    fn text(&self) -> String {
        self.plan.to_string()
    }

    #[inline]
    fn allreduce(&self, local: &[T]) -> Result<T, Failure> {
        let mut result = [T::zeroed()];
        self.run_on(Operation::Allreduce, items(local), &mut result)?;
        Ok(result[0])
    }

    fn run(&self, operation: Operation, local: &[T], result: &mut [T]) -> Result<bool, Failure> {
        let local = match operation {
            Operation::Broadcast => &[],
            _ => local,
        };
        self.run_on(operation, items(local), result)
    }

    fn run_pairs(
        &self,
        operation: Operation,
        [x, y]: [&[T]; 2],
        result: &mut [T],
    ) -> Result<bool, Failure> {
        if self.plan.width() == 1 {
            return self.run_dots(operation, &[[x, y]], result);
        }
        let rows = self.products(x, y);
        let rows = rows.inspect_err(|_| self.plan.refuse(operation))?;
        self.run_on(operation.of(Operand::Products), items(&rows), result)
    }

    fn run_dots(
        &self,
        operation: Operation,
        pairs: &[[&[T]; 2]],
        result: &mut [T],
    ) -> Result<bool, Failure> {
        if !self.plan.has_products() {
            self.plan.refuse(operation);
            return Err(no_pairs());
        }
        let pairs = pairs_of(pairs);
        let call = operation.of(Operand::Products);
        self.run_on(call, Operands::Pairs(&pairs), result)
    }

    fn start(&self, operation: Operation, local: &[T]) -> Result<AnyRun, Failure> {
        self.start_on(operation, items(local))
    }

    fn start_pairs(&self, operation: Operation, [x, y]: [&[T]; 2]) -> Result<AnyRun, Failure> {
        if self.plan.width() == 1 {
            return self.start_dots(operation, &[[x, y]]);
        }
        let rows = self.products(x, y);
        let rows = rows.inspect_err(|_| self.plan.refuse(operation))?;
        self.start_on(operation.of(Operand::Products), items(&rows))
    }

    fn start_dots(&self, operation: Operation, pairs: &[[&[T]; 2]]) -> Result<AnyRun, Failure> {
        if !self.plan.has_products() {
            self.plan.refuse(operation);
            return Err(no_pairs());
        }
        let pairs = pairs_of(pairs);
        let call = operation.of(Operand::Products);
        self.start_on(call, Operands::Pairs(&pairs))
    }

    fn refuse(&self, operation: Operation) {
        self.plan.refuse(operation);
    }

    fn refuse_to_start(&self, operation: Operation) {
        self.plan.refuse(operation);
    }
}
