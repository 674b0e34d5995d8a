//! Dot products and norms over ranks, in tree order: what is added is computed on the way, and lies nowhere in memory.

use bytemuck::Pod;
use simd_kernels::Float;

use super::{Pending, Plan, call};
use crate::error::RunError;
use crate::operation::{Call, Operand, Operation};
use crate::operator::{Operator, Sum};

/// The factors of a dot product: as many items in both.
pub type Factors<'x, T> = [&'x [T]; 2];

/// What those know who ask for products, which are of some items.
const ARE_FLOATS: &str = "the operator is a sum of floats";

/// What this rank brings to a sum of products.
enum Products<T> {
    /// The sums of its own nodes.
    Nodes(Vec<T>),
    /// The products, where the algorithm has no such nodes.
    Rows(Vec<T>),
}

impl<T: Float + Pod> Plan<T, Sum>
where
    Sum: Operator<T>,
{
    /// The sum of the products of the ranks' items, x0 * y0, x1 * y1, … in tree order: the bits of [`dot`](crate::dot) of all items in one
    /// process. Every rank gets it. Collective.
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
    /// As [all runs](Plan#errors-of-all-runs), or the slices differ in length, or the [width](Plan::width) is not 1.
    pub fn dot(&self, x: &[T], y: &[T]) -> Result<T, RunError> {
        let mut result = [T::zeroed()];
        self.dots(&[[x, y]], &mut result)?;
        Ok(result[0])
    }

    /// [`dot`](Plan::dot) of several pairs at once, which go in one message: as many as the plan's [width](Plan::width). Collective.
    ///
    /// # Errors
    /// As [`dot`](Plan::dot), or there are more or fewer pairs or results.
    pub fn dots(&self, pairs: &[Factors<'_, T>], result: &mut [T]) -> Result<(), RunError> {
        self.run_products(Operation::Allreduce, pairs, result)
            .map(drop)
    }

    /// [`dot`](Plan::dot) whose result the root alone gets, the others `None`. Collective.
    ///
    /// # Errors
    /// As [`dot`](Plan::dot).
    pub fn reduce_dot(&self, x: &[T], y: &[T]) -> Result<Option<T>, RunError> {
        let mut result = [T::zeroed()];
        let is_root = self.run_products(Operation::Reduce, &[[x, y]], &mut result)?;
        Ok(is_root.then_some(result[0]))
    }

    /// Starts [`dot`](Plan::dot), as [`start_allreduce`](Plan::start_allreduce): from its return on, the slices are free. Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_dot(&self, x: &[T], y: &[T]) -> Result<Pending<call::Allreduce, T>, RunError> {
        self.start_products(Operation::Allreduce, &[[x, y]])
    }

    /// Starts [`dots`](Plan::dots), as [`start_dot`](Plan::start_dot). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_dots(
        &self,
        pairs: &[Factors<'_, T>],
    ) -> Result<Pending<call::AllreduceRow, T>, RunError> {
        self.start_products(Operation::Allreduce, pairs)
    }
}

/// For operators that are chosen when a program runs.
impl<T: Pod, O: Operator<T> + 'static> Plan<T, O> {
    /// The products of as many items; `None` if the operator is no sum of floats.
    #[doc(hidden)]
    pub fn products_of(&self, x: &[T], y: &[T]) -> Option<Vec<T>> {
        let mut products = vec![T::zeroed(); x.len()];
        self.operator
            .write_products(x, y, &mut products)
            .then_some(products)
    }

    #[doc(hidden)]
    pub fn run_products(
        &self,
        operation: Operation,
        pairs: &[Factors<'_, T>],
        result: &mut [T],
    ) -> Result<bool, RunError> {
        self.run_factors(operation.of(Operand::Products), pairs, result)
    }

    fn run_factors(
        &self,
        call: Call,
        pairs: &[Factors<'_, T>],
        result: &mut [T],
    ) -> Result<bool, RunError> {
        let claim = self.conversation.begin(&self.world, call)?;
        let operation = call.operation;
        let products = self.products(operation, pairs, result.len());
        let result = bytemuck::cast_slice_mut(result);
        let outcome = match products {
            Ok(Products::Nodes(nodes)) => {
                let nodes = bytemuck::cast_slice(&nodes);
                self.engine.run_folded(operation, nodes, result)
            }
            Ok(Products::Rows(rows)) => {
                let rows = Ok(bytemuck::cast_slice(&rows));
                self.engine.run(operation, rows, result)
            }
            Err(error) => self.engine.run(operation, Err(error), result),
        };
        claim.end(outcome)
    }

    #[doc(hidden)]
    pub fn start_products<C>(
        &self,
        operation: Operation,
        pairs: &[Factors<'_, T>],
    ) -> Result<Pending<C, T>, RunError> {
        let call = operation.of(Operand::Products);
        let claim = self.conversation.begin(&self.world, call)?;
        let (started, failure) = match self.products(operation, pairs, pairs.len()) {
            Ok(Products::Nodes(nodes)) => {
                let nodes = bytemuck::cast_slice(&nodes);
                (self.engine.start_folded(operation, Some(nodes)), None)
            }
            Ok(Products::Rows(rows)) => {
                let rows = bytemuck::cast_slice(&rows);
                (self.engine.start(operation, Some(rows)), None)
            }
            Err(error) => (self.engine.start(operation, None), Some(error)),
        };
        self.under_way(claim, started, failure, self.terms.width)
            .map(Pending::new)
    }

    /// What this rank brings to the sums of the products of pairs, a column for each.
    fn products(
        &self,
        operation: Operation,
        pairs: &[Factors<'_, T>],
        result_length: usize,
    ) -> Result<Products<T>, RunError> {
        let (rank, width) = (self.world.rank(), self.terms.width);
        if pairs.len() != width {
            return Err(RunError::WrongPairs {
                rank,
                planned: width,
                given: pairs.len(),
            });
        }
        let planned = self.terms.ownership.count(rank);
        for [x, y] in pairs {
            let [first, second] = [x, y].map(|factor| factor.len() as u64);
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
        self.check_call(operation, result_length)?;
        let Some(lengths) = self.engine.own_node_lengths(operation) else {
            let columns = pairs.iter().map(|[x, y]| self.products_of(x, y));
            let columns: Vec<Vec<T>> = columns.map(|column| column.expect(ARE_FLOATS)).collect();
            let row = |item: usize| columns.iter().map(move |column| column[item]);
            return Ok(Products::Rows(
                (0..pairs[0][0].len()).flat_map(row).collect(),
            ));
        };
        let mut nodes = vec![T::zeroed(); lengths.len() * width];
        for (column, factors) in pairs.iter().enumerate() {
            let mut first = 0;
            for (node, length) in nodes.chunks_exact_mut(width).zip(&lengths) {
                let [x, y] = factors.map(|factor| &factor[first..first + length]);
                let sum = self.operator.fold_products(x, y);
                node[column] = sum.expect(ARE_FLOATS);
                first += length;
            }
        }
        Ok(Products::Nodes(nodes))
    }
}

macro_rules! norm {
    ($float:ident) => {
        impl Plan<$float, Sum> {
            /// The square root of the sum of the squares of the ranks' items: that of [`dot`](Plan::dot) of the slice with itself. Every rank
            /// gets it. Collective.
            ///
            /// # Errors
            /// As [`dot`](Plan::dot).
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
