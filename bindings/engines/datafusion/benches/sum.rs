//! Times `exact_sum`, `exact_avg`, `exact_var_samp` and the engine's own `sum`, `avg`, `var_samp` on 10^7 rows in memory with 2 threads.
//!
//! For each pair of functions, prints the nanoseconds per row of both and their ratio. `cargo bench -- --test` uses only 20,000 rows.

#![expect(clippy::unwrap_used, reason = "a benchmark fails where it unwraps")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch};
use arrow::datatypes::Float64Type;
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use tokio::runtime::{Builder, Runtime};

const THREADS: usize = 2;
const BATCH_ROWS: usize = 8192;

fn main() {
    let is_test = std::env::args().any(|argument| argument == "--test");
    let (rows, rounds) = if is_test {
        (20_000, 1)
    } else {
        (10_000_000, 5)
    };
    let runtime = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .build()
        .unwrap();
    println!("{rows} rows, {THREADS} threads, the best of {rounds} rounds");
    for groups in [1, 100, 1_000_000] {
        let session = session(rows, groups);
        for (own, exact) in [
            ("sum(x)", "exact_sum(x)"),
            ("avg(x)", "exact_avg(x)"),
            ("var_samp(x)", "exact_var_samp(x)"),
        ] {
            let query = |function: &str| match groups {
                1 => format!("SELECT {function} FROM t"),
                _ => format!("SELECT k, {function} FROM t GROUP BY k"),
            };
            let queries = [own, exact].map(query);
            let mut best = [f64::INFINITY; 2];
            for _ in 0..rounds {
                for (best, query) in best.iter_mut().zip(&queries) {
                    *best = best.min(seconds(&runtime, &session, query));
                }
            }
            let [of_own, of_exact] = best.map(|seconds| seconds * 1e9 / f64::from(rows));
            println!(
                "{groups:>9} groups: {own} {of_own:.2} ns a row, {exact} {of_exact:.2}: ratio {:.2}",
                of_exact / of_own
            );
        }
        let sum = "SELECT exact_sum(s) FROM (SELECT exact_sum(x) AS s FROM t GROUP BY k)";
        let result = runtime.block_on(collect(&session, sum));
        let sum = result[0].column(0).as_primitive::<Float64Type>().value(0);
        println!(
            "{groups:>9} groups: bits of their sum {:016X}",
            sum.to_bits()
        );
    }
}

/// Returns a session with a table `t` of random keys `k` and log-normal items `x` of random sign.
fn session(rows: i32, groups: u64) -> SessionContext {
    let mut state = 44_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    };
    let mut unit = move || next() as f64 / (1_u64 << 53) as f64;
    let rows = usize::try_from(rows).unwrap();
    let mut item = || {
        let normal = (-2.0 * (1.0 - unit()).ln()).sqrt() * (std::f64::consts::TAU * unit()).cos();
        if unit() < 0.5 {
            normal.exp()
        } else {
            -normal.exp()
        }
    };
    let x: Vec<f64> = (0..rows).map(|_| item()).collect();
    let mut state = 45_u64;
    let mut key = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((state >> 33) % groups).cast_signed()
    };
    let k: Vec<i64> = (0..rows).map(|_| key()).collect();
    let columns: [(&str, ArrayRef); 2] = [
        ("k", Arc::new(Int64Array::from(k))),
        ("x", Arc::new(Float64Array::from(x))),
    ];
    let all = RecordBatch::try_from_iter(columns).unwrap();
    let mut parts = vec![Vec::new(); THREADS];
    for (number, first) in (0..rows).step_by(BATCH_ROWS).enumerate() {
        parts[number % THREADS].push(all.slice(first, BATCH_ROWS.min(rows - first)));
    }
    let config = SessionConfig::new()
        .with_target_partitions(THREADS)
        .with_batch_size(BATCH_ROWS);
    let mut session = SessionContext::new_with_config(config);
    treefold_datafusion::register(&mut session).unwrap();
    let table = MemTable::try_new(all.schema(), parts).unwrap();
    session.register_table("t", Arc::new(table)).unwrap();
    session
}

async fn collect(session: &SessionContext, query: &str) -> Vec<RecordBatch> {
    session.sql(query).await.unwrap().collect().await.unwrap()
}

fn seconds(runtime: &Runtime, session: &SessionContext, query: &str) -> f64 {
    let begin = Instant::now();
    black_box(runtime.block_on(collect(session, query)));
    begin.elapsed().as_secs_f64()
}
