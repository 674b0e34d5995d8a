//! Plans of exact sums: each rank passes any number of items, whose sum, norm or dot product is rounded once.

pub(crate) use treefold_c::figure;

#[cfg(feature = "cuda")]
use std::any::Any;
use std::ops::Range;
use std::time::Duration;

use bytemuck::Pod;
use treefold::exact::{self, Pending};
use treefold::{Algorithm, Operation, RunError, World, call};
use treefold_c::boundary::treefold_keyed;
use treefold_c::failure::{Code, Failure};

use self::figure::Quantity;
use crate::failure::of_run;
use crate::items::{typed, typed_mut};
use crate::reduction::{
    Given, Reduction, UnderWay, check_length, end, end_refused, no_keyed_run, no_keys, no_pairs,
};

/// A plan of exact sums, on a program's items.
pub(crate) struct ExactPlan<Q: Quantity> {
    plan: exact::Plan<Q::Total>,
}

impl<Q: Quantity> ExactPlan<Q> {
    pub(crate) fn new(plan: exact::Plan<Q::Total>) -> Self {
        Self { plan }
    }

    /// This rank's part: a row of sums.
    fn local(&self, x: &[Q::Item], y: &[Q::Item]) -> Result<Vec<Q::Total>, RunError> {
        let (rank, width) = (self.plan.world().rank(), self.plan.width());
        if Q::TAKES_PAIRS {
            check_pair(rank, x, y)?;
        }
        if !x.len().is_multiple_of(width) {
            return Err(RunError::NotRows {
                rank,
                values: x.len() as u64,
                width: width as u64,
            });
        }
        let mut totals = vec![Q::Total::default(); width];
        match &mut totals[..] {
            [total] => Q::add(total, x, y),
            totals => Q::add_rows(totals, x, y),
        }
        Ok(totals)
    }

    /// The same of arrays that lie apart: each pair gives an element of the row.
    fn local_of(&self, pairs: &[[&[Q::Item]; 2]]) -> Result<Vec<Q::Total>, RunError> {
        let (rank, planned, given) = (self.plan.world().rank(), self.plan.width(), pairs.len());
        if given != planned {
            return Err(RunError::WrongPairs {
                rank,
                planned,
                given,
            });
        }
        let mut totals = vec![Q::Total::default(); planned];
        for (total, [x, y]) in totals.iter_mut().zip(pairs) {
            check_pair(rank, x, y)?;
            Q::add(total, x, y);
        }
        Ok(totals)
    }

    fn run_on(
        &self,
        operation: Operation,
        [x, y]: [&[Q::Item]; 2],
        result: &mut [Q::Item],
    ) -> Result<bool, RunError> {
        let local = self.local(x, y).inspect_err(|_| self.refuse(operation))?;
        if matches!(operation, Operation::Scan | Operation::Exscan) {
            let wrong = self.check_prefixes(x, result);
            wrong.inspect_err(|_| self.refuse(operation))?;
            let mut before = vec![Q::Total::default(); self.plan.width()];
            self.plan.row_before(operation, &local, &mut before)?;
            prefixes::<Q>(&mut before, x, result, operation == Operation::Scan);
            return Ok(true);
        }
        self.run_totals(operation, &local, result)
    }

    /// A reduction of this rank's row of sums.
    fn run_totals(
        &self,
        operation: Operation,
        local: &[Q::Total],
        result: &mut [Q::Item],
    ) -> Result<bool, RunError> {
        let mut totals = vec![Q::Total::default(); result.len()];
        let mut is_mine = true;
        match operation {
            Operation::Allreduce => self.plan.allreduce_into(local, &mut totals)?,
            Operation::Reduce => is_mine = self.plan.reduce_into(local, &mut totals)?,
            Operation::ReduceScatter => self.plan.reduce_scatter(local, &mut totals)?,
            _ => unreachable!("scans are no reductions, and there is no other"),
        }
        if is_mine {
            write_values::<Q>(&totals, result);
        }
        Ok(is_mine)
    }

    fn start_on(
        &self,
        operation: Operation,
        [x, y]: [&[Q::Item]; 2],
    ) -> Result<ExactStarted<Q>, RunError> {
        let local = self.local(x, y);
        let local = local.inspect_err(|_| self.refuse_to_start(operation))?;
        self.start_totals(operation, &local, x)
    }

    fn start_totals(
        &self,
        operation: Operation,
        local: &[Q::Total],
        items: &[Q::Item],
    ) -> Result<ExactStarted<Q>, RunError> {
        let plan = &self.plan;
        let pending = match operation {
            Operation::Allreduce => plan.start_allreduce_row(local).map(Kind::Allreduce)?,
            Operation::Reduce => plan.start_reduce_row(local).map(Kind::Reduce)?,
            Operation::ReduceScatter => {
                plan.start_reduce_scatter(local).map(Kind::ReduceScatter)?
            }
            Operation::Scan | Operation::Exscan => {
                let before = plan.start_row_before(operation, local)?;
                let is_inclusive = operation == Operation::Scan;
                Kind::Prefixes {
                    before,
                    items: items.to_vec(),
                    is_inclusive,
                }
            }
            _ => unreachable!("no other operation can be started"),
        };
        let rank = plan.world().rank();
        Ok(ExactStarted { rank, pending })
    }

    fn check_prefixes(&self, items: &[Q::Item], result: &[Q::Item]) -> Result<(), RunError> {
        check_length(self.plan.world().rank(), items.len(), result.len())
    }

    /// Whether the call is one for this plan.
    fn check_given(&self, operation: Operation, given: Given<'_>) -> Result<(), Failure> {
        let takes_pairs = match given {
            Given::Items(_) => false,
            Given::Pair(_) | Given::Pairs(_) => true,
            #[cfg(feature = "cuda")]
            Given::Total(_) => Q::TAKES_PAIRS,
            _ => return Err(no_keys()),
        };
        if operation == Operation::Broadcast {
            let message = "plans of exact sums have no broadcast";
            return Err(Failure::new(Code::Unsupported, message));
        }
        match (Q::TAKES_PAIRS, takes_pairs) {
            (true, false) => Err(Failure::argument(
                "plan",
                "it is of dot products, which take two arrays: treefold_allreduce_dot",
            )),
            (false, true) => Err(no_pairs()),
            _ => Ok(()),
        }
    }
}

impl<Q: Quantity> Reduction for ExactPlan<Q> {
    fn world(&self) -> &World {
        self.plan.world()
    }

    fn width(&self) -> usize {
        self.plan.width()
    }

    fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        let is_offered = match operation {
            Operation::Allreduce | Operation::Reduce => true,
            Operation::Broadcast => false,
            _ => !Q::TAKES_PAIRS,
        };
        is_offered.then(|| self.plan.algorithm(operation))?
    }

    fn scattered_columns(&self) -> Range<usize> {
        self.plan.scattered_columns()
    }

    fn text(&self) -> String {
        self.plan.to_string()
    }

    fn run(
        &self,
        operation: Operation,
        given: Given<'_>,
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        self.check_given(operation, given)
            .inspect_err(|_| self.refuse(operation))?;
        let result = typed_mut(result);
        let outcome = match (given, &mut *result) {
            // One sum of one rank needs no rows.
            (Given::Items(local), [result])
                if operation == Operation::Allreduce && self.plan.width() == 1 =>
            {
                let mut total = Q::Total::default();
                Q::add(&mut total, typed(local), &[]);
                let total = self.plan.allreduce(&total);
                total.map(|total| *result = Q::value(&total)).map(|()| true)
            }
            (Given::Pairs(pairs), _) => {
                let local = self.local_of(&typed_pairs(pairs));
                let local = local.inspect_err(|_| self.refuse(operation));
                local.and_then(|local| self.run_totals(operation, &local, result))
            }
            #[cfg(feature = "cuda")]
            (Given::Total(total), _) => self.run_totals(operation, &[of_any::<Q>(total)], result),
            _ => self.run_on(operation, arrays(given), result),
        };
        outcome.map_err(|error| of_run(&error))
    }

    fn start(&self, operation: Operation, given: Given<'_>) -> Result<Box<dyn UnderWay>, Failure> {
        self.check_given(operation, given)
            .inspect_err(|_| self.refuse_to_start(operation))?;
        let started = match given {
            Given::Pairs(pairs) => {
                let local = self.local_of(&typed_pairs(pairs));
                let local = local.inspect_err(|_| self.refuse_to_start(operation));
                local.and_then(|local| self.start_totals(operation, &local, &[]))
            }
            #[cfg(feature = "cuda")]
            Given::Total(total) => self.start_totals(operation, &[of_any::<Q>(total)], &[]),
            _ => self.start_on(operation, arrays(given)),
        };
        let started = started.map_err(|error| of_run(&error))?;
        Ok(Box::new(started))
    }

    /// A row of no sums is never right.
    fn refuse(&self, operation: Operation) {
        let _ = match operation {
            Operation::Allreduce => self.plan.allreduce_into(&[], &mut []),
            Operation::Reduce => self.plan.reduce_into(&[], &mut []).map(drop),
            Operation::ReduceScatter => self.plan.reduce_scatter(&[], &mut []),
            Operation::Scan | Operation::Exscan => self.plan.row_before(operation, &[], &mut []),
            // No rank waits for one.
            _ => Ok(()),
        };
    }

    fn refuse_to_start(&self, operation: Operation) {
        let started = self.start_totals(operation, &[], &[]);
        end_refused(self.world(), started, || self.refuse(operation));
    }

    /// There are no kernels for exact sums of rows.
    #[cfg(feature = "cuda")]
    fn takes_totals(&self) -> bool {
        self.plan.width() == 1
    }
}

/// The arrays of a call that takes one or two.
fn arrays<T: Pod>(given: Given<'_>) -> [&[T]; 2] {
    match given {
        Given::Items(local) => [typed(local), &[]],
        Given::Pair(pair) => pair.map(typed),
        _ => unreachable!("the call was checked"),
    }
}

fn typed_pairs<'x, T: Pod>(pairs: &[[&'x [u8]; 2]]) -> Vec<[&'x [T]; 2]> {
    pairs.iter().map(|pair| pair.map(typed)).collect()
}

#[cfg(feature = "cuda")]
fn of_any<Q: Quantity>(total: &dyn Any) -> Q::Total {
    let total = total.downcast_ref::<Q::Total>();
    total.expect("a plan's items are of its type").clone()
}

fn check_pair<T>(rank: usize, x: &[T], y: &[T]) -> Result<(), RunError> {
    let [first, second] = [x, y].map(|factor| factor.len() as u64);
    if first == second {
        Ok(())
    } else {
        Err(RunError::Lengths {
            rank,
            first,
            second,
        })
    }
}

fn write_values<Q: Quantity>(totals: &[Q::Total], result: &mut [Q::Item]) {
    for (value, total) in result.iter_mut().zip(totals) {
        *value = Q::value(total);
    }
}

/// Every item's prefix, from the row of sums of all items before this rank's.
fn prefixes<Q: Quantity>(
    before: &mut [Q::Total],
    items: &[Q::Item],
    result: &mut [Q::Item],
    is_inclusive: bool,
) {
    let width = before.len();
    for (row, result) in items.chunks(width).zip(result.chunks_mut(width)) {
        for ((total, item), value) in before.iter_mut().zip(row).zip(result) {
            if is_inclusive {
                Q::add(total, std::slice::from_ref(item), &[]);
                *value = Q::value(total);
            } else {
                *value = Q::value(total);
                Q::add(total, std::slice::from_ref(item), &[]);
            }
        }
    }
}

/// A run of an exact plan.
pub(crate) struct ExactStarted<Q: Quantity> {
    rank: usize,
    pending: Kind<Q>,
}

enum Kind<Q: Quantity> {
    Allreduce(Pending<call::AllreduceRow, Q::Total>),
    Reduce(Pending<call::ReduceRow, Q::Total>),
    ReduceScatter(Pending<call::ReduceScatter, Q::Total>),
    /// What comes before this rank's items, from which every item's prefix is made in the end. The caller's array may have changed then.
    Prefixes {
        before: Pending<call::Scan, Q::Total>,
        items: Vec<Q::Item>,
        is_inclusive: bool,
    },
}

impl<Q: Quantity> UnderWay for ExactStarted<Q> {
    fn test(&self) -> Result<bool, RunError> {
        match &self.pending {
            Kind::Allreduce(pending) => pending.test(),
            Kind::Reduce(pending) => pending.test(),
            Kind::ReduceScatter(pending) => pending.test(),
            Kind::Prefixes { before, .. } => before.test(),
        }
    }

    fn wait_timeout(&self, timeout: Duration) -> Result<(), RunError> {
        match &self.pending {
            Kind::Allreduce(pending) => pending.wait_timeout(timeout),
            Kind::Reduce(pending) => pending.wait_timeout(timeout),
            Kind::ReduceScatter(pending) => pending.wait_timeout(timeout),
            Kind::Prefixes { before, .. } => before.wait_timeout(timeout),
        }
    }

    fn wait(self: Box<Self>, _: usize, result: &mut [u8]) -> Result<bool, RunError> {
        let result = typed_mut(result);
        let totals = match self.pending {
            Kind::Allreduce(pending) => pending.wait()?,
            Kind::ReduceScatter(pending) => pending.wait()?,
            Kind::Reduce(pending) => match pending.wait()? {
                Some(totals) => totals,
                None => return Ok(false),
            },
            Kind::Prefixes {
                before,
                items,
                is_inclusive,
            } => {
                let mut before = before.wait_row()?;
                check_length(self.rank, items.len(), result.len())?;
                prefixes::<Q>(&mut before, &items, result, is_inclusive);
                return Ok(true);
            }
        };
        check_length(self.rank, totals.len(), result.len())?;
        write_values::<Q>(&totals, result);
        Ok(true)
    }

    fn wait_keyed(self: Box<Self>, _: *const treefold_keyed) -> Result<bool, Failure> {
        Err(end(self, no_keyed_run()))
    }
}
