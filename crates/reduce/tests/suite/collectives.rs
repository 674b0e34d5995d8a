//! Compares every collective operation of a plan with the recursive definition, for rows and for items in any pieces.

use std::ops::Range;

use distribution::{Distribution, Ownership, Scheme};
use reduce::operator::custom;
use reduce::{Algorithm, BuildError, Max, Min, Operator, Plan, RunError, Sum, World};

use super::pairs::pairs;
use super::{Check, assert_same_error, by_definition, mix, numbers, offered};

pub(crate) const CHECKS: [(&str, Check); 10] = [
    ("rows of every width", rows),
    ("operands of rows keep their order", rows_keep_their_order),
    ("items in pieces", scattered),
    ("ranks in another order than their items", permuted),
    ("scans", scans),
    ("reduce-scatter", reduce_scatter),
    ("broadcast", broadcast),
    ("messages cut into several", cut_messages),
    ("pieces that are not 0..N, each once", bad_extents),
    ("wrong arguments of one rank", wrong_arguments),
];

pub(crate) fn scheduled(world: &World) -> impl Iterator<Item = Algorithm> {
    offered(world).filter(|algorithm| algorithm.is_scheduled())
}

/// The items that this rank owns, row by row, in their order on the rank.
pub(crate) fn local<T: Copy>(
    items: &[T],
    width: usize,
    ownership: &Ownership,
    rank: usize,
) -> Vec<T> {
    let row = |item: u64| usize::try_from(item).unwrap() * width;
    let extents = ownership.extents(rank);
    extents
        .flat_map(|extent| items[row(extent.start)..row(extent.end)].iter().copied())
        .collect()
}

/// The bits of each column's result, by the recursive definition.
pub(crate) fn rows_by_definition<O: Operator<f64>>(
    items: &[f64],
    width: usize,
    operator: &O,
) -> Vec<u64> {
    let column =
        |column: usize| -> Vec<f64> { items.iter().skip(column).step_by(width).copied().collect() };
    (0..width)
        .map(|index| by_definition(&column(index), operator).unwrap().to_bits())
        .collect()
}

pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// A small random generator, which gives all ranks the same choices.
pub(crate) struct Choices(pub(crate) u64);

impl Choices {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// An ownership in which ranges of random length belong to random ranks, in random order.
pub(crate) fn random_ownership(items: u64, ranks: usize, seed: u64) -> Ownership {
    let mut choices = Choices(seed);
    let mut extents: Vec<Vec<Range<u64>>> = vec![Vec::new(); ranks];
    let mut start = 0;
    while start < items {
        let length = 1 + choices.below(items.div_ceil(4)).min(items - start - 1);
        let rank = usize::try_from(choices.below(ranks as u64)).unwrap();
        let place = choices.below(extents[rank].len() as u64 + 1);
        extents[rank].insert(usize::try_from(place).unwrap(), start..start + length);
        start += length;
    }
    Ownership::from_extents(&extents).unwrap()
}

/// Runs allreduce and reduce of rows, and compares bits on every rank.
#[track_caller]
fn check_rows<O>(
    world: &World,
    items: &[f64],
    width: usize,
    operator: O,
    ownership: &Ownership,
    algorithm: Algorithm,
    root: usize,
) where
    O: Operator<f64> + Clone + 'static,
{
    let expected = rows_by_definition(items, width, &operator);
    let plan = Plan::builder(world)
        .ownership(ownership)
        .width(width)
        .root(root)
        .algorithm(algorithm)
        .operator(operator)
        .build::<f64>()
        .unwrap();
    let local = local(items, width, ownership, world.rank());
    let mut result = vec![0.0; width];
    plan.allreduce_into(&local, &mut result).unwrap();
    assert_eq!(bits(&result), expected, "{algorithm}, {ownership:?}");
    result.fill(0.0);
    let is_root = plan.reduce_into(&local, &mut result).unwrap();
    assert_eq!(is_root, world.rank() == root);
    if is_root {
        assert_eq!(bits(&result), expected, "{algorithm}, {ownership:?}");
    }
}

fn rows(world: &World) {
    let (widths, counts) = ([1, 3, 8, 65], [1, 7, 100]);
    let algorithms: Vec<Algorithm> = offered(world)
        .filter(|algorithm| algorithm.takes_rows())
        .collect();
    let schemes = Scheme::ALL;
    for [width, count, scheme, algorithm, operator] in pairs([
        widths.len(),
        counts.len(),
        schemes.len(),
        algorithms.len(),
        2,
    ]) {
        let (width, count) = (widths[width], counts[count]);
        let items = numbers(count * width, count as u64);
        let distribution = schemes[scheme].distribute(count as u64, world.size());
        let ownership = Ownership::from(distribution.unwrap());
        let (algorithm, root) = (algorithms[algorithm], count % world.size());
        match operator {
            0 => check_rows(world, &items, width, Sum, &ownership, algorithm, root),
            _ => check_rows(world, &items, width, Min, &ownership, algorithm, root),
        }
    }
}

fn rows_keep_their_order(world: &World) {
    let items: Vec<u64> = (0..3 * 200).map(|item| item * item + 7).collect();
    let column =
        |column: usize| -> Vec<u64> { items.iter().skip(column).step_by(3).copied().collect() };
    let expected = [0, 1, 2].map(|index| simd_kernels::by_definition(&column(index), &mix));
    let contiguous = Ownership::from(Distribution::upper(200, world.size()).unwrap());
    for ownership in [contiguous, random_ownership(200, world.size(), 3)] {
        scans_keep_their_order(world, &ownership);
        for algorithm in offered(world).filter(|algorithm| algorithm.takes_rows()) {
            if ownership.as_distribution().is_none() && !algorithm.is_scheduled() {
                continue;
            }
            let plan = Plan::builder(world)
                .ownership(&ownership)
                .width(3)
                .algorithm(algorithm)
                .operator(custom("mix", mix))
                .build::<u64>()
                .unwrap();
            let mut result = [0; 3];
            plan.allreduce_into(&local(&items, 3, &ownership, world.rank()), &mut result)
                .unwrap();
            assert_eq!(result.map(Some), expected, "{algorithm}, {ownership:?}");
        }
    }
}

fn scans_keep_their_order(world: &World, ownership: &Ownership) {
    let items: Vec<u64> = (0..ownership.items()).map(|item| item * item + 7).collect();
    let numbers: Vec<u64> = (0..ownership.items()).collect();
    let plan = Plan::builder(world)
        .ownership(ownership)
        .operator(custom("mix", mix).with_empty(1))
        .build::<u64>()
        .unwrap();
    let own = local(&items, 1, ownership, world.rank());
    let mut result = vec![0; own.len()];
    plan.scan(&own, &mut result).unwrap();
    for (total, number) in result
        .iter()
        .zip(local(&numbers, 1, ownership, world.rank()))
    {
        let prefix = &items[..=usize::try_from(number).unwrap()];
        assert_eq!(Some(*total), simd_kernels::by_definition(prefix, &mix));
    }
}

fn scattered(world: &World) {
    for seed in 0..6 {
        let count = 1 + 50 * seed;
        let ownership = random_ownership(count, world.size(), seed);
        let cyclic = Ownership::block_cyclic(count, world.size(), seed + 1).unwrap();
        let items = numbers(usize::try_from(count).unwrap() * 2, seed);
        for (algorithm, turn) in scheduled(world).zip(seed..) {
            let ownerships = [&ownership, &cyclic];
            let root = world.size() - 1;
            let in_turn = ownerships[usize::from(turn % 2 == 0)];
            check_rows(world, &items, 2, Sum, in_turn, algorithm, root);
            // If ranks give extents, a rank need not know the extents of other ranks.
            let extents: Vec<Range<u64>> = ownership.extents(world.rank()).collect();
            let numbers: Vec<u64> = (1..=count).collect();
            let plan = Plan::builder(world)
                .extents(&extents)
                .algorithm(algorithm)
                .operator(custom("mix", mix))
                .build::<u64>()
                .unwrap();
            let total = plan
                .allreduce(&local(&numbers, 1, &ownership, world.rank()))
                .unwrap();
            assert_eq!(Some(total), simd_kernels::by_definition(&numbers, &mix));
        }
    }
}

/// An ownership in which rank 0 has the last items, rank 1 the items before those, and so on.
fn permuted_ownership(items: u64, ranks: usize) -> Ownership {
    let distribution = Distribution::lower(items, ranks).unwrap();
    let mirrored: Vec<Vec<Range<u64>>> = (0..ranks)
        .rev()
        .map(|rank| vec![distribution.range(rank)])
        .collect();
    Ownership::from_extents(&mirrored).unwrap()
}

fn permuted(world: &World) {
    let counts = [1, 5, 300];
    let algorithms: Vec<Algorithm> = scheduled(world).collect();
    for [count, algorithm, root] in pairs([counts.len(), algorithms.len(), world.size()]) {
        let count = counts[count];
        let ownership = permuted_ownership(count, world.size());
        let items = numbers(usize::try_from(count).unwrap() * 3, count);
        let algorithm = algorithms[algorithm];
        check_rows(world, &items, 3, Sum, &ownership, algorithm, root);
    }
}

fn scans(world: &World) {
    let size = world.size();
    let extents = [(1, 1), (2, 3), (33, 1), (150, 2)];
    let algorithms: Vec<Algorithm> = scheduled(world).collect();
    for [extent, ownership, algorithm] in pairs([extents.len(), 4, algorithms.len()]) {
        let (count, width) = extents[extent];
        let items = numbers(count * width, 77);
        let ownership = match ownership {
            0 => Ownership::from(Distribution::upper(count as u64, size).unwrap()),
            1 => permuted_ownership(count as u64, size),
            2 => random_ownership(count as u64, size, 5),
            _ => Ownership::block_cyclic(count as u64, size, 4).unwrap(),
        };
        check_scan(world, &items, width, &ownership, algorithms[algorithm]);
    }
    let plan = Plan::builder(world)
        .local_items(1)
        .operator(Max)
        .build::<i32>()
        .unwrap();
    let rank = i32::try_from(world.rank()).unwrap();
    let mut result = [0];
    plan.scan(&[-rank], &mut result).unwrap();
    assert_eq!(result, [0]);
    let error = plan.exscan(&[rank], &mut result).unwrap_err();
    assert!(error.to_string().contains("`max` has none"), "{error}");
}

fn check_scan(
    world: &World,
    items: &[f64],
    width: usize,
    ownership: &Ownership,
    algorithm: Algorithm,
) {
    let plan = Plan::builder(world)
        .ownership(ownership)
        .width(width)
        .algorithm(algorithm)
        .build::<f64>()
        .unwrap();
    let own = local(items, width, ownership, world.rank());
    let numbered: Vec<u64> = (0..ownership.items()).collect();
    let own_numbers = local(&numbered, 1, ownership, world.rank());
    for is_exclusive in [false, true] {
        let mut result = vec![0.0; own.len()];
        if is_exclusive {
            plan.exscan(&own, &mut result).unwrap();
        } else {
            plan.scan(&own, &mut result).unwrap();
        }
        for (row, &number) in result.chunks(width).zip(&own_numbers) {
            let end = usize::try_from(number).unwrap() + usize::from(!is_exclusive);
            let expected = rows_by_definition(&items[..end * width], width, &Sum);
            assert_eq!(
                bits(row),
                expected,
                "{algorithm}, item {number}, {ownership:?}"
            );
        }
    }
}

fn reduce_scatter(world: &World) {
    let widths = [1, 3, 40];
    let ownerships = [
        Ownership::from(Distribution::lower(90, world.size()).unwrap()),
        permuted_ownership(90, world.size()),
        random_ownership(90, world.size(), 9),
    ];
    let algorithms: Vec<Algorithm> = scheduled(world).collect();
    for [width, ownership, algorithm] in pairs([widths.len(), ownerships.len(), algorithms.len()]) {
        let (width, ownership) = (widths[width], &ownerships[ownership]);
        let algorithm = algorithms[algorithm];
        let items = numbers(90 * width, 6);
        let expected = rows_by_definition(&items, width, &Sum);
        let plan = Plan::builder(world)
            .ownership(ownership)
            .width(width)
            .algorithm(algorithm)
            .build::<f64>()
            .unwrap();
        let columns: Range<usize> = plan.scattered_columns();
        let mut result = vec![0.0; columns.len()];
        plan.reduce_scatter(&local(&items, width, ownership, world.rank()), &mut result)
            .unwrap();
        assert_eq!(
            bits(&result),
            expected[columns],
            "{algorithm}, {ownership:?}"
        );
    }
}

fn broadcast(world: &World) {
    for root in 0..world.size() {
        for algorithm in scheduled(world) {
            let plan = Plan::builder(world)
                .local_items(0)
                .width(3)
                .root(root)
                .algorithm(algorithm)
                .build::<f64>()
                .unwrap();
            // A broadcast changes no value, not even a NaN that is not canonical.
            let row = [1.5, -0.0, f64::from_bits(0xFFF8_0000_0000_1234)];
            let mut own = if world.rank() == root { row } else { [9.0; 3] };
            plan.broadcast(&mut own).unwrap();
            assert_eq!(bits(&own), bits(&row));
        }
    }
}

fn cut_messages(world: &World) {
    let items = numbers(130 * 7, 2);
    let ownership = Ownership::from(Distribution::upper(130, world.size()).unwrap());
    let expected = rows_by_definition(&items, 7, &Sum);
    for limit in [1, 5, 7, 64] {
        for algorithm in scheduled(world) {
            let plan = Plan::builder(world)
                .ownership(&ownership)
                .width(7)
                .message_limit(limit)
                .algorithm(algorithm)
                .build::<f64>()
                .unwrap();
            let own = local(&items, 7, &ownership, world.rank());
            let mut result = [0.0; 7];
            for _ in 0..3 {
                plan.allreduce_into(&own, &mut result).unwrap();
                assert_eq!(bits(&result), expected);
            }
        }
    }
}

fn bad_extents(world: &World) {
    let (rank, last) = (world.rank(), world.size() - 1);
    let start = rank as u64 * 10;
    let own = start..start + 10;
    let build = |last_one: Range<u64>| {
        let own = if rank == last { last_one } else { own.clone() };
        Plan::builder(world).extents(&[own]).build::<f64>()
    };
    let longer = start..start + 12;
    assert_eq!(
        build(longer).unwrap().ownership().items(),
        world.size() as u64 * 10 + 2
    );
    let name = format!("rank {last}");
    let reversed = Range { start: 10, end: 3 };
    assert_same_error(world, &build(reversed).unwrap_err(), &[&name, "10..3"]);
    let endless = Range {
        start: u64::MAX,
        end: 0,
    };
    assert_same_error(world, &build(endless).unwrap_err(), &[&name]);
    let far = start + 5..start + 15;
    assert_same_error(world, &build(far).unwrap_err(), &["no rank owns"]);
    if last > 0 {
        // The last rank claims items of the rank before it.
        let near = (last as u64 * 10 - 5)..(last as u64 * 10 + 5);
        assert_same_error(world, &build(near).unwrap_err(), &["both own", "and"]);
        let builder = Plan::builder(world);
        let builder = if rank == last {
            builder.local_items(3)
        } else {
            builder.extents(std::slice::from_ref(&own))
        };
        let error = builder.build::<f64>().unwrap_err();
        assert_same_error(world, &error, &["kind of ownership"]);
    }
    let cyclic = Ownership::block_cyclic(9, world.size(), 2).unwrap();
    let refused = Plan::builder(world)
        .ownership(&cyclic)
        .algorithm(Algorithm::Algorithm1)
        .build::<f64>();
    let algorithm = Algorithm::Algorithm1;
    assert_eq!(refused.unwrap_err(), BuildError::Scattered { algorithm });
}

fn wrong_arguments(world: &World) {
    let (rank, last) = (world.rank(), world.size() - 1);
    let builder = || Plan::builder(world).local_items(2);
    let error = builder().width(0).build::<f64>().unwrap_err();
    assert_same_error(world, &error, &["width is 0"]);
    if last > 0 {
        let error = builder()
            .width(1 + usize::from(rank == last))
            .build::<f64>()
            .unwrap_err();
        assert_same_error(world, &error, &["width", "1", "2"]);
    }
    let error = builder()
        .width(2)
        .algorithm(Algorithm::Algorithm1)
        .build::<f64>()
        .unwrap_err();
    assert_same_error(world, &error, &["algorithm1", "rows of 2"]);
    // One rank passes a result of another length. Its error says so, and the other ranks learn that this rank failed.
    for algorithm in offered(world).filter(|algorithm| algorithm.takes_rows()) {
        let plan = builder()
            .width(3)
            .algorithm(algorithm)
            .build::<f64>()
            .unwrap();
        let mut result = vec![0.0; if rank == last { 2 } else { 3 }];
        let error = plan.allreduce_into(&[1.0; 6], &mut result).unwrap_err();
        if rank == last {
            let (expected, given) = (3, 2);
            let wrong = RunError::WrongResultLength {
                rank,
                expected,
                given,
            };
            assert_eq!(error, wrong);
        } else {
            assert_eq!(error, RunError::RankFailed { rank: last });
        }
    }
    let plan = builder()
        .algorithm(Algorithm::Algorithm1)
        .build::<f64>()
        .unwrap();
    let refused = plan.scan(&[1.0; 2], &mut [0.0; 2]).unwrap_err();
    assert!(refused.to_string().contains("algorithm1"), "{refused}");
}
