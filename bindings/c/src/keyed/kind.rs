//! What the kinds of states by key do with items of their type.

use bytemuck::Pod;
use treefold::exact::{
    BytesError, Float, Key, KeyError, KeyedColumns, KeyedExtrema, KeyedMoments, KeyedProducts,
    KeyedSums, KeyedWeightedMeans, LimitError, RemoveKeyedError,
};

use crate::element::ElementType;
use crate::failure::Failure;
use crate::raw::elements_mut;
use crate::statistic::Statistic;

/// The types of items that are rounded.
pub(crate) trait Real: Float + Pod + PartialEq {
    const TYPE: ElementType;
}

impl Real for f32 {
    const TYPE: ElementType = ElementType::F32;
}

impl Real for f64 {
    const TYPE: ElementType = ElementType::F64;
}

/// Items that cannot be removed.
pub(crate) enum Removal {
    /// Because of the items.
    Refused(RemoveKeyedError),
    /// Nothing can be.
    Never,
}

/// A kind of states.
pub(crate) trait Kind: Clone + PartialEq + Send + Sync + 'static {
    /// An element of the program's arrays.
    type Item: Pod;
    const TYPE: ElementType;
    const NAME: &'static str;
    /// Whether it takes two arrays.
    const TAKES_PAIRS: bool = false;
    /// What a key takes at first.
    const KEY_BYTES: usize;

    fn groups(&self) -> usize;

    /// The bytes that are allocated.
    fn memory(&self) -> usize;

    /// How many items a row has, and results a key.
    fn width(&self) -> usize {
        1
    }

    fn take<K: Key>(
        &mut self,
        keys: &[K],
        x: &[Self::Item],
        y: &[Self::Item],
    ) -> Result<(), KeyError>;

    fn take_back<K: Key>(
        &mut self,
        keys: &[K],
        x: &[Self::Item],
        y: &[Self::Item],
    ) -> Result<(), Removal>;

    /// Adds another one of as many keys and columns.
    ///
    /// # Errors
    /// Together they have too many items.
    fn join(&mut self, other: &Self) -> Result<(), LimitError>;

    /// The number of items of each key, if they are counted.
    fn counted(&self) -> Option<&[u64]> {
        None
    }

    /// Writes a statistic of each key, and says whether there is one.
    ///
    /// # Errors
    /// An address is not aligned, or a result does not fit its type.
    fn statistic(&self, statistic: Statistic, result: &mut [u8]) -> Result<bool, Failure>;

    /// Its bytes, if it has any.
    fn bytes(&self) -> Option<Vec<u8>> {
        None
    }

    /// What bytes stand for, if it has any.
    fn of(_: &[u8]) -> Option<Result<Self, BytesError>> {
        None
    }
}

/// Writes the results of all keys.
pub(super) fn write<T: Pod>(
    result: &mut [u8],
    values: impl Iterator<Item = T>,
) -> Result<bool, Failure> {
    let result = elements_mut("result", result)?;
    for (place, value) in result.iter_mut().zip(values) {
        *place = value;
    }
    Ok(true)
}

/// What states of real numbers do alike.
macro_rules! alike {
    ($name:literal, $key_bytes:expr) => {
        type Item = T;
        const TYPE: ElementType = T::TYPE;
        const NAME: &'static str = $name;
        const KEY_BYTES: usize = $key_bytes;

        fn groups(&self) -> usize {
            self.keys()
        }

        fn memory(&self) -> usize {
            self.memory()
        }

        fn join(&mut self, other: &Self) -> Result<(), LimitError> {
            self.merge(other)
        }
    };
}

/// How items become a part of a state.
macro_rules! takes {
    ($($array:ident),+; $($other:ident),*) => {
        fn take<K: Key>(
            &mut self,
            keys: &[K],
            $($array: &[T],)+
            $($other: &[T],)*
        ) -> Result<(), KeyError> {
            self.add(keys, $($array),+)
        }

        fn take_back<K: Key>(
            &mut self,
            keys: &[K],
            $($array: &[T],)+
            $($other: &[T],)*
        ) -> Result<(), Removal> {
            self.remove(keys, $($array),+).map_err(Removal::Refused)
        }
    };
}

/// What a key takes of a sum.
pub(super) const SUM_BYTES: usize = 16;

impl<T: Real> Kind for KeyedSums<T> {
    alike!("sums by key", SUM_BYTES);
    takes!(x; _y);

    fn statistic(&self, statistic: Statistic, result: &mut [u8]) -> Result<bool, Failure> {
        match statistic {
            Statistic::Value => write(result, self.values().into_iter()),
            _ => Ok(false),
        }
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        Some(self.to_bytes())
    }

    fn of(bytes: &[u8]) -> Option<Result<Self, BytesError>> {
        Some(Self::of_bytes(bytes))
    }
}

impl<T: Real> Kind for KeyedMoments<T> {
    alike!("moments by key", 3 * SUM_BYTES + size_of::<u64>());
    takes!(x; _y);

    fn counted(&self) -> Option<&[u64]> {
        Some(self.counts())
    }

    fn statistic(&self, statistic: Statistic, result: &mut [u8]) -> Result<bool, Failure> {
        let keys = 0..self.keys();
        match statistic {
            Statistic::Mean => write(result, keys.map(|key| self.mean(key))),
            Statistic::Variance(ddof) => write(result, keys.map(|key| self.variance(key, ddof))),
            Statistic::StandardDeviation(ddof) => {
                write(result, keys.map(|key| self.standard_deviation(key, ddof)))
            }
            _ => Ok(false),
        }
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        Some(self.to_bytes())
    }

    fn of(bytes: &[u8]) -> Option<Result<Self, BytesError>> {
        Some(Self::of_bytes(bytes))
    }
}

impl<T: Real> Kind for KeyedProducts<T> {
    alike!("dot products by key", 2 * SUM_BYTES);
    takes!(x, y;);
    const TAKES_PAIRS: bool = true;

    fn statistic(&self, statistic: Statistic, result: &mut [u8]) -> Result<bool, Failure> {
        match statistic {
            Statistic::Value => write(result, (0..self.keys()).map(|key| self.value(key))),
            _ => Ok(false),
        }
    }
}

impl<T: Real> Kind for KeyedWeightedMeans<T> {
    alike!("weighted means by key", 3 * SUM_BYTES);
    takes!(x, weights;);
    const TAKES_PAIRS: bool = true;

    fn statistic(&self, statistic: Statistic, result: &mut [u8]) -> Result<bool, Failure> {
        match statistic {
            Statistic::Mean => write(result, (0..self.keys()).map(|key| self.value(key))),
            _ => Ok(false),
        }
    }
}

impl<T: Real> Kind for KeyedExtrema<T> {
    alike!("extrema by key", 2 * size_of::<i64>());

    fn take<K: Key>(&mut self, keys: &[K], x: &[T], _: &[T]) -> Result<(), KeyError> {
        self.add(keys, x)
    }

    fn take_back<K: Key>(&mut self, _: &[K], _: &[T], _: &[T]) -> Result<(), Removal> {
        Err(Removal::Never)
    }

    fn statistic(&self, statistic: Statistic, result: &mut [u8]) -> Result<bool, Failure> {
        let bound = match statistic {
            Statistic::Minimum => Self::minimum,
            Statistic::Maximum => Self::maximum,
            _ => return Ok(false),
        };
        let of_key = |key| bound(self, key).unwrap_or(T::NAN);
        write(result, (0..self.keys()).map(of_key))
    }
}

impl<T: Real> Kind for KeyedColumns<T> {
    // For each column.
    alike!("sums of rows by key", SUM_BYTES);
    takes!(rows; _y);

    fn width(&self) -> usize {
        self.columns()
    }

    fn statistic(&self, statistic: Statistic, result: &mut [u8]) -> Result<bool, Failure> {
        match statistic {
            Statistic::Value => write(result, self.values().into_iter()),
            _ => Ok(false),
        }
    }
}
