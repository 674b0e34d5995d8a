//! Defines the statistics by name, and their arithmetic types.

use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::arguments::{Items, kind_of_type, python, type_of};
use crate::convert::Kind;
use crate::element::Op;

/// What is computed from each item before the reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    Value,
    Magnitude,
    /// The squared distance from the mean.
    Distance,
    Square,
    /// The product with the other array's item.
    Product,
    ConjugateProduct,
}

impl Leaf {
    /// Whether the result is real even for complex items.
    pub(crate) fn is_real(self) -> bool {
        matches!(self, Self::Magnitude | Self::Distance | Self::Square)
    }
}

/// How a result is finished after the reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Finish {
    Nothing,
    /// Divided by the number of items.
    Mean,
    /// Divided by the number of items minus `ddof`.
    Variance,
    Deviation,
    Root,
}

/// A statistic: its leaves, the operator, and how the result is finished.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statistic {
    pub(crate) name: &'static str,
    pub(crate) op: Op,
    pub(crate) leaf: Leaf,
    pub(crate) finish: Finish,
}

const STATISTICS: [Statistic; 14] = {
    const fn of(name: &'static str, op: Op, leaf: Leaf, finish: Finish) -> Statistic {
        Statistic {
            name,
            op,
            leaf,
            finish,
        }
    }
    [
        of("sum", Op::Sum, Leaf::Value, Finish::Nothing),
        of("prod", Op::Product, Leaf::Value, Finish::Nothing),
        of("min", Op::Min, Leaf::Value, Finish::Nothing),
        of("max", Op::Max, Leaf::Value, Finish::Nothing),
        of("mean", Op::Sum, Leaf::Value, Finish::Mean),
        of("var", Op::Sum, Leaf::Distance, Finish::Variance),
        of("std", Op::Sum, Leaf::Distance, Finish::Deviation),
        of("norm", Op::Sum, Leaf::Square, Finish::Root),
        of(
            "sum of magnitudes",
            Op::Sum,
            Leaf::Magnitude,
            Finish::Nothing,
        ),
        of("least magnitude", Op::Min, Leaf::Magnitude, Finish::Nothing),
        of(
            "greatest magnitude",
            Op::Max,
            Leaf::Magnitude,
            Finish::Nothing,
        ),
        of("product", Op::Sum, Leaf::Product, Finish::Nothing),
        of(
            "conjugate_product",
            Op::Sum,
            Leaf::ConjugateProduct,
            Finish::Nothing,
        ),
        // Used only for exact weighted means.
        of("average", Op::Sum, Leaf::Product, Finish::Mean),
    ]
};

impl Statistic {
    pub(crate) fn named(name: &str) -> PyResult<Self> {
        let found = STATISTICS.iter().find(|known| known.name == name);
        let unknown = || PyValueError::new_err(format!("statistic: `{name}` is not known"));
        found.copied().ok_or_else(unknown)
    }

    /// Whether results have the items' type, so that integers are reduced as integers.
    fn is_of_items(self) -> bool {
        self.leaf == Leaf::Value && self.finish == Finish::Nothing
    }
}

/// The types of a call. The arithmetic type differs from the chosen type for halves, which are added as longer floats,
/// and for bools, which are added as bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Types {
    pub(crate) chosen: Kind,
    pub(crate) work: Kind,
    /// Whether items are rounded to halves first.
    pub(crate) halves: bool,
}

impl Types {
    pub(crate) fn of(chosen: Kind, is_exact: bool, own: Kind) -> Self {
        let work = match chosen {
            Kind::F16 if is_exact => Kind::F64,
            Kind::F16 => Kind::F32,
            Kind::Bool => Kind::U8,
            chosen => chosen,
        };
        // Halves need no rounding before an exact sum, because doubles represent them.
        let halves = chosen == Kind::F16 && !(is_exact && own == Kind::F16);
        Self {
            chosen,
            work,
            halves,
        }
    }
}

/// Determines the types of a call from its statistic, its items and the requested type.
pub(crate) fn types_of(
    statistic: Statistic,
    is_exact: bool,
    items: &Items<'_>,
    dtype: &Bound<'_, PyAny>,
    out: Option<&Bound<'_, PyUntypedArray>>,
) -> PyResult<Types> {
    let (own, asked) = (items.kind, type_of(dtype)?);
    if let Some(unit) = &items.unit {
        return types_of_times(statistic, is_exact, unit, asked);
    }
    let is_sum = statistic.is_of_items();
    let default = if !own.is_integer() {
        own
    } else if is_exact && statistic.name == "sum" {
        own.widened()
    } else if !is_sum || is_exact {
        Kind::F64
    } else if matches!(statistic.op, Op::Sum | Op::Product) {
        own.widened()
    } else {
        own
    };
    let chosen = match (asked, out) {
        (Some(asked), _) => kind_of_type(&asked)?,
        (None, Some(out)) if is_sum || !own.is_integer() => {
            let kind = kind_of_type(&out.dtype())?;
            // The variance of complex items is real, but is computed with complex numbers.
            match (own.is_complex() && statistic.leaf.is_real(), kind) {
                (true, Kind::F16 | Kind::F32) => Kind::C64,
                (true, Kind::F64) => Kind::C128,
                _ => kind,
            }
        }
        _ => default,
    };
    if own.is_complex() && !chosen.is_complex() {
        python(dtype.py(), "warn_of_complex")?.call0()?;
    }
    let is_ordered = matches!(statistic.op, Op::Min | Op::Max) && is_sum;
    if is_ordered && (own.is_complex() || chosen.is_complex()) {
        let message = format!(
            "x has elements of type {}, for which {} is not defined: complex numbers have no order",
            if own.is_complex() { own } else { chosen }.dtype(dtype.py())?,
            statistic.name
        );
        return Err(PyTypeError::new_err(message));
    }
    let is_integers = is_exact
        && statistic.name == "sum"
        && own.is_integer()
        && (chosen == default || chosen == Kind::I64 && own != Kind::U64);
    if chosen.is_integer() && (is_exact && !is_integers || statistic.leaf.is_real()) {
        let chosen = chosen.dtype(dtype.py())?;
        let message = if is_exact && statistic.name == "sum" && own.is_integer() {
            format!(
                "dtype: exact sums of these integers have type {}, not {chosen}",
                default.dtype(dtype.py())?
            )
        } else if is_exact {
            format!("dtype: exact statistics cannot have the type {chosen}")
        } else {
            format!("dtype: variances cannot have the type {chosen}")
        };
        return Err(PyTypeError::new_err(message));
    }
    Ok(Types::of(chosen, is_exact, own))
}

/// The types for times, which are integers with a unit.
fn types_of_times(
    statistic: Statistic,
    is_exact: bool,
    unit: &Bound<'_, PyArrayDescr>,
    asked: Option<Bound<'_, PyArrayDescr>>,
) -> PyResult<Types> {
    if is_exact {
        let message = format!("x has elements of type {unit}, which have no exact sums");
        return Err(PyTypeError::new_err(message));
    }
    let is_defined = match statistic.name {
        "min" | "max" => true,
        "sum" | "mean" => unit.kind() == b'm',
        _ => false,
    };
    if !is_defined {
        let name = statistic.name;
        let message = format!("x has elements of type {unit}, for which {name} is not defined");
        return Err(PyTypeError::new_err(message));
    }
    if let Some(asked) = asked.filter(|asked| !asked.is_equiv_to(unit)) {
        let message = format!("dtype: elements of type {unit} cannot be reduced as {asked}");
        return Err(PyTypeError::new_err(message));
    }
    Ok(Types::of(Kind::I64, false, Kind::I64))
}
