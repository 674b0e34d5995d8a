//! Compares folds of rows with the recursive definition for each column, bit for bit, on every level of this machine.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod common;

use common::{Bits, OPERATIONS, levels, spread_word, words};
use proptest::prelude::*;
use simd_kernels::{
    Level, Operation, by_definition, fold, fold_rows, rows_scratch_len, sum_pairs, tree_fold_rows,
};

/// Folds each column by the definition.
fn columns_by_definition<T: Copy>(
    width: usize,
    items: &[T],
    combine: impl Fn(T, T) -> T,
) -> Vec<Option<T>> {
    (0..width)
        .map(|column| {
            let elements: Vec<T> = items.iter().skip(column).step_by(width).copied().collect();
            by_definition(&elements, &combine)
        })
        .collect()
}

/// Returns what `fill` writes to a row. `fill` must overwrite every element, or return `None`.
fn result<T: Copy>(
    width: usize,
    filler: T,
    fill: impl FnOnce(&mut [T]) -> Option<()>,
) -> Vec<Option<T>> {
    let mut result = vec![filler; width];
    match fill(&mut result) {
        Some(()) => result.into_iter().map(Some).collect(),
        None => vec![None; width],
    }
}

/// Runs every level and the generic function on rows, and compares. Scratch memory has the minimal length and is full of NaNs.
#[track_caller]
fn check<T: Bits>(levels: &[Level], width: usize, items: &[T]) {
    let rows = items.len() / width;
    let before: Vec<u64> = items.iter().map(|item| item.bits()).collect();
    let not_a_number = T::from_word(u64::MAX);
    let mut scratch = vec![not_a_number; rows_scratch_len::<T>(width, rows)];
    let bits = |values: Vec<Option<T>>| -> Vec<Option<u64>> {
        values
            .into_iter()
            .map(|value| value.map(Bits::bits))
            .collect()
    };
    for operation in OPERATIONS {
        let combine = |left, right| T::by_standard(operation, left, right);
        let expected = bits(columns_by_definition(width, items, combine));
        for &level in levels {
            scratch.fill(not_a_number);
            let found = result(width, not_a_number, |result| {
                fold_rows(level, operation, width, items, &mut scratch, result)
            });
            assert_eq!(
                bits(found),
                expected,
                "{operation:?}, {level}, {rows} rows of {width}"
            );
            if width == 2 && operation == Operation::Sum {
                let sums = sum_pairs(level, items.as_chunks().0);
                let sums = sums.map_or([None; 2], |sums| sums.map(Some));
                assert_eq!(bits(sums.to_vec()), expected, "{level}, {rows} pairs");
            }
        }
        scratch.fill(not_a_number);
        let found = result(width, not_a_number, |result| {
            tree_fold_rows(width, items, &mut scratch, result, combine)
        });
        assert_eq!(
            bits(found),
            expected,
            "{operation:?}, any operator, {rows} rows of {width}"
        );
    }
    assert!(items.iter().map(|item| item.bits()).eq(before));
}

/// Checks the words as rows of doubles and of floats. The rows end where their allocation ends, so that valgrind reports reads past the end.
#[track_caller]
fn check_both(width: usize, words: &[u64], skipped: usize) {
    let levels = levels();
    let whole = words.len() - (words.len() - skipped) % width;
    let exact = &words[..whole];
    let doubles: Box<[f64]> = exact.iter().copied().map(Bits::from_word).collect();
    check(&levels, width, &doubles[skipped..]);
    let floats: Box<[f32]> = exact.iter().copied().map(Bits::from_word).collect();
    check(&levels, width, &floats[skipped..]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Unaligned rows with special values.
    #[test]
    fn any_width_and_number_of_rows(
        words in words(0..3000),
        width in 1..70_usize,
        skipped in 0..16_usize,
    ) {
        check_both(width, &words, skipped.min(words.len()));
    }

    #[test]
    fn any_narrow_width(words in words(0..1500), width in 1..18_usize, skipped in 0..4_usize) {
        check_both(width, &words, skipped.min(words.len()));
    }
}

/// Numbers that give a different result for each column, row and order.
fn spread(count: usize) -> Vec<u64> {
    (0..count as u64).map(spread_word).collect()
}

/// Every number of rows up to two long groups, for every width around the register widths.
#[test]
fn every_edge_of_small_trees() {
    let words = spread(140 * 34);
    for width in 1..=34 {
        // Testing every number is slow, and the edges of groups are the same for all widths.
        let step = if width <= 17 { 1 } else { 3 };
        for rows in (0..=140).step_by(step) {
            check_both(width, &words[..rows * width], 0);
        }
    }
}

/// Narrow rows are folded eight groups of 64 at a time.
#[test]
fn edges_of_eight_groups() {
    let words = spread(1600 * 17);
    for width in 2..=17 {
        for rows in [511, 512, 513, 575, 576, 585, 1023, 1024, 1600] {
            check_both(width, &words[..rows * width], 0);
        }
    }
}

/// Widths around a panel of 32 KiB, with a last panel that is narrower than a register.
#[test]
fn wide_rows_are_taken_in_panels() {
    let words = spread(21 * 16_400);
    let around_doubles = [4095, 4096, 4097, 4099, 4103, 4104];
    let around_floats = [8191, 8192, 8195, 8209, 16_386];
    let small = [63, 64, 65, 513];
    for width in small.into_iter().chain(around_doubles).chain(around_floats) {
        for rows in [1, 2, 3, 7, 8, 9, 16, 21] {
            check_both(width, &words[..rows * width], 0);
        }
    }
}

/// Slices above the sizes from which rows are prefetched: 16 MiB, or 4 MiB of rows that are longer than 4 KiB.
#[test]
fn rows_that_are_fetched_ahead() {
    let words = spread((1 << 22) + (1 << 12));
    for (width, count) in [
        (2, 1 << 22),
        (13, 1 << 22),
        (1000, 1 << 22),
        (1025, 1 << 20),
        (70_001, 1 << 20),
    ] {
        let levels = levels();
        let words = &words[..count + (1 << 12)];
        let rows = words.len() / width;
        let floats = |i: usize| f32::from_word(words[i]);
        let items: Vec<f32> = (0..rows * width).map(floats).collect();
        let expected = columns_by_definition(width, &items, |left, right| left + right);
        let mut scratch = vec![0.0; rows_scratch_len::<f32>(width, rows)];
        for &level in &levels {
            let found = result(width, 0.0, |result| {
                fold_rows(level, Operation::Sum, width, &items, &mut scratch, result)
            });
            let bits = |values: &[Option<f32>]| -> Vec<_> {
                values.iter().map(|value| value.map(f32::to_bits)).collect()
            };
            assert!(bits(&found) == bits(&expected), "{level}, rows of {width}");
        }
    }
}

/// An operation that is neither associative nor commutative.
fn mix(left: u32, right: u32) -> u32 {
    (left.rotate_left(7) ^ right.wrapping_mul(0x9E37_79B9)).wrapping_add(left >> 3)
}

#[test]
fn operands_stay_in_order() {
    let items: Vec<u32> = (1..200_000).collect();
    for width in [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 100, 1024, 8191, 8193] {
        for rows in (0..=40).filter(|rows| rows * width < items.len()) {
            let items = &items[..rows * width];
            let mut scratch = vec![u32::MAX; rows_scratch_len::<u32>(width, rows)];
            let found = result(width, 0, |result| {
                tree_fold_rows(width, items, &mut scratch, result, mix)
            });
            let expected = columns_by_definition(width, items, mix);
            assert_eq!(found, expected, "{rows} rows of {width}");
        }
    }
}

#[test]
fn operands_of_many_bytes_stay_in_order() {
    type Item = [u32; 20];
    let mix_all = |left: Item, right: Item| std::array::from_fn(|at| mix(left[at], right[at]));
    let words: Vec<u32> = (1..10_000).collect();
    let (items, _) = words.as_chunks();
    for width in 1..=9 {
        for rows in 0..=40 {
            let items: &[Item] = &items[..rows * width];
            let mut scratch = vec![[0; 20]; rows_scratch_len::<Item>(width, rows)];
            let found = result(width, [0; 20], |result| {
                tree_fold_rows(width, items, &mut scratch, result, mix_all)
            });
            let expected = columns_by_definition(width, items, mix_all);
            assert_eq!(found, expected, "{rows} rows of {width}");
        }
    }
}

/// Padding with +0.0 would turn a sum of negative zeros positive.
#[test]
fn nothing_is_padded() {
    for width in 1..20 {
        for rows in 1..20 {
            check_both(width, &vec![(-0.0_f64).to_bits(); rows * width], 0);
        }
    }
}

/// Rows of one element are folded as single values. No rows give `None`.
#[test]
fn one_column_and_no_rows() {
    let items = [0.1, 0.2, 0.3, 0.4, 0.5];
    let mut scratch = [0.0; rows_scratch_len::<f64>(1, 5)];
    for level in Level::available() {
        let mut sum = [0.0];
        fold_rows(level, Operation::Sum, 1, &items, &mut scratch, &mut sum).unwrap();
        assert_eq!(Some(sum[0]), fold(level, Operation::Sum, &items));
        let mut untouched = [7.0; 3];
        let none = fold_rows(level, Operation::Sum, 3, &[], &mut [], &mut untouched);
        assert_eq!((none, untouched), (None, [7.0; 3]));
    }
    let mut untouched = [7; 30];
    let none = tree_fold_rows(30, &[], &mut [], &mut untouched, u32::wrapping_add);
    assert_eq!((none, untouched), (None, [7; 30]));
}

/// Zero-sized items have no bytes from which to compute the width of a panel.
#[test]
fn items_without_a_size() {
    let mut scratch = [(); rows_scratch_len::<()>(9, 100)];
    let folded = tree_fold_rows(9, &[(); 900], &mut scratch, &mut [(); 9], |(), ()| ());
    assert_eq!(folded, Some(()));
}

fn sum_rows(width: usize, items: usize, scratch: usize, result: usize) {
    let (items, mut scratch, mut result) =
        (vec![0.0; items], vec![0.0; scratch], vec![0.0; result]);
    let level = Level::SCALAR;
    fold_rows(
        level,
        Operation::Sum,
        width,
        &items,
        &mut scratch,
        &mut result,
    );
}

#[test]
#[should_panic(expected = "the width of a row is 0")]
fn rows_of_nothing() {
    sum_rows(0, 0, 0, 0);
}

#[test]
#[should_panic(expected = "7 items are not whole rows of 3")]
fn a_row_that_is_not_whole() {
    sum_rows(3, 7, 1000, 3);
}

#[test]
#[should_panic(expected = "the result of rows of 3 has 3 elements, not 2")]
fn a_short_result() {
    sum_rows(3, 6, 1000, 2);
}

#[test]
#[should_panic(expected = "2 rows of 3 need 32 values of scratch memory, not 31")]
fn a_short_scratch() {
    sum_rows(3, 6, 31, 3);
}
