//! Checks that a schedule names the algorithm that runs, and that its steps are those of the algorithm that runs.

use schedule::{Algorithm, Collective, Parameters, Schedule};

use super::common::{self, programs};

const RANKS_MAX: usize = 41;

const PARAMETERS: Parameters = Parameters {
    blocks: 3,
    ports: Some(2),
    node_ranks: 4,
    inner: Algorithm::Fibonacci,
    outer: Algorithm::RecursiveDoubling,
};

fn schedule(algorithm: Algorithm, collective: Collective, ranks: usize) -> Schedule {
    common::schedule(algorithm, collective, ranks, PARAMETERS)
}

fn collectives(ranks: usize) -> [Collective; 5] {
    let root = ranks / 3;
    [
        Collective::Reduce { root },
        Collective::Broadcast { root },
        Collective::Allreduce,
        Collective::ReduceScatter,
        Collective::Scan,
    ]
}

/// The algorithms that have a program of their own for the collective. `dissemination` has one only if it adapts to p.
fn have_own(collective: Collective) -> Vec<&'static str> {
    let names = match collective {
        Collective::Reduce { .. } => {
            "direct binomial fibonacci binary linear-pipelined binary-pipelined reduce-scatter-gather hierarchical"
        }
        Collective::Broadcast { .. } => {
            "direct binomial fibonacci binary linear-pipelined binary-pipelined hierarchical"
        }
        Collective::Allreduce => return Algorithm::ALL.iter().map(|own| own.name()).collect(),
        Collective::ReduceScatter => {
            "direct binomial fibonacci binary recursive-doubling ring circulant"
        }
        Collective::Scan => "direct recursive-doubling",
        other => panic!("no list of the algorithms with a {other}"),
    };
    names.split(' ').collect()
}

#[test]
fn only_these_have_programs_of_their_own() {
    for ranks in 1..=RANKS_MAX {
        for collective in collectives(ranks) {
            let own = have_own(collective);
            for &algorithm in Algorithm::ALL {
                let schedule = schedule(algorithm, collective, ranks);
                let runs = schedule.effective();
                let is_adapted = algorithm != Algorithm::Dissemination || ranks < 40;
                let has_own = own.contains(&algorithm.name()) && is_adapted;
                assert_eq!(runs == schedule, has_own, "{schedule}");
                assert_eq!(runs.algorithm() == algorithm, has_own, "{schedule}");
                assert_eq!(runs.effective(), runs);
                assert_eq!(runs.ranks(), ranks);
                assert_eq!(runs.collective(), collective);
            }
        }
    }
}

/// Two names give the same steps if the same algorithm runs for both. Otherwise their steps differ.
#[test]
fn steps_are_those_of_the_algorithm_that_runs() {
    for of_three in 0..collectives(3).len() {
        for &one in Algorithm::ALL {
            // For every other name, whether another algorithm runs, and whether its steps differ.
            let mut others = vec![(false, false); Algorithm::ALL.len()];
            for ranks in 1..=RANKS_MAX {
                let collective = collectives(ranks)[of_three];
                let own = schedule(one, collective, ranks);
                let own_programs = programs(&own);
                for (&other, (runs_differ, steps_differ)) in Algorithm::ALL.iter().zip(&mut others)
                {
                    let other = schedule(other, collective, ranks);
                    let is_same = programs(&other) == own_programs;
                    if other.effective().algorithm() == own.effective().algorithm() {
                        assert!(is_same, "{own}; {other}");
                        assert_eq!(own.blocks(), other.blocks(), "{own}; {other}");
                    } else {
                        *runs_differ = true;
                        *steps_differ |= !is_same;
                    }
                }
            }
            for (&other, (runs_differ, steps_differ)) in Algorithm::ALL.iter().zip(others) {
                // `binomial` and `reduce-broadcast` have the same allreduce.
                let pair = [Algorithm::Binomial, Algorithm::ReduceBroadcast];
                if !(pair.contains(&one) && pair.contains(&other)) {
                    assert_eq!(runs_differ, steps_differ, "{one} and {other}");
                }
            }
        }
    }
}

#[test]
fn schedules_say_what_runs() {
    let reduce = Collective::Reduce { root: 2 };
    let (broadcast, allreduce) = (Collective::Broadcast { root: 0 }, Collective::Allreduce);
    let (two_tree, dissemination) = (Algorithm::TwoTree, Algorithm::Dissemination);
    for (algorithm, collective, ranks, words) in [
        (
            Algorithm::Binomial,
            reduce,
            8,
            "reduce to 2 by binomial on 8 ranks",
        ),
        (
            Algorithm::Ring,
            reduce,
            8,
            "reduce to 2 by ring on 8 ranks (runs binomial)",
        ),
        (
            two_tree,
            broadcast,
            5,
            "broadcast from 0 by two-tree on 5 ranks (runs binary-pipelined, 3 blocks)",
        ),
        (
            two_tree,
            allreduce,
            5,
            "allreduce by two-tree on 5 ranks (3 blocks)",
        ),
        (
            two_tree,
            Collective::ReduceScatter,
            5,
            "reduce-scatter by two-tree on 5 ranks (runs recursive-doubling)",
        ),
        (
            Algorithm::Bruck,
            Collective::Scan,
            1,
            "scan by bruck on 1 rank (runs recursive-doubling)",
        ),
        (
            dissemination,
            allreduce,
            39,
            "allreduce by dissemination on 39 ranks (n = 2)",
        ),
        (
            dissemination,
            allreduce,
            40,
            "allreduce by dissemination on 40 ranks (n = 2 does not adapt to 40 ranks; runs bruck with the same n)",
        ),
        (
            dissemination,
            reduce,
            40,
            "reduce to 2 by dissemination on 40 ranks (runs binomial)",
        ),
    ] {
        assert_eq!(schedule(algorithm, collective, ranks).to_string(), words);
    }
}

/// Bruck's combine, which runs instead of dissemination, gets dissemination's default of two ports, not its own default of one.
#[test]
fn what_stands_in_has_the_same_ports() {
    let named = Schedule::new(Algorithm::Dissemination, Collective::Allreduce, 40).unwrap();
    let bruck = schedule(Algorithm::Bruck, Collective::Allreduce, 40);
    assert!(programs(&named) == programs(&bruck), "{named}; {bruck}");
}

#[test]
fn levels_say_what_runs() {
    let levels = |inner, outer, collective| {
        let parameters = Parameters {
            inner,
            outer,
            ..PARAMETERS
        };
        let schedule = common::schedule(Algorithm::Hierarchical, collective, 13, parameters);
        schedule.remark().unwrap()
    };
    let (ring, gather) = (Algorithm::Ring, Algorithm::ReduceScatterGather);
    let (reduce, allreduce) = (Collective::Reduce { root: 5 }, Collective::Allreduce);
    assert_eq!(
        levels(ring, ring, allreduce),
        "nodes of 4, ring within (runs binomial), ring between"
    );
    assert_eq!(
        levels(gather, gather, allreduce),
        "nodes of 4, reduce-scatter-gather within (runs reduce-scatter-gather and binomial), \
         reduce-scatter-gather between"
    );
    assert_eq!(
        levels(gather, ring, reduce),
        "nodes of 4, reduce-scatter-gather within, ring between (runs binomial)"
    );
}
