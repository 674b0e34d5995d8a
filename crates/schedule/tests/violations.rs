//! The checker finds the fault in schedules that have one.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use schedule::{Algorithm, Collective, Piece, Schedule, Step, Transfer, Violation, check_programs};

const RANKS: usize = 6;

/// Changes an allreduce by recursive doubling with `spoil`, and returns the violation that the checker finds.
fn spoilt(spoil: impl Fn(&mut Vec<Vec<Step>>)) -> Violation {
    let schedule =
        Schedule::new(Algorithm::RecursiveDoubling, Collective::Allreduce, RANKS).unwrap();
    let mut programs: Vec<Vec<Step>> = (0..RANKS)
        .map(|position| schedule.steps(position).collect())
        .collect();
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
        // Position 4 sends less than it could, and 5 expects all of it.
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

#[test]
fn pieces_in_another_order() {
    let pieces = [0..1, 1..2].map(|positions| Piece {
        positions,
        blocks: 0..1,
    });
    let mut reversed = pieces.to_vec();
    reversed.reverse();
    let transfer = |peer, pieces: &[Piece]| Transfer {
        peer,
        pieces: pieces.to_vec(),
    };
    let send = Step {
        sends: vec![transfer(1, &pieces)],
        receives: Vec::new(),
    };
    let receive = Step {
        sends: Vec::new(),
        receives: vec![transfer(0, &reversed)],
    };
    let violation = check_programs(
        &[vec![send], vec![receive]],
        |_| pieces.to_vec(),
        |_| Vec::new(),
    );
    assert!(matches!(violation, Err(Violation::Different { .. })));
}

#[test]
fn a_cycle_of_synchronous_sends() {
    let transfer = |peer, of: usize| Transfer {
        peer,
        pieces: vec![Piece {
            positions: of..of + 1,
            blocks: 0..1,
        }],
    };
    // Every position sends to the right, and only then receives from the left.
    let ring = |position: usize| {
        let (right, left) = ((position + 1) % 3, (position + 2) % 3);
        vec![
            Step {
                sends: vec![transfer(right, position)],
                receives: Vec::new(),
            },
            Step {
                sends: Vec::new(),
                receives: vec![transfer(left, left)],
            },
        ]
    };
    let programs: Vec<Vec<Step>> = (0..3).map(ring).collect();
    let own = |position: usize| {
        vec![Piece {
            positions: position..position + 1,
            blocks: 0..1,
        }]
    };
    let violation = check_programs(&programs, own, |_| Vec::new()).unwrap_err();
    assert_eq!(violation, Violation::Cycle(vec![(0, 1), (1, 2), (2, 0)]));
    // Posted together, the same messages arrive.
    let at_once = |position: usize| {
        let [mut first, second] = <[Step; 2]>::try_from(ring(position)).unwrap();
        first.receives = second.receives;
        vec![first]
    };
    let programs: Vec<Vec<Step>> = (0..3).map(at_once).collect();
    assert_eq!(
        check_programs(&programs, own, |_| Vec::new())
            .unwrap()
            .messages,
        3
    );
}

#[test]
fn a_peer_that_does_not_exist() {
    let violation = spoilt(|programs| programs[3][0].sends[0].peer = RANKS);
    assert!(matches!(
        violation,
        Violation::NoPeer {
            position: 3,
            step: 0,
            peer: RANKS
        }
    ));
    let violation = spoilt(|programs| programs[3][0].sends[0].peer = 3);
    assert!(matches!(
        violation,
        Violation::NoPeer {
            position: 3,
            step: 0,
            peer: 3
        }
    ));
}
