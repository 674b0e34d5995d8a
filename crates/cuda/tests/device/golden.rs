//! Checks the golden vectors on a GPU. Also checks, without a GPU, that the compiled kernels belong to their source.

use cuda::Device;
use reduce::{Operator, Sum};
use serde_json::Value;

use crate::{Bits, device};

const ORDER: &str = include_str!("../../golden/order.jsonl");
const EXACT: &str = include_str!("../../golden/exact.jsonl");

fn text<'c>(case: &'c Value, key: &str) -> &'c str {
    case[key].as_str().unwrap_or_default()
}

/// Reads numbers from words in hexadecimal. A pair of words is two numbers.
fn values<T: Bits>(words: &Value) -> Vec<T>
where
    Sum: Operator<T>,
{
    let words = words
        .as_array()
        .map_or(std::slice::from_ref(words), Vec::as_slice);
    let words = words.iter().filter_map(Value::as_str);
    let number = |word| T::of_bits(u64::from_str_radix(word, 16).unwrap());
    words.flat_map(str::split_whitespace).map(number).collect()
}

/// Checks the sum of a case's rows. A complex number is a row of two.
fn check_order<T: Bits>(device: &Device, case: &Value)
where
    Sum: Operator<T>,
{
    let count = |key: &str| case[key].as_u64().unwrap_or(0);
    let reciprocals = (1..=count("reciprocals")).map(|i| T::rounded(1.0 / i as f64));
    let mut items: Vec<T> = values(&case["items"]);
    items.extend(reciprocals.chain(p4016(count("p4016")).map(T::rounded)));
    let expected: Vec<T> = values(&case["bits"]);
    let width = expected.len();
    let memory = device.copy(&items).unwrap();
    let mut result = vec![T::rounded(7.0); width];
    device.sum_rows(memory.items(), width, &mut result).unwrap();
    let bits = |values: &[T]| values.iter().map(|value| value.bits()).collect::<Vec<_>>();
    assert_eq!(bits(&result), bits(&expected), "{}", text(case, "name"));
}

/// The items of ISO C++ paper P4016.
fn p4016(count: u64) -> impl Iterator<Item = f64> {
    let mut state = 0x243F_6A88_85A3_08D3_u64;
    (0..count).map(move |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 - 2_f64.powi(52)) * 2_f64.powi(-52)
    })
}

#[test]
fn every_vector_of_a_sum() {
    let Some(device) = device() else { return };
    let mut count = 0;
    for line in ORDER.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let operation = text(&case, "operation");
        // Only sums of the items themselves are tested, not sums of products.
        let is_sum = operation.is_empty() && text(&case, "operator") == "sum";
        if !is_sum || case.get("other").is_some() {
            continue;
        }
        match text(&case, "type") {
            "f64" | "c64" => check_order::<f64>(device, &case),
            "f32" | "c32" => check_order::<f32>(device, &case),
            _ => continue,
        }
        count += 1;
    }
    assert!(count > 50, "{count}");
}

#[test]
fn every_vector_of_an_exact_sum() {
    let Some(device) = device() else { return };
    let mut count = 0;
    for line in EXACT.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        if text(&case, "operator") != "sum" {
            continue;
        }
        let name = text(&case, "name");
        let found = match text(&case, "type") {
            "f64" => {
                let memory = device.copy(&values::<f64>(&case["items"])).unwrap();
                device.exact_sum(memory.items()).unwrap().value().bits()
            }
            "f32" => {
                let memory = device.copy(&values::<f32>(&case["items"])).unwrap();
                device.exact_sum(memory.items()).unwrap().value().bits()
            }
            _ => continue,
        };
        let expected = u64::from_str_radix(text(&case, "bits"), 16).unwrap();
        assert_eq!(found, expected, "{name}");
        count += 1;
    }
    assert!(count > 20, "{count}");
}

/// Checks the digest that `kernels.py` writes, an FNV-1a hash.
#[test]
fn the_kernels_are_compiled_from_their_source() {
    let source = include_bytes!("../../src/kernels/kernels.cu");
    let compiled = include_str!("../../src/kernels/kernels.ptx");
    let digest = source
        .iter()
        .fold(0xCBF2_9CE4_8422_2325_u64, |digest, &byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
    assert_eq!(
        compiled.lines().next(),
        Some(&*format!("// kernels.cu {digest:016x}")),
        "kernels.py has not run since kernels.cu was changed"
    );
    // Instructions that would change bits.
    for word in ["fma.", ".ftz", "mul.f"] {
        assert!(!compiled.contains(word), "{word}");
    }
}
