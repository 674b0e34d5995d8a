//! The costs of schedules: links, loads, and the closed formulas by which plans choose a schedule.
//!
//! A message of b bytes takes alpha + beta b, and combining b bytes takes gamma b (Hockney's model, as in papers 2 to 5). In a
//! pipeline the first block arrives after d rounds, and each further block s rounds later. A row of m bytes in M blocks thus takes
//! (d + s (M - 1)) (alpha + beta m / M). This time is least for M = sqrt((d - s) beta m / (s alpha)) (paper 2, Lemma 1).

mod link;
mod network;

pub(crate) use self::link::count;
pub use self::link::{Link, Load};
pub use self::network::Network;
use crate::algorithms::bruck::digits;
use crate::catalogue::{Algorithm, Parameters, Schedule};

impl Algorithm {
    /// The numbers (d, s) of a pipelined allreduce on p = `ranks`: the first block arrives after d rounds, each further block s rounds
    /// later (paper 2, corollaries 1 to 3, where a send and a receive overlap). `None` for algorithms that are not pipelined.
    #[must_use]
    pub fn pipeline_rounds(self, ranks: usize) -> Option<(usize, usize)> {
        let log2 = |n: usize| n.next_power_of_two().ilog2() as usize;
        if ranks < 2 {
            return self.is_pipelined().then_some((0, 0));
        }
        let height = log2(ranks + 1);
        match self {
            // Two ranks exchange messages in every step.
            Algorithm::LinearPipelined | Algorithm::BinaryPipelined if ranks == 2 => Some((2, 2)),
            Algorithm::DualRoot if ranks == 2 => Some((1, 1)),
            _ if ranks == 2 => self.is_pipelined().then_some((2, 1)),
            Algorithm::LinearPipelined => Some((2 * (ranks - 1), 2)),
            Algorithm::LinearDoublyPipelined => Some((2 * ranks - 1, 2)),
            Algorithm::BinaryPipelined => Some((4 * (height - 1), 4)),
            Algorithm::BinaryDoublyPipelined => Some((4 * height - 3, 3)),
            Algorithm::DualRoot => Some((4 * log2(ranks + 2) - 7, 3)),
            // A pair of blocks takes two steps up and two down: four steps, or two for each block.
            Algorithm::TwoTree => Some((4 * log2(ranks) - 2, 2)),
            _ => None,
        }
    }

    /// The number of blocks with which a pipelined allreduce takes the least time (paper 2, Lemma 1): at most `most`, and 1 for
    /// algorithms that are not pipelined.
    #[must_use]
    pub fn best_blocks(self, ranks: usize, load: Load, link: Link, most: usize) -> usize {
        let Some((d, s)) = self.pipeline_rounds(ranks).filter(|&(d, s)| d > s) else {
            return 1;
        };
        let (d, s) = (count(d), count(s));
        let bytes = load.row_bytes * (load.rows + 1.0) / 2.0;
        let best = ((d - s) * link.byte_ns * bytes / (s * link.latency_ns)).sqrt();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to a schedule's limits"
        )]
        let best = best.round().clamp(1.0, count(Parameters::COUNT_MAX)) as usize;
        best.min(most.max(1))
    }
}

impl Schedule {
    /// Computes [`predicted_ns`](Schedule::predicted_ns) for a network whose links are all alike.
    ///
    /// `hierarchical` counts as recursive doubling over all ranks plus two rounds, since links within nodes save nothing here.
    fn flat_ns(&self, load: Load, link: Link) -> f64 {
        let ranks = self.ranks();
        if ranks == 1 {
            return 0.0;
        }
        let (row, fragment) = (load.row_bytes, load.row_bytes * load.rows);
        let up = |bytes: f64| link.message_ns(bytes) + link.combine_byte_ns * bytes;
        let down = |bytes: f64| link.message_ns(bytes);
        let log2_up = f64::from(ranks.next_power_of_two().ilog2());
        let (k, folded) = (ranks.ilog2(), !ranks.is_power_of_two());
        let folding = if folded {
            up(fragment) + down(row)
        } else {
            0.0
        };
        let k = f64::from(k);
        // A position sends all blocks except its own.
        let share = (count(ranks) - 1.0) / count(ranks);
        let scatter = |rounds: f64, rows: f64| {
            rounds * link.latency_ns + (link.byte_ns + link.combine_byte_ns) * row * rows * share
        };
        let gather = |rounds: f64| rounds * link.latency_ns + link.byte_ns * row * share;
        let algorithm = self.algorithm();
        match algorithm {
            Algorithm::Direct => (count(ranks) - 1.0) * up(fragment),
            Algorithm::Binomial | Algorithm::ReduceBroadcast => {
                log2_up * (up(fragment) + down(row))
            }
            Algorithm::Fibonacci => 1.44 * log2_up * (up(fragment) + down(row)),
            Algorithm::Binary => 2.0 * k * (up(fragment) + down(row)),
            Algorithm::RecursiveDoubling => k * up(fragment) + folding,
            Algorithm::Hierarchical => (k + 2.0) * up(fragment) + folding,
            Algorithm::PairwiseExchange => k * up(2.0 * fragment) + folding,
            Algorithm::Dissemination | Algorithm::Bruck => {
                let digits = digits(self.ports(), ranks);
                let first = digits.last().copied().unwrap_or(0);
                let messages = count(first + self.ports() * digits.len().saturating_sub(1));
                // A range that wraps around is two fragments.
                let wrapped = if load.rows > 1.0 {
                    1.25 * fragment
                } else {
                    2.0 * fragment
                };
                messages * up(wrapped)
            }
            Algorithm::ReduceScatterGather => {
                scatter(k, load.rows) + gather(k) + log2_up * down(row) + folding
            }
            Algorithm::Rabenseifner => scatter(k, load.rows) + gather(k) + folding,
            Algorithm::Ring => {
                let rounds = count(ranks) - 1.0;
                scatter(rounds, 1.5 * load.rows) + gather(rounds)
            }
            Algorithm::Circulant => scatter(log2_up, load.rows) + gather(log2_up),
            Algorithm::LinearPipelined
            | Algorithm::BinaryPipelined
            | Algorithm::LinearDoublyPipelined
            | Algorithm::BinaryDoublyPipelined
            | Algorithm::DualRoot
            | Algorithm::TwoTree => {
                let (d, s) = algorithm.pipeline_rounds(ranks).unwrap_or((0, 0));
                let blocks = count(self.blocks());
                let rounds = count(d) + count(s) * (blocks - 1.0);
                rounds * (up(fragment / blocks) + down(row / blocks)) / 2.0
            }
        }
    }

    /// The largest number of strips of columns such that reducing the strips one after the other takes at most a tenth longer than reducing
    /// the whole row. Strips need more messages, but these are shorter and stay in cache.
    ///
    /// The result is at least 1 and at most `most`. It is 1 for pipelined algorithms, which have blocks instead.
    #[must_use]
    pub fn most_strips(&self, load: Load, network: impl Into<Network>, most: usize) -> usize {
        if self.ranks() == 1 || self.algorithm().is_pipelined() {
            return 1;
        }
        let nothing = Load {
            row_bytes: 0.0,
            ..load
        };
        let network = network.into();
        let (whole, latency) = (
            self.predicted_ns(load, network),
            self.predicted_ns(nothing, network),
        );
        // Each strip takes the whole row's latency, and its share of the remaining time.
        let strips = 1.0 + 0.1 * whole / latency;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to what a u32 holds"
        )]
        let strips = strips.clamp(1.0, f64::from(u32::MAX)) as usize;
        strips.min(most.max(1))
    }

    /// The allreduce with the least [`predicted_ns`](Schedule::predicted_ns); `None` if there are no schedules.
    ///
    /// On a tie the first of them wins, so that all ranks choose the same schedule.
    #[must_use]
    pub fn fastest(
        schedules: impl IntoIterator<Item = Self>,
        load: Load,
        network: impl Into<Network>,
    ) -> Option<Self> {
        let network = network.into();
        let time = |schedule: Self| (schedule.predicted_ns(load, network), schedule);
        let fastest = schedules
            .into_iter()
            .map(time)
            .reduce(|best, other| if other.0 < best.0 { other } else { best });
        fastest.map(|(_, schedule)| schedule)
    }
}
