//! States that hold sums in short integers. Long integers hold the values that do not fit.

use std::fmt::Debug;

use super::CompactState;
use super::short::Value;
use crate::number::counters::{Counters, LimitError, RemoveError};
use crate::number::float::sealed::Conversions as _;
use crate::slots::Slot;
use crate::statistic::{Held, Options, Statistic};

/// The sums of a state in short integers.
pub trait Numbers: Copy + Debug {
    /// The same sums as long integers, and the counters of each column of rows.
    type Long: Copy + Debug;

    /// The sums of no rows, as short integers.
    const EMPTY: Self;

    /// The sums of no rows, as long integers.
    const ZERO: Self::Long;

    /// These sums plus the sums of `other`, or minus them if `is_less`; `None` if there is no room.
    fn sums(self, other: Self, is_less: bool) -> Option<Self>;

    /// Adds a value to each sum. Values that do not fit are added to `long`.
    fn add(&mut self, values: &[Value<'_>], long: &mut Option<Box<Self::Long>>);

    /// Adds each sum of `other`, or subtracts it if `is_less`. Values that do not fit are added to `long`.
    fn merge(&mut self, other: Self, is_less: bool, long: &mut Option<Box<Self::Long>>);

    /// Adds the sums of `other` to those of `long`, or subtracts them if `is_less`.
    fn merge_long(long: &mut Self::Long, other: &Self::Long, is_less: bool);

    /// Adds each sum to the corresponding long sum.
    fn add_to(self, long: &mut Self::Long);

    /// Moves the long sums that fit into short integers.
    fn take(long: &mut Self::Long) -> Self;

    /// Whether all sums are zero.
    fn are_zero(long: &Self::Long) -> bool;

    fn counters(long: &Self::Long) -> &[Counters];

    fn counters_mut(long: &mut Self::Long) -> &mut [Counters];
}

/// The statistics of a state.
pub trait Figures: Numbers {
    /// The type of slot that holds the same sums.
    type Slot: Slot<Item = f64>;

    const HELD: Held;

    fn slot(long: &Self::Long) -> Self::Slot;

    fn of_slot(slot: &Self::Slot) -> Self::Long;

    /// A statistic of finite rows, if computing it directly is faster than making a slot.
    fn quick(&self, _: Statistic, _items: u64) -> Option<f64> {
        None
    }

    /// Does what [`CompactState::value_of`] does, for a slot.
    fn value(slot: &Self::Slot, asked: Asked) -> Option<f64>;
}

/// A statistic, its options, and the scales of the columns.
pub(crate) type Asked = (Statistic, Options, [i32; 2]);

/// Defines two structs for a state's sums: short integers, each of a given number of words; and long integers, each of a given format.
macro_rules! numbers {
    ($short:ident, $long:ident, $columns:literal, $($sum:ident $words:literal $format:ident),+) => {
        /// The sums of a state in short integers.
        #[derive(Clone, Copy, Debug)]
        pub struct $short {
            $($sum: Short<$words>,)+
        }

        /// The sums of a state in long integers.
        #[derive(Clone, Copy, Debug)]
        pub struct $long {
            counters: [Counters; $columns],
            $($sum: Fixed<$format>,)+
        }

        impl Numbers for $short {
            type Long = $long;

            const EMPTY: Self = Self {
                $($sum: Short::EMPTY,)+
            };

            const ZERO: $long = $long {
                counters: [Counters::NONE; $columns],
                $($sum: Fixed::ZERO,)+
            };

            #[inline(always)]
            fn sums(self, other: Self, is_less: bool) -> Option<Self> {
                Some(Self {
                    $($sum: self.$sum.plus(other.$sum, is_less)?,)+
                })
            }

            fn add(&mut self, values: &[Value<'_>], long: &mut Option<Box<$long>>) {
                let [$($sum),+] = values else {
                    unreachable!("each sum has a value");
                };
                $(self.$sum.add(*$sum, &mut |part, unit| {
                    long.get_or_insert_with(|| Box::new(Self::ZERO)).$sum.add_integer(part, unit);
                });)+
            }

            fn merge(&mut self, other: Self, is_less: bool, long: &mut Option<Box<$long>>) {
                $(self.$sum.merge(other.$sum, is_less, &mut |part, unit| {
                    long.get_or_insert_with(|| Box::new(Self::ZERO)).$sum.add_integer(part, unit);
                });)+
            }

            fn merge_long(long: &mut $long, other: &$long, is_less: bool) {
                $(if is_less {
                    long.$sum.unmerge(&other.$sum);
                } else {
                    long.$sum.merge(&other.$sum);
                })+
            }

            fn add_to(self, long: &mut $long) {
                $(self.$sum.add_to(&mut long.$sum);)+
            }

            fn take(long: &mut $long) -> Self {
                Self {
                    $($sum: Short::take(&mut long.$sum),)+
                }
            }

            fn are_zero(long: &$long) -> bool {
                true $(&& long.$sum.magnitude().is_none())+
            }

            fn counters(long: &$long) -> &[Counters] {
                &long.counters
            }

            fn counters_mut(long: &mut $long) -> &mut [Counters] {
                &mut long.counters
            }
        }
    };
}

pub(super) use numbers;

/// A state of short integers that owns more memory only for values that do not fit, for counts of items that are not finite, and for
/// 2^32 or more rows.
// The numbers come first, so that in states of 32 bytes they never span two cache lines.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Compact<N: Numbers> {
    pub(super) numbers: N,
    /// The number of rows that are not counted in `long`.
    items: u32,
    /// The values that were added before `numbers` changed its unit or overflowed, and counts that have no room elsewhere.
    pub(super) long: Option<Box<N::Long>>,
}

impl<N: Numbers> Compact<N> {
    /// The state of no rows.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            numbers: N::EMPTY,
            items: 0,
            long: None,
        }
    }

    /// Counts rows.
    ///
    /// # Panics
    /// There would be more than 2^63 - 1 rows.
    #[inline(always)]
    pub(super) fn count(&mut self, items: u64) {
        let own = u32::try_from(items).ok();
        match own.and_then(|own| self.items.checked_add(own)) {
            Some(items) => self.items = items,
            None => self.count_long(items),
        }
    }

    /// Adds and counts a row. `numbers` are the sums including the row, if there is room; otherwise `add` adds the row without counting it.
    #[inline(always)]
    pub(super) fn add_or(&mut self, numbers: Option<N>, add: impl FnOnce(&mut Self)) {
        match numbers {
            Some(numbers) => self.numbers = numbers,
            None => add(self),
        }
        // The row is counted last, so that the numbers need not be kept in registers across a call.
        self.count(1);
    }

    #[cold]
    fn count_long(&mut self, items: u64) {
        let all = self.counters().map(|mut counters| {
            let all = counters.items.checked_add_unsigned(items);
            counters.items = all.expect("a sum can have at most 2^63 - 1 items");
            counters
        });
        self.items = 0;
        self.set_long_counters(all);
    }

    /// The counters of both columns. A state of one column returns its counters twice.
    pub(super) fn counters(&self) -> [Counters; 2] {
        let mut all = [Counters::NONE; 2];
        if let Some(long) = &self.long {
            for (counters, own) in all.iter_mut().zip(N::counters(long).iter().cycle()) {
                *counters = *own;
            }
        }
        all.map(|counters| Counters {
            items: counters.items + i64::from(self.items),
            ..counters
        })
    }

    fn set_counters(&mut self, mut all: [Counters; 2]) {
        self.items = u32::try_from(all[0].items).unwrap_or(u32::MAX);
        for counters in &mut all {
            counters.items -= i64::from(self.items);
            counters.negative_zeros = 0;
        }
        if self.long.is_some() || all != [Counters::NONE; 2] {
            self.set_long_counters(all);
        }
    }

    fn set_long_counters(&mut self, all: [Counters; 2]) {
        let own = N::counters_mut(self.long());
        for (own, counters) in own.iter_mut().zip(all) {
            *own = counters;
        }
    }

    pub(super) fn long(&mut self) -> &mut N::Long {
        self.long.get_or_insert_with(|| Box::new(N::ZERO))
    }

    /// Adds a row's finite values, one for each sum, without counting the row.
    pub(super) fn add_values(&mut self, values: &[Value<'_>]) {
        self.numbers.add(values, &mut self.long);
    }

    /// The fast path of `merge` and `unmerge`. Returns `None`, and changes nothing, unless sums and counts fit the short form.
    #[inline(always)]
    fn change_short(&mut self, other: &Self, is_less: bool) -> Option<()> {
        if self.long.is_some() || other.long.is_some() {
            return None;
        }
        let items = if is_less {
            self.items.checked_sub(other.items)?
        } else {
            self.items.checked_add(other.items)?
        };
        self.numbers = self.numbers.sums(other.numbers, is_less)?;
        self.items = items;
        Some(())
    }

    /// The slow path of `merge` and `unmerge`: for sums and counts that do not fit the short form.
    #[cold]
    fn change(&mut self, other: &Self, is_less: bool, counters: [Counters; 2]) {
        self.numbers.merge(other.numbers, is_less, &mut self.long);
        if let Some(long) = &other.long {
            N::merge_long(self.long(), long, is_less);
        }
        self.set_counters(counters);
        // The remaining items may fit the short integers, now that outliers are removed.
        if is_less && self.long.is_some() {
            *self = Self::of_long(self.whole());
        }
    }

    /// All sums, as long integers.
    fn whole(&self) -> N::Long {
        let mut long = self.long.as_deref().copied().unwrap_or(N::ZERO);
        self.numbers.add_to(&mut long);
        for (own, counters) in N::counters_mut(&mut long).iter_mut().zip(self.counters()) {
            *own = counters;
        }
        long
    }

    fn of_long(mut long: N::Long) -> Self {
        let mut all = [Counters::NONE; 2];
        for (counters, own) in all.iter_mut().zip(N::counters(&long).iter().cycle()) {
            *counters = *own;
        }
        N::counters_mut(&mut long).fill(Counters::NONE);
        let mut state = Self::new();
        state.numbers = N::take(&mut long);
        if !N::are_zero(&long) {
            state.long = Some(Box::new(long));
        }
        state.set_counters(all);
        state
    }
}

impl<N: Figures> Compact<N> {
    pub(super) fn slot(&self) -> N::Slot {
        N::slot(&self.whole())
    }

    pub(super) fn of_slot(slot: &N::Slot) -> Self {
        Self::of_long(N::of_slot(slot))
    }
}

impl<N: Numbers> Default for Compact<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<N: Figures> PartialEq for Compact<N> {
    fn eq(&self, other: &Self) -> bool {
        self.slot() == other.slot()
    }
}

impl<N: Figures> CompactState for Compact<N> {
    fn items(&self) -> u64 {
        self.counters()[0].items.cast_unsigned()
    }

    #[inline]
    fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        if self.change_short(other, false).is_some() {
            return Ok(());
        }
        let [[own, second], [other_own, other_second]] = [self.counters(), other.counters()];
        let counters = [own.with(other_own)?, second.with(other_second)?];
        self.change(other, false, counters);
        Ok(())
    }

    #[inline]
    fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
        if self.change_short(other, true).is_some() {
            return Ok(());
        }
        let [[own, second], [other_own, other_second]] = [self.counters(), other.counters()];
        let counters = [own.without(other_own)?, second.without(other_second)?];
        self.change(other, true, counters);
        Ok(())
    }

    fn value_of(&self, statistic: Statistic, options: Options, scales: [i32; 2]) -> Option<f64> {
        if statistic == Statistic::Count {
            return Some(f64::of_integer(self.items().into(), 0, false));
        }
        if !N::HELD.has(statistic) {
            return None;
        }
        let is_short = self.long.is_none() && scales == [0; 2];
        let quick = || self.numbers.quick(statistic, self.items.into());
        let value = is_short.then(quick).flatten();
        value.or_else(|| N::value(&self.slot(), (statistic, options, scales)))
    }

    fn has_specials(&self) -> bool {
        let is_special = |counters: Counters| counters.specials() > 0;
        self.counters().into_iter().any(is_special)
    }
}
