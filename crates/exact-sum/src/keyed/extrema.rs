//! Minima and maxima by key.

use super::key::{self, Key, KeyError};
use crate::number::counters::{LimitError, check_memory, reserve};
use crate::number::float::Float;

/// The least and the greatest item of each of the keys 0 to K - 1, -0.0 being less than 0.0. They cannot be taken back.
///
/// ```
/// use exact_sum::KeyedExtrema;
///
/// let mut extrema = KeyedExtrema::<f64>::new(3)?;
/// extrema.add(&[0, 2, 0, 2_u8], &[0.5, 7.0, -0.5, f64::NAN])?;
/// assert_eq!([extrema.minimum(0), extrema.maximum(0)], [Some(-0.5), Some(0.5)]);
/// assert_eq!(extrema.minimum(1), None);
/// assert!(extrema.minimum(2).is_some_and(f64::is_nan));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedExtrema<T: Float> {
    /// Of each key both, as integers in the order of the numbers. A NaN is less than all, and greater.
    bounds: Vec<[i64; 2]>,
    item: std::marker::PhantomData<T>,
}

/// Those of no items.
const NONE: [i64; 2] = [i64::MAX, i64::MIN];

/// Those of a NaN. No number is either.
const NAN: [i64; 2] = [i64::MIN, i64::MAX];

/// An integer for a number, in the same order, or the number's bits for such an integer.
fn ordered(bits: i64) -> i64 {
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

impl<T: Float> KeyedExtrema<T> {
    /// Those of no items, for so many keys.
    ///
    /// # Errors
    /// There is no memory for them.
    pub fn new(keys: usize) -> Result<Self, LimitError> {
        check_memory::<[i64; 2]>(keys)?;
        Ok(Self {
            bounds: vec![NONE; keys],
            item: std::marker::PhantomData,
        })
    }

    /// The number of keys.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.bounds.len()
    }

    /// The bytes that are allocated.
    #[must_use]
    pub fn memory(&self) -> usize {
        size_of_val(&*self.bounds)
    }

    /// Adds items to those of their keys.
    ///
    /// # Errors
    /// There are not as many keys as items, or a key is out of range. Nothing has changed then.
    pub fn add<K: Key>(&mut self, keys: &[K], items: &[T]) -> Result<(), KeyError> {
        key::check(keys, items.len(), self.keys())?;
        for (key, item) in keys.iter().zip(items) {
            let item = item.widened();
            let number = ordered(item.to_bits().cast_signed());
            let [low, high] = if item.is_nan() { NAN } else { [number; 2] };
            let bounds = &mut self.bounds[key.place()];
            *bounds = [bounds[0].min(low), bounds[1].max(high)];
        }
        Ok(())
    }

    /// Adds other ones, key by key. If they have more keys, so will these.
    ///
    /// # Errors
    /// There is no memory for more keys.
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        reserve(&mut self.bounds, other.keys())?;
        self.bounds.resize(self.keys().max(other.keys()), NONE);
        for (bounds, [low, high]) in self.bounds.iter_mut().zip(&other.bounds) {
            *bounds = [bounds[0].min(*low), bounds[1].max(*high)];
        }
        Ok(())
    }

    /// The least item of a key; NaN if one is; `None` if there are none.
    ///
    /// # Panics
    /// The key is out of range.
    #[must_use]
    pub fn minimum(&self, key: usize) -> Option<T> {
        self.bound(key, 0)
    }

    /// The greatest item of a key; NaN if one is; `None` if there are none.
    ///
    /// # Panics
    /// The key is out of range.
    #[must_use]
    pub fn maximum(&self, key: usize) -> Option<T> {
        self.bound(key, 1)
    }

    fn bound(&self, key: usize, which: usize) -> Option<T> {
        match self.bounds[key] {
            NONE => None,
            NAN => Some(T::NAN),
            bounds => {
                let bits = ordered(bounds[which]).cast_unsigned();
                Some(T::narrowed(f64::from_bits(bits)))
            }
        }
    }
}
