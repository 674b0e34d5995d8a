//! The results of a simulation.

/// The result of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulation {
    /// The time at which the last rank ends, in nanoseconds.
    pub time_ns: f64,
    /// The number of messages; `None` if only rank 0's program was simulated.
    pub messages: Option<u64>,
    /// The mean number of rows of a partial piece, which does not yet reduce all positions; 1 if there are no partial pieces.
    pub rows_mean: f64,
    /// The largest number of rows of a partial piece; at least 1.
    pub rows_max: u64,
}

/// A message, with its start and its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flight {
    /// The sender's position.
    pub from: usize,
    /// The receiver's position.
    pub to: usize,
    /// The time in nanoseconds at which the transfer started: both ends had arrived, and any shared
    /// ports were free.
    pub begun_ns: f64,
    /// The time in nanoseconds at which the message had arrived.
    pub ended_ns: f64,
}

/// Counts the rows of partial pieces.
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
