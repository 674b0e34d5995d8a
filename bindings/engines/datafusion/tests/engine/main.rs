//! Runs the functions in the real engine, and compares their values with sums in big integers.

#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::print_stdout, reason = "seeds are printed")]

mod compact;
mod decimals;
mod distinct;
mod groups;
mod reports;
mod rows;
mod states;
mod tree;
mod windows;

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{ArrowPrimitiveType, Float64Type};
use datafusion::datasource::MemTable;
use datafusion::execution::context::SessionContext;
use datafusion::logical_expr::SortExpr;
use datafusion::prelude::SessionConfig;
use tokio::runtime::{Builder, Runtime};

/// A session with treefold's functions, and the threads that it runs on.
struct Engine {
    runtime: Runtime,
    session: SessionContext,
}

impl Engine {
    /// Creates a session with `partitions` partitions and batches of `batch_rows` rows.
    fn new(partitions: usize, batch_rows: usize) -> Self {
        let config = SessionConfig::new()
            .with_target_partitions(partitions)
            .with_batch_size(batch_rows);
        Self::of(config)
    }

    fn of(config: SessionConfig) -> Self {
        let mut session = SessionContext::new_with_config(config);
        treefold_datafusion::register(&mut session).unwrap();
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .build()
            .unwrap();
        Self { runtime, session }
    }

    /// Creates a table of these columns, and distributes its rows over the partitions in batches.
    fn table(
        &self,
        name: &str,
        columns: &[(&str, ArrayRef)],
        partitions: usize,
        batch_rows: usize,
    ) -> &Self {
        self.sorted_table(name, columns, vec![], partitions, batch_rows)
    }

    /// Creates a table as `table` does, and declares to the engine that the rows are in `order`.
    fn sorted_table(
        &self,
        name: &str,
        columns: &[(&str, ArrayRef)],
        order: Vec<Vec<SortExpr>>,
        partitions: usize,
        batch_rows: usize,
    ) -> &Self {
        let columns = columns.iter();
        let columns = columns.map(|(name, column)| (*name, Arc::clone(column), true));
        let all = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let mut parts = vec![Vec::new(); partitions];
        for (number, first) in (0..all.num_rows()).step_by(batch_rows).enumerate() {
            let rows = batch_rows.min(all.num_rows() - first);
            parts[number % partitions].push(all.slice(first, rows));
        }
        let table = MemTable::try_new(all.schema(), parts).unwrap();
        let table = Arc::new(table.with_sort_order(order));
        self.session.register_table(name, table).unwrap();
        self
    }

    fn try_run(&self, sql: &str) -> Result<RecordBatch, String> {
        self.runtime.block_on(async {
            let frame = self
                .session
                .sql(sql)
                .await
                .map_err(|error| error.to_string())?;
            let schema = Arc::clone(frame.schema().inner());
            let batches = frame.collect().await.map_err(|error| error.to_string())?;
            concat_batches(&schema, &batches).map_err(|error| error.to_string())
        })
    }

    fn run(&self, sql: &str) -> RecordBatch {
        self.try_run(sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Returns the first column of the result, which must hold doubles.
    fn doubles(&self, sql: &str) -> Vec<Option<f64>> {
        values::<Float64Type>(self.run(sql).column(0))
    }

    fn double(&self, sql: &str) -> Option<f64> {
        let doubles = self.doubles(sql);
        assert_eq!(doubles.len(), 1, "{sql}");
        doubles[0]
    }
}

fn values<P: ArrowPrimitiveType>(column: &ArrayRef) -> Vec<Option<P::Native>> {
    let column = column.as_primitive_opt::<P>();
    column.expect("a column of the type").iter().collect()
}

fn doubles(items: impl IntoIterator<Item = impl Into<Option<f64>>>) -> ArrayRef {
    let items = items.into_iter().map(Into::into);
    Arc::new(items.collect::<Float64Array>())
}

fn integers(items: impl IntoIterator<Item = impl Into<Option<i64>>>) -> ArrayRef {
    let items = items.into_iter().map(Into::into);
    Arc::new(items.collect::<Int64Array>())
}

/// Returns the bits of a value, which are the same for all NaNs.
fn bits(value: Option<f64>) -> Option<u64> {
    value.map(|value| if value.is_nan() { f64::NAN } else { value }.to_bits())
}

#[track_caller]
fn assert_bits(found: &[Option<f64>], expected: &[Option<f64>], what: impl Debug) {
    let all = |values: &[Option<f64>]| values.iter().copied().map(bits).collect::<Vec<_>>();
    assert_eq!(
        all(found),
        all(expected),
        "{what:?}: {found:?}, not {expected:?}"
    );
}

/// Pseudo-random numbers from a seed, which is printed.
struct Draws(u64);

impl Draws {
    /// Uses the seed in the environment variable `TREEFOLD_SEED`, or else a fixed seed.
    fn new(test: &str) -> Self {
        let seed = std::env::var("TREEFOLD_SEED")
            .ok()
            .map(|seed| seed.parse().unwrap());
        let seed: u64 = seed.unwrap_or(44);
        println!("{test}: TREEFOLD_SEED={seed}");
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.bits() >> 16) % end
    }

    /// Returns a random finite double of either sign, whose magnitude is between about
    /// 2^-binades and 2^binades.
    fn double(&mut self, binades: u64) -> f64 {
        let exponent = 1023 - binades + self.below(2 * binades);
        f64::from_bits(self.bits() & (1 << 63 | ((1 << 52) - 1)) | exponent << 52)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1);
            items.swap(last, usize::try_from(other).unwrap());
        }
    }
}
