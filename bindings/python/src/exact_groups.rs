//! Exact figures of groups of items of which some may be missing.

use std::ops::Range;

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use treefold::exact::{
    Float, IntegerMoments, IntegerSum, Integers, KeyError, Keyed, Mean, Moments, Options,
    Statistic, Sum,
};

use crate::element::Item;
use crate::exact_keyed::{RealTask, raised, statistic_of_name, sums_by_key, with_real_type};
use crate::fold::{compute, reserved};
use crate::pool::Workers;

/// So many items are looked at together for what is missing.
const BLOCK_ITEMS: usize = 4096;

/// What is told of each group.
#[derive(Clone, Copy, Debug)]
enum Figure {
    Sum,
    Count,
    Statistic(Statistic),
}

/// Which items count: those of a key that is not negative, which are not missing.
#[derive(Clone, Copy, Debug)]
struct Kept<'a> {
    /// A bit for each item, from an offset on; without them none is missing.
    bits: Option<(&'a [u8], usize)>,
    /// Whether NaNs are missing.
    skips_nan: bool,
}

impl Kept<'_> {
    fn is_valid(&self, item: usize) -> bool {
        self.bits.is_none_or(|(bytes, offset)| {
            let bit = offset + item;
            bytes[bit / 8] >> (bit % 8) & 1 == 1
        })
    }

    /// Whether all of a range count.
    fn keeps_all<T: Copy>(
        &self,
        range: Range<usize>,
        keys: &[i64],
        items: &[T],
        is_nan: impl Fn(T) -> bool,
    ) -> bool {
        // Without a branch for each item.
        let is_negative = keys[range.clone()].iter().fold(0, |all, key| all | key) < 0;
        let nan = |any, item: &T| any | is_nan(*item);
        let has_nan = self.skips_nan && items[range.clone()].iter().fold(false, nan);
        !is_negative
            && !has_nan
            && (self.bits.is_none() || range.into_iter().all(|item| self.is_valid(item)))
    }

    /// Calls a function with the keys and items that count, in blocks: those of the arrays where nothing is missing.
    fn each_block<T: Copy>(
        &self,
        keys: &[i64],
        items: &[T],
        is_nan: impl Fn(T) -> bool + Copy,
        mut add: impl FnMut(&[i64], &[T]) -> Result<(), KeyError>,
    ) -> Result<(), KeyError> {
        let (mut kept_keys, mut kept_items) = (Vec::new(), Vec::new());
        for begin in (0..items.len()).step_by(BLOCK_ITEMS) {
            let range = begin..items.len().min(begin + BLOCK_ITEMS);
            if self.keeps_all(range.clone(), keys, items, is_nan) {
                add(&keys[range.clone()], &items[range])?;
                continue;
            }
            kept_keys.clear();
            kept_items.clear();
            for place in range {
                let (key, item) = (keys[place], items[place]);
                if key >= 0 && self.is_valid(place) && !(self.skips_nan && is_nan(item)) {
                    kept_keys.push(key);
                    kept_items.push(item);
                }
            }
            add(&kept_keys, &kept_items)?;
        }
        Ok(())
    }

    fn counts<T: Copy>(
        &self,
        keys: &[i64],
        items: &[T],
        groups: usize,
        is_nan: impl Fn(T) -> bool + Copy,
    ) -> Result<Vec<i64>, KeyError> {
        let mut counts = vec![0; groups];
        self.each_block(keys, items, is_nan, |keys, _| {
            for &key in keys {
                counts[group_of(key)] += 1;
            }
            Ok(())
        })?;
        Ok(counts)
    }
}

/// The Python half makes keys: those that count are right.
fn group_of(key: i64) -> usize {
    usize::try_from(key).expect("a group has a number")
}

struct OfGroups<'a, 'py> {
    keys: &'a Bound<'py, PyArrayDyn<i64>>,
    groups: usize,
    figure: Figure,
    ddof: f64,
    kept: Kept<'a>,
}

impl RealTask for OfGroups<'_, '_> {
    fn visit<T: Item + Float + PartialEq>(
        self,
        x: &Bound<'_, PyArrayDyn<T>>,
    ) -> PyResult<Py<PyAny>> {
        let (keys_ref, x_ref) = (self.keys.try_readonly()?, x.try_readonly()?);
        let (keys, items) = (keys_ref.as_slice()?, x_ref.as_slice()?);
        let Self {
            groups, kept, ddof, ..
        } = self;
        let by = Workers::of(items.len())?;
        let py = x.py();
        #[expect(clippy::eq_op, reason = "only a NaN differs from itself")]
        let is_nan = |item: T| item != item;
        if let Figure::Count = self.figure {
            let counts = compute(py, size_of_val(items), || {
                kept.counts(keys, items, groups, is_nan)
            });
            return Ok(PyArray1::from_vec(py, counts.map_err(raised)?)
                .into_any()
                .unbind());
        }
        let values = compute(py, size_of_val(items), || match self.figure {
            Figure::Statistic(Statistic::Mean) => {
                let mut means = Keyed::<Mean<T>>::new(groups)?;
                kept.each_block(keys, items, is_nan, |keys, items| means.add(keys, items))?;
                Ok(means.values())
            }
            Figure::Statistic(statistic) => {
                let mut moments = Keyed::<Moments<T>>::new(groups)?;
                kept.each_block(keys, items, is_nan, |keys, items| moments.add(keys, items))?;
                let values = moments.statistics(statistic, Options { ddof, bias: true });
                Ok(values.expect("moments have it"))
            }
            _ if kept.keeps_all(0..items.len(), keys, items, is_nan) => {
                sums_by_key(&by, keys, items, groups)
            }
            _ => {
                let mut sums = Keyed::<Sum<T>>::new(groups)?;
                kept.each_block(keys, items, is_nan, |keys, items| sums.add(keys, items))?;
                Ok(sums.values())
            }
        });
        let values: Vec<T> = values.map_err(raised)?;
        Ok(PyArray1::from_vec(py, values).into_any().unbind())
    }
}

impl OfGroups<'_, '_> {
    /// The same of integers: sums have their type, and other figures are doubles.
    fn of_integers<T>(&self, x: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Py<PyAny>>
    where
        T: numpy::Element + Copy + TryFrom<i128> + Send + Sync,
        for<'i> Integers<'i>: From<&'i [T]>,
    {
        let (keys_ref, x_ref) = (self.keys.try_readonly()?, x.try_readonly()?);
        let (keys, items) = (keys_ref.as_slice()?, x_ref.as_slice()?);
        let Self {
            groups, kept, ddof, ..
        } = *self;
        let py = x.py();
        let bytes = size_of_val(items);
        match self.figure {
            Figure::Count => {
                let counts = compute(py, bytes, || kept.counts(keys, items, groups, |_| false));
                Ok(PyArray1::from_vec(py, counts.map_err(raised)?)
                    .into_any()
                    .unbind())
            }
            Figure::Sum => {
                let sums = compute(py, bytes, || {
                    let mut sums = Keyed::<IntegerSum>::new(groups)?;
                    let added = kept.each_block(
                        keys,
                        items,
                        |_| false,
                        |keys, items| sums.add(keys, items.into()),
                    );
                    added.map(|()| sums)
                });
                let sums = sums.map_err(raised)?;
                let values = (0..groups).map(|group| {
                    let sum = sums.get(group).value().expect("items have 64 bits");
                    T::try_from(sum).map_err(|_| PyOverflowError::new_err((group, sum)))
                });
                let values: Vec<T> = values.collect::<PyResult<_>>()?;
                Ok(PyArray1::from_vec(py, values).into_any().unbind())
            }
            Figure::Statistic(statistic) => {
                let values = compute(py, bytes, || {
                    let mut moments = Keyed::<IntegerMoments>::new(groups)?;
                    kept.each_block(
                        keys,
                        items,
                        |_| false,
                        |keys, items| moments.add(keys, items.into()),
                    )?;
                    let values = moments.statistics(statistic, Options { ddof, bias: true });
                    Ok(values.expect("moments have it"))
                });
                Ok(PyArray1::from_vec(py, values.map_err(raised)?)
                    .into_any()
                    .unbind())
            }
        }
    }
}

/// The sum, count, mean, variance or standard deviation of the items of each of the keys 0 to `groups` - 1, rounded once. Items of negative keys
/// do not count, nor those whose bit of `bits` is 0, from an offset on; nor NaNs, if they are skipped. An integer's sum that its type lacks is
/// an `OverflowError` of the group and the sum.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "only the Python half calls it")]
pub(crate) fn exact_of_groups(
    keys: &Bound<'_, PyArrayDyn<i64>>,
    x: &Bound<'_, PyAny>,
    groups: usize,
    statistic: &str,
    ddof: f64,
    bits: Option<PyReadonlyArray1<'_, u8>>,
    offset: usize,
    skips_nan: bool,
) -> PyResult<Py<PyAny>> {
    let figure = match statistic {
        "sum" => Figure::Sum,
        "count" => Figure::Count,
        _ => Figure::Statistic(statistic_of_name(statistic)?),
    };
    // No figure takes more of a group.
    drop(reserved::<[u64; 8]>(groups)?);
    let bytes = bits.as_ref().map(|bits| bits.as_slice()).transpose()?;
    let task = OfGroups {
        keys,
        groups,
        figure,
        ddof,
        kept: Kept {
            bits: bytes.map(|bytes| (bytes, offset)),
            skips_nan,
        },
    };
    if let Ok(x) = x.cast::<PyArrayDyn<i64>>() {
        return task.of_integers(x);
    }
    if let Ok(x) = x.cast::<PyArrayDyn<u64>>() {
        return task.of_integers(x);
    }
    with_real_type(x, task)
}
