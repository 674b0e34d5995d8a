//! Tests long rows. Plans do not copy long rows, but use them in place and cut them into strips.

use std::time::Duration;

use distribution::{Distribution, Ownership};
use reduce::{Algorithm, Builder, Plan, RunError, Sum, World};

use super::collectives::{bits, local, random_ownership, rows_by_definition, scheduled};
use super::pairs::pairs;
use super::{Check, numbers};

pub(crate) const CHECKS: [(&str, Check); 6] = [
    ("long rows, in place and in strips", long_rows),
    ("rows that are longer than a message", longer_than_a_message),
    ("long rows in flight", in_flight),
    ("more sends than may be under way", untaken),
    ("long rows of prefixes and broadcasts", copied),
    ("wrong arguments of runs in place", wrong_arguments),
];

/// The number of doubles per row. A row has 2.4 kB, which is long enough for plans to use it in place.
const WIDTH: usize = 300;

/// Numbers of blocks per row: the plan's choice (`None`), a number that does not divide the width, and one above the limit of pending sends.
const BLOCKS: [Option<usize>; 3] = [None, Some(7), Some(100)];

fn plan(world: &World, algorithm: Algorithm, blocks: Option<usize>) -> Builder {
    let builder = Plan::builder(world).width(WIDTH).algorithm(algorithm);
    match blocks {
        Some(blocks) => builder.blocks(blocks),
        None => builder,
    }
}

/// Numbers, and one NaN that is not canonical. The sum of the NaN's column is the canonical NaN.
fn with_nan(count: usize) -> Vec<f64> {
    let mut items = numbers(count * WIDTH, count as u64);
    items[3] = -f64::NAN;
    items
}

fn long_rows(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let one_each = Ownership::one_item_each(size).unwrap();
    let some_each = Ownership::from(Distribution::lower(3 * size as u64 + 1, size).unwrap());
    let one = Ownership::from(Distribution::lower(1, size).unwrap());
    let scattered = random_ownership(20, size, 5);
    let algorithms: Vec<Algorithm> = scheduled(world).collect();
    let cases = pairs([4, algorithms.len(), BLOCKS.len()]);
    for (turn, ownership) in [one_each, some_each, one, scattered].iter().enumerate() {
        let items = with_nan(usize::try_from(ownership.items()).unwrap());
        let expected = rows_by_definition(&items, WIDTH, &Sum);
        let local = local(&items, WIDTH, ownership, rank);
        for &[_, algorithm, blocks] in cases.iter().filter(|case| case[0] == turn) {
            let (algorithm, blocks) = (algorithms[algorithm], BLOCKS[blocks]);
            let plan = plan(world, algorithm, blocks).root(size / 2);
            let plan = plan.ownership(ownership).build::<f64>().unwrap();
            let mut row = vec![0.0; WIDTH];
            plan.allreduce_into(&local, &mut row).unwrap();
            assert_eq!(bits(&row), expected, "{algorithm}, {blocks:?}");
            let mut row = vec![7.0; WIDTH];
            if plan.reduce_into(&local, &mut row).unwrap() {
                assert_eq!(bits(&row), expected, "{algorithm}, {blocks:?}");
            } else {
                assert_eq!(row, vec![7.0; WIDTH]);
            }
            let columns = plan.scattered_columns();
            let mut part = vec![0.0; columns.len()];
            plan.reduce_scatter(&local, &mut part).unwrap();
            assert_eq!(bits(&part), expected[columns], "{algorithm}, {blocks:?}");
        }
    }
}

/// Messages of up to 32 KiB go through memory that ranks share. These rows are longer, so they are cut into strips.
fn longer_than_a_message(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    for width in [4097, 20_001] {
        let items = numbers(size * width, width as u64);
        let expected = rows_by_definition(&items, width, &Sum);
        let own = &items[rank * width..][..width];
        for algorithm in scheduled(world) {
            let builder = Plan::builder(world).width(width).algorithm(algorithm);
            let plan = builder.root(size - 1).local_items(1).build::<f64>();
            let plan = plan.unwrap();
            for _ in 0..2 {
                let mut row = vec![0.0; width];
                plan.allreduce_into(own, &mut row).unwrap();
                assert_eq!(bits(&row), expected, "{algorithm}, {width}");
                if plan.reduce_into(own, &mut row).unwrap() {
                    assert_eq!(bits(&row), expected, "{algorithm}, {width}");
                }
            }
        }
    }
}

/// The caller may drop its slices as soon as the runs have started, and may run other plans by blocking calls before it waits for them.
fn in_flight(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let items = with_nan(2 * size);
    let own = &items[2 * rank * WIDTH..2 * (rank + 1) * WIDTH];
    let expected = rows_by_definition(&items, WIDTH, &Sum);
    for algorithm in scheduled(world) {
        let plans = BLOCKS.map(|blocks| {
            let builder = plan(world, algorithm, blocks).local_items(2);
            builder.build::<f64>().unwrap()
        });
        let (blocking, others) = plans.split_last().unwrap();
        for round in 0..3 {
            let mut pending: Vec<_> = others
                .iter()
                .map(|plan| {
                    let moved = own.to_vec();
                    plan.start_allreduce_row(&moved).unwrap()
                })
                .collect();
            pending.rotate_left((rank + round) % others.len());
            let mut row = vec![0.0; WIDTH];
            blocking.allreduce_into(own, &mut row).unwrap();
            assert_eq!(bits(&row), expected, "{algorithm}");
            for run in pending {
                let mut row = vec![0.0; WIDTH];
                run.wait_into(&mut row).unwrap();
                assert_eq!(bits(&row), expected, "{algorithm}");
            }
        }
        // Some ranks make a blocking call for this run. The others start it and test it until it ends.
        let mut row = vec![0.0; WIDTH];
        if rank % 2 == 0 {
            blocking.allreduce_into(own, &mut row).unwrap();
        } else {
            let run = blocking.start_allreduce_row(own).unwrap();
            while !run.test().unwrap() {
                std::thread::yield_now();
            }
            run.wait_into(&mut row).unwrap();
        }
        assert_eq!(bits(&row), expected, "{algorithm}");
    }
}

/// Tests a chain's last rank. On transports whose sends need further calls to arrive, it must wait until its neighbour receives.
fn untaken(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    if size == 1 {
        return;
    }
    // Blocks are so long that most MPI libraries do not send a block before the receiver asks for it.
    const BLOCKS: usize = 40;
    let width = BLOCKS * 8192;
    let plan = Plan::builder(world)
        .local_items(1)
        .width(width)
        .algorithm(Algorithm::LinearPipelined)
        .blocks(BLOCKS)
        .build::<f64>()
        .unwrap();
    let (last, tag) = (size - 1, world.fresh_tag().unwrap());
    let own = vec![1.0; width];
    let run = if rank == last {
        let run = plan.start_reduce_row(&own).unwrap();
        match run.wait_timeout(Duration::from_millis(20)) {
            // Sends between threads arrive without further calls, and the Intel MPI library keeps all blocks until the receiver asks for them.
            Ok(()) => {}
            Err(RunError::TimedOut { awaited, .. }) => assert_eq!(awaited, [last - 1]),
            Err(error) => panic!("{error}"),
        }
        for other in 0..last {
            comm::collective::send(world.transport(), other, tag, Vec::new(), 0).unwrap();
        }
        run
    } else {
        comm::collective::receive(world.transport(), last, tag, 0).unwrap();
        plan.start_reduce_row(&own).unwrap()
    };
    let mut row = vec![0.0; width];
    if run.wait_into(&mut row).unwrap() {
        assert_eq!(row, vec![size as f64; width]);
    }
}

/// In scans and broadcasts, received messages stay in place, but rows in the caller's slices are copied.
fn copied(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    for ownership in [
        Ownership::from(Distribution::lower(2 * size as u64, size).unwrap()),
        random_ownership(12, size, 3),
    ] {
        let count = usize::try_from(ownership.items()).unwrap();
        let items = numbers(count * WIDTH, 8);
        let own = local(&items, WIDTH, &ownership, rank);
        let numbers_of_own = ownership.extents(rank).flatten();
        let numbers_of_own: Vec<usize> = numbers_of_own
            .map(|item| usize::try_from(item).unwrap())
            .collect();
        for algorithm in scheduled(world) {
            let plan = plan(world, algorithm, Some(7)).ownership(&ownership);
            let plan = plan.root(size - 1).build::<f64>().unwrap();
            let mut prefixes = vec![0.0; own.len()];
            plan.scan(&own, &mut prefixes).unwrap();
            for (row, &item) in prefixes.chunks(WIDTH).zip(&numbers_of_own) {
                let before = &items[..(item + 1) * WIDTH];
                assert_eq!(
                    bits(row),
                    rows_by_definition(before, WIDTH, &Sum),
                    "{algorithm}"
                );
            }
            let sent = with_nan(1);
            let mut row = if rank == size - 1 {
                sent.clone()
            } else {
                vec![0.0; WIDTH]
            };
            plan.broadcast(&mut row).unwrap();
            assert_eq!(bits(&row), bits(&sent), "{algorithm}");
        }
    }
}

/// One rank's slices have wrong lengths. The call returns an error on this rank, and the other ranks' errors name this rank.
fn wrong_arguments(world: &World) {
    let (rank, last) = (world.rank(), world.size() - 1);
    for algorithm in scheduled(world) {
        for blocks in BLOCKS {
            let build = || {
                plan(world, algorithm, blocks)
                    .local_items(1)
                    .build::<f64>()
                    .unwrap()
            };
            let wrong = usize::from(rank == last);
            let mut row = vec![0.0; WIDTH];
            let error = build().allreduce_into(&vec![1.0; WIDTH - wrong], &mut row);
            let mut short = vec![0.0; WIDTH - wrong];
            let short_error = build().allreduce_into(&[1.0; WIDTH], &mut short);
            let (error, short_error) = (error.unwrap_err(), short_error.unwrap_err());
            if rank == last {
                let (planned, given) = (WIDTH as u128, WIDTH as u64 - 1);
                assert_eq!(
                    error,
                    RunError::WrongLength {
                        rank,
                        planned,
                        given
                    }
                );
                let (expected, given) = (WIDTH, WIDTH - 1);
                let wrong = RunError::WrongResultLength {
                    rank,
                    expected,
                    given,
                };
                assert_eq!(short_error, wrong);
            } else {
                assert_eq!(error, RunError::RankFailed { rank: last });
                assert_eq!(short_error, RunError::RankFailed { rank: last });
            }
        }
    }
}
