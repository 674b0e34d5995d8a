//! Tests that partials and scans in one process have the definition's bits, however the items were divided. Also tests every error.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::ops::Range;

use proptest::prelude::*;
use proptest::sample::Index;
use reduce::operator::{Prefixes, custom};
use reduce::{
    FoldError, Max, Min, Operator, Partial, PartialError, Product, Sum, fold_rows, scan, scan_rows,
};
use simd_kernels::by_definition;

/// Rows of doubles whose sums are rounded. Some items are hard to add.
fn rows(count: usize, width: usize, seed: u64) -> Vec<f64> {
    let mut state = seed | 1;
    let values = (0..count * width).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        match state % 29 {
            0 => -0.0,
            1 => 1e300,
            2 => -1e300,
            3 => 5e-324,
            _ => (state % 1000) as f64 / 7.0 - 60.0,
        }
    });
    values.collect()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The result of each column, by the definition.
fn expected<O: Operator<f64>>(rows: &[f64], width: usize, operator: &O) -> Vec<f64> {
    let columns = (0..width).map(|column| {
        let items: Vec<f64> = rows.iter().skip(column).step_by(width).copied().collect();
        let value = by_definition(&items, &|left, right| operator.combine(left, right));
        operator.canonical(value.or(operator.empty()).unwrap())
    });
    columns.collect()
}

/// The runs of adjacent items in each chunk, if item k is in chunk `chunk_of[k]`.
fn runs(chunk_of: &[usize], chunks: usize) -> Vec<Vec<Range<u64>>> {
    let mut runs = vec![Vec::<Range<u64>>::new(); chunks];
    for (item, &chunk) in (0..).zip(chunk_of) {
        match runs[chunk].last_mut() {
            // Some adjacent items stay in separate ranges, as a program may pass them.
            Some(last) if last.end == item && item % 5 != 0 => last.end = item + 1,
            _ => runs[chunk].push(item..item + 1),
        }
    }
    runs
}

/// Merges the partials of chunks, two at a time, and checks the result. `order` chooses the two.
fn check<O: Operator<f64>>(
    rows: &[f64],
    width: usize,
    runs: &[Vec<Range<u64>>],
    order: &[Index],
    operator: &O,
) {
    let total = (rows.len() / width) as u64;
    let partial = |(chunk, runs): (usize, &Vec<Range<u64>>)| {
        let mut runs = runs.clone();
        if chunk % 2 == 1 {
            runs.reverse();
        }
        let row = |item: u64| usize::try_from(item).unwrap() * width;
        let own = runs
            .iter()
            .flat_map(|run| &rows[row(run.start)..row(run.end)]);
        let own: Vec<f64> = own.copied().collect();
        Partial::of_rows(&own, width, runs, total, operator).unwrap()
    };
    let mut partials: Vec<_> = runs.iter().enumerate().map(partial).collect();
    let mut order = order.iter();
    while partials.len() > 1 {
        let mut next = || order.next().unwrap();
        let left = partials.swap_remove(next().index(partials.len()));
        let right = partials.swap_remove(next().index(partials.len()));
        // Makes the partial anew, as if another process had sent it.
        let right = right.nodes().map(|(x, y, row)| (x, y, row.to_vec()));
        let right =
            Partial::from_nodes(right.collect::<Vec<_>>(), width, total, operator.name()).unwrap();
        partials.push(left.merge(&right, operator).unwrap());
    }
    let result = partials[0].result(operator).unwrap();
    let expected = expected(rows, width, operator);
    assert_eq!(bits(&result), bits(&expected), "{}", operator.name());
}

proptest! {
    #[test]
    fn chunks_of_any_items_in_any_order_have_the_bits_of_all(
        chunk_of in prop::collection::vec(0_usize..7, 0..300),
        keeps_neighbours in any::<bool>(),
        width in 1_usize..4,
        seed in any::<u64>(),
        order in prop::collection::vec(any::<Index>(), 12),
    ) {
        let mut chunk_of = chunk_of;
        if keeps_neighbours {
            chunk_of.sort_unstable();
        }
        let rows = rows(chunk_of.len(), width, seed);
        let runs = runs(&chunk_of, 7);
        check(&rows, width, &runs, &order, &Sum);
        check(&rows, width, &runs, &order, &Product);
        let difference = custom("difference", |left: f64, right: f64| left - right).with_empty(0.5);
        check(&rows, width, &runs, &order, &difference);
    }

    #[test]
    fn every_prefix_is_the_fold_of_its_items(
        count in 0_usize..150,
        width in 1_usize..4,
        seed in any::<u64>(),
    ) {
        let rows = rows(count, width, seed);
        let mut result = vec![7.0; rows.len()];
        scan_rows(&rows, width, &Sum, &mut result).unwrap();
        for row in 1..=count {
            let mut total = vec![0.0; width];
            fold_rows(&rows[..row * width], width, &Sum, &mut total).unwrap();
            prop_assert_eq!(bits(&result[(row - 1) * width..row * width]), bits(&total));
        }
    }
}

#[test]
fn results_are_canonical() {
    let items = [f64::INFINITY, f64::NEG_INFINITY, -f64::NAN];
    let canonical = Sum.canonical(-f64::NAN).to_bits();
    let partial = Partial::new(&items, 0, 3, &Sum).unwrap();
    assert_eq!(bits(&partial.result(&Sum).unwrap()), [canonical]);
    let mut sums = [0.0; 3];
    scan(&items, &Sum, &mut sums).unwrap();
    assert_eq!(bits(&sums), [f64::INFINITY.to_bits(), canonical, canonical]);
}

#[test]
fn partials_of_nothing() {
    let none = Partial::<f64>::new(&[], 0, 0, &Sum).unwrap();
    assert_eq!(none.result(&Sum), Ok(vec![0.0]));
    let none = Partial::<f64>::new(&[], 0, 0, &Max).unwrap();
    let operator = Operator::<f64>::name(&Max).to_owned();
    let no_items = PartialError::Fold(FoldError::NoItems { operator });
    assert_eq!(none.result(&Max), Err(no_items));
    let some = Partial::new(&[3.0], 1, 2, &Max).unwrap();
    let none = Partial::new(&[], 0, 2, &Max).unwrap();
    assert_eq!(some.merge(&none, &Max).unwrap(), some);
    assert_eq!(
        some.result(&Max).unwrap_err().to_string(),
        "the partial has 1 of 2 items; item 0 is missing"
    );
}

#[test]
fn what_does_not_fit_together_is_told() {
    let items = [1.0, 2.0, 3.0];
    let of = |total, ranges: &[(u64, u64)], width| {
        let ranges = ranges.iter().map(|&(start, end)| start..end);
        Partial::of_rows(&items, width, ranges, total, &Sum).map_err(|error| error.to_string())
    };
    let told = |text: &str| Err(text.to_owned());
    assert_eq!(
        of(2, &[(0, 3)], 1),
        told("there are no items 0..3: the items are 0..2")
    );
    assert_eq!(
        of(u64::MAX, &[(3, 0)], 1),
        told("there are no items 3..0: the items are 0..18446744073709551615")
    );
    assert_eq!(
        of(9, &[(0, 2), (3, 5)], 1),
        told("the number of rows is 3, but the ranges have 4 items")
    );
    assert_eq!(of(9, &[(4, 6), (5, 6)], 1), told("item 5 occurs twice"));
    assert_eq!(of(9, &[(0, 1)], 2), told("3 values cannot form rows of 2"));
    let most = u64::MAX;
    let overlap = of(most, &[(0, 1 << 63), (0, 1 << 63), (0, 3)], 1);
    assert_eq!(
        overlap,
        told("the number of rows is 3, but the ranges have 18446744073709551619 items")
    );
    assert_eq!(of(9, &[], 0), told("3 values cannot form rows of 0"));
    let (left, right) = (of(9, &[(0, 3)], 1).unwrap(), of(9, &[(2, 5)], 1).unwrap());
    let overlap = PartialError::Overlap { item: 2 };
    assert_eq!(left.merge(&right, &Sum), Err(overlap.clone()));
    assert_eq!(right.merge(&left, &Sum), Err(overlap));
    let others = [of(10, &[(3, 6)], 1).unwrap(), of(9, &[(3, 4)], 3).unwrap()];
    for other in others {
        let error = left.merge(&other, &Sum).unwrap_err().to_string();
        assert!(error.starts_with("a partial of 9 items of 1 value cannot"));
    }
}

/// The sum of some items and the maximum of the others have no common reduction, so merging partials of different operators is an error.
#[test]
fn partials_of_other_operators_do_not_mix() {
    let sums = Partial::new(&[1.0, 2.0], 0, 4, &Sum).unwrap();
    let maxima = Partial::new(&[3.0, 4.0], 2, 4, &Max).unwrap();
    let other = |own: &str, other: &str| {
        let (own, other) = (own.to_owned(), other.to_owned());
        PartialError::OtherOperator { own, other }
    };
    assert_eq!(sums.merge(&maxima, &Sum), Err(other("max", "sum")));
    assert_eq!(sums.merge(&maxima, &Max), Err(other("sum", "max")));
    assert_eq!(maxima.merge(&sums, &Sum), Err(other("max", "sum")));
    // Both partials are of one operator, and the call is of another.
    let rest = Partial::new(&[3.0, 4.0], 2, 4, &Sum).unwrap();
    assert_eq!(sums.merge(&rest, &Product), Err(other("sum", "product")));
    let all = sums.merge(&rest, &Sum).unwrap();
    assert_eq!(all.result(&Sum), Ok(vec![10.0]));
    assert_eq!(all.result(&Product), Err(other("sum", "product")));
    // Makes a partial anew, as if another process had sent it.
    let told = |partial: &Partial<f64>| {
        let nodes = partial.nodes().map(|(x, y, row)| (x, y, row.to_vec()));
        let nodes: Vec<_> = nodes.collect();
        Partial::from_nodes(nodes, partial.width(), partial.total(), partial.operator()).unwrap()
    };
    assert_eq!(told(&maxima), maxima);
    assert_eq!(sums.merge(&told(&maxima), &Sum), Err(other("max", "sum")));
    // A program's own operators are distinguished by their names.
    let first = custom("first", |left: f64, _| left);
    let last = custom("last", |_, right: f64| right);
    let firsts = Partial::new(&[1.0, 2.0], 0, 4, &first).unwrap();
    let lasts = Partial::new(&[3.0, 4.0], 2, 4, &last).unwrap();
    assert_eq!(firsts.merge(&lasts, &first), Err(other("last", "first")));
    let error = firsts.merge(&lasts, &first).unwrap_err().to_string();
    assert_eq!(error, "the partial is of operator `last`, not of `first`");
}

#[test]
fn nodes_that_are_none_are_refused() {
    let nodes = |nodes: &[(u64, u32)], width| {
        let nodes = nodes.iter().map(|&(x, y)| (x, y, vec![1.0; width]));
        Partial::from_nodes(nodes.collect::<Vec<_>>(), 1, 6, "sum")
    };
    assert_eq!(nodes(&[(0, 3)], 1).unwrap().result(&Sum), Ok(vec![1.0]));
    for wrong in [
        &[(6, 0)][..],
        &[(2, 2)],
        &[(0, 4)],
        &[(0, 1), (1, 0)],
        &[(2, 0), (0, 0)],
        &[(0, 0), (1, 0)],
        &[(u64::MAX, 64)],
    ] {
        let error = nodes(wrong, 1).unwrap_err();
        assert!(
            matches!(error, PartialError::Node { total: 6, .. }),
            "{wrong:?}"
        );
    }
    assert!(nodes(&[(0, 3)], 2).is_err());
}

/// Scans of integers, whose order changes no bit, continue from block to block, whether the operator is called directly or through
/// a reference.
#[test]
fn scans_of_integers_go_on() {
    fn go_on<O: Operator<i32>>(
        operator: O,
        items: &[i32],
        before: &mut Prefixes<i32>,
        result: &mut [i32],
    ) {
        operator.scan(items, before, result);
    }
    let items: Vec<i32> = (0..300_i32)
        .map(|item| item.wrapping_mul(0x0123_4567))
        .collect();
    let mut all = 0_i32;
    let expected: Vec<i32> = items
        .iter()
        .map(|&item| {
            all = all.wrapping_add(item);
            all
        })
        .collect();
    let reference = &Sum;
    for block in [1, 3, 8, 100] {
        let (mut before, mut found) = (Prefixes::new(), vec![0; items.len()]);
        let blocks = items.chunks(block).zip(found.chunks_mut(block)).enumerate();
        for (number, (items, result)) in blocks {
            if number % 2 == 0 {
                go_on(Sum, items, &mut before, result);
            } else {
                go_on(reference, items, &mut before, result);
            }
        }
        assert_eq!(found, expected, "blocks of {block}");
    }
    let mut least = [0; 4];
    scan(&[3_u8, 5, 2, 7], &Min, &mut least).unwrap();
    assert_eq!(least, [3, 3, 2, 2]);
}

#[test]
fn a_scan_into_another_length() {
    let mut result = [0.0; 2];
    let error = scan(&[1.0, 2.0, 3.0], &Sum, &mut result).unwrap_err();
    assert!(matches!(
        error,
        FoldError::Lengths {
            first: 3,
            found: 2,
            ..
        }
    ));
}
