//! Markdown tables and their numbers.

use crate::plot::extremes;

/// A table from the cells of its rows; the first row has the headings. If `has_numbers`, all columns but the first are aligned to the right.
pub fn table<R: AsRef<[String]>>(rows: impl IntoIterator<Item = R>, has_numbers: bool) -> String {
    let others = if has_numbers { "--:|" } else { "---|" };
    let mut text = String::new();
    for row in rows {
        let (cells, is_first) = (row.as_ref(), text.is_empty());
        text += &format!("| {} |\n", cells.join(" | "));
        if is_first {
            text += &format!("|---|{}\n", others.repeat(cells.len().saturating_sub(1)));
        }
    }
    text
}

/// A number without trailing zeros.
pub fn trimmed(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

/// The digits of a whole number. Numbers of 10,000 or more have commas between thousands.
pub fn grouped(digits: &str) -> String {
    if digits.len() < 5 {
        return digits.to_owned();
    }
    checkout::table::grouped(digits)
}

/// A number with four significant digits, or all digits of a large one.
pub fn digits(number: f64) -> String {
    let size = number.abs();
    if size > 0.0 && !(1e-3..1e9).contains(&size) {
        return format!("{number:.2e}");
    }
    let places = match size {
        1000.0.. => 0,
        100.0.. => 1,
        10.0.. => 2,
        _ => 3,
    };
    trimmed(&format!("{number:.places$}")).to_owned()
}

/// The least and the greatest of some values, or one number if both look the same.
pub fn from_to(values: impl IntoIterator<Item = f64>, shown: impl Fn(f64) -> String) -> String {
    let (least, most) = extremes(values);
    let (least, most) = (shown(least), shown(most));
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}
