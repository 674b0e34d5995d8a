//! Examples from the papers, step by step.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use schedule::{Algorithm, Collective, Parameters, Schedule};

/// Every position's steps, as text.
fn steps(algorithm: Algorithm, collective: Collective, ranks: usize) -> Vec<Vec<String>> {
    let schedule = Schedule::new(algorithm, collective, ranks).unwrap();
    (0..ranks)
        .map(|position| {
            schedule
                .steps(position)
                .map(|step| step.to_string())
                .collect()
        })
        .collect()
}

/// Paper 5: F_3 has 7 nodes, F_2 is its second subtree, and no node waits: each parent receives one message per round.
#[test]
fn the_fibonacci_tree_of_seven() {
    let steps = steps(Algorithm::Fibonacci, Collective::Reduce { root: 0 }, 7);
    assert_eq!(steps[0], ["receive 1..3 from 1", "receive 3..7 from 3"]);
    assert_eq!(steps[1], ["receive 2..3 from 2", "send 1..3 to 0"]);
    assert_eq!(
        steps[3],
        [
            "receive 4..5 from 4",
            "receive 5..7 from 5",
            "send 3..7 to 0"
        ]
    );
    assert_eq!(steps[5], ["receive 6..7 from 6", "send 5..7 to 3"]);
    for leaf in [2, 4, 6] {
        assert_eq!(steps[leaf].len(), 1, "{:?}", steps[leaf]);
    }
}

/// Paper 5: the complete binary tree of 7 nodes, in pre-order.
#[test]
fn the_binary_tree_of_seven() {
    let steps = steps(Algorithm::Binary, Collective::Reduce { root: 0 }, 7);
    assert_eq!(steps[0], ["receive 1..4 from 1", "receive 4..7 from 4"]);
    assert_eq!(
        steps[4],
        [
            "receive 5..6 from 5",
            "receive 6..7 from 6",
            "send 4..7 to 0"
        ]
    );
}

/// Paper 4's example of pairwise exchange, P = 5: rank 4 is left over.
#[test]
fn pairwise_exchange_of_five() {
    let steps = steps(Algorithm::PairwiseExchange, Collective::Allreduce, 5);
    assert_eq!(
        steps[0],
        [
            "receive 4..5 from 4",
            "send 0..1 + 4..5 to 1, receive 1..2 from 1",
            "send 0..2 + 4..5 to 2, receive 2..4 from 2",
            "send 0..5 to 4",
        ]
    );
    assert_eq!(
        steps[3],
        [
            "send 3..4 to 2, receive 2..3 from 2",
            "send 2..4 to 1, receive 0..2 + 4..5 from 1",
        ]
    );
    assert_eq!(steps[4], ["send 4..5 to 0", "receive 0..5 from 0"]);
}

/// Paper 4: Bruck's combine for P = 5, 4 = 100 in binary: one digit 1, then two digits 0.
#[test]
fn bruck_s_combine_of_five() {
    let steps = steps(Algorithm::Bruck, Collective::Allreduce, 5);
    assert_eq!(
        steps[0],
        [
            "send 0..1 to 4, receive 1..2 from 1",
            "send 1..2 to 4, receive 2..3 from 1",
            "send 1..3 to 3, receive 3..5 from 2",
        ]
    );
    assert_eq!(steps[4][2], "send 0..2 to 2, receive 2..4 from 1");
}

/// The steps of one position with n ports.
fn with_ports(algorithm: Algorithm, ports: usize, ranks: usize, position: usize) -> Vec<String> {
    let schedule = Schedule::new(algorithm, Collective::Allreduce, ranks).unwrap();
    let parameters = Parameters {
        ports: Some(ports),
        ..Parameters::default()
    };
    let schedule = schedule.with(parameters).unwrap();
    schedule
        .steps(position)
        .map(|step| step.to_string())
        .collect()
}

/// Paper 4's tables of 2-way dissemination: P = 9 is a power of 3; P = 8 = 2 * 3 + 2 needs the adaption.
#[test]
fn dissemination_of_eight_and_nine() {
    let nine = with_ports(Algorithm::Dissemination, 2, 9, 8);
    assert_eq!(
        nine,
        [
            "send 8..9 to 0, send 8..9 to 1, receive 7..8 from 7, receive 6..7 from 6",
            "send 6..9 to 2, send 6..9 to 5, receive 3..6 from 5, receive 0..3 from 2",
        ]
    );
    let eight = with_ports(Algorithm::Dissemination, 2, 8, 7);
    assert_eq!(
        eight,
        [
            "send 7..8 to 0, send 7..8 to 1, receive 6..7 from 6, receive 5..6 from 5",
            "send 5..8 to 2, send 6..8 to 5, receive 2..5 from 4, receive 0..2 from 1",
        ]
    );
}

/// Paper 4, eq. 24: Bruck's combine for P = 8, n = 2: 7 = 21 in base 3.
#[test]
fn bruck_s_combine_of_eight_with_two_ports() {
    assert_eq!(
        with_ports(Algorithm::Bruck, 2, 8, 0),
        [
            "send 0..1 to 7, send 0..1 to 6, receive 1..2 from 1, receive 2..3 from 2",
            "send 0..3 to 5, send 1..3 to 3, receive 3..6 from 3, receive 6..8 from 5",
        ]
    );
}

/// Paper 5's F_2 (4 nodes) and T_2 (7 nodes): the rounds that they need.
#[test]
fn trees_of_paper_5() {
    for (algorithm, ranks, rounds) in [
        (Algorithm::Fibonacci, 4, 2),
        (Algorithm::Fibonacci, 7, 3),
        (Algorithm::Binary, 7, 4),
        (Algorithm::Binary, 15, 6),
    ] {
        let schedule = Schedule::new(algorithm, Collective::Reduce { root: 0 }, ranks).unwrap();
        assert_eq!(
            schedule::check(&schedule).unwrap().rounds,
            rounds,
            "{algorithm}, {ranks}"
        );
    }
}

/// Paper 2: position 1 of a chain of three, two blocks, up and down at once.
#[test]
fn the_doubly_pipelined_chain_of_three() {
    let schedule =
        Schedule::new(Algorithm::LinearDoublyPipelined, Collective::Allreduce, 3).unwrap();
    let parameters = Parameters {
        blocks: 2,
        ..Parameters::default()
    };
    let schedule = schedule.with(parameters).unwrap();
    let steps: Vec<String> = schedule.steps(1).map(|step| step.to_string()).collect();
    assert_eq!(
        steps,
        [
            "receive 2..3 from 2",
            "send 1..3 to 0",
            "receive 2..3 in blocks 1..2 from 2",
            "send 1..3 in blocks 1..2 to 0, receive 0..3 from 0",
            "send 0..3 to 2",
            "receive 0..3 in blocks 1..2 from 0",
            "send 0..3 in blocks 1..2 to 2",
        ]
    );
}

/// Rabenseifner's allreduce for p = 4: halves, quarters, and back.
#[test]
fn rabenseifner_s_allreduce_of_four() {
    let steps = steps(Algorithm::Rabenseifner, Collective::Allreduce, 4);
    assert_eq!(
        steps[0],
        [
            "send 0..1 in blocks 1..2 + 0..1 in blocks 3..4 to 1, \
             receive 1..2 + 1..2 in blocks 2..3 from 1",
            "send 0..2 in blocks 2..3 to 2, receive 2..4 from 2",
            "send 0..4 to 2, receive 0..4 in blocks 2..3 from 2",
            "send 0..4 + 0..4 in blocks 2..3 to 1, \
             receive 0..4 in blocks 1..2 + 0..4 in blocks 3..4 from 1",
        ]
    );
}
