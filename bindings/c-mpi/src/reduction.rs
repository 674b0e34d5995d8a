//! What plans of all kinds do: of tree order, of exact sums, and by key.

use std::ops::Range;

use bytemuck::Pod;
use treefold::{Algorithm, Call, Operand, Operation, Operator, Plan, RunError, World};
use treefold_c::boundary::treefold_keyed;
use treefold_c::failure::Failure;
use treefold_c::keyed::Keys;

use crate::failure::of_run;
use crate::run::{Started, UnderWay};

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

impl<T: Pod, O: Operator<T> + 'static> Reduction<T> for Plan<T, O> {
    type Started = Started<T>;

    fn world(&self) -> &World {
        self.world()
    }

    fn width(&self) -> usize {
        self.width()
    }

    fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        self.algorithm(operation)
    }

    fn scattered_columns(&self) -> Range<usize> {
        self.scattered_columns()
    }

    fn text(&self) -> String {
        self.to_string()
    }

    #[inline]
    fn allreduce(&self, local: &[T]) -> Result<T, Failure> {
        self.allreduce(local).map_err(|error| of_run(&error))
    }

    fn run(&self, operation: Operation, local: &[T], result: &mut [T]) -> Result<bool, Failure> {
        let local = match operation {
            Operation::Broadcast => &[],
            _ => local,
        };
        self.run(operation, local, result)
            .map_err(|error| of_run(&error))
    }

    fn run_pairs(
        &self,
        operation: Operation,
        [x, y]: [&[T]; 2],
        result: &mut [T],
    ) -> Result<bool, Failure> {
        if self.width() == 1 {
            return self.run_dots(operation, &[[x, y]], result);
        }
        let rows = products(self, x, y).inspect_err(|_| Reduction::refuse(self, operation))?;
        self.run(operation.of(Operand::Products), &rows, result)
            .map_err(|error| of_run(&error))
    }

    fn run_dots(
        &self,
        operation: Operation,
        pairs: &[[&[T]; 2]],
        result: &mut [T],
    ) -> Result<bool, Failure> {
        if !has_products(self) {
            Reduction::refuse(self, operation);
            return Err(no_pairs());
        }
        self.run_products(operation, pairs, result)
            .map_err(|error| of_run(&error))
    }

    fn start(&self, operation: Operation, local: &[T]) -> Result<Started<T>, Failure> {
        start(self, operation.into(), local).map_err(|error| of_run(&error))
    }

    fn start_pairs(&self, operation: Operation, [x, y]: [&[T]; 2]) -> Result<Started<T>, Failure> {
        if self.width() == 1 {
            return self.start_dots(operation, &[[x, y]]);
        }
        let rows = products(self, x, y);
        let rows = rows.inspect_err(|_| Reduction::refuse_to_start(self, operation))?;
        start(self, operation.of(Operand::Products), &rows).map_err(|error| of_run(&error))
    }

    fn start_dots(&self, operation: Operation, pairs: &[[&[T]; 2]]) -> Result<Started<T>, Failure> {
        if !has_products(self) {
            Reduction::refuse_to_start(self, operation);
            return Err(no_pairs());
        }
        let started = match operation {
            Operation::Reduce => self.start_products(operation, pairs).map(Started::Reduce),
            _ => self
                .start_products(operation, pairs)
                .map(Started::Allreduce),
        };
        started.map_err(|error| of_run(&error))
    }

    fn refuse(&self, operation: Operation) {
        self.refuse(operation);
    }

    fn refuse_to_start(&self, operation: Operation) {
        self.refuse(operation);
    }
}

/// Whether a plan adds floats.
fn has_products<T: Pod, O: Operator<T> + 'static>(plan: &Plan<T, O>) -> bool {
    plan.products_of(&[], &[]).is_some()
}

/// The products of rows, element by element.
///
/// # Errors
/// The plan is of no dot products, or the arrays' lengths differ.
fn products<T: Pod, O: Operator<T>>(
    plan: &Plan<T, O>,
    x: &[T],
    y: &[T],
) -> Result<Vec<T>, Failure> {
    if x.len() != y.len() {
        return Err(of_run(&RunError::Lengths {
            rank: plan.world().rank(),
            first: x.len() as u64,
            second: y.len() as u64,
        }));
    }
    plan.products_of(x, y).ok_or_else(no_pairs)
}

fn start<T: Pod, O: Operator<T>>(
    plan: &Plan<T, O>,
    call: Call,
    local: &[T],
) -> Result<Started<T>, RunError> {
    let width = plan.width();
    match call.operation {
        Operation::Allreduce => plan.start(call, local, width).map(Started::Allreduce),
        Operation::Reduce => plan.start(call, local, width).map(Started::Reduce),
        Operation::ReduceScatter => plan.start_reduce_scatter(local).map(Started::ReduceScatter),
        Operation::Scan => plan.start_scan(local).map(Started::Scan),
        Operation::Exscan => plan.start_exscan(local).map(Started::Scan),
        _ => unreachable!("no other operation can be started"),
    }
}
