//! What every rank must get, by the recursive definition of the order over all items.

use std::ops::Range;

use reduce::{Operation, Operator};

use super::element::{Element, columns, rows, with_kind};
use super::exact;
use super::keyed;
use super::outcome::Outcome;
use super::vocabulary::Spec;

impl Spec {
    /// N, the number of items.
    pub(super) fn items(&self) -> u64 {
        let own = self.extents.iter().flatten();
        own.fold(0, |items, range| items + (range.end - range.start))
    }

    /// What a call with a step's items gives on a rank.
    pub(super) fn expected(
        &self,
        operation: Operation,
        seed: u64,
        step: usize,
        rank: usize,
    ) -> Outcome {
        with_kind!(
            self.kind,
            [expected_of, exact::expected_of, keyed::expected_of],
            (self, operation, seed, step, rank)
        )
    }
}

fn expected_of<T: Element, O: Operator<T>>(
    operator: O,
    spec: &Spec,
    operation: Operation,
    seed: u64,
    step: usize,
    rank: usize,
) -> Outcome {
    let (items, width, ranks) = (spec.items(), spec.width, spec.extents.len());
    let all = rows::<T>(items, width, seed, step);
    let row_of = |rows: &[T], column: usize| -> T {
        let column: Vec<T> = rows.iter().skip(column).step_by(width).copied().collect();
        let combine = |left, right| operator.combine(left, right);
        let total = simd_kernels::by_definition(&column, &combine).or(operator.empty());
        let total = total.expect("nothing is reduced by operators with an empty value alone");
        operator.canonical(total).canonical()
    };
    let total =
        |columns: Range<usize>| -> Vec<T> { columns.map(|column| row_of(&all, column)).collect() };
    let values = match operation {
        Operation::Reduce if rank != spec.root => return Outcome::Nothing,
        Operation::Reduce | Operation::Allreduce => total(0..width),
        Operation::ReduceScatter => total(columns(width, ranks, rank)),
        Operation::Scan | Operation::Exscan => {
            let own = spec.extents[rank].iter().cloned().flatten();
            let end = |item: u64| match operation {
                Operation::Scan => item + 1,
                _ => item,
            };
            let index = |item: u64| usize::try_from(item).expect("the items are in memory") * width;
            own.flat_map(|item| {
                let before = &all[..index(end(item))];
                (0..width).map(move |column| (before, column))
            })
            .map(|(before, column)| row_of(before, column))
            .collect()
        }
        _ => rows(1, width, seed, step),
    };
    Outcome::Value(bytemuck::cast_slice(&values).to_vec())
}
