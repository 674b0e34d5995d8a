//! Defines slots. A slot summarises items, for example by their sum, their moments or a weighted mean.

pub(crate) mod accumulator;
pub(crate) mod co_moments;
pub(crate) mod complex;
pub(crate) mod extrema;
pub(crate) mod integers;
pub(crate) mod items;
pub(crate) mod mean;
pub(crate) mod moments;
pub(crate) mod narrow;
pub(crate) mod powers;
pub(crate) mod product_sum;
mod rounded;
pub(crate) mod rows;
pub(crate) mod short;
pub(crate) mod sum;
pub(crate) mod weighted;

use crate::number::float::Float;
use crate::slots::items::Items;
use crate::statistic::{Options, Statistic};

/// A summary of items, and the statistics that follow from it.
pub trait Slot: accumulator::sealed::Sealed + Clone + Default + Eq + std::fmt::Debug {
    /// The type of statistics: the type of the items, or `f64` if the items are integers.
    type Item: Float;

    /// The items that are added: one slice, or two.
    type Items<'i>: Items;

    /// A statistic, rounded once; `None` if the slot does not have this statistic.
    fn statistic(&self, statistic: Statistic, options: Options) -> Option<Self::Item>;
}
