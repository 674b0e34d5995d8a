//! Reduces arrays along any axes, with a single code path for all statistics, whether in tree order or exact.
//!
//! A call parses its arguments, chooses the arithmetic type, reduces the leaves of each result, finishes the results, and converts them as
//! the caller requested. Rare cases, such as results of another array class, are handled in Python.

use bytemuck::Zeroable;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

use crate::arguments::{Items, axes_of, keepdims_of, place_of, python, shape_of_result};
use crate::call::{Call, Counts};
use crate::convert::{Kind, with_exact_kind, with_kind};
use crate::element::{Item, Op};
use crate::fold::{are_ordinary, scalar, zeroed, zeros};
use crate::in_order::{distances, of_items, of_pairs};
use crate::pool::Workers;
use crate::states::Statistics;
use crate::statistic::{Finish, Leaf, Statistic, types_of};
use crate::strided::Tile;

/// Computes a statistic of the items of `x` that `mask` selects, along axes, by NumPy's conventions. With `y`, an array of the same shape,
/// the statistic is of pairs of items. `mean` has the means for variances, if the caller knows them.
#[pyfunction]
#[pyo3(signature = (name, is_exact, x, axis, dtype, out, keepdims, initial, mask, skips_nan=false, ddof=0.0, mean=None, y=None, lanes=1))]
#[expect(
    clippy::too_many_arguments,
    reason = "NumPy's functions have these arguments"
)]
pub(crate) fn reduce<'py>(
    name: &str,
    is_exact: bool,
    x: &Bound<'py, PyAny>,
    axis: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    out: &Bound<'py, PyAny>,
    keepdims: &Bound<'py, PyAny>,
    initial: Option<Bound<'py, PyAny>>,
    mask: &Bound<'py, PyAny>,
    skips_nan: bool,
    ddof: f64,
    mean: Option<&Bound<'py, PyAny>>,
    y: Option<Bound<'py, PyUntypedArray>>,
    lanes: usize,
) -> PyResult<Py<PyAny>> {
    let statistic = Statistic::named(name)?;
    let mut items = Items::of(x, "x")?;
    items.keep(mask)?;
    items.skips_nan = skips_nan;
    let axes = axes_of(axis, items.array.ndim())?;
    let shape = shape_of_result(items.array.shape(), &axes, keepdims_of(keepdims)?);
    let out = place_of(out, &shape)?;
    let types = types_of(statistic, is_exact, &items, dtype, out.as_ref())?;
    let call = Call {
        y,
        out,
        initial,
        ddof,
        mean,
        lanes,
        ..Call::of(statistic, is_exact, items, axes, shape, types)
    };
    call.run(x.py())
}

impl<'py> Call<'_, 'py> {
    pub(crate) fn run(mut self, py: Python<'py>) -> PyResult<Py<PyAny>> {
        if self.types.chosen == Kind::Bool {
            self.become_logical()?;
        }
        if self.is_exact {
            return with_exact_kind!(self.types.work, T => self.run_exact::<T>(py));
        }
        with_kind!(self.types.work, T => self.run_in_order::<T>(py))
    }

    /// Turns a reduction to bools into a logical reduction: a sum becomes `any`, and a product becomes `all`.
    fn become_logical(&mut self) -> PyResult<()> {
        let (op, empty) = match self.statistic.op {
            Op::Sum => (Op::Max, Some(false)),
            Op::Product => (Op::Min, Some(true)),
            op => (op, None),
        };
        self.statistic.op = op;
        let array = &self.items.array;
        if self.items.kind != Kind::Bool {
            let truth = python(array.py(), "truth")?.call1((array, self.items.drops_nan()))?;
            self.items.array = truth.cast_into()?;
            self.items.kind = Kind::Bool;
        }
        if let (None, Some(empty)) = (&self.initial, empty) {
            self.initial = Some(
                PyBool::new(self.items.array.py(), empty)
                    .to_owned()
                    .into_any(),
            );
        }
        Ok(())
    }

    fn run_in_order<T: Item>(&self, py: Python<'py>) -> PyResult<Py<PyAny>> {
        let op = self.statistic.op;
        let in_type = |results: &mut [T]| match self.statistic.leaf {
            Leaf::Value => self.values::<T>(op, self.initial()?, results),
            Leaf::ConjugateProduct => self.leaves(
                op,
                None,
                &of_pairs(|x: T, y| x.conjugated().times(y)),
                results,
            ),
            _ => match self.dot::<T>(results)? {
                Some(counts) => Ok(counts),
                None => self.leaves(op, None, &of_pairs(T::times), results),
            },
        };
        let in_reals = |results: &mut [T::Real]| match self.statistic.leaf {
            Leaf::Magnitude => self.leaves(op, None, &of_items(T::magnitude), results),
            Leaf::Square => match self.dot::<T::Real>(results)? {
                Some(counts) => Ok(counts),
                None => {
                    let square = |x: T| x.squared_distance(T::zeroed());
                    self.leaves(op, None, &of_items(square), results)
                }
            },
            _ => {
                let means = self.means::<T>(results.len())?;
                self.leaves(op, None, &distances(&means), results)
            }
        };
        if self.statistic.leaf.is_real() {
            self.made::<T, _>(py, in_reals)
        } else {
            self.made::<T, _>(py, in_type)
        }
    }

    fn run_exact<T: Statistics<Real: Item>>(&self, py: Python<'py>) -> PyResult<Py<PyAny>> {
        if !self.statistic.leaf.is_real() {
            return self.made::<T, _>(py, |results| self.exact::<T>(results));
        }
        self.made::<T, _>(py, |results| {
            let mut values = zeroed::<T>(results.len())?;
            let counts = self.exact(&mut values)?;
            for (result, value) in results.iter_mut().zip(values) {
                *result = value.real();
            }
            Ok(counts)
        })
    }

    /// Finishes and converts the results that `write` writes, and returns them as the caller requested.
    fn made<T: Item, L: Item>(
        &self,
        py: Python<'py>,
        write: impl FnOnce(&mut [L]) -> PyResult<Counts>,
    ) -> PyResult<Py<PyAny>> {
        let is_real = self.statistic.leaf.is_real() && self.items.kind.is_complex();
        let chosen = if is_real {
            self.types.chosen.real()
        } else {
            self.types.chosen
        };
        let divides_later = self.statistic.finish == Finish::Mean && L::KIND.is_integer();
        let is_plain =
            L::KIND == chosen && self.out.is_none() && self.items.is_plain() && !divides_later;
        let write = |results: &mut [L]| {
            // Results are finished in the floating-point environment of reductions.
            let _environment = Workers::of(0)?;
            let counts = write(results)?;
            self.tell::<T, L>(py, results)?;
            self.finish(py, &counts, results)?;
            PyResult::Ok(counts)
        };
        if is_plain && self.shape.is_empty() {
            let mut result = [L::zeroed()];
            write(&mut result)?;
            return scalar(py, result[0]);
        }
        let array = zeros::<L>(py, &self.shape)?;
        let counts = write(array.try_readwrite()?.as_slice_mut()?)?;
        if is_plain {
            return Ok(array.into_any().unbind());
        }
        let wraps = !matches!(self.statistic.name, "prod" | "var");
        let delivered = python(py, "delivered")?.call1((
            array,
            chosen.dtype(py)?,
            self.items.unit.as_ref(),
            self.items.owner.as_ref().filter(|_| wraps),
            PyTuple::new(py, &self.axes)?,
            divides_later
                .then(|| counts.to_python(py, &self.shape))
                .transpose()?,
            self.out.as_ref(),
        ))?;
        Ok(delivered.unbind())
    }

    /// Computes the statistic from the reduced leaves.
    fn finish<L: Item>(&self, py: Python<'_>, counts: &Counts, results: &mut [L]) -> PyResult<()> {
        if self.is_exact {
            return Ok(());
        }
        let finish = self.statistic.finish;
        let warn = |message: &str| python(py, "warn")?.call1((message,)).map(drop);
        let is_any = |least: f64| match counts {
            Counts::All(items) => *items as f64 <= least,
            Counts::Each(counts) => counts.iter().any(|&count| count as f64 <= least),
        };
        let is_extreme = matches!(self.statistic.op, Op::Min | Op::Max);
        if is_extreme && self.initial.is_none() && self.items.drops_nan() && is_any(0.0) {
            warn("All-NaN slice encountered")?;
        }
        if finish == Finish::Mean && is_any(0.0) {
            if self.items.skips_nan {
                warn("Mean of empty slice")?;
            } else {
                warn("Mean of empty slice.")?;
                let division = if self.shape.is_empty() {
                    "scalar divide"
                } else {
                    "divide"
                };
                python(py, "float_error")?.call1(("invalid", division))?;
            }
        }
        let is_spread = matches!(finish, Finish::Variance | Finish::Deviation);
        if is_spread && is_any(self.ddof) {
            warn("Degrees of freedom <= 0 for slice.")?;
        }
        if finish == Finish::Nothing || L::KIND.is_integer() {
            return Ok(());
        }
        for (number, result) in results.iter_mut().enumerate() {
            let left = counts.of(number) - if is_spread { self.ddof } else { 0.0 };
            let value = match finish {
                Finish::Root => *result,
                Finish::Nothing | Finish::Mean => result.over(left),
                _ if left <= 0.0 && self.items.skips_nan => L::zeroed().over(0.0),
                _ if left < 0.0 => result.over(0.0),
                _ => result.over(left),
            };
            let has_root = matches!(finish, Finish::Root | Finish::Deviation);
            let value = if has_root { value.root() } else { value };
            *result = canonical(value);
        }
        Ok(())
    }

    /// The means for variances: the given means, or the means of the items.
    fn means<T: Item>(&self, results: usize) -> PyResult<Vec<T>> {
        let py = self.items.array.py();
        let mut means = zeroed::<T>(results)?;
        if let Some(mean) = self.mean {
            let shape = shape_of_result(self.items.array.shape(), &self.axes, true);
            let arguments = (mean, PyTuple::new(py, shape)?, self.types.work.dtype(py)?);
            let mean = python(py, "means")?.call1(arguments)?;
            let mean = mean.cast::<PyArrayDyn<T>>()?.try_readonly()?;
            means.copy_from_slice(mean.as_slice()?);
            return Ok(means);
        }
        let counts = self.values(Op::Sum, None, &mut means)?;
        for (number, mean) in means.iter_mut().enumerate() {
            *mean = mean.over(counts.of(number));
        }
        Ok(means)
    }

    /// `initial`, converted to the arithmetic type.
    pub(crate) fn initial<L: Item>(&self) -> PyResult<Option<L>> {
        let Some(initial) = &self.initial else {
            return Ok(None);
        };
        let py = initial.py();
        let dtypes = (self.types.chosen.dtype(py)?, self.types.work.dtype(py)?);
        let unit = self.items.unit.as_ref();
        let arguments = (initial, dtypes.0, dtypes.1, unit, self.is_exact);
        let array = python(py, "initial")?.call1(arguments)?;
        let array = array.cast::<PyArrayDyn<L>>()?.try_readonly()?;
        Ok(array.as_slice()?.first().copied())
    }

    /// Warns or raises, according to `numpy.errstate`, if sums overflowed or were invalid.
    pub(crate) fn tell<T: Item, L: Item>(&self, py: Python<'py>, results: &[L]) -> PyResult<()> {
        let is_sum = matches!(self.statistic.op, Op::Sum | Op::Product);
        let is_quiet =
            self.statistic.finish >= Finish::Variance || self.statistic.name == "average";
        let tells = is_sum && !(self.is_exact && is_quiet);
        if are_ordinary(results) || !tells || !python(py, "heeds_errors")?.call0()?.is_truthy()? {
            return Ok(());
        }
        if self
            .initial::<L>()?
            .is_some_and(|initial| !initial.is_ordinary())
        {
            return Ok(());
        }
        let greater = T::Real::operator(Op::Max).expect("real numbers have an order");
        let magnitude = |_: &Tile<'_>, x: &[T], y: &[T], into: &mut [T::Real]| {
            for (at, into) in into.iter_mut().enumerate() {
                let other = y.get(at).map_or(T::Real::zeroed(), |&y| y.magnitude());
                *into = greater.combine(x[at].magnitude(), other);
            }
        };
        let mut greatest = zeroed::<T::Real>(results.len())?;
        self.leaves::<T, T::Real>(Op::Max, Some(T::Real::zeroed()), &magnitude, &mut greatest)?;
        let zero = T::Real::zeroed();
        let pairs = || {
            results
                .iter()
                .zip(&greatest)
                .filter(|(_, most)| !most.is_same(&zero))
        };
        let name = self.reported;
        // A result whose items are all skipped or zero cannot have overflowed, so `pairs` omits it.
        if pairs().any(|(result, most)| !result.is_ordinary() && most.is_ordinary()) {
            python(py, "float_error")?.call1(("over", name))?;
        }
        if pairs().any(|(result, most)| result.has_nan() && !most.has_nan()) {
            python(py, "float_error")?.call1(("invalid", name))?;
        }
        Ok(())
    }
}

/// Replaces any NaN by the canonical NaN.
fn canonical<L: Item>(value: L) -> L {
    L::operator(Op::Sum).map_or(value, |operator| operator.canonical(value))
}
