//! Checks the golden vectors with masks twice: with items of type `Option`, and with a value without effect in place of each masked item.

use distribution::Distribution;
use reduce::operator::custom;
use reduce::{Max, Min, Operator, Plan, Product, Sum, threads};
use serde_json::Value;

use super::element::Float;
use super::{cases, text, values, words};

const RANKS: usize = 3;

#[test]
fn every_vector_of_items_that_do_not_count() {
    let mut others = 0;
    for case in cases("masked.jsonl", 234) {
        match text(&case, "type") {
            "f64" => check::<f64>(&case),
            "f32" => check::<f32>(&case),
            _ => others += 1,
        }
    }
    println!("skipped: {others} vectors of types that Python alone has masks for");
}

fn check<T: Float>(case: &Value)
where
    Sum: Operator<T>,
    Product: Operator<T>,
    Min: Operator<T>,
    Max: Operator<T>,
{
    match text(case, "operator") {
        "sum" => agrees(case, &Sum, T::rounded(-0.0)),
        "product" => agrees(case, &Product, T::rounded(1.0)),
        "min" => agrees(case, &Min, T::rounded(f64::INFINITY)),
        operator => {
            assert_eq!(operator, "max");
            agrees(case, &Max, T::rounded(f64::NEG_INFINITY));
        }
    }
}

fn agrees<T: Float, O: Operator<T> + Copy + Send + Sync + 'static>(
    case: &Value,
    operator: &O,
    hole: T,
) {
    let items: Vec<T> = values(case, "items");
    let counts = text(case, "mask").chars().map(|counts| counts == '1');
    let held: Vec<Option<T>> = items
        .iter()
        .zip(counts)
        .map(|(&item, counts)| counts.then_some(item))
        .collect();
    // A node without items has no value, and a node with one child takes the child's value unchanged.
    let both = |left: Option<T>, right: Option<T>| match (left, right) {
        (Some(left), Some(right)) => Some(operator.combine(left, right)),
        (left, right) => left.or(right),
    };
    let value = reduce::fold(&held, &custom("held", both)).unwrap();
    let initial = case["initial"].as_str().map(T::from_word);
    let finished = |value: Option<T>| {
        let value = match (initial, value) {
            (Some(initial), Some(value)) => Some(operator.combine(initial, value)),
            (initial, value) => initial.or(value),
        };
        let value = value.or_else(|| operator.empty()).unwrap();
        vec![value.canonical().word()]
    };
    assert_eq!(finished(value), words(case, "bits"), "{case}");
    if value.is_none() {
        return;
    }
    // Ranks need not know how many of their items are masked.
    let filled: Vec<T> = held.iter().map(|item| item.unwrap_or(hole)).collect();
    let folded = reduce::fold(&filled, operator).unwrap();
    assert_eq!(finished(Some(folded)), words(case, "bits"), "{case}");
    let distribution = Distribution::lower(filled.len() as u64, RANKS).unwrap();
    let results = threads::run(RANKS, |world| {
        let own = distribution.range(world.rank());
        let [start, end] = [own.start, own.end].map(|item| usize::try_from(item).unwrap());
        let plan = Plan::builder(world).local_items((end - start) as u64);
        let plan = plan.operator(*operator).build::<T>().unwrap();
        plan.allreduce(&filled[start..end]).unwrap()
    });
    for result in results.unwrap() {
        assert_eq!(finished(Some(result)), words(case, "bits"), "{case}");
    }
}
