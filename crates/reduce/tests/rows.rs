//! Tests rows, fields and fused sums for the definition's bits, canonical NaNs, empty values and errors.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::fmt::Debug;

use proptest::prelude::*;
use reduce::operator::{WordsOperator, custom};
use reduce::{
    Algorithm, FoldError, Max, Min, Operands, Operation, Operator, Plan, Product, Sum, dot, fields,
    fold_rows, squared_norm, sum_and_absolute_sum, sum_rows, threads,
};
use simd_kernels::by_definition;

/// The canonical result of each column, by the definition.
fn expected<T: Copy + 'static, O: Operator<T>>(columns: &[Vec<T>], operator: &O) -> Vec<T> {
    let total = |column: &Vec<T>| {
        let value = by_definition(column, &|left, right| operator.combine(left, right));
        operator.canonical(value.or(operator.empty()).unwrap())
    };
    columns.iter().map(total).collect()
}

/// Checks rows and fields of the same values.
#[track_caller]
fn check<T, O>(width: usize, items: &[T], operator: &O, bits: impl Fn(&T) -> u64)
where
    T: Copy + Debug + 'static,
    O: Operator<T>,
{
    let columns: Vec<Vec<T>> = (0..width)
        .map(|column| items.iter().skip(column).step_by(width).copied().collect())
        .collect();
    let expected: Vec<u64> = expected(&columns, operator).iter().map(&bits).collect();
    let mut result = vec![items[0]; width];
    fold_rows(items, width, operator, &mut result).unwrap();
    let found: Vec<u64> = result.iter().map(&bits).collect();
    assert_eq!(found, expected, "{}, rows of {width}", operator.name());
    let columns: Vec<&[T]> = columns.iter().map(Vec::as_slice).collect();
    let found: Vec<u64> = fields(&columns, operator)
        .unwrap()
        .iter()
        .map(&bits)
        .collect();
    assert_eq!(found, expected, "{}, {width} fields", operator.name());
}

/// Checks every operator that a type has.
#[track_caller]
fn check_all<T: Copy + Debug + 'static>(width: usize, items: &[T], bits: impl Fn(&T) -> u64 + Copy)
where
    Sum: Operator<T>,
    Product: Operator<T>,
    Min: Operator<T>,
    Max: Operator<T>,
{
    check(width, items, &Sum, bits);
    check(width, items, &Product, bits);
    check(width, items, &Min, bits);
    check(width, items, &Max, bits);
}

proptest! {
    /// The words include NaNs with payloads. Results are canonical, so their bits can be compared.
    #[test]
    fn rows_and_fields_have_the_definition_s_bits(
        words in prop::collection::vec(any::<u64>(), 40..1200),
        width in 1..40_usize,
    ) {
        let words = &words[..words.len() / width * width];
        let doubles: Vec<f64> = words.iter().copied().map(f64::from_bits).collect();
        check_all(width, &doubles, |x| x.to_bits());
        let floats: Vec<f32> = words.iter().map(|word| f32::from_bits((word >> 32) as u32)).collect();
        check_all(width, &floats, |x| x.to_bits().into());
        check_all(width, words, |&x| x);
        let bytes: Vec<u8> = words.iter().map(|word| word.to_le_bytes()[0]).collect();
        check_all(width, &bytes, |&x| x.into());
        let mix = custom("mix", |left: u64, right: u64| left.rotate_left(7) ^ right.wrapping_mul(3));
        check(width, words, &mix, |&x| x);
    }

    /// All NaNs in results have the same bits, so the bits of results can be compared.
    #[test]
    fn fused_sums_have_the_bits_of_sums_of_their_leaves(
        words in prop::collection::vec((any::<u64>(), any::<u64>()), 0..1200),
        tame in any::<bool>(),
    ) {
        // Without huge and tiny numbers, no infinity hides what was added before.
        let double = |word: u64| f64::from_bits(if tame { word >> 2 | 0x3000_0000_0000_0000 } else { word });
        let (x, y): (Vec<f64>, Vec<f64>) = words.iter().map(|&(x, y)| (double(x), double(y))).unzip();
        let leaves = |leaf: fn(f64, f64) -> f64| -> u64 {
            let leaves: Vec<f64> = x.iter().zip(&y).map(|(&x, &y)| leaf(x, y)).collect();
            expected(&[leaves], &Sum)[0].to_bits()
        };
        prop_assert_eq!(dot(&x, &y).unwrap().to_bits(), leaves(|x, y| x * y));
        prop_assert_eq!(squared_norm(&x).unwrap().to_bits(), leaves(|x, _| x * x));
        let (sum, absolute_sum) = sum_and_absolute_sum(&x).unwrap();
        prop_assert_eq!(sum.to_bits(), leaves(|x, _| x));
        prop_assert_eq!(absolute_sum.to_bits(), leaves(|x, _| x.abs()));
    }
}

/// The result of one item is canonical, too.
#[test]
fn a_single_nan_becomes_canonical() {
    let odd = f64::from_bits(0xFFF8_0000_0000_1234);
    let canonical = 0x7FF8_0000_0000_0000;
    let mut result = [0.0; 2];
    sum_rows(&[odd, 1.0], 2, &mut result).unwrap();
    assert_eq!((result[0].to_bits(), result[1]), (canonical, 1.0));
    assert_eq!(dot(&[odd], &[1.0]).unwrap().to_bits(), canonical);
    assert_eq!(squared_norm(&[odd]).unwrap().to_bits(), canonical);
    let (sum, absolute_sum) = sum_and_absolute_sum(&[odd]).unwrap();
    assert_eq!(
        (sum.to_bits(), absolute_sum.to_bits()),
        (canonical, canonical)
    );
    let totals = fields(&[&[odd], &[1.0]], &Max).unwrap();
    assert_eq!((totals[0].to_bits(), totals[1]), (canonical, 1.0));
}

#[test]
fn nothing_gives_the_empty_value_or_an_error() {
    let mut result = [7.0; 3];
    fold_rows(&[], 3, &Product, &mut result).unwrap();
    assert_eq!(result.map(f64::to_bits), [1.0_f64.to_bits(); 3]);
    sum_rows(&[], 3, &mut result).unwrap();
    assert_eq!(result.map(f64::to_bits), [0; 3]);
    let no_items = Err(FoldError::NoItems {
        operator: "min".to_owned(),
    });
    result = [7.0; 3];
    assert_eq!(fold_rows(&[], 3, &Min, &mut result), no_items);
    assert_eq!(result.map(f64::to_bits), [7.0_f64.to_bits(); 3]);
    assert_eq!(fields::<f64, _>(&[&[], &[]], &Sum), Ok(vec![0.0; 2]));
    assert_eq!(fields::<f64, _>(&[], &Sum), Ok(vec![]));
    assert_eq!(fields::<f64, _>(&[&[]], &Min).map(|_| ()), no_items);
    assert_eq!(dot::<f64>(&[], &[]).map(f64::to_bits), Ok(0));
    assert_eq!(squared_norm::<f32>(&[]).map(f32::to_bits), Ok(0));
    assert_eq!(sum_and_absolute_sum::<f64>(&[]), Ok((0.0, 0.0)));
}

#[test]
fn lengths_that_do_not_fit_are_named() {
    let said = |error: FoldError| error.to_string();
    let mut result = [7; 3];
    assert_eq!(
        said(sum_rows(&[1, 2, 3, 4], 3, &mut result).unwrap_err()),
        "4 values cannot form rows of 3"
    );
    assert_eq!(
        said(sum_rows(&[1, 2, 3, 4], 0, &mut result).unwrap_err()),
        "4 values cannot form rows of 0"
    );
    assert_eq!(
        said(sum_rows(&[1, 2, 3, 4], 2, &mut result).unwrap_err()),
        "a row has 2 values, but the result has 3"
    );
    assert_eq!(result, [7; 3]);
    assert_eq!(
        said(dot(&[1.0, 2.0], &[1.0]).unwrap_err()),
        "slice 1 has 1 item, but slice 0 has 2"
    );
    assert_eq!(
        said(fields(&[&[1, 2][..], &[3, 4], &[5]], &Sum).unwrap_err()),
        "slice 2 has 1 item, but slice 0 has 2"
    );
}

/// Composes affine maps modulo 2^64, which is not commutative. The third word counts the combinations.
fn compose(left: [u64; 3], right: [u64; 3]) -> [u64; 3] {
    [
        right[0].wrapping_mul(left[0]),
        right[0].wrapping_mul(left[1]).wrapping_add(right[1]),
        left[2] + right[2] + 1,
    ]
}

/// Items of words are reduced to the same bits as items of a Rust type, by every call and every algorithm.
#[test]
fn items_of_words_are_reduced_as_typed_ones() {
    const EMPTY: [u64; 3] = [1, 0, 0];
    const ITEMS: usize = 23;
    let items = |from: usize, count: usize| -> Vec<[u64; 3]> {
        let item = |i: usize| [2 * i as u64 + 3, 5 * i as u64 + 1, 0];
        (from..from + count).map(item).collect()
    };
    for ((ranks, width), algorithm) in [(1, 1), (2, 1), (3, 2), (5, 1)]
        .into_iter()
        .flat_map(|shape| Algorithm::all().map(move |algorithm| (shape, algorithm)))
    {
        let runs = threads::run(ranks, |world| {
            let own = (
                world.rank() * ITEMS / ranks,
                (world.rank() + 1) * ITEMS / ranks,
            );
            let count = own.1 - own.0;
            let builder = || {
                let builder = Plan::builder(world).local_items(count as u64);
                builder.width(width).algorithm(algorithm)
            };
            let typed = builder().operator(custom("compose", compose).with_empty(EMPTY));
            let words = WordsOperator::new("compose".to_owned(), 3, Some(EMPTY.to_vec()), {
                |left, right, into| {
                    let [left, right] = [left, right].map(|item| item.try_into().unwrap());
                    into.copy_from_slice(&compose(left, right));
                }
            });
            let Ok(typed) = typed.build::<[u64; 3]>() else {
                let refused = builder().operator(words).build_words();
                return assert!(refused.is_err(), "{algorithm} builds one of the two");
            };
            let words = builder().operator(words).build_words().unwrap();
            let local = items(own.0 * width, count * width);
            for &operation in Operation::ALL {
                let local = match operation {
                    Operation::Broadcast => &[],
                    _ => &*local,
                };
                let mut expected = vec![EMPTY; words.result_length(operation)];
                let mut found = expected.clone();
                let outcome = typed.run(
                    operation,
                    Operands::Items(bytemuck::cast_slice(local)),
                    bytemuck::cast_slice_mut(&mut expected),
                );
                let operands = Operands::Items(bytemuck::cast_slice(local));
                let result = bytemuck::cast_slice_mut(&mut found);
                let found_outcome = words.run(operation, operands, result);
                let case = format!("{operation} by {algorithm} on {ranks} ranks");
                assert_eq!(found_outcome, outcome, "{case}");
                assert_eq!(found, expected, "{case}");
            }
        });
        runs.unwrap();
    }
}
