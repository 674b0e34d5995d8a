//! Sums in L lanes over ranks. The engine reduces rows of L items; each row begins at a multiple of L.

use std::any;
use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;

use bytemuck::Pod;
use distribution::Ownership;
use simd_kernels::Float;

#[cfg(doc)]
use super::Plan;
use super::builder::make_native;
use super::pending::{item, item_of_root};
use super::request::PlanKind;
use super::{
    AnyPlan, Builder, Encoded, Encoding, Form, Operands, Pending, check_result, dereferences,
    not_taken,
};
use crate::engines::values::{Memory, Typed, typed, typed_mut};
use crate::error::{BuildError, RunError};
use crate::fold::check_lanes;
use crate::operation::Operation;
use crate::operator::{LANES_MAX, Operator, Sum, lane_row};

/// A plan for a sum in lanes over the ranks of a [`World`](crate::World), with the bits of [`sum_lanes`](crate::sum_lanes). Made by
/// [`Builder::build_lanes`](crate::Builder::build_lanes).
///
/// All ranks build the plan together and run it together, any number of times, like a [`Plan`]. Messages hold a value for each lane.
///
/// ```
/// use reduce::{Plan, threads};
///
/// let x: Vec<f64> = (1..=1000).map(|i| 1.0 / f64::from(i)).collect();
/// let totals = threads::run(2, |world| {
///     let own = [&x[..480], &x[480..]][world.rank()];
///     let builder = Plan::builder(world).local_items(own.len() as u64);
///     let plan = builder.build_lanes::<f64>(16).unwrap();
///     plan.allreduce(own).unwrap()
/// })?;
/// assert_eq!(totals, [reduce::sum_lanes(&x, 16).unwrap(); 2]);
/// # Ok::<(), threads::RunError>(())
/// ```
///
/// # Errors of all runs
///
/// The [errors of a `Plan`](Plan#errors-of-all-runs).
pub struct LanesPlan<T: Pod> {
    plan: AnyPlan,
    items: PhantomData<T>,
}

dereferences!([T: Pod] LanesPlan<T>);

impl Builder {
    /// Builds a plan for a sum in `lanes` lanes: see [`LanesPlan`]. Collective.
    ///
    /// The builder's [`width`](Builder::width) is ignored.
    ///
    /// # Errors
    /// Those of [`build`](Builder::build), or an error if the ranks disagree on the number of lanes, if this number is not from 1 to 2^20, or
    /// if a range of a rank's items does not begin at a multiple of this number.
    pub fn build_lanes<T: Pod + Float>(mut self, lanes: usize) -> Result<LanesPlan<T>, BuildError>
    where
        Sum: Operator<T>,
    {
        self.request.kind = PlanKind::Lanes;
        // A number that is too great must not allocate memory.
        self.request.width = lanes.min(LANES_MAX + 1);
        let mut items = None;
        let (element, values) = (any::type_name::<T>(), Typed::<T, Sum>::of(Sum));
        let owned = &mut |owned| {
            let rows = rows_of(&owned, lanes);
            items = Some(owned);
            rows
        };
        let rows = self
            .request
            .build(&self.world, element, values, make_native, owned);
        let none = BuildError::Lanes { lanes };
        let rows = rows.map_err(|error| error.of_columns(none))?;
        let items = items.expect("a plan is built of what ranks own");
        let encoding = Lanes::<T>::new(lanes, self.world.rank(), &items);
        Ok(LanesPlan {
            plan: rows.with_form(Form::Encoded(Rc::new(encoding))),
            items: PhantomData,
        })
    }
}

impl<T: Pod> LanesPlan<T> {
    /// The plan as an `AnyPlan`, which hides its types.
    #[doc(hidden)]
    pub fn into_any(self) -> AnyPlan {
        self.plan
    }

    /// The number of lanes.
    pub fn lanes(&self) -> usize {
        self.width()
    }

    /// Adds the ranks' items; every rank gets the sum. Collective.
    ///
    /// # Errors
    /// Those of [all runs](Plan#errors-of-all-runs).
    pub fn allreduce(&self, local: &[T]) -> Result<T, RunError> {
        let mut sum = [T::zeroed()];
        self.run(Operation::Allreduce, local, &mut sum)?;
        Ok(sum[0])
    }

    /// Adds the ranks' items; the root gets the sum, all other ranks get `None`. Collective.
    ///
    /// # Errors
    /// Those of [`Plan::reduce`].
    pub fn reduce(&self, local: &[T]) -> Result<Option<T>, RunError> {
        let mut sum = [T::zeroed()];
        let is_root = self.run(Operation::Reduce, local, &mut sum)?;
        Ok(is_root.then_some(sum[0]))
    }

    fn run(&self, operation: Operation, local: &[T], sum: &mut [T; 1]) -> Result<bool, RunError> {
        let items = Operands::Items(bytemuck::cast_slice(local));
        self.plan
            .run(operation, items, bytemuck::cast_slice_mut(sum))
    }

    /// Starts [`allreduce`](LanesPlan::allreduce), in the same way as [`Plan::start_allreduce`]. Collective.
    ///
    /// # Errors
    /// Those of [`Plan::start_allreduce`]. But this call, not the wait, returns an error about the length of `local`.
    pub fn start_allreduce(&self, local: &[T]) -> Result<Pending<T>, RunError> {
        let items = Operands::Items(bytemuck::cast_slice(local));
        let run = self.plan.start(Operation::Allreduce, items)?;
        Ok(Pending::new(run, item))
    }

    /// Starts [`reduce`](LanesPlan::reduce), in the same way as [`start_allreduce`](LanesPlan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](LanesPlan::start_allreduce).
    pub fn start_reduce(&self, local: &[T]) -> Result<Pending<Option<T>>, RunError> {
        let items = Operands::Items(bytemuck::cast_slice(local));
        let run = self.plan.start(Operation::Reduce, items)?;
        Ok(Pending::new(run, item_of_root))
    }
}

/// Items as rows of lanes; the last row may be shorter.
struct Lanes<T> {
    lanes: usize,
    /// The number of items of this rank.
    items: u64,
    /// If this rank has the last row, and that row is shorter: the index of the row's end in this rank's items.
    short_end: Option<usize>,
    of: PhantomData<T>,
}

impl<T: Pod + Float> Lanes<T>
where
    Sum: Operator<T>,
{
    fn new(lanes: usize, rank: usize, items: &Ownership) -> Self {
        let (count, end) = (items.count(rank), items.items());
        let is_short = !end.is_multiple_of(lanes as u64) && items.rank_of(end - 1) == rank;
        let short_end = is_short.then(|| {
            // The extents of a rule ascend, so the last item is in the last extent. There can be too many extents to list.
            let after = if items.is_formula() {
                0
            } else {
                let extents = items.extents(rank);
                let after = extents.skip_while(|extent| extent.end != end).skip(1);
                after.fold(0, |items, extent| items + extent.end - extent.start)
            };
            usize::try_from(count - after).expect("items are in memory")
        });
        Self {
            lanes,
            items: count,
            short_end,
            of: PhantomData,
        }
    }

    /// The reductions of this rank's own nodes; `lengths` has each node's number of rows. Lanes that have no item in the last row get a -0.0,
    /// which changes no sum.
    fn nodes(&self, lengths: &[usize], local: &[T], short_end: usize) -> Vec<T> {
        let lanes = self.lanes;
        let mut nodes = Vec::with_capacity(lengths.len() * lanes);
        let mut start = 0;
        for length in lengths {
            let mut end = start + length * lanes;
            if start < short_end && short_end < end {
                end = short_end;
            }
            nodes.extend(lane_row(&local[start..end], lanes, &Sum));
            nodes.resize(nodes.len().next_multiple_of(lanes), T::NEGATIVE_ZERO);
            start = end;
        }
        nodes
    }
}

impl<T: Pod + Float> Encoding for Lanes<T>
where
    Sum: Operator<T>,
{
    fn encode(
        &self,
        plan: &AnyPlan,
        operation: Operation,
        operands: Operands<'_>,
        _result_bytes: Option<usize>,
        into: &mut Memory,
    ) -> Result<Encoded, RunError> {
        let rank = plan.world().rank();
        let Operands::Items(local) = operands else {
            return Err(not_taken(rank));
        };
        let local: &[T] = typed(local);
        if local.len() as u64 != self.items {
            return Err(RunError::WrongLength {
                rank,
                planned: self.items.into(),
                given: local.len() as u64,
            });
        }
        let Some(short_end) = self.short_end else {
            return Ok(Encoded::AsGiven);
        };
        if let Some(lengths) = plan.own_node_lengths(operation) {
            into.copy_from(bytemuck::cast_slice(
                &self.nodes(&lengths, local, short_end),
            ));
            return Ok(Encoded::Nodes);
        }
        let (before, after) = local.split_at(short_end);
        let missing = self.lanes - short_end % self.lanes;
        let padding = vec![T::NEGATIVE_ZERO; missing];
        into.copy_from(bytemuck::cast_slice(&[before, &padding, after].concat()));
        Ok(Encoded::Items)
    }

    /// Adds up the lanes' sums.
    fn decode(
        &self,
        rank: usize,
        _operation: Operation,
        _items: &[u8],
        values: &[u8],
        result: &mut [u8],
    ) -> Result<(), RunError> {
        let result: &mut [T] = typed_mut(result);
        check_result(rank, 1, result.len())?;
        let sum = Sum.fold(typed(values)).expect("there is a lane");
        result[0] = Sum.canonical(sum);
        Ok(())
    }
}

/// Converts an ownership of items to rows of lanes. The outcome is the same on all ranks.
fn rows_of(items: &Ownership, lanes: usize) -> Result<Ownership, BuildError> {
    check_lanes(lanes).map_err(|_| BuildError::Lanes { lanes })?;
    let row_items = lanes as u64;
    // The blocks of a rule begin at equal distances, so it is enough to check two of them.
    let looked_at = if items.is_formula() { 2 } else { usize::MAX };
    for rank in 0..items.ranks() {
        let mut looked_at = items.extents(rank).take(looked_at);
        if let Some(Range { start, end }) =
            looked_at.find(|extent| !extent.start.is_multiple_of(row_items))
        {
            return Err(BuildError::BesideLanes {
                rank,
                start,
                end,
                lanes,
            });
        }
    }
    if let Some(block_items) = items.block_items() {
        // As a table, the ownership could be longer than any memory.
        let (rows, ranks) = (items.items().div_ceil(row_items), items.ranks());
        let block_rows = block_items.div_ceil(row_items);
        return Ok(Ownership::block_cyclic(rows, ranks, block_rows)?);
    }
    let in_rows = |extent: Range<u64>| extent.start / row_items..extent.end.div_ceil(row_items);
    let rows_of_rank = |rank| items.extents(rank).map(in_rows).collect();
    let rows: Vec<Vec<Range<u64>>> = (0..items.ranks()).map(rows_of_rank).collect();
    Ok(Ownership::try_from(rows)?)
}
