//! Hashed states: exact sums by key, where a key may be any 64-bit integer.

use std::hash::Hash;

use bytemuck::Pod;
use treefold::exact::{Hashed, RemoveKeyedError, Statistic, Sum};

use super::kind::{Real, SUM_BYTES};
use super::state::{Change, State, of_unmerge, same_kind};
use super::{Keys, has_room, no_keys, of_keys, of_limit};
use crate::by_integer;
use crate::element::ElementType;
use crate::failure::{Code, Failure};
use crate::raw::elements_mut;
use crate::statistic::{Asked, Question};

/// The initial bytes per key: a sum, the key, and its entry in a hash table.
const KEY_BYTES: usize = SUM_BYTES + 2 * size_of::<u64>();

/// A type of keys that a hashed state may store.
trait HashedKey: Pod + Ord + Hash + Send + Sync + TryFrom<i128> {
    const TYPE: ElementType;
}

impl HashedKey for i64 {
    const TYPE: ElementType = ElementType::I64;
}

impl HashedKey for u64 {
    const TYPE: ElementType = ElementType::U64;
}

/// Creates an empty hashed state.
///
/// # Errors
/// There is no state for items or keys of these types.
pub(crate) fn of_codes(
    element_type: ElementType,
    key_type: ElementType,
) -> Result<Box<dyn State>, Failure> {
    use ElementType::{F32, F64, I64, U64};
    Ok(match (element_type, key_type) {
        (F32, I64) => Box::new(Hashed::<i64, Sum<f32>>::new()),
        (F32, U64) => Box::new(Hashed::<u64, Sum<f32>>::new()),
        (F64, I64) => Box::new(Hashed::<i64, Sum<f64>>::new()),
        (F64, U64) => Box::new(Hashed::<u64, Sum<f64>>::new()),
        (F32 | F64, _) => {
            let reason = "keys of a hashed state must be TREEFOLD_I64 or TREEFOLD_U64";
            return Err(Failure::argument("key_type", reason));
        }
        _ => {
            let message = "the items of a hashed state must be TREEFOLD_F32 or TREEFOLD_F64";
            return Err(Failure::new(Code::Unsupported, message));
        }
    })
}

/// Converts keys of any type to the state's type.
fn widened<K: HashedKey>(keys: Keys<'_>) -> Result<Vec<K>, Failure> {
    by_integer!(keys.key_type, G => {
        let keys = keys.of::<G>()?.iter().enumerate();
        let wide = keys.map(|(item, &key)| {
            K::try_from(i128::from(key)).map_err(|_| {
                let reason = format_args!("item {item} has key {key}, which does not fit TREEFOLD_{:?}", K::TYPE);
                Failure::argument("keys", reason)
            })
        });
        wide.collect()
    }, else Err(no_keys()))
}

impl<K: HashedKey, T: Real> State for Hashed<K, Sum<T>> {
    fn element_type(&self) -> ElementType {
        T::TYPE
    }

    fn groups(&self) -> usize {
        self.keys().len()
    }

    fn change(&mut self, change: Change, keys: Keys<'_>, arrays: &[&[u8]]) -> Result<(), Failure> {
        let [items] = arrays else {
            return Err(self.takes("one array"));
        };
        let items = crate::raw::elements("items", items)?;
        has_room(items.len(), KEY_BYTES)?;
        let own: Vec<K>;
        let keys = if keys.key_type == K::TYPE {
            crate::raw::elements("keys", keys.bytes)?
        } else {
            own = widened(keys)?;
            &own
        };
        match change {
            Change::Add => self
                .add(keys, items)
                .map_err(|error| of_keys(&error, "items", 1)),
            Change::Remove => self.remove(keys, items).map_err(|error| match error {
                RemoveKeyedError::Key(error) => of_keys(&error, "items", 1),
                other => Failure::argument("items", other),
            }),
        }
    }

    fn change_by(&mut self, change: Change, other: &dyn State) -> Result<(), Failure> {
        let other = same_kind(self, other)?;
        match change {
            Change::Add => self.merge(other).map_err(|error| of_limit("other", error)),
            Change::Remove => self.unmerge(other).map_err(|error| of_unmerge(&error)),
        }
    }

    fn equals(&self, other: &dyn State) -> Result<bool, Failure> {
        Ok(self == same_kind(self, other)?)
    }

    fn write(&self, question: Question, result: &mut [u8]) -> Result<(), Failure> {
        if question.asked != Asked::Of(Statistic::Sum) {
            return Err(self.lacks(question.asked));
        }
        let result = elements_mut::<T>("result", result)?;
        has_room(result.len(), size_of::<(&K, T)>())?;
        for (place, (_, value)) in result.iter_mut().zip(self.values()) {
            *place = value;
        }
        Ok(())
    }

    fn key_type(&self) -> Result<ElementType, Failure> {
        Ok(K::TYPE)
    }

    fn write_keys(&self, result: &mut [u8]) -> Result<(), Failure> {
        let result = elements_mut::<K>("result", result)?;
        result.copy_from_slice(self.keys());
        result.sort_unstable();
        Ok(())
    }

    fn emptied(&self) -> Result<Box<dyn State>, Failure> {
        Ok(Box::new(Self::new()))
    }

    fn boxed(&self) -> Result<Box<dyn State>, Failure> {
        has_room(self.memory(), 1)?;
        Ok(Box::new(self.clone()))
    }

    fn name(&self) -> String {
        format!(
            "hashed sums of TREEFOLD_{:?} by TREEFOLD_{:?} keys",
            T::TYPE,
            K::TYPE
        )
    }
}
