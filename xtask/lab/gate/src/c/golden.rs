//! Converts the golden vectors for programs that do not read JSON: one file has the cases of the order and of exact sums, another bytes.
//!
//! A case of the first file is a line `type operator operation width n k m`, then n lines with the bits of elements, k lines with the
//! second factors of a dot product, and m lines with the result. A complex number is a line of two words. Operations are `reduce`, of rows
//! of `width` elements (m is the width); `scan` and `exscan` (m is n); `squared_norm` and `dot`; and `p4016`, a reduction of items that the
//! reader generates by the rule of ISO C++ paper P4016 (the single element is their number). The operator `exact` stands for exact
//! sums: its operations are `sum`, `dot`, `conjugate_dot` and `norm`.
//!
//! A case of the second file is a line `kind type n m k parts`, then n lines with items, m lines with second items or keys, k lines with
//! bytes, and the lines of the value; `parts` is the value's number of parts or keys.

use std::path::Path;
use std::slice;

use checkout::files::{self, read};
use checkout::workspace::workspace;
use serde_json::Value;

use crate::{Result, Steps};

/// The file for programs of ranks, and the one for programs without ranks.
pub(super) const OF_RANKS: &str = "golden.txt";
pub(super) const OF_BYTES: &str = "bytes.txt";

/// The operators of `treefold.h`.
const OPERATORS: [&str; 4] = ["sum", "product", "min", "max"];

/// The least numbers of cases of both files. Cases are never removed, so if a file has fewer, the conversion has omitted some.
const LEAST_CASES: usize = 421;
const LEAST_OF_BYTES: usize = 228;

/// Converts a case to lines; `None` if C does not have the case's operation.
type Lines = fn(&Value) -> Result<Option<Vec<String>>>;

/// A file of golden/, and the converter of its cases.
type Part = (&'static str, Lines);

/// Writes both files to a folder. Returns a description of their cases.
pub(super) fn write(steps: &mut Steps, folder: &Path) -> Result {
    let of_numbers: [Part; 2] = [("order", of_order), ("exact", of_exact)];
    let of_states: [Part; 2] = [("bytes", of_bytes), ("keyed", of_bytes_by_key)];
    for (what, file, least, parts) in [
        ("", OF_RANKS, LEAST_CASES, of_numbers),
        (" of bytes", OF_BYTES, LEAST_OF_BYTES, of_states),
    ] {
        steps.check(format!("golden vectors{what} as lines of words"), || {
            let (mut text, mut count) = (String::new(), 0);
            for (name, lines) in parts {
                let rows = read(&workspace().join(format!("golden/{name}.jsonl")))?;
                count += write_cases(&rows, lines, &mut text)?;
            }
            if count < least {
                return Err(format!("only {count} cases of golden vectors").into());
            }
            files::write(&folder.join(file), text)?;
            Ok(format!("{count} cases"))
        })?;
    }
    Ok(())
}

/// Appends the lines of all cases of a file. Returns the number of cases.
fn write_cases(rows: &str, lines: Lines, text: &mut String) -> Result<usize> {
    let mut count = 0;
    for row in rows.lines() {
        let case: Value = serde_json::from_str(row).map_err(|error| format!("{row}: {error}"))?;
        if let Some(lines) = lines(&case)? {
            text.extend(lines.into_iter().map(|line| line + "\n"));
            count += 1;
        }
    }
    Ok(count)
}

/// Converts a case of the order; `None` if it has reciprocals or a user-defined operator.
fn of_order(case: &Value) -> Result<Option<Vec<String>>> {
    let (operator, width) = (text(case, "operator")?, words(case, "bits")?.len());
    if !OPERATORS.contains(&operator) || !case["reciprocals"].is_null() {
        return Ok(None);
    }
    let (operation, width) = match case["operation"].as_str() {
        Some(operation) => (operation, 1),
        None if !case["other"].is_null() => ("dot", width),
        None if !case["p4016"].is_null() => ("p4016", width),
        None => ("reduce", width),
    };
    of_numbers(case, &format!("{operator} {operation} {width}")).map(Some)
}

/// Converts a case of exact sums; `None` if it is a root of a dot product.
fn of_exact(case: &Value) -> Result<Option<Vec<String>>> {
    match text(case, "operator")? {
        "root" => Ok(None),
        operation => of_numbers(case, &format!("exact {operation} 1")).map(Some),
    }
}

fn of_numbers(case: &Value, what: &str) -> Result<Vec<String>> {
    let items = match case["p4016"].as_u64() {
        Some(number) => vec![format!("{number:016X}")],
        None => words(case, "items")?,
    };
    let parts = [items, words(case, "other")?, words(case, "bits")?];
    let [n, k, m] = parts.each_ref().map(Vec::len);
    let head = format!("{} {what} {n} {k} {m}", text(case, "type")?);
    Ok([vec![head], parts.concat()].concat())
}

/// Converts a case of states as bytes. The case's `parts` is the number of words of its value.
fn of_bytes(case: &Value) -> Result<Option<Vec<String>>> {
    let parts = |value: &[String]| value.iter().flat_map(|word| word.split(' ')).count();
    as_bytes(case, "other", parts).map(Some)
}

/// Converts a case of sums by key as bytes. The case's `parts` is its number of keys.
fn of_bytes_by_key(case: &Value) -> Result<Option<Vec<String>>> {
    as_bytes(case, "keys", <[String]>::len).map(Some)
}

fn as_bytes(case: &Value, others: &str, parts: fn(&[String]) -> usize) -> Result<Vec<String>> {
    let (items, others) = (words(case, "items")?, words(case, others)?);
    let digits = text(case, "bytes")?.as_bytes().chunks(2);
    let bytes = digits.map(|two| String::from_utf8_lossy(two).into_owned());
    let bytes: Vec<String> = bytes.collect();
    let value = words(case, "value")?;
    let (n, m, k, parts) = (items.len(), others.len(), bytes.len(), parts(&value));
    let (kind, of) = (text(case, "kind")?.replace(' ', "-"), text(case, "type")?);
    let head = format!("{kind} {of} {n} {m} {k} {parts}");
    Ok([vec![head], items, others, bytes, value].concat())
}

fn text<'a>(case: &'a Value, key: &str) -> Result<&'a str> {
    let text = case[key].as_str();
    text.ok_or_else(|| format!("{case}: no {key}").into())
}

/// The words that a case has under `key`: none for null, one for a string, or all of a list.
fn words(case: &Value, key: &str) -> Result<Vec<String>> {
    let list = match &case[key] {
        Value::Null => &[],
        Value::Array(list) => &list[..],
        one => slice::from_ref(one),
    };
    let words = list.iter().map(|word| word.as_str().map(str::to_owned));
    let words: Option<Vec<String>> = words.collect();
    words.ok_or_else(|| format!("{case}: `{key}` is not text").into())
}
