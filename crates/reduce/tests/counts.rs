//! Tests that plans need the numbers of messages and rounds that their algorithms promise, for every distribution.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use distribution::{Distribution, Ownership, Scheme};
use reduce::exact::Sum;
use reduce::threads::run;
use reduce::{Algorithm, MessageBuffer, Plan};
use tree_index::Tree;

/// Some of p = 1, 17, 33, …, 241, and powers of two with their neighbours.
const RANKS: [usize; 14] = [1, 2, 3, 4, 7, 8, 9, 16, 17, 33, 64, 113, 128, 241];

/// The number of messages of all ranks, and the greatest number of rounds of a rank, in one run.
fn counts(
    ranks: usize,
    ownership: &Ownership,
    algorithm: Algorithm,
    collective: fn(&Plan<f64, reduce::Sum>, &[f64]),
) -> (u64, u64) {
    let counts = run(ranks, |world| {
        let plan = Plan::builder(world)
            .ownership(ownership)
            .algorithm(algorithm)
            .build()
            .unwrap();
        let own = vec![1.0; usize::try_from(ownership.count(world.rank())).unwrap()];
        let before = world.traffic().messages;
        collective(&plan, &own);
        (world.traffic().messages - before, plan.rounds().unwrap())
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
    let mut ownerships: Vec<Ownership> = Scheme::ALL.iter().copied().map(of).collect();
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
            // Some distributions leave ranks without items. Such ranks send nothing.
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

/// The number of messages of Algorithm 1 with a message buffer, and the bits of its sum.
fn buffered(ownership: &Ownership, items: &[f64], buffer: MessageBuffer) -> (u64, u64) {
    let ranks = run(ownership.ranks(), |world| {
        let plan = Plan::builder(world)
            .ownership(ownership)
            .algorithm(Algorithm::Algorithm1)
            .message_buffer(buffer)
            .build()
            .unwrap();
        let own = ownership.as_distribution().unwrap().range(world.rank());
        let index = |item: u64| usize::try_from(item).unwrap();
        let before = world.traffic().messages;
        let total = plan.reduce(&items[index(own.start)..index(own.end)]);
        let sent = world.traffic().messages - before;
        (sent, total.unwrap().map(f64::to_bits))
    });
    let ranks = ranks.unwrap();
    let messages = ranks.iter().fold(0, |messages, (sent, _)| messages + sent);
    (messages, ranks[0].1.unwrap())
}

/// The number of messages of [`buffered`] by the rule of the thesis' section 3.1.1.
fn buffered_by_rule(distribution: &Distribution, buffer: MessageBuffer) -> u64 {
    let tree = Tree::new(distribution.items());
    let mut messages = 0;
    for rank in 1..distribution.ranks() {
        let (mut held, mut receiver) = (0, 0);
        for root in tree.outbound_roots(distribution.range(rank)) {
            let span = tree.span(root);
            let to = distribution.rank_of(tree_index::parent(root.x));
            let is_large = span.end - span.start > buffer.flush_leaves;
            if held == buffer.values || held > 0 && (is_large || to != receiver) {
                messages += 1;
                held = 0;
            }
            held += 1;
            receiver = to;
        }
        messages += u64::from(held > 0);
    }
    messages
}

#[test]
fn a_message_buffer_changes_messages_and_no_bit() {
    let items: Vec<f64> = (1..=5000).map(|i| 1.0 / f64::from(i)).collect();
    let expected = reduce::sum(&items).unwrap().to_bits();
    for scheme in [Scheme::Lower, Scheme::Upper] {
        let distribution = scheme.distribute(5000, 33).unwrap();
        let values = distribution.message_count();
        let ownership = Ownership::from(distribution.clone());
        let messages = |values, flush_leaves| {
            let buffer = MessageBuffer {
                values,
                flush_leaves,
            };
            let (messages, bits) = buffered(&ownership, &items, buffer);
            assert_eq!(bits, expected, "{scheme}, {buffer:?}");
            let by_rule = buffered_by_rule(&distribution, buffer);
            assert_eq!(messages, by_rule, "{scheme}, {buffer:?}");
            messages
        };
        assert_eq!(messages(1, 64), values);
        assert_eq!(messages(4, 0), values);
        let (published, patient) = (messages(4, 64), messages(4, u64::MAX));
        let least = messages(MessageBuffer::VALUES_MAX, u64::MAX);
        for log in 0..8 {
            assert!(messages(3, 1 << log) >= least);
        }
        assert!(values > published && published >= patient && patient > least);
        // Each rank except the first sends at least one message.
        assert!(least >= 32);
    }
}

/// Ranks exchange the lengths of their lists in about log2 p messages for each rank, not p - 1.
#[test]
fn sums_that_do_not_fit_take_a_logarithm_of_messages() {
    for ranks in [2, 3, 8, 13, 64, 100] {
        let sent = |item: f64, is_hashed: bool| {
            let sent = run(ranks, |world| {
                let local = if world.rank() == 0 { item } else { 1.0 };
                let before;
                if is_hashed {
                    let plan = Plan::builder(world)
                        .build_hashed::<u64, Sum<f64>>()
                        .unwrap();
                    before = world.traffic().messages;
                    let sums = plan.by_key(&[7], &[local]).unwrap();
                    assert_eq!(sums.len(), 1);
                } else {
                    let plan = Plan::builder(world).build_keyed::<Sum<f64>>(2);
                    let plan = plan.unwrap();
                    before = world.traffic().messages;
                    let mut sums = [0.0; 2];
                    plan.by_key(&[1_u32], &[local], &mut sums).unwrap();
                    assert_eq!(sums[1].is_nan(), item.is_nan());
                }
                world.traffic().messages - before
            });
            sent.unwrap().into_iter().fold(0, |all, sent| all + sent)
        };
        let lengths = 2 * ranks as u64 * u64::from(ranks.next_power_of_two().ilog2());
        // One list goes to the rank that owns its key. That rank sends the merged list to all others.
        let beside = sent(f64::NAN, false) - sent(1.0, false);
        assert!(beside <= lengths + ranks as u64, "{beside}, p = {ranks}");
        // Every rank has a list for the owner.
        let hashed = sent(1.0, true);
        assert!(
            hashed <= lengths + 2 * ranks as u64,
            "{hashed}, p = {ranks}"
        );
    }
}

#[test]
fn message_buffers_that_are_none_or_differ() {
    let refused = |values: fn(usize) -> usize| {
        let errors = run(2, |world| {
            let buffer = MessageBuffer {
                values: values(world.rank()),
                ..MessageBuffer::default()
            };
            let builder = Plan::builder(world).local_items(3);
            let plan = builder
                .algorithm(Algorithm::Algorithm1)
                .message_buffer(buffer)
                .build::<f64>();
            plan.unwrap_err().to_string()
        });
        let errors = errors.unwrap();
        assert_eq!(errors[0], errors[1]);
        errors[0].clone()
    };
    assert!(refused(|_| 0).contains("a message buffer holds 1 to 128 values, not 0"));
    assert!(refused(|_| 129).contains("a message buffer holds 1 to 128 values, not 129"));
    assert!(refused(|rank| 4 + rank).contains("messages of 5 values"));
}
