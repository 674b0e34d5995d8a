//! Queries by which pages quote records, in the form of a URL query: `docs/measured/reduce.json?value=ratio&variant=plan&n=460..2000`.
//!
//! - `about`: the machine, the day, the commit and the command.
//! - `value=FIELD`: the smallest and largest value of the field in the selected rows, as "0.81 to 1.14".
//! - `rows=FIELD&columns=FIELD&cell=FIELD`: a table of such values. `cell=us,ratio` gives "0.28 (0.77)".
//!
//! Every other `FIELD=…` selects rows, either by a list of values, which also gives their order, or by a range of numbers, `FIRST..LAST`. A
//! value may be written `value:name`. A table then shows the name, in which `_` stands for a space.
//!
//! Computed fields are `us` and `s`, the time in these units; `ns_item`, the time per item; and `ratio`, the time divided by the reference's.

use serde_json::Value;

use crate::markdown::{self, from_to};

/// A record for queries: its head and its rows.
#[derive(Debug)]
pub struct Source {
    head: Value,
    rows: Vec<Value>,
}

impl Source {
    /// Parses the text of a record of times.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut head: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match head.get_mut("rows").map(Value::take) {
            Some(Value::Array(rows)) if !rows.is_empty() => Ok(Self { head, rows }),
            _ => Err("no rows".to_owned()),
        }
    }

    /// The answer to a query: words, or the lines of a table, which end with a line break.
    pub fn answer(&self, query: &str) -> Result<String, String> {
        if query == "about" {
            return self.about();
        }
        let [mut value, mut rows, mut columns, mut cell] = [None; 4];
        let mut filters = Vec::new();
        for part in query.split('&') {
            let (name, text) = part
                .split_once('=')
                .ok_or_else(|| format!("`{part}` has no `=`"))?;
            match name {
                "value" => value = Some(text),
                "rows" => rows = Some(text),
                "columns" => columns = Some(text),
                "cell" => cell = Some(text),
                _ => filters.push(Filter::parse(name, text)),
            }
        }
        let is_chosen = |row: &&Value| filters.iter().all(|filter| filter.takes(row));
        let chosen: Vec<&Value> = self.rows.iter().filter(is_chosen).collect();
        if chosen.is_empty() {
            return Err("no row is selected".to_owned());
        }
        match (value, rows, columns, cell) {
            (Some(field), ..) => range(&chosen, field),
            (_, Some(rows), Some(columns), Some(cell)) => {
                table(&chosen, &filters, [rows, columns], cell)
            }
            _ => Err("has neither `value` nor all of `rows`, `columns` and `cell`".to_owned()),
        }
    }

    fn about(&self) -> Result<String, String> {
        let parts = ["machine", "date", "commit", "command"];
        let [Some(machine), Some(date), Some(commit), Some(command)] =
            parts.map(|name| self.head[name].as_str())
        else {
            return Err("the record lacks the machine, date, commit or command".to_owned());
        };
        let load = self.head["load"].as_f64();
        let load = load.map_or(String::new(), |load| format!(", load {load:.1}"));
        Ok(format!(
            "{machine}{load}; {date}, commit {commit}; `{command}`"
        ))
    }
}

/// A filter of rows.
#[derive(Debug)]
enum Filter<'q> {
    /// Values and their names.
    OneOf(&'q str, Vec<(&'q str, String)>),
    /// A range of numbers, both included.
    Between(&'q str, f64, f64),
}

impl<'q> Filter<'q> {
    fn parse(field: &'q str, text: &'q str) -> Self {
        if let Some((first, last)) = text.split_once("..")
            && let (Ok(first), Ok(last)) = (first.parse(), last.parse())
        {
            return Self::Between(field, first, last);
        }
        let named = |value: &'q str| match value.split_once(':') {
            Some((value, name)) => (value, name.replace('_', " ")),
            None => (value, shown(value)),
        };
        Self::OneOf(field, text.split(',').map(named).collect())
    }

    fn takes(&self, row: &Value) -> bool {
        match self {
            Self::OneOf(field, values) => {
                let own = text(row, field);
                values.iter().any(|(value, _)| *value == own)
            }
            Self::Between(field, first, last) => {
                number(row, field).is_some_and(|own| (*first..=*last).contains(&own))
            }
        }
    }
}

/// A field as text; a missing one is `none`.
fn text(row: &Value, field: &str) -> String {
    match &row[field] {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        other => other.to_string().trim_end_matches(".0").to_owned(),
    }
}

/// A field of a row, or a value computed from its fields.
fn number(row: &Value, field: &str) -> Option<f64> {
    let own = |field: &str| row[field].as_f64();
    match field {
        "s" => Some(own("ns")? / 1e9),
        "us" => Some(own("ns")? / 1e3),
        "ns_item" => Some(own("ns")? / own("n")?),
        "ratio" => Some(own("ns")? / own("reference_ns")?),
        _ => own(field),
    }
}

/// A number as pages show it: ratios with two decimal places, others with two or three digits.
fn rounded(field: &str, number: f64) -> String {
    let places = match number.abs() {
        _ if field == "ratio" => 2,
        99.95.. => 0,
        9.995.. => 1,
        0.095.. => 2,
        _ => 3,
    };
    format!("{number:.places$}")
}

/// The smallest and the largest value of a field.
fn range(rows: &[&Value], field: &str) -> Result<String, String> {
    let values: Option<Vec<f64>> = rows.iter().map(|row| number(row, field)).collect();
    let values = values.ok_or_else(|| format!("a row has no number `{field}`"))?;
    Ok(from_to(values, |value| rounded(field, value)))
}

/// A value as a heading. Large powers of 2 and of 10 are shown as powers.
fn shown(value: &str) -> String {
    match value.parse::<u64>() {
        Ok(number) if number >= 256 && number.is_power_of_two() => format!("2^{}", number.ilog2()),
        Ok(number) if number >= 10_000 && 10_u64.pow(number.ilog10()) == number => {
            format!("10^{}", number.ilog10())
        }
        Ok(_) => crate::markdown::grouped(value),
        Err(_) => value.to_owned(),
    }
}

/// The values of a field with their names: as a filter lists them, or else in the order of the rows.
fn headings(rows: &[&Value], filters: &[Filter<'_>], field: &str) -> Vec<(String, String)> {
    for filter in filters {
        if let Filter::OneOf(own, values) = filter
            && *own == field
        {
            let owned = |(value, name): &(&str, String)| ((*value).to_owned(), name.clone());
            return values.iter().map(owned).collect();
        }
    }
    let mut found: Vec<(String, String)> = Vec::new();
    for row in rows {
        let value = text(row, field);
        if found.iter().all(|(known, _)| *known != value) {
            let name = shown(&value);
            found.push((value, name));
        }
    }
    found
}

/// A table of values. A cell has the range of the values of all its rows, or a dash if there are none.
fn table(
    chosen: &[&Value],
    filters: &[Filter<'_>],
    [rows, columns]: [&str; 2],
    cell: &str,
) -> Result<String, String> {
    let column_headings = headings(chosen, filters, columns);
    let names = column_headings.iter().map(|(_, name)| name.clone());
    let corner = if rows == "n" { "N" } else { "" }.to_owned();
    let mut table: Vec<Vec<String>> = vec![[corner].into_iter().chain(names).collect()];
    for (row, name) in headings(chosen, filters, rows) {
        let mut cells = vec![name];
        for (column, _) in &column_headings {
            let is_here =
                |value: &&&Value| text(value, rows) == row && text(value, columns) == *column;
            let here: Vec<&Value> = chosen.iter().filter(is_here).copied().collect();
            cells.push(if here.is_empty() {
                "–".to_owned()
            } else {
                // The ratio of the reference is always 1, so it is left out.
                let is_reference = here.iter().all(|row| row["variant"] == row["reference"]);
                let fields = cell.split(',');
                let fields = fields.filter(|&field| !(is_reference && field == "ratio"));
                let fields = fields.map(|field| range(&here, field));
                let mut fields = fields.collect::<Result<Vec<_>, _>>()?.into_iter();
                let first = fields.next().unwrap_or_default();
                fields.fold(first, |cell, field| format!("{cell} ({field})"))
            });
        }
        table.push(cells);
    }
    Ok(markdown::table(table, true))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use super::Source;

    /// Only errors are tested here; tests of crate `documents` compare the pages with records.
    #[test]
    fn queries_that_find_nothing() {
        let times = r#"{"rows": [{"variant": "plan", "n": 2, "ns": 3.0, "reference_ns": 4.0}]}"#;
        let times = Source::parse(times).unwrap();
        for query in [
            "value=ratio&variant=plam",
            "value=ratoi&variant=plan",
            "variant=plan",
            "rows=n&columns=variant",
            "everything",
            "about",
        ] {
            assert!(times.answer(query).is_err(), "{query}");
        }
        assert!(Source::parse("{}").is_err());
        assert!(Source::parse("rows").is_err());
    }
}
