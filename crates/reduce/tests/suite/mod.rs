//! Checks of what plans promise on every backend. All ranks of a communicator run each check.
//!
//! `tests/plans.rs` runs the checks on threads (with and without a seed that determines the interleaving) and under `mpirun`.
//! The results are compared with the recursive definition, which every rank computes over all items.

#![allow(clippy::unwrap_used, reason = "a check fails where it unwraps")]

pub(crate) mod collectives;
pub(crate) mod dots;
pub(crate) mod exact;
pub(crate) mod faults;
pub(crate) mod folded;
pub(crate) mod handles;
pub(crate) mod keyed;
pub(crate) mod lanes;
pub(crate) mod long_rows;
#[allow(dead_code, reason = "each backend loses ranks in its own tests")]
pub(crate) mod losses;
pub(crate) mod nested;
pub(crate) mod pairs;
pub(crate) mod split_phase;

use std::fmt::Debug;
use std::hint::black_box;
use std::ops::Range;

use bytemuck::Pod;
use comm::{Tag, collective};
use distribution::{Distribution, Scheme};
use pairs::pairs;
use reduce::operator::custom;
use reduce::{Algorithm, BuildError, Max, Min, Operator, Plan, Product, RunError, Sum, World};

/// One check. Every rank of a communicator calls this function.
pub(crate) type Check = fn(&World);

/// The names and functions of all checks.
pub(crate) fn checks() -> impl Iterator<Item = (&'static str, Check)> {
    let blocking = CHECKS.into_iter().chain(collectives::CHECKS);
    blocking
        .chain(split_phase::CHECKS)
        .chain(handles::CHECKS)
        .chain(long_rows::CHECKS)
        .chain(folded::CHECKS)
        .chain(dots::CHECKS)
        .chain(exact::CHECKS)
        .chain(keyed::CHECKS)
        .chain(lanes::CHECKS)
        .chain(faults::CHECKS)
        .chain(nested::CHECKS)
        .chain(losses::CHECKS)
}

const CHECKS: [(&str, Check); 12] = [
    ("every algorithm, distribution and length", every_algorithm),
    ("every element type and operator", every_type_and_operator),
    ("special values", special_values),
    (
        "NaNs of user operators",
        user_operators_return_canonical_nans,
    ),
    ("operands keep their order", operands_keep_their_order),
    ("every root", every_root),
    ("empty ranks", empty_ranks),
    ("no items", no_items),
    ("plans run again and beside each other", plans_side_by_side),
    ("ranks that disagree", ranks_that_disagree),
    ("ranks that cannot take part", ranks_that_cannot_take_part),
    ("a slice of another length", a_slice_of_another_length),
];

/// Numbers of very different magnitudes, so that different orders of summation give different bits.
pub(crate) fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    (0..count)
        .map(|_| (next() - 0.5) * (next() * 40.0 - 20.0).exp2())
        .collect()
}

/// The result that the recursive definition gives.
pub(crate) fn by_definition<T: Copy + 'static, O: Operator<T>>(
    items: &[T],
    operator: &O,
) -> Option<T> {
    let combine = |left, right| operator.combine(left, right);
    let total = simd_kernels::by_definition(items, &combine).or(operator.empty())?;
    Some(operator.canonical(total))
}

fn slice<T>(items: &[T], range: Range<u64>) -> &[T] {
    &items[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()]
}

/// Builds a plan, runs an allreduce and a reduce, and compares the bytes of the results with the recursive definition's.
#[track_caller]
pub(crate) fn check<T, O>(
    world: &World,
    items: &[T],
    operator: O,
    distribution: &Distribution,
    algorithm: Algorithm,
    root: usize,
) where
    T: Pod + Debug,
    O: Operator<T> + Clone + 'static,
{
    let expected = by_definition(items, &operator).unwrap();
    let plan = Plan::builder(world)
        .distribution(distribution)
        .algorithm(algorithm)
        .root(root)
        .operator(operator)
        .build::<T>()
        .unwrap();
    let local = slice(items, distribution.range(world.rank()));
    let everyone = plan.allreduce(local).unwrap();
    assert_eq!(
        bytemuck::bytes_of(&everyone),
        bytemuck::bytes_of(&expected),
        "{algorithm}, {distribution:?}: {everyone:?} for {expected:?}"
    );
    let at_root = plan.reduce(local).unwrap();
    assert_eq!(at_root.is_some(), world.rank() == root);
    if let Some(at_root) = at_root {
        assert_eq!(bytemuck::bytes_of(&at_root), bytemuck::bytes_of(&expected));
    }
}

/// The algorithms that this communicator can run.
pub(crate) fn offered(world: &World) -> impl Iterator<Item = Algorithm> {
    let has_own_reductions = world.transport().native_reductions().is_some();
    Algorithm::all()
        .filter(move |&algorithm| algorithm != Algorithm::MpiNative || has_own_reductions)
}

fn every_algorithm(world: &World) {
    let counts = [1, 2, 3, 9, 64, 65, 1000, 4097];
    let algorithms: Vec<Algorithm> = offered(world).collect();
    for [count, scheme, algorithm] in pairs([counts.len(), Scheme::ALL.len(), algorithms.len()]) {
        let count = counts[count];
        let items = numbers(count, count as u64);
        let distribution = Scheme::ALL[scheme].distribute(count as u64, world.size());
        let algorithm = algorithms[algorithm];
        check(world, &items, Sum, &distribution.unwrap(), algorithm, 0);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "any narrower bits will do")]
fn every_type_and_operator(world: &World) {
    /// Each algorithm runs one of the four operators for each type. Over all types, each algorithm runs all four operators.
    fn all_four<T: Pod + Debug>(world: &World, items: &[T], turn: usize)
    where
        Sum: Operator<T>,
        Product: Operator<T>,
        Min: Operator<T>,
        Max: Operator<T>,
    {
        let distribution = Distribution::upper(items.len() as u64, world.size()).unwrap();
        for (index, algorithm) in offered(world).enumerate() {
            match (index + turn) % 4 {
                0 => check(world, items, Sum, &distribution, algorithm, 0),
                1 => check(world, items, Product, &distribution, algorithm, 0),
                2 => check(world, items, Min, &distribution, algorithm, 0),
                _ => check(world, items, Max, &distribution, algorithm, 0),
            }
        }
    }
    let doubles = numbers(300, 5);
    let words: Vec<u64> = doubles.iter().map(|item| item.to_bits()).collect();
    fn narrowed<T>(words: &[u64], narrow: fn(u64) -> T) -> Vec<T> {
        words.iter().map(|&word| narrow(word >> 11)).collect()
    }
    all_four(world, &doubles, 0);
    all_four(
        world,
        &narrowed(&words, |word| f32::from_bits((word as u32) >> 2)),
        1,
    );
    all_four(world, &words, 2);
    all_four(world, &narrowed(&words, |word| word as u8), 3);
    all_four(world, &narrowed(&words, |word| word as i16), 0);
    all_four(world, &narrowed(&words, |word| word as u32), 1);
    all_four(world, &narrowed(&words, |word| word as i64), 2);
    all_four(world, &narrowed(&words, |word| i128::from(word) << 60), 3);
    let triples: Vec<[f64; 3]> = doubles.windows(3).map(|w| [w[0], w[1], w[2]]).collect();
    all_four(world, &triples, 0);
}

fn special_values(world: &World) {
    let specials = [
        -0.0,
        0.0,
        f64::from_bits(1),
        -f64::from_bits(1),
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::from_bits(0x7FF0_0000_0000_0001),
        f64::from_bits(0xFFF8_0000_0000_1234),
    ];
    let algorithms = [Algorithm::Algorithm1, Algorithm::RecursiveDoubling];
    for (i, &first) in specials.iter().enumerate() {
        for (j, &second) in specials.iter().enumerate() {
            // The items are the two values alone, or the two values between zeros. The algorithm alternates.
            for (turn, items) in [vec![first, second], vec![-0.0, -0.0, first, second, -0.0]]
                .iter()
                .enumerate()
            {
                let distribution = Distribution::lower(items.len() as u64, world.size()).unwrap();
                let algorithm = algorithms[(i + j + turn) % 2];
                check(world, items, Sum, &distribution, algorithm, 0);
                match (i + turn) % 2 {
                    0 => check(world, items, Min, &distribution, algorithm, 0),
                    _ => check(world, items, Max, &distribution, algorithm, 0),
                }
            }
        }
        for algorithm in algorithms {
            let distribution = Distribution::lower(1, world.size()).unwrap();
            check(world, &[first], Sum, &distribution, algorithm, 0);
            check(world, &[first], Min, &distribution, algorithm, 0);
            check(world, &[first], Max, &distribution, algorithm, 0);
        }
    }
}

/// A function that is neither associative nor commutative, so that different expression trees over the items give different values.
pub(crate) fn mix(left: u64, right: u64) -> u64 {
    (left.rotate_left(7) ^ right.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_add(left >> 3)
}

fn operands_keep_their_order(world: &World) {
    let items: Vec<u64> = (1..=777).collect();
    for &scheme in Scheme::ALL {
        let distribution = scheme.distribute(777, world.size()).unwrap();
        for algorithm in offered(world) {
            check(
                world,
                &items,
                custom("mix", mix),
                &distribution,
                algorithm,
                0,
            );
        }
    }
}

fn every_root(world: &World) {
    let items = numbers(100, 3);
    let distribution = Distribution::lower(100, world.size()).unwrap();
    for root in 0..world.size() {
        for algorithm in offered(world) {
            check(world, &items, Sum, &distribution, algorithm, root);
        }
    }
}

/// All items are on one rank, or on every second rank.
fn empty_ranks(world: &World) {
    let items = numbers(50, 4);
    let size = world.size();
    for owner in 0..size {
        let mut counts = vec![0; size];
        counts[owner] = 50;
        let distribution = Distribution::from_counts(&counts).unwrap();
        for algorithm in offered(world) {
            check(world, &items, Sum, &distribution, algorithm, size - 1);
            // The minimum has no empty value.
            check(world, &items, Min, &distribution, algorithm, size - 1);
        }
    }
    let owners = size.div_ceil(2) as u64;
    let shares = Distribution::lower(50, size.div_ceil(2)).unwrap();
    let counts: Vec<u64> = (0..size)
        .map(|rank| {
            if rank % 2 == 0 {
                shares.count(rank / 2)
            } else {
                0
            }
        })
        .collect();
    assert_eq!(
        counts.iter().filter(|&&count| count > 0).count() as u64,
        owners.min(50)
    );
    let distribution = Distribution::from_counts(&counts).unwrap();
    for algorithm in offered(world) {
        check(world, &items, Sum, &distribution, algorithm, 0);
    }
}

/// An operator whose empty value is not in canonical form.
#[derive(Clone)]
struct UnsignedZero;

impl Operator<f64> for UnsignedZero {
    fn name(&self) -> &str {
        "unsigned zero"
    }

    fn combine(&self, left: f64, right: f64) -> f64 {
        left + right
    }

    fn empty(&self) -> Option<f64> {
        Some(-0.0)
    }

    fn canonical(&self, value: f64) -> f64 {
        if value == 0.0 { 0.0 } else { value }
    }
}

/// A subtraction. For some infinities, its result is a NaN that the processor computes. The sign of this NaN differs between processors.
#[derive(Clone)]
struct Difference;

impl Operator<f64> for Difference {
    fn name(&self) -> &str {
        "difference"
    }

    fn combine(&self, left: f64, right: f64) -> f64 {
        black_box(left) - black_box(right)
    }
}

/// NaNs in results are canonical, whether a NaN was computed or was an item, and whether the operator implements the trait or is a function.
fn user_operators_return_canonical_nans(world: &World) {
    let canonical = f64::NAN.to_bits();
    let given = f64::from_bits(0xFFF8_0000_0000_1234);
    let by_function = custom("difference", |left: f64, right| {
        black_box(left) - black_box(right)
    });
    for item in [f64::INFINITY, given, -given] {
        let fold = reduce::fold(&[item; 2], &Difference).unwrap();
        let single = reduce::fold(&[given], &Difference).unwrap();
        let mut row = [0.0];
        reduce::fold_rows(&[item; 2], 1, &Difference, &mut row).unwrap();
        let field = reduce::fields(&[&[item; 2]], &Difference).unwrap()[0];
        let folded = [fold, single, row[0], field];
        assert_eq!(folded.map(f64::to_bits), [canonical; 4]);
        for algorithm in offered(world) {
            let builder = || Plan::builder(world).local_items(2).algorithm(algorithm);
            let own = builder().operator(Difference).build::<f64>().unwrap();
            let of_function = builder().operator(by_function.clone()).build().unwrap();
            let totals = [
                own.allreduce(&[item; 2]).unwrap(),
                of_function.allreduce(&[item; 2]).unwrap(),
            ];
            assert_eq!(totals.map(f64::to_bits), [canonical; 2], "{algorithm}");
        }
    }
}

fn no_items(world: &World) {
    let distribution = Distribution::lower(0, world.size()).unwrap();
    let folded = reduce::fold(&[], &UnsignedZero).unwrap();
    let [field] = reduce::fields(&[&[]], &UnsignedZero).unwrap()[..] else {
        panic!("one field has one result");
    };
    let mut row = [1.0];
    reduce::fold_rows(&[], 1, &UnsignedZero, &mut row).unwrap();
    assert_eq!([folded, field, row[0]].map(f64::to_bits), [0; 3]);
    for algorithm in offered(world) {
        check(world, &[], UnsignedZero, &distribution, algorithm, 0);
        check::<f64, _>(world, &[], Sum, &distribution, algorithm, world.size() - 1);
        check::<i32, _>(world, &[], Product, &distribution, algorithm, 0);
    }
    let declared = custom("first", |left: f64, _| left).with_empty(7.0);
    check(
        world,
        &[],
        declared,
        &distribution,
        Algorithm::Algorithm1,
        0,
    );
    let refused = Plan::builder(world)
        .local_items(0)
        .operator(Min)
        .build::<f64>();
    let operator = "min".to_owned();
    assert_eq!(refused.unwrap_err(), BuildError::NoItems { operator });
}

fn plans_side_by_side(world: &World) {
    let (rank, size) = (world.rank(), world.size() as u64);
    let build = |count| {
        Plan::builder(world)
            .local_items(count)
            .build::<f64>()
            .unwrap()
    };
    let (first, second) = (build(3), build(rank as u64 % 2 + 1));
    for round in 0..20 {
        let items = numbers(3 * world.size(), round);
        let total = first.allreduce(&items[3 * rank..3 * rank + 3]).unwrap();
        assert_eq!(
            total.to_bits(),
            by_definition(&items, &Sum).unwrap().to_bits()
        );
        let ones = second.allreduce(&[1.0, 1.0][..rank % 2 + 1]).unwrap();
        assert_eq!(ones.to_bits(), ((size + size / 2) as f64).to_bits());
        // Ranks that do not get the result may be ahead of the root.
        let _ = first.reduce(&items[3 * rank..3 * rank + 3]).unwrap();
    }
}

/// Checks that every rank got the same error, and that its text contains all `words`.
#[track_caller]
fn assert_same_error(world: &World, error: &BuildError, words: &[&str]) {
    let mut text = error.to_string();
    for word in words {
        assert!(text.contains(word), "`{text}` lacks `{word}`");
    }
    text.truncate(200);
    let mut own = text.clone().into_bytes();
    own.resize(200, b' ');
    let all = collective::allgather(world.transport(), Tag::CONTROL, own.clone()).unwrap();
    assert!(all.chunks(200).all(|other| other == own), "{text}");
}

fn ranks_that_disagree(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    if size == 1 {
        return;
    }
    let odd_one = rank == size - 1;
    let builder = || Plan::builder(world).local_items(2);
    let name = format!("rank {}", size - 1);

    let error = if odd_one {
        builder().build::<f32>().unwrap_err()
    } else {
        builder().build::<f64>().unwrap_err()
    };
    assert_same_error(world, &error, &["element type", "f64", "f32", &name]);

    let error = if odd_one {
        builder().operator(Max).build::<f64>().unwrap_err()
    } else {
        builder().operator(Sum).build::<f64>().unwrap_err()
    };
    assert_same_error(world, &error, &["operator", "sum", "max", &name]);

    // The empty values differ, although only a reduction of no items would use them.
    let add = |empty: f64| custom("add", |left: f64, right| left + right).with_empty(empty);
    let error = builder()
        .operator(add(f64::from(u8::from(odd_one))))
        .build::<f64>()
        .unwrap_err();
    assert_same_error(world, &error, &["empty value", &name]);
    let add = || custom("add", |left: f64, right| left + right);
    let operator = if odd_one {
        add()
    } else {
        add().with_empty(0.0)
    };
    let error = builder().operator(operator).build::<f64>().unwrap_err();
    assert_same_error(world, &error, &["empty value", "none", &name]);

    let items = 2 * size as u64;
    let rule = Distribution::lower(items, size).unwrap();
    for expected in [items + 1, items + u64::from(odd_one)] {
        let by_rule = || Plan::builder(world).distribution(&rule).items(expected);
        let error = by_rule().build::<f64>().unwrap_err();
        assert_same_error(world, &error, &["items", &items.to_string()]);
    }
    let error = builder()
        .items(items + u64::from(odd_one))
        .build::<f64>()
        .unwrap_err();
    assert_same_error(
        world,
        &error,
        &["number of items", &items.to_string(), &name],
    );
    let error = builder().items(items + 1).build::<f64>().unwrap_err();
    assert_same_error(
        world,
        &error,
        &[&(items + 1).to_string(), &items.to_string()],
    );

    let odd_algorithm = if odd_one {
        Algorithm::Algorithm1Unbuffered
    } else {
        Algorithm::Algorithm1
    };
    let error = builder()
        .algorithm(odd_algorithm)
        .build::<f64>()
        .unwrap_err();
    assert_same_error(
        world,
        &error,
        &["algorithm", "algorithm1-unbuffered", "algorithm1", &name],
    );

    let error = builder()
        .root(usize::from(odd_one))
        .build::<f64>()
        .unwrap_err();
    assert_same_error(world, &error, &["root", "rank 0 has 0", "has 1", &name]);

    let error = builder().local_items(u64::MAX).build::<f64>().unwrap_err();
    assert_same_error(world, &error, &["2^64"]);
}

fn ranks_that_cannot_take_part(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let last = size - 1;
    let name = format!("rank {last}");

    let builder = Plan::builder(world);
    let builder = if rank == last {
        builder
    } else {
        builder.local_items(1)
    };
    let error = builder.build::<f64>().unwrap_err();
    assert_same_error(world, &error, &[&name, "local_items"]);

    let ranks = if rank == last { size + 1 } else { size };
    let distribution = Distribution::lower(10, ranks).unwrap();
    let error = Plan::builder(world)
        .distribution(&distribution)
        .build::<f64>()
        .unwrap_err();
    assert_same_error(
        world,
        &error,
        &[&name, "distribution", &(size + 1).to_string()],
    );

    let error = Plan::builder(world)
        .local_items(1)
        .root(size)
        .build::<f64>()
        .unwrap_err();
    assert_same_error(world, &error, &["root", &size.to_string()]);
}

fn a_slice_of_another_length(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let items = numbers(3 * size, 8);
    let own = &items[3 * rank..3 * rank + 3];
    for algorithm in offered(world) {
        for culprit in [0, size / 2, size - 1] {
            let plan = Plan::builder(world)
                .local_items(3)
                .algorithm(algorithm)
                .build::<f64>()
                .unwrap();
            let expected = by_definition(&items, &Sum).unwrap();
            assert_eq!(plan.allreduce(own).unwrap().to_bits(), expected.to_bits());
            let given = if rank == culprit { &own[..2] } else { own };
            let error = plan.allreduce(given).unwrap_err();
            if rank == culprit {
                let (planned, given) = (3, 2);
                assert_eq!(
                    error,
                    RunError::WrongLength {
                        rank,
                        planned,
                        given
                    }
                );
            } else {
                assert_eq!(error, RunError::RankFailed { rank: culprit });
            }
            // The plan is spent on every rank, but the communicator can still be used.
            assert_eq!(plan.allreduce(own).unwrap_err(), RunError::Spent { rank });
            let _ = plan.reduce(own).unwrap_err();
        }
    }
    let plan = Plan::builder(world).local_items(3).build::<f64>().unwrap();
    let total = plan.allreduce(own).unwrap();
    assert_eq!(
        total.to_bits(),
        by_definition(&items, &Sum).unwrap().to_bits()
    );
}
