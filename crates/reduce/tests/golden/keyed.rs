//! The vectors of bytes by key: those of sums and moments that were given the items in parts, from the last one on.

use reduce::exact::{Keyed, Moments, Sum};
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
