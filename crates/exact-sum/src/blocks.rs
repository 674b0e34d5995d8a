//! How slices of doubles are added: block by block, at a scale that is guessed.
//!
//! A block is split at the scale of the block before. If an item does not fit, or something is left of one, the block is split again
//! at a scale of its own, then what is left of it, and so on; and if that does not come to an end, what is left is added item by item.

use simd_kernels::{
    Level, SPLIT_ITEMS, Split, SplitScale, largest_magnitude, split_sums, split_sums_and_rests,
};

/// Fewer items are added one by one. Of the first block, so many are looked at.
pub(crate) const SHORT_ITEMS: usize = 16;

/// A block of so many items is split once.
const FEW_ITEMS: usize = 64;

/// How often a block is split before the rest is added item by item.
const MOST_SPLITS: u32 = 4;

/// The most blocks that are added item by item without a try.
const MOST_SINGLY: u32 = 63;

/// Where parts of items are added.
pub(crate) trait Destination {
    /// Adds sums of items 0, 2, 4, … and of items 1, 3, 5, … of a block, in units of 2^unit.
    fn add_parts(&mut self, parts: [i64; 2], unit: i32);

    /// Adds item number `index` of a block, which may be infinite or NaN.
    fn add_item(&mut self, index: usize, item: f64);
}

/// What was seen of earlier blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// That of the last block; `None` if there was none, or one scale was not enough for it.
    scale: Option<SplitScale>,
    /// Whether one scale was not enough for the last block.
    is_wide: bool,
    /// How many blocks are added item by item before splits are tried again.
    singly: u32,
    /// That number at its last setting.
    last_singly: u32,
}

impl Pace {
    pub(crate) const START: Self = Self {
        scale: None,
        is_wide: false,
        singly: 0,
        last_singly: 0,
    };

    /// Adds any number of items.
    #[inline]
    pub(crate) fn add(&mut self, level: Level, items: &[f64], destination: &mut impl Destination) {
        for block in items.chunks(SPLIT_ITEMS) {
            self.add_block(level, block, destination);
        }
    }

    /// The last block's scale, or, for the first one, that for a magnitude.
    pub(crate) fn guess(&self, magnitude: impl FnOnce() -> f64) -> Option<SplitScale> {
        match (self.scale, self.is_wide) {
            (None, false) => exponent(magnitude()).and_then(SplitScale::for_exponent),
            (last, _) => last,
        }
    }

    /// Notes that a scale was enough.
    pub(crate) fn keep(&mut self, scale: SplitScale) {
        self.scale = Some(scale);
    }

    fn add_block(&mut self, level: Level, items: &[f64], destination: &mut impl Destination) {
        if items.len() < SHORT_ITEMS {
            return add_each(items, destination);
        }
        if self.singly > 0 {
            self.singly -= 1;
            return add_each(items, destination);
        }
        let guessed = self.guess(|| largest_magnitude(level, &items[..SHORT_ITEMS]));
        if let Some(scale) = guessed
            && add_whole(level, items, scale, destination)
        {
            self.scale = guessed;
            return;
        }
        self.add_at_own_scale(level, items, guessed, destination);
    }

    #[cold]
    fn add_at_own_scale(
        &mut self,
        level: Level,
        items: &[f64],
        tried: Option<SplitScale>,
        destination: &mut impl Destination,
    ) {
        let Some(exponent) = exponent(largest_magnitude(level, items)) else {
            return;
        };
        let Some(scale) = SplitScale::for_exponent(exponent) else {
            return add_each(items, destination);
        };
        if !self.is_wide && tried != Some(scale) && add_whole(level, items, scale, destination) {
            self.scale = Some(scale);
            return;
        }
        if items.len() <= FEW_ITEMS {
            return add_each(items, destination);
        }
        let mut rests = [0.0; SPLIT_ITEMS];
        let rests = &mut rests[..items.len()];
        rests.copy_from_slice(items);
        let mut next = Some(scale);
        for splits in 1..=MOST_SPLITS {
            let Some(scale) = next else { break };
            let split = split_sums_and_rests(level, rests, scale);
            let split = split.expect("the scale is for the largest item");
            add_split(split, scale, destination);
            if split.is_whole {
                self.is_wide = splits > 1;
                self.scale = (splits == 1).then_some(scale);
                self.last_singly = 0;
                return;
            }
            next = scale.below();
        }
        add_each(rests, destination);
        self.is_wide = true;
        self.scale = None;
        self.last_singly = (2 * self.last_singly + 1).min(MOST_SINGLY);
        self.singly = self.last_singly;
    }
}

/// Adds items if a scale is enough for them.
#[inline]
fn add_whole(
    level: Level,
    items: &[f64],
    scale: SplitScale,
    destination: &mut impl Destination,
) -> bool {
    let split = split_sums(level, items, scale).filter(|split| split.is_whole);
    if let Some(split) = split {
        add_split(split, scale, destination);
    }
    split.is_some()
}

#[inline]
fn add_split(split: Split, scale: SplitScale, destination: &mut impl Destination) {
    destination.add_parts(split.higher, scale.higher_unit());
    destination.add_parts(split.lower, scale.lower_unit());
}

fn add_each(items: &[f64], destination: &mut impl Destination) {
    for (index, &item) in items.iter().enumerate() {
        destination.add_item(index, item);
    }
}

/// The exponent of a magnitude, 1024 for infinity and NaN; `None` for zero.
fn exponent(magnitude: f64) -> Option<i32> {
    match (magnitude.to_bits() >> 52) as i32 & 0x7FF {
        0 if magnitude == 0.0 => None,
        // Subnormal numbers have the exponent of the smallest normal ones.
        0 => Some(-1022),
        biased => Some(biased - 1023),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_of_all_kinds_of_numbers() {
        assert_eq!(exponent(0.0), None);
        assert_eq!(exponent(f64::from_bits(1)), Some(-1022));
        assert_eq!(exponent(f64::MIN_POSITIVE), Some(-1022));
        assert_eq!(exponent(1.999), Some(0));
        assert_eq!(exponent(f64::MAX), Some(1023));
        assert_eq!(exponent(f64::INFINITY), Some(1024));
        assert_eq!(exponent(-f64::NAN), Some(1024));
    }
}
