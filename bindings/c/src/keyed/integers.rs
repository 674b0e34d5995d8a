//! Sums of integers by key, in 192 bits.

use std::fmt::Display;

use bytemuck::Pod;
use treefold::exact::{self, IntegerSum, Keyed};

use super::kind::{asked, change_by_short_keys, write};
use super::state::{KeyedState, change_slots, merge_slots, same_kind};
use super::{Keys, has_room};
use crate::accumulator::{Change, of_bytes_error};
use crate::by_integer;
use crate::element::ElementType;
use crate::failure::{Code, Failure};
use crate::raw::elements;
use crate::statistic::Statistic;

/// Sums of integers of a type.
#[derive(Clone)]
pub(crate) struct Integers {
    sums: Keyed<IntegerSum>,
    item_type: ElementType,
}

/// What a key takes.
pub(super) const KEY_BYTES: usize = size_of::<IntegerSum>();

impl Integers {
    pub(super) fn new(item_type: ElementType, keys: usize) -> Result<Self, Failure> {
        has_room(keys, KEY_BYTES)?;
        let sums = Keyed::new(keys).map_err(|error| super::of_limit("keys", error))?;
        Ok(Self { sums, item_type })
    }

    /// Writes the sums as integers of 64 bits, of as many signs as items have.
    fn write_sums<L: Pod + TryFrom<i128>>(&self, result: &mut [u8]) -> Result<(), Failure> {
        let longest = |key: usize| {
            let sum = self.sums.get(key);
            let value = sum
                .value()
                .ok_or_else(|| too_large(key, &"of more than 128 bits"))?;
            L::try_from(value).map_err(|_| too_large(key, &value))
        };
        let sums: Vec<L> = (0..self.sums.keys())
            .map(longest)
            .collect::<Result<_, _>>()?;
        write(result, &sums)
    }
}

impl KeyedState for Integers {
    fn element_type(&self) -> ElementType {
        self.item_type
    }

    fn groups(&self) -> usize {
        self.sums.keys()
    }

    fn change(&mut self, change: Change, keys: Keys<'_>, arrays: &[&[u8]]) -> Result<(), Failure> {
        let [items] = arrays else {
            return Err(self.takes("items"));
        };
        let items = by_integer!(
            self.item_type,
            I => exact::Integers::from(elements::<I>("items", items)?),
            else unreachable!("items are integers")
        );
        change_slots(&mut self.sums, keys, items, "items", |sums, keys, items| {
            change_by_short_keys(sums, change, keys, items)
        })
    }

    fn merge(&mut self, other: &dyn KeyedState) -> Result<(), Failure> {
        let other = same_kind(self, other)?;
        merge_slots(&mut self.sums, &other.sums)
    }

    fn equals(&self, other: &dyn KeyedState) -> Result<bool, Failure> {
        Ok(self.sums == same_kind(self, other)?.sums)
    }

    fn counts(&self) -> Result<Vec<u64>, Failure> {
        let counts = (0..self.sums.keys()).map(|key| self.sums.get(key).items());
        Ok(counts.collect())
    }

    fn write(&self, statistic: Statistic, result: &mut [u8]) -> Result<(), Failure> {
        use ElementType::I64;
        has_room(result.len(), 1)?;
        if let Statistic::Value = statistic {
            return match statistic.element_type(self.item_type) {
                I64 => self.write_sums::<i64>(result),
                _ => self.write_sums::<u64>(result),
            };
        }
        let (asked, options) = asked(statistic);
        let values = self.sums.statistics(asked[0], options);
        write(result, &values.ok_or_else(|| self.lacks(statistic))?)
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Failure> {
        Ok(self.sums.to_bytes())
    }

    fn become_bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        has_room(bytes.len() / KEY_BYTES, KEY_BYTES)?;
        self.sums = Keyed::of_bytes(bytes).map_err(|error| of_bytes_error(&error))?;
        Ok(())
    }

    fn boxed(&self) -> Result<Box<dyn KeyedState>, Failure> {
        has_room(self.sums.memory(), 1)?;
        Ok(Box::new(self.clone()))
    }

    fn name(&self) -> String {
        format!("sums by key of TREEFOLD_{:?}", self.item_type)
    }
}

/// A sum is none of 64 bits.
#[cold]
fn too_large(key: usize, sum: &impl Display) -> Failure {
    let message = format!("`result`: the sum of key {key} is {sum}, which 64 bits do not hold");
    Failure::new(Code::Argument, message)
}
