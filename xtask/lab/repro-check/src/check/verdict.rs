//! Computes the expected bits of all rows and compares rows with them.

use std::collections::{BTreeMap, BTreeSet};

use checkout::table::{Table, thousands};
use reduce::{Operator, Sum};

use crate::data::DataSet;
use crate::job::Row;
use crate::{Backend, Order};

/// The name of the canary's data set.
const CANARY: &str = "canary";

/// The expected sums of all data sets, by the data sets' names.
pub(super) struct Expectations(BTreeMap<String, Expected>);

/// The bits of a data set's sum in each fixed order, computed by the order's definition. Plain sums have no fixed order and no expected bits.
struct Expected([(Order, u64); 3]);

impl Expected {
    /// The bits of a sum in an order.
    fn bits(&self, order: &str) -> Option<u64> {
        let own = self.0.iter().find(|(known, _)| known.name() == order);
        own.map(|(_, bits)| *bits)
    }

    fn of(data: &DataSet) -> Self {
        let bits = |total: Option<f64>| Sum.canonical(total.unwrap_or(0.0)).to_bits();
        let tree = simd_kernels::by_definition(&data.items, &|left, right| left + right);
        Self([
            (Order::Tree, bits(tree)),
            (
                Order::LeftToRight,
                bits(simd_kernels::left_to_right(&data.items)),
            ),
            // Computed with big integers, independently of the code under test.
            (Order::Exact, integer_sums::sum(&data.items).to_bits()),
        ])
    }
}

impl Expectations {
    /// Computes the sums by their definitions, on one core, for all data sets.
    pub(super) fn of(data: &[DataSet]) -> Self {
        let each = |data: &DataSet| (data.name.clone(), Expected::of(data));
        Self(data.iter().map(each).collect())
    }

    /// All deviations of the rows from the expected bits.
    pub(super) fn faults(&self, rows: &[Row]) -> Vec<String> {
        let mut faults: Vec<String> = rows.iter().filter_map(|row| self.fault(row)).collect();
        for backend in [Backend::Threads, Backend::Mpi] {
            if patterns(&canary(rows, backend)) == 1 {
                let backend = backend.name();
                faults.push(format!("canary, {backend}: the plain sum has the same bits on all rank counts, so the check proves nothing"));
            }
        }
        faults
    }

    /// How a row deviates from the expected bits, if it does.
    pub(super) fn fault(&self, row: &Row) -> Option<String> {
        let Some(expected) = self.0.get(&row.dataset) else {
            return Some(format!("{}: unexpected data set", row.dataset));
        };
        let expected = expected.bits(&row.order)?;
        let fault = if row.bits != format!("{expected:016X}") {
            format!("has bits {}, not {expected:016X}", row.bits)
        } else if !row.ranks_agree {
            "the ranks have different bits".to_owned()
        } else {
            return None;
        };
        let (what, where_) = (&row.dataset, &row.distribution);
        let (how, ranks) = (&row.algorithm, row.ranks);
        let (collective, backend) = (&row.collective, &row.backend);
        Some(format!(
            "{what}, {collective} by {how}, {where_}, {backend}, p = {ranks}: {fault}"
        ))
    }

    /// The report: for each data set, treefold's sum, the number of runs that gave it, and the number and spread of plain sums; then the
    /// canary's lines. Lines have at most 80 columns.
    pub(super) fn summary(&self, data: &[DataSet], rows: &[Row]) -> Vec<String> {
        let headings = "data set|N|treefold's sum|runs|plain sums|apart";
        let mut table = Table::new(headings.split('|'));
        for data in data.iter().filter(|data| data.name != CANARY) {
            let rows: Vec<&Row> = rows.iter().filter(|row| row.dataset == data.name).collect();
            let own = |order: Order| {
                let own = rows.iter().filter(move |row| row.order == order.name());
                own.copied().collect::<Vec<&Row>>()
            };
            let mut treefolds = own(Order::Tree);
            if treefolds.is_empty() {
                treefolds = own(Order::Exact);
            }
            let same = treefolds.iter().filter(|row| self.fault(row).is_none());
            let (same, mut runs) = (thousands(same.count()), thousands(treefolds.len()));
            if same != runs {
                runs = format!("{same} of {runs}");
            }
            let first = treefolds.first();
            let bits = first.and_then(|row| self.0.get(&data.name)?.bits(&row.order));
            let sum = bits.map(|bits| format!("{:?}", f64::from_bits(bits)));
            let sum = sum.unwrap_or("–".to_owned());
            let plain = own(Order::None);
            let (values, apart) = (patterns(&plain), spread(&plain));
            let (name, items) = (data.name.clone(), data.items.len().to_string());
            table.push(vec![name, items, sum, runs, values.to_string(), apart]);
        }
        let mut lines = table.lines_within(LINE_COLUMNS);
        for backend in [Backend::Threads, Backend::Mpi] {
            lines.extend(canary_line(backend, &canary(rows, backend)));
        }
        lines
    }

    /// A table like Table 4.2 of the thesis: the largest minus the smallest sum, and the number of bit patterns, by data set and algorithm.
    pub(super) fn table(&self, data: &[DataSet], algorithms: &[String], rows: &[Row]) -> Table {
        let headings = ["data set", "N", "sum in tree order"].map(str::to_owned);
        let mut table = Table::new(headings.iter().chain(algorithms).cloned());
        for data in data {
            let expected = self.0.get(&data.name);
            let tree = expected.and_then(|expected| expected.bits(Order::Tree.name()));
            let tree = tree.unwrap_or(0);
            let mut line = vec![
                data.name.clone(),
                data.items.len().to_string(),
                format!("{tree:016X}"),
            ];
            for algorithm in algorithms {
                let chosen = |row: &&Row| row.dataset == data.name && row.algorithm == *algorithm;
                line.push(cell(rows.iter().filter(chosen)));
            }
            table.push(line);
        }
        table
    }
}

/// The width of a terminal, in columns.
const LINE_COLUMNS: usize = 80;

/// The canary's rows on a backend.
fn canary(rows: &[Row], backend: Backend) -> Vec<&Row> {
    let on_it = |row: &&Row| row.dataset == CANARY && row.backend == backend.name();
    rows.iter().filter(on_it).collect()
}

/// The report's line about the canary on a backend, if it ran there.
fn canary_line(backend: Backend, rows: &[&Row]) -> Option<String> {
    let ranks: BTreeSet<usize> = rows.iter().map(|row| row.ranks).collect();
    let (backend, ranks) = (backend.name(), ranks.len());
    let said = match patterns(rows) {
        0 => return None,
        1 => format!("1 plain sum on {ranks} rank counts; the check proves nothing"),
        values => format!("{values} different plain sums on {ranks} rank counts, as expected"),
    };
    Some(format!("canary, {backend}: {said}"))
}

/// The largest number of different plain sums of any data set except the canary.
pub(super) fn most_plain_values(rows: &[Row]) -> usize {
    let mut plain: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        if row.order == Order::None.name() && row.dataset != CANARY {
            plain.entry(&row.dataset).or_default().push(row);
        }
    }
    plain.values().map(|rows| patterns(rows)).max().unwrap_or(0)
}

/// The number of different sums.
fn patterns(rows: &[&Row]) -> usize {
    let patterns: BTreeSet<&str> = rows.iter().map(|row| row.bits.as_str()).collect();
    patterns.len()
}

/// The largest minus the smallest sum.
fn spread(rows: &[&Row]) -> String {
    let sums = rows.iter().map(|row| row.total());
    let least = sums.clone().fold(f64::INFINITY, f64::min);
    let greatest = sums.fold(f64::NEG_INFINITY, f64::max);
    match patterns(rows) {
        0 | 1 => "0".to_owned(),
        _ => format!("{:.1e}", greatest - least),
    }
}

/// The text of a cell: the spread of the rows' sums, and their number of bit patterns.
fn cell<'r>(rows: impl Iterator<Item = &'r Row>) -> String {
    let rows: Vec<&Row> = rows.collect();
    if rows.is_empty() {
        return "–".to_owned();
    }
    format!("{} ({})", spread(&rows), patterns(&rows))
}

#[cfg(test)]
mod tests {
    use super::{Expectations, Expected, Order};
    use crate::job::Row;

    const TREE: u64 = 0x3FF0_0000_0000_0000;
    const LEFT_TO_RIGHT: u64 = 0x3FF0_0000_0000_0001;
    const EXACT: u64 = 0x3FF0_0000_0000_0002;

    fn expectations() -> Expectations {
        let sums = |name: &str| {
            let (tree, exact) = ((Order::Tree, TREE), (Order::Exact, EXACT));
            let left_to_right = (Order::LeftToRight, LEFT_TO_RIGHT);
            (name.to_owned(), Expected([tree, left_to_right, exact]))
        };
        Expectations(["data", "canary"].map(sums).into())
    }

    fn row(dataset: &str, order: &str, bits: u64) -> Row {
        Row {
            dataset: dataset.to_owned(),
            n: 2,
            algorithm: "some".to_owned(),
            distribution: "lower".to_owned(),
            backend: "threads".to_owned(),
            ranks: 17,
            bits: format!("{bits:016X}"),
            sum: Some(f64::from_bits(bits)),
            order: order.to_owned(),
            messages: None,
            rounds: None,
            collective: "allreduce".to_owned(),
            ranks_agree: true,
        }
    }

    #[test]
    fn rows_as_they_must_be_have_no_fault() {
        let rows = [
            row("data", "tree", TREE),
            row("data", "left-to-right", LEFT_TO_RIGHT),
            row("data", "exact", EXACT),
            row("data", "none", 7),
            row("canary", "none", 1),
            row("canary", "none", 2),
        ];
        assert_eq!(expectations().faults(&rows), [] as [String; 0]);
    }

    #[test]
    fn each_kind_of_fault_is_found_and_named() {
        let faults = |rows: &[Row]| expectations().faults(rows);
        let expected = "data, allreduce by some, lower, threads, p = 17: has bits 3FF0000000000001, not 3FF0000000000000";
        assert_eq!(faults(&[row("data", "tree", LEFT_TO_RIGHT)]), [expected]);
        assert_eq!(faults(&[row("data", "left-to-right", TREE)]).len(), 1);
        assert_eq!(faults(&[row("data", "exact", TREE)]).len(), 1);

        let mut torn = row("data", "tree", TREE);
        torn.ranks_agree = false;
        assert!(faults(&[torn])[0].ends_with("the ranks have different bits"));

        let unknown = [row("other", "tree", TREE)];
        assert!(faults(&unknown)[0].starts_with("other: "));

        let silent = [row("canary", "none", 1), row("canary", "none", 1)];
        assert!(faults(&silent)[0].starts_with("canary, threads: "));
    }
}
