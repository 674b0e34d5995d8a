//! A binary counter that combines subtrees from left to right.

use crate::source::Source;

/// Enough heights for any slice.
pub(crate) const ALL_HEIGHTS: usize = usize::BITS as usize;

/// The roots of finished subtrees whose right siblings are still missing: one for each set bit of the number of leaves.
///
/// Adding a subtree adds its number of leaves to the counter. Each carry combines two subtrees of the same height.
/// The total number of leaves must be less than 2^`HEIGHTS`.
#[derive(Debug)]
pub(crate) struct Counter<T, const HEIGHTS: usize> {
    /// The highest subtree first.
    waiting: [T; HEIGHTS],
    waiting_count: usize,
    leaves_count: u64,
}

impl<T: Copy, const HEIGHTS: usize> Counter<T, HEIGHTS> {
    /// An empty counter. `filler` initialises its memory; its value is never used.
    #[inline]
    pub(crate) fn new(filler: T) -> Self {
        Self {
            waiting: [filler; HEIGHTS],
            waiting_count: 0,
            leaves_count: 0,
        }
    }

    /// Adds the next subtree on the right, of 2^height leaves. Heights must not increase.
    #[inline]
    pub(crate) fn push(&mut self, root: T, height: u32, mut combine: impl FnMut(T, T) -> T) {
        let mut value = root;
        for _ in 0..(self.leaves_count >> height).trailing_ones() {
            self.waiting_count -= 1;
            value = combine(self.waiting[self.waiting_count], value);
        }
        self.leaves_count += 1 << height;
        self.waiting[self.waiting_count] = value;
        self.waiting_count += 1;
    }

    /// The root over all added subtrees and over `leaves`, which follow them: eight leaves at a time, then the rest.
    ///
    /// # Panics
    /// There are neither subtrees nor leaves.
    #[inline]
    pub(crate) fn finish<S: Source<Leaf = T>>(
        &mut self,
        mut leaves: S,
        mut combine: impl FnMut(T, T) -> T,
    ) -> T {
        let mut buffer = [self.waiting[0]; 8];
        while let Some((group, rest)) = leaves.split_at_checked(8) {
            leaves = rest;
            let &[a, b, c, d, e, f, g, h] = group.leaves(&mut buffer) else {
                unreachable!("the group has eight leaves")
            };
            let left = four([a, b, c, d], &mut combine);
            let right = four([e, f, g, h], &mut combine);
            let root = combine(left, right);
            self.push(root, 3, &mut combine);
        }
        let waiting = self.waiting[..self.waiting_count].iter().rev().copied();
        let last = fold_last(leaves.leaves(&mut buffer), &mut combine);
        last.into_iter()
            .chain(waiting)
            .reduce(|right, left| combine(left, right))
            .expect("there is a subtree or a leaf")
    }
}

/// Two levels over four nodes.
#[inline]
fn four<T: Copy>([a, b, c, d]: [T; 4], combine: &mut impl FnMut(T, T) -> T) -> T {
    let (left, right) = (combine(a, b), combine(c, d));
    combine(left, right)
}

/// The fold of fewer than eight leaves, written out for each length; `None` for no leaves.
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
