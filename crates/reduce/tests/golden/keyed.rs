//! Checks the golden bytes of sums and moments by key. Each item has its own state; they are merged from the last item to the first.

use reduce::exact::{
    CoMoments, Extrema, IntegerMoments, IntegerSum, Keyed, KeyedSlot, Mean, Moments, Powers,
    ProductSum, Slot, Sum, WeightedMean,
};
use serde_json::Value;

use super::element::Float;
use super::{cases, text, values, words};

#[test]
fn every_vector_of_bytes_by_key() {
    for case in &cases("keyed.jsonl", 48) {
        match text(case, "type") {
            "f64" => check::<f64>(case),
            "f32" => check::<f32>(case),
            element => panic!("{element}"),
        }
    }
}

macro_rules! state {
    ($case:expr, $slot:ty) => {{
        let keys = words($case, "keys");
        let key = |word: &String| u8::from_str_radix(word, 16).unwrap();
        let keys: Vec<u8> = keys.iter().map(key).collect();
        let (items, expected) = (values($case, "items"), words($case, "value"));
        let mut whole = Keyed::<$slot>::new(expected.len()).unwrap();
        for begin in (0..keys.len()).rev() {
            let mut own = Keyed::<$slot>::new(expected.len()).unwrap();
            own.add(&keys[begin..=begin], &items[begin..=begin])
                .unwrap();
            whole.merge(&own).unwrap();
        }
        let bytes = whole.to_bytes();
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digits.concat(), text($case, "bytes"), "{}", $case);
        let read = Keyed::<$slot>::of_bytes(&bytes).unwrap();
        assert!(read == whole, "{}", $case);
        for held in [&whole, &read] {
            let found: Vec<String> = held
                .values()
                .into_iter()
                .map(|value| value.word())
                .collect();
            assert_eq!(found, expected, "{}", $case);
        }
    }};
}

fn check<T: Float>(case: &Value) {
    match text(case, "kind") {
        "keyed sums" => state!(case, Sum<T>),
        "keyed moments" => state!(case, Moments<T>),
        kind => panic!("{kind}"),
    }
}

/// A function that gets the items of a range.
type With<'f, S> = &'f mut dyn FnMut(<S as Slot>::Items<'_>);

/// Checks that the states of single items, merged from the last item to the first, have the bytes of a vector.
fn slots<S: KeyedSlot>(case: &Value, with: impl Fn(usize, With<'_, S>)) {
    let key = |word: &String| u8::from_str_radix(word, 16).unwrap();
    let keys: Vec<u8> = words(case, "keys").iter().map(key).collect();
    let groups = usize::try_from(case["groups"].as_u64().unwrap()).unwrap();
    let mut whole = Keyed::<S>::new(groups).unwrap();
    for item in (0..keys.len()).rev() {
        let mut own = Keyed::<S>::new(groups).unwrap();
        with(item, &mut |items| {
            own.add(&keys[item..=item], items).unwrap()
        });
        whole.merge(&own).unwrap();
    }
    let bytes = whole.to_bytes();
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digits.concat(), text(case, "bytes"), "{case}");
    assert_eq!(Keyed::of_bytes(&bytes), Ok(whole), "{case}");
}

fn check_reals<T: Float>(case: &Value) {
    let (x, y): (Vec<T>, Vec<T>) = (values(case, "items"), values(case, "other"));
    let one = |item: usize| &x[item..=item];
    let both = |item: usize| [one(item), &y[item..=item]];
    match text(case, "kind") {
        "keyed means" => slots::<Mean<T>>(case, |item, add| add(one(item))),
        "keyed powers" => slots::<Powers<T>>(case, |item, add| add(one(item))),
        "keyed extrema" => slots::<Extrema<T>>(case, |item, add| add(one(item))),
        "keyed products" => slots::<ProductSum<T>>(case, |item, add| add(both(item))),
        "keyed weighted means" => slots::<WeightedMean<T>>(case, |item, add| add(both(item))),
        "keyed co-moments" => slots::<CoMoments<T>>(case, |item, add| add(both(item))),
        kind => panic!("{kind}"),
    }
}

fn check_integers(case: &Value) {
    let item = |word: &String| u64::from_str_radix(word, 16).unwrap().cast_signed();
    let items: Vec<i64> = words(case, "items").iter().map(item).collect();
    let one = |item: usize| items[item..=item].into();
    match text(case, "kind") {
        "keyed integers" => slots::<IntegerSum>(case, |item, add| add(one(item))),
        "keyed integer moments" => slots::<IntegerMoments>(case, |item, add| add(one(item))),
        kind => panic!("{kind}"),
    }
}

#[test]
fn every_vector_of_slots() {
    for case in &cases("slots.jsonl", 168) {
        match text(case, "type") {
            "f64" => check_reals::<f64>(case),
            "f32" => check_reals::<f32>(case),
            _ => check_integers(case),
        }
    }
}
