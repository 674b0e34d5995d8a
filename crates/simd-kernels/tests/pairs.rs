//! Combines and copies rows at every level, and compares the results with those of single elements.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod common;

use common::{Bits, OPERATIONS, levels, words};
use proptest::prelude::*;
use simd_kernels::{Level, Operation, combine_rows, copy_row};

/// The replacement for NaNs, distinguished from all other NaNs by its payload.
const NAN_WORD: u64 = 0x7FF8_1234_0000_0000;

/// All bits of a float, including those of NaNs, which [`Bits::bits`] does not distinguish.
trait Words: Bits {
    fn all_bits(self) -> u64;
}

impl Words for f64 {
    fn all_bits(self) -> u64 {
        self.to_bits()
    }
}

impl Words for f32 {
    fn all_bits(self) -> u64 {
        self.to_bits().into()
    }
}

#[track_caller]
fn check<T: Words>(words: &[u64], skipped: usize) {
    let values: Vec<T> = words.iter().copied().map(T::from_word).collect();
    let values = &values[skipped..];
    let (left, right) = values.split_at(values.len() / 2);
    let right = &right[..left.len()];
    let nan = T::from_word(NAN_WORD);
    let filler = T::from_word(1);
    let is_nan = |value: T| value.bits() == nan.bits();
    for level in levels() {
        for operation in OPERATIONS {
            let expected = left.iter().zip(right);
            let expected: Vec<T> = expected
                .map(|(&left, &right)| T::by_standard(operation, left, right))
                .collect();
            let mut found = vec![filler; left.len()];
            combine_rows(level, operation, left, right, None, &mut found);
            let bits = |row: &[T]| row.iter().map(|value| value.bits()).collect::<Vec<_>>();
            assert_eq!(bits(&found), bits(&expected), "{operation:?}, {level}");
            combine_rows(level, operation, left, right, Some(nan), &mut found);
            for (&found, &expected) in found.iter().zip(&expected) {
                let expected = if is_nan(expected) { nan } else { expected };
                assert_eq!(
                    found.all_bits(),
                    expected.all_bits(),
                    "{operation:?}, {level}"
                );
            }
        }
        let mut found = vec![filler; left.len()];
        copy_row(level, left, nan, &mut found);
        for (&found, &value) in found.iter().zip(left) {
            let expected = if is_nan(value) { nan } else { value };
            assert_eq!(found.all_bits(), expected.all_bits(), "{level}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Unaligned slices with special values.
    #[test]
    fn any_length_and_offset(words in words(0..2500), skipped in 0..16_usize) {
        check::<f64>(&words, skipped.min(words.len()));
        check::<f32>(&words, skipped.min(words.len()));
    }

    #[test]
    fn short_rows(words in words(0..80)) {
        check::<f64>(&words, 0);
        check::<f32>(&words, 0);
    }
}

#[test]
#[should_panic(expected = "rows of 2, 3 and 2 elements")]
fn rows_of_different_lengths() {
    combine_rows(
        Level::best(),
        Operation::Sum,
        &[1.0; 2],
        &[1.0; 3],
        None,
        &mut [0.0; 2],
    );
}

#[test]
#[should_panic(expected = "rows of 2 and 3 elements")]
fn copies_of_another_length() {
    copy_row(Level::best(), &[1.0; 2], f64::NAN, &mut [0.0; 3]);
}
