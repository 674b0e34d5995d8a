//! The golden vectors for readers that know no JSON.
//!
//! Each case is a line `type operator operation width n k m`, then n lines with the bits of its elements, k with those of a dot product's
//! second factors, and m with those of its result. A complex number is a line of two words. Operations are `reduce`, of rows of `width`
//! elements, so that m is the width; `scan` and `exscan`, whose m is n; `squared_norm` and `dot`; and `p4016`, a reduction of so many
//! items as its one element says, which the reader makes by the rule of ISO C++ paper P4016. The operator `exact` stands for exact
//! sums: its operations are `sum`, `dot`, `conjugate_dot` and `norm`.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use checkout::workspace::workspace;
use serde_json::Value;

/// The operators of `treefold.h`.
const OPERATORS: [&str; 4] = ["sum", "product", "min", "max"];

/// Files that have far fewer cases are not those of the project.
const LEAST_CASES: usize = 380;

/// Writes the file; says how many cases it has.
pub(super) fn write(path: &Path) -> Result<String, String> {
    let told = |path: &Path, error| format!("{}: {error}", path.display());
    let (mut text, mut count) = (String::new(), 0);
    for (name, header) in [
        ("order.jsonl", of_order as Header),
        ("exact.jsonl", of_exact),
    ] {
        let golden = workspace().join("golden").join(name);
        let rows = fs::read_to_string(&golden).map_err(|error| told(&golden, error))?;
        count += write_cases(&rows, header, &mut text)?;
    }
    if count < LEAST_CASES {
        return Err(format!("the golden vectors: only {count} cases"));
    }
    fs::write(path, text).map_err(|error| told(path, error))?;
    Ok(format!("{count} cases"))
}

/// Writes the file of the vectors of bytes, for the program that has no ranks; says how many cases it has.
pub(super) fn write_bytes(path: &Path) -> Result<String, String> {
    let told = |path: &Path, error| format!("{}: {error}", path.display());
    let mut lines = Vec::new();
    for (name, of_row) in [
        ("bytes", of_bytes as fn(&str) -> _),
        ("keyed", of_bytes_by_key),
    ] {
        let golden = workspace().join(format!("golden/{name}.jsonl"));
        let rows = fs::read_to_string(&golden).map_err(|error| told(&golden, error))?;
        for row in rows.lines() {
            lines.push(of_row(row)?);
        }
    }
    fs::write(path, lines.concat()).map_err(|error| told(path, error))?;
    Ok(format!("{} cases", lines.len()))
}

/// A row of bytes as lines: the last number of the first one is that of the value's parts.
fn of_bytes(row: &str) -> Result<String, String> {
    lines_of(row, "other", |value| {
        value.iter().flat_map(|word| word.split(' ')).count()
    })
}

/// A row of bytes by key as lines: the last number of the first one is that of the keys.
fn of_bytes_by_key(row: &str) -> Result<String, String> {
    lines_of(row, "keys", <[String]>::len)
}

fn lines_of(row: &str, others: &str, parts: fn(&[String]) -> usize) -> Result<String, String> {
    let case: Value = serde_json::from_str(row).map_err(|error| format!("{row}: {error}"))?;
    let lacking = |key| format!("{row}: no {key}");
    let text = |key: &'static str| case[key].as_str().ok_or_else(|| lacking(key));
    let (items, others, value) = (
        words(&case, "items")?,
        words(&case, others)?,
        words(&case, "value")?,
    );
    let digits = text("bytes")?;
    let bytes = digits.as_bytes().chunks(2).map(String::from_utf8_lossy);
    let kind = text("kind")?.replace(' ', "-");
    let (n, m, k, parts) = (items.len(), others.len(), digits.len() / 2, parts(&value));
    let head = format!("{kind} {} {n} {m} {k} {parts}", text("type")?);
    let numbers = [items, others].concat();
    let all = [head]
        .into_iter()
        .chain(numbers)
        .chain(bytes.map(String::from))
        .chain(value);
    Ok(all.map(|line| line + "\n").collect())
}

/// The operator, the operation and the width of a case; `None` if C does not have it.
type Header = fn(&Value) -> Option<(&str, &str, usize)>;

/// Cases of the order. Reciprocals and operators of a program's own are left out.
fn of_order(case: &Value) -> Option<(&str, &str, usize)> {
    let operator = case["operator"].as_str()?;
    let width = case["bits"].as_array()?.len();
    let operation = match case["operation"].as_str() {
        _ if !OPERATORS.contains(&operator) || !case["reciprocals"].is_null() => return None,
        Some(operation) => return Some((operator, operation, 1)),
        None if !case["other"].is_null() => "dot",
        None if !case["p4016"].is_null() => "p4016",
        None => "reduce",
    };
    Some((operator, operation, width))
}

/// Exact sums. Roots of dot products are left out.
fn of_exact(case: &Value) -> Option<(&str, &str, usize)> {
    let operation = case["operator"].as_str()?;
    (operation != "root").then_some(("exact", operation, 1))
}

/// Adds the lines of all cases of a file; returns how many it were.
fn write_cases(rows: &str, header: Header, text: &mut String) -> Result<usize, String> {
    let mut count = 0;
    for row in rows.lines() {
        let case: Value = serde_json::from_str(row).map_err(|error| format!("{row}: {error}"))?;
        let Some((operator, operation, width)) = header(&case) else {
            continue;
        };
        let element = case["type"].as_str().ok_or(format!("{row}: no type"))?;
        let mut items = words(&case, "items")?;
        if let Some(number) = case["p4016"].as_u64() {
            items = vec![format!("{number:016X}")];
        }
        let (others, bits) = (words(&case, "other")?, words(&case, "bits")?);
        let lengths = [items.len(), others.len(), bits.len()];
        let [n, k, m] = lengths;
        writeln!(text, "{element} {operator} {operation} {width} {n} {k} {m}")
            .expect("a string takes all");
        for bits in items.iter().chain(&others).chain(&bits) {
            writeln!(text, "{bits}").expect("a string takes all");
        }
        count += 1;
    }
    Ok(count)
}

/// Words with bits: none, one, or a list of them.
fn words(case: &Value, key: &str) -> Result<Vec<String>, String> {
    let list = match &case[key] {
        Value::Null => &[],
        Value::Array(list) => &list[..],
        one => std::slice::from_ref(one),
    };
    let words = list.iter().map(|word| word.as_str().map(str::to_owned));
    let words: Option<Vec<String>> = words.collect();
    words.ok_or_else(|| format!("{case}: {key} are no words"))
}

#[cfg(test)]
mod tests {
    use super::{Header, of_bytes, of_bytes_by_key, of_exact, of_order, write_cases};

    fn lines(rows: &str, header: Header) -> (String, usize) {
        let mut text = String::new();
        let count = write_cases(rows, header, &mut text).unwrap();
        (text, count)
    }

    #[test]
    fn bytes_become_lines() {
        let row = r#"{"name": "a", "kind": "complex sum", "type": "f32", "items": ["01 02", "03 04"], "bytes": "ab0c", "value": "05 06"}"#;
        let lines = "complex-sum f32 2 0 2 2\n01 02\n03 04\nab\n0c\n05 06\n";
        assert_eq!(of_bytes(row).unwrap(), lines);
        let row = r#"{"name": "a", "kind": "keyed sums", "type": "f32", "keys": ["02"], "items": ["01"], "bytes": "ab0c", "value": ["00", "00", "01"]}"#;
        let lines = "keyed-sums f32 1 1 2 3\n01\n02\nab\n0c\n00\n00\n01\n";
        assert_eq!(of_bytes_by_key(row).unwrap(), lines);
    }

    #[test]
    fn rows_become_lines() {
        let rows = r#"{"name": "a", "type": "f32", "operator": "max", "items": ["01", "02", "03", "04"], "bits": ["03", "04"]}
{"name": "b", "type": "f64", "operator": "difference", "items": [], "bits": ["05"]}
{"name": "c", "type": "f64", "operator": "sum", "reciprocals": 3, "items": [], "bits": ["06"]}
{"name": "d", "type": "f64", "operator": "sum", "items": [], "bits": ["00"]}
{"name": "e", "type": "c64", "operator": "sum", "operation": "scan", "items": ["07 08", "09 0A"], "bits": ["07 08", "0B 0C"]}
{"name": "f", "type": "f64", "operator": "sum", "items": ["01"], "other": ["02"], "bits": ["03"]}
{"name": "g", "type": "f64", "operator": "sum", "items": [], "p4016": 31, "bits": ["04"]}"#;
        let expected = "f32 max reduce 2 4 0 2\n01\n02\n03\n04\n03\n04\nf64 sum reduce 1 0 0 1\n00\n\
            c64 sum scan 1 2 0 2\n07 08\n09 0A\n07 08\n0B 0C\nf64 sum dot 1 1 1 1\n01\n02\n03\n\
            f64 sum p4016 1 1 0 1\n000000000000001F\n04\n";
        assert_eq!(lines(rows, of_order), (expected.to_owned(), 5));
        let rows = r#"{"name": "a", "type": "f64", "operator": "dot", "items": ["01"], "bits": "02", "other": ["03"]}
{"name": "b", "type": "f64", "operator": "root", "items": ["01"], "bits": "02", "other": ["03"]}
{"name": "c", "type": "f32", "operator": "norm", "items": [], "bits": "00"}"#;
        let expected = "f64 exact dot 1 1 1 1\n01\n03\n02\nf32 exact norm 1 0 0 1\n00\n";
        assert_eq!(lines(rows, of_exact), (expected.to_owned(), 2));
    }
}
