//! States of several numbers, packed.

use std::borrow::Cow;

use super::{CompactBytes, CompactState};
use crate::bytes::BytesError;
use crate::number::counters::{LimitError, RemoveError, check_items, items_of_both};
use crate::statistic::{Options, Statistic};

/// A state whose numbers can be packed: without padding, and with a single count of items.
pub trait Unpacked: CompactBytes {
    /// The packed numbers.
    type Packed: Copy + std::fmt::Debug;

    /// The numbers of no items.
    const EMPTY: Self::Packed;

    /// The sums of both states' numbers, or the differences if `is_less`, if their units are the same and there is room.
    fn sums(own: Self::Packed, other: Self::Packed, is_less: bool) -> Option<Self::Packed>;

    /// The numbers; `None` if some values are spilled.
    fn packed(&self) -> Option<Self::Packed>;

    /// The state of items with these numbers.
    fn of_packed(numbers: Self::Packed, items: u64) -> Self;
}

/// A packed state.
#[derive(Clone, Debug)]
pub struct Packed<S: Unpacked> {
    pub(super) numbers: S::Packed,
    items: u64,
    /// The whole state, if it cannot be packed.
    unpacked: Option<Box<S>>,
}

impl<S: Unpacked> Packed<S> {
    /// The state of no items.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            numbers: S::EMPTY,
            items: 0,
            unpacked: None,
        }
    }

    /// Adds a row, given the numbers with the row if there is room, and a function that adds it to any state.
    #[inline(always)]
    pub(super) fn add_or(&mut self, numbers: Option<S::Packed>, add: impl FnOnce(&mut S)) {
        match numbers {
            Some(numbers) if self.unpacked.is_none() => {
                self.numbers = numbers;
                self.items += 1;
            }
            _ => self.change(add),
        }
    }

    fn sums(&self, other: &Self, is_less: bool) -> Option<S::Packed> {
        let are_packed = self.unpacked.is_none() && other.unpacked.is_none();
        let sums = || S::sums(self.numbers, other.numbers, is_less);
        are_packed.then(sums).flatten()
    }

    fn state(&self) -> Cow<'_, S> {
        match &self.unpacked {
            Some(state) => Cow::Borrowed(state),
            None => Cow::Owned(S::of_packed(self.numbers, self.items)),
        }
    }

    /// Calls a function that changes the state.
    #[cold]
    fn change<R>(&mut self, change: impl FnOnce(&mut S) -> R) -> R {
        if let Some(state) = &mut self.unpacked {
            let result = change(state);
            if let Some(numbers) = state.packed() {
                (self.numbers, self.items) = (numbers, state.items());
                self.unpacked = None;
            }
            return result;
        }
        let mut state = S::of_packed(self.numbers, self.items);
        let result = change(&mut state);
        match state.packed() {
            Some(numbers) => (self.numbers, self.items) = (numbers, state.items()),
            None => self.unpacked = Some(Box::new(state)),
        }
        result
    }
}

impl<S: Unpacked> Default for Packed<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Unpacked> PartialEq for Packed<S> {
    fn eq(&self, other: &Self) -> bool {
        self.state() == other.state()
    }
}

impl<S: Unpacked> CompactState for Packed<S> {
    fn items(&self) -> u64 {
        let state = self.unpacked.as_ref();
        state.map_or(self.items, |state| state.items())
    }

    fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        if let Some(numbers) = self.sums(other, false) {
            self.items = items_of_both(self.items, other.items)?;
            self.numbers = numbers;
            return Ok(());
        }
        self.change(|state| state.merge(&other.state()))
    }

    fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
        if let Some(numbers) = self.sums(other, true) {
            check_items(self.items, other.items)?;
            self.numbers = numbers;
            self.items -= other.items;
            return Ok(());
        }
        self.change(|state| state.unmerge(&other.state()))
    }

    fn value_of(&self, statistic: Statistic, options: Options, scales: [i32; 2]) -> Option<f64> {
        self.state().value_of(statistic, options, scales)
    }

    fn has_specials(&self) -> bool {
        let state = self.unpacked.as_ref();
        state.is_some_and(|state| state.has_specials())
    }
}

impl<S: Unpacked> CompactBytes for Packed<S> {
    fn to_bytes(&self) -> Vec<u8> {
        self.state().to_bytes()
    }

    fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let state = S::of_bytes(bytes)?;
        let mut packed = Self::new();
        packed.change(|empty| *empty = state);
        Ok(packed)
    }
}
