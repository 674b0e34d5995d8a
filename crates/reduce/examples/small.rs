//! x
#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::print_stdout,
    clippy::unwrap_used
)]
use reduce::Plan;
use std::time::Instant;
fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let x: Vec<f64> = (0..n).map(|i| 1.0 / (i + 1) as f64).collect();
    comm::threads::run(1, |comm| {
        let plan = Plan::builder(comm)
            .local_items(n as u64)
            .build::<f64>()
            .unwrap();
        for _ in 0..3 {
            let t = Instant::now();
            for _ in 0..std::env::var("R").map_or(1_000_000, |r| r.parse().unwrap()) {
                std::hint::black_box(plan.allreduce(&x).unwrap());
            }
            let a = t.elapsed() / 1_000_000;
            let t = Instant::now();
            for _ in 0..std::env::var("R").map_or(1_000_000, |r| r.parse().unwrap()) {
                std::hint::black_box(reduce::sum(std::hint::black_box(&x)).unwrap());
            }
            let b = t.elapsed() / 1_000_000;
            let t = Instant::now();
            for _ in 0..std::env::var("R").map_or(1_000_000, |r| r.parse().unwrap()) {
                std::hint::black_box(simd_kernels::fold(
                    simd_kernels::Level::best(),
                    simd_kernels::Operation::Sum,
                    std::hint::black_box(&x[..]),
                ));
            }
            let c = t.elapsed() / 1_000_000;
            println!("plan {a:?} sum {b:?} fold {c:?}");
        }
    })
    .unwrap();
}
