//! Compares the simulator with formulas, and the simulation of rank 0 alone with the simulation of all ranks.

#![allow(clippy::float_cmp, reason = "the times are exact")]
#![allow(clippy::cast_precision_loss, reason = "small numbers")]

use schedule::{
    Algorithm, Collective, Link, Load, Machine, Network, Parameters, Placement, Schedule,
    SharedPort, check, simulate, simulate_by_symmetry, simulate_unordered,
};

use super::common::{schedule, with_blocks};

/// The costs are powers of two, so that sums of times are exact.
const LINK: Link = Link {
    latency_ns: 1024.0,
    byte_ns: 0.25,
    combine_byte_ns: 0.0,
};

fn allreduce(algorithm: Algorithm, ranks: usize, blocks: usize) -> Schedule {
    schedule(algorithm, Collective::Allreduce, ranks, with_blocks(blocks))
}

/// Paper 2's Lemma 1 and its corollaries: (d + s (M - 1)) (alpha + beta m / M).
#[test]
fn pipelines_take_what_the_lemma_says() {
    let machine = Machine {
        ports: 2,
        ..Machine::flat(LINK)
    };
    for blocks in [1, 2, 4, 16, 64] {
        let row_bytes = 65_536.0;
        let block_ns = LINK.message_ns(row_bytes / blocks as f64);
        for ranks in 2..=130 {
            for &algorithm in Algorithm::ALL {
                let Some((d, s)) = algorithm.pipeline_rounds(ranks) else {
                    continue;
                };
                let schedule = allreduce(algorithm, ranks, blocks);
                let found = simulate(&schedule, &machine, row_bytes, &|_| 1).time_ns;
                // If p is odd, the second tree is shifted, and some of its messages carry two ranges.
                let is_one_range = algorithm != Algorithm::TwoTree || ranks % 2 == 0;
                if is_one_range {
                    let rounds = check(&schedule).unwrap().rounds;
                    assert_eq!(found, rounds as f64 * block_ns, "{algorithm}, p = {ranks}");
                }
                if ranks < 3 || blocks < 2 || !is_one_range {
                    continue;
                }
                let lemma = (d + s * (blocks - 1)) as f64 * block_ns;
                let is_full = (ranks + 1).is_power_of_two();
                let is_exact = match algorithm {
                    Algorithm::LinearPipelined | Algorithm::LinearDoublyPipelined => true,
                    Algorithm::BinaryPipelined => is_full,
                    Algorithm::BinaryDoublyPipelined => is_full && ranks >= 7,
                    // Each half of the ranks is a full tree.
                    Algorithm::DualRoot => {
                        ranks >= 6 && ranks % 2 == 0 && (ranks / 2 + 1).is_power_of_two()
                    }
                    _ => false,
                };
                let at = format!("{algorithm}, p = {ranks}, M = {blocks}");
                assert!(found <= lemma, "{at}: {found} > {lemma}");
                assert!(
                    !is_exact || found == lemma,
                    "{at}: {found} instead of {lemma}"
                );
            }
        }
    }
}

/// Lemma 1's best number of blocks is within 1 % of the best of all numbers.
#[test]
fn the_best_number_of_blocks() {
    for ranks in [3, 7, 16, 100] {
        for row_bytes in [64.0, 4096.0, 1e6] {
            let load = Load {
                row_bytes,
                rows: 1.0,
            };
            for &algorithm in Algorithm::ALL {
                let Some((d, s)) = algorithm.pipeline_rounds(ranks) else {
                    continue;
                };
                let lemma_ns = |blocks: usize| {
                    (d + s * (blocks - 1)) as f64 * LINK.message_ns(row_bytes / blocks as f64)
                };
                let best = algorithm.best_blocks(ranks, load, LINK, 4096);
                let least = (1..=4096).map(lemma_ns).fold(f64::INFINITY, f64::min);
                let at = format!("{algorithm}, p = {ranks}: {best} blocks");
                assert!(lemma_ns(best) <= 1.01 * least, "{at}");
            }
        }
    }
}

/// If all messages take the same time, the simulated time is the checker's number of rounds times that time.
#[test]
fn one_message_a_step_takes_the_rounds() {
    for ranks in (1..=40).chain([64, 100, 128]) {
        for algorithm in [
            Algorithm::Binomial,
            Algorithm::Fibonacci,
            Algorithm::RecursiveDoubling,
            Algorithm::PairwiseExchange,
            Algorithm::Bruck,
        ] {
            let schedule = allreduce(algorithm, ranks, 1);
            let machine = Machine::flat(Link {
                byte_ns: 0.0,
                ..LINK
            });
            let report = check(&schedule).unwrap();
            let found = simulate(&schedule, &machine, 8.0, &|_| 1);
            let time_ns = report.rounds as f64 * LINK.latency_ns;
            assert_eq!(found.time_ns, time_ns, "{algorithm}, p = {ranks}");
            assert_eq!(found.messages, Some(report.messages as u64));
        }
    }
}

/// Combining rows takes time; whole rows are only copied.
#[test]
fn combining_takes_time() {
    let link = Link {
        combine_byte_ns: 0.5,
        ..LINK
    };
    let schedule = allreduce(Algorithm::Binomial, 2, 1);
    let found = simulate(&schedule, &Machine::flat(link), 8.0, &|_| 3);
    // Three rows go up and are combined; one row goes down.
    let expected = link.message_ns(24.0) + 12.0 + link.message_ns(8.0);
    assert_eq!(found.time_ns, expected);
    assert_eq!((found.rows_mean, found.rows_max), (3.0, 3));
}

/// Each round takes the time of its links. Links within nodes are fast, links between nodes slow.
#[test]
fn two_kinds_of_links() {
    let far = Link {
        latency_ns: 10_240.0,
        ..LINK
    };
    let machine = Machine {
        near: LINK,
        far,
        node_ranks: 4,
        ..Machine::flat(LINK)
    };
    let time = |algorithm| simulate(&allreduce(algorithm, 64, 1), &machine, 8.0, &|_| 1).time_ns;
    let (near, far) = (LINK.message_ns(8.0), far.message_ns(8.0));
    assert_eq!(time(Algorithm::Hierarchical), 4.0 * near + 4.0 * far);
    assert_eq!(time(Algorithm::RecursiveDoubling), 2.0 * near + 4.0 * far);
    assert!(time(Algorithm::Hierarchical) < time(Algorithm::Bruck));
}

/// If the four ranks of a node send at once through its one port, their bytes pass one after the other. If ranks are dealt out
/// round-robin, their neighbours are on other nodes.
#[test]
fn a_node_has_one_port() {
    let schedule = allreduce(Algorithm::RecursiveDoubling, 8, 1);
    let row_bytes = 4096.0;
    let time = |shared_port, placement| {
        let machine = Machine {
            node_ranks: 4,
            shared_port,
            placement,
            ..Machine::flat(LINK)
        };
        simulate(&schedule, &machine, row_bytes, &|_| 1).time_ns
    };
    let (message, bytes) = (LINK.message_ns(row_bytes), LINK.byte_ns * row_bytes);
    let dealt = |ranks_at_once| Placement::RoundRobin {
        nodes: 2,
        ranks_at_once,
    };
    let round_robin = dealt(1);
    assert_eq!(time(SharedPort::None, Placement::Block), 3.0 * message);
    // The last round crosses nodes: four messages each way.
    assert_eq!(
        time(SharedPort::Node, Placement::Block),
        3.0 * message + 3.0 * bytes
    );
    // The first round crosses nodes, and the next rounds wait for the rank whose message was last.
    assert_eq!(
        time(SharedPort::Node, round_robin),
        3.0 * message + 3.0 * bytes
    );
    assert_eq!(
        time(SharedPort::Node, dealt(2)),
        3.0 * message + 3.0 * bytes
    );
    assert_eq!(
        time(SharedPort::Node, dealt(4)),
        time(SharedPort::Node, Placement::Block)
    );
    let far = Link {
        latency_ns: 10_240.0,
        ..LINK
    };
    let neighbours = |placement| {
        let machine = Machine {
            far,
            node_ranks: 2,
            placement,
            ..Machine::flat(LINK)
        };
        let two = allreduce(Algorithm::RecursiveDoubling, 4, 1);
        simulate(&two, &machine, 0.0, &|_| 1).time_ns
    };
    assert_eq!(neighbours(Placement::Block), neighbours(round_robin));
}

/// A shared port costs nothing if its node has one rank and a step has one message each way.
#[test]
fn a_port_of_ones_own() {
    for algorithm in [
        Algorithm::Binomial,
        Algorithm::RecursiveDoubling,
        Algorithm::Rabenseifner,
        Algorithm::LinearPipelined,
    ] {
        for ranks in [2, 7, 16, 33] {
            let schedule = allreduce(algorithm, ranks, 4);
            let shared = Machine {
                shared_port: SharedPort::Node,
                ..Machine::flat(LINK)
            };
            let time = |machine| simulate(&schedule, machine, 4096.0, &|_| 1).time_ns;
            assert_eq!(
                time(&Machine::flat(LINK)),
                time(&shared),
                "{algorithm}, p = {ranks}"
            );
        }
    }
}

/// Without an order, a message of two ranges is one row.
#[test]
fn ranges_that_do_not_touch_are_one_row_without_order() {
    let link = Link {
        latency_ns: 0.0,
        byte_ns: 1.0,
        combine_byte_ns: 0.0,
    };
    let schedule = allreduce(Algorithm::PairwiseExchange, 6, 1);
    let machine = Machine::flat(link);
    // There are two rounds, and a message before and after them. In the rounds, ranks 0 and 1 send two ranges.
    assert_eq!(simulate(&schedule, &machine, 1.0, &|_| 1).time_ns, 6.0);
    assert_eq!(simulate_unordered(&schedule, &machine, 1.0).time_ns, 4.0);
    let neighbours = allreduce(Algorithm::RecursiveDoubling, 6, 1);
    let time = simulate(&neighbours, &machine, 1.0, &|_| 1).time_ns;
    assert_eq!(simulate_unordered(&neighbours, &machine, 1.0).time_ns, time);
}

/// Above 4096 ranks, only rank 0 of these schedules is simulated. On fewer ranks, the result equals that of the full simulation.
#[test]
fn one_rank_for_all() {
    for algorithm in [
        Algorithm::Direct,
        Algorithm::Ring,
        Algorithm::Circulant,
        Algorithm::Rabenseifner,
        Algorithm::ReduceScatterGather,
    ] {
        for ranks in [2, 8, 64, 100, 256] {
            let schedule = allreduce(algorithm, ranks, 1);
            let machine = Machine::flat(LINK);
            let all = simulate(&schedule, &machine, 65_536.0, &|_| 1).time_ns;
            let one = simulate_by_symmetry(&schedule, &machine, 65_536.0, &|_| 1).time_ns;
            let ratio = one / all;
            assert!(
                (ratio - 1.0).abs() <= 1e-9,
                "{algorithm}, p = {ranks}: {ratio}"
            );
        }
    }
}

/// The formulas by which plans choose schedules are close to the simulated times.
#[test]
fn predictions_are_near_simulations() {
    for ranks in [2, 3, 8, 17, 64] {
        for row_bytes in [8.0, 8192.0, 8e6] {
            let load = Load {
                row_bytes,
                rows: 1.0,
            };
            for &algorithm in Algorithm::ALL {
                let blocks = algorithm.best_blocks(ranks, load, LINK, 1000);
                let schedule = allreduce(algorithm, ranks, blocks);
                let found = simulate(&schedule, &Machine::flat(LINK), row_bytes, &|_| 1).time_ns;
                let ratio = schedule.predicted_ns(load, LINK) / found;
                let at = format!("{algorithm}, p = {ranks}, m = {row_bytes}");
                assert!((0.4..2.6).contains(&ratio), "{at}: {ratio}");
            }
        }
    }
}

/// On networks of nodes in which the delay between nodes or the crowding dominates, predicted times are 1.00 to 1.33 times the simulated.
#[test]
fn predictions_between_nodes_are_near_the_simulation() {
    let near = Link {
        latency_ns: 1000.0,
        ..LINK
    };
    let load = Load {
        row_bytes: 8.0,
        rows: 1.0,
    };
    for (delay_ns, crowding_ns) in [(1e5, 100.0), (1e6, 2e4), (5e6, 2e4)] {
        for (node_ranks, nodes) in [(1, 8), (2, 4), (2, 8), (4, 4), (4, 3), (8, 16)] {
            for shares_cores in [false, true] {
                let ranks = node_ranks * nodes;
                let network = Network {
                    near,
                    far: Link {
                        latency_ns: delay_ns,
                        ..LINK
                    },
                    node_ranks,
                    crowding_ns,
                    port_ranks: if shares_cores { ranks } else { node_ranks },
                };
                for algorithm in [
                    Algorithm::Direct,
                    Algorithm::RecursiveDoubling,
                    Algorithm::Binomial,
                    Algorithm::Rabenseifner,
                    Algorithm::Hierarchical,
                ] {
                    for outer in [Algorithm::RecursiveDoubling, Algorithm::Direct] {
                        let parameters = Parameters {
                            node_ranks,
                            outer,
                            ..Parameters::default()
                        };
                        let schedule =
                            schedule(algorithm, Collective::Allreduce, ranks, parameters);
                        let machine = Machine::of(&network, ranks);
                        let simulated = simulate(&schedule, &machine, 8.0, &|_| 1).time_ns;
                        let ratio = schedule.predicted_ns(load, network) / simulated;
                        assert!(
                            (0.99..1.34).contains(&ratio),
                            "{schedule} {node_ranks}x{nodes} {network}: {ratio:.2} of {simulated:.0}"
                        );
                    }
                }
            }
        }
    }
}
