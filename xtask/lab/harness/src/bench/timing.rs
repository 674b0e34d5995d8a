//! Times several candidates alternately, so that a slow moment of the machine affects all of them. Calls can also be timed in the state in which
//! programs call a reduction: after other work, which has filled the caches and the branch predictors.

use std::fmt;
use std::hint::{self, black_box};
use std::time::{Duration, Instant};

use comm::{Tag, collective};
use reduce::World;

use crate::Error;
use crate::ordinary::Ordinary;

/// The least duration of a sample. Reading the clock takes much less time.
const SAMPLE: Duration = Duration::from_micros(50);

/// A call to be measured.
pub struct Candidate<'c> {
    /// The candidate's name in the rows of results.
    pub name: String,
    call: Box<dyn FnMut() + 'c>,
}

impl fmt::Debug for Candidate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl<'c> Candidate<'c> {
    /// A candidate with a name. The results of `call` are dropped, but the compiler must compute them.
    pub fn new<R>(name: impl Into<String>, mut call: impl FnMut() -> R + 'c) -> Self {
        Self {
            name: name.into(),
            call: Box::new(move || drop(black_box(call()))),
        }
    }
}

/// The median time of a call of each candidate, in nanoseconds, over `rounds` rounds.
pub fn medians_ns(candidates: &mut [Candidate<'_>], rounds: usize) -> Vec<f64> {
    let samples = samples_ns(candidates, rounds);
    samples.into_iter().map(median).collect()
}

/// The times of a call of each candidate, in nanoseconds, in each of `rounds` rounds.
pub fn samples_ns(candidates: &mut [Candidate<'_>], rounds: usize) -> Vec<Vec<f64>> {
    let repeats: Vec<u32> = candidates.iter_mut().map(repeats).collect();
    let mut samples = vec![Vec::with_capacity(rounds); candidates.len()];
    for _ in 0..rounds {
        for ((candidate, repeats), samples) in candidates.iter_mut().zip(&repeats).zip(&mut samples)
        {
            let elapsed = time(candidate, *repeats);
            samples.push(nanoseconds(elapsed) / f64::from(*repeats));
        }
    }
    samples
}

/// Determines the number of calls in a sample. The calls for this also warm up the caches.
fn repeats(candidate: &mut Candidate<'_>) -> u32 {
    let mut repeats = 1;
    while repeats < 1 << 20 && time(candidate, repeats) < SAMPLE {
        repeats *= 2;
    }
    repeats
}

fn time(candidate: &mut Candidate<'_>, repeats: u32) -> Duration {
    let begin = Instant::now();
    for _ in 0..repeats {
        (candidate.call)();
    }
    begin.elapsed()
}

fn nanoseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e9
}

/// The slowest rank's time per call, in nanoseconds. No rank begins before all have arrived. Collective.
pub fn slowest_ns(
    world: &World,
    calls: usize,
    call: impl FnMut() -> Result<(), Error>,
) -> Result<f64, Error> {
    slowest_after_ns(world, 0, calls, call)
}

/// As [`slowest_ns`], but after untimed calls. At first, ranks start up to a latency apart; calls that wait for all ranks synchronise them.
pub fn slowest_after_ns(
    world: &World,
    untimed: usize,
    calls: usize,
    mut call: impl FnMut() -> Result<(), Error>,
) -> Result<f64, Error> {
    let comm = world.transport();
    collective::allgather(comm, Tag::CONTROL, Vec::new())?;
    for _ in 0..untimed {
        call()?;
    }
    let begin = Instant::now();
    for _ in 0..calls {
        call()?;
    }
    Ok(slowest_of(world, begin.elapsed())? / calls as f64)
}

/// The longest of all ranks' times, in nanoseconds. Collective.
pub fn slowest_of(world: &World, own: Duration) -> Result<f64, Error> {
    let own_ns = nanoseconds(own).to_le_bytes().to_vec();
    let all = collective::allgather(world.transport(), Tag::CONTROL, own_ns)?;
    let (times, _) = all.as_chunks();
    let times = times.iter().map(|&time| f64::from_le_bytes(time));
    Ok(times.fold(0.0, f64::max))
}

/// A count without its fraction, and at least 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it drops the fraction"
)]
pub fn whole(count: f64) -> usize {
    count as usize
}

/// The median sample.
pub fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Work with other data and other code. The data exceeds a core's own caches, except in debug builds, where times are meaningless and the
/// work would take minutes.
struct OtherWork {
    data: Vec<u64>,
    seed: u64,
}

impl OtherWork {
    fn new() -> Self {
        let log_bytes = if cfg!(debug_assertions) { 16 } else { 23 };
        Self {
            data: vec![1; (1 << log_bytes) / size_of::<u64>()],
            seed: 1,
        }
    }

    /// Reads and writes all of the data, then runs through all of the code, in an order that depends on the data.
    fn touch(&mut self) {
        for word in &mut self.data {
            let product = word.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            *word = product.wrapping_add(self.seed);
        }
        for (function, line) in CODE.iter().zip(self.data.chunks(64)) {
            let [word, ..] = line else { continue };
            let other = CODE[(word >> 32) as usize % CODE.len()];
            self.seed = other(function(self.seed ^ word));
        }
    }
}

type Code = fn(u64) -> u64;

/// A separate function for every number: a few hundred bytes of code with branches.
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
        word = word.rotate_right(13);
        word = word.wrapping_mul(0xFF51_AFD7_ED55_8CCD ^ NUMBER);
        word ^= word >> 33;
        word = word.wrapping_add(black_box(NUMBER));
        word = word.wrapping_mul(NUMBER << 1 | 1);
        word ^= word << 17;
    }
    word
}

/// The functions of all numbers `32 * first + second`.
macro_rules! all_code {
    ($($first:literal)*; $seconds:tt) => {
        [$(all_code!(@ $first $seconds)),*]
    };
    (@ $first:literal [$($second:literal)*]) => {
        [$(other_code::<{ 32 * $first + $second }> as Code),*]
    };
}

/// 512 functions: about 100 KiB of code, more than a core's instruction cache and its cache of decoded instructions hold.
const CODE: &[Code] = {
    const ROWS: &[[Code; 32]] = &all_code!(
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
        [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31]
    );
    ROWS.as_flattened()
};

/// How the ranks of a world start a call at the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meeting<'a> {
    /// By the transport's ordinary barrier, right before the call. The barrier loads the transport's code and data into the caches. An
    /// ordinary reduction also needs these. Before the barrier, each rank reads these items.
    Barrier(&'a [f64]),
    /// At a time on which the ranks agree before the other work, so that there is no communication between that work and the call.
    Clock,
}

/// 1.5 times the time of the other work on the slowest rank. Collective.
fn longest_work(world: &World, work: &mut OtherWork) -> Result<Duration, Error> {
    // The first run is not timed, because it is the first to touch the data's pages.
    work.touch();
    let begin = Instant::now();
    work.touch();
    let slowest_ns = slowest_of(world, begin.elapsed())?;
    Ok(Duration::from_secs_f64(1.5e-9 * slowest_ns))
}

/// Measures the calls alternately, each after other work. For each call, returns the median over the rounds of the slowest rank's time for
/// a single call, in nanoseconds. Collective.
pub fn cold_medians_ns(
    world: &World,
    ordinary: &Ordinary,
    rounds: usize,
    meeting: Meeting<'_>,
    calls: &[&dyn Fn() -> Result<(), Error>],
) -> Result<Vec<f64>, Error> {
    let mut work = OtherWork::new();
    let longest_work = longest_work(world, &mut work)?;
    let mut samples = vec![Vec::with_capacity(rounds); calls.len()];
    for _ in 0..rounds {
        for (call, samples) in calls.iter().zip(&mut samples) {
            match meeting {
                Meeting::Barrier(items) => {
                    work.touch();
                    black_box(items.iter().fold(0, |bits, item| bits ^ item.to_bits()));
                    ordinary.barrier()?;
                }
                Meeting::Clock => {
                    ordinary.barrier()?;
                    let agreed = Instant::now() + longest_work;
                    work.touch();
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
