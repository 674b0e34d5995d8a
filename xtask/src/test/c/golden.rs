//! The golden vectors for readers that know no JSON.
//!
//! Each case is a line `type operator width n m`, then n lines with the bits of its elements and m lines with those of its result. The
//! elements are rows of `width`, so that m is the width.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use harness::workspace::workspace;
use serde_json::Value;

/// The operators of `treefold.h`.
const OPERATORS: [&str; 4] = ["sum", "product", "min", "max"];

/// A file that has far fewer cases is not that of the project.
const LEAST_CASES: usize = 80;

/// Writes the file; says how many cases it has.
pub(super) fn write(path: &Path) -> Result<String, String> {
    let golden = workspace().join("golden/order.jsonl");
    let told = |path: &Path, error| format!("{}: {error}", path.display());
    let rows = fs::read_to_string(&golden).map_err(|error| told(&golden, error))?;
    let (text, count) = lines(&rows)?;
    if count < LEAST_CASES {
        return Err(format!("{}: only {count} cases", golden.display()));
    }
    fs::write(path, text).map_err(|error| told(path, error))?;
    Ok(format!("{count} cases"))
}

/// The text, and the number of its cases. Cases whose elements are computed, or whose operator is a program's own, are left out.
fn lines(rows: &str) -> Result<(String, usize), String> {
    let (mut text, mut count) = (String::new(), 0);
    for row in rows.lines() {
        let case: Value = serde_json::from_str(row).map_err(|error| format!("{row}: {error}"))?;
        let word = |key: &str| case[key].as_str().ok_or_else(|| format!("{row}: no {key}"));
        let operator = word("operator")?;
        let is_computed = ["reciprocals", "other"]
            .iter()
            .any(|key| !case[key].is_null());
        if is_computed || !OPERATORS.contains(&operator) {
            continue;
        }
        let (items, bits) = (words(&case, "items")?, words(&case, "bits")?);
        let (n, m) = (items.len(), bits.len());
        writeln!(text, "{} {operator} {m} {n} {m}", word("type")?).expect("a string takes all");
        for bits in items.iter().chain(&bits) {
            writeln!(text, "{bits}").expect("a string takes all");
        }
        count += 1;
    }
    Ok((text, count))
}

/// A list of words with bits.
fn words<'a>(case: &'a Value, key: &str) -> Result<Vec<&'a str>, String> {
    let words = case[key].as_array().into_iter().flatten();
    let words: Option<Vec<&str>> = words.map(Value::as_str).collect();
    words.ok_or_else(|| format!("{case}: {key} are no words"))
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn rows_become_lines() {
        let rows = r#"{"name": "a", "type": "f32", "operator": "max", "items": ["01", "02", "03", "04"], "bits": ["03", "04"]}
{"name": "b", "type": "f64", "operator": "difference", "items": [], "bits": ["05"]}
{"name": "c", "type": "f64", "operator": "sum", "reciprocals": 3, "items": [], "bits": ["06"]}
{"name": "d", "type": "f64", "operator": "sum", "items": [], "bits": ["00"]}"#;
        let expected = "f32 max 2 4 2\n01\n02\n03\n04\n03\n04\nf64 sum 1 0 1\n00\n";
        assert_eq!(lines(rows), Ok((expected.to_owned(), 2)));
    }
}
