//! The golden vectors of `golden/`: by folds and exact sums of one process, and by plans on ranks. The folder beside this crate's sources is a link to
//! the project's, which packaging follows.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::fs;
use std::path::Path;
use std::process::Command;

use bytemuck::Pod;
use distribution::Distribution;
use reduce::exact;
use reduce::operator::custom;
use reduce::threads;
use reduce::{Max, Min, Operator, Plan, Product, Sum};
use serde_json::Value;

/// A float type of the vectors.
trait Element: Pod + Send + Sync + std::ops::Sub<Output = Self> + std::ops::Mul<Output = Self> {
    fn from_word(word: &str) -> Self;
    fn word(self) -> String;
    fn rounded(number: f64) -> Self;
    fn is_not_a_number(self) -> bool;
    const NAN: Self;
    fn dot(x: &[Self], y: &[Self]) -> Self;
}

macro_rules! element {
    ($float:ident, $word:ident, $digits:literal) => {
        impl Element for $float {
            fn from_word(word: &str) -> Self {
                $float::from_bits($word::from_str_radix(word, 16).unwrap())
            }
            fn word(self) -> String {
                format!(concat!("{:0", $digits, "X}"), self.to_bits())
            }
            #[allow(clippy::cast_possible_truncation, reason = "this is how it rounds")]
            fn rounded(number: f64) -> Self {
                number as $float
            }
            fn is_not_a_number(self) -> bool {
                self.is_nan()
            }
            const NAN: Self = $float::NAN;
            fn dot(x: &[Self], y: &[Self]) -> Self {
                reduce::dot(x, y).unwrap()
            }
        }
    };
}

element!(f64, u64, "16");
element!(f32, u32, "8");

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

fn words(case: &Value, key: &str) -> Vec<String> {
    let words = case[key].as_array().into_iter().flatten();
    words
        .map(|word| word.as_str().unwrap().to_owned())
        .collect()
}

fn values<T: Element>(case: &Value, key: &str) -> Vec<T> {
    words(case, key)
        .iter()
        .map(|word| T::from_word(word))
        .collect()
}

/// One vector: in one process, and on one rank, some, and more than there are items.
fn check<T: Element>(case: &Value)
where
    Sum: Operator<T>,
    Product: Operator<T>,
    Min: Operator<T>,
    Max: Operator<T>,
{
    let mut items: Vec<T> = values(case, "items");
    if let Some(count) = case["reciprocals"].as_u64() {
        let count = u32::try_from(count).unwrap();
        items = (1..=count)
            .map(|i| T::rounded(1.0 / f64::from(i)))
            .collect();
    }
    let others: Vec<T> = values(case, "other");
    if !others.is_empty() {
        assert_eq!(
            words(case, "bits"),
            [T::dot(&items, &others).word()],
            "{case}"
        );
        items = items.iter().zip(&others).map(|(&a, &b)| a * b).collect();
    }
    match case["operator"].as_str().unwrap() {
        "sum" => reduces(case, &items, || Sum),
        "product" => reduces(case, &items, || Product),
        "min" => reduces(case, &items, || Min),
        "max" => reduces(case, &items, || Max),
        "difference" => reduces(case, &items, || {
            custom("difference", |left: T, right| left - right)
        }),
        operator => panic!("{operator}"),
    }
}

fn reduces<T: Element, O: Operator<T> + 'static>(
    case: &Value,
    items: &[T],
    operator: impl Fn() -> O + Sync,
) {
    let expected = words(case, "bits");
    let width = expected.len();
    // What a program's own operator leaves of NaNs is its own affair.
    let found = |row: &[T]| -> Vec<String> {
        let one_nan = |&value: &T| {
            if value.is_not_a_number() {
                T::NAN
            } else {
                value
            }
        };
        row.iter().map(|value| one_nan(value).word()).collect()
    };
    let mut row = vec![T::zeroed(); width];
    reduce::fold_rows(items, width, &operator(), &mut row).unwrap();
    assert_eq!(found(&row), expected, "{case}");
    let count = items.len() / width;
    for ranks in [1, 2, 3, 7, 12] {
        let rows = threads::run(ranks, |world| {
            let distribution = Distribution::lower(count as u64, ranks).unwrap();
            let plan = Plan::builder(world)
                .distribution(&distribution)
                .width(width)
                .operator(operator())
                .build::<T>()
                .unwrap();
            let own = distribution.range(world.rank());
            let [start, end] = [own.start, own.end].map(|item| usize::try_from(item).unwrap());
            let mut row = vec![T::zeroed(); width];
            plan.allreduce_into(&items[start * width..end * width], &mut row)
                .unwrap();
            row
        });
        for row in rows.unwrap() {
            assert_eq!(found(&row), expected, "p = {ranks}: {case}");
        }
    }
}

fn cases(file: &str) -> Vec<Value> {
    let lines = fs::read_to_string(folder().join(file)).unwrap();
    let lines = lines.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_vector() {
    let cases = cases("order.jsonl");
    assert!(cases.len() >= 40);
    for case in &cases {
        match case["type"].as_str().unwrap() {
            "f64" => check::<f64>(case),
            "f32" => check::<f32>(case),
            element => panic!("{element}"),
        }
    }
}

/// One vector of exact sums: in one process, and on ranks that have the items in turn, the last first.
fn check_exact<T: Element + exact::Float>(case: &Value) {
    let bits = case["bits"].as_str().unwrap();
    let (x, y): (Vec<T>, Vec<T>) = (values(case, "items"), values(case, "other"));
    let operator = case["operator"].as_str().unwrap();
    let found = match operator {
        "sum" => exact::sum(&x),
        "dot" => exact::dot(&x, &y).unwrap(),
        "norm" => exact::norm(&x),
        operator => panic!("{operator}"),
    };
    assert_eq!(found.word(), bits, "{case}");
    for ranks in [2, 3, 7] {
        let totals = threads::run(ranks, |world| {
            let own = |items: &[T]| -> Vec<T> {
                let others_first = items.iter().rev().skip(world.rank());
                others_first.step_by(ranks).copied().collect()
            };
            let (x, y) = (own(&x), own(&y));
            if operator == "sum" {
                let plan = Plan::builder(world).build_exact::<exact::Sum<T>>();
                return plan.unwrap().sum(&x).unwrap();
            }
            let plan = Plan::builder(world).build_exact::<exact::ProductSum<T>>();
            match operator {
                "dot" => plan.unwrap().dot(&x, &y).unwrap(),
                _ => plan.unwrap().norm(&x).unwrap(),
            }
        });
        for total in totals.unwrap() {
            assert_eq!(total.word(), bits, "p = {ranks}: {case}");
        }
    }
}

#[test]
fn every_exact_vector() {
    let cases = cases("exact.jsonl");
    assert!(cases.len() >= 100);
    for case in &cases {
        match case["type"].as_str().unwrap() {
            "f64" => check_exact::<f64>(case),
            "f32" => check_exact::<f32>(case),
            element => panic!("{element}"),
        }
    }
}

/// The readers that share nothing with this project.
#[test]
fn the_readers_in_python_agree() {
    for reader in ["check.py", "check_exact.py"] {
        let Ok(output) = Command::new("python3").arg(folder().join(reader)).output() else {
            println!("skipped: no python3");
            return;
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
    }
}
