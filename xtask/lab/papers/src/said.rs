//! Sentences about lines: what the titles of plots say is computed from what they draw.

use harness::markdown::{digits, grouped};
use harness::plot::Line;

/// The least and the greatest of some values, as a range.
pub(super) fn range(values: impl IntoIterator<Item = f64>) -> String {
    let extremes = (f64::INFINITY, f64::NEG_INFINITY);
    let (least, most) = values.into_iter().fold(extremes, |(least, most), value| {
        (least.min(value), most.max(value))
    });
    let (least, most) = (format!("{least:.2}"), format!("{most:.2}"));
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
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
    let [(least, fastest), (most, slowest)] = ends(lines);
    let (least, most) = (time(least), time(most));
    format!("{fastest} is the fastest ({least}), {slowest} the slowest ({most})")
}

/// All of some times over those of a reference: "schedules take 0.90 to 1.20 of R's time".
pub(super) fn all_ratios(lines: &[Line], reference: &str) -> String {
    let ratios = lines.iter().flat_map(|line| &line.points);
    let range = range(ratios.map(|point| point.1));
    format!("schedules take {range} of {reference}'s time")
}

/// The lowest and the highest end of all lines, and their names.
fn ends(lines: &[Line]) -> [(f64, &str); 2] {
    let end = |line: &'_ Line| line.points.last().map(|point| point.1);
    let ends = lines
        .iter()
        .filter_map(|line| Some((end(line)?, &*line.name)));
    let none = [(f64::INFINITY, ""), (f64::NEG_INFINITY, "")];
    ends.fold(none, |[least, most], end| {
        [
            if end.0 < least.0 { end } else { least },
            if end.0 > most.0 { end } else { most },
        ]
    })
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
pub(super) fn count(count: usize) -> String {
    let digits = count.to_string();
    let zeros = digits.len() - digits.trim_end_matches('0').len();
    if zeros > 3 && zeros + 1 == digits.len() && digits.starts_with('1') {
        return format!("10^{zeros}");
    }
    grouped(&digits)
}

#[cfg(test)]
mod tests {
    use super::{Line, all_ratios, count, range, ratios, times_at_the_end};

    fn line(name: &str, points: &[(f64, f64)]) -> Line {
        Line::new(name, points.to_vec())
    }

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
        let (own, other) = (
            line("own", &[(1.0, 2.0), (2.0, 3.0)]),
            line("other", &[(2.0, 1500.0), (3.0, 1.0)]),
        );
        assert_eq!(ratios(&other, &own).collect::<Vec<f64>>(), [500.0]);
        assert_eq!(range([0.5, 2.0, 1.0]), "0.50 to 2.00");
        assert_eq!(range([1.0, 1.001]), "1.00");
    }

    #[test]
    fn the_ends_of_lines_are_told_in_units_that_suit_them() {
        let lines = [
            line("slow", &[(1.0, 1.0), (2.0, 1500.0)]),
            line("fast", &[(1.0, 9.0), (2.0, 3.028)]),
        ];
        let expected = "fast is the fastest (3.028 µs), slow the slowest (1.5 ms)";
        assert_eq!(times_at_the_end(&lines), expected);
        let expected = "schedules take 1.00 to 1500.00 of MPI's time";
        assert_eq!(all_ratios(&lines, "MPI"), expected);
    }
}
