//! Tests DISTINCT, alone and together with other aggregates.

use arrow::datatypes::{Decimal128Type, Float64Type};

use crate::{Engine, assert_bits, doubles, integers, values};

#[test]
fn distinct_items_beside_all() {
    for partitions in [1, 2, 4] {
        let engine = Engine::new(partitions, 2);
        let keys = integers([1, 1, 1, 2, 2, 1, 1, 2]);
        let x = doubles([
            Some(1e300),
            Some(1e300),
            Some(0.1),
            None,
            Some(0.0),
            Some(-1e300),
            Some(0.2),
            Some(-0.0),
        ]);
        let y = doubles([
            Some(2.0),
            Some(2.0),
            Some(1.0),
            Some(3.0),
            Some(1.0),
            Some(2.0),
            Some(1.0),
            Some(1.0),
        ]);
        let i = integers([7, 7, 8, 9, 9, 7, 7, 7]);
        engine.table(
            "t",
            &[("k", keys), ("x", x), ("y", y), ("i", i)],
            partitions,
            2,
        );
        let sql = "SELECT exact_sum(DISTINCT x), exact_sum(x), exact_avg(DISTINCT y), exact_dot(DISTINCT x, y), \
            exact_sum(DISTINCT i), exact_var_samp(DISTINCT y), count(*) FROM t";
        let result = engine.run(&format!("{sql} GROUP BY k ORDER BY k"));
        let column = |number: usize| values::<Float64Type>(result.column(number));
        assert_bits(&column(0), &[Some(0.1 + 0.2), Some(0.0)], partitions);
        assert_bits(&column(1), &[Some(1e300), Some(0.0)], partitions);
        assert_bits(&column(2), &[Some(1.5), Some(2.0)], partitions);
        assert_bits(&column(3), &[Some(0.1 + 0.2), Some(0.0)], partitions);
        assert_eq!(
            values::<Decimal128Type>(result.column(4)),
            [Some(15), Some(16)]
        );
        assert_bits(&column(5), &[Some(0.5), Some(2.0)], partitions);
        let result = engine.run(sql);
        assert_bits(
            &values::<Float64Type>(result.column(0)),
            &[Some(0.1 + 0.2)],
            partitions,
        );
        assert_eq!(values::<Decimal128Type>(result.column(4)), [Some(24)]);
        // Without other aggregates, the engine groups twice: by key and item, then by key.
        let alone = engine.doubles("SELECT exact_sum(DISTINCT x) FROM t GROUP BY k ORDER BY k");
        assert_bits(&alone, &[Some(0.1 + 0.2), Some(0.0)], partitions);
    }
}

#[test]
fn distinct_items_of_windows() {
    let engine = Engine::new(2, 8);
    let x = doubles([1.0, 1.0, 2.0, 2.0, 1.0]);
    engine.table("t", &[("i", integers([1, 2, 3, 4, 5])), ("x", x)], 1, 8);
    let sql = "SELECT exact_sum(DISTINCT x) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t ORDER BY i";
    match engine.try_run(sql) {
        Ok(result) => {
            let found = values::<Float64Type>(result.column(0));
            assert_bits(&found, &[1.0, 1.0, 3.0, 2.0, 3.0].map(Some), ());
        }
        Err(error) => panic!("{error}"),
    }
}
