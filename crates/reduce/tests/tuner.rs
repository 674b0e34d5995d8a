//! Tests that all ranks choose the same schedule, which a program or an environment variable can name, and that no schedule changes a bit.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::env;
use std::process::Command;

use proptest::prelude::*;
use proptest::sample::select;
use reduce::threads;
use reduce::{ALGORITHM_VARIABLE, Algorithm, DEFAULT_LINK, Link, Network, Operation, Plan};

fn scheduled() -> Vec<Algorithm> {
    let all = Algorithm::all();
    all.filter(|algorithm| algorithm.is_scheduled()).collect()
}

fn level() -> impl Strategy<Value = Algorithm> {
    let levels = scheduled().into_iter();
    select(
        levels
            .filter(|&algorithm| algorithm != Algorithm::Hierarchical)
            .collect::<Vec<_>>(),
    )
}

fn link() -> impl Strategy<Value = Link> {
    (1.0..1e5, 1e-3..100.0, 1e-3..10.0).prop_map(|(latency_ns, byte_ns, combine_byte_ns)| Link {
        latency_ns,
        byte_ns,
        combine_byte_ns,
    })
}

/// Rows whose sums depend on the order.
fn rows(count: usize, width: usize) -> Vec<f64> {
    let values = (1..=(count * width) as u64).map(|i| 1.0 / (i * i % 1009) as f64);
    values
        .map(|value| if value.is_finite() { value } else { 1e9 })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_choice_changes_bits(
        ranks in 1..14_usize,
        count in 1..200_usize,
        width in prop_oneof![1..40_usize, 250..400_usize],
        named in proptest::option::of(select(scheduled())),
        blocks in proptest::option::of(1..12_usize),
        ports in proptest::option::of(1..6_usize),
        node_ranks in proptest::option::of(1..6_usize),
        inner in level(),
        outer in level(),
        link in link(),
    ) {
        let items = rows(count, width);
        let mut expected = vec![0.0; width];
        reduce::sum_rows(&items, width, &mut expected).unwrap();
        let found = threads::run(ranks, |world| {
            let distribution = distribution::Distribution::lower(count as u64, ranks).unwrap();
            let mut builder = Plan::builder(world)
                .distribution(&distribution)
                .width(width)
                .levels(inner, outer)
                .network(link);
            if let Some(named) = named {
                builder = builder.algorithm(named);
            }
            if let Some(blocks) = blocks {
                builder = builder.blocks(blocks);
            }
            if let Some(ports) = ports {
                builder = builder.ports(ports);
            }
            if let Some(node_ranks) = node_ranks {
                builder = builder.node_ranks(node_ranks);
            }
            let plan = builder.build::<f64>().unwrap();
            let own = distribution.range(world.rank());
            let [start, end] =
                [own.start, own.end].map(|item| usize::try_from(item).unwrap() * width);
            let mut result = vec![0.0; width];
            plan.allreduce_into(&items[start..end], &mut result)
                .unwrap();
            let algorithm = plan.algorithm(Operation::Allreduce).unwrap();
            (algorithm, plan.blocks(), result)
        })
        .unwrap();
        let bits = |row: &[f64]| -> Vec<u64> { row.iter().map(|value| value.to_bits()).collect() };
        for (algorithm, found_blocks, result) in &found {
            // All ranks choose the same algorithm. If an algorithm is named, they choose that one.
            prop_assert_eq!((algorithm, found_blocks), (&found[0].0, &found[0].1));
            // For some numbers of ranks and ports, `dissemination` does not adapt, and `bruck` runs instead.
            let is_named = |named| {
                named == *algorithm
                    || (named, *algorithm) == (Algorithm::Dissemination, Algorithm::Bruck)
            };
            prop_assert!(named.is_none_or(is_named));
            prop_assert!(blocks.is_none_or(|blocks| blocks == *found_blocks));
            prop_assert_eq!(bits(result), bits(&expected));
        }
    }
}

/// The first line of the printed plan for one row of `width` doubles on each rank.
fn first_line(ranks: usize, width: usize, link: Link) -> String {
    let lines = threads::run(ranks, |world| {
        let builder = Plan::builder(world)
            .local_items(1)
            .width(width)
            .network(link);
        builder.build::<f64>().unwrap().to_string()
    });
    let line = lines.unwrap().remove(0);
    line.lines().next().unwrap().to_owned()
}

#[test]
fn long_rows_go_another_way_than_short_ones() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        println!("skipped: ranks take turns on one core");
        return;
    }
    let slow = Link {
        latency_ns: 1000.0,
        ..DEFAULT_LINK
    };
    let short = first_line(2, 1, slow);
    assert!(short.ends_with("by recursive-doubling"), "{short}");
    let long = first_line(2, 1_000_000, slow);
    assert!(!long.contains("recursive-doubling"), "{long}");
}

#[test]
fn ranks_that_take_turns_send_few_messages() {
    let line = first_line(64, 1, DEFAULT_LINK);
    assert!(line.ends_with("by binomial"), "{line}");
}

/// Plans choose few rounds between nodes if messages between nodes take long, but few messages if concurrent messages slow each other down.
#[test]
fn far_nodes_go_another_way_than_near_ones() {
    let line = |ranks, delay_ns, crowding_ns| {
        let network = Network {
            far: Link {
                latency_ns: delay_ns,
                ..DEFAULT_LINK
            },
            node_ranks: 2,
            crowding_ns,
            port_ranks: ranks,
            ..Network::from(DEFAULT_LINK)
        };
        let lines = threads::run(ranks, |world| {
            let builder = Plan::builder(world).local_items(1).network(network);
            builder.build::<f64>().unwrap().to_string()
        });
        let line = lines.unwrap().remove(0);
        let line = line.lines().next().unwrap();
        let (_, choice) = line.split_once(", by ").unwrap();
        choice.to_owned()
    };
    let direct = "hierarchical (nodes of 2, binomial within, direct between)";
    assert_eq!(line(8, 5e6, 2e4), direct);
    let doubling = "hierarchical (nodes of 2, binomial within, recursive-doubling between)";
    assert_eq!(line(16, 1e5, 2e4), doubling);
    // All ranks are on one node.
    let one = line(2, 5e6, 2e4);
    assert!(!one.contains("hierarchical"), "{one}");
}

#[test]
fn remarks_are_printed() {
    let line = |build: fn(reduce::Builder) -> reduce::Builder| {
        let lines = threads::run(13, |world| {
            let builder = Plan::builder(world).local_items(1).width(10);
            build(builder).build::<f64>().unwrap().to_string()
        });
        let line = lines.unwrap().remove(0);
        line.lines().next().unwrap().to_owned()
    };
    let found = line(|builder| builder.algorithm(Algorithm::TwoTree).blocks(4));
    assert!(found.ends_with("by two-tree (4 blocks)"), "{found}");
    let found = line(|builder| builder.algorithm(Algorithm::Dissemination).ports(1));
    let words = "(n = 1 does not adapt to 13 ranks; runs bruck with the same n)";
    assert!(found.ends_with(words), "{found}");
    let found = line(|builder| {
        let builder = builder.algorithm(Algorithm::Hierarchical).node_ranks(8);
        builder.levels(Algorithm::Direct, Algorithm::Ring)
    });
    let words = "(nodes of 8, direct within, ring between)";
    assert!(found.ends_with(words), "{found}");
}

#[test]
fn wrong_hints_are_errors_on_every_rank() {
    let error = |build: fn(reduce::Builder) -> reduce::Builder| {
        let errors = threads::run(3, |world| {
            let builder = Plan::builder(world).local_items(1);
            build(builder).build::<f64>().unwrap_err().to_string()
        });
        let mut errors = errors.unwrap();
        errors.dedup();
        assert_eq!(errors.len(), 1);
        errors.remove(0)
    };
    let found = error(|builder| builder.blocks(0));
    assert!(
        found.contains("the number of blocks must be at least 1"),
        "{found}"
    );
    let found = error(|builder| builder.ports(0));
    assert!(
        found.contains("the number of ports must be at least 1"),
        "{found}"
    );
    let found = error(|builder| builder.node_ranks(0));
    assert!(found.contains("the number of ranks of a node"), "{found}");
    let found = error(|builder| builder.levels(Algorithm::Hierarchical, Algorithm::Ring));
    assert!(
        found.contains("cannot be hierarchical themselves"),
        "{found}"
    );
    let found = error(|builder| builder.levels(Algorithm::Algorithm1, Algorithm::Ring));
    assert!(found.contains("`algorithm1` is not a schedule"), "{found}");
}

#[test]
fn ranks_that_say_different_things_hear_of_it() {
    let errors = threads::run(3, |world| {
        let blocks = 1 + world.rank() / 2;
        let builder = Plan::builder(world).local_items(1).blocks(blocks);
        builder.build::<f64>().unwrap_err().to_string()
    });
    for error in errors.unwrap() {
        assert!(error.contains("parameters of the algorithm"), "{error}");
        assert!(error.contains("blocks: 2"), "{error}");
    }
}

#[test]
fn a_link_is_measured_alike() {
    let links = threads::run(3, |world| world.measure_link().unwrap()).unwrap();
    assert!(links.iter().all(|link| *link == links[0]));
    assert!(links[0].near.latency_ns > 0.0 && links[0].near.byte_ns > 0.0);
    assert!(threads::run(1, |world| world.measure_link().unwrap()).is_ok());
}

/// A command that runs this executable as cargo does: in an emulator, if it was built for another architecture.
fn this_executable() -> Command {
    let executable = env::current_exe().unwrap();
    let runner = env::vars().find_map(|(name, value)| {
        let is_runner = name.starts_with("CARGO_TARGET_") && name.ends_with("_RUNNER");
        is_runner.then_some(value)
    });
    let Some(runner) = runner else {
        return Command::new(executable);
    };
    let mut words = runner.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    command.args(words).arg(executable);
    command
}

/// An environment variable applies to the whole process, so each case runs in a process of its own.
#[test]
fn the_environment_names_the_algorithm() {
    if let Ok(expected) = env::var("TREEFOLD_TEST_EXPECTS") {
        let items = [0.1, 1e20, -1e20, 0.3, 0.7];
        let found = threads::run(5, |world| {
            let builder = Plan::builder(world).local_items(1);
            match builder.build::<f64>() {
                Ok(plan) => {
                    let total = plan.allreduce(&items[world.rank()..][..1]).unwrap();
                    // The variable never changes the bits of a result.
                    assert_eq!(total.to_bits(), reduce::sum(&items).unwrap().to_bits());
                    plan.algorithm(Operation::Allreduce).unwrap().to_string()
                }
                Err(error) => error.to_string(),
            }
        });
        assert!(found.unwrap().iter().all(|found| found.contains(&expected)));
        let named = threads::run(2, |world| {
            let builder = Plan::builder(world).local_items(1);
            let plan = builder.algorithm(Algorithm::Direct).build::<f64>().unwrap();
            plan.algorithm(Operation::Allreduce)
        });
        assert_eq!(named.unwrap(), [Some(Algorithm::Direct); 2]);
        return;
    }
    let here = Algorithm::all().filter(|&algorithm| algorithm != Algorithm::MpiNative);
    let here = here.map(|algorithm| (algorithm.name(), algorithm.name()));
    let refused = [
        (
            "mpi-native",
            "`mpi-native` needs a transport with native reductions",
        ),
        ("fastest", "TREEFOLD_ALGORITHM: unknown algorithm `fastest`"),
        (
            "ring\n",
            r"TREEFOLD_ALGORITHM: unknown algorithm `ring\n`; known: ",
        ),
        // The algorithms that treefold is compared with are not algorithms of a plan.
        (
            "unordered",
            "TREEFOLD_ALGORITHM: unknown algorithm `unordered`",
        ),
        (
            "left-to-right",
            "TREEFOLD_ALGORITHM: unknown algorithm `left-to-right`",
        ),
    ];
    // An empty variable names no algorithm. The fastest one runs, as if the variable were not set.
    let fastest = threads::run(5, |world| {
        let plan = Plan::builder(world).local_items(1).build::<f64>().unwrap();
        plan.algorithm(Operation::Allreduce).unwrap().name()
    });
    let unset = [("", fastest.unwrap()[0])];
    for (value, expected) in here.chain(refused).chain(unset) {
        let output = this_executable()
            .args(["--exact", "the_environment_names_the_algorithm"])
            .env(ALGORITHM_VARIABLE, value)
            .env("TREEFOLD_TEST_EXPECTS", expected)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{value}: {said}"
        );
    }
}
