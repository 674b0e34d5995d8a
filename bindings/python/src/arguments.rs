//! What reductions of NumPy's own arrays are asked for: axes, types, and whether an array is one.

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyTuple};

use crate::convert::Kind;
use crate::strided::Memory;

/// Does the same with the type of arithmetic of this kind; `None` for halves and bool, which are the results of another type.
macro_rules! with_kind {
    ($kind:expr, $T:ident => $body:expr) => {
        $crate::arguments::with_kind!($kind, $T => $body, [
            F64: f64, F32: f32, C128: num_complex::Complex<f64>, C64: num_complex::Complex<f32>,
            I64: i64, U64: u64, I32: i32, U32: u32, I16: i16, U16: u16, I8: i8, U8: u8
        ])
    };
    ($kind:expr, $T:ident => $body:expr, [$($name:ident: $element:ty),+]) => {
        match $kind {
            $(Kind::$name => {
                type $T = $element;
                $body
            })+
            Kind::F16 | Kind::Bool => Ok(None),
        }
    };
}

pub(crate) use with_kind;

/// The axes to be reduced, ascending; `None` where the slower way finds what is wrong with them.
pub(crate) fn axes_of(axis: &Bound<'_, PyAny>, ndim: usize) -> Option<Vec<usize>> {
    let one = |axis: &Bound<'_, PyAny>| {
        if !axis.is_instance_of::<PyInt>() || axis.is_instance_of::<PyBool>() {
            return None;
        }
        let number: isize = axis.extract().ok()?;
        let ndim = ndim.cast_signed();
        let number = if number < 0 { number + ndim } else { number };
        (0..ndim)
            .contains(&number)
            .then_some(number.cast_unsigned())
    };
    if axis.is_none() {
        return Some((0..ndim).collect());
    }
    let Ok(several) = axis.cast::<PyTuple>() else {
        return Some(vec![one(axis)?]);
    };
    let mut axes: Vec<usize> = several
        .iter()
        .map(|axis| one(&axis))
        .collect::<Option<_>>()?;
    axes.sort_unstable();
    let are_distinct = axes
        .windows(2)
        .fold(true, |all, pair| all && pair[0] < pair[1]);
    are_distinct.then_some(axes)
}

/// A NumPy array of no other class, whose numbers are reduced.
pub(crate) fn plain<'a, 'py>(
    x: &'a Bound<'py, PyAny>,
) -> Option<(&'a Bound<'py, PyUntypedArray>, Memory)> {
    if !x.is_exact_instance_of::<PyUntypedArray>() {
        return None;
    }
    let array = x.cast::<PyUntypedArray>().ok()?;
    // Times have names of their own.
    let memory = Memory::of(array, 0).ok().filter(|_| !is_time(array))?;
    Some((array, memory))
}

fn is_time(array: &Bound<'_, PyUntypedArray>) -> bool {
    matches!(array.dtype().kind(), b'm' | b'M')
}

/// What a sum, a mean or a product of items is computed in; minima and maxima have the type of the items.
pub(crate) fn arithmetic(name: &str, own: Kind) -> Kind {
    match (name, own) {
        ("mean", Kind::I64 | Kind::U64) => Kind::F64,
        ("mean", own) if own.is_short_integer() => Kind::F64,
        ("sum" | "prod", Kind::U8 | Kind::U16 | Kind::U32) => Kind::U64,
        ("sum" | "prod", own) if own.is_short_integer() => Kind::I64,
        (_, own) => own,
    }
}
