//! A binary counter that combines subtrees from left to right.

use crate::fold::source::Source;

/// Enough heights for any slice.
pub(crate) const ALL_HEIGHTS: usize = usize::BITS as usize;

/// The roots of finished subtrees whose right siblings are still missing: one for each set bit of the number of leaves.
///
/// Adding a subtree adds its number of leaves to the counter. Each carry combines two subtrees of the same height.
/// The total number of leaves must be less than 2 to the power of the memory's length.
#[derive(Debug)]
pub(crate) struct Counter<M> {
    /// The highest subtree first. An array for the kernels, whose length the compiler then knows; a slice where one counter serves memories
    /// of two lengths.
    waiting: M,
    waiting_count: usize,
    leaves_count: u64,
}

impl<M> Counter<M> {
    /// An empty counter. The values in its memory are never used.
    #[inline]
    pub(crate) fn new(waiting: M) -> Self {
        Self {
            waiting,
            waiting_count: 0,
            leaves_count: 0,
        }
    }

    /// Adds the next subtree on the right, of 2^height leaves. Heights must not increase.
    #[inline]
    pub(crate) fn push<T: Copy>(&mut self, root: T, height: u32, mut combine: impl FnMut(T, T) -> T)
    where
        M: AsMut<[T]>,
    {
        let waiting = self.waiting.as_mut();
        let mut value = root;
        for _ in 0..(self.leaves_count >> height).trailing_ones() {
            self.waiting_count -= 1;
            value = combine(waiting[self.waiting_count], value);
        }
        self.leaves_count += 1 << height;
        waiting[self.waiting_count] = value;
        self.waiting_count += 1;
    }

    /// The root over all added subtrees and over `leaves`, which follow them: eight leaves at a time, then the rest.
    ///
    /// # Panics
    /// There are neither subtrees nor leaves.
    #[inline]
    pub(crate) fn finish<S: Source>(
        &mut self,
        mut leaves: S,
        mut combine: impl FnMut(S::Leaf, S::Leaf) -> S::Leaf,
    ) -> S::Leaf
    where
        M: AsMut<[S::Leaf]>,
    {
        let mut buffer = [self.waiting.as_mut()[0]; 8];
        while let Some((group, rest)) = leaves.split_at_checked(8) {
            leaves = rest;
            let root = eight(group.leaves(&mut buffer), &mut combine);
            self.push(root, 3, &mut combine);
        }
        let waiting = &mut self.waiting.as_mut()[..self.waiting_count];
        // Loops rather than iterators: this is compiled for hundreds of types and operators.
        let mut count = waiting.len();
        let mut root = match fold_last(leaves.leaves(&mut buffer), &mut combine) {
            Some(last) => last,
            None => {
                count -= 1;
                waiting[count]
            }
        };
        while count > 0 {
            count -= 1;
            root = combine(waiting[count], root);
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
