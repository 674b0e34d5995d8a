//! How long a rank has waited for a message, and a clock that is cheap to read.
//!
//! The time within a wait counts in full. The time between two calls counts as at most [`BETWEEN_CALLS_MS_MAX`]: if tests or short waits
//! are further apart, the program has worked between them.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// The time between two calls counts as at most this much waiting.
const BETWEEN_CALLS_MS_MAX: u32 = 1000;

/// A waiting rank sends a notice that names its exchange after this time, and again each time that its wait has doubled.
const BEFORE_NOTICE_MS: u32 = 100;

/// In a fast loop of tests, at least one test in this number reads the clock.
const TESTS_BETWEEN_READINGS_MAX: u32 = 256;

/// A loop of tests is fast if all tests between two readings of the clock take less than this.
const AT_ONCE: Duration = Duration::from_millis(1);

/// How long this rank has waited for a message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WaitTime {
    /// When this rank last waited for the message; `None` if it has not.
    last_ms: Option<u32>,
    for_ms: u32,
    /// The number of messages that had arrived when the wait began.
    heard: u32,
    /// The wait time at which this rank next sends a notice that it waits; 0 before it first looks for trouble.
    next_notice_ms: u32,
    /// Whether this rank has begun to inquire.
    inquires: bool,
}

impl WaitTime {
    /// Records that the rank waits at this time, after `heard` messages have arrived. Returns how long it has waited since the last of
    /// these, in milliseconds.
    pub(crate) fn record(&mut self, now_ms: u32, heard: u32) -> u32 {
        match self.last_ms {
            Some(last_ms) if self.heard == heard => {
                let since = now_ms.wrapping_sub(last_ms).min(BETWEEN_CALLS_MS_MAX);
                self.for_ms = self.for_ms.saturating_add(since);
            }
            _ => {
                self.for_ms = 0;
                self.heard = heard;
                self.inquires = false;
                self.next_notice_ms = self.next_notice_ms.min(BEFORE_NOTICE_MS);
            }
        }
        self.last_ms = Some(now_ms);
        self.for_ms
    }

    /// Records that the rank still waits in the same call: the time since the last record counts in full.
    pub(crate) fn record_in_full(&mut self, now_ms: u32) {
        if let Some(last_ms) = self.last_ms.replace(now_ms) {
            self.for_ms = self.for_ms.saturating_add(now_ms.wrapping_sub(last_ms));
        }
    }

    /// Whether the rank has waited for the message within the last [`BETWEEN_CALLS_MS_MAX`].
    pub(crate) fn is_recent(&self, now_ms: u32) -> bool {
        let is_late = |last_ms| now_ms.wrapping_sub(last_ms) <= BETWEEN_CALLS_MS_MAX;
        self.last_ms.is_some_and(is_late)
    }

    /// Whether this is the first look for trouble.
    pub(crate) fn is_first_look(&mut self) -> bool {
        let is_first = self.next_notice_ms == 0;
        if is_first {
            self.next_notice_ms = BEFORE_NOTICE_MS;
        }
        is_first
    }

    /// Whether it is time to send a notice that this rank waits.
    pub(crate) fn is_notice_due(&mut self) -> bool {
        let is_time = self.for_ms >= self.next_notice_ms;
        if is_time {
            self.next_notice_ms = self.next_notice_ms.saturating_mul(2);
        }
        is_time
    }

    /// Whether the rank inquires for the first time during this wait. Later calls return `false`.
    pub(crate) fn is_first_inquiry(&mut self) -> bool {
        !std::mem::replace(&mut self.inquires, true)
    }
}

/// A clock that keeps its last reading.
#[derive(Debug)]
pub(crate) struct Clock {
    begin: Instant,
    read: Cell<Instant>,
    /// The number of tests that found nothing since the last reading.
    tests: Cell<u32>,
    /// The number of such tests after which the clock is read again.
    tests_between: Cell<u32>,
}

impl Clock {
    pub(crate) fn new() -> Self {
        let begin = Instant::now();
        Self {
            begin,
            read: Cell::new(begin),
            tests: Cell::new(0),
            tests_between: Cell::new(1),
        }
    }

    /// The last reading.
    pub(crate) fn now(&self) -> Instant {
        self.read.get()
    }

    /// The last reading in milliseconds since the clock was made. It wraps after 49 days.
    #[expect(clippy::cast_possible_truncation, reason = "modulo 2^32")]
    pub(crate) fn now_ms(&self) -> u32 {
        self.now().duration_since(self.begin).as_millis() as u32
    }

    /// Reads the clock.
    pub(crate) fn read(&self) -> Instant {
        let now = Instant::now();
        self.read.set(now);
        self.tests.set(0);
        now
    }

    /// Reads the clock after a test that has found nothing, unless the clock was read after a recent test. Returns whether the clock was
    /// read. The more tests there are in a millisecond, the fewer of them read the clock.
    pub(crate) fn after_a_test(&self) -> bool {
        let tests = self.tests.get() + 1;
        if tests < self.tests_between.get() {
            self.tests.set(tests);
            return false;
        }
        let last = self.now();
        let are_at_once = self.read().duration_since(last) < AT_ONCE;
        self.tests_between.set(if are_at_once {
            (tests * 2).min(TESTS_BETWEEN_READINGS_MAX)
        } else {
            1
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{BEFORE_NOTICE_MS, WaitTime};

    #[test]
    fn the_time_between_calls_counts_as_a_second_at_most() {
        let mut wait_time = WaitTime::default();
        let times_ms = [5000, 5010, 6000, 1_806_000, 1_806_500];
        let waited_ms = times_ms.map(|now_ms| wait_time.record(now_ms, 7));
        assert_eq!(waited_ms, [0, 10, 1000, 2000, 2500]);
        wait_time.record_in_full(1_809_500);
        assert_eq!(wait_time.record(1_809_600, 7), 5600);
        // The clock wraps.
        let mut wait_time = WaitTime::default();
        assert_eq!(wait_time.record(u32::MAX - 9, 7), 0);
        assert_eq!(wait_time.record(90, 7), 100);
    }

    #[test]
    fn a_message_that_comes_begins_the_count_anew() {
        let mut wait_time = WaitTime::default();
        assert!(wait_time.is_first_look());
        assert_eq!([wait_time.record(0, 7), wait_time.record(900, 7)], [0, 900]);
        assert!(
            wait_time.is_notice_due()
                && wait_time.is_first_inquiry()
                && !wait_time.is_first_inquiry()
        );
        assert_eq!(
            [wait_time.record(950, 8), wait_time.record(960, 8)],
            [0, 10]
        );
        assert!(!wait_time.is_notice_due() && wait_time.is_first_inquiry());
        assert_eq!(
            wait_time.record(960 + BEFORE_NOTICE_MS, 8),
            10 + BEFORE_NOTICE_MS
        );
        assert!(wait_time.is_notice_due() && !wait_time.is_notice_due());
    }
}
