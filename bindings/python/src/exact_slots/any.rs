//! A slot for each key, for a statistic and a column type chosen at run time.

use std::any::Any;
use std::marker::PhantomData;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use treefold::exact::{
    CoMoments, Extrema, Float, Held, IntegerMoments, IntegerSum, Keyed, KeyedSlot, LimitError,
    Mean, Moments, Options, Powers, ProductSum, RemoveKeyedError, Statistic, WeightedMean,
};

use crate::element::Item;
use crate::exact_keyed::{by_type, column, raised};
use crate::fold::{check_length, compute};
use crate::pool::Workers;

trait Column: numpy::Element + Copy + Send + Sync + 'static {}

impl<C: numpy::Element + Copy + Send + Sync + 'static> Column for C {}

/// Slots to which columns of `C` are added.
trait Takes<C>: KeyedSlot<Item: Item> {
    /// The items of two columns; for a slot of one column, both are the same.
    fn items<'i>(columns: [&'i [C]; 2]) -> Self::Items<'i>;

    /// The number of items of each key, if they are counted.
    fn counted(slots: &Keyed<Self>) -> Option<Vec<i64>> {
        let counts = slots.counts()?.iter();
        Some(counts.map(|count| count.cast_signed()).collect())
    }

    /// The sums, if they are integers. The error is the first key whose sum does not fit the items' type, and this sum.
    fn integers(_: &Keyed<Self>) -> Option<Result<Vec<C>, (usize, i128)>> {
        None
    }
}

macro_rules! of_floats {
    ($($slot:ident: |$columns:ident| $items:expr;)+) => {$(
        impl<T: Item + Float> Takes<T> for $slot<T> {
            fn items<'i>($columns: [&'i [T]; 2]) -> Self::Items<'i> {
                $items
            }
        }
    )+};
}

of_floats! {
    Mean: |columns| columns[0];
    Moments: |columns| columns[0];
    Powers: |columns| columns[0];
    Extrema: |columns| columns[0];
    ProductSum: |columns| columns;
    CoMoments: |columns| columns;
    WeightedMean: |columns| columns;
}

macro_rules! of_integers {
    ($($slot:ident $integer:ty, |$of:ident| $sum:expr;)+) => {$(
        impl Takes<$integer> for $slot {
            fn items<'i>([items, _]: [&'i [$integer]; 2]) -> Self::Items<'i> {
                items.into()
            }

            fn counted(slots: &Keyed<Self>) -> Option<Vec<i64>> {
                let items = |key| slots.get(key).items().cast_signed();
                Some((0..slots.keys()).map(items).collect())
            }

            fn integers(slots: &Keyed<Self>) -> Option<Result<Vec<$integer>, (usize, i128)>> {
                let sum = |key| {
                    let $of = slots.get(key);
                    let sum: i128 = $sum;
                    <$integer>::try_from(sum).map_err(|_| (key, sum))
                };
                Some((0..slots.keys()).map(sum).collect())
            }
        }
    )+};
}

of_integers! {
    IntegerSum i64, |slot| slot.value().expect("items have 64 bits");
    IntegerSum u64, |slot| slot.value().expect("items have 64 bits");
    IntegerMoments i64, |slot| slot.sum();
    IntegerMoments u64, |slot| slot.sum();
}

/// A slot for each of the keys 0 to K - 1, for any statistic and type.
pub(super) trait AnySlots: Any + Send + Sync {
    fn keys(&self) -> usize;

    fn grow(&mut self, keys: usize) -> Result<(), LimitError>;

    /// The number of allocated bytes.
    fn memory(&self) -> usize;

    /// Adds or removes items.
    fn change(
        &mut self,
        keys: &Bound<'_, PyArray1<i64>>,
        columns: &[Bound<'_, PyAny>],
        removes: bool,
    ) -> PyResult<()>;

    /// Merges each slot of `other` into the slot of its key in `keys`; without `keys`, into the slot of the same key.
    fn merge(&mut self, other: &dyn AnySlots, keys: Option<&[u32]>) -> PyResult<()>;

    fn counts(&self) -> Option<Vec<i64>>;

    fn values(&self, py: Python<'_>, statistic: Statistic, options: Options)
    -> PyResult<Py<PyAny>>;

    fn to_bytes(&self) -> Vec<u8>;

    fn become_bytes(&mut self, bytes: &[u8]) -> PyResult<()>;

    fn boxed(&self) -> Box<dyn AnySlots>;
}

/// Slots for columns of a type.
struct Slots<S: KeyedSlot, C>(Keyed<S>, PhantomData<C>);

impl<C: Column, S: Takes<C>> Slots<S, C> {
    fn empty(keys: usize) -> Result<Option<Box<dyn AnySlots>>, LimitError> {
        Ok(Some(Box::new(Self(Keyed::new(keys)?, PhantomData))))
    }
}

impl<C: Column, S: Takes<C>> AnySlots for Slots<S, C> {
    fn keys(&self) -> usize {
        self.0.keys()
    }

    fn grow(&mut self, keys: usize) -> Result<(), LimitError> {
        self.0.grow(keys)
    }

    fn memory(&self) -> usize {
        self.0.memory()
    }

    fn change(
        &mut self,
        keys: &Bound<'_, PyArray1<i64>>,
        columns: &[Bound<'_, PyAny>],
        removes: bool,
    ) -> PyResult<()> {
        let py = keys.py();
        let keys = keys.try_readonly()?;
        let keys = keys.as_slice()?;
        let columns: Vec<_> = columns.iter().map(column::<C>).collect::<PyResult<_>>()?;
        let ([first] | [first, _]) = columns.as_slice() else {
            return Err(PyTypeError::new_err("a statistic needs one or two columns"));
        };
        let items = [first, &columns[columns.len() - 1]];
        let items = [items[0].as_slice()?, items[1].as_slice()?];
        check_length(items[1].len(), items[0].len())?;
        let _environment = Workers::of(0)?;
        let slots = &mut self.0;
        compute(py, size_of_val(items[0]), || {
            if removes {
                return slots.remove(keys, S::items(items));
            }
            let added = slots.add(keys, S::items(items));
            added.map_err(RemoveKeyedError::Key)
        })
        .map_err(|error| match error {
            RemoveKeyedError::Key(error) => raised(error),
            RemoveKeyedError::Fewer { key, error } => {
                PyValueError::new_err((key, error.to_string()))
            }
            error => PyValueError::new_err(error.to_string()),
        })
    }

    fn merge(&mut self, other: &dyn AnySlots, keys: Option<&[u32]>) -> PyResult<()> {
        let other: &dyn Any = other;
        let Some(Self(other, _)) = other.downcast_ref() else {
            let message = "the slots have different statistics or types of items";
            return Err(PyTypeError::new_err(message));
        };
        match keys {
            None => self.0.merge(other).map_err(|error| raised(error.into())),
            Some(keys) => self.0.merge_at(keys, other).map_err(raised),
        }
    }

    fn counts(&self) -> Option<Vec<i64>> {
        S::counted(&self.0)
    }

    fn values(
        &self,
        py: Python<'_>,
        statistic: Statistic,
        options: Options,
    ) -> PyResult<Py<PyAny>> {
        let slots = &self.0;
        let missing = || {
            let message = format!("the slots do not hold what `{statistic}` needs");
            PyValueError::new_err(message)
        };
        if statistic == Statistic::Count {
            return Ok(array(py, self.counts().ok_or_else(missing)?));
        }
        if statistic == Statistic::Sum
            && let Some(sums) = S::integers(slots)
        {
            return Ok(array(py, sums.map_err(PyOverflowError::new_err)?));
        }
        let bytes = slots.keys().saturating_mul(size_of::<C>());
        let values = compute(py, bytes, || slots.statistics(statistic, options));
        Ok(array(py, values.ok_or_else(missing)?))
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
    }

    fn become_bytes(&mut self, bytes: &[u8]) -> PyResult<()> {
        let slots = Keyed::of_bytes(bytes);
        self.0 = slots.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(())
    }

    fn boxed(&self) -> Box<dyn AnySlots> {
        Box::new(Self(self.0.clone(), PhantomData))
    }
}

fn array<E: numpy::Element>(py: Python<'_>, values: Vec<E>) -> Py<PyAny> {
    PyArray1::from_vec(py, values).into_any().unbind()
}

/// Empty slots for a statistic; `None` if columns of the type do not have the statistic.
type Found = Result<Option<Box<dyn AnySlots>>, LimitError>;

/// Slots for floats. The slots of sums also count items.
fn of_floats<T: Item + Float>(statistic: Statistic, keys: usize) -> Found {
    match (statistic, statistic.held()) {
        (Statistic::Mean | Statistic::Count, _) | (_, Held::Sum) => {
            Slots::<Mean<T>, T>::empty(keys)
        }
        (_, Held::Moments) => Slots::<Moments<T>, T>::empty(keys),
        (_, Held::Powers) => Slots::<Powers<T>, T>::empty(keys),
        (_, Held::Extrema) => Slots::<Extrema<T>, T>::empty(keys),
        (_, Held::Products) => Slots::<ProductSum<T>, T>::empty(keys),
        (_, Held::CoMoments) => Slots::<CoMoments<T>, T>::empty(keys),
        (_, Held::Weighted) => Slots::<WeightedMean<T>, T>::empty(keys),
        _ => Ok(None),
    }
}

fn of_integers<C: Column>(statistic: Statistic, keys: usize) -> Found
where
    IntegerSum: Takes<C>,
    IntegerMoments: Takes<C>,
{
    match statistic.held() {
        Held::Sum => Slots::<IntegerSum, C>::empty(keys),
        Held::Moments => Slots::<IntegerMoments, C>::empty(keys),
        _ => Ok(None),
    }
}

/// Empty slots for columns of an array's type.
pub(super) fn empty(
    statistic: Statistic,
    like: &Bound<'_, PyAny>,
    keys: usize,
) -> PyResult<Box<dyn AnySlots>> {
    let slots = by_type!(like, [f64], |_like| of_floats::<f64>(statistic, keys))
        .or_else(|| by_type!(like, [f32], |_like| of_floats::<f32>(statistic, keys)))
        .or_else(|| by_type!(like, [i64], |_like| of_integers::<i64>(statistic, keys)))
        .or_else(|| by_type!(like, [u64], |_like| of_integers::<u64>(statistic, keys)))
        .unwrap_or(Ok(None))
        .map_err(|error| raised(error.into()))?;
    slots.ok_or_else(|| {
        let message = format!("items of this type have no `{statistic}`: convert them to float64");
        PyTypeError::new_err(message)
    })
}
