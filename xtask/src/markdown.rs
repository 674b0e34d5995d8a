//! Tables in Markdown, and the numbers in them.

use std::fmt::Write;

/// A table, the first of its rows the headings.
#[derive(Clone, Debug, Default)]
pub struct Table {
    text: String,
}

impl Table {
    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let is_first = self.text.is_empty();
        let cells: Vec<String> = cells.into_iter().collect();
        let _ = writeln!(self.text, "| {} |", cells.join(" | "));
        if is_first {
            let _ = writeln!(self.text, "|{}", "---|".repeat(cells.len()));
        }
    }

    /// Its lines.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A number with as few of its decimal places as it needs.
pub fn trimmed(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

/// The digits of a whole number, from 10,000 on with commas between thousands.
pub fn grouped(digits: &str) -> String {
    if digits.len() < 5 {
        return digits.to_owned();
    }
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
