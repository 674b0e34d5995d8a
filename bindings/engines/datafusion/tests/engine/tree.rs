//! Tests sums of lists in tree order.

use std::sync::Arc;

use arrow::array::{ArrayRef, FixedSizeListArray, LargeListArray, ListArray};
use arrow::datatypes::{Float32Type, Float64Type, Int32Type};
use simd_kernels::{Level, sum};

use crate::{Draws, Engine, assert_bits, doubles, integers};

#[test]
fn lists_are_summed_along_the_tree() {
    let mut draws = Draws::new("lists_along_the_tree");
    let mut items: Vec<f64> = (0..1000).map(|_| draws.double(20)).collect();
    let expected = sum(Level::SCALAR, &items);
    let with = |list: Vec<Option<f64>>| Some(list);
    items[0] += 0.0;
    let all = with(items.iter().copied().map(Some).collect());
    let mut gaps: Vec<Option<f64>> = items.iter().flat_map(|item| [Some(*item), None]).collect();
    gaps.insert(0, None);
    let lists = vec![all, None, with(vec![]), with(vec![None]), with(gaps)];
    let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(
        lists.clone(),
    ));
    let large: ArrayRef = Arc::new(LargeListArray::from_iter_primitive::<Float64Type, _, _>(
        lists,
    ));
    let engine = Engine::new(1, 8);
    engine.table("t", &[("l", list), ("g", large)], 1, 8);
    for column in ["l", "g"] {
        let found = engine.doubles(&format!("SELECT tree_sum({column}) FROM t"));
        assert_bits(&found, &[expected, None, None, None, expected], column);
    }
    assert_bits(&[engine.double("SELECT tree_sum(NULL)")], &[None], ());
}

#[test]
fn lists_of_other_numbers_become_doubles() {
    let engine = Engine::new(1, 8);
    let floats =
        ListArray::from_iter_primitive::<Float32Type, _, _>([Some([0.1, 0.2, 0.3].map(Some))]);
    let fixed = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(
        [Some([1, 2, i32::MAX].map(Some))],
        3,
    );
    engine.table(
        "t",
        &[("f", Arc::new(floats)), ("i", Arc::new(fixed))],
        1,
        8,
    );
    let [a, b, c] = [0.1_f32, 0.2, 0.3].map(f64::from);
    assert_bits(
        &[engine.double("SELECT tree_sum(f) FROM t")],
        &[Some((a + b) + c)],
        (),
    );
    assert_bits(
        &[engine.double("SELECT tree_sum(i) FROM t")],
        &[Some(2_147_483_650.0)],
        (),
    );
}

/// `array_agg` makes a list in the order that the query specifies.
#[test]
fn lists_that_a_query_makes() {
    let mut draws = Draws::new("lists_that_a_query_makes");
    let items: Vec<f64> = (0..500).map(|_| draws.double(20)).collect();
    let mut rows: Vec<i64> = (0..500).collect();
    draws.shuffle(&mut rows);
    let engine = Engine::new(2, 64);
    let x = doubles(rows.iter().map(|row| items[usize::try_from(*row).unwrap()]));
    engine.table(
        "t",
        &[("i", integers(rows.iter().copied())), ("x", x)],
        2,
        64,
    );
    let found = engine.double("SELECT tree_sum(array_agg(x ORDER BY i)) FROM t");
    assert_bits(&[found], &[sum(Level::SCALAR, &items)], ());
}
