//! Items of 64-bit words. The operator knows the number of words of an item.

use std::alloc::Layout;
use std::cell::RefCell;
use std::rc::Rc;

use super::{ARE_FLOATS, Values, typed, typed_mut};
use crate::engines::scheduled::program::Combine;
use crate::operator::{PlainFold, WordsOperator};

/// The operations on items of words, and scratch memory for them.
pub(crate) struct Words {
    operator: WordsOperator,
    scratch: RefCell<[Vec<u64>; 2]>,
}

impl Words {
    pub(crate) fn of(operator: WordsOperator) -> Rc<dyn Values> {
        Rc::new(Self {
            operator,
            scratch: RefCell::default(),
        })
    }

    /// Lends scratch memory to `task`.
    fn with_scratch<R>(&self, task: impl FnOnce([&mut Vec<u64>; 2]) -> R) -> R {
        let mut scratch = self.scratch.take();
        let result = task(scratch.each_mut());
        self.scratch.replace(scratch);
        result
    }
}

/// The words in `bytes`, which need not be aligned.
fn words_in(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes
        .chunks_exact(size_of::<u64>())
        .map(bytemuck::pod_read_unaligned)
}

impl Values for Words {
    fn item(&self) -> Layout {
        Layout::array::<u64>(self.operator.words()).expect("an item fits into memory")
    }

    fn name(&self) -> &str {
        self.operator.name()
    }

    fn has_empty(&self) -> bool {
        self.operator.empty().is_some()
    }

    fn exact_sum_bytes(&self) -> Option<usize> {
        None
    }

    fn has_products(&self) -> bool {
        false
    }

    fn plain_fold(&self) -> Option<PlainFold> {
        None
    }

    fn fold(&self, items: &[u8], result: &mut [u8]) -> Option<()> {
        if items.len() == result.len() {
            result.copy_from_slice(items);
            return Some(());
        }
        self.with_scratch(|[scratch, _]| {
            self.operator
                .fold_rows(typed(items), scratch, typed_mut(result))
        })
    }

    fn fold_products(&self, _x: &[u8], _y: &[u8], _result: &mut [u8]) {
        unreachable!("{ARE_FLOATS}")
    }

    fn write_products(&self, _factors: &[&[u8]; 2], _products: &mut [u8]) {
        unreachable!("{ARE_FLOATS}")
    }

    fn fold_runs(&self, items: &[u8], lengths: &[usize], results: &mut [u8]) {
        let item = self.item().size();
        let mut rest = items;
        for (length, result) in lengths.iter().zip(results.chunks_exact_mut(item)) {
            let (run, others) = rest.split_at(length * item);
            self.fold(run, result).expect("a run has items");
            rest = others;
        }
    }

    fn fold_rows(&self, items: &[u8], row: &mut [u8]) {
        let _ = self.fold(items, row);
    }

    fn combine(&self, left: &mut [u8], right: &[u8]) {
        self.with_scratch(|[operands, result]| {
            operands.clear();
            for operand in [&*left, right] {
                operands.extend(words_in(operand));
            }
            result.resize(self.operator.words(), 0);
            let (first, second) = operands.split_at(result.len());
            self.operator.combine_rows(first, second, result);
            left.copy_from_slice(bytemuck::cast_slice(result));
        });
    }

    fn combine_all(&self, combines: &[Combine<usize>], workspace: &mut [u8]) {
        for combine in combines {
            let range = |start: usize| start..start + combine.length;
            let [left, right, into] = workspace
                .get_disjoint_mut([combine.left, combine.right, combine.into].map(range))
                .expect("every value has a place of its own");
            self.combine_rows(left, right, into);
        }
    }

    fn combine_rows(&self, left: &[u8], right: &[u8], into: &mut [u8]) {
        self.operator
            .combine_rows(typed(left), typed(right), typed_mut(into));
    }

    fn combine_rows_canonical(&self, left: &[u8], right: &[u8], into: &mut [u8]) {
        self.combine_rows(left, right, into);
    }

    fn make_canonical(&self, _row: &mut [u8]) {}

    fn copy_canonical(&self, row: &[u8], into: &mut [u8]) {
        into.copy_from_slice(row);
    }

    fn write_empty(&self, row: &mut [u8]) {
        self.operator.write_empty(typed_mut(row));
    }

    fn scan(
        &self,
        row: usize,
        before: &[u8],
        first_item: u64,
        rows: &[u8],
        is_exclusive: bool,
        result: &mut [u8],
    ) {
        self.with_scratch(|[waiting, scratch]| {
            waiting.clear();
            waiting.extend(words_in(before));
            scratch.resize(row / size_of::<u64>(), 0);
            let rows = typed(rows);
            self.operator.scan(
                first_item,
                waiting,
                rows,
                is_exclusive,
                scratch,
                typed_mut(result),
            );
        });
    }
}
