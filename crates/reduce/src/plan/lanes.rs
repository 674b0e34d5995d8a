//! Sums in lanes over ranks: a plan for rows of L items, each of which begins at a multiple of L.

use std::fmt;
use std::ops::Range;

use bytemuck::Pod;
use distribution::Ownership;
use simd_kernels::Float;

use super::builder::make_native;
use super::wishes::PlanKind;
use super::{Builder, Plan};
use crate::error::{BuildError, RunError};
use crate::fold::check_lanes;
use crate::operation::Operation;
use crate::operator::{LANES_MAX, Operator, Sum, lane_row};
use crate::world::World;

/// A sum in lanes over the ranks of a [`World`], with the bits of [`sum_lanes`](crate::sum_lanes). Made by
/// [`Builder::build_lanes`](crate::Builder::build_lanes).
///
/// All ranks build it together and run it together, any number of times, as a [`Plan`]. A message has a value for each lane.
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
/// [Those of a `Plan`](Plan#errors-of-all-runs).
pub struct LanesPlan<T: Pod>
where
    Sum: Operator<T>,
{
    /// Of rows of lanes.
    rows: Plan<T, Sum>,
    /// The items of this rank.
    items: u64,
    /// If this rank has the last row, and that is shorter: the place in this rank's items that is after it.
    short_end: Option<usize>,
}

impl Builder {
    /// Builds a plan for a sum in `lanes` lanes: see [`LanesPlan`]. Collective.
    ///
    /// What was said of the [`width`](Builder::width) before is not looked at.
    ///
    /// # Errors
    /// As [`build`](Builder::build); or the ranks disagree on the number of lanes, it is not from 1 to 2^20, or a range of items on a
    /// rank does not begin at a multiple of it.
    pub fn build_lanes<T: Pod + Float>(mut self, lanes: usize) -> Result<LanesPlan<T>, BuildError>
    where
        Sum: Operator<T>,
    {
        self.wishes.kind = PlanKind::Lanes;
        // One that is too great takes no memory.
        self.wishes.width = lanes.min(LANES_MAX + 1);
        let mut items = None;
        let rows = self.build_with(make_native, &mut |owned| {
            let rows = rows_of(&owned, lanes);
            items = Some(owned);
            rows
        });
        let none = BuildError::Lanes { lanes };
        let rows = rows.map_err(|error| error.of_columns(none))?;
        let items = items.expect("a plan is built of what ranks own");
        Ok(LanesPlan::new(rows, &items))
    }
}

impl<T: Pod> fmt::Debug for LanesPlan<T>
where
    Sum: Operator<T>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.fmt(f)
    }
}

impl<T: Pod + Float> LanesPlan<T>
where
    Sum: Operator<T>,
{
    fn new(rows: Plan<T, Sum>, items: &Ownership) -> Self {
        let (rank, count) = (rows.world().rank(), items.count(rows.world().rank()));
        let end = items.items();
        let is_short = !end.is_multiple_of(rows.width() as u64) && items.rank_of(end - 1) == rank;
        let short_end = is_short.then(|| {
            // Extents of a rule ascend, and can be too many to list.
            let after = if items.is_formula() {
                0
            } else {
                let extents = items.extents(rank);
                let after = extents.skip_while(|extent| extent.end != end).skip(1);
                after.fold(0, |items, extent| items + extent.end - extent.start)
            };
            usize::try_from(count - after).expect("they are in memory")
        });
        Self {
            rows,
            items: count,
            short_end,
        }
    }

    /// The world that it was built on.
    pub fn world(&self) -> &World {
        self.rows.world()
    }

    /// The number of lanes.
    pub fn lanes(&self) -> usize {
        self.rows.width()
    }

    /// Adds the ranks' items; every rank gets the sum. Collective.
    ///
    /// # Errors
    /// As [all runs](Plan#errors-of-all-runs).
    pub fn allreduce(&self, local: &[T]) -> Result<T, RunError> {
        let mut row = self.row();
        self.run(Operation::Allreduce, local, &mut row)?;
        Ok(total(&row))
    }

    /// Adds the ranks' items; the root gets the sum, the others `None`. Collective.
    ///
    /// # Errors
    /// As [`Plan::reduce`].
    pub fn reduce(&self, local: &[T]) -> Result<Option<T>, RunError> {
        let mut row = self.row();
        let is_root = self.run(Operation::Reduce, local, &mut row)?;
        Ok(is_root.then(|| total(&row)))
    }

    fn row(&self) -> Vec<T> {
        vec![T::ZERO; self.lanes()]
    }

    fn run(&self, operation: Operation, local: &[T], row: &mut [T]) -> Result<bool, RunError> {
        if local.len() as u64 != self.items {
            let error = RunError::WrongLength {
                rank: self.world().rank(),
                planned: self.items.into(),
                given: local.len() as u64,
            };
            return Err(self.rows.fail(operation, error));
        }
        let Some(short_end) = self.short_end else {
            return self.rows.run(operation, local, row);
        };
        // Lanes without an item in the last row get a -0.0, which changes no sum.
        match self.rows.own_node_lengths(operation) {
            Some(lengths) => {
                let nodes = self.nodes(&lengths, local, short_end);
                self.rows.run_folded(operation, Ok(&nodes), row)
            }
            None => {
                let (before, after) = local.split_at(short_end);
                let missing = self.lanes() - short_end % self.lanes();
                let padding = vec![T::NEGATIVE_ZERO; missing];
                self.rows
                    .run(operation, &[before, &padding, after].concat(), row)
            }
        }
    }

    /// The rows of this rank's own nodes, each of so many rows of its items.
    fn nodes(&self, lengths: &[usize], local: &[T], short_end: usize) -> Vec<T> {
        let lanes = self.lanes();
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

/// The sum of the lanes' sums.
fn total<T: Float>(row: &[T]) -> T
where
    Sum: Operator<T>,
{
    let sum = Sum.fold(row).expect("there is a lane");
    Sum.canonical(sum)
}

/// Who owns which rows of lanes. The outcome is the same on all ranks.
fn rows_of(items: &Ownership, lanes: usize) -> Result<Ownership, BuildError> {
    check_lanes(lanes).map_err(|_| BuildError::Lanes { lanes })?;
    let row_items = lanes as u64;
    // The blocks of a rule begin equally far from each other.
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
        // Written out, it could be longer than any memory.
        let (rows, ranks) = (items.items().div_ceil(row_items), items.ranks());
        let block_rows = block_items.div_ceil(row_items);
        return Ok(Ownership::block_cyclic(rows, ranks, block_rows)?);
    }
    let in_rows = |extent: Range<u64>| extent.start / row_items..extent.end.div_ceil(row_items);
    let rows_of_rank = |rank| items.extents(rank).map(in_rows).collect();
    let rows: Vec<Vec<Range<u64>>> = (0..items.ranks()).map(rows_of_rank).collect();
    Ok(Ownership::try_from(rows)?)
}
