//! Compares skewness, kurtosis, statistics of two columns and merged states with those of `exact-sum`, with one and several partitions.

use arrow::array::{Array, AsArray};
use exact_sum::{Accumulator as _, CoMoments, Moments, Powers, Sum};

use crate::{Draws, Engine, assert_bits, doubles, integers};

const ROWS: usize = 600;
const MONTHS: i64 = 3;

/// Returns the columns of random rows: day, month, x and y.
fn rows(draws: &mut Draws, binades: u64) -> (Vec<i64>, Vec<i64>, Vec<f64>, Vec<f64>) {
    let days: Vec<i64> = (0..ROWS)
        .map(|_| i64::try_from(draws.below(30)).unwrap())
        .collect();
    let months = days.iter().map(|day| day % MONTHS).collect();
    let x: Vec<f64> = (0..ROWS).map(|_| draws.double(binades)).collect();
    let y = x.iter().map(|x| x / 2.0 + draws.double(binades)).collect();
    (days, months, x, y)
}

#[test]
fn statistics_and_states_of_days_and_months() {
    let mut draws = Draws::new("statistics_and_states_of_days_and_months");
    for binades in [3, 200] {
        let (days, months, x, y) = rows(&mut draws, binades);
        let of_month = |column: &[f64], month: i64| -> Vec<f64> {
            let pairs = column.iter().zip(&months);
            pairs
                .filter(|(_, own)| **own == month)
                .map(|(item, _)| *item)
                .collect()
        };
        let mut expected = vec![Vec::new(); 7];
        let mut bytes = Vec::new();
        for month in 0..MONTHS {
            let (x, y) = (of_month(&x, month), of_month(&y, month));
            let (both, powers) = (CoMoments::of(&x, &y), Powers::of(&x));
            for (values, value) in expected.iter_mut().zip([
                both.covariance(1.0),
                both.correlation(),
                both.slope(),
                both.intercept(),
                powers.skewness(false),
                powers.kurtosis(false),
                powers.kurtosis(true),
            ]) {
                values.push(Some(value));
            }
            bytes.push([
                Sum::of(&x).to_bytes(),
                Moments::of(&x).to_bytes(),
                powers.to_bytes(),
                both.to_bytes(),
            ]);
        }
        for (partitions, batch_rows) in [(1, 8192), (3, 7)] {
            let engine = Engine::new(partitions, batch_rows);
            let columns = [
                ("day", integers(days.clone())),
                ("month", integers(months.clone())),
                ("x", doubles(x.clone())),
                ("y", doubles(y.clone())),
            ];
            engine.table("t", &columns, partitions, batch_rows);
            let of_pairs = "exact_comoments_state(y, x)";
            let of_items = "exact_powers_state(x)";
            for (values, (call, state, read)) in expected.iter().zip([
                ("exact_covar_samp(y, x)", of_pairs, "exact_covar_samp_of"),
                ("exact_corr(y, x)", of_pairs, "exact_corr_of"),
                ("exact_regr_slope(y, x)", of_pairs, "exact_regr_slope_of"),
                (
                    "exact_regr_intercept(y, x)",
                    of_pairs,
                    "exact_regr_intercept_of",
                ),
                ("exact_skewness(x)", of_items, "exact_skewness_of"),
                ("exact_kurtosis(x)", of_items, "exact_kurtosis_of"),
                ("exact_kurtosis_pop(x)", of_items, "exact_kurtosis_pop_of"),
            ]) {
                let sql = format!("SELECT {call} FROM t GROUP BY month ORDER BY month");
                assert_bits(&engine.doubles(&sql), values, sql);
                let daily = format!("SELECT month, {state} AS s FROM t GROUP BY day, month");
                let sql = format!(
                    "SELECT {read}(exact_merge(s)) FROM ({daily}) GROUP BY month ORDER BY month"
                );
                assert_bits(&engine.doubles(&sql), values, sql);
            }
            for (number, state) in [
                "exact_sum_state(x)",
                "exact_moments_state(x)",
                of_items,
                of_pairs,
            ]
            .iter()
            .enumerate()
            {
                let daily = format!("SELECT month, {state} AS s FROM t GROUP BY day, month");
                let merged = engine.run(&format!(
                    "SELECT exact_merge(s) FROM ({daily}) GROUP BY month ORDER BY month"
                ));
                let merged = merged.column(0).as_binary::<i32>();
                let found: Vec<Option<&[u8]>> = merged.iter().collect();
                let own: Vec<Option<&[u8]>> = bytes
                    .iter()
                    .map(|of_month| Some(&of_month[number][..]))
                    .collect();
                assert_eq!(found, own, "{state}");
            }
        }
    }
}

#[test]
fn windows_take_rows_back() {
    let engine = Engine::new(1, 16);
    let x = doubles([1.0, 2.0, 1e12, 1e7, 6.0, 5.0, 8.0, 7.0]);
    let y = doubles([2.0, 1.0, 3.0, -1e12, 4.0, 7.0, 6.0, 9.0]);
    engine.table("t", &[("i", integers(0..8)), ("x", x), ("y", y)], 1, 16);
    let window = "OVER (ORDER BY i ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)";
    let last = |call: &str| engine.doubles(&format!("SELECT {call} {window} FROM t ORDER BY i"))[7];
    assert_bits(
        &[last("exact_covar_samp(y, x)"), last("exact_corr(y, x)")],
        &[Some(-1.0 / 3.0), Some(-0.142_857_142_857_142_85)],
        (),
    );
}

#[test]
fn nulls_zero_denominators_and_errors() {
    let engine = Engine::new(2, 1);
    let x = doubles([Some(1.0), None, Some(3.0), Some(5.0)]);
    let y = doubles([Some(2.0), Some(7.0), None, Some(10.0)]);
    engine.table("t", &[("x", x), ("y", y), ("c", doubles([1.5; 4]))], 2, 1);
    for (call, expected) in [
        ("exact_corr(y, x)", Some(1.0)),
        ("exact_covar(y, x)", Some(16.0)),
        ("exact_corr(x, c)", None),
        ("exact_regr_slope(x, c)", None),
        ("exact_skewness(c)", None),
        ("exact_kurtosis(x)", None),
        ("exact_mean(x)", Some(3.0)),
        ("exact_sum_of(exact_sum_state(x))", Some(9.0)),
        ("exact_sum_of(exact_merge(NULL))", None),
        ("exact_corr(y, x) FILTER (WHERE x > 9)", None),
    ] {
        let sql = format!("SELECT {call} FROM t");
        assert_bits(&[engine.double(&sql)], &[expected], sql);
    }
    let none = engine.run("SELECT exact_sum_state(x) FROM t WHERE x > 9");
    assert!(none.column(0).is_null(0));
    for (call, error) in [
        ("exact_corr(x, 'a')", "exact_corr: argument 2 is Utf8"),
        (
            "exact_sum_of(X'00')",
            "exact_sum_of: the bytes are not an exact sum",
        ),
        (
            "exact_merge(x)",
            "exact_merge: the argument is Float64, but states are bytes",
        ),
        (
            "exact_corr_of(exact_sum_state(x))",
            "exact_corr_of: the state is a sum, which has no corr",
        ),
        (
            "exact_skewness(CAST(x AS DECIMAL(9, 2)))",
            "exact_skewness: argument 1 is Decimal128(9, 2); cast it to DOUBLE",
        ),
        ("exact_corr(DISTINCT x, y)", "exact_corr of DISTINCT rows"),
    ] {
        let found = engine
            .try_run(&format!("SELECT {call} FROM t"))
            .unwrap_err();
        assert!(found.contains(error), "{call}: {found}");
    }
    let two =
        "SELECT exact_sum_state(x) AS s FROM t UNION ALL SELECT exact_moments_state(x) FROM t";
    let found = engine
        .try_run(&format!("SELECT exact_merge(s) FROM ({two})"))
        .unwrap_err();
    assert!(found.contains("exact_merge: the bytes are"), "{found}");
}
