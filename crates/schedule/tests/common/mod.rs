//! Formulas for numbers of rounds.

/// ceil(log2 p).
pub(crate) fn log2_up(ranks: usize) -> usize {
    ranks.next_power_of_two().ilog2() as usize
}

/// ceil(log_(n+1) p).
pub(crate) fn dissemination_rounds(ports: usize, ranks: usize) -> usize {
    let (mut rounds, mut reached) = (0, 1);
    while reached < ranks {
        (rounds, reached) = (rounds + 1, reached * (ports + 1));
    }
    rounds
}
