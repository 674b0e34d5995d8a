//! Computes prefix sums and products, in tree order or exact.

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use treefold::operator::Prefixes;

use crate::arguments::{Items, axes_of, not_an_axis, place_of, python};
use crate::call::Call;
use crate::convert::{Kind, to_half, with_exact_kind, with_kind};
use crate::element::{Item, unsupported};
use crate::exactly::undefined;
use crate::fold::{compute, zeroed, zeros_of_type};
use crate::pool::Workers;
use crate::source::{Reader, Source};
use crate::states::{Statistics, Undefined};
use crate::statistic::{Statistic, types_of};
use crate::strided::Memory;
use crate::tree::block_items;

/// The number of columns that are read together.
const COLUMNS: usize = 16;

/// The prefix sums or products of an array along an axis, or of all items, by NumPy's conventions. With `includes_initial` the
/// results begin with the value for no items.
#[pyfunction]
#[pyo3(signature = (name, is_exact, x, axis, dtype, out, includes_initial=false))]
pub(crate) fn scan<'py>(
    name: &str,
    is_exact: bool,
    x: &Bound<'py, PyAny>,
    axis: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    out: &Bound<'py, PyAny>,
    includes_initial: bool,
) -> PyResult<Py<PyAny>> {
    let py = x.py();
    let mut items = Items::of(x, "x")?;
    if items.has_holes() {
        let message = "x is a masked array, but its mask would be ignored: fill masked items";
        return Err(PyTypeError::new_err(message));
    }
    if axis.is_instance_of::<PyTuple>() {
        return Err(not_an_axis(axis));
    }
    let is_flat = axis.is_none();
    let axes = axes_of(axis, items.array.ndim())?;
    if items.array.ndim() == 0 {
        items.array = items.array.call_method1("reshape", (1,))?.cast_into()?;
    }
    let axes = if axes.is_empty() { vec![0] } else { axes };
    let mut shape = items.array.shape().to_vec();
    if is_flat {
        shape = vec![items.array.len()];
    } else {
        shape[axes[0]] += usize::from(includes_initial);
    }
    let out = place_of(out, &shape)?;
    let statistic = Statistic::named(name)?;
    if let Some(unit) = items
        .unit
        .as_ref()
        .filter(|unit| unit.kind() == b'M' || name != "sum")
    {
        let message = format!("x has elements of type {unit}, for which cum{name} is not defined");
        return Err(PyTypeError::new_err(message));
    }
    let types = types_of(statistic, is_exact, &items, dtype, out.as_ref())?;
    if types.chosen == Kind::Bool {
        return Err(PyTypeError::new_err("dtype: a scan cannot return bool"));
    }
    let chosen = items
        .unit
        .clone()
        .map_or_else(|| types.chosen.dtype(py), Ok)?;
    // An exact sum of integers may fail, and must then leave `out` unchanged.
    let may_be_direct = !(is_exact && types.chosen.is_integer());
    let direct = match out.as_ref().filter(|_| may_be_direct) {
        None => None,
        Some(out) => {
            let may = python(py, "may_be_written")?.call1((out, &chosen, &items.array, is_flat))?;
            may.is_truthy()?.then(|| out.clone())
        }
    };
    let is_direct = direct.is_some();
    let result = match direct {
        Some(out) => out,
        None => zeros_of_type(chosen, &shape)?.cast_into()?,
    };
    let mut into = result.clone();
    if includes_initial {
        let first = i32::from(name == "prod");
        into = python(py, "after_first")?
            .call1((into, axes[0], first))?
            .cast_into()?;
    }
    if is_flat && items.array.ndim() != 1 {
        let shape = PyTuple::new(py, items.array.shape())?;
        into = into.call_method1("reshape", (shape,))?.cast_into()?;
    }
    let call = Call::of(statistic, is_exact, items, axes, Vec::new(), types);
    if is_exact {
        with_exact_kind!(types.work, T => scan_exact::<T>(&call, &into)?);
    } else {
        with_kind!(types.work, T => scan_in_order::<T>(&call, &into)?);
    }
    let items = &call.items;
    if items.unit.is_some() {
        python(py, "spread_not_a_time")?.call1((&items.array, &into, call.axes[0], is_flat))?;
    }
    let plain = |result: Bound<'py, PyUntypedArray>| Ok(result.into_any().unbind());
    match out {
        Some(out) if is_direct => plain(out),
        None if items.owner.is_none() => plain(result),
        out => {
            let dtype = result.dtype();
            let owner = items.owner.as_ref();
            let none = py.None();
            let delivered = python(py, "delivered")?;
            let delivered = delivered.call1((result, dtype, &none, owner, (), &none, out))?;
            Ok(delivered.unbind())
        }
    }
}

/// Scans the next items of a column: reads the items and writes the results.
type Scan<T> = Box<dyn FnMut(&[T], &mut [T]) -> Result<(), Undefined> + Send>;

fn scan_in_order<T: Item>(call: &Call<'_, '_>, into: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    let op = call.statistic.op;
    let operator = T::operator(op).ok_or_else(|| unsupported(op, &call.items.array))?;
    scanned::<T>(call, into, &|| {
        let mut before = Prefixes::new();
        Box::new(move |items, results| {
            operator.scan(items, &mut before, results);
            Ok(())
        })
    })
}

fn scan_exact<T: Statistics>(
    call: &Call<'_, '_>,
    into: &Bound<'_, PyUntypedArray>,
) -> PyResult<()> {
    scanned::<T>(call, into, &|| {
        let mut state = T::state("sum", 0.0).expect("every type has sums");
        Box::new(move |items, results| {
            for (item, result) in items.chunks(1).zip(results) {
                state.add(item, &[]);
                *result = state.value()?;
            }
            Ok(())
        })
    })
}

/// Scans the items of each result into an array of the same shape.
fn scanned<T: Item>(
    call: &Call<'_, '_>,
    into: &Bound<'_, PyUntypedArray>,
    begin: &(dyn Fn() -> Scan<T> + Sync),
) -> PyResult<()> {
    let array = &call.items.array;
    let source = call
        .items
        .source(Some(into), &call.axes, call.types.halves)?;
    let to = Memory::of(into, 1)?;
    let mut last = zeroed::<T>(source.shape.results_count())?;
    let environment = Workers::of(0)?;
    let scanned = compute(array.py(), array.len() * size_of::<T>(), || {
        scan_columns(&source, to, begin, &mut last)
    });
    drop(environment);
    scanned.map_err(undefined::<T>)?;
    call.tell::<T, T>(array.py(), &last)
}

/// Scans column by column, and writes the last result of each scan to `last`.
fn scan_columns<T: Item>(
    source: &Source,
    into: Memory,
    begin: &(dyn Fn() -> Scan<T> + Sync),
    last: &mut [T],
) -> Result<(), Undefined> {
    let mut reader = Reader::<T>::new(source);
    let (mut results, mut halves) = (Vec::new(), Vec::new());
    for group in source.shape.groups(COLUMNS) {
        let columns = group.columns.len;
        let mut scans: Vec<_> = (0..columns).map(|_| begin()).collect();
        for block in group.blocks(block_items::<T>(&source.shape) / columns.next_power_of_two()) {
            for (tile, scan) in block.each_column().zip(&mut scans) {
                results.resize(tile.items, T::zeroed());
                scan(reader.values(&tile), &mut results)?;
                if into.kind == Kind::F16 {
                    let rounded = results.iter().map(|result| to_half(result.real().to_f64()));
                    halves.clear();
                    halves.extend(rounded);
                    into.write(&tile, bytemuck::cast_slice(&halves));
                    T::convert(
                        Kind::F16,
                        &[u64::from(halves[tile.items - 1])],
                        &mut last[tile.place.result..][..1],
                    );
                } else {
                    into.write(&tile, bytemuck::cast_slice(&results));
                    last[tile.place.result] = results[tile.items - 1];
                }
            }
        }
    }
    Ok(())
}
