//! Tests mistakes of programs: invalid settings of a builder, ranks that make different calls or leave, and operators that panic.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use distribution::{Distribution, Ownership};
use reduce::operator::custom;
use reduce::{
    Algorithm, BuildError, Builder, DEFAULT_LINK, Link, Network, Partial, Plan, RunError, World,
    threads,
};

/// The error of a build, which all ranks get.
#[track_caller]
fn refused(build: impl Fn(Builder) -> Builder + Sync) -> BuildError {
    let errors = threads::run(3, |world| {
        let builder = Plan::builder(world).local_items(1).width(3);
        build(builder).build::<f64>().unwrap_err()
    });
    let errors = errors.unwrap();
    // A link with a NaN is not equal to itself.
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    errors[0].clone()
}

/// `number`, or the greatest `usize` if it is less than `number`.
fn at_most_all(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[test]
fn times_of_a_link_are_positive() {
    for time in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        let links = [
            (
                "latency_ns",
                Link {
                    latency_ns: time,
                    ..DEFAULT_LINK
                },
            ),
            (
                "byte_ns",
                Link {
                    byte_ns: time,
                    ..DEFAULT_LINK
                },
            ),
            (
                "combine_byte_ns",
                Link {
                    combine_byte_ns: time,
                    ..DEFAULT_LINK
                },
            ),
        ];
        for (part, link) in links {
            let told = format!("a network's `{part}` must be finite and positive: links of ");
            let far = Network {
                far: link,
                ..Network::from(DEFAULT_LINK)
            };
            for network in [Network::from(link), far] {
                let error = refused(|builder| builder.network(network));
                assert!(matches!(error, BuildError::Network { .. }), "{error}");
                assert!(error.to_string().starts_with(&told), "{error}");
                assert!(error.to_string().contains(&time.to_string()), "{error}");
            }
        }
    }
    let other = |change: fn(&mut Network)| {
        let mut network = Network::from(DEFAULT_LINK);
        change(&mut network);
        refused(|builder| builder.network(network)).to_string()
    };
    let crowding = other(|network| network.crowding_ns = f64::INFINITY);
    let told = "a network's `crowding_ns` must be finite, and positive or 0: links of ";
    assert!(crowding.starts_with(told), "{crowding}");
    let node = other(|network| network.node_ranks = 0);
    assert!(
        node.starts_with("a network's `node_ranks` must be at least 1: "),
        "{node}"
    );
    let port = other(|network| network.port_ranks = 0);
    assert!(
        port.starts_with("a network's `port_ranks` must be at least 1: "),
        "{port}"
    );
}

#[test]
fn parameters_have_limits() {
    for count in [0, 100_000_000, at_most_all(1 << 32), usize::MAX] {
        for algorithm in [Algorithm::Dissemination, Algorithm::Bruck, Algorithm::Ring] {
            let error = refused(|builder| builder.ports(count).algorithm(algorithm));
            assert!(matches!(error, BuildError::Parameter(_)), "{error}");
            let error = refused(|builder| builder.blocks(count).algorithm(algorithm));
            assert!(matches!(error, BuildError::Parameter(_)), "{error}");
        }
        let error = refused(|builder| builder.ports(count));
        assert!(matches!(error, BuildError::Parameter(_)), "{error}");
        let error = refused(|builder| builder.blocks(count));
        assert!(matches!(error, BuildError::Parameter(_)), "{error}");
    }
    // A valid number of blocks may exceed the number of columns.
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

#[test]
fn a_row_that_no_memory_holds_is_refused() {
    for width in [at_most_all(1 << 44), at_most_all(1 << 60), usize::MAX] {
        let bytes = width as u128 * 8;
        for is_agreed in [false, true] {
            let errors = threads::run(3, |world| {
                let rule = Ownership::one_item_each(3).unwrap();
                let builder = Plan::builder(world).ownership(&rule).width(width);
                let builder = if is_agreed { builder.agreed() } else { builder };
                builder.build::<f64>().unwrap_err()
            });
            for (rank, error) in errors.unwrap().into_iter().enumerate() {
                let rank = if is_agreed { rank } else { 0 };
                assert_eq!(error, BuildError::Memory { rank, bytes });
            }
        }
    }
    // The error is the same on all ranks, even if only one rank finds it.
    let width = at_most_all(1 << 60);
    let error = refused(|builder| builder.width(width));
    let bytes = width as u64 * 8;
    let text = format!("rank 0: the plan needs at least {bytes} bytes, more than are available");
    assert_eq!(error.to_string(), text);
    if usize::BITS == 64 {
        assert!(text.contains(" 9223372036854775808 bytes,"), "{text}");
    }
    // No memory holds a list of all these blocks, either.
    let errors = threads::run(16, |world| {
        let ownership = Ownership::block_cyclic(u64::MAX, 16, 1).unwrap();
        let builder = Plan::builder(world).ownership(&ownership);
        builder.build::<f64>().unwrap_err()
    });
    for error in errors.unwrap() {
        assert!(
            matches!(error, BuildError::Memory { rank: 0, .. }),
            "{error}"
        );
    }
}

/// Ranks disagree on who owns what. One of them states a rule whose list of ranges would be too long.
#[test]
fn a_rule_is_not_compared_by_listing_it() {
    let huge = |block_items| Ownership::block_cyclic(u64::MAX, 3, block_items).unwrap();
    for block_items in [1 << 40, 1 << 62] {
        let listed = |world: &World| {
            let builder = Plan::builder(world);
            let builder = match world.rank() {
                1 => builder.ownership(&huge(block_items)),
                _ => builder.extents(&[0..1, 2..3]),
            };
            builder.build::<f64>().unwrap_err().to_string()
        };
        let text = "ranks disagree on the kind of ownership: rank 0 has a list of ranges; rank 1 has a rule";
        assert_eq!(threads::run(3, listed).unwrap(), [text; 3]);
        let otherwise = |world: &World| {
            let ownership = huge(block_items + u64::from(world.rank() == 2));
            let builder = Plan::builder(world).ownership(&ownership);
            builder.build::<f64>().unwrap_err().to_string()
        };
        let text = format!(
            "ranks disagree on the ownership: rank 0 has {} items in blocks of {block_items}; rank 2 has {} items in blocks of {}",
            u64::MAX,
            u64::MAX,
            block_items + 1
        );
        assert_eq!(threads::run(3, otherwise).unwrap(), [&*text; 3]);
        let of_other_length = |world: &World| {
            let builder = Plan::builder(world)
                .ownership(&huge(block_items))
                .items(999);
            builder.build::<f64>().unwrap_err()
        };
        let error = BuildError::ItemCount {
            rank: 0,
            expected: 999,
            found: u64::MAX,
        };
        let errors = threads::run(3, of_other_length).unwrap();
        assert!(errors.iter().all(|other| *other == error), "{errors:?}");
    }
    let even = Distribution::lower(u64::MAX, 3).unwrap();
    let plans = threads::run(3, |world| {
        let even = Plan::builder(world).distribution(&even);
        let builders = [
            Plan::builder(world).ownership(&huge(1 << 62)),
            even.algorithm(Algorithm::Algorithm1),
        ];
        for builder in builders {
            let plan = builder.build::<f64>();
            let error = plan.unwrap().allreduce(&[1.0]).unwrap_err();
            assert!(matches!(error, RunError::WrongLength { .. }), "{error}");
        }
    });
    plans.unwrap();
}

/// One rank states one ownership, and the others state another. Both ownerships give this one rank the same number of items.
#[test]
#[expect(clippy::single_range_in_vec_init, reason = "lists of one range")]
fn a_rank_that_states_another_ownership_is_noticed_by_all() {
    let table = |counts: &[u64]| Ownership::from(Distribution::from_counts(counts).unwrap());
    let pieces = |extents: [Vec<Range<u64>>; 3]| Ownership::from_extents(&extents).unwrap();
    let lower = |items| Ownership::from(Distribution::lower(items, 3).unwrap());
    let upper = |items| Ownership::from(Distribution::upper(items, 3).unwrap());
    // The rank, its ownership, and the ownership of the others; the rank for which these differ, its items as stated, and its actual items.
    let cases = [
        (1, lower(10), upper(10), 0, "items 0..4", "items 0..3"),
        (1, upper(10), lower(10), 0, "items 0..3", "items 0..4"),
        (
            1,
            table(&[4, 3, 3]),
            table(&[3, 3, 4]),
            0,
            "items 0..4",
            "items 0..3",
        ),
        (1, table(&[0, 3, 7]), lower(10), 0, "no items", "items 0..4"),
        (
            2,
            table(&[5, 2, 3]),
            lower(10),
            0,
            "items 0..5",
            "items 0..4",
        ),
        (
            0,
            pieces([vec![0..2, 6..7], vec![2..4], vec![4..6, 7..10]]),
            pieces([vec![0..2, 6..7], vec![4..6], vec![2..4, 7..10]]),
            1,
            "items 2..4",
            "items 4..6",
        ),
    ];
    for (rank, stated, others, owner, stated_text, found) in cases {
        assert_eq!(
            stated.count(rank),
            others.count(rank),
            "the totals are right"
        );
        let errors = threads::run(3, |world| {
            let own = if world.rank() == rank {
                &stated
            } else {
                &others
            };
            Plan::builder(world)
                .ownership(own)
                .build::<f64>()
                .unwrap_err()
        });
        let expected = BuildError::OtherShare {
            rank,
            stated: stated_text.to_owned(),
            owner,
            found: found.to_owned(),
        };
        assert_eq!(errors.unwrap(), [&expected; 3].map(Clone::clone));
        let text = format!(
            "the ownership given on rank {rank} has {stated_text} for rank {owner}, but rank {owner} has {found}"
        );
        assert_eq!(expected.to_string(), text);
    }
    // Ranks may state the same ownership differently: by a rule, a table, ranges that touch, or numbers of items alone.
    threads::run(3, |world| {
        let builder = Plan::builder(world);
        let builder = match world.rank() {
            0 => builder.ownership(&lower(9)),
            1 => builder.ownership(&upper(9)),
            _ => builder.local_items(3),
        };
        let plan = builder.build::<f64>().unwrap();
        assert_eq!(
            plan.allreduce(&[1.0; 3]).map(f64::to_bits),
            Ok(9.0_f64.to_bits())
        );
        let touching = pieces([vec![0..1, 1..2, 6..7], vec![2..4], vec![4..6, 7..10]]);
        let whole = pieces([vec![0..2, 6..7], vec![2..4], vec![4..6, 7..10]]);
        let own = if world.rank() == 1 { &touching } else { &whole };
        Plan::builder(world).ownership(own).build::<f64>().unwrap();
        // The builder uses the last call.
        let builder = Plan::builder(world).ownership(&lower(10));
        let builder = builder.local_items([4, 3, 3][2 - world.rank()]);
        builder.build::<f64>().unwrap();
    })
    .unwrap();
}

/// A rank needs the ranges of all ranks. It may have enough memory for its own ranges, but not for all of them. The test runs in a process
/// with little memory. Without the check, that process would abort.
#[cfg(target_os = "linux")]
#[test]
fn ranges_of_all_ranks_that_no_memory_holds_are_refused() {
    const RANKS: usize = 8;
    const RANGES: u64 = 1 << 19;
    if std::env::var_os("TREEFOLD_TEST_LITTLE_MEMORY").is_none() {
        let output = std::process::Command::new("sh")
            .args(["-c", "ulimit -v 700000; exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture"])
            .arg("ranges_of_all_ranks_that_no_memory_holds_are_refused")
            .env("TREEFOLD_TEST_LITTLE_MEMORY", "1")
            // Without this setting, each thread reserves memory for its own allocations.
            .env("MALLOC_ARENA_MAX", "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}{errors}");
        assert!(said.contains("1 passed"), "{said}");
        return;
    }
    let errors = threads::run(RANKS, |world| {
        // Each range is one item; the ranks get them round-robin.
        let (rank, ranks) = (world.rank() as u64, RANKS as u64);
        let ranges = (0..RANGES).map(|index| index * ranks + rank..index * ranks + rank + 1);
        let ranges: Vec<_> = ranges.collect();
        let builder = Plan::builder(world).extents(&ranges);
        builder.build::<f64>().map(drop).unwrap_err()
    });
    let errors = errors.unwrap();
    let BuildError::Memory { rank, bytes } = errors[0] else {
        panic!("{}", errors[0]);
    };
    // At least 16 bytes for each range of each rank; more on a rank that forwards ranges.
    assert!(rank < RANKS && bytes >= 16 * u128::from(RANGES) * RANKS as u128);
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
}

/// One rank builds a plan without messages, and runs it; the other builds the plan by agreement.
#[test]
fn ranks_in_different_calls_are_told_which() {
    let rule = Distribution::lower(4, 2).unwrap();
    let texts = threads::run(2, |world| {
        let builder = Plan::builder(world).distribution(&rule);
        if world.rank() == 0 {
            return builder.build::<f64>().map(drop).unwrap_err().to_string();
        }
        let plan = builder.agreed().build::<f64>().unwrap();
        let error = plan.allreduce(&[1.0, 2.0]).unwrap_err();
        error.to_string()
    });
    let texts = texts.unwrap();
    assert_eq!(
        texts[0],
        "rank 0 is building a plan, but rank 1 is in run 1 (allreduce) of that plan: all ranks must make the same calls in the same order"
    );
    let others = [
        "rank 1 is in run 1 (allreduce) of this plan, but rank 0 is in the construction: all ranks must make the same calls in the same order",
        "rank 0 failed in this reduction",
    ];
    assert!(others.contains(&&*texts[1]), "{}", texts[1]);
}

/// A program's own message arrives in place of a plan's.
#[test]
fn a_program_s_own_message_is_told_from_a_plan_s() {
    let rule = Distribution::lower(4, 2).unwrap();
    for seed in 0..20 {
        let texts = threads::run_seeded(2, seed, |world| {
            if world.rank() == 0 {
                let tag = world.fresh_tag().unwrap().with_exchange(3, 14);
                let sent = world.transport().start_send(1, tag, vec![0; 24], 24);
                world.transport().wait(sent.unwrap()).unwrap();
                return String::new();
            }
            let plan = Plan::builder(world).distribution(&rule).agreed();
            let plan = plan.build::<f64>().unwrap();
            plan.allreduce(&[1.0, 2.0]).unwrap_err().to_string()
        });
        assert_eq!(
            texts.unwrap()[1],
            "rank 1 awaits exchange 1 of conversation 1 (kind 1), but rank 0 has sent exchange 3 of conversation 1 (kind 14): all ranks must make the same calls in the same order"
        );
    }
}

/// One rank measures the link while the other builds a plan. Their first messages meet.
#[test]
fn a_measurement_is_told_from_a_plan() {
    for measuring in 0..2 {
        let texts = threads::run(2, |world| {
            if world.rank() == measuring {
                world.measure_link().unwrap_err().to_string()
            } else {
                let builder = Plan::builder(world).local_items(1);
                builder.build::<f64>().map(drop).unwrap_err().to_string()
            }
        });
        let told = "all ranks must make the same calls in the same order";
        let texts = texts.unwrap();
        // If each waits for the other's first message, neither can detect the mismatch.
        let is_told = |text: &String| text.ends_with(told) || text.starts_with("deadlock: ");
        assert!(texts.iter().any(is_told), "{texts:?}");
        assert!(measuring == 1 || texts.iter().any(|text| text.ends_with(told)));
    }
}

#[test]
fn numbers_agree_with_their_nouns() {
    let error = threads::run(1, |world| {
        let builder = Plan::builder(world).local_items(1).root(1);
        let root = builder.build::<f64>().unwrap_err().to_string();
        let items = Plan::builder(world).local_items(2).items(1);
        let items = items.build::<f64>().unwrap_err().to_string();
        let plan = Plan::builder(world).local_items(1).build::<f64>().unwrap();
        let length = plan.allreduce(&[1.0; 3]).unwrap_err().to_string();
        [root, items, length]
    });
    assert_eq!(
        error.unwrap()[0],
        [
            "root 1 does not exist, because the world has 1 rank",
            "rank 0 expects 1 item, but the ranks have 2 in all",
            "rank 0: the plan is for 1 element on this rank, not 3",
        ]
    );
}

/// An error shows items times width in full, even if no `u64` can hold the product.
#[test]
fn a_planned_length_is_told_whole() {
    threads::run(1, |world| {
        let rule = Distribution::lower(u64::MAX, 1).unwrap();
        let plan = Plan::builder(world).distribution(&rule).width(10);
        let plan = plan.build::<f64>().unwrap();
        let error = plan.allreduce_into(&[1.0], &mut [0.0; 10]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "rank 0: the plan is for 184467440737095516150 elements on this rank, not 1"
        );
    })
    .unwrap();
    let error = Partial::new(&[1.0; 5], u64::MAX - 1, 5, &reduce::Sum).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there are no items 18446744073709551614..18446744073709551619: the items are 0..5"
    );
}

#[test]
fn names_of_operators_are_told_in_one_line() {
    let operator = |name: &str| custom(name.to_owned(), |left: f64, right: f64| left.max(right));
    let texts = threads::run(2, |world| {
        let builder = || Plan::builder(world).local_items(0);
        let empty = builder().operator(operator("max\r\n\u{1b}[2J"));
        let empty = empty.build::<f64>().unwrap_err().to_string();
        let other = builder().operator(operator(["max\0", "max"][world.rank()]));
        let other = other.build::<f64>().unwrap_err().to_string();
        let plan = Plan::builder(world).local_items(1).operator(operator("\t"));
        let plan = plan.build::<f64>().unwrap();
        [
            empty,
            other,
            plan.to_string().lines().next().unwrap().to_owned(),
        ]
    });
    let texts = texts.unwrap();
    assert_eq!(
        texts[0][0],
        r"there are no items on any rank, and `max\r\n\u{1b}[2J` has no empty value"
    );
    assert_eq!(
        texts[1][1],
        r"ranks disagree on the operator: rank 0 has max\u{0}; rank 1 has max"
    );
    assert!(
        texts[0][2].starts_with(r"rank 0 of 2: \t of 2 items"),
        "{}",
        texts[0][2]
    );
    let error = "ring\u{7}".parse::<Algorithm>().unwrap_err().to_string();
    assert!(
        error.starts_with(r"unknown algorithm `ring\u{7}`; known: "),
        "{error}"
    );
}

#[test]
fn zeros_are_refused_in_a_sentence_each() {
    let text = |build: fn(Builder) -> Builder| refused(build).to_string();
    assert_eq!(
        text(|builder| builder.width(0)),
        "the width is 0, but an item has at least one element"
    );
    assert_eq!(
        text(|builder| builder.message_limit(0)),
        "the message limit is 0, but a message has at least one element"
    );
    threads::run(2, |world| {
        let builder = Plan::builder(world).local_items(1);
        let operator = custom("first", |left: [f64; 0], _| left);
        let error = builder.operator(operator).build::<[f64; 0]>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "an element of type `[f64; 0]` takes no memory, so there is nothing to reduce"
        );
    })
    .unwrap();
}

#[test]
fn a_disagreement_is_told_so_that_values_differ() {
    let texts = |build: fn(&World) -> BuildError| {
        let texts = threads::run(2, |world| build(world).to_string()).unwrap();
        assert_eq!(texts[0], texts[1]);
        texts[0].clone()
    };
    let roots = texts(|world| {
        let builder = Plan::builder(world).local_items(1).root(world.rank());
        builder.build::<f64>().unwrap_err()
    });
    assert_eq!(
        roots,
        "ranks disagree on the root: rank 0 has 0; rank 1 has 1"
    );
    // The names have the same beginning and the same end.
    let names = texts(|world| {
        let (beginning, end) = ("add ".repeat(100), " add".repeat(100));
        let name = format!("{beginning}{}{end}", world.rank());
        let operator = custom(name, |left: f64, right| left + right);
        let builder = Plan::builder(world).local_items(1).operator(operator);
        builder.build::<f64>().unwrap_err()
    });
    let values = names.split_once("rank 0 has ").unwrap().1;
    let (first, second) = values.split_once("; rank 1 has ").unwrap();
    assert!(first.starts_with("add add ") && second.starts_with("add add "));
    assert_ne!(first, second);
    assert!(names.len() < 500, "{names}");
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

/// Even with other runs in flight, all ranks' errors name the lost rank. No error names a rank that has only learned of the loss. A slow rank
/// is notified while it still builds its plans.
#[test]
fn all_ranks_name_the_one_that_left() {
    for ranks in 3..7 {
        let gone = ranks / 2;
        let body = |world: &World| {
            let algorithms = [Algorithm::Ring, Algorithm::Binomial, Algorithm::Direct];
            let builds = algorithms.into_iter().map(|algorithm| {
                let builder = Plan::builder(world).local_items(1).algorithm(algorithm);
                builder.build::<f64>()
            });
            let plans = match builds.collect::<Result<Vec<_>, BuildError>>() {
                Ok(plans) => plans,
                Err(error) => {
                    assert_eq!(error.lost_ranks(), Some(&[gone][..]), "{error}");
                    return;
                }
            };
            if world.rank() == gone {
                return;
            }
            let runs: Vec<_> = plans
                .iter()
                .map(|plan| plan.start_allreduce(&[1.0]))
                .collect();
            for run in runs {
                let error = run.and_then(|run| run.wait()).unwrap_err();
                assert_eq!(error.lost_ranks(), Some(&[gone][..]), "{error}");
            }
        };
        threads::run(ranks, body).unwrap();
        for seed in 0..100 {
            threads::run_seeded(ranks, seed, body)
                .unwrap_or_else(|error| panic!("seed {seed}, p = {ranks}: {error}"));
        }
    }
}

/// If the other rank leaves, a loop of tests ends with an error, as a wait does.
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

/// A rank that has sent all its messages may leave, and the run continues on the other ranks.
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

/// Makes a call, and returns whether it succeeds.
type Call = fn(&Plan<f64, Panicking>) -> bool;

/// Rank 0 drops a run in which rank 1 waits for rank 0, and leaves. Rank 1, which waits for rank 2 in another plan, gets that plan's result.
#[test]
fn a_run_that_cannot_end_does_not_end_another() {
    threads::run(3, |world| {
        let rows = Plan::builder(world).local_items(1).width(3);
        let dropped = rows.algorithm(Algorithm::Ring).build::<f64>().unwrap();
        let kept = Plan::builder(world).local_items(1).root(1);
        let kept = kept.algorithm(Algorithm::Direct).build::<f64>().unwrap();
        if world.rank() == 2 {
            std::thread::sleep(Duration::from_millis(100));
        }
        let pending = dropped.start_allreduce_row(&[1.0; 3]).unwrap();
        let sum = kept.reduce(&[1.0]);
        drop(pending);
        assert_eq!(sum, Ok((world.rank() == 1).then_some(3.0)));
    })
    .unwrap();
}

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

/// An operator that panics.
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
    // For other types, the program declares the canonical form.
    let pairs = || custom("later", |_: [f64; 2], right: [f64; 2]| right);
    let as_it_is = reduce::fold(&[[payload; 2]], &pairs()).unwrap();
    assert_eq!(as_it_is.map(f64::to_bits), [payload.to_bits(); 2]);
    let without_nan = |pair: [f64; 2]| pair.map(|part| if part.is_nan() { f64::NAN } else { part });
    let same = reduce::fold(&[[payload; 2]], &pairs().with_canonical(without_nan)).unwrap();
    assert_eq!(same.map(f64::to_bits), [f64::NAN.to_bits(); 2]);
}
