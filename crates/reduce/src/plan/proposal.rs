//! What a rank proposes for a plan.

use std::ops::Range;

use distribution::Ownership;

use super::refusal::Refusal;

/// The number of settings that must be the same on all ranks.
pub(super) const SETTINGS_COUNT: usize = 9;

/// A rank's settings, each with its name and its value, in the same order on all ranks.
pub(super) type Settings = [(&'static str, String); SETTINGS_COUNT];

/// The items that a rank proposes for itself.
#[derive(Clone, Debug)]
pub(super) enum Share {
    /// This number of items, after the items of the lower ranks.
    Count(u64),
    /// Any ranges of items.
    Extents(Vec<Range<u64>>),
    /// The rank's share of an ownership that covers all ranks, and that this rank states.
    Whole(Ownership),
}

impl Share {
    /// The ownership of all ranks, if it is a rule. Rules can be compared without a list of the items.
    pub(super) fn rule(&self) -> Option<&Ownership> {
        match self {
            Share::Whole(ownership) if ownership.is_formula() => Some(ownership),
            _ => None,
        }
    }

    /// This rank's number of items, if they follow the items of the lower ranks. Then the numbers of all ranks determine who owns what.
    pub(super) fn count(&self, rank: usize) -> Option<u64> {
        match self {
            Share::Count(count) => Some(*count),
            Share::Whole(ownership) if ownership.as_distribution().is_some() => {
                Some(ownership.count(rank))
            }
            Share::Extents(_) | Share::Whole(_) => None,
        }
    }

    /// The ownership of all ranks, if this rank states it.
    pub(super) fn whole(&self) -> Option<&Ownership> {
        match self {
            Share::Whole(ownership) => Some(ownership),
            Share::Count(_) | Share::Extents(_) => None,
        }
    }
}

/// One rank's proposal for a plan.
#[derive(Debug)]
pub(super) struct Proposal {
    /// The reason, if this rank cannot take part.
    pub(super) refusal: Option<Refusal>,
    pub(super) share: Share,
    /// The number of items on all ranks, if the program gave it on this rank.
    pub(super) items: Option<u64>,
    pub(super) settings: Settings,
}

/// The 64-bit FNV-1a hash of a text (Fowler, Noll and Vo), which is the same on every machine and in every build.
pub(super) fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}
