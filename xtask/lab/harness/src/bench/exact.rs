//! Exact sums by key, and of windows that move, against plain ones.

pub mod python;
pub mod ranks;

use std::hint::black_box;

use hashbrown::HashMap;
use reduce::exact::{self, HashedSums, KeyedSums, Level, Rolling};

use super::Row;
use super::timing::{Candidate, medians_ns};
use crate::data::Random;
use crate::output::Output;

/// Random keys, or the same in ascending order.
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
            count: self.count,
            order: "sorted",
            of_items,
        }
    }
}

/// Measures sums by key of dense keys, of hashed ones, by all threads and one at a time, and rolling sums and means.
pub fn measure(quick: bool, output: &Output) -> Vec<Row> {
    let (items, counts, rounds): (usize, Vec<u32>, usize) = if quick {
        (1 << 14, vec![4, 12], 3)
    } else {
        (1 << 23, vec![4, 8, 12, 16, 18, 20, 22], 5)
    };
    let counts: Vec<usize> = counts.into_iter().map(|log| 1 << log).collect();
    let plain = log_normal(items);
    let sum = exact::sum(&plain);
    output.say(format!("exact: {items} items, whose sum is {sum:e}"));
    let mixed = with_zeros(&plain);
    let wide = over_binades(&plain, 600.0);
    let floats = rounded(&plain);
    let mut rows = Vec::new();
    for count in counts {
        let random = Keys::random(count, items);
        for keys in [&random, &random.sorted()] {
            rows.extend(dense(keys, "f64", &plain, rounds));
            rows.push(singles(keys, &floats, rounds));
        }
        if count <= 1 << 16 {
            rows.extend(dense(&random, "zeros", &mixed, rounds));
            rows.extend(dense(&random, "binades", &wide, rounds));
        }
        rows.push(threads(&random, &plain, rounds));
        rows.push(hashed(&random, &plain, rounds));
        if count <= 1 << 12 {
            rows.push(one_at_a_time(&random, &plain, rounds));
        }
    }
    for window in [10, 1000, items / 8] {
        rows.extend(rolling(&plain, window, rounds));
    }
    rows
}

/// Items of random sign whose logarithms are spread evenly over some decades.
fn log_normal(items: usize) -> Vec<f64> {
    let mut random = Random::new(1);
    let mut item = |_| {
        // The sum of four is near enough to normal.
        let normal = (0..4).fold(-2.0, |sum, _| sum + random.uniform());
        let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
        sign * (2.0 * normal).exp()
    };
    (0..items).map(&mut item).collect()
}

/// A tenth of the items are zero, and one in 10^4 is a NaN.
fn with_zeros(items: &[f64]) -> Vec<f64> {
    let mut random = Random::new(2);
    let mut item = |item: &f64| match random.below(10_000) {
        0 => f64::NAN,
        1..=1000 => 0.0,
        _ => *item,
    };
    items.iter().map(&mut item).collect()
}

/// The items times powers of two.
fn over_binades(items: &[f64], binades: f64) -> Vec<f64> {
    let mut random = Random::new(3);
    let mut item = |item: &f64| {
        let exponent = random.uniform() * binades - binades / 2.0;
        item * exponent.floor().exp2()
    };
    items.iter().map(&mut item).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rounded items serve as well"
)]
fn rounded(items: &[f64]) -> Vec<f32> {
    items.iter().map(|item| *item as f32).collect()
}

/// The levels that sums by key have other code for: the best one, and AVX2.
fn levels() -> Vec<Level> {
    let best = Level::best();
    let is_told = |level: &Level| *level == best || level.to_string() == "avx2";
    Level::available().filter(is_told).collect()
}

fn scatter_add<T: Copy + Default + std::ops::AddAssign>(
    keys: &[u32],
    items: &[T],
    sums: usize,
) -> Vec<T> {
    let mut sums = vec![T::default(); sums];
    for (key, item) in keys.iter().zip(items) {
        sums[*key as usize] += *item;
    }
    sums
}

fn dense(keys: &Keys, items: &str, doubles: &[f64], rounds: usize) -> Vec<Row> {
    let mut candidates = vec![Candidate::new("plain", || {
        black_box(scatter_add(black_box(&keys.of_items), doubles, keys.count));
    })];
    for level in levels() {
        candidates.push(Candidate::new(format!("by-key-{level}"), move || {
            let mut sums = KeyedSums::<f64>::new(keys.count);
            let added = sums.add_at(level, black_box(&keys.of_items), doubles);
            added.expect("the keys are right");
            black_box(sums.values());
        }));
    }
    keys.against_first(&mut candidates, items, "scatter-add", rounds)
}

fn singles(keys: &Keys, floats: &[f32], rounds: usize) -> Row {
    let plain = Candidate::new("plain", || {
        black_box(scatter_add(black_box(&keys.of_items), floats, keys.count));
    });
    let own = Candidate::new("by-key", || {
        let sums = exact::by_key(black_box(&keys.of_items), floats, keys.count);
        black_box(sums.expect("the keys are right"));
    });
    keys.against(plain, own, "f32", "scatter-add", rounds)
}

fn threads(keys: &Keys, items: &[f64], rounds: usize) -> Row {
    let one = Candidate::new("plain", || {
        let sums = exact::by_key(black_box(&keys.of_items), items, keys.count);
        black_box(sums.expect("the keys are right"));
    });
    let all = Candidate::new("by-key-par", || {
        let sums = exact::par::by_key(black_box(&keys.of_items), items, keys.count);
        black_box(sums.expect("the keys are right"));
    });
    keys.against(one, all, "f64", "one thread", rounds)
}

fn hashed(keys: &Keys, items: &[f64], rounds: usize) -> Row {
    // Keys that are far apart.
    let spread = |key: &u32| u64::from(*key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let hashed: Vec<u64> = keys.of_items.iter().map(spread).collect();
    let plain = Candidate::new("plain", || {
        let mut sums = HashMap::<u64, f64>::new();
        for (key, item) in black_box(&hashed).iter().zip(items) {
            *sums.entry(*key).or_default() += item;
        }
        black_box(sums);
    });
    let own = Candidate::new("hashed", || {
        let mut sums = HashedSums::<u64, f64>::new();
        let added = sums.add(black_box(&hashed), items);
        added.expect("there are as many keys");
        black_box(sums);
    });
    keys.against(plain, own, "f64", "hashed, plain", rounds)
}

fn one_at_a_time(keys: &Keys, items: &[f64], rounds: usize) -> Row {
    let plain = Candidate::new("plain", || {
        let mut sums = vec![0.0; keys.count];
        for (key, item) in black_box(&keys.of_items).iter().zip(items) {
            sums[*key as usize] += item;
            black_box(&mut sums);
        }
    });
    let own = Candidate::new("by-key-one", || {
        let mut sums = KeyedSums::<f64>::new(keys.count);
        for (key, item) in black_box(&keys.of_items).iter().zip(items) {
            sums.add_one(*key as usize, *item);
            black_box(&mut sums);
        }
    });
    keys.against(plain, own, "f64", "scatter-add", rounds)
}

fn rolling(items: &[f64], window: usize, rounds: usize) -> Vec<Row> {
    let windows = Rolling::of_items(window);
    let mut candidates = [
        Candidate::new("plain", || {
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
            black_box(sums);
        }),
        Candidate::new("rolling-sums", || {
            black_box(windows.sums(black_box(items)));
        }),
        Candidate::new("rolling-means", || {
            black_box(windows.means(black_box(items)));
        }),
    ];
    let medians = medians_ns(&mut candidates, rounds);
    let own = candidates.iter().zip(&medians).skip(1);
    let row = |(candidate, median): (&Candidate<'_>, &f64)| Row {
        variant: format!("{} f64", candidate.name),
        n: window as u64,
        distribution: Some("window".to_owned()),
        ..row(*median, medians[0], items.len(), "running sum")
    };
    own.map(row).collect()
}

impl Keys {
    /// The row of a candidate beside what it is compared with.
    fn against(
        &self,
        reference: Candidate<'_>,
        own: Candidate<'_>,
        items: &str,
        name: &str,
        rounds: usize,
    ) -> Row {
        let rows = self.against_first(&mut [reference, own], items, name, rounds);
        rows.into_iter().next().expect("there is one")
    }

    /// The rows of all candidates but the first, with which they are compared.
    fn against_first(
        &self,
        candidates: &mut [Candidate<'_>],
        items: &str,
        reference: &str,
        rounds: usize,
    ) -> Vec<Row> {
        let medians = medians_ns(candidates, rounds);
        let own = candidates.iter().zip(&medians).skip(1);
        let row = |(candidate, median): (&Candidate<'_>, &f64)| Row {
            variant: format!("{} {items}", candidate.name),
            n: self.count as u64,
            distribution: Some(self.order.to_owned()),
            ..row(*median, medians[0], self.of_items.len(), reference)
        };
        own.map(row).collect()
    }
}

/// A row of so many items' time, and that of the reference.
fn row(median: f64, of_reference: f64, items: usize, reference: &str) -> Row {
    Row {
        bench: "exact".to_owned(),
        variant: String::new(),
        n: 0,
        ranks: 1,
        backend: "threads".to_owned(),
        distribution: None,
        median_ns: median / items as f64,
        gbps: None,
        ratio: median / of_reference,
        reference: reference.to_owned(),
        state: super::warm(),
    }
}
