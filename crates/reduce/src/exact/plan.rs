//! Exact sums over the ranks of a world.

use std::marker::PhantomData;

use bytemuck::{Zeroable, cast_slice, cast_slice_mut};
use exact_sum::{Accumulator, ComplexProductSum, ComplexSum, Float, ProductSum, Sum};

use super::quantity::{ComplexDots, ComplexSums, Dots, Exactly, Norms, Quantity, Sums};
use super::words::{of_words, sums, to_words, write};
use crate::error::RunError;
use crate::operation::{Call, Operand, Operation};
use crate::plan::{AnyPending, AnyPlan, Operands, Pending, dereferences};

/// A plan for exact sums over the ranks of a [`World`](crate::World). A rank adds up its items in an `A`. Made by
/// [`Builder::build_exact`](crate::Builder::build_exact).
///
/// All ranks build the plan together and run it together, any number of times, like a [`Plan`](crate::Plan). Each rank's items, and their
/// number, may change from run to run. With a [`width`](crate::Builder::width), a rank passes a row of sums, which are added column by
/// column.
///
/// Each value has the bits of the exact sum of all ranks' items, rounded once, whatever the algorithm. With
/// [`Algorithm::MpiNative`](crate::Algorithm::MpiNative), the MPI library's own `MPI_SUM` of integers adds the ranks' sums.
///
/// ```
/// use reduce::{Plan, exact, threads};
///
/// let norms = threads::run(2, |world| {
///     let plan = Plan::builder(world).build_exact::<exact::ProductSum<f64>>().unwrap();
///     plan.norm(&[3e-200, 4e-200][world.rank()..][..1]).unwrap()
/// })?;
/// assert_eq!(norms, [5e-200; 2]);
/// # Ok::<(), threads::RunError>(())
/// ```
///
/// # Errors of all runs
///
/// The [errors of a `Plan`](crate::Plan#errors-of-all-runs), and [`RunError::Limit`]. A run needs the default floating-point environment;
/// sums that a rank has already added up are right in any environment.
pub struct Plan<A: Accumulator> {
    plan: AnyPlan,
    sums: PhantomData<fn() -> A>,
}

dereferences!([A: Accumulator] Plan<A>);

impl<A: Accumulator> Plan<A> {
    pub(crate) fn new(plan: AnyPlan) -> Self {
        let sums = PhantomData;
        Self { plan, sums }
    }

    /// Adds up the ranks' sums; every rank gets the result. Collective.
    ///
    /// # Errors
    /// Those of [all runs](Plan#errors-of-all-runs), or an error if the width is not 1.
    pub fn allreduce(&self, local: &A) -> Result<A, RunError> {
        let sum = self.run_one(Operation::Allreduce, local)?;
        Ok(sum.expect("every rank gets it"))
    }

    /// Adds up the ranks' rows of sums column by column; every rank gets the result. Collective.
    ///
    /// # Errors
    /// Those of [all runs](Plan#errors-of-all-runs), or an error if a row does not have [`width`](crate::AnyPlan::width) sums.
    pub fn allreduce_into(&self, local: &[A], result: &mut [A]) -> Result<(), RunError> {
        self.run(Operation::Allreduce, local, result).map(drop)
    }

    /// Adds up the ranks' sums; the root gets the result, all other ranks get `None`. Collective.
    ///
    /// # Errors
    /// Those of [`allreduce`](Plan::allreduce). A rank that neither depends on the failed rank nor gets the result
    /// may not learn of the failure in this run.
    pub fn reduce(&self, local: &A) -> Result<Option<A>, RunError> {
        self.run_one(Operation::Reduce, local)
    }

    /// Adds up the ranks' rows of sums column by column; the root gets the result. Collective.
    ///
    /// Returns whether this rank is the root. On the other ranks, `result` must have the same length, and does not change.
    ///
    /// # Errors
    /// Those of [`reduce`](Plan::reduce), or an error if a row does not have [`width`](crate::AnyPlan::width) sums.
    pub fn reduce_into(&self, local: &[A], result: &mut [A]) -> Result<bool, RunError> {
        self.run(Operation::Reduce, local, result)
    }

    /// Adds up the ranks' rows of sums column by column; every rank gets its
    /// [`scattered_columns`](crate::AnyPlan::scattered_columns). Collective.
    ///
    /// # Errors
    /// Those of [all runs](Plan#errors-of-all-runs), or an error if `result.len() != scattered_columns().len()`.
    pub fn reduce_scatter(&self, local: &[A], result: &mut [A]) -> Result<(), RunError> {
        self.run(Operation::ReduceScatter, local, result).map(drop)
    }

    /// Adds up the sums of ranks 0 to this rank. Collective.
    ///
    /// # Errors
    /// Those of [`allreduce`](Plan::allreduce), or an error if the [algorithm](crate::AnyPlan::algorithm) is not a schedule.
    pub fn scan(&self, local: &A) -> Result<A, RunError> {
        let sum = self.run_one(Operation::Scan, local)?;
        Ok(sum.expect("every rank gets one"))
    }

    /// Adds up the sums of the ranks below this rank; on rank 0, returns the sum of no items. Collective.
    ///
    /// # Errors
    /// Those of [`scan`](Plan::scan).
    pub fn exscan(&self, local: &A) -> Result<A, RunError> {
        let sum = self.run_one(Operation::Exscan, local)?;
        Ok(sum.expect("every rank gets one"))
    }

    /// Like [`scan`](Plan::scan), for rows of sums, column by column. Collective.
    ///
    /// # Errors
    /// Those of [`scan`](Plan::scan), or an error if a row does not have [`width`](crate::AnyPlan::width) sums.
    pub fn scan_into(&self, local: &[A], result: &mut [A]) -> Result<(), RunError> {
        self.run(Operation::Scan, local, result).map(drop)
    }

    /// Like [`exscan`](Plan::exscan), for rows of sums, column by column. Collective.
    ///
    /// # Errors
    /// Those of [`scan_into`](Plan::scan_into).
    pub fn exscan_into(&self, local: &[A], result: &mut [A]) -> Result<(), RunError> {
        self.run(Operation::Exscan, local, result).map(drop)
    }

    /// Starts [`allreduce`](Plan::allreduce). When this call returns, `local` is free for other use. Collective.
    ///
    /// # Errors
    /// Those of [all runs](Plan#errors-of-all-runs), or an error if the [algorithm](crate::AnyPlan::algorithm) is not a schedule. If the
    /// width is not 1, all ranks that make this call get an error.
    pub fn start_allreduce(&self, local: &A) -> Result<Pending<A>, RunError> {
        self.start_one(Operation::Allreduce, local, sum)
    }

    /// Starts [`allreduce_into`](Plan::allreduce_into), in the same way as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce).
    pub fn start_allreduce_row(&self, local: &[A]) -> Result<Pending<Vec<A>>, RunError> {
        self.start(Operation::Allreduce, local, row)
    }

    /// Starts [`reduce`](Plan::reduce), in the same way as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce(&self, local: &A) -> Result<Pending<Option<A>>, RunError> {
        self.start_one(Operation::Reduce, local, sum_of_root)
    }

    /// Starts [`reduce_into`](Plan::reduce_into), in the same way as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce_row(&self, local: &[A]) -> Result<Pending<Option<Vec<A>>>, RunError> {
        self.start(Operation::Reduce, local, row_of_root)
    }

    /// Starts [`reduce_scatter`](Plan::reduce_scatter), in the same way as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce_scatter(&self, local: &[A]) -> Result<Pending<Vec<A>>, RunError> {
        self.start(Operation::ReduceScatter, local, row)
    }

    /// Starts [`scan`](Plan::scan), in the same way as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce).
    pub fn start_scan(&self, local: &A) -> Result<Pending<A>, RunError> {
        self.start_one(Operation::Scan, local, sum)
    }

    /// Starts [`exscan`](Plan::exscan), in the same way as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce).
    pub fn start_exscan(&self, local: &A) -> Result<Pending<A>, RunError> {
        self.start_one(Operation::Exscan, local, sum)
    }

    /// Starts [`scan_into`](Plan::scan_into), in the same way as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce).
    pub fn start_scan_row(&self, local: &[A]) -> Result<Pending<Vec<A>>, RunError> {
        self.start(Operation::Scan, local, row)
    }

    /// Starts [`exscan_into`](Plan::exscan_into), in the same way as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce).
    pub fn start_exscan_row(&self, local: &[A]) -> Result<Pending<Vec<A>>, RunError> {
        self.start(Operation::Exscan, local, row)
    }

    fn run_one(&self, operation: Operation, local: &A) -> Result<Option<A>, RunError> {
        // The words of a sum are long, so they are written directly to the memory from which they are read.
        let mut words = [A::Words::zeroed()];
        let own = [local.words()];
        let own = Operands::Items(cast_slice(&own));
        let is_mine = self
            .plan
            .run_items(operation.into(), own, cast_slice_mut(&mut words))?;
        let rank = self.world().rank();
        is_mine.then(|| of_words(rank, &words[0])).transpose()
    }

    fn run(&self, operation: Operation, local: &[A], result: &mut [A]) -> Result<bool, RunError> {
        let (rank, own) = (self.world().rank(), to_words(local));
        let own = Operands::Items(cast_slice(&own));
        let mut words = vec![A::Words::zeroed(); result.len()];
        let is_mine = self
            .plan
            .run_items(operation.into(), own, cast_slice_mut(&mut words))?;
        if is_mine {
            write(rank, &words, result, |sum| sum)?;
        }
        Ok(is_mine)
    }

    fn start_one<R: 'static>(
        &self,
        operation: Operation,
        local: &A,
        read: impl FnOnce(AnyPending) -> Result<R, RunError> + 'static,
    ) -> Result<Pending<R>, RunError> {
        let own = [local.words()];
        let own = Operands::Items(cast_slice(&own));
        let run = self.plan.start_items(operation.into(), own, 1)?;
        Ok(Pending::new(run, read))
    }

    fn start<R: 'static>(
        &self,
        operation: Operation,
        local: &[A],
        read: impl FnOnce(AnyPending) -> Result<R, RunError> + 'static,
    ) -> Result<Pending<R>, RunError> {
        let own = to_words(local);
        let own = Operands::Items(cast_slice(&own));
        let length = self.plan.result_length(operation);
        let run = self.plan.start_items(operation.into(), own, length)?;
        Ok(Pending::new(run, read))
    }

    /// Computes a quantity of all ranks' items.
    fn make<Q: Quantity<Total = A>>(
        &self,
        call: impl Into<Call>,
        operands: Operands<'_>,
        result: &mut [Q::Item],
    ) -> Result<(), RunError> {
        let result = cast_slice_mut(result);
        let run = self
            .plan
            .run_encoded(&Exactly::<Q>::NEW, call.into(), operands, result);
        run.map(drop)
    }

    fn make_one<Q: Quantity<Total = A>>(
        &self,
        call: impl Into<Call>,
        operands: Operands<'_>,
    ) -> Result<Q::Item, RunError> {
        let mut result = [Q::Item::zeroed()];
        self.make::<Q>(call, operands, &mut result)?;
        Ok(result[0])
    }
}

/// The sum of the ranks' sums, if this rank gets that sum.
fn sum_of_root<A: Accumulator>(run: AnyPending) -> Result<Option<A>, RunError> {
    let got = run.wait_for_values::<A::Words>()?;
    got.map(|(rank, words)| of_words(rank, &words[0]))
        .transpose()
}

fn sum<A: Accumulator>(run: AnyPending) -> Result<A, RunError> {
    sum_of_root(run).map(|sum| sum.expect("every rank gets one"))
}

/// Like [`sum_of_root`], for rows.
fn row_of_root<A: Accumulator>(run: AnyPending) -> Result<Option<Vec<A>>, RunError> {
    let got = run.wait_for_values::<A::Words>()?;
    got.map(|(rank, words)| sums(rank, &words)).transpose()
}

fn row<A: Accumulator>(run: AnyPending) -> Result<Vec<A>, RunError> {
    row_of_root(run).map(Option::unwrap_or_default)
}

impl<T: Float> Plan<Sum<T>> {
    /// The sum of all ranks' items, rounded once: see [`Sum::value`]. Collective.
    ///
    /// # Errors
    /// Those of [`allreduce`](Plan::allreduce).
    pub fn sum(&self, items: &[T]) -> Result<T, RunError> {
        let items = Operands::Items(cast_slice(items));
        self.make_one::<Sums<T>>(Operation::Allreduce, items)
    }

    /// The sums of the columns of all ranks' rows, each rounded once. A rank may have any number of rows. Collective.
    ///
    /// # Errors
    /// Those of [`allreduce_into`](Plan::allreduce_into), or an error if `items` are not whole rows.
    pub fn sum_rows(&self, items: &[T], result: &mut [T]) -> Result<(), RunError> {
        let items = Operands::Items(cast_slice(items));
        self.make::<Sums<T>>(Operation::Allreduce, items, result)
    }

    /// Writes, for each of this rank's items, the sum of all items up to and including that item, rounded once. Lower ranks' items come
    /// first. Collective.
    ///
    /// # Errors
    /// Those of [`scan`](Plan::scan), or an error if `result` is not as long as `items`.
    pub fn scan_items(&self, items: &[T], result: &mut [T]) -> Result<(), RunError> {
        let items = Operands::Items(cast_slice(items));
        self.make::<Sums<T>>(Operation::Scan, items, result)
    }

    /// Like [`scan_items`](Plan::scan_items), but writes the sum of all items before each item. Collective.
    ///
    /// # Errors
    /// Those of [`scan_items`](Plan::scan_items).
    pub fn exscan_items(&self, items: &[T], result: &mut [T]) -> Result<(), RunError> {
        let items = Operands::Items(cast_slice(items));
        self.make::<Sums<T>>(Operation::Exscan, items, result)
    }
}

impl<T: Float> Plan<ProductSum<T>> {
    /// The sum of all ranks' products x0 * y0, x1 * y1, …, rounded once: see [`ProductSum::value`]. Collective.
    ///
    /// # Errors
    /// Those of [`allreduce`](Plan::allreduce), or an error if the slices differ in length.
    pub fn dot(&self, x: &[T], y: &[T]) -> Result<T, RunError> {
        let pair = Operands::Pair([cast_slice(x), cast_slice(y)]);
        self.make_one::<Dots<T>>(Operation::Allreduce, pair)
    }

    /// The square root of the sum of the squares of all ranks' items, rounded once: see [`ProductSum::root`]. Collective.
    ///
    /// # Errors
    /// Those of [`allreduce`](Plan::allreduce).
    pub fn norm(&self, x: &[T]) -> Result<T, RunError> {
        let (call, items) = (Operation::Allreduce.of(Operand::Norm), cast_slice(x));
        self.make_one::<Norms<T>>(call, Operands::Items(items))
    }
}

impl<T: Float> Plan<ComplexSum<T>> {
    /// The sum of all ranks' complex items. Its real and its imaginary part are each rounded once. Collective.
    ///
    /// # Errors
    /// Those of [`allreduce`](Plan::allreduce).
    pub fn sum(&self, items: &[[T; 2]]) -> Result<[T; 2], RunError> {
        let items = Operands::Items(cast_slice(items));
        self.make_one::<ComplexSums<T>>(Operation::Allreduce, items)
    }
}

impl<T: Float> Plan<ComplexProductSum<T>> {
    /// The sum of all ranks' products x0 * y0, x1 * y1, …. Its real and its imaginary part are each rounded once. Collective.
    ///
    /// # Errors
    /// Those of [`allreduce`](Plan::allreduce), or an error if the slices differ in length.
    pub fn dot(&self, x: &[[T; 2]], y: &[[T; 2]]) -> Result<[T; 2], RunError> {
        let pair = Operands::Pair([cast_slice(x), cast_slice(y)]);
        self.make_one::<ComplexDots<T, false>>(Operation::Allreduce, pair)
    }

    /// Like [`dot`](Plan::dot), with the complex conjugates of x0, x1, …. Collective.
    ///
    /// # Errors
    /// Those of [`dot`](Plan::dot).
    pub fn conjugate_dot(&self, x: &[[T; 2]], y: &[[T; 2]]) -> Result<[T; 2], RunError> {
        let call = Operation::Allreduce.of(Operand::ConjugateProducts);
        let pair = Operands::Pair([cast_slice(x), cast_slice(y)]);
        self.make_one::<ComplexDots<T, true>>(call, pair)
    }
}
