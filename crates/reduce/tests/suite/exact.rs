//! Tests that exact sums have the same value for every distribution of the items, every algorithm and every operation.

use reduce::exact::{self, ComplexProductSum, ComplexSum, LimitError, ProductSum, Sum};
use reduce::{Algorithm, BuildError, Operation, Plan, RunError, World};

use super::{Check, numbers, offered};

pub(crate) const CHECKS: [(&str, Check); 7] = [
    ("exact sums by every algorithm", every_algorithm),
    ("exact rows", rows),
    ("exact products, floats and complex numbers", every_kind),
    ("exact prefixes", prefixes),
    ("exact sums under way", under_way),
    ("exact sums that fail", failures),
    ("exact sums of too many items", limits),
];

/// Checks the error if all ranks together have more items than one sum can count.
fn limits(world: &World) {
    let (rank, ranks) = (world.rank(), world.size());
    if ranks == 1 {
        return;
    }
    let mut local = Sum::of(&[f64::NAN]);
    for _ in 0..62 {
        let copy = local;
        local.merge(&copy).unwrap();
    }
    let error = LimitError::Items;
    for algorithm in offered(world) {
        let plan = plan::<Sum<f64>>(world, algorithm);
        let outcome = plan.allreduce(&local);
        assert_eq!(outcome, Err(RunError::Limit { rank, error }), "{algorithm}");
        let mut result = [Sum::of(&[7.0])];
        let outcome = plan.allreduce_into(&[local], &mut result);
        assert_eq!(outcome, Err(RunError::Limit { rank, error }), "{algorithm}");
        assert_eq!(result[0].value().to_bits(), 7.0_f64.to_bits());
        // The plan is not spent: it can add the items of one rank alone.
        let one = if rank == 0 { local } else { Sum::new() };
        let sum = plan.allreduce(&one).unwrap();
        assert!(
            sum.value().is_nan() && sum.items() == 1 << 62,
            "{algorithm}"
        );
    }
}

/// Distributes items over the ranks, differently for each seed. Rank 0 gets about half of them.
fn lots<T: Copy>(items: &[T], ranks: usize, seed: u64) -> Vec<Vec<T>> {
    let mut lots = vec![Vec::new(); ranks];
    for (index, &item) in (0..).zip(items) {
        let mixed = (index ^ seed << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64) >> 40;
        let place = usize::try_from(mixed).unwrap() % (2 * ranks);
        lots[place.saturating_sub(ranks)].push(item);
    }
    lots
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn plan<A: exact::Accumulator>(world: &World, algorithm: Algorithm) -> exact::Plan<A> {
    let builder = Plan::builder(world).algorithm(algorithm);
    builder.build_exact().unwrap()
}

fn sum_of(items: &[f64]) -> Sum<f64> {
    let mut sum = Sum::new();
    sum.add(items);
    sum
}

fn every_algorithm(world: &World) {
    let (rank, ranks) = (world.rank(), world.size());
    for algorithm in offered(world) {
        let root = ranks / 2;
        let builder = Plan::builder(world).algorithm(algorithm).root(root);
        let plan = builder.build_exact::<Sum<f64>>().unwrap();
        // One plan can add any number of items.
        for count in [0, 1, 2, 50, 3000] {
            let mut items = numbers(count, count as u64);
            for seed in 0..2 {
                let lots = lots(&items, ranks, seed);
                let expected = exact::sum(&items).to_bits();
                assert_eq!(plan.sum(&lots[rank]).unwrap().to_bits(), expected);
                let at_root = plan.reduce(&sum_of(&lots[rank])).unwrap();
                let at_root = at_root.map(|sum| (sum.value().to_bits(), sum.items()));
                let is_root = rank == root;
                assert_eq!(at_root, is_root.then_some((expected, count as u64)));
            }
            items.extend([f64::INFINITY, 1e308, 1e308]);
            let lots = lots(&items, ranks, 7);
            assert_eq!(plan.sum(&lots[rank]), Ok(f64::INFINITY));
        }
        assert_eq!(plan.sum(&[-0.0]).unwrap().to_bits(), (-0.0_f64).to_bits());
        // The partial sums overflow, but the sum of all items does not.
        let own = match rank {
            0 => [f64::MAX, f64::MAX],
            _ => [0.0, 0.0],
        };
        let opposite = if rank == ranks - 1 { -f64::MAX } else { 0.0 };
        let sum = plan.sum(&[own[0], own[1], opposite]);
        assert_eq!(sum, Ok(f64::MAX), "{algorithm}");
    }
}

fn rows(world: &World) {
    let (rank, ranks) = (world.rank(), world.size());
    for width in [1, 3, 40] {
        let items = numbers(width * 200, 3);
        let rows: Vec<&[f64]> = items.chunks_exact(width).collect();
        let lots = lots(&rows, ranks, 1);
        let local = lots[rank].concat();
        let mut expected = vec![0.0; width];
        exact::sum_rows(&items, width, &mut expected).unwrap();
        for (column, &expected) in expected.iter().enumerate() {
            let column: Vec<f64> = rows.iter().map(|row| row[column]).collect();
            assert_eq!(exact::sum(&column).to_bits(), expected.to_bits());
        }
        for algorithm in offered(world).filter(|algorithm| algorithm.takes_rows() || width == 1) {
            let builder = Plan::builder(world).algorithm(algorithm).width(width);
            let plan = builder.build_exact::<Sum<f64>>().unwrap();
            let mut result = vec![f64::NAN; width];
            plan.sum_rows(&local, &mut result).unwrap();
            assert_eq!(bits(&result), bits(&expected), "{algorithm}");

            let mut sums = vec![Sum::new(); width];
            Sum::add_rows(&mut sums, &local);
            let mut total = vec![Sum::new(); width];
            let is_root = plan.reduce_into(&sums, &mut total).unwrap();
            assert_eq!(is_root, rank == 0);
            let values: Vec<f64> = total.iter().map(Sum::value).collect();
            let at_root = if is_root {
                &expected
            } else {
                &vec![0.0; width]
            };
            assert_eq!(bits(&values), bits(at_root), "{algorithm}");

            if algorithm.is_scheduled() {
                let prefix = |ranks: usize| {
                    let mut sums = vec![0.0; width];
                    exact::sum_rows(&lots[..ranks].concat().concat(), width, &mut sums).unwrap();
                    bits(&sums)
                };
                let values =
                    |row: &[Sum<f64>]| bits(&row.iter().map(Sum::value).collect::<Vec<_>>());
                plan.scan_into(&sums, &mut total).unwrap();
                assert_eq!(values(&total), prefix(rank + 1), "{algorithm}");
                plan.exscan_into(&sums, &mut total).unwrap();
                assert_eq!(values(&total), prefix(rank), "{algorithm}");
                let row = plan.start_scan_row(&sums).unwrap().wait().unwrap();
                assert_eq!(values(&row), prefix(rank + 1), "{algorithm}");
                let row = plan.start_exscan_row(&sums).unwrap().wait().unwrap();
                assert_eq!(values(&row), prefix(rank), "{algorithm}");
            }

            if plan.algorithm(Operation::ReduceScatter).is_none() {
                continue;
            }
            let columns = plan.scattered_columns();
            let mut own = vec![Sum::new(); columns.len()];
            plan.reduce_scatter(&sums, &mut own).unwrap();
            let own: Vec<f64> = own.iter().map(Sum::value).collect();
            assert_eq!(bits(&own), bits(&expected[columns]), "{algorithm}");
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "any floats will do")]
fn every_kind(world: &World) {
    let (rank, ranks) = (world.rank(), world.size());
    let items = numbers(700, 11);
    let pairs: Vec<[f64; 2]> = items.windows(2).map(|w| [w[0], w[1]]).collect();
    let own = &lots(&pairs, ranks, 2)[rank];
    let [x, y] = [0, 1].map(|part| -> Vec<f64> { pairs.iter().map(|pair| pair[part]).collect() });
    let [own_x, own_y] =
        [0, 1].map(|part| -> Vec<f64> { own.iter().map(|pair| pair[part]).collect() });
    let swapped: Vec<[f64; 2]> = pairs.iter().map(|&[x, y]| [y, x]).collect();
    let own_swapped: Vec<[f64; 2]> = own.iter().map(|&[x, y]| [y, x]).collect();
    let singles = |x: &[f64]| -> Vec<f32> { x.iter().map(|&x| x as f32).collect() };
    let complex_value = |is_conjugate: bool| {
        let mut sum = ComplexProductSum::new();
        if is_conjugate {
            sum.add_conjugate(&pairs, &swapped)
        } else {
            sum.add(&pairs, &swapped)
        }
        sum.value()
    };
    let mut complex_sum = ComplexSum::new();
    complex_sum.add(&pairs);
    for algorithm in offered(world) {
        let dots = plan::<ProductSum<f64>>(world, algorithm);
        assert_eq!(dots.dot(&own_x, &own_y), Ok(exact::dot(&x, &y).unwrap()));
        assert_eq!(dots.norm(&own_x), Ok(exact::norm(&x)));
        let sums = plan::<Sum<f32>>(world, algorithm);
        assert_eq!(sums.sum(&singles(&own_x)), Ok(exact::sum(&singles(&x))));
        let dots = plan::<ProductSum<f32>>(world, algorithm);
        let (own_x, own_y) = (singles(&own_x), singles(&own_y));
        let expected = exact::dot(&singles(&x), &singles(&y)).unwrap();
        assert_eq!(dots.dot(&own_x, &own_y), Ok(expected));
        let sums = plan::<ComplexSum<f64>>(world, algorithm);
        assert_eq!(sums.sum(own), Ok(complex_sum.value()));
        let dots = plan::<ComplexProductSum<f64>>(world, algorithm);
        assert_eq!(dots.dot(own, &own_swapped), Ok(complex_value(false)));
        let conjugate = dots.conjugate_dot(own, &own_swapped);
        assert_eq!(conjugate, Ok(complex_value(true)));
    }
}

fn prefixes(world: &World) {
    let (rank, ranks) = (world.rank(), world.size());
    let lots = lots(&numbers(120, 5), ranks, 3);
    let before = lots[..rank].concat();
    let own = &lots[rank];
    let prefix = |count: usize| exact::sum(&[&before[..], &own[..count]].concat());
    let inclusive: Vec<f64> = (0..own.len()).map(|index| prefix(index + 1)).collect();
    let exclusive: Vec<f64> = (0..own.len()).map(prefix).collect();
    for algorithm in offered(world).filter(|algorithm| algorithm.is_scheduled()) {
        let plan = plan::<Sum<f64>>(world, algorithm);
        let mut result = vec![f64::NAN; own.len()];
        plan.scan_items(own, &mut result).unwrap();
        assert_eq!(bits(&result), bits(&inclusive), "{algorithm}");
        plan.exscan_items(own, &mut result).unwrap();
        assert_eq!(bits(&result), bits(&exclusive), "{algorithm}");
        let local = sum_of(own);
        let value = |sum: Result<Sum<f64>, RunError>| sum.unwrap().value().to_bits();
        assert_eq!(value(plan.scan(&local)), prefix(own.len()).to_bits());
        assert_eq!(value(plan.exscan(&local)), prefix(0).to_bits());
        let [scan, exscan] = [plan.start_scan(&local), {
            let second = self::plan::<Sum<f64>>(world, algorithm);
            second.start_exscan(&local)
        }];
        assert_eq!(value(exscan.unwrap().wait()), prefix(0).to_bits());
        assert_eq!(value(scan.unwrap().wait()), prefix(own.len()).to_bits());
    }
}

fn under_way(world: &World) {
    let (rank, ranks) = (world.rank(), world.size());
    let items = numbers(500, 9);
    let own = sum_of(&lots(&items, ranks, 4)[rank]);
    let expected = exact::sum(&items).to_bits();
    for algorithm in offered(world).filter(|algorithm| algorithm.is_scheduled()) {
        let (all, root) = (
            plan::<Sum<f64>>(world, algorithm),
            plan::<Sum<f64>>(world, algorithm),
        );
        let for_all = all.start_allreduce(&own).unwrap();
        let for_root = root.start_reduce(&own).unwrap();
        let at_root = for_root.wait().unwrap();
        assert_eq!(at_root.is_some(), rank == 0);
        assert!(at_root.is_none_or(|sum| sum.value().to_bits() == expected));
        while !for_all.test().unwrap() {
            std::thread::yield_now();
        }
        assert_eq!(for_all.wait().unwrap().value().to_bits(), expected);

        let builder = Plan::builder(world).algorithm(algorithm).width(2);
        let plan = builder.build_exact::<Sum<f64>>().unwrap();
        let row = [own, sum_of(&[1.0])];
        let values = |row: &[Sum<f64>]| bits(&row.iter().map(Sum::value).collect::<Vec<_>>());
        let count = f64::from(u32::try_from(ranks).unwrap());
        let expected = [expected, count.to_bits()];
        let total = plan.start_allreduce_row(&row).unwrap().wait().unwrap();
        assert_eq!(values(&total), expected);
        let total = plan.start_reduce_row(&row).unwrap().wait().unwrap();
        assert!(total.is_none_or(|total| values(&total) == expected));
        let columns = plan.start_reduce_scatter(&row).unwrap().wait().unwrap();
        assert_eq!(values(&columns), expected[plan.scattered_columns()]);
    }
}

fn failures(world: &World) {
    let (rank, ranks) = (world.rank(), world.size());
    let last = ranks - 1;
    for algorithm in offered(world) {
        let dots = plan::<ProductSum<f64>>(world, algorithm);
        let y: &[f64] = if rank == last { &[1.0] } else { &[1.0, 2.0] };
        let expected = if rank == last {
            RunError::Lengths {
                rank,
                first: 2,
                second: 1,
            }
        } else {
            RunError::RankFailed { rank: last }
        };
        assert_eq!(dots.dot(&[1.0, 2.0], y), Err(expected), "{algorithm}");
        assert_eq!(dots.norm(&[1.0]), Err(RunError::Spent { rank }));
        if algorithm.takes_rows() {
            let builder = Plan::builder(world).algorithm(algorithm).width(2);
            let rows = builder.build_exact::<Sum<f64>>().unwrap();
            let items: &[f64] = if rank == last { &[1.0] } else { &[1.0, 2.0] };
            let expected = if rank == last {
                RunError::NotRows {
                    rank,
                    values: 1,
                    width: 2,
                }
            } else {
                RunError::RankFailed { rank: last }
            };
            let outcome = rows.sum_rows(items, &mut [0.0; 2]);
            assert_eq!(outcome, Err(expected), "{algorithm}");
        }
    }
    if world.transport().native_reductions().is_some() && ranks > 2 {
        let dots = plan::<ProductSum<f64>>(world, Algorithm::MpiNative);
        let y: &[f64] = if rank > 0 { &[] } else { &[1.0] };
        let outcome = dots.dot(&[1.0], y);
        if rank == 0 {
            let count = ranks as u64 - 1;
            assert_eq!(outcome, Err(RunError::RanksFailed { count }));
        } else {
            assert!(matches!(outcome, Err(RunError::Lengths { .. })));
        }
    }
    if ranks > 1 {
        let builder = || Plan::builder(world);
        let error = if rank == last {
            builder().build_exact::<Sum<f32>>().err()
        } else {
            builder().build_exact::<Sum<f64>>().err()
        };
        let expected = BuildError::Disagreement {
            subject: "operator",
            first: (0, "exact sum of f64".to_owned()),
            second: (last, "exact sum of f32".to_owned()),
        };
        assert_eq!(error, Some(expected));
    }
}
