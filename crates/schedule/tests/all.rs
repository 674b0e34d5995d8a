//! Every algorithm and collective for every p from 1 to 300, and their published rounds and messages.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use schedule::{Algorithm, Collective, Report, Schedule, check};

const RANKS_MAX: usize = 300;

/// ceil(log2 p).
fn log2_up(ranks: usize) -> usize {
    ranks.next_power_of_two().ilog2() as usize
}

/// Every root of a few ranks; the corners and some between of many.
fn roots(ranks: usize) -> Vec<usize> {
    if ranks <= 40 {
        (0..ranks).collect()
    } else {
        vec![0, 1, ranks / 3, ranks / 2, ranks - 2, ranks - 1]
    }
}

#[track_caller]
fn report(algorithm: Algorithm, collective: Collective, ranks: usize) -> Report {
    let schedule = Schedule::new(algorithm, collective, ranks).unwrap();
    check(&schedule)
        .unwrap_or_else(|violation| panic!("{algorithm}, {collective:?}, p = {ranks}: {violation}"))
}

#[test]
fn reduce_and_broadcast() {
    for ranks in 1..=RANKS_MAX {
        for root in roots(ranks) {
            for collective in [Collective::Reduce { root }, Collective::Broadcast { root }] {
                let direct = report(Algorithm::Direct, collective, ranks);
                assert_eq!(
                    (direct.rounds, direct.messages),
                    (usize::from(ranks > 1), ranks - 1)
                );
                for algorithm in [Algorithm::Binomial, Algorithm::RecursiveDoubling] {
                    let tree = report(algorithm, collective, ranks);
                    assert_eq!((tree.rounds, tree.messages), (log2_up(ranks), ranks - 1));
                }
            }
        }
    }
}

#[test]
fn allreduce() {
    for ranks in 1..=RANKS_MAX {
        let collective = Collective::Allreduce;
        let direct = report(Algorithm::Direct, collective, ranks);
        assert_eq!(direct.messages, ranks * (ranks - 1));
        let tree = report(Algorithm::Binomial, collective, ranks);
        assert_eq!(
            (tree.rounds, tree.messages),
            (2 * log2_up(ranks), 2 * (ranks - 1))
        );
        let doubling = report(Algorithm::RecursiveDoubling, collective, ranks);
        let k = ranks.ilog2() as usize;
        let q = ranks - (1 << k);
        let rounds = k + if q > 0 { 2 } else { 0 };
        assert_eq!(
            (doubling.rounds, doubling.messages),
            (rounds, (k << k) + 2 * q)
        );
    }
}

#[test]
fn scan() {
    for ranks in 1..=RANKS_MAX {
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
    for ranks in (1..=64)
        .chain((65..=RANKS_MAX).step_by(13))
        .chain([256, 257, RANKS_MAX])
    {
        let collective = Collective::ReduceScatter;
        assert_eq!(
            report(Algorithm::Direct, collective, ranks).messages,
            ranks * (ranks - 1)
        );
        let tree = report(Algorithm::Binomial, collective, ranks);
        assert_eq!(
            (tree.rounds, tree.messages),
            (2 * log2_up(ranks), 2 * (ranks - 1))
        );
        let halving = report(Algorithm::RecursiveDoubling, collective, ranks);
        let k = ranks.ilog2() as usize;
        let q = ranks - (1 << k);
        let rounds = k + if q > 0 { 2 } else { 0 };
        assert_eq!(
            (halving.rounds, halving.messages),
            (rounds, (k << k) + 2 * q)
        );
    }
}

/// What a position does follows from its number: a million of them cost nothing here.
#[test]
fn one_position_of_a_million() {
    for rank in [0, 1, 95_000, 95_001, 524_287, 999_999] {
        let schedule = Schedule::new(
            Algorithm::RecursiveDoubling,
            Collective::Allreduce,
            1_000_000,
        )
        .unwrap();
        let transfers = schedule
            .steps(rank)
            .map(|step| step.sends.len() + step.receives.len());
        assert!(transfers.fold(0, |sum, count| sum + count) <= 2 * 20 + 2);
    }
}
