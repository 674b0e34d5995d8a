//! Tests sliding windows, in which rows that leave are subtracted exactly.

use arrow::datatypes::{Decimal128Type, Float64Type};

use crate::{Draws, Engine, assert_bits, doubles, integers, values};

const FUNCTIONS: [&str; 7] = [
    "exact_sum(x)",
    "exact_avg(x)",
    "exact_dot(x, y)",
    "exact_var_pop(x)",
    "exact_var_samp(x)",
    "exact_stddev_pop(x)",
    "exact_stddev_samp(x)",
];

/// The values of each window equal those of a query on only the rows of the window.
#[test]
fn sliding_windows() {
    let mut draws = Draws::new("sliding_windows");
    let rows = 60;
    let mut item = |_| match draws.below(15) {
        0 => None,
        1 => Some(f64::INFINITY),
        2 => Some(f64::NAN),
        3 => Some(-0.0),
        4 => Some(draws.double(900)),
        _ => Some(draws.double(5)),
    };
    let x: Vec<Option<f64>> = (0..rows).map(&mut item).collect();
    let y: Vec<Option<f64>> = (0..rows).map(&mut item).collect();
    let keys = || integers((0..rows).map(i64::from));
    for partitions in [1, 2] {
        let engine = Engine::new(partitions, 16);
        let columns = [
            ("i", keys()),
            ("x", doubles(x.iter().copied())),
            ("y", doubles(y.iter().copied())),
        ];
        engine.table("t", &columns, partitions, 16);
        for (before, after) in [(0, 0), (1, 0), (4, 2), (0, 5), (70, 0)] {
            let frame =
                format!("OVER (ORDER BY i ROWS BETWEEN {before} PRECEDING AND {after} FOLLOWING)");
            let values_of = FUNCTIONS
                .map(|function| format!("{function} {frame}"))
                .join(", ");
            let found = engine.run(&format!("SELECT {values_of} FROM t ORDER BY i"));
            let alone = FUNCTIONS.join(", ");
            let query = |i: i32| {
                let window = format!("i BETWEEN {} AND {}", i - before, i + after);
                engine.run(&format!("SELECT {alone} FROM t WHERE {window}"))
            };
            let expected: Vec<_> = (0..rows).map(query).collect();
            for (number, function) in FUNCTIONS.iter().enumerate() {
                let column =
                    |batch: &arrow::array::RecordBatch| values::<Float64Type>(batch.column(number));
                let expected: Vec<_> = expected.iter().flat_map(column).collect();
                assert_bits(&column(&found), &expected, (function, &frame));
            }
        }
    }
}

#[test]
fn integers_leave_windows() {
    let engine = Engine::new(1, 8);
    engine.table(
        "t",
        &[
            ("i", integers([1, 2, 3, 4])),
            (
                "n",
                integers([Some(i64::MAX), Some(i64::MAX), None, Some(1)]),
            ),
        ],
        1,
        8,
    );
    let frame = "OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)";
    let result = engine.run(&format!(
        "SELECT exact_sum(n) {frame}, exact_avg(n) {frame} FROM t ORDER BY i"
    ));
    let most = i128::from(i64::MAX);
    let sums = [most, 2 * most, most, 1].map(Some);
    assert_eq!(values::<Decimal128Type>(result.column(0)), sums);
    let large = Some(2_f64.powi(63));
    assert_bits(
        &values::<Float64Type>(result.column(1)),
        &[large, large, large, Some(1.0)],
        (),
    );
}
