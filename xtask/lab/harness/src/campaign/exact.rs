//! Plans of exact sums: what they are given, what every rank must get, and what a program does with them.
//!
//! A rank's item is what it has added up, so that scans go over ranks.

use integer_sums::{dot, root, sum};
use reduce::exact::{self, Accumulator, ProductSum, Sum};
use reduce::{Operation, Pending, RunError, World};

use super::element::{columns, rows};
use super::fault::FaultKind;
use super::flight::{Flight, Polls, outcome};
use super::outcome::{Outcome, not_built};
use super::slot::Slot;
use super::vocabulary::{Figure, Spec};

/// By integers of any size.
fn by_integers(figure: Figure, x: &[f64], y: &[f64]) -> f64 {
    match figure {
        Figure::Sum => sum(x),
        Figure::Dot => dot(x, y),
        Figure::Norm => root(x, x),
    }
}

/// The factors of all products of a step; the first are also the items of sums. In seven steps of eight there are no NaNs, which would
/// leave nothing of sums of many items.
fn factors(spec: &Spec, seed: u64, step: usize) -> [Vec<f64>; 2] {
    let salts = [0, 0xB5AD_4ECE_DA1C_E2A9];
    salts.map(|salt| {
        let seed = seed ^ salt;
        let mut rows: Vec<f64> = rows(spec.items(), spec.width, seed, step);
        if !(seed ^ step as u64).is_multiple_of(8) {
            rows.iter_mut()
                .filter(|item| item.is_nan())
                .for_each(|item| *item = -0.0);
        }
        rows
    })
}

/// The elements of a column of a rank's rows.
fn column_of(spec: &Spec, rank: usize, rows: &[f64], column: usize) -> Vec<f64> {
    let index = |item: u64| usize::try_from(item).expect("the items are in memory");
    let own = spec.extents[rank].iter().cloned().flatten();
    own.map(|item| rows[index(item) * spec.width + column])
        .collect()
}

/// What a call with a step's items gives on a rank.
pub(super) fn expected_of(
    figure: Figure,
    spec: &Spec,
    operation: Operation,
    seed: u64,
    step: usize,
    rank: usize,
) -> Outcome {
    let (width, ranks) = (spec.width, spec.extents.len());
    let of = match operation {
        Operation::Scan => 0..rank + 1,
        Operation::Exscan => 0..rank,
        Operation::Reduce if rank != spec.root => return Outcome::Nothing,
        _ => 0..ranks,
    };
    let columns = match operation {
        Operation::ReduceScatter => columns(width, ranks, rank),
        _ => 0..width,
    };
    let all = factors(spec, seed, step);
    let value = |column: usize| {
        let own = |rows: &[f64]| -> Vec<f64> {
            let ranks = of.clone();
            ranks
                .flat_map(|rank| column_of(spec, rank, rows, column))
                .collect()
        };
        by_integers(figure, &own(&all[0]), &own(&all[1]))
    };
    let values: Vec<f64> = columns.map(value).collect();
    Outcome::Value(bytemuck::cast_slice(&values).to_vec())
}

/// Builds a plan. Collective.
pub(super) fn build_of(
    figure: Figure,
    spec: &Spec,
    seed: u64,
    world: &World,
    _fault: Option<FaultKind>,
) -> Result<Box<dyn Slot>, Outcome> {
    match figure {
        Figure::Sum => build_with(spec, seed, world, |x, _| Sum::of(x), Sum::value),
        Figure::Dot => build_with(spec, seed, world, ProductSum::of, ProductSum::value),
        Figure::Norm => {
            let squares = |x: &[f64], _: &[f64]| ProductSum::of(x, x);
            build_with(spec, seed, world, squares, ProductSum::root)
        }
    }
}

fn build_with<A: Accumulator>(
    spec: &Spec,
    seed: u64,
    world: &World,
    added: fn(&[f64], &[f64]) -> A,
    value: fn(&A) -> f64,
) -> Result<Box<dyn Slot>, Outcome> {
    let builder = spec.builder(world);
    let plan = builder.build_exact().map_err(not_built)?;
    Ok(Box::new(Built {
        plan,
        added,
        value,
        spec: spec.clone(),
        seed,
        rank: world.rank(),
        flight: Flight::default(),
    }))
}

struct Built<A: Accumulator> {
    plan: exact::Plan<A>,
    /// The sum of items, or of products.
    added: fn(&[f64], &[f64]) -> A,
    /// What is made of it.
    value: fn(&A) -> f64,
    spec: Spec,
    seed: u64,
    rank: usize,
    flight: Flight<A>,
}

impl<A: Accumulator> Built<A> {
    /// This rank's row of sums, with so many too many.
    fn local(&self, step: usize, surplus: usize) -> Vec<A> {
        let [x, y] = factors(&self.spec, self.seed, step);
        let own = |rows: &[f64], column| column_of(&self.spec, self.rank, rows, column);
        let sums =
            (0..self.spec.width).map(|column| (self.added)(&own(&x, column), &own(&y, column)));
        let surplus = (0..surplus).map(|_| A::default());
        sums.chain(surplus).collect()
    }

    fn try_call(&self, operation: Operation, local: &[A]) -> Result<Option<Vec<A>>, RunError> {
        let (plan, width) = (&self.plan, self.spec.width);
        let mut row = vec![A::default(); width];
        match (operation, local) {
            (Operation::Allreduce, [local]) => return Ok(Some(vec![plan.allreduce(local)?])),
            (Operation::Reduce, [local]) => {
                return Ok(plan.reduce(local)?.map(|sum| vec![sum]));
            }
            (Operation::Scan, [local]) => return Ok(Some(vec![plan.scan(local)?])),
            (Operation::Exscan, [local]) => return Ok(Some(vec![plan.exscan(local)?])),
            (Operation::Allreduce, _) => plan.allreduce_into(local, &mut row)?,
            (Operation::Reduce, _) => {
                let is_root = plan.reduce_into(local, &mut row)?;
                return Ok(is_root.then_some(row));
            }
            (Operation::ReduceScatter, _) => {
                row.truncate(plan.scattered_columns().len());
                plan.reduce_scatter(local, &mut row)?;
            }
            (Operation::Scan, _) => plan.scan_into(local, &mut row)?,
            (Operation::Exscan, _) => plan.exscan_into(local, &mut row)?,
            _ => unreachable!("{NOT_OFFERED}"),
        }
        Ok(Some(row))
    }

    fn try_start(
        &self,
        operation: Operation,
        local: &[A],
    ) -> Result<Pending<Option<Vec<A>>>, RunError> {
        let plan = &self.plan;
        Ok(match (operation, local) {
            (Operation::Allreduce, [local]) => {
                plan.start_allreduce(local)?.map(|sum| Some(vec![sum]))
            }
            (Operation::Allreduce, _) => plan.start_allreduce_row(local)?.map(Some),
            (Operation::Reduce, [local]) => plan
                .start_reduce(local)?
                .map(|sum| sum.map(|sum| vec![sum])),
            (Operation::Reduce, _) => plan.start_reduce_row(local)?,
            (Operation::ReduceScatter, _) => plan.start_reduce_scatter(local)?.map(Some),
            (Operation::Scan, _) => plan.start_scan_row(local)?.map(Some),
            (Operation::Exscan, _) => plan.start_exscan_row(local)?.map(Some),
            _ => unreachable!("{NOT_OFFERED}"),
        })
    }
}

/// The values of sums, as an outcome.
fn values<A>(value: fn(&A) -> f64, result: Result<Option<Vec<A>>, RunError>) -> Outcome {
    let values = |sums: Vec<A>| sums.iter().map(value).collect::<Vec<f64>>();
    outcome(result.map(|sums| sums.map(values)))
}

const NOT_OFFERED: &str = "plans of exact sums have no other calls";

impl<A: Accumulator> Slot for Built<A> {
    fn call(&mut self, operation: Operation, step: usize, surplus: usize) -> Outcome {
        let sums = self.try_call(operation, &self.local(step, surplus));
        values(self.value, sums)
    }

    fn start(&mut self, operation: Operation, step: usize, surplus: usize) -> Outcome {
        let started = self.try_start(operation, &self.local(step, surplus));
        self.flight.begin(started)
    }

    fn test(&self) -> Outcome {
        self.flight.test()
    }

    fn wait(&mut self, polls: Polls) -> Outcome {
        let value = self.value;
        self.flight.end(polls, |sums| values(value, sums))
    }

    fn give_up(&mut self) {
        self.flight.give_up();
    }
}
