//! Checks the golden vectors of tree order, and of the order in lanes.

use std::ops::Range;

use distribution::Distribution;
use reduce::operator::custom;
use reduce::threads;
use reduce::{Max, Min, Operator, Plan, Product, Sum};
use serde_json::Value;

use super::element::{Element, Float, Real};
use super::{cases, text, values, words};

/// Numbers of ranks: one, a few, and more than the number of items of most vectors.
const RANKS: [usize; 5] = [1, 2, 3, 7, 12];

#[test]
fn every_vector() {
    #[allow(unused_mut, reason = "with complex numbers, nothing is skipped")]
    let mut skipped = 0;
    let in_lanes = cases("lanes.jsonl", 185);
    for case in cases("order.jsonl", 281).iter().chain(&in_lanes) {
        match text(case, "type") {
            "f64" => check_float::<f64>(case),
            "f32" => check_float::<f32>(case),
            "i8" => check_locally::<i8>(case),
            "i16" => check_locally::<i16>(case),
            "i32" => check_integer::<i32>(case),
            "i64" => check_locally::<i64>(case),
            "u8" => check_locally::<u8>(case),
            "u16" => check_locally::<u16>(case),
            "u32" => check_locally::<u32>(case),
            "u64" => check_integer::<u64>(case),
            #[cfg(feature = "num-complex")]
            "c64" => check_complex::<num_complex::Complex<f64>>(case),
            #[cfg(feature = "num-complex")]
            "c32" => check_complex::<num_complex::Complex<f32>>(case),
            #[cfg(not(feature = "num-complex"))]
            "c64" | "c32" => skipped += 1,
            element => panic!("{element}"),
        }
    }
    assert_eq!(skipped == 0, cfg!(feature = "num-complex"));
    if skipped > 0 {
        println!("skipped: {skipped} vectors of complex numbers, without feature num-complex");
    }
}

fn check_float<T: Float>(case: &Value)
where
    Sum: Operator<T>,
    Product: Operator<T>,
    Min: Operator<T>,
    Max: Operator<T>,
{
    let mut items: Vec<T> = values(case, "items");
    if let Some(count) = case["reciprocals"].as_u64() {
        let count = u32::try_from(count).unwrap();
        let reciprocal = |i| T::rounded(1.0 / f64::from(i));
        items = (1..=count).map(reciprocal).collect();
    }
    if let Some(count) = case["p4016"].as_u64() {
        items = p4016(count).map(T::rounded).collect();
    }
    let others: Vec<T> = values(case, "other");
    if !others.is_empty() {
        let found = T::dot(&items, &others).word();
        assert_eq!(words(case, "bits"), [found], "{case}");
        items = items
            .iter()
            .zip(&others)
            .map(|(a, &b)| a.times(b))
            .collect();
    }
    if text(case, "operation") == "squared_norm" {
        let found = T::squared_norm(&items).word();
        assert_eq!(words(case, "bits"), [found], "{case}");
        items = items.iter().map(|&item| item.times(item)).collect();
    }
    check_real(case, &items);
}

/// The items of ISO C++ paper P4016.
fn p4016(count: u64) -> impl Iterator<Item = f64> {
    let mut state = 0x243F_6A88_85A3_08D3_u64;
    (0..count).map(move |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        // Both operations are exact: the number has 53 bits, and the divisor is a power of two.
        let item = (state >> 11).cast_signed() - (1 << 52);
        item as f64 / 2_f64.powi(52)
    })
}

fn check_integer<T: Real>(case: &Value)
where
    Sum: Operator<T>,
    Product: Operator<T>,
    Min: Operator<T>,
    Max: Operator<T>,
{
    check_real::<T>(case, &values(case, "items"));
}

/// Checks without plans. Plans take long to compile, so only two integer types have plans here.
fn check_locally<T: Real>(case: &Value)
where
    Sum: Operator<T>,
    Product: Operator<T>,
    Min: Operator<T>,
    Max: Operator<T>,
{
    let items: Vec<T> = values(case, "items");
    assert_eq!(text(case, "operation"), "");
    match text(case, "operator") {
        "sum" => folds_to_a_row(case, &items, &Sum),
        "product" => folds_to_a_row(case, &items, &Product),
        "min" => folds_to_a_row(case, &items, &Min),
        "max" => folds_to_a_row(case, &items, &Max),
        "difference" => folds_to_a_row(case, &items, &custom("difference", T::less)),
        operator => panic!("{operator}"),
    }
}

fn check_real<T: Real>(case: &Value, items: &[T])
where
    Sum: Operator<T>,
    Product: Operator<T>,
    Min: Operator<T>,
    Max: Operator<T>,
{
    match text(case, "operator") {
        "sum" => reduces(case, items, &|| Sum),
        "product" => reduces(case, items, &|| Product),
        "min" => reduces(case, items, &|| Min),
        "max" => reduces(case, items, &|| Max),
        "difference" => reduces(case, items, &|| custom("difference", T::less)),
        operator => panic!("{operator}"),
    }
}

#[cfg(feature = "num-complex")]
fn check_complex<T: Element>(case: &Value)
where
    Sum: Operator<T>,
    Product: Operator<T>,
{
    let items: Vec<T> = values(case, "items");
    match text(case, "operator") {
        "sum" => reduces(case, &items, &|| Sum),
        "product" => reduces(case, &items, &|| Product),
        operator => panic!("{operator}"),
    }
}

fn reduces<T: Element, O: Operator<T> + 'static>(
    case: &Value,
    items: &[T],
    operator: &(dyn Fn() -> O + Sync),
) {
    match text(case, "operation") {
        "" | "squared_norm" => reduces_to_a_row(case, items, operator),
        "scan" => has_prefixes(case, items, operator, true),
        "exscan" => has_prefixes(case, items, operator, false),
        operation => panic!("{operation}"),
    }
}

/// The words of a row, with NaNs in canonical form, because a program's own operator may compute NaNs with any bits.
fn found<T: Element>(row: &[T]) -> Vec<String> {
    row.iter().map(|value| value.canonical().word()).collect()
}

/// Checks in one process, and on ranks.
fn reduces_to_a_row<T: Element, O: Operator<T> + 'static>(
    case: &Value,
    items: &[T],
    operator: &(dyn Fn() -> O + Sync),
) {
    folds_to_a_row(case, items, &operator());
    // Plans in lanes have tests of their own.
    if !case["lanes"].is_null() {
        return;
    }
    let expected = words(case, "bits");
    let width = expected.len();
    by_plans(case, items, width, operator, &|plan, own, _| {
        let mut row = vec![T::zeroed(); width];
        plan.allreduce_into(own, &mut row).unwrap();
        (row, expected.clone())
    });
}

fn folds_to_a_row<T: Element, O: Operator<T>>(case: &Value, items: &[T], operator: &O) {
    let expected = words(case, "bits");
    let width = expected.len();
    let mut row = vec![T::zeroed(); width];
    let Some(lanes) = case["lanes"].as_u64() else {
        reduce::fold_rows(items, width, operator, &mut row).unwrap();
        return assert_eq!(found(&row), expected, "{case}");
    };
    let lanes = usize::try_from(lanes).unwrap();
    reduce::fold_rows_lanes(items, width, lanes, operator, &mut row).unwrap();
    assert_eq!(found(&row), expected, "{case}");
    if width == 1 {
        let value = reduce::fold_lanes(items, lanes, operator).unwrap();
        assert_eq!(found(&[value]), expected, "{case}");
    }
}

fn has_prefixes<T: Element, O: Operator<T> + 'static>(
    case: &Value,
    items: &[T],
    operator: &(dyn Fn() -> O + Sync),
    is_inclusive: bool,
) {
    let expected = words(case, "bits");
    if is_inclusive {
        let mut prefixes = vec![T::zeroed(); items.len()];
        reduce::scan(items, &operator(), &mut prefixes).unwrap();
        assert_eq!(found(&prefixes), expected, "{case}");
    }
    by_plans(case, items, 1, operator, &|plan, own, range| {
        let mut prefixes = vec![T::zeroed(); own.len()];
        if is_inclusive {
            plan.scan(own, &mut prefixes).unwrap()
        } else {
            plan.exscan(own, &mut prefixes).unwrap()
        }
        (prefixes, expected[range].to_vec())
    });
}

/// Runs a plan on a rank's items, whose numbers are also given. Returns what the rank finds and what it should find.
type Run<'r, T, O> = &'r (dyn Fn(&Plan<T, O>, &[T], Range<usize>) -> (Vec<T>, Vec<String>) + Sync);

/// Checks `run` on different numbers of ranks.
fn by_plans<T: Element, O: Operator<T> + 'static>(
    case: &Value,
    items: &[T],
    width: usize,
    operator: &(dyn Fn() -> O + Sync),
    run: Run<'_, T, O>,
) {
    let count = items.len() / width;
    for ranks in RANKS {
        let results = threads::run(ranks, |world| {
            let distribution = Distribution::lower(count as u64, ranks).unwrap();
            let plan = Plan::builder(world)
                .distribution(&distribution)
                .width(width)
                .operator(operator())
                .build::<T>()
                .unwrap();
            let own = distribution.range(world.rank());
            let [start, end] = [own.start, own.end].map(|item| usize::try_from(item).unwrap());
            run(&plan, &items[start * width..end * width], start..end)
        });
        for (values, expected) in results.unwrap() {
            assert_eq!(found(&values), expected, "p = {ranks}: {case}");
        }
    }
}
