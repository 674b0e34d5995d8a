//! Times local sums of several lengths (Figure 3.8 of the thesis); look-ups of the rank that owns an item, in linear, logarithmic and constant
//! time (Figure 3.6); and allreduces over two threads with several algorithms and all schemes of distributing items.
//!
//! `cargo xtask bench` also compares these with references, such as unreproducible sums, and can run the allreduces under MPI.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use distribution::{Distribution, Scheme, lookup};
use harness::data::{Random, log_likelihoods};
use harness::{Backend, Runner, Way};
use reduce::{Algorithm, threads};
use simd_kernels::{
    Level, by_definition, left_to_right, reduce_level_by_level, scratch_len, sum, unordered_sum,
};

/// The maximum length for the recursive definition, which is too slow for more leaves.
const DEFINITION_LEAVES: usize = 1 << 14;

fn kernels(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("kernels");
    for leaves in (3..=20).step_by(3).map(|log| 1_usize << log) {
        let data = log_likelihoods(leaves, 1);
        let bits = sum(Level::SCALAR, &data).map(f64::to_bits);
        eprintln!("N = {leaves}: bits {:016X}", bits.unwrap_or_default());
        group.throughput(Throughput::Bytes(size_of_val(data.as_slice()) as u64));
        let id = |name: &str| BenchmarkId::new(name, leaves);
        if leaves <= DEFINITION_LEAVES {
            group.bench_function(id("recursive"), |bencher| {
                bencher.iter(|| by_definition(black_box(&data), &|left, right| left + right));
            });
        }
        group.bench_function(id("left-to-right"), |bencher| {
            bencher.iter(|| left_to_right(black_box(&data)));
        });
        for level in Level::available() {
            let mut scratch = vec![0.0; scratch_len(leaves)];
            group.bench_function(id(&format!("algorithm4-{level}")), |bencher| {
                bencher.iter(|| reduce_level_by_level(level, black_box(&data), &mut scratch));
            });
            group.bench_function(id(&format!("sum-{level}")), |bencher| {
                bencher.iter(|| sum(level, black_box(&data)));
            });
            group.bench_function(id(&format!("unordered-simd-{level}")), |bencher| {
                bencher.iter(|| unordered_sum(level, black_box(&data)));
            });
        }
    }
    group.finish();
}

fn rank_of_item(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rank of an item");
    for ranks in (4..=12).step_by(4).map(|log| 1_usize << log) {
        let items = 1_000 * ranks as u64 + 7;
        let distribution = Distribution::upper(items, ranks).expect("there are ranks");
        let starts: Vec<u64> = distribution.starts().collect();
        let mut random = Random::new(1);
        let mut one_of = |name: &str, rank_of: &dyn Fn(u64) -> usize| {
            group.bench_function(BenchmarkId::new(name, ranks), |bencher| {
                bencher.iter(|| rank_of(black_box(random.below(items))));
            });
        };
        one_of("linear", &|item| lookup::linear(&starts, item));
        one_of("logarithmic", &|item| lookup::logarithmic(&starts, item));
        one_of("constant", &|item| distribution.rank_of(item));
    }
    group.finish();
}

const RANKS: usize = 2;

/// The ways to reduce that are timed. On two ranks, every other algorithm has the same schedule as one of these.
const WAYS: [Way; 5] = [
    Way::Tree(Algorithm::RecursiveDoubling),
    Way::Tree(Algorithm::Binomial),
    Way::Tree(Algorithm::Algorithm1),
    Way::Unordered,
    Way::LeftToRight,
];

/// Makes `calls` allreduces. Returns their total time on the slower rank, and the bits of the sum.
fn measure(items: &[f64], scheme: Scheme, way: Way, calls: u64) -> (Duration, u64) {
    let ranks = threads::run(RANKS, |world| {
        let distribution = scheme
            .distribute(items.len() as u64, RANKS)
            .expect("there are ranks");
        let range = distribution.range(world.rank());
        let runner = Runner::new(way, world, Backend::Threads, &distribution.into());
        let runner = runner.expect("the ranks agree");
        let index = |item: u64| usize::try_from(item).expect("the items are in memory");
        let local = &items[index(range.start)..index(range.end)];
        let mut bits = 0;
        let begin = Instant::now();
        for _ in 0..calls {
            bits = runner.allreduce(local).expect("no rank fails").to_bits();
        }
        (begin.elapsed(), bits)
    });
    ranks
        .expect("no rank panics")
        .into_iter()
        .max()
        .expect("there are ranks")
}

fn allreduce(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("allreduce on 2 threads");
    for count in [460, 239_763] {
        let items = log_likelihoods(count, 1);
        for &scheme in Scheme::ALL {
            for way in WAYS {
                let (_, bits) = measure(&items, scheme, way, 1);
                eprintln!("N = {count}, {scheme}, {way}: bits {bits:016X}");
                let id = BenchmarkId::new(format!("{way}, {scheme}"), count);
                group.bench_function(id, |bencher| {
                    bencher.iter_custom(|calls| measure(&items, scheme, way, calls).0);
                });
            }
        }
    }
    group.finish();
}

criterion_group!(all, kernels, rank_of_item, allreduce);
criterion_main!(all);
