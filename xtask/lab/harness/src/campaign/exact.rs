//! Plans of exact sums: their items, the expected results, and how a program uses them.
//!
//! A rank's item is the sum of its numbers, so scans go over ranks.

use std::ops::Range;

use integer_sums::{dot, root, sum};
use reduce::exact::{Accumulator, Plan, ProductSum, Sum};
use reduce::{Operation, RunError, World};

use super::case::{FaultKind, Own};
use super::element::rows;
use super::slot::{Asked, CallResult, Form, Outcome};
use super::tree::reduced;
use super::vocabulary::{Figure, Mode};

/// The factors of all products of a step. The first factors are also the items of sums. Seven of eight steps have no NaNs, because NaNs would
/// make most sums of many items NaN.
fn factors(own: &Own, step: usize) -> [Vec<f64>; 2] {
    let salts = [0, 0xB5AD_4ECE_DA1C_E2A9];
    salts.map(|salt| {
        let seed = own.seed ^ salt;
        let mut rows: Vec<f64> = rows(own.spec.items(), own.spec.width, seed, step);
        if !(seed ^ step as u64).is_multiple_of(8) {
            let nans = rows.iter_mut().filter(|item| item.is_nan());
            nans.for_each(|item| *item = -0.0);
        }
        rows
    })
}

/// The elements of one column in some ranks' rows.
fn column_of(own: &Own, ranks: Range<usize>, rows: &[f64], column: usize) -> Vec<f64> {
    let items = ranks.flat_map(|rank| own.items_of(rank));
    let index = |item: usize| item * own.spec.width + column;
    items.map(|item| rows[index(item)]).collect()
}

/// The expected result of a rank, computed with big integers.
pub(super) fn expected(
    figure: Figure,
    own: &Own,
    operation: Operation,
    step: usize,
    columns: Range<usize>,
) -> Vec<u8> {
    let ranks = match operation {
        Operation::Scan => 0..own.rank + 1,
        Operation::Exscan => 0..own.rank,
        _ => 0..own.ranks(),
    };
    let all = factors(own, step);
    let value = |column: usize| {
        let [x, y] = [0, 1].map(|at| column_of(own, ranks.clone(), &all[at], column));
        match figure {
            Figure::Sum => sum(&x),
            Figure::Dot => dot(&x, &y),
            Figure::Norm => root(&x, &x),
        }
    };
    let values: Vec<f64> = columns.map(value).collect();
    bytemuck::cast_slice(&values).to_vec()
}

/// Builds a plan. Collective.
pub(super) fn build(
    figure: Figure,
    own: Own,
    world: &World,
    _fault: Option<FaultKind>,
) -> Result<Form, Outcome> {
    let squares = |x: &[f64], _: &[f64]| ProductSum::of(x, x);
    match figure {
        Figure::Sum => build_with(own, world, |x, _| Sum::of(x), Sum::value),
        Figure::Dot => build_with(own, world, ProductSum::of, ProductSum::value),
        Figure::Norm => build_with(own, world, squares, ProductSum::root),
    }
}

fn build_with<A: Accumulator>(
    own: Own,
    world: &World,
    added: fn(&[f64], &[f64]) -> A,
    value: fn(&A) -> f64,
) -> Result<Form, Outcome> {
    let plan = own.spec.builder(world).build_exact()?;
    let values = move |sums: Vec<A>| -> Vec<f64> { sums.iter().map(value).collect() };
    Ok(Box::new(move |asked| {
        let local = local(&own, asked, added);
        Ok(call(&plan, &local, own.spec.width, asked)?.given(values))
    }))
}

/// A rank's row of sums of items or of products, with surplus elements.
fn local<A: Accumulator>(own: &Own, asked: Asked, added: fn(&[f64], &[f64]) -> A) -> Vec<A> {
    let [x, y] = factors(own, asked.step);
    let column = |rows: &[f64], column| column_of(own, own.rank..own.rank + 1, rows, column);
    let sums = (0..own.spec.width).map(|index| added(&column(&x, index), &column(&y, index)));
    let surplus = (0..asked.surplus).map(|_| A::default());
    sums.chain(surplus).collect()
}

fn call<A: Accumulator>(
    plan: &Plan<A>,
    local: &[A],
    width: usize,
    asked: Asked,
) -> Result<CallResult<A>, RunError> {
    let mut row = vec![A::default(); width];
    let one = match local {
        [one] => Some(one),
        _ => None,
    };
    Ok(reduced!(plan, asked, one, local, row.clone(), {
        match (asked.operation, asked.mode, one) {
            (Operation::Scan, Mode::Split, _) => Later(plan.start_scan_row(local)?.map(Some)),
            (Operation::Exscan, Mode::Split, _) => Later(plan.start_exscan_row(local)?.map(Some)),
            (Operation::Scan, _, Some(one)) => Now(Some(vec![plan.scan(one)?])),
            (Operation::Exscan, _, Some(one)) => Now(Some(vec![plan.exscan(one)?])),
            (Operation::Scan, ..) => {
                plan.scan_into(local, &mut row)?;
                Now(Some(row))
            }
            (Operation::Exscan, ..) => {
                plan.exscan_into(local, &mut row)?;
                Now(Some(row))
            }
            _ => unreachable!("plans of exact sums have no other calls"),
        }
    }))
}
