//! Checks schedules against examples from the papers, step by step.

use schedule::{Algorithm, Collective, Parameters, Step};

use super::common::{checked, programs, schedule, with_blocks, with_ports};

/// The steps of each position, as text.
fn steps_with(
    parameters: Parameters,
    algorithm: Algorithm,
    collective: Collective,
    ranks: usize,
) -> Vec<Vec<String>> {
    let schedule = schedule(algorithm, collective, ranks, parameters);
    let words = |program: &Vec<Step>| program.iter().map(Step::to_string).collect();
    programs(&schedule).iter().map(words).collect()
}

fn steps(algorithm: Algorithm, collective: Collective, ranks: usize) -> Vec<Vec<String>> {
    steps_with(Parameters::default(), algorithm, collective, ranks)
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

/// Paper 4: Bruck's combine for P = 5. In binary, P - 1 = 4 is 100: one digit 1, then two digits 0.
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

/// Paper 4's tables of 2-way dissemination: P = 9 is a power of 3; P = 8 = 2 * 3 + 2 needs the adaption.
#[test]
fn dissemination_of_eight_and_nine() {
    let steps = |ranks| {
        let (algorithm, collective) = (Algorithm::Dissemination, Collective::Allreduce);
        steps_with(with_ports(2), algorithm, collective, ranks)
    };
    assert_eq!(
        steps(9)[8],
        [
            "send 8..9 to 0, send 8..9 to 1, receive 7..8 from 7, receive 6..7 from 6",
            "send 6..9 to 2, send 6..9 to 5, receive 3..6 from 5, receive 0..3 from 2",
        ]
    );
    assert_eq!(
        steps(8)[7],
        [
            "send 7..8 to 0, send 7..8 to 1, receive 6..7 from 6, receive 5..6 from 5",
            "send 5..8 to 2, send 6..8 to 5, receive 2..5 from 4, receive 0..2 from 1",
        ]
    );
}

/// Paper 4, eq. 24: Bruck's combine for P = 8 and n = 2. In base 3, P - 1 = 7 is 21.
#[test]
fn bruck_s_combine_of_eight_with_two_ports() {
    assert_eq!(
        steps_with(with_ports(2), Algorithm::Bruck, Collective::Allreduce, 8)[0],
        [
            "send 0..1 to 7, send 0..1 to 6, receive 1..2 from 1, receive 2..3 from 2",
            "send 0..3 to 5, send 1..3 to 3, receive 3..6 from 3, receive 6..8 from 5",
        ]
    );
}

/// The rounds of paper 5's Fibonacci trees F_2 (4 nodes) and F_3 (7 nodes), and of complete binary trees.
#[test]
fn trees_of_paper_5() {
    for (algorithm, ranks, rounds) in [
        (Algorithm::Fibonacci, 4, 2),
        (Algorithm::Fibonacci, 7, 3),
        (Algorithm::Binary, 7, 4),
        (Algorithm::Binary, 15, 6),
    ] {
        let reduce = Collective::Reduce { root: 0 };
        let found = checked(algorithm, reduce, ranks, Parameters::default());
        assert_eq!(found.rounds, rounds, "{algorithm}, {ranks}");
    }
}

/// Paper 2: position 1 of a chain of three, with two blocks that go up and down at once.
#[test]
fn the_doubly_pipelined_chain_of_three() {
    let algorithm = Algorithm::LinearDoublyPipelined;
    let steps = steps_with(with_blocks(2), algorithm, Collective::Allreduce, 3);
    assert_eq!(
        steps[1],
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

/// Rabenseifner's allreduce for p = 4, which sends halves of the row, then quarters, quarters again and halves again.
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
