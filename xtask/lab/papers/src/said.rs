//! Formats numbers and summarises lines, so that the numbers in pictures' titles are computed from the drawn data.

use std::fmt::Display;

use harness::markdown::{digits, from_to, grouped};
use harness::plot::Line;
pub(super) use harness::plot::extremes;

/// A line with a point for each item.
pub(super) fn line<I>(
    name: impl Into<String>,
    items: impl IntoIterator<Item = I>,
    point: impl FnMut(I) -> (f64, f64),
) -> Line {
    Line::new(name, items.into_iter().map(point).collect())
}

/// The heights of some lines' points.
pub(super) fn heights<'l>(lines: impl IntoIterator<Item = &'l Line>) -> impl Iterator<Item = f64> {
    let points = lines.into_iter().flat_map(|line| &line.points);
    points.map(|point| point.1)
}

/// A line's last height divided by its first.
pub(super) fn growth(line: &Line) -> f64 {
    match line.points[..] {
        [first, .., last] => last.1 / first.1,
        _ => 1.0,
    }
}

/// The least of some values.
pub(super) fn least(values: impl IntoIterator<Item = f64>) -> f64 {
    extremes(values).0
}

/// The greatest of some values.
pub(super) fn most(values: impl IntoIterator<Item = f64>) -> f64 {
    extremes(values).1
}

/// The mean of some values.
pub(super) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let add = |(sum, count), value| (sum + value, count + 1.0);
    let (sum, count) = values.into_iter().fold((0.0, 0.0), add);
    sum / count
}

/// The least and the greatest of some values, with four digits; only one number if both have the same digits.
pub(super) fn span(values: impl IntoIterator<Item = f64>) -> String {
    from_to(values, digits)
}

/// [`span`] with two decimal places.
pub(super) fn range(values: impl IntoIterator<Item = f64>) -> String {
    from_to(values, |value| format!("{value:.2}"))
}

/// "yes" or "no".
pub(super) fn yes(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}

/// The number as text, or a dash if there is none.
pub(super) fn if_any(number: Option<impl ToString>) -> String {
    number.map_or("–".to_owned(), |number| number.to_string())
}

/// A part of a whole, as "9 of 12".
pub(super) fn part_of(part: impl Display, whole: impl Display) -> String {
    format!("{part} of {whole}")
}

/// Names or numbers, separated by commas.
pub(super) fn listed<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    joined(items, ", ")
}

/// Names or numbers, separated by the text `between`.
pub(super) fn joined<T: ToString>(items: impl IntoIterator<Item = T>, between: &str) -> String {
    let items = items.into_iter().map(|item| item.to_string());
    items.collect::<Vec<_>>().join(between)
}

/// The heights of one line divided by another's, at every x that both have.
pub(super) fn ratios<'l>(own: &'l Line, other: &'l Line) -> impl Iterator<Item = f64> + 'l {
    own.points.iter().filter_map(|&(x, y)| {
        let is_same = |point: &&(f64, f64)| point.0.to_bits() == x.to_bits();
        let same = other.points.iter().find(is_same);
        same.map(|point| y / point.1)
    })
}

/// A count for readers: 1000, 10^7, 504,850.
pub(super) fn count(count: impl Display) -> String {
    let digits = count.to_string();
    let zeros = digits.len() - digits.trim_end_matches('0').len();
    if zeros > 3 && zeros + 1 == digits.len() && digits.starts_with('1') {
        return format!("10^{zeros}");
    }
    grouped(&digits)
}
