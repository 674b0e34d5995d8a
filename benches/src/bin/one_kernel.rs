//! One kernel, called so often: what `tests/instructions.rs` counts the instructions of.
//!
//!     one-kernel KERNEL LEVEL LEAVES CALLS
//!
//! A kernel is `sum`, `dot`, `absolute` (the sum and the absolute sum) or the width of a row.

use std::env;
use std::hint::black_box;

use simd_kernels::{Level, Operation, dot, fold_rows, rows_scratch_len, sum, sum_and_absolute_sum};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [kernel, level, leaves, calls] = &arguments[..] else {
        panic!("usage: one-kernel KERNEL LEVEL LEAVES CALLS");
    };
    let level = Level::named(level).expect("the level is supported");
    let number = |word: &String| word.parse::<usize>().expect("a number");
    let data = harness::data::log_likelihoods(number(leaves), 1);
    let calls = number(calls);
    match kernel.as_str() {
        "sum" => repeat(calls, &data, |x| sum(level, x)),
        "dot" => repeat(calls, &data, |x| dot(level, x, black_box(x))),
        "absolute" => repeat(calls, &data, |x| sum_and_absolute_sum(level, x)),
        _ => {
            let width = number(kernel);
            let mut scratch = vec![0.0; rows_scratch_len::<f64>(width, data.len() / width)];
            let mut result = vec![0.0; width];
            repeat(calls, &data, |x| {
                fold_rows(level, Operation::Sum, width, x, &mut scratch, &mut result)
            });
        }
    }
}

/// Calls the kernel so often, each time as if for something new.
fn repeat<R>(calls: usize, data: &[f64], mut kernel: impl FnMut(&[f64]) -> R) {
    for _ in 0..calls {
        black_box(kernel(black_box(data)));
    }
}
