//! Combines subtrees from left to right by a binary counter.

use arrayvec::ArrayVec;

use crate::fold::source::Source;

/// The roots of finished subtrees whose right siblings are still missing: one for each set bit of the number of leaves.
///
/// Adding a subtree adds its number of leaves to the counter. Each carry combines two subtrees of the same height.
#[derive(Debug)]
pub(crate) struct Counter<T> {
    /// The roots, highest subtree first. The memory starts uninitialised, because initialising it would take longer than a short fold.
    waiting: ArrayVec<T, { usize::BITS as usize }>,
    leaves_count: u64,
}

pub(crate) const WAITS: &str = "a set bit has a subtree";

impl<T: Copy> Counter<T> {
    /// An empty counter.
    #[inline]
    pub(crate) fn new() -> Self {
        Self {
            waiting: ArrayVec::new_const(),
            leaves_count: 0,
        }
    }

    /// Adds the next subtree on the right, of 2^height leaves. Heights must not increase.
    #[inline]
    pub(crate) fn push(&mut self, root: T, height: u32, mut combine: impl FnMut(T, T) -> T) {
        let mut value = root;
        for _ in 0..(self.leaves_count >> height).trailing_ones() {
            value = combine(self.waiting.pop().expect(WAITS), value);
        }
        self.leaves_count += 1 << height;
        self.waiting.push(value);
    }

    /// The root over all added subtrees and the `leaves` that follow them. Folds eight leaves at a time, then the rest.
    ///
    /// # Panics
    /// There are neither subtrees nor leaves.
    #[inline]
    pub(crate) fn finish<S: Source<Leaf = T>>(
        &mut self,
        leaves: S,
        combine: impl FnMut(T, T) -> T,
    ) -> T {
        self.finish_here(leaves, combine)
    }

    /// Does what [`finish`](Self::finish) does, but is compiled into its caller.
    #[inline(always)]
    pub(crate) fn finish_here<S: Source<Leaf = T>>(
        &mut self,
        mut leaves: S,
        mut combine: impl FnMut(T, T) -> T,
    ) -> T {
        let filler = self.waiting.first().copied();
        let mut buffer = [filler.unwrap_or_else(|| leaves.filler()); 8];
        while let Some((group, rest)) = leaves.split_at_checked(8) {
            leaves = rest;
            let root = eight(group.leaves(&mut buffer), &mut combine);
            self.push(root, 3, &mut combine);
        }
        let last = fold_by_bits(leaves.leaves(&mut buffer), &mut combine);
        let mut root = last.unwrap_or_else(|| self.waiting.pop().expect(WAITS));
        // Loops compile faster than iterators, and this function is compiled for hundreds of types and operators.
        while let Some(left) = self.waiting.pop() {
            root = combine(left, root);
        }
        root
    }
}

/// The fold of eight leaves.
#[inline]
pub(crate) fn eight<T: Copy>(leaves: &[T], combine: &mut impl FnMut(T, T) -> T) -> T {
    let &[a, b, c, d, e, f, g, h] = leaves else {
        unreachable!("there are eight leaves")
    };
    let (left, right) = (four([a, b, c, d], combine), four([e, f, g, h], combine));
    combine(left, right)
}

/// Two levels over four nodes.
#[inline]
fn four<T: Copy>([a, b, c, d]: [T; 4], combine: &mut impl FnMut(T, T) -> T) -> T {
    let (left, right) = (combine(a, b), combine(c, d));
    combine(left, right)
}

/// The fold of fewer than eight leaves, in groups of four, two and one according to the bits of the number of leaves; `None` for no leaves.
#[inline]
fn fold_by_bits<T: Copy>(leaves: &[T], combine: &mut impl FnMut(T, T) -> T) -> Option<T> {
    let (fours, rest) = leaves.as_chunks::<4>();
    let (twos, ones) = rest.as_chunks::<2>();
    let mut root = ones.first().copied();
    if let Some(&[a, b]) = twos.first() {
        let pair = combine(a, b);
        root = Some(root.map_or(pair, |right| combine(pair, right)));
    }
    if let Some(&leaves) = fours.first() {
        let left = four(leaves, combine);
        root = Some(root.map_or(left, |right| combine(left, right)));
    }
    root
}

/// Does what [`fold_by_bits`] does, but is written out for each number of leaves. This is faster if code and leaves are in the caches, but
/// needs more code and a jump table.
#[inline]
pub(crate) fn fold_last<T: Copy>(leaves: &[T], combine: &mut impl FnMut(T, T) -> T) -> Option<T> {
    let (left, right) = match *leaves {
        [a] => return Some(a),
        [a, b] => (a, b),
        [a, b, c] => (combine(a, b), c),
        [a, b, c, d] => return Some(four([a, b, c, d], combine)),
        [a, b, c, d, e] => (four([a, b, c, d], combine), e),
        [a, b, c, d, e, f] => (four([a, b, c, d], combine), combine(e, f)),
        [a, b, c, d, e, f, g] => {
            let left = four([a, b, c, d], combine);
            let pair = combine(e, f);
            (left, combine(pair, g))
        }
        _ => return None,
    };
    Some(combine(left, right))
}
