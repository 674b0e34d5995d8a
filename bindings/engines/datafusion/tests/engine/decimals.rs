//! Tests that decimals are added without being converted to doubles.

use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array};
use arrow::datatypes::{DataType, Decimal128Type};

use crate::{Engine, assert_bits, integers, values};

fn decimals(items: &[i128], precision: u8, scale: i8) -> ArrayRef {
    let array = Decimal128Array::from_iter_values(items.iter().copied());
    Arc::new(array.with_precision_and_scale(precision, scale).unwrap())
}

#[test]
fn sums_and_averages_are_those_of_decimals() {
    for (partitions, batch_rows) in [(1, 8), (3, 1)] {
        let engine = Engine::new(partitions, batch_rows);
        let most = 10_i128.pow(38) - 1;
        let columns = [
            ("k", integers([1, 1, 1, 2])),
            ("x", decimals(&[1, 2, -3, 7], 9, 1)),
            ("w", decimals(&[most, most, -most, -most], 38, 30)),
        ];
        engine.table("t", &columns, partitions, batch_rows);
        let all = engine.run("SELECT exact_sum(x), exact_sum(w) FROM t");
        assert_eq!(all.column(0).data_type(), &DataType::Decimal128(38, 1));
        assert_eq!(all.column(1).data_type(), &DataType::Decimal128(38, 30));
        assert_eq!(values::<Decimal128Type>(all.column(0)), [Some(7)]);
        assert_eq!(values::<Decimal128Type>(all.column(1)), [Some(0)]);
        let by_key = engine.run("SELECT exact_sum(x) FROM t GROUP BY k ORDER BY k");
        assert_eq!(
            values::<Decimal128Type>(by_key.column(0)),
            [Some(0), Some(7)]
        );
        let means = engine.doubles("SELECT exact_avg(x) FROM t GROUP BY k ORDER BY k");
        assert_bits(&means, &[Some(0.0), Some(0.7)], ());
        // 0.1 and 0.2 have the mean 0.15, not 0.15000000000000002.
        let of_two = engine.doubles("SELECT exact_avg(x) FROM t WHERE x IN (0.1, 0.2)");
        assert_bits(&of_two, &[Some(0.15)], ());
        let none = engine.run("SELECT exact_sum(x) FROM t WHERE k > 9");
        assert_eq!(values::<Decimal128Type>(none.column(0)), [None]);
        let beyond = engine
            .try_run("SELECT exact_sum(w) FROM t WHERE w > 0")
            .unwrap_err();
        assert!(
            beyond.contains("exact_sum: the sum does not fit in DECIMAL(38, 30)"),
            "{beyond}"
        );
        let spread = engine
            .try_run("SELECT exact_var_samp(x) FROM t")
            .unwrap_err();
        assert!(
            spread.contains("exact_var_samp: argument 1 is Decimal128(9, 1); cast it to DOUBLE"),
            "{spread}"
        );
    }
}
