//! Exact sums and moments by key that a program holds.

use std::any::Any;

use treefold::exact::{Float, KeyedMoments, KeyedSums};

use super::{
    Keys, MOMENTS_BYTES, SUM_BYTES, has_room, of_keys, of_removal, with_keys, write_statistics,
};
use crate::accumulator::{Change, MOMENTS, OF_MOMENTS, OF_SUM, Statistic};
use crate::boundary::{elements, elements_mut};
use crate::element::{Element, ElementType};
use crate::failure::{Code, Failure};
use crate::handle::{Copied, handle};

handle!(
    /// The handle of sums by key.
    pub treefold_keyed,
    Box<dyn KeyedState>,
    2,
    "keyed"
);

/// A state of each of the keys 0 to K - 1.
pub(crate) trait KeyedState: Any + Send + Sync {
    /// The type of the program's items, and of results but counts.
    fn element_type(&self) -> ElementType;

    /// The number of keys.
    fn keys(&self) -> usize;

    /// Adds or removes items.
    ///
    /// # Errors
    /// There are not as many keys as items, a key is out of range, an address is not aligned, or fewer items are there than are removed.
    fn change(&mut self, change: Change, keys: Keys<'_>, items: &[u8]) -> Result<(), Failure>;

    /// Adds other ones, key by key.
    ///
    /// # Errors
    /// They are of another kind, or for another number of keys.
    fn merge(&mut self, other: &dyn KeyedState) -> Result<(), Failure>;

    /// The number of items of each key.
    ///
    /// # Errors
    /// They are not counted.
    fn counts(&self) -> Result<&[u64], Failure>;

    /// Writes a statistic of each key.
    ///
    /// # Errors
    /// There is no such statistic, or an address is not aligned.
    fn write(&self, statistic: Statistic, result: &mut [u8]) -> Result<(), Failure>;

    fn boxed(&self) -> Box<dyn KeyedState>;

    /// What it is, for errors.
    fn name(&self) -> String;
}

impl Copied for Box<dyn KeyedState> {
    fn copied(&self) -> Self {
        self.boxed()
    }
}

/// A state of no items for so many keys.
///
/// # Errors
/// There is no such state, or no memory for it.
pub(crate) fn of_codes(
    element_type: ElementType,
    figure: i32,
    keys: usize,
) -> Result<Box<dyn KeyedState>, Failure> {
    /// The code of sums.
    const SUM: i32 = 1;
    let bytes = match figure {
        SUM => SUM_BYTES,
        MOMENTS => MOMENTS_BYTES,
        _ => {
            let reason = format_args!("there are no exact figures {figure} by key");
            return Err(Failure::argument("figure", reason));
        }
    };
    let is_single = match element_type {
        ElementType::F32 => true,
        ElementType::F64 => false,
        _ => {
            let message = "sums by key are of real numbers";
            return Err(Failure::new(Code::Unsupported, message));
        }
    };
    has_room(keys, bytes)?;
    Ok(match (figure, is_single) {
        (SUM, true) => Box::new(KeyedSums::<f32>::new(keys)),
        (SUM, false) => Box::new(KeyedSums::<f64>::new(keys)),
        (_, true) => Box::new(KeyedMoments::<f32>::new(keys)),
        (_, false) => Box::new(KeyedMoments::<f64>::new(keys)),
    })
}

/// The types of items.
trait Real: Float + Element {
    const TYPE: ElementType;
}

impl Real for f32 {
    const TYPE: ElementType = ElementType::F32;
}

impl Real for f64 {
    const TYPE: ElementType = ElementType::F64;
}

/// Another state, if it is of this kind and has as many keys.
fn like<'o, S: KeyedState>(own: &S, other: &'o dyn KeyedState) -> Result<&'o S, Failure> {
    let any: &dyn Any = other;
    let found = any.downcast_ref::<S>().ok_or_else(|| {
        let reason = format_args!("it is {}, not {}", other.name(), own.name());
        Failure::argument("other", reason)
    })?;
    if found.keys() != own.keys() {
        let (found, expected) = (found.keys(), own.keys());
        let message = format!("`other` has {found} keys, but `keyed` has {expected}");
        return Err(Failure::new(Code::Length, message));
    }
    Ok(found)
}

/// What all states do alike.
macro_rules! alike {
    ($name:literal) => {
        fn element_type(&self) -> ElementType {
            T::TYPE
        }

        fn keys(&self) -> usize {
            self.keys()
        }

        fn change(&mut self, change: Change, keys: Keys<'_>, items: &[u8]) -> Result<(), Failure> {
            let items = elements::<T>("items", items)?;
            with_keys!(keys.key_type, K => {
                let keys = keys.of::<K>()?;
                match change {
                    Change::Add => self.add(keys, items).map_err(|error| of_keys(&error)),
                    Change::Remove => self.remove(keys, items).map_err(|error| of_removal(&error)),
                }
            })
        }

        fn merge(&mut self, other: &dyn KeyedState) -> Result<(), Failure> {
            self.merge(like(self, other)?);
            Ok(())
        }

        fn boxed(&self) -> Box<dyn KeyedState> {
            Box::new(self.clone())
        }

        fn name(&self) -> String {
            format!("{} of TREEFOLD_{:?}", $name, T::TYPE)
        }
    };
}

impl<T: Real> KeyedState for KeyedSums<T> {
    alike!("sums by key");

    fn counts(&self) -> Result<&[u64], Failure> {
        let message = format!("{} do not count items: {OF_MOMENTS} does", self.name());
        Err(Failure::new(Code::Unsupported, message))
    }

    fn write(&self, statistic: Statistic, result: &mut [u8]) -> Result<(), Failure> {
        let result = elements_mut::<T>("result", result)?;
        if !matches!(statistic, Statistic::Value) {
            return Err(statistic.missing(&self.name(), OF_MOMENTS));
        }
        has_room(result.len(), size_of::<T>())?;
        result.copy_from_slice(&self.values());
        Ok(())
    }
}

impl<T: Real> KeyedState for KeyedMoments<T> {
    alike!("moments by key");

    fn counts(&self) -> Result<&[u64], Failure> {
        Ok(self.counts())
    }

    fn write(&self, statistic: Statistic, result: &mut [u8]) -> Result<(), Failure> {
        let result = elements_mut::<T>("result", result)?;
        if matches!(statistic, Statistic::Value) {
            return Err(statistic.missing(&self.name(), OF_SUM));
        }
        write_statistics(self, statistic, result);
        Ok(())
    }
}
