//! Timing of several candidates turn by turn, so that a slow moment of the machine meets them all.

use std::fmt;
use std::time::{Duration, Instant};

use comm::{Tag, collective};
use reduce::World;

use crate::Error;

/// A sample is repeated until it lasts this long: the clock's own time no longer matters then.
const SAMPLE: Duration = Duration::from_micros(50);

/// One thing to be measured.
pub struct Candidate<'c> {
    /// Its name in rows.
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
    /// What a call does, under a name.
    pub fn new(name: impl Into<String>, call: impl FnMut() + 'c) -> Self {
        Self {
            name: name.into(),
            call: Box::new(call),
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

/// How many calls make a sample; they also warm the caches up.
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

/// The slowest rank's time of some calls, each, in nanoseconds. No rank begins before all have arrived. Collective.
pub fn slowest_ns(
    world: &World,
    calls: usize,
    call: impl FnMut() -> Result<(), Error>,
) -> Result<f64, Error> {
    slowest_after_ns(world, 0, calls, call)
}

/// [`slowest_ns`] after some calls that are not timed. Ranks begin as far apart as a message is under way; such calls bring them together, if
/// the calls wait for all.
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

/// The middle sample.
pub fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}
