//! One kernel, called so often: what `tests/instructions.rs` counts the instructions of.
//!
//!     one-kernel LEVEL LEAVES CALLS

use std::env;
use std::hint::black_box;

use simd_kernels::{Level, sum};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [level, leaves, calls] = &arguments[..] else {
        panic!("usage: one-kernel LEVEL LEAVES CALLS");
    };
    let level = Level::named(level).expect("the level is there");
    let number = |word: &String| word.parse::<usize>().expect("a number");
    let data = benches::log_likelihoods(number(leaves), 1);
    for _ in 0..number(calls) {
        black_box(sum(level, black_box(&data)));
    }
}
