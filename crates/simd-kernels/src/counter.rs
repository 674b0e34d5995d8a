//! Joining subtrees as they come, from left to right: counting in binary.

/// The roots of finished subtrees that wait for their right siblings: one for every set bit of the number of leaves.
///
/// Adding a subtree is adding its number of leaves: a carry combines two subtrees of the same height.
#[derive(Debug)]
pub(crate) struct Counter<T> {
    /// The highest subtree first.
    waiting: [T; u64::BITS as usize],
    waiting_count: usize,
    leaves_count: u64,
}

impl<T: Copy> Counter<T> {
    /// An empty counter; `filler` fills its memory and is never used.
    #[inline]
    pub(crate) fn new(filler: T) -> Self {
        Self {
            waiting: [filler; u64::BITS as usize],
            waiting_count: 0,
            leaves_count: 0,
        }
    }

    /// Adds the next subtree of 2^height leaves to the right; none that is higher may follow a lower one.
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

    /// Adds what is left at the right edge, eight leaves at a time and then one by one.
    #[inline]
    pub(crate) fn push_leaves(&mut self, leaves: &[T], mut combine: impl FnMut(T, T) -> T) {
        let (groups, last_leaves) = leaves.as_chunks::<8>();
        for &[a, b, c, d, e, f, g, h] in groups {
            let (ab, cd) = (combine(a, b), combine(c, d));
            let left = combine(ab, cd);
            let (ef, gh) = (combine(e, f), combine(g, h));
            let right = combine(ef, gh);
            let root = combine(left, right);
            self.push(root, 3, &mut combine);
        }
        for &leaf in last_leaves {
            self.push(leaf, 0, &mut combine);
        }
    }

    /// The root over everything that was added.
    ///
    /// # Panics
    /// Nothing was.
    #[inline]
    pub(crate) fn finish(&self, mut combine: impl FnMut(T, T) -> T) -> T {
        let waiting = self.waiting[..self.waiting_count].iter().rev().copied();
        waiting
            .reduce(|right, left| combine(left, right))
            .expect("something was added")
    }
}
