//! An allreduce over two threads, by algorithm, on the published distributions.
//!
//! `cargo xtask bench reduce` compares with unreproducible reductions, and also runs under MPI.

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use distribution::Scheme;
use harness::data::log_likelihoods;
use harness::{Backend, Runner, Way};
use reduce::{Algorithm, threads};

const RANKS: usize = 2;

/// On two ranks, every other schedule is equal to one of these.
const WAYS: [Way; 5] = [
    Way::Tree(Algorithm::RecursiveDoubling),
    Way::Tree(Algorithm::Binomial),
    Way::Tree(Algorithm::Algorithm1),
    Way::Unordered,
    Way::LeftToRight,
];

/// The time of `calls` calls on the slower rank, and the bits they gave.
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

criterion_group!(all, allreduce);
criterion_main!(all);
