//! Tests that the checker finds the faults of faulty schedules.

use schedule::{
    Algorithm, Collective, Parameters, Piece, Step, Transfer, Violation, check_programs,
};

use super::common::{programs, schedule};

const RANKS: usize = 6;

/// Changes an allreduce by recursive doubling with `spoil`, and returns the violation that the checker finds.
fn spoilt(spoil: impl Fn(&mut Vec<Vec<Step>>)) -> Violation {
    let (algorithm, collective) = (Algorithm::RecursiveDoubling, Collective::Allreduce);
    let schedule = schedule(algorithm, collective, RANKS, Parameters::default());
    let mut programs = programs(&schedule);
    spoil(&mut programs);
    let check = check_programs(
        &programs,
        |position| schedule.held(position),
        |position| schedule.wanted(position),
    );
    check.unwrap_err()
}

#[test]
fn a_send_is_missing() {
    let violation = spoilt(|programs| programs[4][0].sends.clear());
    assert_eq!(
        violation,
        Violation::Unmatched {
            from: 4,
            to: 5,
            sent: 0,
            received: 1
        }
    );
}

#[test]
fn a_receive_is_missing() {
    let violation = spoilt(|programs| programs[4][0].receives.clear());
    let Violation::NotHeld {
        position: 4,
        step: 1,
        ..
    } = violation
    else {
        panic!("{violation}");
    };
}

#[test]
fn a_result_is_missing() {
    let violation = spoilt(|programs| {
        programs[5].pop();
        programs[4].truncate(1);
    });
    let Violation::NotDelivered { position: 4, .. } = violation else {
        panic!("{violation}");
    };
}

#[test]
fn a_position_counts_twice() {
    let violation = spoilt(|programs| {
        let piece = &mut programs[2][1].sends[0].pieces[0];
        piece.positions.end += 1;
    });
    let Violation::NotHeld {
        position: 2,
        step: 1,
        ..
    } = violation
    else {
        panic!("{violation}");
    };
}

#[test]
fn the_ends_disagree() {
    let violation = spoilt(|programs| {
        // Position 4 sends less than it holds, and position 5 expects all.
        let send = &mut programs[4][1].sends[0];
        send.pieces[0].positions = 4..5;
    });
    let Violation::Different {
        from: 4, number: 0, ..
    } = violation
    else {
        panic!("{violation}");
    };
}

/// A message to or from `peer` that carries the pieces of the positions `of`.
fn transfer(peer: usize, of: &[usize]) -> Transfer {
    let pieces = of.iter().copied().map(own).collect();
    Transfer { peer, pieces }
}

/// A position's own piece.
fn own(position: usize) -> Piece {
    Piece {
        positions: position..position + 1,
        blocks: 0..1,
    }
}

fn send(transfer: Transfer) -> Step {
    Step {
        sends: vec![transfer],
        receives: Vec::new(),
    }
}

fn receive(transfer: Transfer) -> Step {
    Step {
        sends: Vec::new(),
        receives: vec![transfer],
    }
}

#[test]
fn pieces_in_another_order() {
    let violation = check_programs(
        &[
            vec![send(transfer(1, &[0, 1]))],
            vec![receive(transfer(0, &[1, 0]))],
        ],
        |_| vec![own(0), own(1)],
        |_| Vec::new(),
    );
    assert!(matches!(violation, Err(Violation::Different { .. })));
}

#[test]
fn a_cycle_of_synchronous_sends() {
    // Every position sends to the right, and only then receives from the left.
    let ring = |position: usize| {
        let (right, left) = ((position + 1) % 3, (position + 2) % 3);
        vec![
            send(transfer(right, &[position])),
            receive(transfer(left, &[left])),
        ]
    };
    let check = |programs: [Vec<Step>; 3]| {
        check_programs(&programs, |position| vec![own(position)], |_| Vec::new())
    };
    let violation = check([0, 1, 2].map(ring)).unwrap_err();
    assert_eq!(violation, Violation::Cycle(vec![(0, 1), (1, 2), (2, 0)]));
    // If each position posts its send and its receive together, the same messages arrive.
    let at_once = |position: usize| {
        let [mut first, second] = <[Step; 2]>::try_from(ring(position)).unwrap();
        first.receives = second.receives;
        vec![first]
    };
    assert_eq!(check([0, 1, 2].map(at_once)).unwrap().messages, 3);
}

#[test]
fn a_peer_that_does_not_exist() {
    for peer in [RANKS, 3] {
        let violation = spoilt(|programs| programs[3][0].sends[0].peer = peer);
        let expected = Violation::NoPeer {
            position: 3,
            step: 0,
            peer,
        };
        assert_eq!(violation, expected);
    }
}
