//! What plans of all kinds do: of tree order, of exact sums, and by key.

use std::any::Any;
use std::ops::Range;
use std::time::Duration;

use treefold::{Algorithm, AnyPlan, AnyRun, Call, Operand, Operands, Operation, RunError, World};
use treefold_c::boundary::treefold_keyed;
use treefold_c::failure::Failure;
use treefold_c::keyed::Keys;

use crate::failure::of_run;

/// What a rank gives to a call. Items are as the plan takes them.
#[derive(Clone, Copy)]
pub(crate) enum Given<'a> {
    /// Items; none to a broadcast.
    Items(&'a [u8]),
    /// Two arrays, whose products are reduced, row by row.
    Pair([&'a [u8]; 2]),
    /// Several pairs of arrays, each of which gives an element of the result.
    Pairs(&'a [[&'a [u8]; 2]]),
    /// Items with keys.
    ByKey(Keys<'a>, &'a [u8]),
    /// A state by key, which becomes the result.
    Keyed(*const treefold_keyed),
    /// What a GPU has made of a rank's items: the folds of its own nodes, or why there are none; or their exact sum.
    #[cfg(feature = "cuda")]
    Nodes(Result<&'a [u8], &'a str>),
    #[cfg(feature = "cuda")]
    Total(&'a dyn Any),
}

/// A plan of any kind.
///
/// A call that cannot be made on this rank, for a reason that the plan does not see, is made without items by [`refuse`](Self::refuse), so that
/// the other ranks hear of it.
pub(crate) trait Reduction {
    fn world(&self) -> &World;

    /// The elements of an item.
    fn width(&self) -> usize;

    /// The algorithm that runs for an operation.
    fn algorithm(&self, operation: Operation) -> Option<Algorithm>;

    /// This rank's columns of a reduce-scatter.
    fn scattered_columns(&self) -> Range<usize>;

    /// Who sends what to whom.
    fn text(&self) -> String;

    /// A blocking operation: says whether this rank gets a result.
    fn run(
        &self,
        operation: Operation,
        given: Given<'_>,
        result: &mut [u8],
    ) -> Result<bool, Failure>;

    /// The same without the wait.
    fn start(&self, operation: Operation, given: Given<'_>) -> Result<Box<dyn UnderWay>, Failure>;

    /// Takes part in an operation without being able to: it fails, here and on the ranks that need this one.
    fn refuse(&self, operation: Operation);

    /// The same where an operation is started: does not wait, if the plan's algorithm can be started. The plan is spent.
    fn refuse_to_start(&self, operation: Operation);

    /// The lengths of this rank's own nodes, if it takes what was made of them elsewhere.
    #[cfg(feature = "cuda")]
    fn own_node_lengths(&self, _: Operation) -> Option<Vec<usize>> {
        None
    }

    /// Whether it takes an exact sum that was made elsewhere.
    #[cfg(feature = "cuda")]
    fn takes_totals(&self) -> bool {
        false
    }
}

/// A run between its start and its end.
pub(crate) trait UnderWay {
    fn test(&self) -> Result<bool, RunError>;

    fn wait_timeout(&self, timeout: Duration) -> Result<(), RunError>;

    /// Waits, and says whether this rank gets the result, of so many elements.
    fn wait(self: Box<Self>, given: usize, result: &mut [u8]) -> Result<bool, RunError>;

    /// The same where a state by key becomes the result, which runs by key alone have.
    fn wait_keyed(self: Box<Self>, keyed: *const treefold_keyed) -> Result<bool, Failure>;
}

/// Lets a run end well that cannot deliver its result here.
pub(crate) fn end(started: Box<dyn UnderWay>, failure: Failure) -> Failure {
    let _ = started.wait(0, &mut []);
    failure
}

/// A run that no state by key is for.
pub(crate) fn no_keyed_run() -> Failure {
    Failure::argument("run", "it is not by key")
}

/// Two arrays are given to a plan that takes one.
pub(crate) fn no_pairs() -> Failure {
    Failure::argument(
        "plan",
        "it takes one array of items: it is of no dot products",
    )
}

/// Keys are given to a plan that takes none.
pub(crate) fn no_keys() -> Failure {
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

/// Lets `body` make a call of what is given, on a plan in tree order; one that cannot be made is refused.
fn with<R>(
    plan: &AnyPlan,
    operation: Operation,
    given: Given<'_>,
    body: impl FnOnce(Call, Operands<'_>) -> Result<R, RunError>,
) -> Result<R, Failure> {
    let products = operation.of(Operand::Products);
    let outcome = match given {
        Given::Items(items) => body(operation.into(), Operands::Items(items)),
        Given::Pair(_) | Given::Pairs(_) if !plan.has_products() => {
            plan.refuse(operation);
            return Err(no_pairs());
        }
        Given::Pair(pair) if plan.width() == 1 => body(products, Operands::Pairs(&[pair])),
        Given::Pair(pair) => {
            let rows = products_of(plan, pair).inspect_err(|_| plan.refuse(operation))?;
            let rows = bytemuck::cast_slice(&rows);
            body(products, Operands::Items(&rows[..pair[0].len()]))
        }
        Given::Pairs(pairs) => body(products, Operands::Pairs(pairs)),
        #[cfg(feature = "cuda")]
        Given::Nodes(nodes) => body(operation.into(), Operands::Nodes(nodes)),
        _ => {
            plan.refuse(operation);
            return Err(no_keys());
        }
    };
    outcome.map_err(|error| of_run(&error))
}

/// The products of rows, element by element.
fn products_of(plan: &AnyPlan, pair: [&[u8]; 2]) -> Result<Vec<u64>, Failure> {
    let [first, second] = pair.map(|factor| factor.len() / plan.item_bytes());
    if first != second {
        return Err(of_run(&RunError::Lengths {
            rank: plan.world().rank(),
            first: first as u64,
            second: second as u64,
        }));
    }
    let bytes = pair[0].len();
    let mut products = vec![0; bytes.div_ceil(size_of::<u64>())];
    let written: &mut [u8] = bytemuck::cast_slice_mut(&mut products);
    plan.write_products(&pair, &mut written[..bytes]);
    Ok(products)
}

/// A plan in tree order.
impl Reduction for AnyPlan {
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

    fn run(
        &self,
        operation: Operation,
        given: Given<'_>,
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        with(self, operation, given, |call, operands| {
            self.run(operation, call, operands, result)
        })
    }

    fn start(&self, operation: Operation, given: Given<'_>) -> Result<Box<dyn UnderWay>, Failure> {
        let length = self.result_length(operation);
        with(self, operation, given, |call, operands| {
            let run = self.start(operation, call, operands, length)?;
            Ok(Box::new(run) as Box<dyn UnderWay>)
        })
    }

    fn refuse(&self, operation: Operation) {
        self.refuse(operation);
    }

    fn refuse_to_start(&self, operation: Operation) {
        self.refuse(operation);
    }

    #[cfg(feature = "cuda")]
    fn own_node_lengths(&self, operation: Operation) -> Option<Vec<usize>> {
        self.own_node_lengths(operation)
    }
}

impl UnderWay for AnyRun {
    fn test(&self) -> Result<bool, RunError> {
        self.test()
    }

    fn wait_timeout(&self, timeout: Duration) -> Result<(), RunError> {
        self.wait_timeout(timeout)
    }

    fn wait(self: Box<Self>, given: usize, result: &mut [u8]) -> Result<bool, RunError> {
        (*self).wait(given, result)
    }

    fn wait_keyed(self: Box<Self>, _: *const treefold_keyed) -> Result<bool, Failure> {
        Err(end(self, no_keyed_run()))
    }
}
