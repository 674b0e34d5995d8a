//! What the rows must be, and whether they are.

use std::collections::{BTreeMap, BTreeSet};

use reduce::{Operator, Order, Sum};

use crate::choices::Backend;
use crate::data::DataSet;
use crate::job::Row;
use crate::table::Table;

/// The sums of every data set, by name.
pub(super) struct Expectations(BTreeMap<String, Expected>);

/// A data set's sums by their definitions, as bits.
struct Expected {
    tree: u64,
    left_to_right: u64,
}

impl Expected {
    fn of(data: &DataSet) -> Self {
        let bits = |total: Option<f64>| Sum.canonical(total.unwrap_or(0.0)).to_bits();
        Self {
            tree: bits(simd_kernels::by_definition(&data.items, &|left, right| {
                left + right
            })),
            left_to_right: bits(simd_kernels::left_to_right(&data.items)),
        }
    }
}

impl Expectations {
    /// By the definitions, on one core.
    pub(super) fn of(data: &[DataSet]) -> Self {
        let each = |data: &DataSet| (data.name.clone(), Expected::of(data));
        Self(data.iter().map(each).collect())
    }

    /// Every way in which the rows are not as they must be.
    pub(super) fn faults(&self, rows: &[Row]) -> Vec<String> {
        let mut faults: Vec<String> = rows.iter().filter_map(|row| self.fault(row)).collect();
        for backend in [Backend::Threads, Backend::Mpi] {
            let canary = rows
                .iter()
                .filter(|row| row.dataset == "canary" && row.backend == backend.name());
            let patterns: BTreeSet<&str> = canary.map(|row| row.bits.as_str()).collect();
            if patterns.len() == 1 {
                let backend = backend.name();
                faults.push(format!("canary, {backend}: the unordered sum has one bit pattern, so the check proves nothing"));
            }
        }
        faults
    }

    fn fault(&self, row: &Row) -> Option<String> {
        let expected = self.0.get(&row.dataset)?;
        let expected = match row.order.as_str() {
            order if order == Order::Tree.name() => expected.tree,
            order if order == Order::LeftToRight.name() => expected.left_to_right,
            _ => return None,
        };
        let fault = if row.bits != format!("{expected:016X}") {
            format!("has bits {}, not {expected:016X}", row.bits)
        } else if !row.ranks_agree {
            "has other bits on other ranks".to_owned()
        } else {
            return None;
        };
        let Row {
            dataset,
            algorithm,
            distribution,
            backend,
            ranks,
            ..
        } = row;
        Some(format!(
            "{dataset}, {algorithm}, {distribution}, {backend}, p = {ranks}: {fault}"
        ))
    }

    /// The thesis' Table 4.2: spread between the largest and the smallest sum, and the number of bit patterns.
    pub(super) fn table(&self, data: &[DataSet], algorithms: &[String], rows: &[Row]) -> Table {
        let headings = ["data set", "N", "sum in tree order"].map(str::to_owned);
        let mut table = Table::new(headings.iter().chain(algorithms).cloned());
        for data in data {
            let tree = self.0.get(&data.name).map_or(0, |expected| expected.tree);
            let mut line = vec![
                data.name.clone(),
                data.items.len().to_string(),
                format!("{tree:016X}"),
            ];
            for algorithm in algorithms {
                let chosen = |row: &&Row| row.dataset == data.name && row.algorithm == *algorithm;
                line.push(spread(rows.iter().filter(chosen)));
            }
            table.push(line);
        }
        table
    }
}

fn spread<'r>(rows: impl Iterator<Item = &'r Row> + Clone) -> String {
    let patterns: BTreeSet<&str> = rows.clone().map(|row| row.bits.as_str()).collect();
    if patterns.is_empty() {
        return "–".to_owned();
    }
    let sums = rows.map(Row::total);
    let (least, greatest) = sums.fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, greatest), sum| (least.min(sum), greatest.max(sum)),
    );
    match patterns.len() {
        1 => "0 (1)".to_owned(),
        count => format!("{:.1e} ({count})", greatest - least),
    }
}
