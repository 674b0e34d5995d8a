//! Exact sums over the ranks of a world.

use std::fmt;
use std::ops::Range;

use bytemuck::Zeroable;
use comm::text::counted;
use exact_sum::{Accumulator, ComplexProductSum, ComplexSum, Float, ProductSum, Sum};

use super::pending::Pending;
use super::words::{Merge, of_words, to_words, zeroed};
use crate::algorithm::Algorithm;
use crate::error::RunError;
use crate::operation::{Call, Operand, Operation};
use crate::plan::call;
use crate::world::World;

type Inner<A> = crate::Plan<<A as Accumulator>::Words, Merge<A>>;

/// An exact sum over the ranks of a [`World`]; `A` is what a rank adds its items up in. Made by
/// [`Builder::build_exact`](crate::Builder::build_exact).
///
/// All ranks build it together and run it together, any number of times, as a [`Plan`](crate::Plan). Nobody says who has which
/// items, or how many there are: that may change from run to run. With a [`width`](crate::Builder::width), a rank gives a row of sums,
/// which are added column by column.
///
/// Each value has the bits of the exact sum of all ranks' items, rounded once. So it depends on no algorithm, and with
/// [`Algorithm::MpiNative`] the ranks' words are added by the MPI library's own `MPI_SUM` of integers.
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
/// [Those of a `Plan`](crate::Plan#errors-of-all-runs), and [`RunError::Limit`]. A run needs the default floating-point environment; what a rank has added up
/// before is right in any.
pub struct Plan<A: Accumulator> {
    plan: Inner<A>,
}

impl<A: Accumulator> fmt::Debug for Plan<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.fmt(f)
    }
}

/// Prints this rank's part in an allreduce, step by step; a value is the words of a sum.
impl<A: Accumulator> fmt::Display for Plan<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let world = self.world();
        write!(
            f,
            "rank {} of {}: {}, {} of {} bytes",
            world.rank(),
            world.size(),
            A::name(),
            counted(self.width(), "column"),
            size_of::<A::Words>()
        )?;
        self.plan.write_steps(f)
    }
}

impl<A: Accumulator> Plan<A> {
    pub(crate) fn new(plan: Inner<A>) -> Self {
        Self { plan }
    }

    /// The world that it was built on.
    pub fn world(&self) -> &World {
        self.plan.world()
    }

    /// The number of sums in a row: 1, or as was asked for.
    pub fn width(&self) -> usize {
        self.plan.width()
    }

    /// The algorithm that runs for an operation; `None` if the plan does not offer the operation.
    pub fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        self.plan.algorithm(operation)
    }

    /// The columns that this rank gets from [`reduce_scatter`](Plan::reduce_scatter).
    pub fn scattered_columns(&self) -> Range<usize> {
        self.plan.scattered_columns()
    }

    /// Adds up the ranks' sums; every rank gets the result. Collective.
    ///
    /// # Errors
    /// As [all runs](Plan#errors-of-all-runs), or the width is not 1.
    pub fn allreduce(&self, local: &A) -> Result<A, RunError> {
        self.total(Operand::Items, local)
    }

    /// The sum of the ranks' sums, which are of this.
    fn total(&self, operand: Operand, local: &A) -> Result<A, RunError> {
        let call = Operation::Allreduce.of(operand);
        // Words are long: they are written where they are read.
        let mut words = [A::Words::zeroed()];
        self.plan.run(call, &[local.words()], &mut words)?;
        of_words(self.rank(), &words[0])
    }

    /// Adds up the ranks' rows of sums column by column; every rank gets the result. Collective.
    ///
    /// # Errors
    /// As [all runs](Plan#errors-of-all-runs), or a row does not have [`width`](Plan::width) sums.
    pub fn allreduce_into(&self, local: &[A], result: &mut [A]) -> Result<(), RunError> {
        let mut words = zeroed::<A>(result.len());
        self.plan.allreduce_into(&to_words(local), &mut words)?;
        self.write_sums(&words, result)
    }

    /// Adds up the ranks' sums; the root gets the result, the others `None`. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce). A rank that the failed one does not depend on, and that does not get the
    /// result, may not hear of the failure in this run.
    pub fn reduce(&self, local: &A) -> Result<Option<A>, RunError> {
        let mut words = [A::Words::zeroed()];
        let is_root = self.plan.reduce_into(&[local.words()], &mut words)?;
        is_root
            .then(|| of_words(self.rank(), &words[0]))
            .transpose()
    }

    /// Adds up the ranks' rows of sums column by column; the root gets the result. Collective.
    ///
    /// Says whether this rank is the root. The other ranks' `result` has the same length and is left alone.
    ///
    /// # Errors
    /// As [`reduce`](Plan::reduce), or a row does not have [`width`](Plan::width) sums.
    pub fn reduce_into(&self, local: &[A], result: &mut [A]) -> Result<bool, RunError> {
        let mut words = zeroed::<A>(result.len());
        let is_root = self.plan.reduce_into(&to_words(local), &mut words)?;
        if is_root {
            self.write_sums(&words, result)?;
        }
        Ok(is_root)
    }

    /// Adds up the ranks' rows of sums column by column; every rank gets its
    /// [`scattered_columns`](Plan::scattered_columns). Collective.
    ///
    /// # Errors
    /// As [all runs](Plan#errors-of-all-runs), or `result.len() != scattered_columns().len()`.
    pub fn reduce_scatter(&self, local: &[A], result: &mut [A]) -> Result<(), RunError> {
        let mut words = zeroed::<A>(result.len());
        self.plan.reduce_scatter(&to_words(local), &mut words)?;
        self.write_sums(&words, result)
    }

    /// The sum of the ranks up to this one, this one included. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce), or the [algorithm](Plan::algorithm) is not a schedule.
    pub fn scan(&self, local: &A) -> Result<A, RunError> {
        let mut words = [A::Words::zeroed()];
        self.plan.scan(&[local.words()], &mut words)?;
        of_words(self.rank(), &words[0])
    }

    /// The sum of the ranks below this one; on rank 0, that of no items. Collective.
    ///
    /// # Errors
    /// As [`scan`](Plan::scan).
    pub fn exscan(&self, local: &A) -> Result<A, RunError> {
        let mut words = [A::Words::zeroed()];
        self.plan.exscan(&[local.words()], &mut words)?;
        of_words(self.rank(), &words[0])
    }

    /// As [`scan`](Plan::scan), for rows of sums: `result` gets the row up to this rank. Collective.
    ///
    /// # Errors
    /// As [`scan`](Plan::scan), or a row does not have [`width`](Plan::width) sums.
    pub fn scan_into(&self, local: &[A], result: &mut [A]) -> Result<(), RunError> {
        let mut words = zeroed::<A>(result.len());
        self.plan.scan(&to_words(local), &mut words)?;
        self.write_sums(&words, result)
    }

    /// As [`exscan`](Plan::exscan), for rows of sums: `result` gets the row before this rank. Collective.
    ///
    /// # Errors
    /// As [`scan_into`](Plan::scan_into).
    pub fn exscan_into(&self, local: &[A], result: &mut [A]) -> Result<(), RunError> {
        self.row_before(Operation::Exscan, local, result)
    }

    /// What comes before this rank's items, in a scan or an exclusive scan of them.
    #[doc(hidden)]
    pub fn row_before(
        &self,
        operation: Operation,
        local: &[A],
        result: &mut [A],
    ) -> Result<(), RunError> {
        let mut words = zeroed::<A>(result.len());
        let own = to_words(local);
        self.plan
            .run_by(Operation::Exscan, operation.into(), &own, &mut words)?;
        self.write_sums(&words, result)
    }

    /// Starts [`allreduce`](Plan::allreduce); the sum is free when this returns. Collective.
    ///
    /// # Errors
    /// As [all runs](Plan#errors-of-all-runs), or the [algorithm](Plan::algorithm) is not a schedule; or the width is not 1, of which the
    /// other ranks hear that start such a run.
    pub fn start_allreduce(&self, local: &A) -> Result<Pending<call::Allreduce, A>, RunError> {
        let run = self.plan.start_allreduce(&[local.words()])?;
        Ok(Pending::new(run))
    }

    /// Starts [`allreduce_into`](Plan::allreduce_into), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_allreduce_row(
        &self,
        local: &[A],
    ) -> Result<Pending<call::AllreduceRow, A>, RunError> {
        let run = self.plan.start_allreduce_row(&to_words(local))?;
        Ok(Pending::new(run))
    }

    /// Starts [`reduce`](Plan::reduce), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce(&self, local: &A) -> Result<Pending<call::Reduce, A>, RunError> {
        let run = self.plan.start_reduce(&[local.words()])?;
        Ok(Pending::new(run))
    }

    /// Starts [`reduce_into`](Plan::reduce_into), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce_row(&self, local: &[A]) -> Result<Pending<call::ReduceRow, A>, RunError> {
        let run = self.plan.start_reduce_row(&to_words(local))?;
        Ok(Pending::new(run))
    }

    /// Starts [`reduce_scatter`](Plan::reduce_scatter), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce_scatter(
        &self,
        local: &[A],
    ) -> Result<Pending<call::ReduceScatter, A>, RunError> {
        let run = self.plan.start_reduce_scatter(&to_words(local))?;
        Ok(Pending::new(run))
    }

    /// Starts [`scan`](Plan::scan), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_scan(&self, local: &A) -> Result<Pending<call::Scan, A>, RunError> {
        let run = self.plan.start(Operation::Scan, &[local.words()], 1)?;
        Ok(Pending::new(run))
    }

    /// Starts [`exscan`](Plan::exscan), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_exscan(&self, local: &A) -> Result<Pending<call::Scan, A>, RunError> {
        let run = self.plan.start(Operation::Exscan, &[local.words()], 1)?;
        Ok(Pending::new(run))
    }

    /// Starts [`scan_into`](Plan::scan_into), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_scan_row(&self, local: &[A]) -> Result<Pending<call::Scan, A>, RunError> {
        let run = self.plan.start_scan(&to_words(local))?;
        Ok(Pending::new(run))
    }

    /// Starts [`exscan_into`](Plan::exscan_into), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_exscan_row(&self, local: &[A]) -> Result<Pending<call::Scan, A>, RunError> {
        self.start_row_before(Operation::Exscan, local)
    }

    /// Starts [`row_before`](Plan::row_before).
    #[doc(hidden)]
    pub fn start_row_before(
        &self,
        operation: Operation,
        local: &[A],
    ) -> Result<Pending<call::Scan, A>, RunError> {
        let (own, width) = (to_words(local), self.width());
        let run = self
            .plan
            .start_by(Operation::Exscan, operation.into(), &own, width)?;
        Ok(Pending::new(run))
    }

    /// The steps in which this rank communicated in the last blocking run: see [`Plan::rounds`](crate::Plan::rounds).
    pub fn rounds(&self) -> Option<u64> {
        self.plan.rounds()
    }

    fn rank(&self) -> usize {
        self.world().rank()
    }

    /// Leaves what words stand for in `result`.
    fn write_sums(&self, words: &[A::Words], result: &mut [A]) -> Result<(), RunError> {
        let rank = self.rank();
        let checked = words.iter().try_for_each(A::check_words);
        checked.map_err(|error| RunError::Limit { rank, error })?;
        for (sum, words) in result.iter_mut().zip(words) {
            *sum = of_words(rank, words)?;
        }
        Ok(())
    }

    /// Takes no part in a call, for a reason of this rank's own, of which the others hear.
    fn fail<R>(&self, call: impl Into<Call>, error: RunError) -> Result<R, RunError> {
        Err(self.plan.fail(call, error))
    }
}

impl<T: Float> Plan<Sum<T>> {
    /// The sum of all ranks' items, rounded once: see [`Sum::value`]. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce).
    pub fn sum(&self, items: &[T]) -> Result<T, RunError> {
        Ok(self.allreduce(&Sum::of(items))?.value())
    }

    /// The sums of the columns of all ranks' rows, each rounded once. A rank may have any number of rows. Collective.
    ///
    /// # Errors
    /// As [`allreduce_into`](Plan::allreduce_into), or `items` are not whole rows.
    pub fn sum_rows(&self, items: &[T], result: &mut [T]) -> Result<(), RunError> {
        let width = self.width();
        if !items.len().is_multiple_of(width) {
            let (rank, values) = (self.rank(), items.len() as u64);
            return self.fail(
                Operation::Allreduce,
                RunError::NotRows {
                    rank,
                    values,
                    width: width as u64,
                },
            );
        }
        let mut sums = vec![Sum::new(); width];
        Sum::add_rows(&mut sums, items);
        // A result of another length is an error of the run.
        let mut total = vec![Sum::new(); result.len()];
        self.allreduce_into(&sums, &mut total)?;
        for (value, sum) in result.iter_mut().zip(&total) {
            *value = sum.value();
        }
        Ok(())
    }

    /// For each of this rank's items, the sum of all items up to it, it included, those of the ranks below first; each rounded once.
    /// Collective.
    ///
    /// # Errors
    /// As [`scan`](Plan::scan), or `result` is not as long as `items`.
    pub fn scan_items(&self, items: &[T], result: &mut [T]) -> Result<(), RunError> {
        self.prefixes(Operation::Scan, items, result, |before, item| {
            before.add(&[item]);
            before.value()
        })
    }

    /// For each of this rank's items, the sum of all items before it, those of the ranks below first; each rounded once. Collective.
    ///
    /// # Errors
    /// As [`scan_items`](Plan::scan_items).
    pub fn exscan_items(&self, items: &[T], result: &mut [T]) -> Result<(), RunError> {
        self.prefixes(Operation::Exscan, items, result, |before, item| {
            let value = before.value();
            before.add(&[item]);
            value
        })
    }

    fn prefixes(
        &self,
        operation: Operation,
        items: &[T],
        result: &mut [T],
        mut step: impl FnMut(&mut Sum<T>, T) -> T,
    ) -> Result<(), RunError> {
        if items.len() != result.len() {
            let wrong = RunError::WrongResultLength {
                rank: self.rank(),
                expected: items.len(),
                given: result.len(),
            };
            return self.fail(operation, wrong);
        }
        let mut before = [Sum::new()];
        self.row_before(operation, &[Sum::of(items)], &mut before)?;
        for (value, &item) in result.iter_mut().zip(items) {
            *value = step(&mut before[0], item);
        }
        Ok(())
    }
}

impl<T: Float> Plan<ProductSum<T>> {
    /// The sum of all ranks' products x0 * y0, x1 * y1, …, rounded once: see [`ProductSum::value`]. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce), or the slices differ in length.
    pub fn dot(&self, x: &[T], y: &[T]) -> Result<T, RunError> {
        self.check_lengths(Operand::Items, x.len(), y.len())?;
        Ok(self.allreduce(&ProductSum::of(x, y))?.value())
    }

    /// The square root of the sum of the squares of all ranks' items, rounded once: see [`ProductSum::root`]. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce).
    pub fn norm(&self, x: &[T]) -> Result<T, RunError> {
        Ok(self.total(Operand::Norm, &ProductSum::of(x, x))?.root())
    }
}

impl<A: Accumulator> Plan<A> {
    /// Whether slices of pairs are of one length; if not, the other ranks hear of it.
    fn check_lengths(&self, operand: Operand, first: usize, second: usize) -> Result<(), RunError> {
        if first == second {
            return Ok(());
        }
        let wrong = RunError::Lengths {
            rank: self.rank(),
            first: first as u64,
            second: second as u64,
        };
        self.fail(Operation::Allreduce.of(operand), wrong)
    }
}

impl<T: Float> Plan<ComplexSum<T>> {
    /// The sum of all ranks' complex items, each part rounded once. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce).
    pub fn sum(&self, items: &[[T; 2]]) -> Result<[T; 2], RunError> {
        let mut local = ComplexSum::new();
        local.add(items);
        Ok(self.allreduce(&local)?.value())
    }
}

impl<T: Float> Plan<ComplexProductSum<T>> {
    /// The sum of all ranks' products x0 * y0, x1 * y1, …, each part rounded once. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce), or the slices differ in length.
    pub fn dot(&self, x: &[[T; 2]], y: &[[T; 2]]) -> Result<[T; 2], RunError> {
        self.check_lengths(Operand::Items, x.len(), y.len())?;
        let mut local = ComplexProductSum::new();
        local.add(x, y);
        Ok(self.allreduce(&local)?.value())
    }

    /// The same with the complex conjugates of x0, x1, …. Collective.
    ///
    /// # Errors
    /// As [`dot`](Plan::dot).
    pub fn conjugate_dot(&self, x: &[[T; 2]], y: &[[T; 2]]) -> Result<[T; 2], RunError> {
        let operand = Operand::ConjugateProducts;
        self.check_lengths(operand, x.len(), y.len())?;
        let mut local = ComplexProductSum::new();
        local.add_conjugate(x, y);
        Ok(self.total(operand, &local)?.value())
    }
}
