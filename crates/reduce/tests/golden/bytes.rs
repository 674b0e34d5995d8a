//! Checks the golden bytes of accumulators. Each item has its own accumulator; they are merged from the last item to the first.

use reduce::exact::{
    Accumulator as _, ComplexMoments, ComplexProductSum, ComplexSum, Float, Moments, ProductSum,
    Sum,
};
use serde_json::Value;

use super::element::Element;
use super::{cases, text, values};

#[test]
fn every_vector_of_bytes() {
    for case in &cases("bytes.jsonl", 180) {
        match text(case, "type") {
            "f64" => check::<f64>(case),
            "f32" => check::<f32>(case),
            element => panic!("{element}"),
        }
    }
}

/// Merges the accumulators of a case's items. Checks the bytes, and the value before and after a round trip as bytes.
macro_rules! accumulator {
    ($case:expr, $empty:expr, $sum:ty, $item:ty, |$own:ident, $x:ident, $y:ident| $add:expr, |$held:ident| $value:expr) => {{
        let (x, y): (Vec<$item>, Vec<$item>) = (values($case, "items"), values($case, "other"));
        let mut whole = $empty;
        for begin in (0..x.len()).rev() {
            let mut $own = $empty;
            let ($x, $y) = (&x[begin..=begin], y.get(begin..=begin).unwrap_or_default());
            $add;
            whole.merge(&$own).unwrap();
        }
        let bytes = whole.to_bytes();
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digits.concat(), text($case, "bytes"), "{}", $case);
        let read = <$sum>::of_bytes(&bytes).unwrap();
        assert!(read == whole, "{}", $case);
        for $held in [&whole, &read] {
            assert_eq!($value.word(), text($case, "value"), "{}", $case);
        }
    }};
}

fn check<T: Element + Float>(case: &Value) {
    match text(case, "kind") {
        "sum" => {
            accumulator!(
                case,
                Sum::new(),
                Sum<T>,
                T,
                |own, x, _y| own.add(x),
                |held| { held.value() }
            );
        }
        "dot" => {
            accumulator!(
                case,
                ProductSum::new(),
                ProductSum<T>,
                T,
                |own, x, y| own.add(x, y),
                |held| held.value()
            );
        }
        "moments" => {
            accumulator!(
                case,
                Moments::new(),
                Moments<T>,
                T,
                |own, x, _y| own.add(x),
                |held| held.sum().value()
            );
        }
        "complex sum" => {
            accumulator!(
                case,
                ComplexSum::new(),
                ComplexSum<T>,
                [T; 2],
                |own, x, _y| own.add(x),
                |held| held.value()
            );
        }
        "complex dot" => {
            accumulator!(
                case,
                ComplexProductSum::new(),
                ComplexProductSum<T>,
                [T; 2],
                |own, x, y| own.add(x, y),
                |held| held.value()
            );
        }
        "complex moments" => {
            accumulator!(
                case,
                ComplexMoments::new(),
                ComplexMoments<T>,
                [T; 2],
                |own, x, _y| own.add(x),
                |held| held.sum().value()
            );
        }
        kind => panic!("{kind}"),
    }
}
