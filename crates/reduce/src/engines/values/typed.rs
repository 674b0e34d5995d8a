//! Items of a Rust type.

use std::alloc::Layout;
use std::any::TypeId;
use std::cell::RefCell;
use std::rc::Rc;

use bytemuck::Pod;
use exact_sum::{Accumulator, Sum};

use super::{ALIGNMENT, ARE_FLOATS, Values, typed, typed_mut};
use crate::engines::scheduled::program::Combine;
use crate::fold::prefix::Stack;
use crate::operator::{Operator, PlainFold};

/// The operations on items of type `T` by operator `O`.
pub(crate) struct Typed<T, O> {
    pub(crate) operator: O,
    scratch: RefCell<Vec<T>>,
}

impl<T: Pod, O: Operator<T> + 'static> Typed<T, O> {
    pub(crate) fn of(operator: O) -> Rc<Self> {
        const { assert!(align_of::<T>() <= ALIGNMENT) };
        Rc::new(Self {
            operator,
            scratch: RefCell::default(),
        })
    }

    /// Lends scratch memory to `task`. The memory keeps its length between calls.
    fn with_scratch<R>(&self, task: impl FnOnce(&mut Vec<T>) -> R) -> R {
        // The operator may make a call that borrows the scratch memory, too.
        let mut scratch = self.scratch.take();
        let result = task(&mut scratch);
        self.scratch.replace(scratch);
        result
    }
}

/// Values of more than this number of bytes are combined in memory, without being copied to registers.
const REGISTER_BYTES: usize = 64;

impl<T: Pod, O: Operator<T> + 'static> Values for Typed<T, O> {
    fn item(&self) -> Layout {
        Layout::new::<T>()
    }

    fn name(&self) -> &str {
        self.operator.name()
    }

    fn has_empty(&self) -> bool {
        self.operator.empty().is_some()
    }

    fn exact_sum_bytes(&self) -> Option<usize> {
        fn bytes<T: 'static, F: exact_sum::Float>() -> Option<usize> {
            let is_it = TypeId::of::<T>() == TypeId::of::<F>();
            is_it.then_some(size_of::<<Sum<F> as Accumulator>::Words>())
        }
        let of_floats = || bytes::<T, f64>().or_else(bytes::<T, f32>);
        (self.name() == "sum").then(of_floats).flatten()
    }

    fn has_products(&self) -> bool {
        self.operator.write_products(&[], &[], &mut [])
    }

    #[inline]
    fn fold(&self, items: &[u8], result: &mut [u8]) -> Option<()> {
        typed_mut(result)[0] = self.operator.fold_canonical(typed(items))?;
        Some(())
    }

    fn plain_fold(&self) -> Option<PlainFold> {
        self.operator.plain_fold()
    }

    fn fold_products(&self, x: &[u8], y: &[u8], result: &mut [u8]) {
        let sum = self.operator.fold_products(typed(x), typed(y));
        typed_mut(result)[0] = sum.expect(ARE_FLOATS);
    }

    fn write_products(&self, [x, y]: &[&[u8]; 2], products: &mut [u8]) {
        let products = typed_mut(products);
        let are_floats = self.operator.write_products(typed(x), typed(y), products);
        assert!(are_floats, "{ARE_FLOATS}");
    }

    fn fold_runs(&self, items: &[u8], lengths: &[usize], results: &mut [u8]) {
        self.operator
            .fold_runs(typed(items), lengths, typed_mut(results));
    }

    fn fold_rows(&self, items: &[u8], row: &mut [u8]) {
        let row = typed_mut(row);
        self.with_scratch(|scratch| {
            self.operator
                .fold_rows(typed(items), row.len(), scratch, row);
        });
    }

    fn combine(&self, left: &mut [u8], right: &[u8]) {
        let [first, second] = [&*left, right].map(bytemuck::pod_read_unaligned);
        left.copy_from_slice(bytemuck::bytes_of(&self.operator.combine(first, second)));
    }

    fn combine_all(&self, combines: &[Combine<usize>], workspace: &mut [u8]) {
        let workspace: &mut [T] = typed_mut(workspace);
        // Most combinations use the result of the previous combination, which is in a register sooner than in memory.
        let mut last = (usize::MAX, T::zeroed());
        for combine in combines {
            let [left, right, into, length] =
                [combine.left, combine.right, combine.into, combine.length]
                    .map(|bytes| bytes / size_of::<T>());
            if length == 1 && size_of::<T>() <= REGISTER_BYTES {
                let value = |place: usize| {
                    if place == last.0 {
                        last.1
                    } else {
                        workspace[place]
                    }
                };
                last = (into, self.operator.combine(value(left), value(right)));
                workspace[into] = last.1;
                continue;
            }
            let range = |start: usize| start..start + length;
            let [left, right, into] = workspace
                .get_disjoint_mut([range(left), range(right), range(into)])
                .expect("every value has a place of its own");
            self.operator.combine_rows(left, right, into);
        }
    }

    fn combine_rows(&self, left: &[u8], right: &[u8], into: &mut [u8]) {
        self.operator
            .combine_rows(typed(left), typed(right), typed_mut(into));
    }

    fn combine_rows_canonical(&self, left: &[u8], right: &[u8], into: &mut [u8]) {
        self.operator
            .combine_rows_canonical(typed(left), typed(right), typed_mut(into));
    }

    fn make_canonical(&self, row: &mut [u8]) {
        self.operator.make_canonical(typed_mut(row));
    }

    fn copy_canonical(&self, row: &[u8], into: &mut [u8]) {
        match (typed(row), typed_mut(into)) {
            (&[value], [into]) if size_of::<T>() <= REGISTER_BYTES => {
                *into = self.operator.canonical(value);
            }
            (row, into) => self.operator.copy_canonical(row, into),
        }
    }

    fn write_empty(&self, row: &mut [u8]) {
        let empty = self.operator.empty();
        let empty = empty.expect("a plan without items has an empty value");
        typed_mut(row).fill(self.operator.canonical(empty));
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
        let width = row / size_of::<T>();
        let rows: &[T] = typed(rows);
        let results = typed_mut(result).chunks_exact_mut(width);
        self.with_scratch(|stack| {
            stack.clear();
            stack.extend(
                before
                    .chunks_exact(size_of::<T>())
                    .map(bytemuck::pod_read_unaligned::<T>),
            );
            let operator = &self.operator;
            let mut stack = Stack {
                width,
                rows: stack,
                operator,
            };
            for ((item, row), result) in (first_item..).zip(rows.chunks_exact(width)).zip(results) {
                if is_exclusive {
                    stack.join(result);
                    stack.push(item, row);
                } else {
                    stack.push(item, row);
                    stack.join(result);
                }
            }
        });
    }
}
