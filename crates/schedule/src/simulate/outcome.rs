//! The results of a simulation.

/// What a simulation finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulation {
    /// When the last rank has ended, in nanoseconds.
    pub time_ns: f64,
    /// The number of messages; `None` if one rank's program ran for all.
    pub messages: Option<u64>,
    /// The mean number of rows of a piece, over all pieces that are not yet the reduction of all.
    pub rows_mean: f64,
    /// The most rows that such a piece carries.
    pub rows_max: u64,
}

/// A message, and when it was under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flight {
    /// The sender's position.
    pub from: usize,
    /// The receiver's position.
    pub to: usize,
    /// When both ends were there, and their ports if these are shared, in nanoseconds.
    pub begun_ns: f64,
    /// When it had arrived, in nanoseconds.
    pub ended_ns: f64,
}

/// How many rows pieces carry, over all pieces that are not yet the reduction of all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Carried {
    rows: u64,
    pieces: u64,
    rows_max: u64,
}

impl Carried {
    pub(super) fn piece(&mut self, rows: u64) {
        self.rows += rows;
        self.pieces += 1;
        self.rows_max = self.rows_max.max(rows);
    }

    pub(super) fn simulation(self, time_ns: f64, messages: Option<u64>) -> Simulation {
        #[expect(clippy::cast_precision_loss, reason = "a mean is not exact")]
        let rows_mean = if self.pieces == 0 {
            1.0
        } else {
            self.rows as f64 / self.pieces as f64
        };
        Simulation {
            time_ns,
            messages,
            rows_mean,
            rows_max: self.rows_max.max(1),
        }
    }
}
