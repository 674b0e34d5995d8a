//! What reductions of NumPy's own arrays are asked for: axes, types, and whether an array is one.

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyTuple};

use crate::convert::Kind;
use crate::strided::Memory;

/// Does the same with the type of arithmetic of this kind; `None` for halves and bool, which are the results of another type.
macro_rules! with_kind {
    ($kind:expr, $T:ident => $body:expr) => {
        match $kind {
            Kind::F64 => {
                type $T = f64;
                $body
            }
            Kind::F32 => {
                type $T = f32;
                $body
            }
            Kind::C128 => {
                type $T = num_complex::Complex<f64>;
                $body
            }
            Kind::C64 => {
                type $T = num_complex::Complex<f32>;
                $body
            }
            Kind::I64 => {
                type $T = i64;
                $body
            }
            Kind::U64 => {
                type $T = u64;
                $body
            }
            Kind::I32 => {
                type $T = i32;
                $body
            }
            Kind::U32 => {
                type $T = u32;
                $body
            }
            Kind::I16 => {
                type $T = i16;
                $body
            }
            Kind::U16 => {
                type $T = u16;
                $body
            }
            Kind::I8 => {
                type $T = i8;
                $body
            }
            Kind::U8 => {
                type $T = u8;
                $body
            }
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
