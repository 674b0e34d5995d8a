//! Tests sums and averages for which users of database engines have reported bugs.

use crate::{Engine, assert_bits, doubles};

/// apache/datafusion#11264: partial averages were rounded, and one of two partitions overflowed.
#[test]
fn an_average_is_that_of_all_rows_whatever_the_partitions() {
    let rows = [
        1.575_347_761_403_176_5e308,
        1.052_031_192_142_294_9e308,
        -1.315_186_510_006_322_8e308,
        -1.283_059_340_432_641_4e308,
    ];
    for partitions in [1, 2, 4] {
        for turn in 0..4 {
            let mut rows = rows;
            rows.rotate_left(turn);
            let engine = Engine::new(partitions, 1);
            engine.table("t", &[("x", doubles(rows))], partitions, 1);
            let average = engine.double("SELECT exact_avg(x) FROM t");
            assert_bits(
                &[average],
                &[Some(7.283_275_776_626_794e305)],
                (partitions, turn),
            );
            let by_key = engine.doubles("SELECT exact_avg(x) FROM t GROUP BY x > 3e308");
            assert_bits(&by_key, &[Some(7.283_275_776_626_794e305)], partitions);
        }
    }
}

#[test]
fn an_average_does_not_overflow_on_the_way() {
    let engine = Engine::new(2, 2);
    engine.table("t", &[("x", doubles([1.7e308; 3]))], 2, 1);
    assert_bits(
        &[engine.double("SELECT exact_avg(x) FROM t")],
        &[Some(1.7e308)],
        (),
    );
    let sum = engine.double("SELECT exact_sum(x) FROM t");
    assert_bits(&[sum], &[Some(f64::INFINITY)], ());
}

/// After 2^54 has left a window of two rows, it has no effect on the result.
#[test]
fn a_window_does_not_drift() {
    let engine = Engine::new(2, 8);
    let x = doubles([2_f64.powi(54), 1.0, 1.0]);
    engine.table("t", &[("i", doubles([1.0, 2.0, 3.0])), ("x", x)], 1, 3);
    let averages = engine.doubles(
        "SELECT exact_avg(x) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t ORDER BY i",
    );
    let expected = [2_f64.powi(54), 2_f64.powi(53), 1.0].map(Some);
    assert_bits(&averages, &expected, ());
}

/// Three groups of n = 390, 1006 and 2628 rows have the weights n * (1/4024). The sum of the weights has the same bits in any order.
#[test]
fn parts_of_one_add_up_in_any_order() {
    let part = 1.0 / 4024.0;
    let weights = [390, 1006, 2628].map(|n| f64::from(n) * part);
    for partitions in [1, 2, 3] {
        for order in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            let engine = Engine::new(partitions, 1);
            engine.table(
                "t",
                &[("w", doubles(order.map(|row| weights[row])))],
                partitions,
                1,
            );
            let sum = engine.double("SELECT exact_sum(w) FROM t");
            assert_bits(&[sum], &[Some(0.999_999_999_999_999_9)], order);
        }
    }
}
