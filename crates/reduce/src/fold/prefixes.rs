//! A scan that can be continued: the reductions of all prefixes of items that arrive block by block.

/// The number of items in a chunk, whose prefixes are computed together and share the subtrees before the chunk.
const CHUNK_ITEMS: usize = 8;

/// The state of a scan, from which a scan of the next items continues. All scans that use a state must have the same operator.
///
/// ```
/// use reduce::{Operator, Sum, operator::Prefixes};
///
/// let (mut before, mut sums) = (Prefixes::new(), [0.0; 3]);
/// Sum.scan(&[0.1, 0.2], &mut before, &mut sums[..2]);
/// Sum.scan(&[0.3], &mut before, &mut sums[2..]);
/// assert_eq!(sums, [0.1, 0.1 + 0.2, (0.1 + 0.2) + 0.3]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Prefixes<T> {
    items: usize,
    /// For each set bit of `items`, the value of a subtree, the highest first. If the order changes no bit, one value for all items.
    waiting: Vec<T>,
}

impl<T: Copy> Prefixes<T> {
    /// The state before the first item.
    #[must_use]
    pub fn new() -> Self {
        Self {
            items: 0,
            waiting: Vec::new(),
        }
    }

    /// Adds the next subtree, of 2^height items.
    fn push(&mut self, root: T, height: u32, combine: &impl Fn(T, T) -> T) {
        let mut node = root;
        for _ in 0..(self.items >> height).trailing_ones() {
            let left = self.waiting.pop();
            node = combine(left.expect("a set bit has a subtree"), node);
        }
        self.waiting.push(node);
        self.items += 1 << height;
    }

    /// Like [`scan`](Self::scan), one item at a time.
    fn scan_singly(&mut self, items: &[T], result: &mut [T], combine: &impl Fn(T, T) -> T) {
        for (&item, result) in items.iter().zip(result) {
            self.push(item, 0, combine);
            let rights = self.waiting.iter().rev().copied();
            let all = rights.reduce(|right, left| combine(left, right));
            *result = all.expect("there is an item");
        }
    }

    /// Like [`scan`](Self::scan), for operators whose order changes no bit: one value represents all items so far.
    pub(crate) fn scan_in_any_order(
        &mut self,
        items: &[T],
        result: &mut [T],
        combine: impl Fn(T, T) -> T,
    ) {
        let mut all = self.waiting.pop();
        for (&item, result) in items.iter().zip(result) {
            *result = all.map_or(item, |all| combine(all, item));
            all = Some(*result);
        }
        self.items += items.len();
        self.waiting.extend(all);
    }

    /// Writes, for each of the next items, the reduction of all items up to and including that item.
    ///
    /// All prefixes within an aligned chunk have the same subtrees before the chunk. Each prefix is combined with these subtrees, the last
    /// subtree first. The inner loops are over the prefixes of a chunk, so the compiler can vectorise them.
    pub(crate) fn scan(&mut self, items: &[T], result: &mut [T], combine: &impl Fn(T, T) -> T) {
        let unaligned = self.items.wrapping_neg() % CHUNK_ITEMS;
        let (head, items) = items.split_at(unaligned.min(items.len()));
        let (head_result, result) = result.split_at_mut(head.len());
        self.scan_singly(head, head_result, combine);
        let ((chunks, tail), (results, tail_result)) =
            (items.as_chunks::<CHUNK_ITEMS>(), result.as_chunks_mut());
        for (chunk, result) in chunks.iter().zip(results) {
            let mut prefixes = of_chunk(chunk, combine);
            let root = prefixes[CHUNK_ITEMS - 1];
            for &left in self.waiting.iter().rev() {
                for prefix in &mut prefixes {
                    *prefix = combine(left, *prefix);
                }
            }
            *result = prefixes;
            self.push(root, CHUNK_ITEMS.ilog2(), combine);
        }
        self.scan_singly(tail, tail_result, combine);
    }
}

/// The reductions of the first item, the first two items, …, all eight items.
#[inline(always)]
fn of_chunk<T: Copy>(
    &[a, b, c, d, e, f, g, h]: &[T; CHUNK_ITEMS],
    combine: &impl Fn(T, T) -> T,
) -> [T; CHUNK_ITEMS] {
    let (ab, cd, ef, gh) = (combine(a, b), combine(c, d), combine(e, f), combine(g, h));
    let four = combine(ab, cd);
    [
        a,
        ab,
        combine(ab, c),
        four,
        combine(four, e),
        combine(four, ef),
        combine(four, combine(ef, g)),
        combine(four, combine(ef, gh)),
    ]
}

#[cfg(test)]
mod tests {
    use super::Prefixes;

    /// Cuts a scan in two, at every place, and compares the results with the definition. The operator's value depends on which items were combined.
    #[test]
    fn prefixes_are_the_trees_of_so_many_items() {
        // Neither associative nor commutative. Wrong pairings rarely give the same value.
        let combine = |left: u64, right: u64| {
            (left.rotate_left(7) ^ 0x9E37)
                .wrapping_mul(0x2545_F491_4F6C_DD1D)
                .wrapping_add(right)
        };
        const COUNT: u64 = 517;
        let items: Vec<u64> = (0..COUNT)
            .map(|item| item.wrapping_mul(0x9E37_79B9))
            .collect();
        let by_definition = |count: usize| {
            simd_kernels::by_definition(&items[..count], &combine).expect("there are items")
        };
        let expected: Vec<u64> = (1..=items.len()).map(by_definition).collect();
        for cut in 0..=items.len() {
            let (left, right) = items.split_at(cut);
            let mut found = vec![0; items.len()];
            let (left_found, right_found) = found.split_at_mut(cut);
            let mut before = Prefixes::new();
            before.scan(left, left_found, &combine);
            before.scan(right, right_found, &combine);
            assert_eq!(found, expected, "cut at {cut}");
        }
    }
}
