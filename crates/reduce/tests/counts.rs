//! Messages and rounds, counted while plans run: what the schedules promise, for every distribution.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use comm::Communicator;
use comm::threads::run;
use distribution::{Ownership, Scheme};
use reduce::{Algorithm, Plan};

/// p = 1, 17, …, 241, and what lies beside powers of two.
const RANKS: [usize; 14] = [1, 2, 3, 4, 7, 8, 9, 16, 17, 33, 64, 113, 128, 241];

/// The messages of all ranks, and the most rounds of any, in one run.
fn counts(
    ranks: usize,
    ownership: &Ownership,
    algorithm: Algorithm,
    collective: fn(&Plan<'_, f64, reduce::Sum>, &[f64]),
) -> (u64, u64) {
    let counts = run(ranks, |comm| {
        let plan = Plan::builder(comm)
            .ownership(ownership)
            .algorithm(algorithm)
            .build()
            .unwrap();
        let own = vec![1.0; usize::try_from(ownership.count(comm.rank())).unwrap()];
        let before = comm.traffic().messages;
        collective(&plan, &own);
        (comm.traffic().messages - before, plan.rounds().unwrap())
    });
    counts
        .unwrap()
        .into_iter()
        .fold((0, 0), |(messages, rounds), (sent, own_rounds)| {
            (messages + sent, rounds.max(own_rounds))
        })
}

fn ownerships(ranks: usize) -> Vec<Ownership> {
    let of = |scheme: Scheme| Ownership::from(scheme.distribute(5000, ranks).unwrap());
    let mut ownerships: Vec<Ownership> = Scheme::ALL.into_iter().map(of).collect();
    ownerships.push(Ownership::block_cyclic(5000, ranks, 7).unwrap());
    ownerships
}

#[test]
fn a_binomial_reduce_takes_p_minus_1_messages() {
    for ranks in RANKS {
        for ownership in ownerships(ranks) {
            let (messages, rounds) = counts(ranks, &ownership, Algorithm::Binomial, |plan, own| {
                plan.reduce(own).unwrap();
            });
            // Those that own nothing send nothing: some distributions leave ranks idle.
            let owning = (0..ranks).filter(|&rank| ownership.count(rank) > 0);
            let owning = owning.count() as u64;
            assert_eq!(messages, owning - 1, "{ownership:?}");
            assert_eq!(rounds, u64::from(owning.next_power_of_two().ilog2()));
        }
    }
}

#[test]
fn recursive_doubling_takes_log2_p_rounds() {
    for ranks in RANKS {
        let doubled = u64::from(ranks.ilog2());
        let expected = if ranks.is_power_of_two() {
            doubled
        } else {
            doubled + 2
        };
        for ownership in ownerships(ranks) {
            let algorithm = Algorithm::RecursiveDoubling;
            let (_, rounds) = counts(ranks, &ownership, algorithm, |plan, own| {
                plan.allreduce(own).unwrap();
            });
            assert_eq!(rounds, expected, "p = {ranks}, {ownership:?}");
        }
    }
}

#[test]
fn ranks_without_items_are_not_written_by() {
    let ownership = Ownership::from(Scheme::PowerOfTwo.distribute(3, 8).unwrap());
    let (messages, _) = counts(8, &ownership, Algorithm::Binomial, |plan, own| {
        plan.reduce(own).unwrap();
    });
    assert_eq!(messages, 2);
}
