//! Parses the arguments of calls: arrays, masks, axes, types and outputs. Each argument is parsed once.
//!
//! This module handles NumPy's own arrays of numbers. `treefold/_conversions.py` converts everything else to such arrays.

use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyInt, PyModule, PyTuple};

use crate::convert::Kind;
use crate::source::Source;
use crate::strided::{Memory, Shape};

/// Returns a function of `treefold/_conversions.py`.
pub(crate) fn python<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let import = || PyModule::import(py, "treefold._conversions").map(Bound::unbind);
    MODULE.get_or_try_init(py, import)?.bind(py).getattr(name)
}

/// An array of numbers, with masks that select its items, and the class of the results.
pub(crate) struct Items<'py> {
    pub(crate) array: Bound<'py, PyUntypedArray>,
    pub(crate) kind: Kind,
    /// Masks, each with a flag. If the flag is true, the mask marks the items to skip; otherwise, the items to keep.
    masks: Vec<(Bound<'py, PyUntypedArray>, bool)>,
    pub(crate) skips_nan: bool,
    /// The type of the items if they are times or dates, which are reduced as integers.
    pub(crate) unit: Option<Bound<'py, PyArrayDescr>>,
    /// The original array if it has another class. Results are then wrapped in that class.
    pub(crate) owner: Option<Bound<'py, PyAny>>,
}

/// What `described` in `_conversions.py` returns: the array, its mask, the type of its times, and the original array if
/// it has another class.
type Described<'py> = (
    Bound<'py, PyUntypedArray>,
    Option<Bound<'py, PyUntypedArray>>,
    Option<Bound<'py, PyArrayDescr>>,
    Option<Bound<'py, PyAny>>,
);

/// A plain NumPy array of numbers, and the kind of its elements; `None` for other arguments.
pub(crate) fn plain<'a, 'py>(
    x: &'a Bound<'py, PyAny>,
) -> Option<(&'a Bound<'py, PyUntypedArray>, Kind)> {
    if !x.is_exact_instance_of::<PyUntypedArray>() {
        return None;
    }
    let array = x.cast::<PyUntypedArray>().ok()?;
    Kind::of_numbers(&array.dtype()).map(|kind| (array, kind))
}

impl<'py> Items<'py> {
    /// Reads the items of the argument `x`, which errors call `name`.
    pub(crate) fn of(x: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        if let Some((array, kind)) = plain(x) {
            return Ok(Self {
                array: array.clone(),
                kind,
                masks: Vec::new(),
                skips_nan: false,
                unit: None,
                owner: None,
            });
        }
        let described = python(x.py(), "described")?.call1((x, name))?;
        let (array, mask, unit, owner) = described.extract::<Described<'py>>()?;
        let kind = Kind::of_elements(&array, name)?;
        Ok(Self {
            array,
            kind,
            masks: mask.into_iter().map(|mask| (mask, true)).collect(),
            skips_nan: false,
            unit,
            owner,
        })
    }

    /// Whether results are numbers or plain NumPy arrays.
    pub(crate) fn is_plain(&self) -> bool {
        self.unit.is_none() && self.owner.is_none()
    }

    /// Leaves out the items for which a mask is false. The mask `True` leaves out none.
    pub(crate) fn keep(&mut self, mask: &Bound<'py, PyAny>) -> PyResult<()> {
        if mask.cast::<PyBool>().is_ok_and(|mask| mask.is_true()) {
            return Ok(());
        }
        let shape = self.array.shape();
        let mask = match plain(mask) {
            Some((mask, Kind::Bool)) if mask.shape() == shape => mask.clone(),
            _ => python(mask.py(), "mask")?
                .call1((mask, PyTuple::new(mask.py(), shape)?))?
                .cast_into()?,
        };
        self.masks.push((mask, false));
        Ok(())
    }

    /// Whether NaNs may have to be left out.
    pub(crate) fn drops_nan(&self) -> bool {
        self.skips_nan && !self.kind.is_integer()
    }

    /// Whether some items may be skipped.
    pub(crate) fn has_holes(&self) -> bool {
        self.drops_nan() || !self.masks.is_empty()
    }

    /// The layout in memory of these items along the axes to reduce, and of factors or weights of the same shape.
    pub(crate) fn source(
        &self,
        y: Option<&Bound<'py, PyUntypedArray>>,
        axes: &[usize],
        halves: bool,
    ) -> PyResult<Source> {
        let mut all = vec![&self.array, y.unwrap_or(&self.array)];
        all.extend(self.masks.iter().map(|(mask, _)| mask));
        let masks = (2..).zip(&self.masks);
        let masks = masks.map(|(slot, (mask, excludes))| Ok((Memory::of(mask, slot)?, *excludes)));
        Ok(Source {
            shape: Shape::new(&all, axes)?,
            x: Memory::of(&self.array, 0)?,
            y: y.map(|y| Memory::of(y, 1)).transpose()?,
            masks: masks.collect::<PyResult<_>>()?,
            skips_nan: self.drops_nan(),
            halves,
        })
    }
}

/// The numbers of the axes to reduce, ascending.
pub(crate) fn axes_of(axis: &Bound<'_, PyAny>, ndim: usize) -> PyResult<Vec<usize>> {
    if axis.is_none() {
        return Ok((0..ndim).collect());
    }
    let several: Vec<usize> = match axis.cast::<PyTuple>() {
        Err(_) => vec![axis_of(axis, ndim)?],
        Ok(several) => several
            .iter()
            .map(|axis| axis_of(&axis, ndim))
            .collect::<PyResult<_>>()?,
    };
    if ndim == 0 && several.len() == 1 {
        return Ok(Vec::new());
    }
    let mut axes = several;
    axes.sort_unstable();
    let twice = axes.windows(2).any(|pair| pair[0] == pair[1]);
    if twice {
        return Err(PyValueError::new_err("duplicate value in 'axis'"));
    }
    Ok(axes)
}

/// The number of one axis. For a scalar, `axis` must be 0 or -1.
fn axis_of(axis: &Bound<'_, PyAny>, ndim: usize) -> PyResult<usize> {
    let axes = ndim.max(1).cast_signed();
    match axis.extract::<isize>() {
        Ok(_) if is_bool(axis)? => return Err(not_an_axis(axis)),
        Ok(number) if (-axes..axes).contains(&number) => {
            return Ok(number.rem_euclid(axes).cast_unsigned());
        }
        Err(error) if !error.is_instance_of::<PyOverflowError>(axis.py()) => {
            return Err(not_an_axis(axis));
        }
        _ => {}
    }
    let raised = PyModule::import(axis.py(), "numpy.exceptions")?.getattr("AxisError")?;
    Err(PyErr::from_value(raised.call1((axis, ndim))?))
}

pub(crate) fn not_an_axis(axis: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("axis: {} is not an integer", Shown(axis)))
}

/// Whether an argument is a Python or NumPy bool. NumPy 2 has renamed `bool_` to `bool`.
fn is_bool(argument: &Bound<'_, PyAny>) -> PyResult<bool> {
    if argument.is_exact_instance_of::<PyInt>() {
        return Ok(false);
    }
    let name = argument.get_type().name()?;
    Ok(name == "bool" || name == "bool_")
}

/// The `repr` of an argument.
struct Shown<'a, 'py>(&'a Bound<'py, PyAny>);

impl std::fmt::Display for Shown<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.repr() {
            Ok(text) => f.write_str(&text.to_string_lossy()),
            Err(_) => f.write_str("it"),
        }
    }
}

/// Whether reduced axes are kept with length 1.
pub(crate) fn keepdims_of(keepdims: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(keepdims) = keepdims.cast::<PyBool>() {
        return Ok(keepdims.is_true());
    }
    if is_bool(keepdims)? {
        return keepdims.is_truthy();
    }
    let message = format!("keepdims: {} is not a bool", Shown(keepdims));
    Err(PyTypeError::new_err(message))
}

/// The shape of a result.
pub(crate) fn shape_of_result(shape: &[usize], axes: &[usize], keeps_axes: bool) -> Vec<usize> {
    let lengths = shape.iter().enumerate().filter_map(|(axis, &length)| {
        let is_kept = !axes.contains(&axis);
        (is_kept || keeps_axes).then_some(if is_kept { length } else { 1 })
    });
    lengths.collect()
}

/// Checks that the argument `out` has the shape of the result. Returns the array, or `None` if `out` is None.
pub(crate) fn place_of<'py>(
    out: &Bound<'py, PyAny>,
    shape: &[usize],
) -> PyResult<Option<Bound<'py, PyUntypedArray>>> {
    if out.is_none() {
        return Ok(None);
    }
    let Ok(array) = out.cast::<PyUntypedArray>() else {
        let class = out.get_type();
        let message = format!("out is a {}, not an ndarray", class.name()?);
        return Err(PyTypeError::new_err(message));
    };
    if array.shape() != shape {
        let result = PyTuple::new(out.py(), shape)?;
        let message = format!(
            "out has the shape {}, but the result has {result}",
            out.getattr("shape")?
        );
        return Err(PyValueError::new_err(message));
    }
    if !out.getattr("flags")?.getattr("writeable")?.is_truthy()? {
        return Err(PyValueError::new_err("out is read-only"));
    }
    Ok(Some(array.clone()))
}

/// The type that a caller requests, if any.
pub(crate) fn type_of<'py>(
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyArrayDescr>>> {
    if dtype.is_none() {
        return Ok(None);
    }
    let found = PyArrayDescr::new(dtype.py(), dtype);
    let raised = |error: PyErr| PyTypeError::new_err(format!("dtype: {}", error.value(dtype.py())));
    found.map(Some).map_err(raised)
}

/// The kind of elements of a requested type.
pub(crate) fn kind_of_type(dtype: &Bound<'_, PyArrayDescr>) -> PyResult<Kind> {
    Kind::of_numbers(dtype).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "dtype: treefold does not reduce elements of type {dtype}"
        ))
    })
}
