//! Numbers in words, and sentences about lines: what the titles of pictures say is computed from what they draw.

use std::fmt::Display;

use harness::bench::schedules::{Row, of};
use harness::markdown::{digits, grouped};
use harness::plot::Line;
use reduce::Algorithm;

/// A line with a point for each item.
pub(super) fn line<I>(
    name: impl Into<String>,
    items: impl IntoIterator<Item = I>,
    point: impl FnMut(I) -> (f64, f64),
) -> Line {
    Line::new(name, items.into_iter().map(point).collect())
}

/// The times of some schedules over those of their reference, over some axis.
pub(super) fn ratio_lines(rows: &[Row], algorithms: &[Algorithm], x: fn(&Row) -> f64) -> Vec<Line> {
    let lines = algorithms.iter().map(|&algorithm| {
        let rows = of(rows, algorithm);
        line(algorithm.name(), rows, |row| (x(row), row.ratio))
    });
    lines.collect()
}

/// The heights of some lines' points.
pub(super) fn heights<'l>(lines: impl IntoIterator<Item = &'l Line>) -> impl Iterator<Item = f64> {
    let points = lines.into_iter().flat_map(|line| &line.points);
    points.map(|point| point.1)
}

/// The last height of a line over its first.
pub(super) fn growth(line: &Line) -> f64 {
    match line.points[..] {
        [first, .., last] => last.1 / first.1,
        _ => 1.0,
    }
}

/// The least and the greatest of some values.
pub(super) fn extremes(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    values.into_iter().fold(none, |(least, most), value| {
        (least.min(value), most.max(value))
    })
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
    let total = values
        .into_iter()
        .fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    total.0 / total.1
}

/// From the least to the greatest of some values, with four digits.
pub(super) fn from_to(values: impl IntoIterator<Item = f64>) -> String {
    let (least, most) = extremes(values);
    format!("{} to {}", digits(least), digits(most))
}

/// The same, or one number if it is all.
pub(super) fn span(values: impl IntoIterator<Item = f64>) -> String {
    one_or_both(extremes(values), digits)
}

/// The same with two decimal places.
pub(super) fn range(values: impl IntoIterator<Item = f64>) -> String {
    one_or_both(extremes(values), |value| format!("{value:.2}"))
}

fn one_or_both((least, most): (f64, f64), shown: impl Fn(f64) -> String) -> String {
    let (least, most) = (shown(least), shown(most));
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}

/// How many of all.
pub(super) fn part_of(part: impl Display, whole: impl Display) -> String {
    format!("{part} of {whole}")
}

/// Names or numbers, with commas between.
pub(super) fn listed<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let items = items.into_iter().map(|item| item.to_string());
    items.collect::<Vec<_>>().join(", ")
}

/// The y of one line over those of another, at the points that both have.
pub(super) fn ratios<'l>(own: &'l Line, other: &'l Line) -> impl Iterator<Item = f64> + 'l {
    own.points.iter().filter_map(|&(x, y)| {
        let is_same = |point: &&(f64, f64)| point.0.to_bits() == x.to_bits();
        let same = other.points.iter().find(is_same);
        same.map(|point| y / point.1)
    })
}

/// Which line, of times in microseconds, ends lowest and which highest: "A is the fastest (1.2 µs), B the slowest (3.4 ms)".
pub(super) fn times_at_the_end(lines: &[Line]) -> String {
    let ends = lines.iter().filter_map(|line| {
        let &(_, end) = line.points.last()?;
        Some((end, &*line.name))
    });
    let none = [(f64::INFINITY, ""), (f64::NEG_INFINITY, "")];
    let [(least, fastest), (most, slowest)] = ends.fold(none, |[least, most], end| {
        [
            if end.0 < least.0 { end } else { least },
            if end.0 > most.0 { end } else { most },
        ]
    });
    let (least, most) = (time(least), time(most));
    format!("{fastest} is the fastest ({least}), {slowest} the slowest ({most})")
}

/// All of some times over those of a reference: "schedules take 0.90 to 1.20 of R's time".
pub(super) fn all_ratios(lines: &[Line], reference: &str) -> String {
    let range = range(heights(lines));
    format!("schedules take {range} of {reference}'s time")
}

/// A time in microseconds, printed in a unit that suits it.
fn time(us: f64) -> String {
    if us < 1000.0 {
        format!("{} µs", digits(us))
    } else {
        format!("{} ms", digits(us / 1e3))
    }
}

/// A count as people write it: 1000, 10^7, 504,850.
pub(super) fn count(count: impl Display) -> String {
    let digits = count.to_string();
    let zeros = digits.len() - digits.trim_end_matches('0').len();
    if zeros > 3 && zeros + 1 == digits.len() && digits.starts_with('1') {
        return format!("10^{zeros}");
    }
    grouped(&digits)
}

#[cfg(test)]
mod tests {
    use super::{
        Line, all_ratios, count, from_to, line, mean, range, ratios, span, times_at_the_end,
    };

    #[test]
    fn counts_are_read_easily() {
        for (number, text) in [
            (0, "0"),
            (1602, "1602"),
            (10_000, "10^4"),
            (20_000, "20,000"),
            (504_850, "504,850"),
            (21_410_970, "21,410,970"),
        ] {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn lines_are_compared_where_both_have_points() {
        let own = line("own", [(1.0, 2.0), (2.0, 3.0)], |point| point);
        let other = line("other", [(2.0, 1500.0), (3.0, 1.0)], |point| point);
        assert_eq!(ratios(&other, &own).collect::<Vec<f64>>(), [500.0]);
    }

    #[test]
    fn ranges_have_ends() {
        assert_eq!(range([0.5, 2.0, 1.0]), "0.50 to 2.00");
        assert_eq!(range([1.0, 1.001]), "1.00");
        assert_eq!(span([1.0, 1.001]), "1 to 1.001");
        assert_eq!(
            (span([1.0, 1.0]), from_to([1.0])),
            ("1".into(), "1 to 1".into())
        );
        assert!((mean([1.0, 2.0, 6.0]) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn the_ends_of_lines_are_told_in_units_that_suit_them() {
        let lines: [Line; 2] = [
            line("slow", [(1.0, 1.0), (2.0, 1500.0)], |point| point),
            line("fast", [(1.0, 9.0), (2.0, 3.028)], |point| point),
        ];
        let expected = "fast is the fastest (3.028 µs), slow the slowest (1.5 ms)";
        assert_eq!(times_at_the_end(&lines), expected);
        let expected = "schedules take 1.00 to 1500.00 of MPI's time";
        assert_eq!(all_ratios(&lines, "MPI"), expected);
    }
}
