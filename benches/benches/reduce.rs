//! An allreduce over two threads, by algorithm, on the published distributions.
//!
//! `cargo xtask bench reduce` compares with the unreproducible ways, and runs under MPI, too.

use std::time::{Duration, Instant};

use benches::log_likelihoods;
use comm::{Communicator, threads};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use distribution::Scheme;
use reduce::{Algorithm, Plan};

const RANKS: usize = 2;

/// On two ranks the other schedules are one of these.
const ALGORITHMS: [Algorithm; 5] = [
    Algorithm::RecursiveDoubling,
    Algorithm::Binomial,
    Algorithm::Algorithm1,
    Algorithm::Unordered,
    Algorithm::LeftToRight,
];

/// The time of so many calls on the slower rank, and the bits they gave.
fn measure(items: &[f64], scheme: Scheme, algorithm: Algorithm, calls: u64) -> (Duration, u64) {
    let ranks = threads::run(RANKS, |comm| {
        let distribution = scheme
            .distribute(items.len() as u64, RANKS)
            .expect("there are ranks");
        let builder = Plan::builder(comm)
            .distribution(&distribution)
            .algorithm(algorithm);
        let plan = builder.build::<f64>().expect("the ranks agree");
        let range = distribution.range(comm.rank());
        let index = |item: u64| usize::try_from(item).expect("the items are in memory");
        let local = &items[index(range.start)..index(range.end)];
        let mut bits = 0;
        let begin = Instant::now();
        for _ in 0..calls {
            bits = plan.allreduce(local).expect("no rank fails").to_bits();
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
            for algorithm in ALGORITHMS {
                let (_, bits) = measure(&items, scheme, algorithm, 1);
                eprintln!("N = {count}, {scheme}, {algorithm}: bits {bits:016X}");
                let id = BenchmarkId::new(format!("{algorithm}, {scheme}"), count);
                group.bench_function(id, |bencher| {
                    bencher.iter_custom(|calls| measure(&items, scheme, algorithm, calls).0);
                });
            }
        }
    }
    group.finish();
}

criterion_group!(all, allreduce);
criterion_main!(all);
