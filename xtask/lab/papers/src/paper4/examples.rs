//! The worked examples: Figures 1, 3 and 4, value by value.

use std::collections::BTreeSet;

use harness::Error;
use schedule::{Algorithm, Step, Transfer};

use super::adaption::boundary;
use super::table1::{ours, ranks_of};
use super::{allreduce, yes};
use crate::{Comparison, Context, Page};

/// A rank's steps.
fn steps(algorithm: Algorithm, ports: Option<usize>, ranks: usize, rank: usize) -> Vec<Step> {
    allreduce(algorithm, ports, ranks).steps(rank).collect()
}

/// The peers of some messages, in their order.
fn peers(transfers: &[Transfer]) -> String {
    let peers = transfers.iter().map(|transfer| transfer.peer.to_string());
    peers.collect::<Vec<String>>().join(", ")
}

/// p - distance, modulo P.
fn behind(ranks: usize, rank: usize, distance: usize) -> usize {
    (rank + ranks - distance % ranks) % ranks
}

/// All of them.
pub(super) fn worked(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph("What the text and the formulas say of the examples, against the steps of our schedules. The figures themselves were pictures.");
    page.heading("Figure 1: pairwise exchange, P = 5");
    page.compare(pairwise_exchange());
    page.heading("Figures 2 and 3: 2-way dissemination, P = 5 and P = 8");
    page.compare(dissemination());
    page.heading("Figure 4: Bruck's global combine, P = 8, n = 2");
    page.compare(bruck());
    Ok(())
}

fn pairwise_exchange() -> Vec<Comparison> {
    let of = |rank| steps(Algorithm::PairwiseExchange, None, 5, rank);
    let leftover = of(4);
    let (first, last) = (&leftover[0], &leftover[leftover.len() - 1]);
    let waits = (0..5).map(|rank| of(rank).len()).max().unwrap_or(0);
    vec![
        Comparison::computed(
            "rank 4 is left over (q = 1): it sends to",
            peers(&first.sends),
        )
        .published("one of the first q ranks: 0"),
        Comparison::computed("and has the result from", peers(&last.receives)).published("0"),
        Comparison::computed("its steps", leftover.len())
            .published("2: first, and after the others"),
        Comparison::computed(
            "steps of rank 0, rounds of the butterfly with the leftover before and after",
            waits,
        )
        .because("floor(log2 5) + 2"),
    ]
}

fn dissemination() -> Vec<Comparison> {
    let (five, eight) = (ours(2, 5), ours(2, 8));
    let zero = steps(Algorithm::Dissemination, Some(2), 8, 0);
    let two = steps(Algorithm::Dissemination, Some(2), 8, 2);
    let to_zero = two[1].sends.iter().find(|send| send.peer == 0);
    let sent = to_zero.map_or(BTreeSet::new(), |send| ranks_of(&send.pieces));
    let (held, ranks) = (3, 8);
    let own = |peer| behind(ranks, 0, boundary(2, 1, peer));
    let senders = |sender: usize, peer| behind(ranks, 0, sender * held + boundary(2, 1, peer));
    let border = behind(ranks, 0, ranks - 1);
    let all = |cells: &[Vec<Vec<String>>]| {
        cells[0]
            .iter()
            .skip(1)
            .map(|cell| cell.join(" ∘ "))
            .collect::<Vec<String>>()
            .join("; ")
    };
    vec![
        Comparison::computed("P = 5, rank 0: rounds 1 and 2", all(&five))
            .because("Figure 2 is a picture: the adapted scheme counts every rank once, which the checker proves"),
        Comparison::computed("P = 8: rank 0 receives in round 1 from", peers(&zero[0].receives)).published("7, 6"),
        Comparison::computed("P = 8: rank 0 receives in round 2 from", peers(&zero[1].receives)).published("5, 2"),
        Comparison::computed("eq. 5: g_1[1], g_1[2] of rank 0", format!("{}, {}", own(1), own(2)))
            .because("the last rank of each stretch: inclusive"),
        Comparison::computed("eq. 6: g_1^2[1], g_1^2[2] of rank 0's second sender, rank 2", format!("{}, {}", senders(2, 1), senders(2, 2))),
        Comparison::computed("g_B of rank 0 and g_1^2[1] coincide", yes(border == senders(2, 1)))
            .published("yes")
            .because(format!("both are {border}: P - 1 behind rank 0")),
        Comparison::computed("rank 2 sends to rank 0 the reduction of ranks", format!("{sent:?}"))
            .published("x_2 ∘ x_1"),
        Comparison::computed("P = 8, rank 0: rounds 1 and 2", all(&eight))
            .published("(3): without adaption x_0 twice; with it S_1^0 ∘ S_1^5 ∘ (x_2 ∘ x_1)"),
    ]
}

fn bruck() -> Vec<Comparison> {
    let (ports, ranks) = (2, 8);
    let steps = steps(Algorithm::Bruck, Some(ports), ranks, 0);
    let base = ports + 1;
    let digits = [(ranks - 1) / base, (ranks - 1) % base];
    let mut held: BTreeSet<usize> = BTreeSet::from([0]);
    let mut counts = Vec::new();
    for step in &steps {
        for receive in &step.receives {
            held.extend(ranks_of(&receive.pieces));
        }
        counts.push((held.len() - 1).to_string());
    }
    let received = |step: usize, from: usize| {
        let receive = steps[step]
            .receives
            .iter()
            .find(|receive| receive.peer == from);
        receive.map_or("nothing".to_owned(), |receive| {
            format!("{:?}", ranks_of(&receive.pieces))
        })
    };
    let mut sends: Vec<(usize, BTreeSet<usize>)> = Vec::new();
    for send in &steps[1].sends {
        sends.push((send.peer, ranks_of(&send.pieces)));
    }
    let sent = |to: usize| {
        let send = sends.iter().find(|send| send.0 == to);
        send.map_or("nothing".to_owned(), |send| format!("{:?}", send.1))
    };
    vec![
        Comparison::computed(
            "eq. 15: (alpha_1, alpha_0) of P - 1 = 7 in base 3",
            format!("{digits:?}"),
        )
        .published("[2, 1]"),
        Comparison::computed("rounds", steps.len()).published(2_u64),
        Comparison::computed(
            "eq. 16, 17: rank 0 sends in round 1 to",
            peers(&steps[0].sends),
        )
        .published("7, 6"),
        Comparison::computed("rank 0 receives in round 1 from", peers(&steps[0].receives))
            .published("1, 2"),
        Comparison::computed("c, after rounds 1 and 2", counts.join(", "))
            .published("2")
            .because("the update of c after the first round is not printed: c (n + 1) + alpha"),
        Comparison::computed(
            "eq. 20, 21: rank 0 sends in round 2 to",
            peers(&steps[1].sends),
        )
        .published("5, 3"),
        Comparison::computed("to 5, S_2[1]: its own with it", sent(5))
            .published("x_0 ∘ x_1 ∘ x_2 (eq. 19)"),
        Comparison::computed("to 3, S_2[0]: without its own", sent(3))
            .published("x_1 ∘ x_2 (eq. 18)"),
        Comparison::computed(
            "eq. 22, 23: rank 0 receives in round 2 from",
            peers(&steps[1].receives),
        )
        .published("3, 5"),
        Comparison::computed("eq. 24: from 3", received(1, 3)).published("(x_3 ∘ x_4 ∘ x_5)"),
        Comparison::computed("eq. 24: from 5", received(1, 5)).published("(x_6 ∘ x_7)"),
    ]
}
