//! The sums of one data set over the numbers of ranks: one value in tree order, a spread as programs usually sum.

use std::collections::BTreeSet;
use std::path::Path;

use comm::text::counted;
use harness::data::DataSet;
use harness::job::Row;
use harness::markdown::grouped;
use harness::matrix::plain_sum;
use harness::plot::{Axis, Line, Plot, Record, Size};
use harness::{Error, Order};

/// Whether `--plot` names a picture.
pub(super) fn check(path: &Path) -> Result<(), Error> {
    match path.extension() {
        Some(extension) if extension == "svg" => Ok(()),
        _ => Err(Error::option("--plot", "the picture's name ends in .svg")),
    }
}

/// A number of ranks, and a sum on them.
type Sum = (usize, f64);

/// Draws the sums in tree order of the longest data set beside plain ones, and writes their numbers beside the picture.
pub(super) fn draw(path: &Path, data: &[DataSet], rows: &[Row]) -> Result<(), Error> {
    let is_tree = |row: &&Row| row.order == Order::Tree.name();
    let tree = || rows.iter().filter(is_tree);
    let longest = tree().max_by_key(|row| row.n);
    let longest = longest.and_then(|row| data.iter().find(|data| data.name == row.dataset));
    let Some(longest) = longest else {
        let reason = "there is no sum in tree order to draw";
        return Err(Error::option("--plot", reason));
    };
    let own = tree().filter(|row| row.dataset == longest.name);
    let own: Vec<Sum> = own.map(|row| (row.ranks, row.total())).collect();
    let ranks: BTreeSet<usize> = own.iter().map(|sum| sum.0).collect();
    let plain: Result<Vec<Sum>, Error> = ranks
        .into_iter()
        .map(|ranks| Ok((ranks, plain_sum(&longest.items, ranks)?)))
        .collect();
    let name = path.file_name().unwrap_or_default();
    let source = format!(
        "cargo xtask repro-check --plot {}; data set {}",
        name.display(),
        longest.name
    );
    Record::new(source, plot(longest.items.len(), &own, &plain?)).write(path)
}

/// There are sums of both kinds, on the same numbers of ranks.
fn plot(items: usize, tree: &[Sum], plain: &[Sum]) -> Plot {
    let zero = tree[0].1;
    let unit = zero.abs().next_up() - zero.abs();
    let dots = |name: &str, sums: &[Sum]| {
        let points = sums.iter();
        let points = points.map(|&(ranks, sum)| (ranks as f64, (sum - zero) / unit));
        let mut points: Vec<(f64, f64)> = points.collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        points.dedup();
        Line::dots(name, points)
    };
    let most = plain.iter().map(|sum| sum.0).max().unwrap_or(0);
    let values = |sums: &[Sum]| {
        let patterns: BTreeSet<u64> = sums.iter().map(|sum| sum.1.to_bits()).collect();
        patterns.len()
    };
    Plot {
        title: format!(
            "On 1 to {most} ranks, a plain sum takes {}, treefold's takes {}",
            counted(values(plain), "value"),
            values(tree)
        ),
        subtitle: format!(
            "Sums of {} doubles on {} of ranks; plain: left to right on each rank, then an allreduce",
            grouped(&items.to_string()),
            counted(plain.len(), "number")
        ),
        x: Axis::linear("ranks"),
        y: Axis::linear("difference, units in the last place"),
        lines: vec![dots("treefold", tree), dots("plain sum", plain)],
        size: Size::Half,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{check, plot};

    #[test]
    fn differences_are_in_units_in_the_last_place() {
        let tree = [(17, -1.0), (1, -1.0), (1, -1.0)];
        let next = (-1.0_f64).next_up().next_up();
        let plot = plot(9, &tree, &[(1, -1.0), (17, next)]);
        assert_eq!(plot.lines[0].points, [(1.0, 0.0), (17.0, 0.0)]);
        assert_eq!(plot.lines[1].points, [(1.0, 0.0), (17.0, 1.0)]);
        let expected = "On 1 to 17 ranks, a plain sum takes 2 values, treefold's takes 1";
        assert_eq!(plot.title, expected);
    }

    #[test]
    fn pictures_are_svg() {
        assert!(check(Path::new("docs/spread.svg")).is_ok());
        assert!(check(Path::new("spread.json")).is_err());
    }
}
