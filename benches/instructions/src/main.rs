//! Calls one kernel a given number of times, so that `tests/counts.rs` can count its instructions.
//!
//!     one-kernel KERNEL LEVEL LEAVES CALLS
//!
//! KERNEL is `sum`, `product`, `minimum`, `maximum`, `dot`, `absolute` (the sum and the absolute sum), `unordered-4`, `unordered-8` or
//! `unordered-16` (sums with this number of accumulators), or a number, the width of rows to sum. Suffix `-f32` makes items floats.

use std::env;
use std::hint::black_box;

use simd_kernels::{
    Float, Level, Operation, Variant, dot, fold, fold_rows, rows_scratch_len, sum,
    sum_and_absolute_sum, unordered_sum_with,
};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [kernel, level, leaves, calls] = &arguments[..] else {
        panic!("usage: one-kernel KERNEL LEVEL LEAVES CALLS");
    };
    let level = Level::named(level).expect("the level is supported");
    let number = |word: &String| word.parse::<usize>().expect("a number");
    // The values do not matter: a kernel executes the same instructions for all.
    let items = (0..number(leaves)).map(|i| -1.0 - (i * 7 % 99) as f64 / 3.0);
    let data: Vec<f64> = items.collect();
    let calls = number(calls);
    match kernel.strip_suffix("-f32") {
        None => call(kernel, level, &data, calls),
        Some(kernel) => {
            #[expect(clippy::cast_possible_truncation, reason = "the cast rounds")]
            let data: Vec<f32> = data.iter().map(|&x| x as f32).collect();
            call(kernel, level, &data, calls);
        }
    }
}

fn call<T: Float>(kernel: &str, level: Level, data: &[T], calls: usize) {
    match kernel {
        "sum" => repeat(calls, data, |x| sum(level, x)),
        "product" => repeat(calls, data, |x| fold(level, Operation::Product, x)),
        "minimum" => repeat(calls, data, |x| fold(level, Operation::Minimum, x)),
        "maximum" => repeat(calls, data, |x| fold(level, Operation::Maximum, x)),
        "dot" => repeat(calls, data, |x| dot(level, x, black_box(x))),
        "absolute" => repeat(calls, data, |x| sum_and_absolute_sum(level, x)),
        "unordered-4" | "unordered-8" | "unordered-16" => {
            let variant = Variant::ALL.into_iter().find(|variant| {
                kernel == format!("unordered-{}", variant.accumulators()) && !variant.prefetches()
            });
            let variant = variant.expect("there is a variant without prefetch");
            repeat(calls, data, |x| unordered_sum_with(level, variant, x));
        }
        _ => {
            let width = kernel.parse().expect("the name of a kernel, or a width");
            let mut scratch = vec![T::ZERO; rows_scratch_len::<T>(width, data.len() / width)];
            let mut result = vec![T::ZERO; width];
            repeat(calls, data, |x| {
                fold_rows(level, Operation::Sum, width, x, &mut scratch, &mut result)
            });
        }
    }
}

/// Calls the kernel `calls` times. `black_box` keeps the compiler from merging the calls.
fn repeat<T, R>(calls: usize, data: &[T], mut kernel: impl FnMut(&[T]) -> R) {
    for _ in 0..calls {
        black_box(kernel(black_box(data)));
    }
}
