//! Compares exact sums by key and over moving windows with plain ones, and allreduces by key with the transport's own allreduce of one
//! plain double per key.

use std::hint::black_box;
use std::ops::AddAssign;

use hashbrown::HashMap;
use reduce::exact::{self, Float, Hashed, Keyed, Level, Placement, Rolling, Statistic};
use reduce::{Plan, Sum, World};
use serde::{Deserialize, Serialize};

use super::timing::{Candidate, median, slowest_ns};
use super::{Report, Row, compare, quick_or, rows_of};
use crate::data::Random;
use crate::ordinary::Ordinary;
use crate::output::Output;
use crate::{Backend, Error, Place};

/// The keys of items, in random or ascending order.
struct Keys {
    count: usize,
    order: &'static str,
    of_items: Vec<u32>,
}

impl Keys {
    fn random(count: usize, items: usize) -> Self {
        let mut random = Random::new(count as u64);
        let key = |_| u32::try_from(random.below(count as u64)).expect("there are fewer keys");
        Self {
            count,
            order: "random",
            of_items: (0..items).map(key).collect(),
        }
    }

    fn sorted(&self) -> Self {
        let mut of_items = self.of_items.clone();
        of_items.sort_unstable();
        Self {
            order: "sorted",
            of_items,
            ..*self
        }
    }

    /// The candidate that computes plain sums by these keys.
    fn plain<'c, T: Copy + Default + AddAssign>(&'c self, items: &'c [T]) -> Candidate<'c> {
        Candidate::new(PLAIN, move || {
            let mut sums = vec![T::default(); self.count];
            for (key, item) in black_box(&self.of_items).iter().zip(items) {
                sums[*key as usize] += *item;
            }
            sums
        })
    }

    /// The candidate that computes exact sums by these keys.
    fn exact<'c, T: Float>(&'c self, name: &str, items: &'c [T]) -> Candidate<'c> {
        Candidate::new(name, move || {
            exact::by_key(black_box(&self.of_items), items, self.count).expect(RIGHT)
        })
    }

    fn rows(
        &self,
        candidates: Vec<Candidate<'_>>,
        items: &str,
        reference: &str,
        rounds: usize,
    ) -> Vec<Row> {
        let counts = [self.of_items.len(), self.count];
        rows(candidates, counts, items, self.order, reference, rounds)
    }
}

/// Why the calls of a measurement cannot fail.
const MEMORY: &str = "there is memory for as many sums as values";
const RIGHT: &str = "the keys are right";

/// The name of the candidate with which the others are compared.
const PLAIN: &str = "plain";

/// Measures sums by dense keys (also with all threads, and one item at a time), sums by hashed keys, and rolling statistics.
pub fn measure(quick: bool, output: &Output) -> Vec<Row> {
    let (items, rounds) = quick_or(quick, (1 << 14, 3), (1 << 23, 5));
    let counts = quick_or(quick, &[4, 12][..], &[4, 8, 12, 16, 18, 20, 22]);
    let plain = log_normal(items);
    let sum = exact::sum(&plain);
    output.say(format!("exact: {items} items, whose sum is {sum:e}"));
    let mixed = with_zeros(&plain);
    let wide = over_binades(&plain, 600.0);
    let floats = rounded(&plain);
    let mut rows = Vec::new();
    for count in counts.iter().map(|log| 1 << log) {
        let random = Keys::random(count, items);
        for keys in [&random, &random.sorted()] {
            rows.extend(dense(keys, "f64", &plain, rounds));
            rows.extend(singles(keys, &floats, rounds));
        }
        if count <= 1 << 16 {
            rows.extend(dense(&random, "zeros", &mixed, rounds));
            rows.extend(dense(&random, "binades", &wide, rounds));
        }
        rows.extend(threads(&random, &plain, rounds));
        rows.extend(hashed(&random, &plain, rounds));
        if count <= 1 << 12 {
            rows.extend(one_at_a_time(&random, &plain, rounds));
        }
    }
    for window in [10, 1000, items / 8] {
        rows.extend(rolling(&plain, window, rounds));
    }
    rows
}

/// Log-normal items of random sign.
fn log_normal(items: usize) -> Vec<f64> {
    let mut random = Random::new(1);
    let mut item = |_| {
        // The sum of four uniform numbers is approximately normal.
        let normal = (0..4).fold(-2.0, |sum, _| sum + random.uniform());
        let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
        sign * (2.0 * normal).exp()
    };
    (0..items).map(&mut item).collect()
}

/// The items, of which a tenth are replaced by zeros, and one in 10^4 by a NaN.
fn with_zeros(items: &[f64]) -> Vec<f64> {
    let mut random = Random::new(2);
    let mixed = items.iter().map(|item| match random.below(10_000) {
        0 => f64::NAN,
        1..=1000 => 0.0,
        _ => *item,
    });
    mixed.collect()
}

/// The items, each multiplied by a random power of two from a range of `binades`.
fn over_binades(items: &[f64], binades: f64) -> Vec<f64> {
    let mut random = Random::new(3);
    let scaled = items.iter().map(|item| {
        let exponent = random.uniform() * binades - binades / 2.0;
        item * exponent.floor().exp2()
    });
    scaled.collect()
}

#[expect(clippy::cast_possible_truncation, reason = "the items may be rounded")]
fn rounded(items: &[f64]) -> Vec<f32> {
    items.iter().map(|item| *item as f32).collect()
}

/// The levels at which sums by key run different code: the best one, and AVX2.
fn levels() -> Vec<Level> {
    let best = Level::best();
    let is_told = |level: &Level| *level == best || level.to_string() == "avx2";
    Level::available().filter(is_told).collect()
}

fn dense(keys: &Keys, items: &str, doubles: &[f64], rounds: usize) -> Vec<Row> {
    let mut candidates = vec![keys.plain(doubles)];
    candidates.extend(levels().into_iter().map(|level| {
        Candidate::new(format!("by-key-{level}"), move || {
            let mut sums = Keyed::<exact::Sum<f64>>::new(keys.count).expect(MEMORY);
            let added = sums.add_at(level, black_box(&keys.of_items), doubles);
            added.expect(RIGHT);
            sums.values()
        })
    }));
    keys.rows(candidates, items, "scatter-add", rounds)
}

fn singles(keys: &Keys, floats: &[f32], rounds: usize) -> Vec<Row> {
    let candidates = vec![keys.plain(floats), keys.exact("by-key", floats)];
    keys.rows(candidates, "f32", "scatter-add", rounds)
}

fn threads(keys: &Keys, items: &[f64], rounds: usize) -> Vec<Row> {
    let all = Candidate::new("by-key-par", || {
        exact::par::by_key(black_box(&keys.of_items), items, keys.count).expect(RIGHT)
    });
    let candidates = vec![keys.exact(PLAIN, items), all];
    keys.rows(candidates, "f64", "one thread", rounds)
}

fn hashed(keys: &Keys, items: &[f64], rounds: usize) -> Vec<Row> {
    // The multiplication spreads the keys over all 64-bit integers.
    let spread = |key: &u32| u64::from(*key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let hashed: Vec<u64> = keys.of_items.iter().map(spread).collect();
    let plain = Candidate::new(PLAIN, || {
        let mut sums = HashMap::<u64, f64>::new();
        for (key, item) in black_box(&hashed).iter().zip(items) {
            *sums.entry(*key).or_default() += item;
        }
        sums
    });
    let own = Candidate::new("hashed", || {
        let mut sums = Hashed::<u64, exact::Sum<f64>>::new();
        sums.add(black_box(&hashed), items).expect(RIGHT);
        sums
    });
    keys.rows(vec![plain, own], "f64", "hashed, plain", rounds)
}

fn one_at_a_time(keys: &Keys, items: &[f64], rounds: usize) -> Vec<Row> {
    let plain = Candidate::new(PLAIN, || {
        let mut sums = vec![0.0; keys.count];
        for (key, item) in black_box(&keys.of_items).iter().zip(items) {
            sums[*key as usize] += item;
            black_box(&mut sums);
        }
    });
    let own = Candidate::new("by-key-one", || {
        let mut sums = Keyed::<exact::Sum<f64>>::new(keys.count).expect(MEMORY);
        for (key, item) in black_box(&keys.of_items).iter().zip(items) {
            sums.add_one(*key as usize, *item);
            black_box(&mut sums);
        }
    });
    keys.rows(vec![plain, own], "f64", "scatter-add", rounds)
}

fn rolling(items: &[f64], window: usize, rounds: usize) -> Vec<Row> {
    let windows = Rolling::of_items(window, Placement::Trailing);
    let mut candidates = vec![Candidate::new(PLAIN, || {
        let mut sum = 0.0;
        let first = items.iter().take(window);
        let mut sums: Vec<f64> = Vec::with_capacity(items.len());
        sums.extend(first.map(|item| {
            sum += item;
            sum
        }));
        sums.extend(items.iter().zip(&items[window..]).map(|(left, item)| {
            sum += item - left;
            sum
        }));
        sums
    })];
    for statistic in Statistic::ALL {
        let name = match statistic {
            Statistic::Sum => "rolling-sums".to_owned(),
            Statistic::Mean => "rolling-means".to_owned(),
            other => format!("rolling-{other}"),
        };
        let (windows, items) = (&windows, black_box(items));
        candidates.push(Candidate::new(name, move || {
            let columns = &[items; 2][..statistic.inputs()];
            let values = windows.values(statistic, statistic.defaults(), columns);
            values.expect("the columns are of one length")
        }));
    }
    let windows = [items.len(), window];
    rows(candidates, windows, "f64", "window", "running sum", rounds)
}

/// The rows of all candidates except the plain one, for `items` items with `n` keys, or a window of `n` items.
fn rows(
    mut candidates: Vec<Candidate<'_>>,
    [items, n]: [usize; 2],
    kind: &str,
    order: &str,
    reference: &str,
    rounds: usize,
) -> Vec<Row> {
    let references = [(PLAIN, reference)];
    let mut rows = compare("exact", n, rounds, &mut candidates, &references);
    rows.retain(|row| row.variant != PLAIN);
    for row in &mut rows {
        row.variant += &format!(" {kind}");
        row.distribution = Some(order.to_owned());
        row.median_ns /= items as f64;
    }
    rows
}

/// The job of every rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExactJob {
    /// The numbers of keys.
    keys: Vec<usize>,
    /// How often each measurement is repeated.
    rounds: usize,
}

/// The average number of items of each key on a rank.
const ITEMS_OF_KEY: usize = 2;

/// The total number of keys in the calls of a sample. A sample has at least one call.
const SAMPLE_KEYS: usize = 1 << 20;

/// Runs the bench in a place.
pub fn launch(
    place: &Place,
    ranks: usize,
    quick: bool,
    output: &Output,
) -> Result<Vec<Row>, Error> {
    let job = ExactJob {
        keys: quick_or(quick, vec![64, 4096], vec![4096, 1_000_000]),
        rounds: quick_or(quick, 3, 31),
    };
    rows_of(place, ranks, ("exact", &job), on_rank, output)
}

/// Measures the job on the ranks of a world; rank 0 passes all results to `report`. Collective.
pub fn on_rank(
    world: &World,
    backend: Backend,
    job: &ExactJob,
    report: &dyn Fn(Report<Row>),
) -> Result<(), Error> {
    let ordinary = Ordinary::new(world, backend)?;
    for &count in &job.keys {
        let items = log_normal(ITEMS_OF_KEY * count);
        let keys = Keys::random(count, items.len());
        let mut local = Keyed::<exact::Sum<f64>>::new(count).expect(MEMORY);
        local.add(&keys.of_items, &items).expect(RIGHT);
        let plain = local.values();
        let plan = Plan::builder(world).build_keyed(count)?;
        let mut result = vec![0.0; count];
        let repeats = (SAMPLE_KEYS / count).clamp(1, 200);
        let mut samples = [Vec::new(), Vec::new()];
        for _ in 0..job.rounds {
            samples[0].push(slowest_ns(world, repeats, || {
                ordinary.allreduce(&Sum, &plain, &mut result)
            })?);
            samples[1].push(slowest_ns(world, repeats, || {
                Ok(plan.allreduce_values(&local, &mut result)?)
            })?);
        }
        if world.rank() == 0 {
            let [reference_ns, ns] = samples.map(|samples| median(samples) / count as f64);
            let variant = ("by-key-allreduce f64", ns);
            let reference = (backend.allreduce(), reference_ns);
            let ranks = world.size();
            let words = format!("exact: {count} keys on {ranks} ranks");
            report(Report::Said(words));
            report(Report::Row(Row {
                ranks,
                backend: backend.name().to_owned(),
                distribution: Some(keys.order.to_owned()),
                ..Row::of("exact", variant, count, reference)
            }));
        }
    }
    Ok(())
}
