//! Tests sums in lanes over ranks.

use std::ops::Range;

use distribution::Ownership;
use reduce::{Algorithm, BuildError, Plan, RunError, World, sum_lanes};

use super::collectives::scheduled;
use super::pairs::pairs;
use super::{Check, numbers};

pub(crate) const CHECKS: [(&str, Check); 3] = [
    ("sums in lanes", sums_in_lanes),
    ("items that do not fit lanes", items_beside_lanes),
    ("wrong calls of plans in lanes", wrong_calls),
];

/// Distributes `count` items over the ranks at random. A range consists of rows of `lanes` items, and a rank's ranges are in random order.
fn extents(count: u64, ranks: usize, lanes: u64, seed: u64) -> Vec<Vec<Range<u64>>> {
    let mut own = vec![Vec::new(); ranks];
    let (mut start, mut state) = (0, seed);
    while start < count {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let end = count.min(start + lanes * (1 + (state >> 60)));
        let rank = usize::try_from((state >> 33) % ranks as u64).unwrap();
        // The range that has the last item need not be the last range of its rank.
        let place = usize::from(state >> 32 & 1 != 0).min(own[rank].len());
        own[rank].insert(place, start..end);
        start = end;
    }
    own
}

fn sums_in_lanes(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let all_lanes = [1, 3, 16, 128];
    let algorithms: Vec<Algorithm> = scheduled(world).collect();
    let cases = pairs([all_lanes.len(), 6, algorithms.len()]);
    for (turn, lanes) in all_lanes.into_iter().enumerate() {
        let counts = [0, 1, lanes, 5 * lanes - 1, 40 * lanes, 333 * lanes + 1];
        for (place, count) in counts.into_iter().enumerate() {
            let items = numbers(count, count as u64 + 7);
            let expected = sum_lanes(&items, lanes).unwrap().to_bits();
            let extents = extents(count as u64, size, lanes as u64, count as u64);
            let mut own = Vec::new();
            for range in &extents[rank] {
                own.extend_from_slice(super::slice(&items, range.clone()));
            }
            let here = cases.iter().filter(|case| case[..2] == [turn, place]);
            for algorithm in here.map(|case| algorithms[case[2]]) {
                let builder = Plan::builder(world).extents(&extents[rank]).root(size - 1);
                let plan = builder
                    .algorithm(algorithm)
                    .build_lanes::<f64>(lanes)
                    .unwrap();
                assert_eq!(plan.lanes(), lanes);
                for _ in 0..2 {
                    let sum = plan.allreduce(&own).unwrap().to_bits();
                    assert_eq!(sum, expected, "{algorithm}, {lanes} lanes, N = {count}");
                }
                let sum = plan.reduce(&own).unwrap().map(f64::to_bits);
                assert_eq!(sum, (rank == size - 1).then_some(expected), "{algorithm}");
                let sum = plan.start_allreduce(&own).unwrap().wait().unwrap();
                assert_eq!(sum.to_bits(), expected, "{algorithm}, started");
                let sum = plan.start_reduce(&own).unwrap().wait().unwrap();
                let sum = sum.map(f64::to_bits);
                assert_eq!(sum, (rank == size - 1).then_some(expected), "{algorithm}");
            }
            // The sum of negative zeros is -0.0. The sum of no items is +0.0.
            let zeros = vec![-0.0_f32; own.len()];
            let builder = Plan::builder(world).extents(&extents[rank]);
            let plan = builder.build_lanes::<f32>(lanes).unwrap();
            let sum = plan.allreduce(&zeros).unwrap();
            assert_eq!(sum.is_sign_negative(), count > 0);
        }
    }
}

fn items_beside_lanes(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    // Each rank has 17 items, so rank 1's items do not begin at a multiple of 16.
    let built = Plan::builder(world).local_items(17).build_lanes::<f64>(16);
    let beside = BuildError::BesideLanes {
        rank: 1,
        start: 17,
        end: 34,
        lanes: 16,
    };
    match built {
        Ok(plan) => assert_eq!((size, plan.allreduce(&[1.0; 17]).unwrap()), (1, 17.0)),
        Err(error) => {
            let said = "rank 1: items 17..34 do not begin at a multiple of 16, the number of lanes";
            assert_eq!(error.to_string(), said);
            assert_eq!(error, beside);
        }
    }
    let cyclic = Ownership::block_cyclic(100, size, 40).unwrap();
    let built = Plan::builder(world)
        .ownership(&cyclic)
        .build_lanes::<f64>(16);
    assert!(
        matches!(
            built,
            Err(BuildError::BesideLanes {
                start: 40,
                end: 80,
                ..
            })
        ) || size == 1
    );
    for lanes in [0, (1 << 20) + 1, usize::MAX] {
        let built = Plan::builder(world)
            .local_items(16)
            .build_lanes::<f64>(lanes);
        assert_eq!(built.err(), Some(BuildError::Lanes { lanes }));
    }
    if size > 1 {
        let lanes = if rank == 1 { 32 } else { 16 };
        let built = Plan::builder(world)
            .local_items(32)
            .build_lanes::<f64>(lanes);
        let disagreement = BuildError::Disagreement {
            subject: "number of lanes",
            first: (0, "16".to_owned()),
            second: (1, "32".to_owned()),
        };
        assert_eq!(built.err(), Some(disagreement));
    }
}

fn wrong_calls(world: &World) {
    let rank = world.rank();
    let local = vec![1.0; if rank == 0 { 5 } else { 0 }];
    let builder = Plan::builder(world).local_items(local.len() as u64);
    let plan = builder.build_lanes::<f64>(4).unwrap();
    assert_eq!(plan.allreduce(&local), Ok(5.0));
    // The slice of rank 0 is too short. The error on rank 0 says so, and no other rank hangs.
    let outcome = plan.allreduce(if rank == 0 { &local[1..] } else { &local });
    if rank == 0 {
        let wrong = RunError::WrongLength {
            rank,
            planned: 5,
            given: 4,
        };
        assert_eq!(outcome, Err(wrong));
    } else {
        assert!(outcome.is_err());
    }
    assert!(plan.allreduce(&local).is_err(), "the plan is spent");
}
