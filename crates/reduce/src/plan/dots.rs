//! Dot products and norms over ranks, in tree order. Plans that run a schedule compute the products on the fly, without storing them.

use bytemuck::Pod;
use simd_kernels::Float;

use super::pending::{item, items};
use super::{AnyPending, Operands, Pending, Plan};
use crate::error::RunError;
use crate::operation::{Call, Operand, Operation};
use crate::operator::{Operator, Sum};

/// The factors of a dot product: two slices of the same length.
pub type Factors<'x, T> = [&'x [T]; 2];

impl<T: Float + Pod> Plan<T, Sum>
where
    Sum: Operator<T>,
{
    /// The sum of the products of the ranks' items, x0 * y0, x1 * y1, …, in tree order. It has the bits of [`dot`](crate::dot) of all items
    /// in one process. Every rank gets the sum. Collective.
    ///
    /// ```
    /// use reduce::{Plan, threads};
    ///
    /// let (x, y) = ([0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]);
    /// let found = threads::run(2, |world| {
    ///     let own = 2 * world.rank()..2 * world.rank() + 2;
    ///     let plan = Plan::builder(world).local_items(2).build::<f64>().unwrap();
    ///     let dot = plan.dot(&x[own.clone()], &y[own.clone()]).unwrap();
    ///     [dot, plan.norm2(&x[own]).unwrap()]
    /// })?;
    /// let square: f64 = reduce::squared_norm(&x)?;
    /// assert_eq!(found, [[reduce::dot(&x, &y)?, square.sqrt()]; 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [all runs](Plan#errors-of-all-runs), or an error if the lengths differ or the [width](crate::AnyPlan::width) is not 1.
    pub fn dot(&self, x: &[T], y: &[T]) -> Result<T, RunError> {
        let mut result = [T::zeroed()];
        self.dots(&[[x, y]], &mut result)?;
        Ok(result[0])
    }

    /// Computes [`dot`](Plan::dot) for several pairs at once, with as many messages as for one pair. The plan's
    /// [width](crate::AnyPlan::width) is the number of pairs. Collective.
    ///
    /// # Errors
    /// Those of [`dot`](Plan::dot), or an error if the number of pairs or of results is not the width.
    pub fn dots(&self, pairs: &[Factors<'_, T>], result: &mut [T]) -> Result<(), RunError> {
        let call = Operation::Allreduce.of(Operand::Products);
        self.run_factors(call, pairs, result).map(drop)
    }

    /// Like [`dot`](Plan::dot), but only the root gets the result; the other ranks get `None`. Collective.
    ///
    /// # Errors
    /// Those of [`dot`](Plan::dot).
    pub fn reduce_dot(&self, x: &[T], y: &[T]) -> Result<Option<T>, RunError> {
        let mut result = [T::zeroed()];
        let call = Operation::Reduce.of(Operand::Products);
        let is_root = self.run_factors(call, &[[x, y]], &mut result)?;
        Ok(is_root.then_some(result[0]))
    }

    /// Starts [`dot`](Plan::dot), in the same way as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce).
    pub fn start_dot(&self, x: &[T], y: &[T]) -> Result<Pending<T>, RunError> {
        self.start_products(&[[x, y]], item)
    }

    /// Starts [`dots`](Plan::dots), in the same way as [`start_dot`](Plan::start_dot). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](Plan::start_allreduce).
    pub fn start_dots(&self, pairs: &[Factors<'_, T>]) -> Result<Pending<Vec<T>>, RunError> {
        self.start_products(pairs, items)
    }

    fn run_factors(
        &self,
        call: Call,
        pairs: &[Factors<'_, T>],
        result: &mut [T],
    ) -> Result<bool, RunError> {
        let pairs = bytes_of(pairs);
        let result = bytemuck::cast_slice_mut(result);
        self.plan.run(call, Operands::Pairs(&pairs), result)
    }

    fn start_products<R: 'static>(
        &self,
        pairs: &[Factors<'_, T>],
        read: impl FnOnce(AnyPending) -> Result<R, RunError> + 'static,
    ) -> Result<Pending<R>, RunError> {
        let call = Operation::Allreduce.of(Operand::Products);
        let pairs = bytes_of(pairs);
        let run = self.plan.start(call, Operands::Pairs(&pairs))?;
        Ok(Pending::new(run, read))
    }
}

fn bytes_of<'x, T: Pod>(pairs: &[Factors<'x, T>]) -> Vec<Factors<'x, u8>> {
    let bytes = |pair: &Factors<'x, T>| pair.map(|factor| bytemuck::cast_slice(factor));
    pairs.iter().map(bytes).collect()
}

macro_rules! norm {
    ($float:ident) => {
        impl Plan<$float, Sum> {
            /// The Euclidean norm of the ranks' items: the square root of the [`dot`](Plan::dot) product of the items with themselves. Every
            /// rank gets the norm. Collective.
            ///
            /// # Errors
            /// Those of [`dot`](Plan::dot).
            pub fn norm2(&self, x: &[$float]) -> Result<$float, RunError> {
                let mut square = [0.0];
                let call = Operation::Allreduce.of(Operand::Norm);
                self.run_factors(call, &[[x, x]], &mut square)?;
                Ok(square[0].sqrt())
            }
        }
    };
}

norm!(f32);
norm!(f64);
