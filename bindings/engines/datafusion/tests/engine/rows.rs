//! Tests which rows are skipped, which types are accepted, and which arguments are rejected.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, Int8Array, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Decimal128Type, Float64Type};

use crate::{Engine, assert_bits, doubles, integers, values};

#[test]
fn no_rows_or_too_few_give_null() {
    let engine = Engine::new(2, 2);
    engine.table(
        "t",
        &[
            ("k", integers([1, 1, 2, 3])),
            ("x", doubles([None, Some(2.0), None, Some(4.0)])),
        ],
        2,
        1,
    );
    for (sql, expected) in [
        (
            "SELECT exact_sum(x) FROM t GROUP BY k ORDER BY k",
            [Some(2.0), None, Some(4.0)],
        ),
        (
            "SELECT exact_avg(x) FROM t GROUP BY k ORDER BY k",
            [Some(2.0), None, Some(4.0)],
        ),
        (
            "SELECT exact_var_pop(x) FROM t GROUP BY k ORDER BY k",
            [Some(0.0), None, Some(0.0)],
        ),
        (
            "SELECT exact_stddev_samp(x) FROM t GROUP BY k ORDER BY k",
            [None, None, None],
        ),
        (
            "SELECT exact_sum(x) FILTER (WHERE k > 2) FROM t GROUP BY k ORDER BY k",
            [None, None, Some(4.0)],
        ),
        (
            "SELECT exact_dot(x, k - 2) FROM t GROUP BY k ORDER BY k",
            [Some(-2.0), None, Some(4.0)],
        ),
    ] {
        assert_bits(&engine.doubles(sql), &expected, sql);
    }
    for function in [
        "exact_sum(x)",
        "exact_avg(x)",
        "exact_dot(x, x)",
        "exact_var_samp(x)",
        "exact_stddev_pop(x)",
        "exact_avg(k)",
    ] {
        let sql = format!("SELECT {function} FROM t WHERE k > 9");
        assert_bits(&[engine.double(&sql)], &[None], sql);
    }
    let one = "SELECT exact_var_samp(x) FROM t WHERE k = 3";
    assert_bits(&[engine.double(one)], &[None], one);
    let none = engine.run("SELECT exact_sum(k) FROM t WHERE k > 9");
    assert_eq!(values::<Decimal128Type>(none.column(0)), [None]);
}

#[test]
fn a_dot_skips_rows_with_either_null() {
    let engine = Engine::new(1, 8);
    let x = doubles([Some(1e200), None, Some(3.0), Some(1e200)]);
    let y = doubles([Some(1e200), Some(7.0), None, Some(-1e200)]);
    engine.table("t", &[("x", x), ("y", y)], 1, 8);
    assert_bits(
        &[engine.double("SELECT exact_dot(x, y) FROM t")],
        &[Some(0.0)],
        (),
    );
}

#[test]
fn integers_add_in_128_bits() {
    for partitions in [1, 2] {
        let engine = Engine::new(partitions, 1);
        let most = i64::MAX;
        let unsigned: ArrayRef = Arc::new(UInt64Array::from(vec![
            Some(u64::MAX),
            None,
            Some(u64::MAX),
        ]));
        let short: ArrayRef = Arc::new(Int8Array::from(vec![127, 127, -128]));
        let columns = [
            ("k", integers([1, 2, 1])),
            ("i", integers([most, -5, most])),
            ("u", unsigned),
            ("s", short),
        ];
        engine.table("t", &columns, partitions, 1);
        let all = engine.run(
            "SELECT exact_sum(i), exact_sum(u), exact_sum(s), exact_avg(i), exact_avg(u) FROM t",
        );
        let long = |value: i128| vec![Some(value)];
        assert_eq!(all.column(0).data_type(), &DataType::Decimal128(38, 0));
        assert_eq!(
            values::<Decimal128Type>(all.column(0)),
            long(2 * i128::from(most) - 5)
        );
        assert_eq!(
            values::<Decimal128Type>(all.column(1)),
            long(2 * i128::from(u64::MAX))
        );
        assert_eq!(values::<Decimal128Type>(all.column(2)), long(126));
        // (2^64 - 7) / 3 and 2^64 - 1, each rounded once.
        assert_bits(
            &values::<Float64Type>(all.column(3)),
            &[Some(6_148_914_691_236_517_203.0)],
            (),
        );
        assert_bits(
            &values::<Float64Type>(all.column(4)),
            &[Some(2_f64.powi(64))],
            (),
        );
        let by_key = engine.run("SELECT exact_sum(i), exact_avg(u) FROM t GROUP BY k ORDER BY k");
        assert_eq!(
            values::<Decimal128Type>(by_key.column(0)),
            [Some(2 * i128::from(most)), Some(-5)]
        );
        assert_bits(
            &values::<Float64Type>(by_key.column(1)),
            &[Some(2_f64.powi(64)), None],
            (),
        );
    }
}

/// A FLOAT is converted to DOUBLE, and its sum is rounded to DOUBLE.
#[test]
fn floats_become_doubles() {
    let engine = Engine::new(2, 2);
    let float: ArrayRef = Arc::new(Float32Array::from(vec![16_777_216.0, 1.0, 0.1]));
    engine.table("t", &[("f", float)], 1, 3);
    let sum = engine.double("SELECT exact_sum(f) FROM t");
    assert_bits(&[sum], &[Some(16_777_217.0 + f64::from(0.1_f32))], ());
    assert_bits(
        &[engine.double("SELECT exact_sum(NULL) FROM t")],
        &[None],
        (),
    );
}

#[test]
fn what_is_not_finite_follows_ieee() {
    let (infinity, nan) = (f64::INFINITY, f64::NAN);
    let engine = Engine::new(2, 1);
    let keys = integers([1, 1, 2, 2, 3, 3, 4, 4]);
    let x = doubles([infinity, 1.0, infinity, -infinity, nan, 1.0, -0.0, -0.0]);
    engine.table("t", &[("k", keys), ("x", x)], 2, 1);
    for (function, expected) in [
        ("exact_sum(x)", [infinity, nan, nan, 0.0]),
        ("exact_avg(x)", [infinity, nan, nan, 0.0]),
        ("exact_dot(x, x)", [infinity, infinity, nan, 0.0]),
        ("exact_dot(x, 0)", [nan, nan, nan, 0.0]),
        ("exact_var_pop(x)", [nan, nan, nan, 0.0]),
    ] {
        let sql = format!("SELECT {function} FROM t GROUP BY k ORDER BY k");
        assert_bits(&engine.doubles(&sql), &expected.map(Some), &sql);
        for (key, expected) in (1..5).zip(expected) {
            let sql = format!("SELECT {function} FROM t WHERE k = {key}");
            assert_bits(&[engine.double(&sql)], &[Some(expected)], &sql);
        }
    }
}

#[test]
fn other_arguments_are_refused_by_name() {
    let engine = Engine::new(1, 8);
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    engine.table("t", &[("x", doubles([1.0])), ("s", text)], 1, 8);
    for (sql, words) in [
        (
            "SELECT exact_sum(s) FROM t",
            ["exact_sum", "argument 1", "not a number"],
        ),
        (
            "SELECT exact_dot(x, s) FROM t",
            ["exact_dot", "argument 2", "not a number"],
        ),
        (
            "SELECT exact_dot(x) FROM t",
            ["exact_dot", "takes 2 arguments", "not 1"],
        ),
        (
            "SELECT exact_avg(x, x) FROM t",
            ["exact_avg", "takes 1 argument", "not 2"],
        ),
        (
            "SELECT exact_var_pop(x > 1) FROM t",
            ["exact_var_pop", "Boolean", "not a number"],
        ),
        (
            "SELECT tree_sum(x) FROM t",
            ["tree_sum", "list of numbers", "not an aggregate"],
        ),
    ] {
        let error = engine.try_run(sql).unwrap_err();
        assert!(
            words.iter().all(|word| error.contains(word)),
            "{sql}: {error}"
        );
    }
    assert_bits(
        &[engine.double("SELECT exact_sum(x) FROM t")],
        &[Some(1.0)],
        "the session remains usable",
    );
}
