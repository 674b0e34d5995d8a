//! What a chunk of items contributes to exact statistics by key, as a Python object.

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use treefold::exact::{
    Accumulator, Float, Keyed, Moments, Options, ProductSum, RemoveKeyedError, Sum,
};

use crate::element::Item;
use crate::exact_keyed::{raised, statistic_of_name};
use crate::fold::{check_length, compute, reserved};
use crate::pool::Workers;

/// The sums, or the moments, of each of some keys, or one sum of products, of a type.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a Python object holds one, and there are few"
)]
enum Held {
    SumsF64(Keyed<Sum<f64>>),
    SumsF32(Keyed<Sum<f32>>),
    ProductsF64(ProductSum<f64>),
    ProductsF32(ProductSum<f32>),
    F64(Keyed<Moments<f64>>),
    F32(Keyed<Moments<f32>>),
}

impl Held {
    /// Whether there is memory for a copy, and for a result of each key.
    fn check_memory(&self) -> PyResult<()> {
        let (state, keys) = match self {
            Self::SumsF64(sums) => (sums.memory(), sums.keys()),
            Self::SumsF32(sums) => (sums.memory(), sums.keys()),
            Self::F64(moments) => (moments.memory(), moments.keys()),
            Self::F32(moments) => (moments.memory(), moments.keys()),
            Self::ProductsF64(_) | Self::ProductsF32(_) => (0, 1),
        };
        reserved::<u8>(state + keys * size_of::<[f64; 2]>()).map(drop)
    }
}

/// Does the same with whichever is held.
macro_rules! with_held {
    ($held:expr, $state:ident => $body:expr) => {
        match $held {
            Held::SumsF64($state) => $body,
            Held::SumsF32($state) => $body,
            Held::ProductsF64($state) => $body,
            Held::ProductsF32($state) => $body,
            Held::F64($state) => $body,
            Held::F32($state) => $body,
        }
    };
}

/// A function, and its arguments.
type Pickled<'py> = (Bound<'py, PyAny>, (u8, Bound<'py, PyBytes>));

/// Sums, or all of number, sum and squares, of the items of the keys 0 to `groups` - 1.
#[pyclass(frozen, module = "treefold._native")]
#[derive(Debug)]
pub(crate) struct ExactState(Held);

/// Items of a type in the variants for it.
trait Kept: Float {
    fn sums(sums: Keyed<Sum<Self>>) -> Held;
    fn products(products: ProductSum<Self>) -> Held;
    fn moments(moments: Keyed<Moments<Self>>) -> Held;
}

impl Kept for f64 {
    fn sums(sums: Keyed<Sum<Self>>) -> Held {
        Held::SumsF64(sums)
    }

    fn products(products: ProductSum<Self>) -> Held {
        Held::ProductsF64(products)
    }

    fn moments(moments: Keyed<Moments<Self>>) -> Held {
        Held::F64(moments)
    }
}

impl Kept for f32 {
    fn sums(sums: Keyed<Sum<Self>>) -> Held {
        Held::SumsF32(sums)
    }

    fn products(products: ProductSum<Self>) -> Held {
        Held::ProductsF32(products)
    }

    fn moments(moments: Keyed<Moments<Self>>) -> Held {
        Held::F32(moments)
    }
}

fn of_items<T: Item + Kept + PartialEq>(
    keys: &Bound<'_, PyArrayDyn<i64>>,
    x: &Bound<'_, PyArrayDyn<T>>,
    beyond: usize,
    groups: usize,
    has_squares: bool,
) -> PyResult<Held> {
    let (keys_ref, x_ref) = (keys.try_readonly()?, x.try_readonly()?);
    let (keys, items) = (keys_ref.as_slice()?, x_ref.as_slice()?);
    check_length(keys.len(), items.len())?;
    let kept = items.len().saturating_sub(beyond);
    let (keys, other_keys) = keys.split_at(kept);
    let (items, others) = items.split_at(kept);
    let _environment = Workers::of(items.len())?;
    let held = compute(x.py(), size_of_val(items), || {
        if has_squares {
            let mut moments = Keyed::<Moments<_>>::new(groups)?;
            moments.add(keys, items).map_err(RemoveKeyedError::Key)?;
            moments.remove(other_keys, others)?;
            Ok(T::moments(moments))
        } else {
            let mut sums = Keyed::<Sum<_>>::new(groups)?;
            sums.add(keys, items).map_err(RemoveKeyedError::Key)?;
            sums.remove(other_keys, others)?;
            Ok(T::sums(sums))
        }
    });
    held.map_err(|error| match error {
        RemoveKeyedError::Key(error) => raised(error),
        error => PyValueError::new_err(error.to_string()),
    })
}

/// The sum of the products of the items of two vectors.
fn of_pair<T: Item + Kept + PartialEq>(
    x: &Bound<'_, PyArrayDyn<T>>,
    y: &Bound<'_, PyArrayDyn<T>>,
) -> PyResult<Held> {
    let (x_ref, y_ref) = (x.try_readonly()?, y.try_readonly()?);
    let (x_items, y_items) = (x_ref.as_slice()?, y_ref.as_slice()?);
    check_length(y_items.len(), x_items.len())?;
    let _environment = Workers::of(x_items.len())?;
    let sum = compute(x.py(), size_of_val(x_items), || {
        ProductSum::of(x_items, y_items)
    });
    Ok(T::products(sum))
}

fn floats<T: Item>(py: Python<'_>, values: impl Iterator<Item = T>) -> Py<PyAny> {
    PyArray1::from_iter(py, values).into_any().unbind()
}

/// A value for each key.
fn moments<T: Item + Kept>(
    py: Python<'_>,
    moments: &Keyed<Moments<T>>,
    statistic: &str,
    ddof: f64,
) -> PyResult<Py<PyAny>> {
    if statistic == "count" {
        let counts = PyArray1::from_slice(py, moments.counts().expect("moments count items"));
        return Ok(counts.into_any().unbind());
    }
    let values = moments.statistics(statistic_of_name(statistic)?, Options { ddof, bias: true });
    Ok(floats(py, values.expect("moments have it").into_iter()))
}

#[pymethods]
impl ExactState {
    /// Of items and their keys, without so many at the end.
    #[staticmethod]
    fn of(
        keys: &Bound<'_, PyArrayDyn<i64>>,
        x: &Bound<'_, PyAny>,
        beyond: usize,
        groups: usize,
        has_squares: bool,
    ) -> PyResult<Self> {
        if let Ok(x) = x.cast::<PyArrayDyn<f64>>() {
            return of_items(keys, x, beyond, groups, has_squares).map(Self);
        }
        if let Ok(x) = x.cast::<PyArrayDyn<f32>>() {
            return of_items(keys, x, beyond, groups, has_squares).map(Self);
        }
        Err(PyTypeError::new_err("x has elements that are no floats"))
    }

    /// Of the products of the items of two vectors, of which there is one sum.
    #[staticmethod]
    fn of_products(x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(x) = x.cast::<PyArrayDyn<f64>>() {
            return of_pair(x, y.cast()?).map(Self);
        }
        of_pair(x.cast::<PyArrayDyn<f32>>()?, y.cast()?).map(Self)
    }

    /// Of the items of both.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.0.check_memory()?;
        let mut merged = self.0.clone();
        let result = match (&mut merged, &other.0) {
            (Held::SumsF64(own), Held::SumsF64(other)) => py.detach(|| own.merge(other)),
            (Held::SumsF32(own), Held::SumsF32(other)) => py.detach(|| own.merge(other)),
            (Held::ProductsF64(own), Held::ProductsF64(other)) => py.detach(|| own.merge(other)),
            (Held::F64(own), Held::F64(other)) => py.detach(|| own.merge(other)),
            (Held::ProductsF32(own), Held::ProductsF32(other)) => py.detach(|| own.merge(other)),
            (Held::F32(own), Held::F32(other)) => py.detach(|| own.merge(other)),
            _ => {
                let message = "the states have items of different types";
                return Err(PyTypeError::new_err(message));
            }
        };
        result.map_err(|error| raised(error.into()))?;
        Ok(Self(merged))
    }

    /// Of what `to_bytes` returned, of a type and kind by number.
    #[staticmethod]
    fn of_bytes(kind: u8, bytes: &[u8]) -> PyResult<Self> {
        let held = match kind {
            0 => Keyed::of_bytes(bytes).map(Held::SumsF64),
            1 => Keyed::of_bytes(bytes).map(Held::SumsF32),
            2 => Keyed::of_bytes(bytes).map(Held::F64),
            3 => Keyed::of_bytes(bytes).map(Held::F32),
            4 => ProductSum::of_bytes(bytes).map(Held::ProductsF64),
            5 => ProductSum::of_bytes(bytes).map(Held::ProductsF32),
            _ => return Err(PyValueError::new_err("kind: not from 0 to 5")),
        };
        let held = held.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self(held))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.0.check_memory()?;
        let bytes = with_held!(&self.0, state => state.to_bytes());
        Ok(PyBytes::new(py, &bytes))
    }

    /// How pickle makes it again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let kind = match &self.0 {
            Held::SumsF64(_) => 0,
            Held::SumsF32(_) => 1,
            Held::F64(_) => 2,
            Held::F32(_) => 3,
            Held::ProductsF64(_) => 4,
            Held::ProductsF32(_) => 5,
        };
        let of_bytes = py.get_type::<Self>().getattr("of_bytes")?;
        Ok((of_bytes, (kind, self.to_bytes(py)?)))
    }

    /// A value for each key: "sum", or "count", "mean", "var", "std".
    fn values(&self, py: Python<'_>, statistic: &str, ddof: f64) -> PyResult<Py<PyAny>> {
        let _environment = Workers::of(0)?;
        self.0.check_memory()?;
        match &self.0 {
            Held::SumsF64(sums) => Ok(floats(py, sums.values().into_iter())),
            Held::SumsF32(sums) => Ok(floats(py, sums.values().into_iter())),
            Held::ProductsF64(sum) => Ok(floats(py, [sum.value()].into_iter())),
            Held::F64(held) => moments(py, held, statistic, ddof),
            Held::ProductsF32(sum) => Ok(floats(py, [sum.value()].into_iter())),
            Held::F32(held) => moments(py, held, statistic, ddof),
        }
    }
}
