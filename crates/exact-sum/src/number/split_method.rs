//! Defines the methods by which a block of doubles is split.

use simd_kernels::{
    Ahead, Exponents, Level, RangeScale, Split, SplitScale, split_sums, split_sums_in_range,
};

use crate::number::destination::Destination;

/// The method by which a block is split into higher and lower parts. What is left of an item below the lower part is its rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SplitMethod {
    /// For items whose exponents are in a range.
    InRange(RangeScale),
    /// For items that are zero, or whose exponents are in a range.
    InRangeOrZero(RangeScale),
    /// For items of any exponents.
    Any(SplitScale),
}

impl SplitMethod {
    /// The method for items of these exponents; `None` if they are too large.
    pub(crate) fn of(exponents: Exponents) -> Option<Self> {
        let Exponents {
            lowest,
            highest,
            has_zeros,
        } = exponents;
        match (RangeScale::for_items(lowest, highest), has_zeros) {
            (Some(scale), false) => Some(Self::InRange(scale)),
            (Some(scale), true) => Some(Self::InRangeOrZero(scale)),
            (None, _) => any_scale(highest).map(Self::Any),
        }
    }

    /// Adds items, if this method leaves no rests.
    #[inline]
    pub(crate) fn add(
        self,
        level: Level,
        items: &[f64],
        ahead: Ahead,
        destination: &mut impl Destination,
    ) -> Outcome {
        let split = match self {
            Self::InRange(scale) => split_sums_in_range(level, items, false, scale, ahead),
            Self::InRangeOrZero(scale) => split_sums_in_range(level, items, true, scale, ahead),
            Self::Any(scale) => split_sums(level, items, scale),
        };
        match split {
            None => Outcome::DoNotFit,
            Some(Split {
                is_whole: false, ..
            }) => Outcome::LeaveRests(self.units()),
            Some(split) => {
                destination.add_split(split, self.units());
                Outcome::Added(split.may_have_negative_zeros)
            }
        }
    }

    /// The exponents of the units of the higher and the lower parts.
    fn units(self) -> [i32; 2] {
        match self {
            Self::InRange(scale) | Self::InRangeOrZero(scale) => scale.units(),
            Self::Any(scale) => units(scale),
        }
    }
}

/// The outcome of an attempt to add items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// The items have been added. The flag is true if an item may be -0.0.
    Added(bool),
    DoNotFit,
    /// Items would have left rests at a scale with these units.
    LeaveRests([i32; 2]),
}

/// The scale for items of exponents up to this one.
pub(crate) fn any_scale(highest: i32) -> Option<SplitScale> {
    // Subnormal numbers fit the scale of the smallest normal numbers.
    SplitScale::for_exponent(highest.max(-1022))
}

pub(crate) fn units(scale: SplitScale) -> [i32; 2] {
    [scale.higher_unit(), scale.lower_unit()]
}
