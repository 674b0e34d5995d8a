//! Figure 3.6 of the thesis: finding the rank of an item, in linear, logarithmic and constant time.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use distribution::{Distribution, lookup};
use harness::data::Random;

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

criterion_group!(all, rank_of_item);
criterion_main!(all);
