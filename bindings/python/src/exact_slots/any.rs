//! The slots of each key, for a statistic and a type of columns that are known when the program runs.

use std::any::Any;
use std::marker::PhantomData;

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use treefold::exact::{
    CoMoments, Extrema, Float, Held, IntegerMoments, IntegerSum, Keyed, KeyedSlot, LimitError,
    Mean, Moments, Options, Powers, ProductSum, RemoveKeyedError, Statistic, WeightedMean,
};

use crate::element::Item;
use crate::exact_keyed::raised;
use crate::fold::{check_length, compute};
use crate::pool::Workers;

/// The elements of columns.
trait Column: numpy::Element + Copy + Send + Sync + 'static {}

impl<C: numpy::Element + Copy + Send + Sync + 'static> Column for C {}

fn readonly<'py, C: Column>(column: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray1<'py, C>> {
    let column = column.cast::<PyArray1<C>>().map_err(|_| {
        PyTypeError::new_err("a column has elements of another type than the slots")
    })?;
    Ok(column.try_readonly()?)
}

/// Slots that columns of a type are added to.
trait Takes<C>: KeyedSlot<Item: Item> {
    /// What is added of two columns. One alone is there twice.
    fn items<'i>(columns: [&'i [C]; 2]) -> Self::Items<'i>;

    /// The number of items of each key, if they are counted.
    fn counted(slots: &Keyed<Self>) -> Option<Vec<i64>> {
        let counts = slots.counts()?.iter();
        Some(counts.map(|count| count.cast_signed()).collect())
    }

    /// The sums, if they are no floats; or the first key whose sum the type of the items lacks, and the sum.
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
                    let sum: Option<i128> = $sum;
                    let sum = sum.expect("items have 64 bits");
                    <$integer>::try_from(sum).map_err(|_| (key, sum))
                };
                Some((0..slots.keys()).map(sum).collect())
            }
        }
    )+};
}

of_integers! {
    IntegerSum i64, |slot| slot.value();
    IntegerSum u64, |slot| slot.value();
    IntegerMoments i64, |slot| Some(slot.sum());
    IntegerMoments u64, |slot| Some(slot.sum());
}

/// A slot for each of the keys 0 to K - 1, whatever it is.
pub(super) trait AnySlots: Any + Send + Sync {
    fn keys(&self) -> usize;

    fn grow(&mut self, keys: usize) -> Result<(), LimitError>;

    /// The bytes that are allocated.
    fn memory(&self) -> usize;

    /// Adds items, or takes them back.
    fn change(
        &mut self,
        keys: &Bound<'_, PyArray1<i64>>,
        columns: &[Bound<'_, PyAny>],
        removes: bool,
    ) -> PyResult<()>;

    /// Adds other slots to those of some keys; without any, key by key.
    fn merge(&mut self, other: &dyn AnySlots, keys: Option<&[u32]>) -> PyResult<()>;

    /// Whether the first slots are those that another one has for some keys.
    fn equals(&self, other: &dyn AnySlots, keys: &[u32]) -> bool;

    fn counts(&self) -> Option<Vec<i64>>;

    fn values(&self, py: Python<'_>, statistic: Statistic, options: Options)
    -> PyResult<Py<PyAny>>;

    fn to_bytes(&self) -> Vec<u8>;

    fn become_bytes(&mut self, bytes: &[u8]) -> PyResult<()>;

    fn boxed(&self) -> Box<dyn AnySlots>;
}

/// Slots for columns of a type.
struct Slots<S: KeyedSlot, C> {
    slots: Keyed<S>,
    columns: PhantomData<C>,
}

impl<C: Column, S: Takes<C>> Slots<S, C> {
    fn boxed(slots: Keyed<S>) -> Box<dyn AnySlots> {
        Box::new(Self {
            slots,
            columns: PhantomData,
        })
    }

    fn empty(keys: usize) -> Result<Box<dyn AnySlots>, LimitError> {
        Keyed::new(keys).map(Self::boxed)
    }

    fn of(other: &dyn AnySlots) -> Option<&Keyed<S>> {
        let other: &dyn Any = other;
        other.downcast_ref::<Self>().map(|other| &other.slots)
    }
}

impl<C: Column, S: Takes<C>> AnySlots for Slots<S, C> {
    fn keys(&self) -> usize {
        self.slots.keys()
    }

    fn grow(&mut self, keys: usize) -> Result<(), LimitError> {
        self.slots.grow(keys)
    }

    fn memory(&self) -> usize {
        self.slots.memory()
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
        let columns: Vec<_> = columns.iter().map(readonly).collect::<PyResult<_>>()?;
        let [first, .., last] = match columns.as_slice() {
            [one] => [one, one],
            [x, y] => [x, y],
            _ => return Err(PyTypeError::new_err("there are neither one column nor two")),
        };
        let items = [first.as_slice()?, last.as_slice()?];
        check_length(items[1].len(), items[0].len())?;
        let _environment = Workers::of(0)?;
        let slots = &mut self.slots;
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
        let other = Self::of(other).ok_or_else(|| {
            PyTypeError::new_err("the slots are for different statistics, or types of items")
        })?;
        match keys {
            None => self
                .slots
                .merge(other)
                .map_err(|error| raised(error.into())),
            Some(keys) => self.slots.merge_at(keys, other).map_err(raised),
        }
    }

    fn equals(&self, other: &dyn AnySlots, keys: &[u32]) -> bool {
        Self::of(other).is_some_and(|other| {
            let is_equal = |(key, their): (usize, &u32)| {
                let their = *their as usize;
                their < other.keys() && self.slots.get(key) == other.get(their)
            };
            keys.len() <= self.slots.keys() && keys.iter().enumerate().all(is_equal)
        })
    }

    fn counts(&self) -> Option<Vec<i64>> {
        S::counted(&self.slots)
    }

    fn values(
        &self,
        py: Python<'_>,
        statistic: Statistic,
        options: Options,
    ) -> PyResult<Py<PyAny>> {
        if statistic == Statistic::Count {
            let counts = self.counts().ok_or_else(|| missing(statistic))?;
            return Ok(PyArray1::from_vec(py, counts).into_any().unbind());
        }
        let slots = &self.slots;
        if statistic == Statistic::Sum
            && let Some(sums) = S::integers(slots)
        {
            let sums = sums.map_err(PyOverflowError::new_err)?;
            return Ok(PyArray1::from_vec(py, sums).into_any().unbind());
        }
        let bytes = slots.keys().saturating_mul(size_of::<C>());
        let values = compute(py, bytes, || slots.statistics(statistic, options));
        let values = values.ok_or_else(|| missing(statistic))?;
        Ok(PyArray1::from_vec(py, values).into_any().unbind())
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.slots.to_bytes()
    }

    fn become_bytes(&mut self, bytes: &[u8]) -> PyResult<()> {
        let slots = Keyed::of_bytes(bytes);
        self.slots = slots.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(())
    }

    fn boxed(&self) -> Box<dyn AnySlots> {
        Self::boxed(self.slots.clone())
    }
}

fn missing(statistic: Statistic) -> PyErr {
    PyValueError::new_err(format!("the slots do not hold what `{statistic}` needs"))
}

/// Slots for a statistic of floats. Those of sums count items, too.
fn of_floats<T: Item + Float>(
    statistic: Statistic,
    keys: usize,
) -> Result<Option<Box<dyn AnySlots>>, LimitError> {
    let slots = match (statistic, statistic.held()) {
        (Statistic::Mean | Statistic::Count, _) | (_, Held::Sum) => {
            Slots::<Mean<T>, T>::empty(keys)
        }
        (_, Held::Moments) => Slots::<Moments<T>, T>::empty(keys),
        (_, Held::Powers) => Slots::<Powers<T>, T>::empty(keys),
        (_, Held::Extrema) => Slots::<Extrema<T>, T>::empty(keys),
        (_, Held::Products) => Slots::<ProductSum<T>, T>::empty(keys),
        (_, Held::CoMoments) => Slots::<CoMoments<T>, T>::empty(keys),
        (_, Held::Weighted) => Slots::<WeightedMean<T>, T>::empty(keys),
        _ => return Ok(None),
    };
    slots.map(Some)
}

/// Slots for a statistic of integers, if these have it.
fn of_integers<C: Column>(
    statistic: Statistic,
    keys: usize,
) -> Result<Option<Box<dyn AnySlots>>, LimitError>
where
    IntegerSum: Takes<C>,
    IntegerMoments: Takes<C>,
{
    match statistic.held() {
        Held::Sum => Slots::<IntegerSum, C>::empty(keys).map(Some),
        Held::Moments => Slots::<IntegerMoments, C>::empty(keys).map(Some),
        _ => Ok(None),
    }
}

/// Slots of no items, for columns of the type of an array.
pub(super) fn empty(
    statistic: Statistic,
    like: &Bound<'_, PyAny>,
    keys: usize,
) -> PyResult<Box<dyn AnySlots>> {
    let slots = if like.cast::<PyArrayDyn<f64>>().is_ok() {
        of_floats::<f64>(statistic, keys)
    } else if like.cast::<PyArrayDyn<f32>>().is_ok() {
        of_floats::<f32>(statistic, keys)
    } else if like.cast::<PyArrayDyn<i64>>().is_ok() {
        of_integers::<i64>(statistic, keys)
    } else if like.cast::<PyArrayDyn<u64>>().is_ok() {
        of_integers::<u64>(statistic, keys)
    } else {
        Ok(None)
    };
    let slots = slots.map_err(|error| raised(error.into()))?;
    slots.ok_or_else(|| {
        let message = format!("items of this type have no `{statistic}`: convert them to float64");
        PyTypeError::new_err(message)
    })
}
