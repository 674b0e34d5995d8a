//! Compares parallel folds with the recursive definition, on pools of several sizes.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod control;

use proptest::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use reduce::operator::custom;
use reduce::{FoldError, Max, Operator, Product, Sum, par};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

/// Pseudorandom words.
fn words(count: usize, seed: u64) -> impl Iterator<Item = u64> {
    let next = |state: &u64| {
        Some(
            state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(0xB5),
        )
    };
    std::iter::successors(Some(seed), next)
        .take(count)
        .map(|state| state ^ state >> 31)
}

#[track_caller]
fn check<T, O>(items: &[T], operator: &O, bits: impl Fn(T) -> u64)
where
    T: Copy + Send + Sync + 'static,
    O: Operator<T> + Sync,
{
    let combine = |left, right| operator.combine(left, right);
    let expected = simd_kernels::by_definition(items, &combine).or(operator.empty());
    let expected = bits(operator.canonical(expected.unwrap()));
    for threads in [1, 2, 3, 7] {
        let found = pool(threads)
            .install(|| par::fold(items, operator))
            .unwrap();
        assert_eq!(
            bits(found),
            expected,
            "{threads} threads, N = {}",
            items.len()
        );
    }
    assert_eq!(
        bits(par::fold(items, operator).unwrap()),
        expected,
        "outside of a pool"
    );
}

/// A double of either sign, of 64 magnitudes.
fn double(word: u64) -> f64 {
    word.cast_signed() as f64 * 2_f64.powi((word % 64) as i32)
}

/// A function that is neither associative nor commutative.
fn mix(left: u64, right: u64) -> u64 {
    (left.rotate_left(7) ^ right.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_add(left >> 3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_length_and_pool(count in 0..600_000_usize, seed: u64) {
        let words: Vec<u64> = words(count, seed).collect();
        let doubles: Vec<f64> = words.iter().copied().map(double).collect();
        check(&doubles, &Sum, f64::to_bits);
        let small: Vec<f32> = words.iter().map(|&word| (word % 1000) as f32 / 7.0).collect();
        check(&small, &Sum, |total| total.to_bits().into());
        check(&words, &Product, |total| total);
        check(&words, &custom("mix", mix).with_empty(0), |total| total);
    }
}

#[test]
fn lengths_where_the_work_is_split() {
    for edge in [1 << 17, 1 << 18, 3 << 17] {
        for count in edge - 1..=edge + 1 {
            let items: Vec<u64> = words(count, 9).collect();
            check(&items, &custom("mix", mix), |total| total);
        }
    }
}

#[test]
fn no_items() {
    assert_eq!(par::sum::<f64>(&[]), Ok(0.0));
    let operator = "max".to_owned();
    assert_eq!(
        par::fold::<f64, _>(&[], &Max),
        Err(FoldError::NoItems { operator })
    );
}

#[test]
#[should_panic(expected = "on purpose")]
fn a_panic_of_the_operator_comes_through() {
    let broken = custom("broken", |_: u64, _| panic!("on purpose"));
    let _ = par::fold(&vec![1_u64; 200_000], &broken);
}

/// The threads of the pool flush subnormal numbers to zero; the calling thread does not.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[test]
fn a_thread_with_another_environment_is_an_error() {
    // `set` changes a register only of the pool's threads, which end with the pool.
    let set = |_| control::set(control::DEFAULT | control::FLUSH_TO_ZERO);
    let flushing = ThreadPoolBuilder::new()
        .num_threads(2)
        .start_handler(set)
        .build()
        .unwrap();
    let result = flushing.install(|| par::sum(&vec![1.0; 1 << 20]));
    assert!(
        matches!(result, Err(FoldError::Environment(_))),
        "{result:?}"
    );
    assert_eq!(par::sum(&[1.0; 8]), Ok(8.0));
}

/// Tests the other parallel functions on slices that one thread folds alone, and on longer slices.
#[test]
fn the_other_twins_have_the_bits_of_one_thread() {
    for count in [0, 1, 1000, (1 << 17) + 1, 3 * (1 << 17) + 12_345] {
        let x: Vec<f64> = words(count, 3).map(double).collect();
        let y: Vec<f64> = words(count, 4)
            .map(|word| 1.0 / (word as f64 + 1.0))
            .collect();
        let whole_rows = &x[..count - count % 3];
        for threads in [1, 2, 5] {
            pool(threads).install(|| {
                let bits = |pair: (f64, f64)| [pair.0.to_bits(), pair.1.to_bits()];
                assert_eq!(
                    par::dot(&x, &y).unwrap().to_bits(),
                    reduce::dot(&x, &y).unwrap().to_bits()
                );
                assert_eq!(
                    par::squared_norm(&y).unwrap().to_bits(),
                    reduce::squared_norm(&y).unwrap().to_bits()
                );
                assert_eq!(
                    bits(par::sum_and_absolute_sum(&y).unwrap()),
                    bits(reduce::sum_and_absolute_sum(&y).unwrap())
                );
                let (mut rows, mut expected) = ([0.0; 3], [0.0; 3]);
                par::sum_rows(whole_rows, 3, &mut rows).unwrap();
                reduce::sum_rows(whole_rows, 3, &mut expected).unwrap();
                assert_eq!(rows.map(f64::to_bits), expected.map(f64::to_bits));
                let fields = par::fields(&[&x, &y], &Sum).unwrap();
                let expected = reduce::fields(&[&x, &y], &Sum).unwrap();
                assert!(
                    fields
                        .iter()
                        .zip(&expected)
                        .all(|(a, b)| a.to_bits() == b.to_bits())
                );
            });
        }
    }
}

#[test]
fn the_other_twins_refuse_what_the_others_refuse() {
    let (short, long) = (vec![1.0; 10], vec![1.0; 300_000]);
    assert_eq!(par::dot(&long, &short), reduce::dot(&long, &short));
    assert!(par::dot(&long, &short).is_err());
    let mut row = [0.0; 7];
    for width in [0, 7] {
        let refused = par::sum_rows(&long, width, &mut row);
        assert_eq!(refused, reduce::sum_rows(&long, width, &mut row));
        assert!(refused.is_err());
    }
    assert!(par::fold_rows(&long, 3, &Max, &mut row).is_err());
    assert!(par::fields(&[&long, &short], &Max).is_err());
}
