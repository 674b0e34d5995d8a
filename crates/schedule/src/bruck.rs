//! Bruck's global combine, one port (paper 4, eq. 20 to 24, where the update of c is missing).
//!
//! ```text
//! p = 5, position 0        holds
//! p - 1 = 100 in binary    0
//! digit 1: from 1          0 1
//! digit 0: from 1          0 1 2          all that 1 has but its own
//! digit 0: from 2          0 1 2 3 4      all that 2 has but its own
//! ```
//!
//! With c positions held besides one's own: for a digit 1 of p - 1 the next c + 1 come from position r + c + 1; for a digit 0 the next c from r + c. Then c
//! is 2c and the digit. ceil(log2 p) rounds for every p, p messages each.

use crate::cyclic;
use crate::model::{Step, Transfer};

/// The reduction of all to all.
pub(crate) fn allreduce(ranks: usize, rank: usize) -> impl Iterator<Item = Step> + use<> {
    let digits_count = usize::BITS - (ranks - 1).leading_zeros();
    (0..digits_count).rev().map(move |place| {
        // The digits before this one are what is held besides one's own.
        let held = (ranks - 1) >> place >> 1;
        let digit = (ranks - 1) >> place & 1;
        // A digit 1: everything, from beyond what is held. A digit 0: all but the sender's own, which is held here.
        let distance = held + digit;
        let sent = |from: usize| cyclic::pieces(ranks, from + 1 - digit, held + digit, 0..1);
        let (to, from) = ((rank + ranks - distance) % ranks, (rank + distance) % ranks);
        Step::exchange(
            Transfer::new(to, sent(rank)),
            Transfer::new(from, sent(from)),
        )
    })
}
