//! Whole slices in one pass, with nothing on the heap.

use core::array;

use crate::dispatch::Float;
use crate::level::Level;
use crate::level_by_level::{reduce_level_by_level, scratch_len};

/// A block of 8^4 leaves: it fits the first cache with its scratch memory.
const BLOCK_LEAVES: usize = 4096;

/// Up to this many leaves, the kernels' set-up costs more than they save.
const SHORT_LEAVES: usize = 64;

/// The sum of the leaves, in tree order; `None` of none.
///
/// Blocks of 4096 leaves go through the 8-leaf kernels of `level`; their sums are combined as they come. All levels give the
/// same bits.
///
/// ```
/// use simd_kernels::{Level, sum};
///
/// assert_eq!(sum(Level::best(), &[0.1, 0.2, 0.3]), Some((0.1 + 0.2) + 0.3));
/// assert_eq!(sum::<f32>(Level::best(), &[]), None);
/// ```
pub fn sum<T: Float>(level: Level, leaves: &[T]) -> Option<T> {
    let add = |left, right| left + right;
    if leaves.len() <= SHORT_LEAVES {
        return tree_fold(leaves, add);
    }
    let mut scratch = [T::ZERO; scratch_len(BLOCK_LEAVES)];
    let mut block_sum = |block: &[T]| reduce_level_by_level(level, block, &mut scratch);
    let (blocks, last_block) = leaves.as_chunks::<BLOCK_LEAVES>();
    let mut sums = Counter::new(T::ZERO);
    for block in blocks {
        if let Some(sum) = block_sum(block) {
            sums.push(sum, add);
        }
    }
    sums.finish(block_sum(last_block), add)
}

/// The fold of the items along the binary tree, for any operator; `None` of none.
///
/// `combine(left, right)` gets neighbours in their order, each pair once; it need be neither
/// associative nor commutative.
///
/// ```
/// let greatest = simd_kernels::tree_fold(&[3, 9, 2], |left, right| left.max(right));
/// assert_eq!(greatest, Some(9));
/// ```
pub fn tree_fold<T: Copy>(items: &[T], mut combine: impl FnMut(T, T) -> T) -> Option<T> {
    let (&first, _) = items.split_first()?;
    let (groups, last_group) = items.as_chunks::<8>();
    let last = last_group.split_first().map(|(&first, _)| {
        // At most 7 items: pair neighbours, an odd last one moves up, three times.
        let mut nodes: [T; 8] = array::from_fn(|i| *last_group.get(i).unwrap_or(&first));
        let mut count = last_group.len();
        while count > 1 {
            for pair in 0..count / 2 {
                nodes[pair] = combine(nodes[2 * pair], nodes[2 * pair + 1]);
            }
            if count % 2 == 1 {
                nodes[count / 2] = nodes[count - 1];
            }
            count = count.div_ceil(2);
        }
        nodes[0]
    });
    if groups.is_empty() {
        return last;
    }
    let mut subtrees = Counter::new(first);
    for &[a, b, c, d, e, f, g, h] in groups {
        let (ab, cd) = (combine(a, b), combine(c, d));
        let left = combine(ab, cd);
        let (ef, gh) = (combine(e, f), combine(g, h));
        let right = combine(ef, gh);
        let subtree = combine(left, right);
        subtrees.push(subtree, &mut combine);
    }
    subtrees.finish(last, &mut combine)
}

/// The values of finished subtrees, waiting for their right siblings: one for every set bit of their number.
///
/// Pushing is counting in binary: a carry combines two subtrees of the same height.
struct Counter<T> {
    /// The highest subtree first.
    waiting: [T; usize::BITS as usize],
    waiting_count: usize,
    pushed_count: usize,
}

impl<T: Copy> Counter<T> {
    /// An empty counter; `filler` fills its memory and is never used.
    fn new(filler: T) -> Self {
        Self {
            waiting: [filler; usize::BITS as usize],
            waiting_count: 0,
            pushed_count: 0,
        }
    }

    /// Adds the next subtree to the right, all of the same height.
    #[inline]
    fn push(&mut self, mut value: T, mut combine: impl FnMut(T, T) -> T) {
        for _ in 0..self.pushed_count.trailing_ones() {
            self.waiting_count -= 1;
            value = combine(self.waiting[self.waiting_count], value);
        }
        self.pushed_count += 1;
        self.waiting[self.waiting_count] = value;
        self.waiting_count += 1;
    }

    /// Adds what is left at the right edge, of any smaller height, and combines everything.
    fn finish(&self, last: Option<T>, mut combine: impl FnMut(T, T) -> T) -> Option<T> {
        let waiting = self.waiting[..self.waiting_count].iter().rev();
        last.into_iter()
            .chain(waiting.copied())
            .reduce(|right, left| combine(left, right))
    }
}
