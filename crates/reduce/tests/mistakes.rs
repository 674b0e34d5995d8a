//! What programs do by accident: odd numbers for the builder, operators that panic or leave NaNs as they come.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use distribution::{Distribution, Ownership};
use reduce::operator::custom;
use reduce::{Algorithm, BuildError, Builder, DEFAULT_LINK, Link, Plan, RunError, World, threads};

/// The error of a build, which all ranks get.
#[track_caller]
fn refused(build: impl Fn(Builder) -> Builder + Sync) -> BuildError {
    let errors = threads::run(3, |world| {
        let builder = Plan::builder(world).local_items(1).width(3);
        build(builder).build::<f64>().unwrap_err()
    });
    let errors = errors.unwrap();
    // A link of NaN is not equal to itself.
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    errors[0].clone()
}

#[test]
fn times_of_a_link_are_positive() {
    for time in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        let links = [
            Link {
                latency_ns: time,
                ..DEFAULT_LINK
            },
            Link {
                byte_ns: time,
                ..DEFAULT_LINK
            },
            Link {
                combine_byte_ns: time,
                ..DEFAULT_LINK
            },
        ];
        for link in links {
            let error = refused(|builder| builder.link(link));
            assert!(matches!(error, BuildError::Link { .. }), "{error}");
        }
    }
}

#[test]
fn parameters_have_limits() {
    for count in [0, 1 << 32, usize::MAX] {
        let error = refused(|builder| builder.ports(count).algorithm(Algorithm::Dissemination));
        assert!(matches!(error, BuildError::Parameter(_)), "{error}");
        let error = refused(|builder| builder.blocks(count));
        assert!(matches!(error, BuildError::Parameter(_)), "{error}");
    }
    // Within the limit, a block has a column at least.
    threads::run(2, |world| {
        let builder = Plan::builder(world)
            .local_items(1)
            .width(3)
            .blocks(1_000_000);
        let plan = builder.build::<f64>().unwrap();
        let mut row = [0.0; 3];
        plan.allreduce_into(&[1.0; 3], &mut row).unwrap();
        assert_eq!(row.map(f64::to_bits), [2.0_f64.to_bits(); 3]);
    })
    .unwrap();
}

/// A limit of 1 makes a message of each column: their number, not its square, is the time that they take.
#[test]
fn many_short_messages_take_linear_time() {
    const WIDTH: usize = 400_000;
    let begin = Instant::now();
    threads::run(2, |world| {
        let builder = Plan::builder(world).local_items(1).width(WIDTH);
        let plan = builder.message_limit(1).build::<f64>().unwrap();
        let mut row = vec![0.0; WIDTH];
        plan.allreduce_into(&vec![1.0; WIDTH], &mut row).unwrap();
        assert!(row.iter().all(|sum| sum.to_bits() == 2.0_f64.to_bits()));
    })
    .unwrap();
    println!("{WIDTH} messages took {:?}", begin.elapsed());
    // Less than a second on a machine that is not busy; 15 s and more where each message moved the list of all others.
    assert!(begin.elapsed() < Duration::from_secs(5));
}

/// A rule is not written out to choose a schedule.
#[test]
fn a_plan_of_many_small_blocks_is_built_at_once() {
    const ITEMS: u64 = 30_000_000;
    let begin = Instant::now();
    threads::run(16, |world| {
        let ownership = Ownership::block_cyclic(ITEMS, 16, 1).unwrap();
        let builder = Plan::builder(world).ownership(&ownership);
        builder.build::<f64>().unwrap();
    })
    .unwrap();
    println!(
        "a plan of {ITEMS} blocks was built in {:?}",
        begin.elapsed()
    );
    // Milliseconds on a machine that is not busy; 10 s where the blocks were listed.
    assert!(begin.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_rule_for_another_number_of_items_is_refused_without_a_message() {
    threads::run(2, |world| {
        let rule = Distribution::lower(10, 2).unwrap();
        let builder = Plan::builder(world).distribution(&rule).items(999).agreed();
        let error = builder.build::<f64>().unwrap_err();
        let (rank, expected, found) = (world.rank(), 999, 10);
        assert_eq!(
            error,
            BuildError::ItemCount {
                rank,
                expected,
                found
            }
        );
        assert_eq!(world.traffic().messages, 0);
    })
    .unwrap();
}

/// Where the other rank leaves, a loop of tests ends as a wait does.
#[test]
fn a_test_tells_that_a_rank_has_left() {
    let body = |world: &World| {
        let plan = Plan::builder(world).local_items(1).build::<f64>().unwrap();
        if world.rank() == 1 {
            return;
        }
        let pending = plan.start_allreduce(&[1.0]).unwrap();
        let error = loop {
            match pending.test() {
                Ok(is_over) => assert!(!is_over),
                Err(error) => break error,
            }
            std::thread::yield_now();
        };
        assert!(error.to_string().contains("rank 1 left"), "{error}");
    };
    threads::run(2, body).unwrap();
    for seed in 0..50 {
        threads::run_seeded(2, seed, body).unwrap();
    }
}

/// A rank that has sent what it owes may leave, and another run goes on.
#[test]
fn a_rank_that_left_early_does_not_end_the_others_run() {
    for seed in 0..200 {
        threads::run_seeded(3, seed, |world| {
            let build = |counts: &[u64; 3]| {
                let ownership = Distribution::from_counts(counts).unwrap();
                let builder = Plan::builder(world).distribution(&ownership);
                let builder = builder.algorithm(Algorithm::Binomial).root(0);
                builder.build::<f64>().unwrap()
            };
            let (all, first_two) = (build(&[1, 1, 1]), build(&[1, 1, 0]));
            let local = &[1.0, 1.0][..usize::from(world.rank() < 2)];
            let own = all.start_reduce(&[1.0]).unwrap();
            if world.rank() == 2 {
                own.wait().unwrap();
                first_two.reduce(local).unwrap();
                return;
            }
            let sum = first_two.reduce(local).unwrap();
            let expected = (world.rank() == 0).then_some(2.0);
            assert_eq!(
                (sum, own.wait().unwrap()),
                (expected, expected.map(|sum| sum + 1.0))
            );
        })
        .unwrap();
    }
}

/// A call, and whether it succeeds.
type Call = fn(&Plan<f64, Panicking>) -> bool;

#[test]
fn a_plan_whose_operator_panicked_is_spent() {
    let calls: [Call; 3] = [
        |plan| plan.allreduce(&[1.0, 2.0]).is_ok(),
        |plan| plan.allreduce_into(&[1.0, 2.0], &mut [0.0]).is_ok(),
        |plan| plan.start_allreduce(&[1.0, 2.0]).is_ok(),
    ];
    threads::run(1, |world: &World| {
        for call in calls {
            let builder = Plan::builder(world).local_items(2).operator(Panicking);
            let plan = builder.build::<f64>().unwrap();
            assert!(catch_unwind(AssertUnwindSafe(|| call(&plan))).is_err());
            assert_eq!(
                plan.allreduce(&[1.0, 2.0]),
                Err(RunError::Spent { rank: 0 })
            );
        }
    })
    .unwrap();
}

/// An operator with a mistake.
#[derive(Clone, Copy, Debug)]
struct Panicking;

impl reduce::Operator<f64> for Panicking {
    fn name(&self) -> &str {
        "panicking"
    }

    fn combine(&self, _left: f64, _right: f64) -> f64 {
        panic!("on purpose")
    }
}

#[test]
fn a_custom_operators_nan_is_canonical() {
    let payload = f64::from_bits(0xFFF8_0000_0000_1234);
    let later = |_left: f64, right: f64| right;
    let operator = || custom("later", later);
    let canonical = 0x7FF8_0000_0000_0000;
    let folded = reduce::fold(&[1.0, payload], &operator()).unwrap();
    assert_eq!(folded.to_bits(), canonical);
    let single = reduce::fold(
        &[f32::from_bits(0xFFC0_0001)],
        &custom("first", |a: f32, _| a),
    );
    assert_eq!(single.unwrap().to_bits(), 0x7FC0_0000);
    for ranks in [1, 2, 3] {
        threads::run(ranks, |world| {
            let builder = Plan::builder(world).local_items(1).operator(operator());
            let plan = builder.build::<f64>().unwrap();
            assert_eq!(plan.allreduce(&[payload]).unwrap().to_bits(), canonical);
        })
        .unwrap();
    }
    // Other types say themselves what their canonical form is.
    let pairs = || custom("later", |_: [f64; 2], right: [f64; 2]| right);
    let as_it_is = reduce::fold(&[[payload; 2]], &pairs()).unwrap();
    assert_eq!(as_it_is.map(f64::to_bits), [payload.to_bits(); 2]);
    let without_nan = |pair: [f64; 2]| pair.map(|part| if part.is_nan() { f64::NAN } else { part });
    let same = reduce::fold(&[[payload; 2]], &pairs().with_canonical(without_nan)).unwrap();
    assert_eq!(same.map(f64::to_bits), [f64::NAN.to_bits(); 2]);
}
