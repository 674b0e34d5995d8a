//! Folds of integers at every level against iterators.

use proptest::prelude::*;
use simd_kernels::{Level, fold_in_any_order};

/// Around what registers hold, and what is short.
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
