//! Compares aggregates of random groups with values computed in big integers, for several numbers of partitions and orders of rows.

use std::collections::BTreeMap;

use arrow::array::ArrayRef;
use arrow::datatypes::{Float64Type, Int64Type};
use arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::{SessionConfig, col};
use integer_sums::units::{dot, quotient_to_double, root_of_quotient, sum, to_double};
use num_bigint::BigInt;

use crate::{Draws, Engine, assert_bits, doubles, integers, values};

type Row = (Option<i64>, Option<f64>, Option<f64>);

const ALL: &str = "exact_sum(x), exact_avg(x), exact_dot(x, y), \
    exact_var_pop(x), exact_var_samp(x), exact_stddev_pop(x), exact_stddev_samp(x)";

/// Computes the seven statistics of rows with big integers.
fn expected(rows: &[Row]) -> [Option<f64>; 7] {
    let x: Vec<f64> = rows.iter().filter_map(|row| row.1).collect();
    let pairs = rows.iter().filter_map(|row| row.1.zip(row.2));
    let (left, right): (Vec<f64>, Vec<f64>) = pairs.unzip();
    let n = BigInt::from(x.len());
    let exact = sum(x.iter().copied());
    // The sum S and the squares' sum Q are in units of 2^-2148. In n Q - S^2, S^2 is in units of 2^-4296, so Q and the divisor are shifted.
    let spread = |divisor: BigInt, is_root: bool| {
        (divisor > BigInt::from(0)).then(|| {
            let numerator = &n * (dot(&x, &x) << 2148_u32) - &exact * &exact;
            let divisor = (&n * divisor) << 2148_u32;
            if is_root {
                root_of_quotient(&numerator, &divisor)
            } else {
                quotient_to_double(&numerator, &divisor)
            }
        })
    };
    let some = |count: usize, value: f64| (count > 0).then_some(value);
    [
        some(x.len(), to_double(&exact)),
        (!x.is_empty()).then(|| quotient_to_double(&exact, &n)),
        some(left.len(), to_double(&dot(&left, &right))),
        spread(n.clone(), false),
        spread(&n - 1, false),
        spread(n.clone(), true),
        spread(&n - 1, true),
    ]
}

fn rows(draws: &mut Draws, count: usize, groups: u64, binades: u64) -> Vec<Row> {
    let mut row = || {
        let key = (draws.below(40) > 0).then(|| draws.below(groups).cast_signed());
        let mut item = || match draws.below(20) {
            0 => None,
            1 => Some(-0.0),
            _ => Some(draws.double(binades)),
        };
        (key, item(), item())
    };
    (0..count).map(|_| row()).collect()
}

fn columns(rows: &[Row]) -> [(&'static str, ArrayRef); 3] {
    [
        ("k", integers(rows.iter().map(|row| row.0))),
        ("x", doubles(rows.iter().map(|row| row.1))),
        ("y", doubles(rows.iter().map(|row| row.2))),
    ]
}

fn table(engine: &Engine, rows: &[Row], partitions: usize, batch_rows: usize) {
    engine.table("t", &columns(rows), partitions, batch_rows);
}

fn check(engine: &Engine, rows: &[Row], what: &str) {
    let mut groups = BTreeMap::<_, Vec<Row>>::new();
    for row in rows {
        groups.entry(row.0).or_default().push(*row);
    }
    let sql = format!("SELECT k, {ALL} FROM t GROUP BY k ORDER BY k NULLS FIRST");
    let result = engine.run(&sql);
    let keys = values::<Int64Type>(result.column(0));
    assert_eq!(keys, groups.keys().copied().collect::<Vec<_>>(), "{what}");
    let expected: Vec<_> = groups.values().map(|rows| expected(rows)).collect();
    for function in 0..7 {
        let found = values::<Float64Type>(result.column(function + 1));
        let expected: Vec<_> = expected.iter().map(|values| values[function]).collect();
        assert_bits(&found, &expected, (what, function));
    }
}

#[test]
fn random_groups_whatever_the_partitions_and_the_order() {
    let mut draws = Draws::new("random_groups");
    for (count, groups, binades) in [
        (0, 1, 1),
        (1, 1, 9),
        (60, 7, 1000),
        (3000, 5, 20),
        (2500, 900, 60),
        (4000, 3000, 900),
    ] {
        let mut rows = rows(&mut draws, count, groups, binades);
        for (partitions, batch_rows) in [(1, 8192), (2, 100), (4, 37)] {
            draws.shuffle(&mut rows);
            let engine = Engine::new(partitions, batch_rows);
            table(&engine, &rows, partitions, batch_rows);
            check(
                &engine,
                &rows,
                &format!("{count} rows, {groups} groups, {partitions} partitions"),
            );
            let result = engine.run(&format!("SELECT {ALL} FROM t"));
            let found: Vec<_> = (0..7)
                .map(|column| values::<Float64Type>(result.column(column))[0])
                .collect();
            assert_bits(&found, &expected(&rows), ("all rows", count, partitions));
        }
    }
}

/// If most groups have a single row, the engine skips partial aggregation, and converts each row to a state.
#[test]
fn partial_aggregation_is_skipped() {
    let mut draws = Draws::new("partial_aggregation_is_skipped");
    let rows = rows(&mut draws, 6000, 1_000_000, 900);
    let mut config = SessionConfig::new()
        .with_target_partitions(2)
        .with_batch_size(256);
    let options = &mut config.options_mut().execution;
    options.skip_partial_aggregation_probe_rows_threshold = 300;
    options.skip_partial_aggregation_probe_ratio_threshold = 0.1;
    let engine = Engine::of(config);
    table(&engine, &rows, 2, 256);
    check(&engine, &rows, "skipped");
    let filtered = "exact_sum(x) FILTER (WHERE y > 0), exact_sum(k) FILTER (WHERE y > 0)";
    let plan = engine.run(&format!(
        "EXPLAIN ANALYZE SELECT k, {ALL}, {filtered} FROM t GROUP BY k"
    ));
    let plan = pretty_format_batches(&[plan]).unwrap().to_string();
    let (_, skipped) = plan
        .split_once("skipped_aggregation_rows=")
        .expect("a metric");
    assert!(!skipped.starts_with('0'), "{plan}");

    // Sums with a filter equal those of a session that does not skip partial aggregation.
    let sql = format!("SELECT k, {filtered} FROM t GROUP BY k ORDER BY k");
    let other = Engine::new(1, 8192);
    table(&other, &rows, 1, 8192);
    assert_eq!(engine.run(&sql), other.run(&sql));
}

/// If the rows are sorted by key, the engine emits the first groups before it has read all rows.
#[test]
fn sorted_rows_are_emitted_early() {
    let mut draws = Draws::new("sorted_rows");
    let mut rows = rows(&mut draws, 3000, 700, 30);
    rows.sort_by_key(|row| row.0);
    let engine = Engine::new(1, 64);
    let order = vec![vec![col("k").sort(true, true)]];
    engine.sorted_table("sorted", &columns(&rows), order, 1, 64);
    let sql = format!("SELECT k, {ALL}, exact_sum(k) FROM sorted GROUP BY k");
    let plan = engine.run(&format!("EXPLAIN {sql}"));
    let plan = pretty_format_batches(&[plan]).unwrap().to_string();
    assert!(plan.contains("ordering_mode=Sorted"), "{plan}");
    let sorted = engine.run(&format!("SELECT * FROM ({sql}) ORDER BY k NULLS FIRST"));
    table(&engine, &rows, 1, 64);
    let sql = format!("SELECT k, {ALL}, exact_sum(k) FROM t GROUP BY k ORDER BY k NULLS FIRST");
    let result = engine.run(&sql);
    assert_eq!(sorted.columns(), result.columns());
    check(&engine, &rows, "sorted");
}

/// With little memory, the engine writes the states of groups to files and reads them again.
#[test]
fn states_are_spilled_to_files() {
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use datafusion::prelude::SessionContext;

    let mut draws = Draws::new("states_are_spilled");
    let rows = rows(&mut draws, 20_000, 9000, 40);
    let mut config = SessionConfig::new()
        .with_target_partitions(1)
        .with_batch_size(512);
    config.options_mut().execution.sort_spill_reservation_bytes = 1000;
    let mut engine = Engine::of(config.clone());
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_limit(2_500_000, 1.0)
        .build_arc()
        .unwrap();
    engine.session = SessionContext::new_with_config_rt(config, runtime);
    treefold_datafusion::register(&mut engine.session).unwrap();
    table(&engine, &rows, 1, 512);
    let sql = format!("EXPLAIN ANALYZE SELECT k, {ALL} FROM t GROUP BY k");
    let plan = pretty_format_batches(&[engine.run(&sql)])
        .unwrap()
        .to_string();
    assert!(
        plan.contains("spill_count=") && !plan.contains("spill_count=0,"),
        "{plan}"
    );
    check(&engine, &rows, "spilled");
}
