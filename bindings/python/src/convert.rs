//! Converts elements of any type to the types that are reduced.

use bytemuck::Pod;
use num_complex::Complex;
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Runs code in which `$T` is the type of a kind. The kind must not be half precision or bool, which are computed in other types.
macro_rules! with_kind {
    ($kind:expr, $T:ident => $body:expr) => {
        $crate::convert::with_kind!($kind, $T => $body, [
            F64: f64, F32: f32, C128: num_complex::Complex<f64>, C64: num_complex::Complex<f32>,
            I64: i64, U64: u64, I32: i32, U32: u32, I16: i16, U16: u16, I8: i8, U8: u8
        ])
    };
    ($kind:expr, $T:ident => $body:expr, [$($name:ident: $element:ty),+]) => {
        match $kind {
            $($crate::convert::Kind::$name => {
                type $T = $element;
                $body
            })+
            kind => unreachable!("treefold does not compute in {kind:?}"),
        }
    };
}
pub(crate) use with_kind;

/// Runs code with the type in which exact statistics of a kind are computed.
macro_rules! with_exact_kind {
    ($kind:expr, $T:ident => $body:expr) => {
        $crate::convert::with_kind!($kind, $T => $body, [
            F64: f64, F32: f32, C128: num_complex::Complex<f64>, C64: num_complex::Complex<f32>, I64: i64, U64: u64
        ])
    };
}
pub(crate) use with_exact_kind;

/// An element type of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
    C64,
    C128,
}

impl Kind {
    /// The kind of a dtype's elements; times are integers.
    pub(crate) fn of(dtype: &Bound<'_, PyArrayDescr>) -> Option<Self> {
        let (letter, bytes) = (dtype.kind(), dtype.itemsize());
        Some(match (letter, bytes) {
            (b'b', 1) => Self::Bool,
            (b'i', 1) => Self::I8,
            (b'i', 2) => Self::I16,
            (b'i', 4) => Self::I32,
            (b'i' | b'm' | b'M', 8) => Self::I64,
            (b'u', 1) => Self::U8,
            (b'u', 2) => Self::U16,
            (b'u', 4) => Self::U32,
            (b'u', 8) => Self::U64,
            (b'f', 2) => Self::F16,
            (b'f', 4) => Self::F32,
            (b'f', 8) => Self::F64,
            (b'c', 8) => Self::C64,
            (b'c', 16) => Self::C128,
            _ => return None,
        })
    }

    /// The kind of an argument's elements; an error that names the argument if its elements have no kind.
    pub(crate) fn of_elements(array: &Bound<'_, PyUntypedArray>, name: &str) -> PyResult<Self> {
        let dtype = array.dtype();
        Self::of(&dtype).ok_or_else(|| {
            PyTypeError::new_err(format!(
                "{name} has elements of type {dtype}, which treefold does not reduce"
            ))
        })
    }

    /// The kind of a dtype of numbers; times have none.
    pub(crate) fn of_numbers(dtype: &Bound<'_, PyArrayDescr>) -> Option<Self> {
        Self::of(dtype).filter(|_| !matches!(dtype.kind(), b'm' | b'M'))
    }

    /// NumPy's type of elements of this kind.
    pub(crate) fn dtype(self, py: Python<'_>) -> PyResult<Bound<'_, PyArrayDescr>> {
        match self {
            Self::Bool => Ok(numpy::dtype::<bool>(py)),
            Self::F16 => PyArrayDescr::new(py, "f2"),
            kind => with_kind!(kind, T => Ok(numpy::dtype::<T>(py))),
        }
    }

    /// Whether elements of this kind are integers or bools.
    pub(crate) fn is_integer(self) -> bool {
        self.is_short_integer() || matches!(self, Self::I64 | Self::U64)
    }

    /// The kind of sums and products: short integers have 64-bit results.
    pub(crate) fn widened(self) -> Self {
        match self {
            Self::U8 | Self::U16 | Self::U32 => Self::U64,
            short if short.is_short_integer() => Self::I64,
            own => own,
        }
    }

    pub(crate) fn is_complex(self) -> bool {
        matches!(self, Self::C64 | Self::C128)
    }

    /// The kind of an element's one or two parts.
    pub(crate) fn real(self) -> Self {
        match self {
            Self::C64 => Self::F32,
            Self::C128 => Self::F64,
            real => real,
        }
    }

    /// The size of an element, in bytes.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::C64 => 8,
            Self::C128 => 16,
        }
    }

    /// Whether elements are bools or integers of fewer than 64 bits.
    pub(crate) fn is_short_integer(self) -> bool {
        !matches!(
            self,
            Self::I64 | Self::U64 | Self::F16 | Self::F32 | Self::F64 | Self::C64 | Self::C128
        )
    }

    /// The size of an element's parts, in bytes.
    pub(crate) fn part_bytes(self) -> usize {
        self.real().bytes()
    }
}

/// A type to which elements of all types can be converted. Conversions are NumPy's casts, except that floats beyond the range of an integer
/// type become its limits, and NaN becomes 0.
pub(crate) trait Target: Pod {
    const KIND: Kind;

    /// Converts elements of a kind, whose bytes fill `words`.
    fn convert(kind: Kind, words: &[u64], into: &mut [Self]);
}

fn each<S: Pod, T>(words: &[u64], into: &mut [T], convert: impl Fn(S) -> T) {
    for (into, &value) in into.iter_mut().zip(bytemuck::cast_slice::<u64, S>(words)) {
        *into = convert(value);
    }
}

/// Converts a half to a float, exactly.
#[inline]
pub(crate) fn of_half(bits: u16) -> f32 {
    let (sign, magnitude) = (
        u32::from(bits & 0x8000) << 16,
        u32::from(bits & 0x7FFF) << 13,
    );
    // Multiplies by 2^112, because the exponents' biases differ by 112. This is right for subnormal halves, too.
    let scaled = f32::from_bits(magnitude) * f32::from_bits(0x7780_0000);
    let is_finite = bits & 0x7C00 != 0x7C00;
    let value = if is_finite {
        scaled.to_bits()
    } else {
        magnitude | 0x7F80_0000
    };
    f32::from_bits(sign | value)
}

/// Rounds a double to a half, ties to even.
pub(crate) fn to_half(value: f64) -> u16 {
    let bits = value.to_bits();
    let sign = u16::from(value.is_sign_negative()) << 15;
    let magnitude = f64::from_bits(bits & !(1 << 63));
    if value.is_nan() {
        return sign | 0x7E00;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7C00;
    }
    // Adding and subtracting a power of two rounds to a multiple of the half's last place, ties to even.
    let exponent = ((bits >> 52) & 0x7FF).max(1023 - 14);
    let unit = f64::from_bits((exponent + 42) << 52);
    let rounded = (magnitude + unit) - unit;
    // The rounded value as a multiple of the half's last place; the product is exact.
    let exponent = ((rounded.to_bits() >> 52) & 0x7FF).max(1023 - 14);
    let units = rounded * f64::from_bits((1023 + 10 + 1023 - exponent) << 52);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an integer of at most 2048, and at most 30 exponents"
    )]
    let (units, binades) = (units as u16, (exponent - (1023 - 14)) as u16);
    // The implicit bit of a normal number adds 1 to the exponent.
    sign | ((binades << 10) + units)
}

macro_rules! targets {
    ($($into:ty, $kind:ident);+) => {$(
        impl Target for $into {
            const KIND: Kind = Kind::$kind;

            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                clippy::cast_possible_wrap,
                clippy::cast_lossless,
                clippy::unnecessary_cast,
                reason = "the caller requested these casts"
            )]
            fn convert(kind: Kind, words: &[u64], into: &mut [Self]) {
                match kind {
                    // Any byte but 0 is true.
                    Kind::Bool => each(words, into, |x: u8| u8::from(x != 0) as $into),
                    Kind::U8 => each(words, into, |x: u8| x as $into),
                    Kind::I8 => each(words, into, |x: i8| x as $into),
                    Kind::I16 => each(words, into, |x: i16| x as $into),
                    Kind::I32 => each(words, into, |x: i32| x as $into),
                    Kind::I64 => each(words, into, |x: i64| x as $into),
                    Kind::U16 => each(words, into, |x: u16| x as $into),
                    Kind::U32 => each(words, into, |x: u32| x as $into),
                    Kind::U64 => each(words, into, |x: u64| x as $into),
                    Kind::F16 => each(words, into, |x: u16| of_half(x) as $into),
                    Kind::F32 => each(words, into, |x: f32| x as $into),
                    Kind::F64 => each(words, into, |x: f64| x as $into),
                    Kind::C64 => each(words, into, |x: Complex<f32>| x.re as $into),
                    Kind::C128 => each(words, into, |x: Complex<f64>| x.re as $into),
                }
            }
        }
    )+};
}

targets!(
    f32, F32; f64, F64; i8, I8; i16, I16; i32, I32; i64, I64; u8, U8; u16, U16; u32, U32; u64, U64
);

macro_rules! complex_targets {
    ($($part:ty, $kind:ident);+) => {$(
        impl Target for Complex<$part> {
            const KIND: Kind = Kind::$kind;

            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_lossless,
                clippy::unnecessary_cast,
                reason = "the caller requested these casts"
            )]
            fn convert(kind: Kind, words: &[u64], into: &mut [Self]) {
                let of = |re, im| Self { re, im };
                match kind {
                    Kind::C64 => each(words, into, |x: Complex<f32>| of(x.re as $part, x.im as $part)),
                    Kind::C128 => each(words, into, |x: Complex<f64>| of(x.re as $part, x.im as $part)),
                    kind => {
                        // Converts groups of elements, so that the compiler vectorises the loops.
                        let mut parts = [0.0; 64];
                        let words = words.chunks(8 * kind.bytes());
                        for (into, words) in into.chunks_mut(64).zip(words) {
                            let parts = &mut parts[..into.len()];
                            <$part>::convert(kind, words, parts);
                            for (into, &mut part) in into.iter_mut().zip(parts) {
                                *into = of(part, 0.0);
                            }
                        }
                    }
                }
            }
        }
    )+};
}

complex_targets!(f32, C64; f64, C128);

/// The number of bools that are true: for NumPy, any byte but 0 is true.
pub(crate) fn trues(bools: &[u8]) -> i64 {
    /// The number of one-byte counters that are incremented in parallel.
    const BESIDE: usize = 64;
    let (beside, rest) = bools.as_chunks::<BESIDE>();
    let mut all = rest.iter().fold(0, |all, &byte| all + i64::from(byte != 0));
    for part in beside.chunks(usize::from(u8::MAX)) {
        let mut counts = [0; BESIDE];
        for bytes in part {
            for (count, &byte) in counts.iter_mut().zip(bytes) {
                *count += byte.min(1);
            }
        }
        all = counts
            .iter()
            .fold(all, |all, &count| all + i64::from(count));
    }
    all
}
