//! What fills the holes of a page's text: values, the lines of pictures, and all of that again for each of several cases.

use std::collections::BTreeMap;
use std::fmt;

use harness::markdown::digits;
use harness::plot::Line;
use serde::Serialize;

use crate::cluster::Shape;
use crate::said::count;

/// A published number or one of ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Value {
    /// A count, exact.
    Count(u64),
    /// A measure, shown with four digits.
    Number(f64),
    /// Anything else that is said.
    Text(String),
    /// Not published, or not known.
    None,
}

impl Value {
    /// What a text says: a count, a number, nothing, or anything else.
    pub(super) fn read(text: &str) -> Self {
        let count = text.parse().ok().map(Value::Count);
        let number = || text.parse().ok().map(Value::Number);
        match text {
            "–" => Value::None,
            _ => count.or_else(number).unwrap_or_else(|| text.into()),
        }
    }

    /// As it is printed: with four digits, with so many decimal places (`.2`), or with commas between thousands (`,`).
    pub(super) fn shown(&self, format: &str) -> String {
        let places = format.strip_prefix('.');
        match (self, places.and_then(|places| places.parse::<usize>().ok())) {
            (Value::Number(number), Some(places)) => format!("{number:.places$}"),
            (Value::Count(number), None) if format == "," => count(number),
            _ => {
                assert!(format.is_empty(), "{self:?} as `{format}`");
                self.to_string()
            }
        }
    }
}

macro_rules! values_of {
    ($($type:ty, $name:ident => $value:expr;)+) => {
        $(impl From<$type> for Value {
            fn from($name: $type) -> Self {
                $value
            }
        })+
    };
}

values_of! {
    u64, count => Value::Count(count);
    usize, count => Value::Count(count as u64);
    f64, number => Value::Number(number);
    String, text => Value::Text(text);
    &str, text => Value::Text(text.to_owned());
    Shape, shape => Value::Text(shape.to_string());
    bool, is_so => if is_so { "yes" } else { "no" }.into();
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::None, Into::into)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Count(count) => count.fmt(f),
            Value::Number(number) => f.write_str(&digits(*number)),
            Value::Text(text) => f.write_str(text),
            Value::None => f.write_str("–"),
        }
    }
}

/// The cells of a row, each of anything that is a value.
macro_rules! cells {
    ($($cell:expr),+ $(,)?) => {
        vec![$(crate::values::Value::from($cell)),+]
    };
}
pub(crate) use cells;

/// The cells of a row: one, and others of one kind.
pub(super) fn row<T: Into<Value>>(
    first: impl Into<Value>,
    others: impl IntoIterator<Item = T>,
) -> Vec<Value> {
    let others = others.into_iter().map(Into::into);
    [first.into()].into_iter().chain(others).collect()
}

/// What fills a text, or what stands between `{each case}` and `{end}`.
#[derive(Debug, Default)]
pub(super) struct Values {
    holes: BTreeMap<String, Value>,
    cases: BTreeMap<String, Vec<Values>>,
    lines: BTreeMap<String, Vec<Line>>,
}

impl Values {
    /// Fills a hole.
    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) -> &mut Self {
        self.holes.insert(name.to_owned(), value.into());
        self
    }

    /// Fills a hole with neighbouring cells of a row, one for each item.
    pub(super) fn cells<I, T: Into<Value>>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = I>,
        cell: impl FnMut(I) -> T,
    ) {
        let cells = items.into_iter().map(cell).map(Into::into);
        self.set(name, joined(cells));
    }

    /// Fills a hole with the rows of a table, one for each item.
    pub(super) fn rows<I>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = I>,
        row: impl FnMut(I) -> Vec<Value>,
    ) {
        let rows = items.into_iter().map(row);
        let rows = rows.map(|cells| format!("| {} |", joined(cells)));
        self.set(name, rows.collect::<Vec<_>>().join("\n"));
    }

    /// One more case.
    pub(super) fn case(&mut self, name: &str) -> &mut Self {
        let cases = self.cases.entry(name.to_owned()).or_default();
        cases.push(Self::default());
        cases.last_mut().expect("it was added")
    }

    /// Draws the picture of this part.
    pub(super) fn draw(&mut self, part: &str, lines: impl IntoIterator<Item = Line>) {
        let lines = lines.into_iter().collect();
        self.lines.insert(part.to_owned(), lines);
    }

    /// What fills a hole.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.holes.get(name)
    }

    /// The cases of a name.
    pub(super) fn each(&self, name: &str) -> &[Values] {
        self.cases.get(name).map_or(&[], Vec::as_slice)
    }

    /// What a part draws.
    pub(super) fn lines(&self, part: &str) -> Option<&Vec<Line>> {
        self.lines.get(part)
    }

    /// The marks of all that is set, as a text should have them.
    pub(super) fn marks(&self) -> Vec<String> {
        let cases = self.cases.iter().flat_map(|(name, cases)| {
            let inner = cases.iter().flat_map(Self::marks);
            [format!("{{each {name}}}")].into_iter().chain(inner)
        });
        let holes = self.holes.keys().map(|name| format!("{{{name}"));
        holes.chain(cases).collect()
    }
}

fn joined(cells: impl IntoIterator<Item = Value>) -> String {
    let cells = cells.into_iter().map(|cell| cell.to_string());
    cells.collect::<Vec<_>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn values_are_read_and_shown() {
        for (text, format, shown) in [
            ("640", "", "640"),
            ("504850", ",", "504,850"),
            ("1083.4", "", "1083"),
            ("184.46", ".1", "184.5"),
            ("6.4e-12", "", "6.40e-12"),
            ("–", "", "–"),
            ("at most 1", "", "at most 1"),
        ] {
            assert_eq!(Value::read(text).shown(format), shown);
        }
        assert_eq!(Value::read("640"), Value::Count(640));
        assert_eq!(Value::read("640.0"), Value::Number(640.0));
        assert_eq!(Value::from(None::<u64>), Value::read("–"));
        assert_eq!(Value::from(true), "yes".into());
    }
}
