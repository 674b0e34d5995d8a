//! The time of a topology-aware reduction over that of a flat one, for one row on one communicator.

use schedule::{Collective, simulate_unordered};

use super::cluster::{FACTORS, NODE_RANKS, aware, flat, machine};

/// To the paper's root.
pub(super) const REDUCE: Collective = Collective::Reduce { root: 0 };

/// One length of row on one number of ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) ranks: usize,
    pub(super) doubles: usize,
    /// The time over the flat schedule's of x2, x4 and x8, of ranks side by side and dealt out.
    pub(super) ratios: [[f64; 3]; 2],
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

    /// Whether there is more than one node.
    pub(super) fn is_beyond_node(&self) -> bool {
        self.ranks > NODE_RANKS
    }

    /// The time with x8, as a ratio to the flat one's.
    pub(super) fn eight(&self, placement: usize) -> f64 {
        self.ratios[placement][2]
    }
}

/// The least row from which on x8 is faster on all numbers of ranks beyond a node.
pub(super) fn wins_from(points: &[Point], placement: usize) -> String {
    let beyond_node = points.iter().filter(|point| point.is_beyond_node());
    let loses = beyond_node.filter(|point| point.eight(placement) >= 1.0);
    let longest = loses.map(|point| point.doubles).max();
    let widths = points.iter().map(|point| point.doubles);
    let first = widths.filter(|&width| longest.is_none_or(|longest| width > longest));
    first
        .min()
        .map_or("never".to_owned(), |first| format!("{first} doubles"))
}

#[cfg(test)]
mod tests {
    use super::{Point, REDUCE, wins_from};

    #[test]
    fn trees_side_by_side_know_nodes_already() {
        let point = Point::of(REDUCE, 64, 1);
        assert!((point.eight(0) - 1.0).abs() < 1e-9);
        assert!(point.eight(1) < 1.0);
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
