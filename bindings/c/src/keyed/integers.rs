//! Sums of integers by key, kept in 192 bits.

use std::fmt::Display;

use bytemuck::Pod;
use treefold::exact::{self, IntegerMoments, IntegerSum, Keyed, KeyedSlot, Statistic};

use super::kind::{change_by_short_keys, write};
use super::state::{Change, State, change_by_slots, change_slots, of_bytes_error, same_kind};
use super::{Keys, has_room};
use crate::by_integer;
use crate::element::ElementType;
use crate::failure::{Code, Failure};
use crate::raw::elements;
use crate::statistic::{Asked, Question};

/// A slot of integer items.
pub(super) trait IntegerSlot:
    for<'i> KeyedSlot<Items<'i> = exact::Integers<'i>, Item = f64>
{
    fn count(&self) -> u64;

    /// The sum; `None` if it has more than 128 bits.
    fn sum(&self) -> Option<i128>;
}

impl IntegerSlot for IntegerSum {
    fn count(&self) -> u64 {
        self.items()
    }

    fn sum(&self) -> Option<i128> {
        self.value()
    }
}

impl IntegerSlot for IntegerMoments {
    fn count(&self) -> u64 {
        self.items()
    }

    fn sum(&self) -> Option<i128> {
        Some(self.sum())
    }
}

/// A state by key whose items are integers.
#[derive(Clone)]
pub(super) struct Integers<S: IntegerSlot> {
    slots: Keyed<S>,
    item_type: ElementType,
}

impl<S: IntegerSlot> Integers<S> {
    pub(super) fn new(item_type: ElementType, keys: usize) -> Result<Self, Failure> {
        has_room(keys, size_of::<S>())?;
        let slots = Keyed::new(keys).map_err(|error| super::of_limit("keys", error))?;
        Ok(Self { slots, item_type })
    }

    /// Writes the sums as 64-bit integers, which are signed if the items are.
    fn write_sums<L: Pod + TryFrom<i128>>(&self, result: &mut [u8]) -> Result<(), Failure> {
        let sum_of = |key: usize| {
            let value = self.slots.get(key).sum();
            let value = value.ok_or_else(|| too_large(key, &"an integer of more than 128 bits"))?;
            L::try_from(value).map_err(|_| too_large(key, &value))
        };
        let sums: Vec<L> = (0..self.groups()).map(sum_of).collect::<Result<_, _>>()?;
        write(result, &sums)
    }
}

impl<S: IntegerSlot> State for Integers<S> {
    fn element_type(&self) -> ElementType {
        self.item_type
    }

    fn groups(&self) -> usize {
        self.slots.keys()
    }

    fn change(&mut self, change: Change, keys: Keys<'_>, arrays: &[&[u8]]) -> Result<(), Failure> {
        let [items] = arrays else {
            return Err(self.takes("one array"));
        };
        let items = by_integer!(
            self.item_type,
            I => exact::Integers::from(elements::<I>("items", items)?),
            else unreachable!("items are integers")
        );
        change_slots(
            &mut self.slots,
            keys,
            items,
            "items",
            |slots, keys, items| change_by_short_keys(slots, change, keys, items),
        )
    }

    fn change_by(&mut self, change: Change, other: &dyn State) -> Result<(), Failure> {
        let other = same_kind(self, other)?;
        change_by_slots(&mut self.slots, change, &other.slots)
    }

    fn equals(&self, other: &dyn State) -> Result<bool, Failure> {
        Ok(self.slots == same_kind(self, other)?.slots)
    }

    fn write(&self, question: Question, result: &mut [u8]) -> Result<(), Failure> {
        has_room(result.len(), 1)?;
        let Question { asked, options } = question;
        match (asked, asked.element_type(self.item_type)) {
            (Asked::Of(Statistic::Count), _) => {
                let counts = (0..self.groups()).map(|key| self.slots.get(key).count());
                write(result, &counts.collect::<Vec<u64>>())
            }
            (Asked::Of(Statistic::Sum), ElementType::I64) => self.write_sums::<i64>(result),
            (Asked::Of(Statistic::Sum), _) => self.write_sums::<u64>(result),
            _ => {
                let values = self.slots.statistics(asked.of_reals(), options);
                write(result, &values.ok_or_else(|| self.lacks(asked))?)
            }
        }
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Failure> {
        Ok(self.slots.to_bytes())
    }

    fn become_bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        has_room(bytes.len(), 1)?;
        self.slots = Keyed::of_bytes(bytes).map_err(|error| of_bytes_error(&error))?;
        Ok(())
    }

    fn emptied(&self) -> Result<Box<dyn State>, Failure> {
        Ok(Box::new(Self::new(self.item_type, self.groups())?))
    }

    fn boxed(&self) -> Result<Box<dyn State>, Failure> {
        has_room(self.slots.memory(), 1)?;
        Ok(Box::new(self.clone()))
    }

    fn name(&self) -> String {
        format!("sums by key of TREEFOLD_{:?}", self.item_type)
    }
}

/// The failure for a sum that does not fit in 64 bits.
#[cold]
fn too_large(key: usize, sum: &impl Display) -> Failure {
    let message = format!("`result`: the sum of key {key} is {sum}, which does not fit in 64 bits");
    Failure::new(Code::Argument, message)
}
