//! The time of a topology-aware reduction over that of a flat one, for one row on one communicator.

use harness::markdown::digits;
use schedule::{Collective, simulate_unordered};

use super::cluster::{self, FACTORS, aware, flat, machine};

/// To the paper's root.
pub(super) const REDUCE: Collective = Collective::Reduce { root: 0 };

/// One length of row on one number of ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) ranks: usize,
    pub(super) doubles: usize,
    /// The time over the flat schedule's of x2, x4 and x8, of ranks side by side and dealt out.
    ratios: [[f64; 3]; 2],
}

impl Point {
    pub(super) fn of(collective: Collective, ranks: usize, doubles: usize) -> Self {
        let bytes = doubles as f64 * 8.0;
        let time = |schedule, assumed, is_dealt| {
            simulate_unordered(&schedule, &machine(ranks, assumed, is_dealt), bytes).time_ns
        };
        let ratios = |is_dealt| {
            let flat_ns = time(flat(collective, ranks, doubles), 1, is_dealt);
            let aware = |factor| aware(collective, ranks, doubles, factor);
            FACTORS.map(|factor| time(aware(factor), factor, is_dealt) / flat_ns)
        };
        Self {
            ranks,
            doubles,
            ratios: [false, true].map(ratios),
        }
    }

    /// The time with this number of ranks a node assumed, as a ratio to the flat one's.
    pub(super) fn ratio(&self, factor: usize, placement: usize) -> f64 {
        self.ratios[placement][factor]
    }
}

/// The least and the greatest of these, or one.
pub(super) fn span(ratios: impl Iterator<Item = f64>) -> String {
    let ratios: Vec<f64> = ratios.collect();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    if digits(least) == digits(most) {
        digits(least)
    } else {
        format!("{} to {}", digits(least), digits(most))
    }
}

/// The least row from which on x8 is faster on all numbers of ranks beyond a node.
pub(super) fn wins_from(points: &[Point], placement: usize) -> String {
    let loses = points
        .iter()
        .filter(|point| point.ranks > cluster::NODE_RANKS && point.ratio(2, placement) >= 1.0);
    let longest = loses.map(|point| point.doubles).max();
    let longer = |&width: &usize| longest.is_none_or(|longest| width > longest);
    let widths: Vec<usize> = points.iter().map(|point| point.doubles).collect();
    let first = widths.into_iter().filter(longer).min();
    first.map_or("never".to_owned(), |first| format!("{first} doubles"))
}

#[cfg(test)]
mod tests {
    use super::{Point, REDUCE, wins_from};

    #[test]
    fn trees_side_by_side_know_nodes_already() {
        let point = Point::of(REDUCE, 64, 1);
        assert!((point.ratio(2, 0) - 1.0).abs() < 1e-9);
        assert!(point.ratio(2, 1) < 1.0);
    }

    #[test]
    fn winning_is_for_good() {
        let point = |doubles, eight| Point {
            ranks: 16,
            doubles,
            ratios: [[1.0, 1.0, eight]; 2],
        };
        let points = [point(1, 0.5), point(4, 1.5), point(16, 0.5), point(64, 0.7)];
        assert_eq!(wins_from(&points, 0), "16 doubles");
        assert_eq!(wins_from(&points[..2], 0), "never");
    }
}
