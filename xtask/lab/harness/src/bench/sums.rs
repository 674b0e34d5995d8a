//! Measures sums of doubles on one core, for many lengths: in tree order, exact, in any order, and by a plain loop.

use std::hint::black_box;

use reduce::exact;
use simd_kernels::{Level, Variant, left_to_right, sum, unordered_sum_with};

use super::quick_or;
use super::timing::{Candidate, samples_ns};
use crate::output::Output;

/// The ways of summing, in the order of [`Times::least_ns`].
pub const WAYS: [&str; 4] = [
    "treefold, tree order",
    "treefold, exact",
    "left-to-right loop",
    "unordered SIMD sum",
];

/// How many times every length is measured. The runs are minutes apart, since the machine's state may change.
const RUNS: usize = 5;

/// Sums of more doubles take milliseconds, so fewer rounds suffice.
const LONG: usize = 1 << 20;

/// The times of sums of one length.
#[derive(Clone, Debug)]
pub struct Times {
    /// The number of doubles.
    pub items: usize,
    /// For each run, the least time of a call in each of the [`WAYS`], in nanoseconds.
    pub least_ns: Vec<[f64; WAYS.len()]>,
}

impl Times {
    /// The median, and the least and greatest value, of a measure over the runs.
    pub fn range(&self, of: impl Fn(&[f64; WAYS.len()]) -> f64) -> (f64, (f64, f64)) {
        let mut values: Vec<f64> = self.least_ns.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        let (Some(&least), Some(&most)) = (values.first(), values.last()) else {
            return (f64::NAN, (f64::NAN, f64::NAN));
        };
        (values[values.len() / 2], (least, most))
    }
}

/// Measures all ways alternately at every length, and repeats this several times.
pub fn measure(quick: bool, output: &Output) -> Vec<Times> {
    let (last, step, runs) = quick_or(quick, (12, 4, 2), (25, 1, RUNS));
    let length = |log: u32| Times {
        items: 1 << log,
        least_ns: Vec::new(),
    };
    let mut all: Vec<Times> = (4..=last).step_by(step).map(length).collect();
    let most = all.iter().map(|times| times.items).max().unwrap_or(0);
    let doubles = crate::data::log_likelihoods(most, 1);
    for run in 1..=runs {
        for times in &mut all {
            times.least_ns.push(least_ns(&doubles[..times.items]));
        }
        output.say(format!("sums: run {run} of {runs}"));
    }
    all
}

/// The least time of a call in each of the [`WAYS`]. Which unordered sum is the fastest depends on the length.
fn least_ns(items: &[f64]) -> [f64; WAYS.len()] {
    let level = Level::best();
    let mut candidates = vec![
        Candidate::new(WAYS[0], || sum(level, black_box(items))),
        Candidate::new(WAYS[1], || exact::sum(black_box(items))),
        Candidate::new(WAYS[2], || left_to_right(black_box(items))),
    ];
    for variant in Variant::ALL {
        candidates.push(Candidate::new(WAYS[3], move || {
            unordered_sum_with(level, variant, black_box(items))
        }));
    }
    let rounds = if items.len() > LONG { 5 } else { 15 };
    let samples = samples_ns(&mut candidates, rounds);
    let least = |samples: &Vec<f64>| samples.iter().copied().fold(f64::INFINITY, f64::min);
    let (own, unordered) = samples.split_at(WAYS.len() - 1);
    let unordered = unordered.iter().map(least).fold(f64::INFINITY, f64::min);
    [least(&own[0]), least(&own[1]), least(&own[2]), unordered]
}
