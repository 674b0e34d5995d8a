//! The element types that have codes in `treefold.h`, and macros that choose a Rust type by such a code.

use bytemuck::Pod;
use num_complex::Complex;
use treefold::{Max, Min, Product, Sum};

use crate::failure::{Code, Failure};
use crate::operator::{Builtin, Chosen};

/// The types of `treefold.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "treefold.h describes them")]
pub enum ElementType {
    F32,
    F64,
    C32,
    C64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl ElementType {
    /// All types, in the order of their codes.
    pub const ALL: [Self; 12] = [
        Self::F32,
        Self::F64,
        Self::C32,
        Self::C64,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
    ];

    /// Whether it is a type of real numbers.
    #[must_use]
    pub fn is_real(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Whether it is a type of integers.
    #[must_use]
    pub fn is_integer(self) -> bool {
        use ElementType::{C32, C64, F32, F64};
        !matches!(self, F32 | F64 | C32 | C64)
    }

    /// # Errors
    /// The type is not one of real numbers.
    pub fn check_real(self) -> Result<(), Failure> {
        if self.is_real() {
            return Ok(());
        }
        Err(self.is_not_real())
    }

    /// The failure of an argument that must be a type of real numbers.
    #[cold]
    pub fn is_not_real(self) -> Failure {
        let message =
            format!("`type`: it must be TREEFOLD_F32 or TREEFOLD_F64 here, not TREEFOLD_{self:?}");
        Failure::new(Code::Unsupported, message)
    }

    /// The type with this code. The first code is 1.
    ///
    /// # Errors
    /// There is no such code.
    pub fn of_code(code: i32) -> Result<Self, Failure> {
        Self::of_argument("type", code)
    }

    /// Like [`of_code`](Self::of_code), for the argument called `name`.
    ///
    /// # Errors
    /// There is no such code.
    pub fn of_argument(name: &str, code: i32) -> Result<Self, Failure> {
        let index = usize::try_from(code)
            .ok()
            .and_then(|code| code.checked_sub(1));
        let known = index.and_then(|index| Self::ALL.get(index)).copied();
        known.ok_or_else(|| {
            let reason = format_args!("it must be one of TREEFOLD_F32 to TREEFOLD_U64, not {code}");
            Failure::argument(name, reason)
        })
    }
}

/// A Rust type that has a code in `treefold.h`.
pub trait Element: Pod + Send + Sync {
    /// Returns the operator on this type. Not inlined, since otherwise each crate that calls this function would compile it again.
    ///
    /// # Errors
    /// The operator is not defined for this type.
    fn operator(operator: Builtin) -> Result<Chosen<Self>, Failure>;
}

macro_rules! ordered {
    ($($element:ty),+) => {$(
        impl Element for $element {
            #[inline(never)]
            fn operator(operator: Builtin) -> Result<Chosen<Self>, Failure> {
                Ok(match operator {
                    Builtin::Sum => &Sum,
                    Builtin::Product => &Product,
                    Builtin::Min => &Min,
                    Builtin::Max => &Max,
                })
            }
        }
    )+};
}

ordered!(f32, f64, i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! unordered {
    ($($element:ty),+) => {$(
        impl Element for $element {
            #[inline(never)]
            fn operator(operator: Builtin) -> Result<Chosen<Self>, Failure> {
                match operator {
                    Builtin::Sum => Ok(&Sum),
                    Builtin::Product => Ok(&Product),
                    Builtin::Min | Builtin::Max => {
                        let message = "complex numbers have no minimum and no maximum";
                        Err(Failure::new(Code::Unsupported, message))
                    }
                }
            }
        }
    )+};
}

unordered!(Complex<f32>, Complex<f64>);

/// Evaluates `$body`, in which `$element` is the Rust type of an [`ElementType`].
#[macro_export]
macro_rules! by_type {
    ($code:expr, $element:ident => $body:expr) => {
        match $code {
            $crate::element::ElementType::F32 => $crate::with_type!(f32, $element, $body),
            $crate::element::ElementType::F64 => $crate::with_type!(f64, $element, $body),
            $crate::element::ElementType::C32 => {
                $crate::with_type!(num_complex::Complex<f32>, $element, $body)
            }
            $crate::element::ElementType::C64 => {
                $crate::with_type!(num_complex::Complex<f64>, $element, $body)
            }
            $crate::element::ElementType::I8 => $crate::with_type!(i8, $element, $body),
            $crate::element::ElementType::I16 => $crate::with_type!(i16, $element, $body),
            $crate::element::ElementType::I32 => $crate::with_type!(i32, $element, $body),
            $crate::element::ElementType::I64 => $crate::with_type!(i64, $element, $body),
            $crate::element::ElementType::U8 => $crate::with_type!(u8, $element, $body),
            $crate::element::ElementType::U16 => $crate::with_type!(u16, $element, $body),
            $crate::element::ElementType::U32 => $crate::with_type!(u32, $element, $body),
            $crate::element::ElementType::U64 => $crate::with_type!(u64, $element, $body),
        }
    };
}

/// Evaluates `$body`, in which `$integer` is the Rust type of an integer [`ElementType`]; for all other types, `$other`.
#[macro_export]
macro_rules! by_integer {
    ($code:expr, $integer:ident => $body:expr, else $other:expr) => {
        match $code {
            $crate::element::ElementType::I8 => $crate::with_type!(i8, $integer, $body),
            $crate::element::ElementType::I16 => $crate::with_type!(i16, $integer, $body),
            $crate::element::ElementType::I32 => $crate::with_type!(i32, $integer, $body),
            $crate::element::ElementType::I64 => $crate::with_type!(i64, $integer, $body),
            $crate::element::ElementType::U8 => $crate::with_type!(u8, $integer, $body),
            $crate::element::ElementType::U16 => $crate::with_type!(u16, $integer, $body),
            $crate::element::ElementType::U32 => $crate::with_type!(u32, $integer, $body),
            $crate::element::ElementType::U64 => $crate::with_type!(u64, $integer, $body),
            _ => $other,
        }
    };
}

/// Evaluates `$body`, in which `$real` is `f32` or `f64`; for all other types, returns an error.
#[macro_export]
macro_rules! by_real {
    ($code:expr, $real:ident => $body:expr) => {
        match $code {
            $crate::element::ElementType::F32 => $crate::with_type!(f32, $real, $body),
            $crate::element::ElementType::F64 => $crate::with_type!(f64, $real, $body),
            other => Err($crate::element::ElementType::is_not_real(other)),
        }
    };
}

/// One branch of [`by_type!`], or of [`by_integer!`].
#[doc(hidden)]
#[macro_export]
macro_rules! with_type {
    ($type:ty, $element:ident, $body:expr) => {{
        type $element = $type;
        $body
    }};
}
