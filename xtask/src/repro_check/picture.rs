//! The sums of one data set over the numbers of ranks: one value in tree order, a spread without an order.

use std::collections::BTreeSet;
use std::path::Path;

use reduce::Order;

use crate::error::Error;
use crate::job::Row;
use crate::plot::{Axis, Line, Plot, Record, Size};

/// Whether `--plot` names a picture.
pub(super) fn check(path: &Path) -> Result<(), Error> {
    match path.extension() {
        Some(extension) if extension == "svg" => Ok(()),
        _ => Err(Error::option("--plot", "the picture's name ends in .svg")),
    }
}

/// Draws the rows of the longest data set, and writes their numbers beside the picture.
pub(super) fn draw(path: &Path, rows: &[Row]) -> Result<(), Error> {
    let is_tree = |row: &&Row| row.order == Order::Tree.name();
    let is_unordered = |row: &&Row| row.algorithm == "unordered" && row.dataset != "canary";
    let longest = rows.iter().filter(is_unordered).max_by_key(|row| row.n);
    let Some(longest) = longest else {
        return Err(Error::option("--plot", "there is no unordered sum to draw"));
    };
    let of_longest = |row: &&Row| row.dataset == longest.dataset && row.backend == longest.backend;
    let of_one_distribution = |row: &&Row| row.distribution == longest.distribution;
    let of_longest = rows.iter().filter(of_longest);
    let tree: Vec<&Row> = of_longest.clone().filter(is_tree).collect();
    let unordered = of_longest.filter(is_unordered).filter(of_one_distribution);
    let unordered: Vec<&Row> = unordered.collect();
    let Some(sum) = tree.first().map(|row| row.total()) else {
        return Err(Error::option(
            "--plot",
            "there is no sum in tree order to draw",
        ));
    };
    let plot = plot(longest, sum, &tree, &unordered);
    let source = format!(
        "cargo xtask repro-check --plot {}",
        path.file_name().unwrap_or_default().display()
    );
    Record::new(source, plot).write(path)
}

fn plot(of: &Row, sum: f64, tree: &[&Row], unordered: &[&Row]) -> Plot {
    let unit = sum.abs().next_up() - sum.abs();
    let patterns = |rows: &[&Row]| {
        let patterns: BTreeSet<&str> = rows.iter().map(|row| row.bits.as_str()).collect();
        patterns.len()
    };
    let dots = |name: &str, rows: &[&Row]| {
        let points = rows.iter();
        let points = points.map(|row| (row.ranks as f64, (row.total() - sum) / unit));
        let mut points: Vec<(f64, f64)> = points.collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        points.dedup();
        Line::dots(name, points)
    };
    let values = |count: usize| match count {
        1 => "one value".to_owned(),
        count => format!("{count} values"),
    };
    let ranks: BTreeSet<usize> = unordered.iter().map(|row| row.ranks).collect();
    Plot {
        title: format!(
            "On {} numbers of ranks, a sum without an order has {}, treefold's has {}",
            ranks.len(),
            values(patterns(unordered)),
            values(patterns(tree))
        ),
        subtitle: format!("Sum of {} doubles, against treefold's", of.n),
        x: Axis::linear("ranks"),
        y: Axis::linear("difference, units in the last place"),
        lines: vec![dots("treefold", tree), dots("unordered", unordered)],
        size: Size::Half,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{check, plot};
    use crate::job::Row;

    fn row(algorithm: &str, ranks: usize, sum: f64) -> Row {
        Row {
            dataset: "data".to_owned(),
            n: 9,
            algorithm: algorithm.to_owned(),
            distribution: "lower".to_owned(),
            backend: "threads".to_owned(),
            ranks,
            bits: format!("{:016X}", sum.to_bits()),
            sum: Some(sum),
            order: String::new(),
            messages: None,
            rounds: None,
            collective: "allreduce".to_owned(),
            ranks_agree: true,
        }
    }

    #[test]
    fn differences_are_in_units_in_the_last_place() {
        let rows = [row("plan", 1, -1.0), row("plan", 17, -1.0)];
        let others = [
            row("unordered", 1, -1.0),
            row("unordered", 17, (-1.0_f64).next_up().next_up()),
        ];
        let plot = plot(&rows[0], -1.0, &rows.each_ref(), &others.each_ref());
        assert_eq!(plot.lines[0].points, [(1.0, 0.0), (17.0, 0.0)]);
        assert_eq!(plot.lines[1].points, [(1.0, 0.0), (17.0, 1.0)]);
        let expected =
            "On 2 numbers of ranks, a sum without an order has 2 values, treefold's has one value";
        assert_eq!(plot.title, expected);
    }

    #[test]
    fn pictures_are_svg() {
        assert!(check(Path::new("docs/spread.svg")).is_ok());
        assert!(check(Path::new("spread.json")).is_err());
    }
}
