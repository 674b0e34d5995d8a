//! Compares reductions in lanes with the recursive definition, in one process, by one thread and by pools of threads.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use proptest::collection::vec;
use proptest::prelude::*;
use reduce::operator::custom;
use reduce::{FoldError, Max, Operator, Product, Sum, fold_lanes, fold_rows_lanes, sum_lanes};

/// Numbers of lanes. There are kernels for some of them.
fn lanes() -> impl Strategy<Value = usize> {
    prop_oneof![
        prop::sample::select(vec![1, 2, 16, 32, 64, 128, 256]),
        1..300_usize,
        Just(1 << 20),
    ]
}

fn numbers(words: &[u64]) -> Vec<f64> {
    let number = |&word: &u64| {
        let exponent = i32::try_from(word % 60).unwrap() - 30;
        (word >> 11) as f64 * 2_f64.powi(exponent - 52) - 1.0
    };
    words.iter().map(number).collect()
}

fn by_definition<T: Copy + 'static, O: Operator<T>>(
    items: &[T],
    lanes: usize,
    operator: &O,
) -> Option<T> {
    let combine = |left, right| operator.combine(left, right);
    let values = (0..lanes.min(items.len())).map(|lane| {
        let own: Vec<T> = items.iter().copied().skip(lane).step_by(lanes).collect();
        simd_kernels::by_definition(&own, &combine).unwrap()
    });
    let value = simd_kernels::by_definition(&values.collect::<Vec<T>>(), &combine);
    value
        .or(operator.empty())
        .map(|value| operator.canonical(value))
}

/// A function that is neither associative nor commutative.
fn mix(left: u64, right: u64) -> u64 {
    (left.rotate_left(7) ^ right.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_add(left >> 3)
}

/// Checks `fold_lanes` by one thread and, with feature `par`, by pools.
#[track_caller]
fn check<T, O>(items: &[T], lanes: usize, operator: &O, bits: impl Fn(T) -> u64)
where
    T: Copy + Send + Sync + 'static,
    O: Operator<T> + Sync,
{
    let expected = by_definition(items, lanes, operator).map(&bits);
    let found = fold_lanes(items, lanes, operator).ok().map(&bits);
    assert_eq!(found, expected, "{lanes} lanes, N = {}", items.len());
    #[cfg(feature = "par")]
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let fold = || reduce::par::fold_lanes(items, lanes, operator);
        let found = pool.build().unwrap().install(fold).ok().map(&bits);
        let count = items.len();
        assert_eq!(
            found, expected,
            "{lanes} lanes, N = {count}, {threads} threads"
        );
    }
}

proptest! {
    #[test]
    fn any_length(words in vec(any::<u64>(), 0..5000), lanes in lanes()) {
        let doubles = numbers(&words);
        check(&doubles, lanes, &Sum, f64::to_bits);
        check(&doubles, lanes, &Max, f64::to_bits);
        #[expect(clippy::cast_possible_truncation, reason = "the test needs floats")]
        let floats: Vec<f32> = doubles.iter().map(|&item| item as f32).collect();
        check(&floats, lanes, &Sum, |sum| sum.to_bits().into());
        check(&words, lanes, &Product, |product| product);
        check(&words, lanes, &custom("mix", mix), |mixed| mixed);
    }

    #[test]
    fn rows(words in vec(any::<u64>(), 0..2000), width in 1..9_usize, lanes in lanes()) {
        let items = &words[..words.len() - words.len() % width];
        let mixing = custom("mix", mix).with_empty(7);
        let expected: Vec<u64> = (0..width)
            .map(|column| {
                let own: Vec<u64> = items.iter().copied().skip(column).step_by(width).collect();
                by_definition(&own, lanes, &mixing).unwrap()
            })
            .collect();
        let mut found = vec![0; width];
        fold_rows_lanes(items, width, lanes, &mixing, &mut found).unwrap();
        prop_assert_eq!(&found, &expected);
        #[cfg(feature = "par")]
        {
            found.fill(0);
            reduce::par::fold_rows_lanes(items, width, lanes, &mixing, &mut found).unwrap();
            prop_assert_eq!(&found, &expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Reduces more items than one thread folds alone.
    #[test]
    fn long(count in 1..600_000_u64, seed: u64, lanes in lanes(), width in 1..4_usize) {
        let words: Vec<u64> = (0..count).map(|item| mix(seed, item)).collect();
        check(&numbers(&words), lanes, &Sum, f64::to_bits);
        check(&words, lanes, &custom("mix", mix), |mixed| mixed);
        #[cfg(feature = "par")]
        {
            let items = &words[..words.len() - words.len() % width];
            let mixing = custom("mix", mix).with_empty(7);
            let (mut found, mut expected) = ([0; 4], [0; 4]);
            let [found, expected] = [&mut found, &mut expected].map(|row| &mut row[..width]);
            reduce::par::fold_rows_lanes(items, width, lanes, &mixing, found).unwrap();
            fold_rows_lanes(items, width, lanes, &mixing, expected).unwrap();
            prop_assert_eq!(found, expected);
        }
        #[cfg(not(feature = "par"))]
        let _ = width;
    }
}

/// Checks the sums that paper P4016 states for its own items.
#[test]
fn as_the_paper_has_it() {
    let mut state = 0x243F_6A88_85A3_08D3_u64;
    let items: Vec<f64> = (0..1_000_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005);
            state = state.wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11).cast_signed() - (1 << 52)) as f64 / 2_f64.powi(52)
        })
        .collect();
    let bits = |lanes| sum_lanes(&items, lanes).map(f64::to_bits);
    assert_eq!(bits(16), Ok(0x4061_8F71_F637_9380));
    assert_eq!(bits(128), Ok(0x4061_8F71_F637_9397));
    assert_eq!(bits(1), reduce::sum(&items).map(f64::to_bits));
}

#[test]
fn numbers_of_lanes_that_there_cannot_be() {
    for lanes in [0, (1 << 20) + 1, usize::MAX] {
        let refused = FoldError::Lanes {
            lanes: lanes as u64,
        };
        assert_eq!(sum_lanes(&[1.0; 3], lanes), Err(refused.clone()));
        assert_eq!(sum_lanes::<f64>(&[], lanes), Err(refused.clone()));
        let mut row = [7.0];
        let rows = fold_rows_lanes(&[1.0; 3], 1, lanes, &Sum, &mut row);
        assert_eq!((rows, row), (Err(refused.clone()), [7.0]));
        #[cfg(feature = "par")]
        {
            assert_eq!(
                reduce::par::sum_lanes(&[1.0; 3], lanes),
                Err(refused.clone())
            );
            let rows = reduce::par::fold_rows_lanes(&[1.0; 3], 1, lanes, &Sum, &mut row);
            assert_eq!((rows, row), (Err(refused), [7.0]));
        }
    }
    let said = sum_lanes(&[1.0], 0).unwrap_err().to_string();
    assert_eq!(
        said,
        "the number of lanes must be from 1 to 1048576, but is 0"
    );
}

#[test]
fn no_items() {
    assert_eq!(sum_lanes::<f64>(&[], 16).map(f64::to_bits), Ok(0));
    let operator = "max".to_owned();
    assert_eq!(
        fold_lanes::<f64, _>(&[], 16, &Max),
        Err(FoldError::NoItems { operator })
    );
}
