//! The state in which programs call a reduction: after other work, which has filled the caches and the branch predictors.

use std::hint::{self, black_box};
use std::time::{Duration, Instant};

use reduce::World;

use super::timing::{median, slowest_of};
use crate::Error;
use crate::ordinary::Ordinary;

/// Data that is walked through between two calls: more than any core's own caches hold. Where nothing is optimised, times say nothing, and
/// to walk through so much would take minutes.
const DATA_BYTES: usize = if cfg!(debug_assertions) {
    1 << 16
} else {
    8 << 20
};

/// Work on other data and other code.
#[derive(Debug)]
pub struct OtherWork {
    data: Vec<u64>,
    seed: u64,
}

impl Default for OtherWork {
    fn default() -> Self {
        Self {
            data: vec![1; DATA_BYTES / size_of::<u64>()],
            seed: 1,
        }
    }
}

impl OtherWork {
    /// Reads and writes all of the data, then runs through all of the code, in an order that depends on the data.
    pub fn measure(&mut self) {
        for word in &mut self.data {
            *word = word
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .wrapping_add(self.seed);
        }
        for (function, line) in CODE.iter().zip(self.data.chunks(64)) {
            let [word, ..] = line else { continue };
            let other = CODE[(word >> 32) as usize % CODE.len()];
            self.seed = other(function(self.seed ^ word));
        }
    }
}

type Code = fn(u64) -> u64;

/// A function of its own for every number: a few hundred bytes of code with branches.
#[inline(never)]
fn other_code<const NUMBER: u64>(mut word: u64) -> u64 {
    for _ in 0..2 {
        word = word.rotate_left(7).wrapping_add(NUMBER * 0x0101_0101);
        if word & (1 << (NUMBER % 60)) != 0 {
            word = word.wrapping_mul(NUMBER | 1) ^ (word >> 11);
        } else {
            word = word.wrapping_sub(NUMBER << 3) ^ (word << 5);
        }
        word = black_box(word ^ NUMBER.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        word = word
            .rotate_right(13)
            .wrapping_mul(0xFF51_AFD7_ED55_8CCD ^ NUMBER);
        word ^= word >> 33;
        word = word
            .wrapping_add(black_box(NUMBER))
            .wrapping_mul(NUMBER << 1 | 1);
        word ^= word << 17;
    }
    word
}

macro_rules! eight {
    ($base:expr) => {
        [
            other_code::<{ $base }> as Code,
            other_code::<{ $base + 1 }>,
            other_code::<{ $base + 2 }>,
            other_code::<{ $base + 3 }>,
            other_code::<{ $base + 4 }>,
            other_code::<{ $base + 5 }>,
            other_code::<{ $base + 6 }>,
            other_code::<{ $base + 7 }>,
        ]
    };
}

macro_rules! all_code {
    ($($base:literal),+) => {
        &[$(eight!($base * 64), eight!($base * 64 + 8), eight!($base * 64 + 16), eight!($base * 64 + 24),
            eight!($base * 64 + 32), eight!($base * 64 + 40), eight!($base * 64 + 48), eight!($base * 64 + 56)),+]
    };
}

/// 512 functions: about 100 KiB of code, more than a core's instruction cache and its cache of decoded instructions hold.
const CODE: &[Code] = {
    const ROWS: &[[Code; 8]] = all_code!(0, 1, 2, 3, 4, 5, 6, 7);
    ROWS.as_flattened()
};

/// How the ranks come to begin a call together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meeting<'a> {
    /// In the transport's ordinary barrier, right before the call. It brings the transport's code and data into the caches, and with
    /// them what an ordinary reduction on it needs. Before it, each rank reads these items.
    Barrier(&'a [f64]),
    /// At a time that they agree on before the other work, so that no communication comes between that and the call.
    Clock,
}

/// What the other work takes on the slowest rank, with half as much again to spare. Collective.
fn longest_work(world: &World, work: &mut OtherWork) -> Result<Duration, Error> {
    // Its first run touches its pages for the first time.
    work.measure();
    let begin = Instant::now();
    work.measure();
    let slowest_ns = slowest_of(world, begin.elapsed())?;
    Ok(Duration::from_secs_f64(1.5e-9 * slowest_ns))
}

/// The medians over the rounds of the slowest rank's time for a single call after other work, in nanoseconds, for each of the calls,
/// which take turns. Collective.
pub fn cold_medians_ns(
    world: &World,
    ordinary: &Ordinary,
    rounds: usize,
    meeting: Meeting<'_>,
    calls: &[&dyn Fn() -> Result<(), Error>],
) -> Result<Vec<f64>, Error> {
    let mut work = OtherWork::default();
    let longest_work = longest_work(world, &mut work)?;
    let mut samples = vec![Vec::with_capacity(rounds); calls.len()];
    for _ in 0..rounds {
        for (call, samples) in calls.iter().zip(&mut samples) {
            match meeting {
                Meeting::Barrier(items) => {
                    work.measure();
                    black_box(items.iter().fold(0, |bits, item| bits ^ item.to_bits()));
                    ordinary.barrier()?;
                }
                Meeting::Clock => {
                    ordinary.barrier()?;
                    let agreed = Instant::now() + longest_work;
                    work.measure();
                    while Instant::now() < agreed {
                        hint::spin_loop();
                    }
                }
            }
            let begin = Instant::now();
            call()?;
            samples.push(slowest_of(world, begin.elapsed())?);
        }
    }
    Ok(samples.into_iter().map(median).collect())
}
