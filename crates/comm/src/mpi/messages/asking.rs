//! How long a rank has asked for a message in vain, and what time it is.
//!
//! Who waits asks all the time. Who tests, or waits for a moment at a time, asks as long as the calls follow one another: what a program
//! does between two calls that are further apart was work, and not waiting.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// The time between two calls counts as so much at most.
const BETWEEN_CALLS_MS_MAX: u32 = 1000;

/// A wait that lasts as long says which exchange it is in; it says so again when it has lasted twice as long, and so on.
const BEFORE_NOTICE_MS: u32 = 100;

/// A loop of tests reads the clock at every test whose number is a multiple of this, if its tests follow each other at once.
const TESTS_BETWEEN_READINGS_MAX: u32 = 256;

/// Tests follow each other at once if so many of them as there are between two readings take less.
const AT_ONCE: Duration = Duration::from_millis(1);

/// How long this rank has asked for a message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    /// When it last did; `None` if it has not.
    last_ms: Option<u32>,
    for_ms: u32,
    /// The number of messages that had come when it began to ask.
    heard: u32,
    /// When it says where it waits; 0 before its first look for trouble.
    next_notice_ms: u32,
    /// Whether it takes part in an inquiry.
    inquires: bool,
}

impl Asked {
    /// Asks at this time, when so many messages have come. Returns for how long it has asked since the last of them, in milliseconds.
    pub(crate) fn ask(&mut self, now_ms: u32, heard: u32) -> u32 {
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

    /// Goes on asking in the same call, at this time: what a call takes counts in full.
    pub(crate) fn go_on(&mut self, now_ms: u32) {
        if let Some(last_ms) = self.last_ms.replace(now_ms) {
            self.for_ms = self.for_ms.saturating_add(now_ms.wrapping_sub(last_ms));
        }
    }

    /// Whether it has asked within the time that counts.
    pub(crate) fn is_asked_for(&self, now_ms: u32) -> bool {
        let is_late = |last_ms| now_ms.wrapping_sub(last_ms) <= BETWEEN_CALLS_MS_MAX;
        self.last_ms.is_some_and(is_late)
    }

    /// Whether this is the first look for trouble.
    pub(crate) fn looks_first(&mut self) -> bool {
        let is_first = self.next_notice_ms == 0;
        if is_first {
            self.next_notice_ms = BEFORE_NOTICE_MS;
        }
        is_first
    }

    /// Whether it is time to say where this rank waits.
    pub(crate) fn says_where(&mut self) -> bool {
        let is_time = self.for_ms >= self.next_notice_ms;
        if is_time {
            self.next_notice_ms = self.next_notice_ms.saturating_mul(2);
        }
        is_time
    }

    /// Whether this is the first time that it inquires.
    pub(crate) fn inquires_first(&mut self) -> bool {
        !std::mem::replace(&mut self.inquires, true)
    }
}

/// The time, as it was when somebody last had a reason to read it.
#[derive(Debug)]
pub(crate) struct Clock {
    begin: Instant,
    read: Cell<Instant>,
    /// Tests since then that found nothing.
    tests: Cell<u32>,
    /// The test that reads it again.
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

    /// The last reading in milliseconds since the beginning, modulo 2^32: 49 days.
    #[expect(clippy::cast_possible_truncation, reason = "modulo 2^32")]
    pub(crate) fn now_ms(&self) -> u32 {
        self.now().duration_since(self.begin).as_millis() as u32
    }

    /// Reads the time.
    pub(crate) fn read(&self) -> Instant {
        let now = Instant::now();
        self.read.set(now);
        self.tests.set(0);
        now
    }

    /// Reads the time after a test that has found nothing, unless it did so after one of the last tests. Says whether it did. The more tests
    /// there are in a millisecond, the fewer of them read it.
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
    use super::{Asked, BEFORE_NOTICE_MS};

    #[test]
    fn the_time_between_calls_counts_as_a_second_at_most() {
        let mut asked = Asked::default();
        let times_ms = [5000, 5010, 6000, 1_806_000, 1_806_500];
        let asked_ms = times_ms.map(|now_ms| asked.ask(now_ms, 7));
        assert_eq!(asked_ms, [0, 10, 1000, 2000, 2500]);
        asked.go_on(1_809_500);
        assert_eq!(asked.ask(1_809_600, 7), 5600);
        // The clock begins anew.
        let mut asked = Asked::default();
        assert_eq!(asked.ask(u32::MAX - 9, 7), 0);
        assert_eq!(asked.ask(90, 7), 100);
    }

    #[test]
    fn a_message_that_comes_begins_the_count_anew() {
        let mut asked = Asked::default();
        assert!(asked.looks_first());
        assert_eq!([asked.ask(0, 7), asked.ask(900, 7)], [0, 900]);
        assert!(asked.says_where() && asked.inquires_first() && !asked.inquires_first());
        assert_eq!([asked.ask(950, 8), asked.ask(960, 8)], [0, 10]);
        assert!(!asked.says_where() && asked.inquires_first());
        assert_eq!(asked.ask(960 + BEFORE_NOTICE_MS, 8), 10 + BEFORE_NOTICE_MS);
        assert!(asked.says_where() && !asked.says_where());
    }
}
