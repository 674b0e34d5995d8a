//! Figure 3.8 of the thesis: local sums of one rank, by length.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use harness::data::log_likelihoods;
use simd_kernels::{
    Level, by_definition, left_to_right, reduce_level_by_level, scratch_len, sum, unordered_sum,
};

/// For more leaves, the recursive definition is too slow.
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

criterion_group!(all, kernels);
criterion_main!(all);
