//! The picture of `repro-check --plot`: the error of a data set's sums by the number of ranks. The error is constant in tree order, and varies
//! for plain sums.

use std::collections::BTreeSet;
use std::path::Path;

use comm::text::counted;
use reduce::exact;

use crate::data::DataSet;
use crate::job::Row;
use crate::markdown::{from_to, grouped};
use crate::matrix::plain_sum;
use crate::plot::{Axis, Line, Plot, Record, Size};
use crate::{Error, Order};

/// A number of ranks, and a sum on them.
type Sum = (usize, f64);

/// Draws the ordered sums of the longest data set with plain ones and writes their values next to the picture.
pub fn draw(path: &Path, data: &[DataSet], rows: &[Row]) -> Result<(), Error> {
    let is_tree = |row: &&Row| row.order == Order::Tree.name();
    let longest = rows.iter().filter(is_tree).max_by_key(|row| row.n);
    let longest = longest.and_then(|row| data.iter().find(|data| data.name == row.dataset));
    let Some(longest) = longest else {
        let reason = "there is no sum in tree order to draw";
        return Err(Error::option("--plot", reason));
    };
    let of = |order: Order| -> Vec<Sum> {
        let own = rows.iter().filter(|row| row.order == order.name());
        let own = own.filter(|row| row.dataset == longest.name);
        own.map(|row| (row.ranks, row.total())).collect()
    };
    let tree = of(Order::Tree);
    let ranks: BTreeSet<usize> = tree.iter().map(|sum| sum.0).collect();
    let plain = ranks.into_iter();
    let plain = plain.map(|ranks| Ok((ranks, plain_sum(&longest.items, ranks)?)));
    let sums = Sums {
        tree,
        exact: of(Order::Exact),
        plain: plain.collect::<Result<_, Error>>()?,
    };
    let (file, set) = (
        path.file_name().unwrap_or_default().display(),
        &longest.name,
    );
    let source = format!("cargo xtask repro-check --plot {file}; data set {set}");
    Record::new(source, plot(&longest.items, &sums)).write(path)
}

/// The data to draw.
struct Sums {
    /// The sums in tree order.
    tree: Vec<Sum>,
    /// The exact sums, rounded once; empty if not requested.
    exact: Vec<Sum>,
    /// The plain sums, on the same numbers of ranks as the sums in tree order.
    plain: Vec<Sum>,
}

/// Plots the distance of each sum from the exact sum. There must be sums in tree order.
fn plot(items: &[f64], sums: &Sums) -> Plot {
    let zero = exact::sum(items);
    let unit = zero.abs().next_up() - zero.abs();
    let distances = |sums: &[Sum]| {
        let points = sums.iter();
        let points = points.map(|&(ranks, sum)| (ranks as f64, (sum - zero) / unit));
        let mut points: Vec<(f64, f64)> = points.collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        points.dedup();
        points
    };
    let (tree, plain) = (distances(&sums.tree), distances(&sums.plain));
    let away = |points: &[(f64, f64)]| {
        let distances = points.iter().map(|point| point.1.abs());
        from_to(distances, |distance| distance.to_string()) + " ulp"
    };
    let most = sums.plain.iter().map(|sum| sum.0).max().unwrap_or(0);
    let title = format!(
        "On 1 to {most} ranks, treefold's sum is {} from the exact sum, a plain one {}",
        away(&tree),
        away(&plain)
    );
    let mut lines = vec![Line::new("treefold, tree order", tree)];
    if !sums.exact.is_empty() {
        lines.push(Line::new("treefold, exact", distances(&sums.exact)));
    }
    lines.push(Line::dots("plain sum", plain));
    Plot {
        title,
        subtitle: format!(
            "{} doubles on {} of ranks; plain: left to right on each rank, then an allreduce",
            grouped(&items.len().to_string()),
            counted(sums.plain.len(), "number")
        ),
        x: Axis::linear("p, ranks"),
        y: Axis::linear("distance from the exact sum, ulp"),
        lines,
        size: Size::Half,
    }
}

#[cfg(test)]
mod tests {
    use super::{Sums, plot};

    #[test]
    fn distances_from_the_exact_sum_are_in_units_in_the_last_place() {
        let items = [1.0, 0.5_f64.powi(53), 0.5_f64.powi(53)];
        let exact = 1.0_f64.next_up();
        let sums = Sums {
            tree: vec![(17, exact), (1, exact), (1, exact)],
            exact: vec![(1, exact), (17, exact)],
            plain: vec![(1, 1.0), (17, exact)],
        };
        let plot = plot(&items, &sums);
        let points: Vec<_> = plot.lines.iter().map(|line| line.points.clone()).collect();
        let flat = vec![(1.0, 0.0), (17.0, 0.0)];
        assert_eq!(points, [flat.clone(), flat, vec![(1.0, -1.0), (17.0, 0.0)]]);
        let expected =
            "On 1 to 17 ranks, treefold's sum is 0 ulp from the exact sum, a plain one 0 to 1 ulp";
        assert_eq!(plot.title, expected);
    }
}
