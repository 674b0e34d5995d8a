//! Compares folds of integers at every level with iterators.

use proptest::prelude::*;
use simd_kernels::{Level, fold_in_any_order, fold_rows_in_any_order};

/// Lengths around multiples of the registers' lengths, and around the limit for short inputs.
const LENGTHS: [usize; 12] = [0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 129, 1000];

fn agree<S: Copy, T: PartialEq + std::fmt::Debug>(
    items: &[S],
    convert: impl Fn(S) -> T + Copy,
    combine: impl Fn(T, T) -> T + Copy,
) -> Result<(), TestCaseError> {
    for length in LENGTHS {
        let items = &items[..length];
        let expected = items.iter().copied().map(convert).reduce(combine);
        for level in Level::available() {
            let folded = fold_in_any_order(level, items, convert, combine);
            prop_assert_eq!(&folded, &expected, "{} of {}", level, length);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_level_has_the_value_of_an_iterator(
        long in prop::collection::vec(any::<i64>(), 1000),
        short in prop::collection::vec(any::<u8>(), 1000),
        middle in prop::collection::vec(any::<i32>(), 1000),
    ) {
        agree(&long, |x| x, i64::wrapping_add)?;
        agree(&long, |x| x, i64::wrapping_mul)?;
        agree(&long, |x| x, i64::min)?;
        agree(&long, i64::cast_unsigned, u64::max)?;
        agree(&middle, |x| x, i32::max)?;
        agree(&middle, i64::from, i64::wrapping_add)?;
        agree(&middle, i64::from, i64::wrapping_mul)?;
        agree(&short, |x| x, u8::min)?;
        agree(&short, u64::from, u64::wrapping_add)?;
        agree(&short, |x| x > 99, |left, right| left | right)?;
    }
}

/// Narrow rows are folded several at once, and wide rows one by one.
#[test]
fn rows_are_folded_column_by_column() {
    let items: Vec<u32> = (0..20_000_u32)
        .map(|item| item.wrapping_mul(0x9E37_79B9))
        .collect();
    for width in (1..34).chain([63, 64, 65, 200]) {
        for rows in [0, 1, 2, 3, 8, 63, 64, 65, 100] {
            let items = &items[..rows * width];
            let mut found = vec![7; width];
            let folded = fold_rows_in_any_order(items, &mut found, u32::wrapping_mul);
            assert_eq!(folded.is_some(), rows > 0);
            for (column, found) in found.iter().enumerate() {
                let column = items.iter().skip(column).step_by(width).copied();
                let expected = column.reduce(u32::wrapping_mul).unwrap_or(7);
                assert_eq!(*found, expected, "{rows} rows of {width}");
            }
        }
    }
}
