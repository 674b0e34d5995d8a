//! Checks the golden vectors of co-moments and of powers: two statistics, and the bytes of states. Each item has its own state; they are
//! merged from the last item to the first.

use reduce::exact::{CoMoments, Powers};
use serde_json::Value;

use super::element::Float;
use super::{cases, text, values, words};

#[test]
fn every_vector_of_columns_and_powers() {
    for case in &cases("powers.jsonl", 60) {
        match text(case, "type") {
            "f64" => check::<f64>(case),
            "f32" => check::<f32>(case),
            element => panic!("{element}"),
        }
    }
}

macro_rules! state {
    ($case:expr, $state:ty, |$x:ident, $y:ident| $of:expr, |$held:ident| $values:expr) => {{
        let (x, y): (Vec<T>, Vec<T>) = (values($case, "items"), values($case, "other"));
        let mut whole = <$state>::new();
        for begin in (0..x.len()).rev() {
            let ($x, $y) = (&x[begin..=begin], y.get(begin..=begin).unwrap_or_default());
            whole.merge(&$of).unwrap();
        }
        let bytes = whole.to_bytes();
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digits.concat(), text($case, "bytes"), "{}", $case);
        let read = <$state>::of_bytes(&bytes).unwrap();
        assert!(read == whole, "{}", $case);
        for $held in [&whole, &read] {
            let found: [String; 2] = $values.map(|value| value.canonical().word());
            assert_eq!(found[..], words($case, "value"), "{}", $case);
        }
    }};
}

fn check<T: Float>(case: &Value) {
    match text(case, "kind") {
        "co-moments" => state!(case, CoMoments<T>, |x, y| CoMoments::of(x, y), |held| [
            held.covariance(0.0),
            held.correlation()
        ]),
        "powers" => state!(case, Powers<T>, |x, _y| Powers::of(x), |held| [
            held.skewness(true),
            held.kurtosis(true)
        ]),
        kind => panic!("{kind}"),
    }
}
