//! Adds slices of doubles block by block, either by plain additions or by splitting items at a guessed scale.
//!
//! If no plain addition of a block is rounded, the block's sum is exact. Otherwise its items are split at the scale of the previous
//! block. The part of an item below the scale's last place is its *rest*. If all exponents are in a short range, as in most data, no
//! item leaves a rest. If an item does not fit the scale, or leaves a rest, the block is split again at its own scale, then the
//! rests are split, and so on. Rests that remain after several splits are added item by item.

use simd_kernels::{
    Ahead, Exponents, Level, Quiet, RANGE_BLOCK_ITEMS, SPLIT_ITEMS, SplitScale, Watch,
    count_negative_zeros, plain_sums, split_sums_and_rests,
};

use crate::number::destination::Destination;
use crate::number::float::Float;
use crate::number::split_method::{Outcome, SplitMethod, any_scale, units};

/// Fewer items than this are added one by one.
const SHORT_ITEMS: usize = 24;

/// The first block's scale is guessed from this many items.
pub(crate) const FIRST_ITEMS: usize = 16;

/// A block of at most this many items is split only once.
const FEW_ITEMS: usize = 64;

/// The largest number of splits of a block. Rests that remain are added item by item.
const MOST_SPLITS: u32 = 4;

/// The number of places from the exponent of a block's largest item to the last place of the last split: 82 for the first split,
/// and 83 more for each further split.
const SPLIT_PLACES: i32 = 82 + 3 * 83;

/// Fewer items than this are split without trying plain additions: reading the inexact flag twice would take as long as the additions.
const PLAIN_ITEMS: usize = 256;

/// The largest number of successive blocks for which plain additions are not tried.
const MOST_NOT_PLAIN: usize = 63;

/// After this many blocks in one range, a large block of [`RANGE_BLOCK_ITEMS`] items is tried.
const BLOCKS_BEFORE_LARGE: u32 = 1;

/// After a large block with an item outside the range, this many blocks must be in one range before the next attempt.
const BLOCKS_AFTER_FAILURE: u32 = 16;

/// The largest number of successive blocks that are added item by item without trying to split them.
const MOST_SINGLY: u32 = 63;

/// If exponents are not in a short range, all exponents of a block are examined again after this many blocks.
const ANY_BLOCKS: u32 = 32;

/// What earlier blocks have shown about the items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockHistory {
    /// The method of the last block; `None` if there was no block, or if one scale was not enough for the last block.
    method: Option<SplitMethod>,
    /// The number of blocks since all exponents of a block were examined.
    blocks: u32,
    /// The number of blocks that must be in one range before a large block is tried.
    before_large: u32,
    /// Whether one scale was not enough for the last block.
    is_wide: bool,
    /// The number of blocks that are added item by item before splits are tried again.
    singly: u32,
    /// The last value to which `singly` was set.
    last_singly: u32,
    /// The number of blocks that are not added plainly before plain additions are tried again.
    not_plain: usize,
    /// The last value to which `not_plain` was set.
    last_not_plain: usize,
}

impl BlockHistory {
    pub(crate) const START: Self = Self {
        method: None,
        blocks: 0,
        before_large: BLOCKS_BEFORE_LARGE,
        is_wide: false,
        singly: 0,
        last_singly: 0,
        not_plain: 0,
        last_not_plain: 0,
    };

    /// Adds items, by plain additions if none is rounded. The floating-point environment must be the default.
    #[inline]
    pub(crate) fn add_items<T: Float, D: Destination>(
        &mut self,
        level: Level,
        items: &[T],
        quiet: Quiet,
        destination: &mut D,
    ) {
        let ahead = Ahead::of_bytes(size_of_val(items));
        // Converted items are copies, so the next items do not follow them in memory.
        let ahead_of_split = if T::IS_SINGLE { Ahead::Nothing } else { ahead };
        let mut watch = None;
        let mut rest = items;
        while !rest.is_empty() {
            let (block, others) = rest.split_at(rest.len().min(SPLIT_ITEMS));
            if self.not_plain == 0
                && may_be_plain(block)
                && let Some(watch) = watch.get_or_insert_with(|| quiet.watch())
            {
                if add_plainly(level, block, ahead, watch, destination) {
                    self.last_not_plain = 0;
                    rest = others;
                    continue;
                }
                self.last_not_plain = (2 * self.last_not_plain + 1).min(MOST_NOT_PLAIN);
                self.not_plain = 1 + self.last_not_plain;
            }
            // One call adds all items up to the next attempt, since each conversion has to clear a buffer.
            let items = self.not_plain.max(1) * SPLIT_ITEMS;
            let items = items.max(self.block_items());
            let (blocks, others) = rest.split_at(rest.len().min(items));
            T::in_doubles(blocks, |doubles| {
                self.add(level, doubles, ahead_of_split, destination);
            });
            let added = blocks.len().div_ceil(SPLIT_ITEMS);
            self.not_plain = self.not_plain.saturating_sub(added);
            rest = others;
        }
    }

    /// Adds any number of items.
    #[inline]
    pub(crate) fn add(
        &mut self,
        level: Level,
        items: &[f64],
        ahead: Ahead,
        destination: &mut impl Destination,
    ) {
        let mut rest = items;
        while !rest.is_empty() {
            let (block, others) = rest.split_at(rest.len().min(self.block_items()));
            let may_have_negative_zeros = match self.method {
                Some(method) if block.len() > SPLIT_ITEMS => {
                    let Outcome::Added(may_have) = method.add(level, block, ahead, destination)
                    else {
                        // The block's items are tried again, in smaller blocks.
                        self.before_large = BLOCKS_AFTER_FAILURE;
                        continue;
                    };
                    may_have
                }
                _ => self.add_block(level, block, ahead, destination),
            };
            if may_have_negative_zeros {
                count(level, block, destination);
            }
            rest = others;
        }
    }

    /// The number of items of the next block.
    #[inline]
    fn block_items(&self) -> usize {
        let is_in_range = matches!(
            self.method,
            Some(SplitMethod::InRange(_) | SplitMethod::InRangeOrZero(_))
        );
        if self.before_large == 0 && is_in_range && self.singly == 0 {
            RANGE_BLOCK_ITEMS
        } else {
            SPLIT_ITEMS
        }
    }

    /// The last block's scale, as a scale for items of any exponents. Before the first block, the scale for its first items.
    pub(crate) fn guess(&self, first: impl FnOnce() -> Option<Exponents>) -> Option<SplitScale> {
        match (self.method, self.is_wide) {
            (Some(SplitMethod::Any(scale)), _) => Some(scale),
            (Some(SplitMethod::InRange(scale) | SplitMethod::InRangeOrZero(scale)), _) => {
                any_scale(scale.highest())
            }
            (None, true) => None,
            (None, false) => any_scale(first()?.highest),
        }
    }

    /// Notes that a scale was enough for a block.
    pub(crate) fn keep(&mut self, scale: SplitScale) {
        self.method = self.method.or(Some(SplitMethod::Any(scale)));
    }

    /// Adds a block. Returns whether an item may be -0.0.
    fn add_block(
        &mut self,
        level: Level,
        items: &[f64],
        ahead: Ahead,
        destination: &mut impl Destination,
    ) -> bool {
        if items.len() < SHORT_ITEMS {
            destination.add_each(items);
            return true;
        }
        if self.singly > 0 {
            self.singly -= 1;
            destination.add_each(items);
            return true;
        }
        let mut outcome = Outcome::DoNotFit;
        if let Some(method) = self.method {
            self.blocks += 1;
            if self.blocks < ANY_BLOCKS || !matches!(method, SplitMethod::Any(_)) {
                outcome = method.add(level, items, ahead, destination);
            }
        } else if let Some(exponents) = Exponents::of(level, &items[..FIRST_ITEMS]) {
            if are_too_many(exponents) {
                self.add_singly(items, destination);
                return true;
            }
            let method = SplitMethod::of(exponents).filter(|_| !self.is_wide);
            outcome = method.map_or(outcome, |method| {
                method.add(level, items, ahead, destination)
            });
            self.method = method;
        }
        match outcome {
            Outcome::Added(may_have_negative_zeros) => {
                self.before_large = self.before_large.saturating_sub(1);
                may_have_negative_zeros
            }
            _ => self.add_at_own_scale(level, items, outcome, destination),
        }
    }

    #[cold]
    fn add_at_own_scale(
        &mut self,
        level: Level,
        items: &[f64],
        tried: Outcome,
        destination: &mut impl Destination,
    ) -> bool {
        self.blocks = 0;
        let Some(exponents) = Exponents::of(level, items) else {
            return true;
        };
        let Some(method) = SplitMethod::of(exponents) else {
            destination.add_each(items);
            return exponents.has_zeros;
        };
        if are_too_many(exponents) {
            self.add_singly(items, destination);
            return exponents.has_zeros;
        }
        // An item that left a rest leaves one at a higher scale, too.
        let leaves_rests = match (method, tried) {
            (SplitMethod::Any(scale), Outcome::LeaveRests([_, unit])) => scale.lower_unit() >= unit,
            (SplitMethod::Any(_), _) => self.is_wide,
            _ => false,
        };
        if !leaves_rests
            && matches!(
                method.add(level, items, Ahead::Nothing, destination),
                Outcome::Added(_)
            )
        {
            self.method = Some(method);
            self.is_wide = false;
            self.last_singly = 0;
            return exponents.has_zeros;
        }
        if items.len() <= FEW_ITEMS {
            destination.add_each(items);
            return exponents.has_zeros;
        }
        let mut rests = [0.0; SPLIT_ITEMS];
        let rests = &mut rests[..items.len()];
        rests.copy_from_slice(items);
        let mut next = any_scale(exponents.highest);
        for splits in 1..=MOST_SPLITS {
            let Some(scale) = next else { break };
            let split = split_sums_and_rests(level, rests, scale);
            let split = split.expect("the scale is for the largest item");
            destination.add_split(split, units(scale));
            if split.is_whole {
                self.is_wide = splits > 1;
                self.method = (splits == 1).then_some(SplitMethod::Any(scale));
                self.last_singly = 0;
                return exponents.has_zeros;
            }
            next = scale.below();
        }
        self.add_singly(rests, destination);
        exponents.has_zeros
    }

    /// Adds rests one by one. Also notes that the items of some of the next blocks are to be added one by one.
    fn add_singly(&mut self, rests: &[f64], destination: &mut impl Destination) {
        destination.add_each(rests);
        self.is_wide = true;
        self.method = None;
        self.last_singly = (2 * self.last_singly + 1).min(MOST_SINGLY);
        self.singly = self.last_singly;
    }
}

/// Whether plain additions of a block are worth a try.
#[inline]
fn may_be_plain<T: Float>(block: &[T]) -> bool {
    block.len() >= PLAIN_ITEMS && T::are_short(&block[..FIRST_ITEMS])
}

/// Adds a block by plain additions, if none of them is rounded.
#[inline]
fn add_plainly<T: Float, D: Destination>(
    level: Level,
    block: &[T],
    ahead: Ahead,
    watch: &mut Watch,
    destination: &mut D,
) -> bool {
    let Some((sums, may_have_zeros)) = plain_sums(level, block, D::COUNTS_ZEROS, ahead, watch)
    else {
        return false;
    };
    for (parity, sum) in sums.into_iter().enumerate() {
        destination.add_item(parity, sum);
    }
    if may_have_zeros {
        count(level, block, destination);
    }
    true
}

/// Whether the smallest item will leave a rest even after all splits.
fn are_too_many(
    Exponents {
        lowest, highest, ..
    }: Exponents,
) -> bool {
    highest - lowest > SPLIT_PLACES && highest < 1024
}

/// Counts the negative zeros of a block, if the destination counts them.
#[inline]
fn count<T: Float, D: Destination>(level: Level, items: &[T], destination: &mut D) {
    if D::COUNTS_ZEROS {
        destination.count_negative_zeros(count_negative_zeros(level, items));
    }
}
