//! Checks every algorithm and collective on 1 to 64 ranks and on corner cases up to 300, and compares their rounds and messages
//! with the published ones.

use schedule::{Algorithm, Collective, Parameters, Report, Schedule};

use super::common::{checked, dissemination_rounds, log2_up};

/// Every p up to 64, numbers near powers of two and near Fibonacci numbers, where trees change, and some others.
fn ranks_met() -> impl Iterator<Item = usize> {
    let beyond = [
        65, 88, 89, 90, 100, 127, 128, 129, 143, 144, 145, 233, 234, 241, 255, 256, 257, 300,
    ];
    (1..=64).chain(beyond)
}

/// Every root if there are few ranks, otherwise the first, the last and some between.
fn roots(ranks: usize) -> Vec<usize> {
    if ranks <= 40 {
        (0..ranks).collect()
    } else {
        vec![0, 1, ranks / 3, ranks / 2, ranks - 2, ranks - 1]
    }
}

#[track_caller]
fn report(algorithm: Algorithm, collective: Collective, ranks: usize) -> Report {
    checked(algorithm, collective, ranks, Parameters::default())
}

/// k = floor(log2 p) and q = p - 2^k.
fn core(ranks: usize) -> (usize, usize) {
    let k = ranks.ilog2() as usize;
    (k, ranks - (1 << k))
}

/// The least i with fib(i + 3) > p (paper 5).
fn fibonacci_rounds(ranks: usize) -> usize {
    let (mut i, mut fib, mut next) = (0, 2, 3);
    while fib <= ranks {
        (i, fib, next) = (i + 1, next, fib + next);
    }
    i
}

#[test]
fn reduce_and_broadcast() {
    for ranks in ranks_met() {
        let (k, q) = core(ranks);
        for root in roots(ranks) {
            for collective in [Collective::Reduce { root }, Collective::Broadcast { root }] {
                for &algorithm in Algorithm::ALL {
                    let found = report(algorithm, collective, ranks);
                    let is_reduce = matches!(collective, Collective::Reduce { .. });
                    if algorithm == Algorithm::ReduceScatterGather && is_reduce {
                        let passes = usize::from(root < 2 * q && root % 2 == 1);
                        let rounds = 2 * k + usize::from(q > 0) + passes;
                        assert_eq!(found.rounds, rounds, "p = {ranks}, root {root}");
                        assert_eq!(found.messages, (k << k) + (1 << k) - 1 + q + passes);
                        continue;
                    }
                    assert_eq!(found.messages, ranks - 1);
                    match algorithm {
                        // The root exchanges messages with all others in one step.
                        Algorithm::Direct => assert_eq!(found.rounds, usize::from(ranks > 1)),
                        Algorithm::Fibonacci if is_reduce => {
                            assert_eq!(found.rounds, fibonacci_rounds(ranks), "p = {ranks}");
                        }
                        Algorithm::Fibonacci => {
                            assert!(found.rounds <= fibonacci_rounds(ranks) + 1)
                        }
                        Algorithm::Binary => assert!(found.rounds <= 2 * k),
                        Algorithm::LinearPipelined | Algorithm::LinearDoublyPipelined => {
                            assert_eq!(found.rounds, ranks - 1);
                        }
                        Algorithm::BinaryPipelined
                        | Algorithm::BinaryDoublyPipelined
                        | Algorithm::DualRoot
                        | Algorithm::TwoTree => assert!(found.rounds <= 2 * k),
                        // Each level rounds its number of rounds up.
                        Algorithm::Hierarchical => assert!(found.rounds <= log2_up(ranks) + 1),
                        _ => assert_eq!(
                            (found.rounds, found.steps),
                            (log2_up(ranks), log2_up(ranks))
                        ),
                    }
                }
            }
        }
    }
}

#[test]
fn allreduce() {
    for ranks in ranks_met() {
        let (k, q) = core(ranks);
        let log2 = log2_up(ranks);
        let folded = if q > 0 { 2 } else { 0 };
        for &algorithm in Algorithm::ALL {
            let found = report(algorithm, Collective::Allreduce, ranks);
            let expected = match algorithm {
                Algorithm::Direct => (usize::from(ranks > 1), ranks * (ranks - 1)),
                Algorithm::Binomial | Algorithm::ReduceBroadcast => (2 * log2, 2 * (ranks - 1)),
                Algorithm::Fibonacci | Algorithm::Binary | Algorithm::BinaryPipelined => {
                    (found.rounds, 2 * (ranks - 1))
                }
                // Rows have one block here; other tests use more.
                Algorithm::LinearPipelined => (2 * (ranks - 1), 2 * (ranks - 1)),
                Algorithm::LinearDoublyPipelined
                | Algorithm::BinaryDoublyPipelined
                | Algorithm::TwoTree
                | Algorithm::DualRoot => (found.rounds, found.messages),
                Algorithm::Dissemination => (dissemination_rounds(2, ranks), found.messages),
                Algorithm::Hierarchical => {
                    let nodes = ranks.div_ceil(4);
                    let (k, q) = core(nodes);
                    let folded = if q > 0 { 2 } else { 0 };
                    let inner = log2_up(ranks.min(4));
                    let messages = 2 * (ranks - nodes) + (k << k) + 2 * q;
                    assert!(found.rounds <= 2 * inner + k + folded);
                    (found.rounds, messages)
                }
                Algorithm::RecursiveDoubling | Algorithm::PairwiseExchange => {
                    (k + folded, (k << k) + 2 * q)
                }
                Algorithm::ReduceScatterGather => (
                    2 * k + usize::from(q > 0) + log2,
                    (k << k) + (1 << k) - 1 + q + ranks - 1,
                ),
                Algorithm::Rabenseifner => (2 * k + folded, ((2 * k) << k) + 2 * q),
                Algorithm::Bruck => (log2, ranks * log2),
                Algorithm::Ring => (2 * (ranks - 1), 2 * ranks * (ranks - 1)),
                Algorithm::Circulant => (2 * log2, 2 * ranks * log2),
                other => panic!("{other} has no published rounds and messages here"),
            };
            assert_eq!(
                (found.rounds, found.messages),
                expected,
                "{algorithm}, p = {ranks}"
            );
        }
    }
}

#[test]
fn scan() {
    for ranks in ranks_met() {
        let direct = report(Algorithm::Direct, Collective::Scan, ranks);
        assert_eq!(direct.messages, ranks * (ranks - 1) / 2);
        for algorithm in [Algorithm::Binomial, Algorithm::RecursiveDoubling] {
            let doubling = report(algorithm, Collective::Scan, ranks);
            assert_eq!(doubling.rounds, log2_up(ranks), "p = {ranks}");
        }
    }
}

#[test]
fn reduce_scatter() {
    for ranks in ranks_met() {
        let (k, q) = core(ranks);
        let log2 = log2_up(ranks);
        let folded = if q > 0 { 2 } else { 0 };
        for &algorithm in Algorithm::ALL {
            let found = report(algorithm, Collective::ReduceScatter, ranks);
            let expected = match algorithm {
                Algorithm::Direct => (usize::from(ranks > 1), ranks * (ranks - 1)),
                Algorithm::Binomial | Algorithm::ReduceBroadcast => (2 * log2, 2 * (ranks - 1)),
                Algorithm::Fibonacci | Algorithm::Binary => (found.rounds, 2 * (ranks - 1)),
                Algorithm::Ring => (ranks - 1, ranks * (ranks - 1)),
                Algorithm::Circulant => (log2, ranks * log2),
                _ => (k + folded, (k << k) + 2 * q),
            };
            assert_eq!(
                (found.rounds, found.messages),
                expected,
                "{algorithm}, p = {ranks}"
            );
        }
    }
}

/// A position's steps follow from p and its number alone, so even a million other positions cost nothing.
#[test]
fn one_position_of_a_million() {
    for position in [0, 1, 95_000, 95_001, 524_287, 999_999] {
        let schedule = Schedule::new(
            Algorithm::RecursiveDoubling,
            Collective::Allreduce,
            1_000_000,
        )
        .unwrap();
        let transfers = schedule
            .steps(position)
            .map(|step| step.sends.len() + step.receives.len());
        assert!(transfers.fold(0, |sum, count| sum + count) <= 2 * 20 + 2);
    }
}
