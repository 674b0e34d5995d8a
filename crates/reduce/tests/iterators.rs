//! Compares reductions of sequential iterators and of rayon's iterators with the recursive definition.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use proptest::collection::vec;
use proptest::prelude::*;
use reduce::operator::custom;
use reduce::{FoldError, Max, TreeIterator, exact};

/// A function that is neither associative nor commutative.
fn mix(left: u64, right: u64) -> u64 {
    (left.rotate_left(7) ^ right.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_add(left >> 3)
}

fn number(word: u64) -> f64 {
    let exponent = i32::try_from(word % 60).unwrap() - 30;
    (word >> 11) as f64 * 2_f64.powi(exponent - 52) - 1.0
}

fn tree_sum(items: &[f64]) -> u64 {
    let sum = simd_kernels::by_definition(items, &|left, right| left + right);
    sum.unwrap_or(0.0).to_bits()
}

#[track_caller]
fn check(words: &[u64]) {
    let numbers: Vec<f64> = words.iter().copied().map(number).collect();
    let expected = tree_sum(&numbers);
    let sum = words.iter().copied().map(number).tree_sum().unwrap();
    assert_eq!(sum.to_bits(), expected, "N = {}", words.len());
    let mixed = words
        .iter()
        .copied()
        .tree_reduce(custom("mix", mix).with_empty(7));
    assert_eq!(
        mixed,
        Ok(simd_kernels::by_definition(words, &mix).unwrap_or(7))
    );
    let sum = words.iter().copied().map(number).exact_sum().unwrap();
    assert_eq!(sum.to_bits(), exact::sum(&numbers).to_bits());
    let products = || {
        words
            .iter()
            .rev()
            .zip(&numbers)
            .map(|(&a, &b)| number(a) * b)
    };
    let sum = products().tree_sum().unwrap();
    assert_eq!(sum.to_bits(), tree_sum(&products().collect::<Vec<_>>()));
}

proptest! {
    #[test]
    fn any_length(words in vec(any::<u64>(), 0..5000)) {
        check(&words);
    }
}

#[test]
fn lengths_where_blocks_end() {
    let words: Vec<u64> = (0..9000).map(|item| mix(3, item)).collect();
    for edge in [1, 1024, 2048, 3072, 4096, 8192] {
        for length in edge - 1..=edge + 1 {
            check(&words[..length]);
        }
    }
}

#[test]
fn no_items() {
    let none = std::iter::empty::<f64>;
    assert_eq!(none().tree_sum().map(f64::to_bits), Ok(0));
    assert_eq!(none().exact_sum().map(f64::to_bits), Ok(0));
    let operator = "max".to_owned();
    assert_eq!(
        none().tree_reduce(Max),
        Err(FoldError::NoItems { operator })
    );
}

/// An iterator that gives `gives` items, but states a length of `says`.
struct Liar {
    gives: usize,
    says: usize,
}

impl Iterator for Liar {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        self.gives = self.gives.checked_sub(1)?;
        Some(1.0)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.says, Some(self.says))
    }
}

impl ExactSizeIterator for Liar {}

#[test]
fn lengths_that_are_not_true() {
    for (gives, says) in [
        (0, 1),
        (1, 0),
        (5, 6),
        (1024, 2000),
        (3000, 2999),
        (usize::MAX, 10),
    ] {
        let wrong = FoldError::Iterator {
            promised: says as u64,
            found: (gives < says).then_some(gives as u64),
        };
        assert_eq!(Liar { gives, says }.tree_sum(), Err(wrong.clone()));
        assert_eq!(Liar { gives, says }.exact_sum(), Err(wrong.clone()));
        assert_eq!(Liar { gives, says }.tree_reduce(Max), Err(wrong));
    }
    let said = |gives, says| Liar { gives, says }.tree_sum().unwrap_err().to_string();
    let begin = "an iterator, or a part of it, promised 3 items, but gave";
    assert_eq!(said(2, 3), format!("{begin} 2"));
    assert_eq!(said(4, 3), format!("{begin} more"));
}

#[cfg(feature = "par")]
mod parallel {
    use rayon::iter::plumbing::{Consumer, Producer, ProducerCallback, UnindexedConsumer, bridge};
    use rayon::prelude::*;
    use reduce::par::ParallelTreeIterator;

    use super::*;

    fn on(threads: usize, test: impl FnOnce() + Send) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(test);
    }

    fn check(words: &[u64]) {
        let numbers: Vec<f64> = words.iter().copied().map(number).collect();
        let (expected, exact) = (tree_sum(&numbers), exact::sum(&numbers).to_bits());
        let mixed = simd_kernels::by_definition(words, &mix).unwrap_or(7);
        for threads in [1, 2, 3, 8] {
            on(threads, || {
                let sum = words.par_iter().map(|&word| number(word)).tree_sum();
                assert_eq!(sum.unwrap().to_bits(), expected, "N = {}", words.len());
                let sum = numbers.par_iter().copied().with_max_len(3).tree_sum();
                assert_eq!(sum.unwrap().to_bits(), expected);
                let chunks = numbers.clone().into_par_iter().with_min_len(500);
                assert_eq!(chunks.tree_sum().unwrap().to_bits(), expected);
                let sum = words.par_iter().map(|&word| number(word)).exact_sum();
                assert_eq!(sum.unwrap().to_bits(), exact);
                let (left, right) = words.split_at(words.len() / 3);
                let chained = left.par_iter().chain(right).copied();
                let mixing = custom("mix", mix).with_empty(7);
                assert_eq!(chained.tree_reduce(&mixing), Ok(mixed));
                let zipped = words.par_iter().zip(&numbers).map(|(_, &x)| x);
                assert_eq!(zipped.tree_sum().unwrap().to_bits(), expected);
            });
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn any_length_and_pool(words in vec(any::<u64>(), 0..20_000)) {
            check(&words);
        }
    }

    #[test]
    fn lengths_where_something_ends() {
        let words: Vec<u64> = (0..300_000).map(|item| mix(5, item)).collect();
        for length in [
            0, 1, 2, 63, 64, 65, 1023, 1024, 1025, 131_072, 131_073, 300_000,
        ] {
            check(&words[..length]);
        }
    }

    /// A parallel iterator whose parts give `more` items than their stated length, or fewer if `more` is negative.
    #[derive(Clone, Copy)]
    struct ParallelLiar {
        says: usize,
        more: isize,
    }

    impl ParallelIterator for ParallelLiar {
        type Item = f64;

        fn drive_unindexed<C: UnindexedConsumer<f64>>(self, consumer: C) -> C::Result {
            bridge(self, consumer)
        }
    }

    impl IndexedParallelIterator for ParallelLiar {
        fn len(&self) -> usize {
            self.says
        }

        fn drive<C: Consumer<f64>>(self, consumer: C) -> C::Result {
            bridge(self, consumer)
        }

        fn with_producer<B: ProducerCallback<f64>>(self, callback: B) -> B::Output {
            callback.callback(self)
        }
    }

    impl Producer for ParallelLiar {
        type Item = f64;
        type IntoIter = std::vec::IntoIter<f64>;

        fn into_iter(self) -> Self::IntoIter {
            let gives = self.says.saturating_add_signed(self.more);
            vec![1.0; gives].into_iter()
        }

        fn split_at(self, index: usize) -> (Self, Self) {
            let part = |says| Self { says, ..self };
            (part(index), part(self.says - index))
        }
    }

    /// A parallel iterator over a slice, whose stated length may leave out the last items.
    struct Longer<'a>(&'a [f64], usize);

    impl ParallelIterator for Longer<'_> {
        type Item = f64;

        fn drive_unindexed<C: UnindexedConsumer<f64>>(self, consumer: C) -> C::Result {
            bridge(self, consumer)
        }
    }

    impl IndexedParallelIterator for Longer<'_> {
        fn len(&self) -> usize {
            self.1
        }

        fn drive<C: Consumer<f64>>(self, consumer: C) -> C::Result {
            bridge(self, consumer)
        }

        fn with_producer<B: ProducerCallback<f64>>(self, callback: B) -> B::Output {
            self.0.par_iter().copied().with_producer(callback)
        }
    }

    #[test]
    fn more_items_than_the_length() {
        for says in [0, 1, 1024, 5000, 300_000] {
            let items = vec![1.0; says + 1];
            let longer = || Longer(&items, says);
            for outcome in [longer().tree_sum(), longer().exact_sum()] {
                let is_noticed = matches!(outcome, Err(FoldError::Iterator { found: None, .. }));
                assert!(is_noticed, "{outcome:?} of {says}");
            }
            assert_eq!(Longer(&items, says + 1).tree_sum(), Ok(items.len() as f64));
        }
    }

    #[test]
    fn lengths_that_are_not_true() {
        for says in [1, 100, 5000] {
            for more in [-1, 1, 7] {
                let liar = ParallelLiar { says, more };
                for outcome in [liar.tree_sum(), liar.exact_sum(), liar.tree_reduce(Max)] {
                    let Err(FoldError::Iterator { found, .. }) = outcome else {
                        panic!("{outcome:?} of {says} and {more}");
                    };
                    assert_eq!(found.is_some(), more < 0);
                }
            }
        }
        let honest = ParallelLiar {
            says: 5000,
            more: 0,
        };
        assert_eq!(honest.tree_sum(), Ok(5000.0));
    }

    #[test]
    #[should_panic(expected = "on purpose")]
    fn a_panic_comes_through() {
        let words = vec![1_u64; 100_000];
        let broken = words.par_iter().copied();
        let _ = broken.tree_reduce(custom("broken", |_, _| panic!("on purpose")));
    }
}
