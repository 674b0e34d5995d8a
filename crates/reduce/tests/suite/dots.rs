//! Compares dot products and norms in tree order with the definition over the products of all items.

use distribution::{Distribution, Ownership};
use reduce::{Plan, RunError, Sum, World};

use super::collectives::{bits, local, random_ownership, rows_by_definition};
use super::{Check, numbers, offered};

pub(crate) const CHECKS: [(&str, Check); 2] = [
    ("dot products and norms", products),
    ("factors that are wrong on one rank", wrong_factors),
];

fn products(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    for (count, width) in [(0, 1), (1, 1), (1000, 1), (7 * size, 3), (45, 40)] {
        let one_stretch = Ownership::from(Distribution::upper(count as u64, size).unwrap());
        for ownership in [one_stretch, random_ownership(count as u64, size, 3)] {
            // The two factors of the last pair are the same slice.
            let factors = |pair: usize, factor: usize| {
                let seed = if pair + 1 == width {
                    1
                } else {
                    2 * pair + factor + 2
                };
                numbers(count, seed as u64)
            };
            let all: Vec<[Vec<f64>; 2]> = (0..width)
                .map(|pair| [factors(pair, 0), factors(pair, 1)])
                .collect();
            let product = |item: usize| all.iter().map(move |[x, y]| x[item] * y[item]);
            let products: Vec<f64> = (0..count).flat_map(product).collect();
            let expected = if count == 0 {
                vec![0; width]
            } else {
                rows_by_definition(&products, width, &Sum)
            };
            let own: Vec<[Vec<f64>; 2]> = all
                .iter()
                .map(|pair| pair.each_ref().map(|x| local(x, 1, &ownership, rank)))
                .collect();
            let mut pairs: Vec<[&[f64]; 2]> = own.iter().map(|[x, y]| [&x[..], &y[..]]).collect();
            pairs[width - 1] = [&own[width - 1][0]; 2];
            for algorithm in offered(world) {
                let plan = Plan::builder(world).width(width).algorithm(algorithm);
                let Ok(plan) = plan.ownership(&ownership).build::<f64>() else {
                    // Not every algorithm reduces rows, or scattered items.
                    assert!(!algorithm.is_scheduled());
                    continue;
                };
                let mut row = vec![7.0; width];
                plan.dots(&pairs, &mut row).unwrap();
                assert_eq!(bits(&row), expected, "{algorithm}");
                if width == 1 {
                    let [x, y] = pairs[0];
                    assert_eq!(plan.dot(x, y).unwrap().to_bits(), expected[0]);
                    let norm = f64::from_bits(expected[0]).sqrt();
                    assert_eq!(plan.norm2(x).unwrap().to_bits(), norm.to_bits());
                    let of_root = plan.reduce_dot(x, y).unwrap();
                    assert!(of_root.is_none_or(|dot| dot.to_bits() == expected[0]));
                    assert_eq!(of_root.is_some(), rank == 0);
                }
                if algorithm.is_scheduled() {
                    row.fill(7.0);
                    let pending = plan.start_dots(&pairs).unwrap();
                    pending.wait_into(&mut row).unwrap();
                    assert_eq!(bits(&row), expected, "{algorithm}");
                }
            }
        }
    }
}

/// A rank whose factors do not fit the plan fails, and the others get an error.
fn wrong_factors(world: &World) {
    let (rank, failing) = (world.rank(), world.size() / 2);
    let x = [1.0; 5];
    let plan = |width| {
        let plan = Plan::builder(world).local_items(5).width(width);
        plan.build::<f64>().unwrap()
    };
    let wrong: [(&[[&[f64]; 2]], &str); 3] = [
        (
            &[[&x, &x[1..]]],
            "two slices must be equally long, but have 5 items and 4 items",
        ),
        (
            &[[&x[1..]; 2]],
            "the plan is for 5 elements on this rank, not 4",
        ),
        (&[[&x[..]; 2]; 2], "the plan is for 1 pair of slices, not 2"),
    ];
    for (pairs, message) in wrong {
        let pairs = if rank == failing {
            pairs
        } else {
            &[[&x[..]; 2]]
        };
        let check = |error: RunError| {
            if rank == failing {
                assert!(error.to_string().ends_with(message), "{error}");
            } else {
                assert_eq!(error, RunError::RankFailed { rank: failing });
            }
        };
        check(plan(1).dots(pairs, &mut [7.0]).unwrap_err());
        let pending = plan(1).start_dots(pairs).unwrap();
        check(pending.wait_into(&mut [7.0]).unwrap_err());
    }
    // One pair does not fit a plan of width 2.
    let error = plan(2).dot(&x, &x).unwrap_err();
    assert!(
        matches!(
            error,
            RunError::WrongPairs {
                planned: 2,
                given: 1,
                ..
            }
        ),
        "{error}"
    );
}
