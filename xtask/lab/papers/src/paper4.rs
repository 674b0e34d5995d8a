//! End and others, *Butterfly-like Algorithms for GASPI Split Phase Allreduce* (2016): rounds, adaptions, and times on two clusters.

mod adaption;
mod examples;
mod measured;
mod simulated;

use schedule::{Algorithm, Collective, Parameters, Schedule};

use crate::{Exhibit, Paper};

const PAPER: Paper = Paper {
    name: "Paper 4",
    pictures: &[
        "paper-4-rounds.svg",
        "paper-4-figures-7-14-cluster-1-integer.svg",
    ],
};

pub(super) const EXHIBITS: &[Exhibit] = &[
    PAPER.computed("paper-4-table-1", examples::partial_results),
    PAPER.computed("paper-4-examples", examples::worked),
    PAPER.computed("paper-4-adaption", adaption::tuples),
    PAPER.computed("paper-4-rounds", adaption::rounds_counted),
    PAPER.simulated("paper-4-figures-7-14", simulated::clusters),
    PAPER.measured("paper-4-measured", measured::here),
];

/// The largest number of ranks.
const RANKS_MAX: usize = 300;

/// The largest n.
const PORTS_MAX: usize = 8;

/// An allreduce, of n messages at once where that is a choice.
fn allreduce(algorithm: Algorithm, ports: Option<usize>, ranks: usize) -> Schedule {
    let parameters = Parameters {
        ports,
        ..Parameters::default()
    };
    Schedule::new(algorithm, Collective::Allreduce, ranks)
        .and_then(|schedule| schedule.with(parameters))
        .expect("there are ranks and ports")
}

/// Whether n-way dissemination adapts to this number of ranks.
fn adapts(ports: usize, ranks: usize) -> bool {
    let schedule = allreduce(Algorithm::Dissemination, Some(ports), ranks);
    schedule.effective() == schedule
}

/// The smallest n that adapts: the paper's choice.
fn smallest_ports(ranks: usize) -> usize {
    (1..=PORTS_MAX)
        .find(|&ports| adapts(ports, ranks))
        .unwrap_or(PORTS_MAX)
}

/// The least k with base^k >= number.
fn log_up(base: usize, number: usize) -> u64 {
    let powers = std::iter::successors(Some(1_usize), |power| power.checked_mul(base));
    powers.take_while(|&power| power < number).count() as u64
}

#[cfg(test)]
mod tests {
    use super::{RANKS_MAX, adapts, smallest_ports};

    #[test]
    fn the_smallest_n_adapts() {
        assert!(adapts(1, 12) && !adapts(1, 13));
        assert!((2..=RANKS_MAX).all(|ranks| adapts(smallest_ports(ranks), ranks)));
    }
}
