//! Defines what blocks of items can be added to.

use simd_kernels::Split;

/// One or more sums, to which blocks of items are added.
pub(crate) trait Destination {
    /// Whether negative zeros are counted.
    const COUNTS_ZEROS: bool = true;

    /// Adds the sum of items 0, 2, 4, … of a block and the sum of items 1, 3, 5, …, both in units of 2^unit.
    fn add_parts(&mut self, parts: [i64; 2], unit: i32);

    /// Adds item number `index` of a block, which may be infinite or NaN.
    fn add_item(&mut self, index: usize, item: f64);

    /// Adds two counts of the -0.0 in a block: those among items 0, 2, 4, … and those among items 1, 3, 5, ….
    fn count_negative_zeros(&mut self, counts: [u64; 2]);

    /// Adds both parts of a split. `higher` and `lower` are the exponents of their units.
    #[inline]
    fn add_split(&mut self, split: Split, [higher, lower]: [i32; 2]) {
        self.add_parts(split.higher, higher);
        self.add_parts(split.lower, lower);
    }

    /// Adds the items of a block one by one.
    fn add_each(&mut self, items: &[f64]) {
        for (index, &item) in items.iter().enumerate() {
            self.add_item(index, item);
        }
    }
}
