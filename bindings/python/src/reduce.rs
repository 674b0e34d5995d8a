//! Reductions of arrays: one way for every statistic, in tree order or exact, along any axes of any array.
//!
//! A call describes its arguments, chooses the type of the arithmetic, reduces the leaves of each result, finishes them, and delivers what the
//! caller asked for. What is rare, as a result of another class, is done in Python.

use bytemuck::Zeroable;
use num_complex::Complex;
use numpy::{
    PyArrayDescr, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError, PyZeroDivisionError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

use crate::arguments::{
    Items, axes_of, keepdims_of, kind_of_type, place_of, python, shape_of_result, type_of,
    with_kind,
};
use crate::convert::Kind;
use crate::element::{Item, Op, unsupported};
use crate::error::raised;
use crate::fold::{are_ordinary, compute, fold_parts, scalar, zeroed, zeros};
use crate::pool::Workers;
use crate::source::{Make, Reader, Source};
use crate::states::{Statistics, Undefined, value_of};
use crate::strided::Tile;
use crate::tree::{block_items, reduce as reduce_blocks};

/// What is reduced of each item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaf {
    Value,
    Magnitude,
    /// From the mean, squared.
    Distance,
    Square,
    /// With the other array's item.
    Product,
    ConjugateProduct,
}

impl Leaf {
    /// Whether it is real, whatever the items are.
    fn is_real(self) -> bool {
        matches!(self, Self::Magnitude | Self::Distance | Self::Square)
    }
}

/// What becomes of the reduction of all leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Finish {
    Nothing,
    /// Over the number of items.
    Mean,
    /// Over the number of items less `ddof`.
    Variance,
    Deviation,
    Root,
}

/// A statistic: what is reduced, how, and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statistic {
    pub(crate) name: &'static str,
    pub(crate) op: Op,
    leaf: Leaf,
    finish: Finish,
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
        of("sum of magnitudes", Op::Sum, Leaf::Magnitude, Finish::Nothing),
        of("least magnitude", Op::Min, Leaf::Magnitude, Finish::Nothing),
        of("greatest magnitude", Op::Max, Leaf::Magnitude, Finish::Nothing),
        of("product", Op::Sum, Leaf::Product, Finish::Nothing),
        of("conjugate_product", Op::Sum, Leaf::ConjugateProduct, Finish::Nothing),
        // Exact alone: with weights.
        of("average", Op::Sum, Leaf::Product, Finish::Mean),
    ]
};

impl Statistic {
    pub(crate) fn named(name: &str) -> PyResult<Self> {
        let found = STATISTICS.iter().find(|known| known.name == name);
        let unknown = || PyValueError::new_err(format!("statistic: `{name}` is not known"));
        found.copied().ok_or_else(unknown)
    }

    /// Whether results are of the items' type, so that integers are reduced as such.
    fn is_of_items(self) -> bool {
        self.leaf == Leaf::Value && self.finish == Finish::Nothing
    }
}

/// The type that items are converted to, and that of the arithmetic: halves are added as longer floats, and bools as bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Types {
    pub(crate) chosen: Kind,
    pub(crate) work: Kind,
    /// Whether items are rounded to halves first.
    pub(crate) halves: bool,
}

impl Types {
    fn of(chosen: Kind, is_exact: bool, own: Kind) -> Self {
        let work = match chosen {
            Kind::F16 if is_exact => Kind::F64,
            Kind::F16 => Kind::F32,
            Kind::Bool => Kind::U8,
            chosen => chosen,
        };
        // Exact sums of halves are those of the doubles.
        let halves = chosen == Kind::F16 && !(is_exact && own == Kind::F16);
        Self {
            chosen,
            work,
            halves,
        }
    }
}

/// The number of items that count of each result.
pub(crate) enum Counts {
    All(usize),
    Each(Vec<i64>),
}

impl Counts {
    fn of(&self, result: usize) -> f64 {
        match self {
            Self::All(items) => *items as f64,
            Self::Each(counts) => counts[result] as f64,
        }
    }

    fn to_python<'py>(&self, py: Python<'py>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::All(items) => Ok(items.into_pyobject(py)?.into_any()),
            Self::Each(counts) => {
                let array = zeros::<i64>(py, shape)?;
                array.try_readwrite()?.as_slice_mut()?.copy_from_slice(counts);
                Ok(array.into_any())
            }
        }
    }
}

/// A statistic of the items of an array along axes, or of their pairs with those of another one.
pub(crate) struct Call<'a, 'py> {
    pub(crate) statistic: Statistic,
    is_exact: bool,
    pub(crate) items: Items<'py>,
    y: Option<Bound<'py, PyUntypedArray>>,
    pub(crate) axes: Vec<usize>,
    /// That of the result.
    shape: Vec<usize>,
    out: Option<Bound<'py, PyUntypedArray>>,
    initial: Option<Bound<'py, PyAny>>,
    ddof: f64,
    mean: Option<&'a Bound<'py, PyAny>>,
    lanes: usize,
    pub(crate) types: Types,
}

/// A statistic of the items of `x` along axes, of those that `mask` counts, by NumPy's conventions; or of pairs with the items of `y`, an
/// array of the same shape. `mean` are the means that variances are about, if they are known.
#[pyfunction]
#[pyo3(signature = (name, is_exact, x, axis, dtype, out, keepdims, initial, mask, skips_nan=false, ddof=0.0, mean=None, y=None, lanes=1))]
#[expect(clippy::too_many_arguments, reason = "NumPy's functions have them")]
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
    items.skips_nan = skips_nan && !items.kind.is_integer();
    let axes = axes_of(axis, items.array.ndim())?;
    let shape = shape_of_result(items.array.shape(), &axes, keepdims_of(keepdims)?);
    let out = place_of(out, &shape)?;
    let types = types_of(statistic, is_exact, &items, dtype, out.as_ref())?;
    let call = Call {
        y,
        shape,
        out,
        initial,
        ddof,
        mean,
        lanes,
        ..Call::of(statistic, is_exact, items, axes, types)
    };
    call.run(x.py())
}

/// The types of a call, by its statistic, its items, and what it asks for.
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
        (None, Some(out)) if is_sum && !is_exact || !own.is_integer() => {
            let kind = kind_of_type(&out.dtype())?;
            // The variance of complex items is real, and its arithmetic is not.
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
    if own.is_complex() && matches!(statistic.op, Op::Min | Op::Max) && is_sum {
        let message = format!(
            "x has elements of type {}, for which {} is not defined: complex numbers have no order",
            items.array.dtype(),
            statistic.name
        );
        return Err(PyTypeError::new_err(message));
    }
    let is_integers = is_exact && statistic.name == "sum" && own.is_integer() && chosen == default;
    if chosen.is_integer() && (is_exact && !is_integers || statistic.leaf.is_real()) {
        let what = if is_exact { "exact statistics" } else { "variances" };
        let message = format!("dtype: there are no {what} of type {}", chosen.dtype(dtype.py())?);
        return Err(PyTypeError::new_err(message));
    }
    Ok(Types::of(chosen, is_exact, own))
}

/// Those of times, which are integers with a unit.
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
        let message =
            format!("dtype: elements of type {unit} are reduced as such, not as {asked}");
        return Err(PyTypeError::new_err(message));
    }
    Ok(Types {
        chosen: Kind::I64,
        work: Kind::I64,
        halves: false,
    })
}

impl<'py> Call<'_, 'py> {
    /// A statistic of items along axes, and no more.
    pub(crate) fn of(
        statistic: Statistic,
        is_exact: bool,
        items: Items<'py>,
        axes: Vec<usize>,
        types: Types,
    ) -> Self {
        Self {
            statistic,
            is_exact,
            shape: shape_of_result(items.array.shape(), &axes, false),
            items,
            y: None,
            axes,
            out: None,
            initial: None,
            ddof: 0.0,
            mean: None,
            lanes: 1,
            types,
        }
    }

    /// A statistic of pairs of the items of two arrays of one shape along axes, in a type.
    pub(crate) fn of_pairs(
        name: &str,
        is_exact: bool,
        [x, y]: [Bound<'py, PyUntypedArray>; 2],
        axes: Vec<usize>,
        kind: Kind,
        out: Option<Bound<'py, PyUntypedArray>>,
    ) -> PyResult<Self> {
        let items = Items::of(&x, "x")?;
        let types = Types::of(kind, is_exact, items.kind);
        let call = Self::of(Statistic::named(name)?, is_exact, items, axes, types);
        Ok(Self {
            y: Some(y),
            out,
            ..call
        })
    }

    pub(crate) fn run(mut self, py: Python<'py>) -> PyResult<Py<PyAny>> {
        if self.types.chosen == Kind::Bool {
            self.become_logical()?;
        }
        if self.is_exact {
            return match self.types.work {
                Kind::F64 => self.run_exact::<f64>(py),
                Kind::F32 => self.run_exact::<f32>(py),
                Kind::C128 => self.run_exact::<Complex<f64>>(py),
                Kind::C64 => self.run_exact::<Complex<f32>>(py),
                Kind::U64 => self.run_exact::<u64>(py),
                _ => self.run_exact::<i64>(py),
            };
        }
        with_kind!(self.types.work, T => self.run_in_order::<T>(py))
    }

    /// Sums and products of bools say whether one is true, or all are.
    fn become_logical(&mut self) -> PyResult<()> {
        let (op, empty) = match self.statistic.op {
            Op::Sum => (Op::Max, Some(false)),
            Op::Product => (Op::Min, Some(true)),
            op => (op, None),
        };
        self.statistic.op = op;
        let array = &self.items.array;
        if self.items.kind != Kind::Bool {
            let is_true = array.call_method1("__ne__", (0,))?;
            self.items.array = is_true.cast_into()?;
            self.items.kind = Kind::Bool;
        }
        if let (None, Some(empty)) = (&self.initial, empty) {
            self.initial = Some(PyBool::new(self.items.array.py(), empty).to_owned().into_any());
        }
        Ok(())
    }

    fn run_in_order<T: Item>(&self, py: Python<'py>) -> PyResult<Py<PyAny>> {
        let product = |conjugates: bool| {
            move |_: &Tile<'_>, x: &[T], y: &[T], into: &mut [T]| {
                for ((into, &x), &y) in into.iter_mut().zip(x).zip(y) {
                    let x = if conjugates { x.conjugated() } else { x };
                    *into = x.times(y);
                }
            }
        };
        let of_each = |leaf: fn(T) -> T::Real| {
            move |_: &Tile<'_>, x: &[T], _: &[T], into: &mut [T::Real]| {
                for (into, &x) in into.iter_mut().zip(x) {
                    *into = leaf(x);
                }
            }
        };
        let op = self.statistic.op;
        let of_items = |results: &mut [T]| match self.statistic.leaf {
            Leaf::Value => self.values::<T>(op, self.initial()?, results),
            Leaf::ConjugateProduct => self.leaves(op, None, &product(true), results),
            _ => match self.dot::<T>(results)? {
                Some(counts) => Ok(counts),
                None => self.leaves(op, None, &product(false), results),
            },
        };
        let of_reals = |results: &mut [T::Real]| match self.statistic.leaf {
            Leaf::Magnitude => self.leaves(op, None, &of_each(T::magnitude), results),
            Leaf::Square => match self.dot::<T::Real>(results)? {
                Some(counts) => Ok(counts),
                None => {
                    let square = |x: T| x.squared_distance(T::zeroed());
                    self.leaves(op, None, &of_each(square), results)
                }
            },
            _ => {
                let means = self.means::<T>(results.len())?;
                self.leaves(op, None, &distances(&means), results)
            }
        };
        if self.statistic.leaf.is_real() {
            self.made::<T, _>(py, of_reals)
        } else {
            self.made::<T, _>(py, of_items)
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

    /// What is returned of the results that `write` leaves: finished, converted and delivered as the caller asks.
    fn made<T: Item, L: Item>(
        &self,
        py: Python<'py>,
        write: impl FnOnce(&mut [L]) -> PyResult<Counts>,
    ) -> PyResult<Py<PyAny>> {
        let chosen = match self.statistic.leaf.is_real() {
            true => self.types.chosen.real(),
            false => self.types.chosen,
        };
        let divides_later = self.statistic.finish == Finish::Mean && L::KIND.is_integer();
        let is_plain =
            L::KIND == chosen && self.out.is_none() && self.items.is_plain() && !divides_later;
        let write = |results: &mut [L]| {
            // Results are finished in the same environment.
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
            divides_later.then(|| counts.to_python(py, &self.shape)).transpose()?,
            self.out.as_ref(),
        ))?;
        Ok(delivered.unbind())
    }

    /// Makes the statistic of the reductions of leaves.
    fn finish<L: Item>(&self, py: Python<'_>, counts: &Counts, results: &mut [L]) -> PyResult<()> {
        let finish = self.statistic.finish;
        let warn = |message: &str| python(py, "warn")?.call1((message,)).map(drop);
        let is_any = |least: f64| (0..results.len()).any(|result| counts.of(result) <= least);
        if self.is_exact {
            return Ok(());
        }
        if finish == Finish::Mean && is_any(0.0) {
            warn(if self.items.skips_nan { "Mean of empty slice" } else { "Mean of empty slice." })?;
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
                _ => result.over(left.max(0.0)),
            };
            let has_root = matches!(finish, Finish::Root | Finish::Deviation);
            let value = if has_root { value.root() } else { value };
            *result = canonical(value);
        }
        Ok(())
    }

    /// The reductions of items by an operator, of which `initial` is the leftmost operand.
    pub(crate) fn values<T: Item>(&self, op: Op, initial: Option<T>, results: &mut [T]) -> PyResult<Counts> {
        let counts = match self.side_by_side::<T>(op, results)? {
            Some(counts) => counts,
            None => self.blocks(
                op,
                &mut |reader: &mut Reader<'_, T>, tile, counts, into| {
                    reader.items(tile, op, counts, into);
                },
                results,
            )?,
        };
        complete(op, &counts, initial, results)?;
        if self.items.unit.is_some() && op != Op::Min {
            // Not-a-time, the least integer, wins.
            let mut least = zeroed::<T>(results.len())?;
            self.values(Op::Min, Some(initial.unwrap_or(T::hole(Op::Min))), &mut least)?;
            for (result, least) in results.iter_mut().zip(least) {
                if least.is_same(&T::hole(Op::Max)) {
                    *result = least;
                }
            }
        }
        Ok(counts)
    }

    /// The same of an array that lies side by side, with the reduced axes next to each other, as it is in memory; `None` of others.
    fn side_by_side<T: Item>(&self, op: Op, results: &mut [T]) -> PyResult<Option<Counts>> {
        let py = self.items.array.py();
        let (array, Some(parts)) = (&self.items.array, self.parts()) else {
            return Ok(None);
        };
        let [_, length, after] = parts;
        let counts = Ok(Some(Counts::All(length)));
        if self.items.has_holes() || self.types.halves || length == 0 || results.is_empty() {
            return Ok(None);
        }
        if let Ok(array) = array.cast::<PyArrayDyn<T>>() {
            let (array, Some(reduction)) = (array.try_readonly()?, T::reduction(op)) else {
                return Ok(None);
            };
            if let Ok(items) = array.as_slice() {
                fold_parts(py, reduction, self.lanes, items, parts, results)?;
                return counts;
            }
        }
        let is_sum = self.statistic.finish == Finish::Nothing && T::KIND.is_integer();
        if after == 1 && is_sum && T::fold_short(array, self.items.kind, op, results)? {
            return counts;
        }
        Ok(None)
    }

    /// What is before, in and after the reduced axes of an array that lies side by side, where these are neighbours.
    fn parts(&self) -> Option<[usize; 3]> {
        let (array, axes) = (&self.items.array, &self.axes);
        let size = |lengths: &[usize]| lengths.iter().fold(1, |all, one| all * one);
        let lengths = array.shape();
        if array.is_c_contiguous() {
            let (first, end) = match (axes.first(), axes.last()) {
                (Some(&first), Some(&last)) => (first, last + 1),
                _ => (lengths.len(), lengths.len()),
            };
            return (end - first == axes.len())
                .then(|| [&lengths[..first], &lengths[first..end], &lengths[end..]].map(size));
        }
        // In Fortran's order, one axis of two.
        match (array.is_fortran_contiguous(), lengths, axes.as_slice()) {
            (true, &[rows, columns], [0]) => Some([columns, rows, 1]),
            (true, &[rows, columns], [1]) => Some([1, columns, rows]),
            _ => None,
        }
    }

    /// The sum of the products of two vectors side by side, or of squares, in one pass; `None` of others.
    fn dot<T: Item>(&self, results: &mut [T]) -> PyResult<Option<Counts>> {
        let y = self.y.as_ref().unwrap_or(&self.items.array);
        let ([result], Ok(x), Ok(y)) = (
            results,
            self.items.array.cast::<PyArrayDyn<T>>(),
            y.cast::<PyArrayDyn<T>>(),
        ) else {
            return Ok(None);
        };
        let are_in_order = x.is_c_contiguous() && y.is_c_contiguous();
        if !are_in_order || x.is_empty() || self.types.halves || self.items.has_holes() {
            return Ok(None);
        }
        let (x_ref, y_ref) = (x.try_readonly()?, y.try_readonly()?);
        let (Ok(x_items), Ok(y_items)) = (x_ref.as_slice(), y_ref.as_slice()) else {
            return Ok(None);
        };
        let by = Workers::of(x_items.len())?;
        let bytes = 2 * size_of_val(x_items);
        let Some(value) = compute(x.py(), bytes, || T::dot(&by, x_items, y_items)) else {
            return Ok(None);
        };
        *result = value.map_err(raised)?;
        Ok(Some(Counts::All(x_items.len())))
    }

    /// The reductions of leaves, which `make` makes of items and those of the other array.
    fn leaves<T: Item, L: Item>(
        &self,
        op: Op,
        initial: Option<L>,
        make: &Make<'_, T, L>,
        results: &mut [L],
    ) -> PyResult<Counts> {
        let counts = self.blocks(
            op,
            &mut |reader: &mut Reader<'_, T>, tile, counts, into| {
                reader.leaves(tile, make, op, counts, into);
            },
            results,
        )?;
        complete(op, &counts, initial, results)?;
        Ok(counts)
    }

    /// The reductions of what `fill` writes for tiles, and the number of items that count.
    fn blocks<T: Item, L: Item>(
        &self,
        op: Op,
        fill: &mut Fill<'_, T, L>,
        results: &mut [L],
    ) -> PyResult<Counts> {
        let source = self.source()?;
        let operator = match source.has_holes() {
            true => L::operator_with_holes(op),
            false => L::operator(op),
        };
        let operator = operator.ok_or_else(|| unsupported(op, &self.items.array))?;
        let mut counts = zeroed(if source.has_holes() { results.len() } else { 0 })?;
        let items = source.shape.items_count();
        if items > 0 {
            compute(self.items.array.py(), self.bytes::<T>(), || {
                let mut reader = Reader::<T>::new(&source);
                let mut fill =
                    |tile: &Tile<'_>, into: &mut [L]| fill(&mut reader, tile, &mut counts, into);
                reduce_blocks(&source.shape, operator, &mut fill, results);
                operator.make_canonical(results);
            });
        }
        Ok(match source.has_holes() {
            true => Counts::Each(counts),
            false => Counts::All(items),
        })
    }

    fn source(&self) -> PyResult<Source> {
        let y = self.y.as_ref();
        self.items.source(y, &self.axes, self.types.halves)
    }

    fn bytes<T>(&self) -> usize {
        self.items.array.len().saturating_mul(size_of::<T>())
    }

    /// The means that distances are from: those that are known, or those of the items.
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

    /// `initial` as an item of the arithmetic.
    fn initial<L: Item>(&self) -> PyResult<Option<L>> {
        let Some(initial) = &self.initial else {
            return Ok(None);
        };
        let py = initial.py();
        let dtypes = (self.types.chosen.dtype(py)?, self.types.work.dtype(py)?);
        let arguments = (initial, dtypes.0, dtypes.1, self.items.unit.as_ref());
        let array = python(py, "initial")?.call1(arguments)?;
        let array = array.cast::<PyArrayDyn<L>>()?.try_readonly()?;
        Ok(array.as_slice()?.first().copied())
    }

    /// Warns of sums that overflowed or were invalid, or raises, as `numpy.errstate` asks.
    pub(crate) fn tell<T: Item, L: Item>(&self, py: Python<'py>, results: &[L]) -> PyResult<()> {
        let is_sum = matches!(self.statistic.op, Op::Sum | Op::Product);
        let tells = is_sum && !(self.is_exact && self.statistic.finish >= Finish::Variance);
        if are_ordinary(results) || !tells || !python(py, "heeds_errors")?.call0()?.is_truthy()? {
            return Ok(());
        }
        if self.initial::<L>()?.is_some_and(|initial| !initial.is_ordinary()) {
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
        let pairs = || results.iter().zip(&greatest).filter(|(_, most)| !most.is_same(&zero));
        let name = if self.y.is_some() { "dot" } else { "reduce" };
        // Where nothing counts there was no operation.
        if pairs().any(|(result, most)| !result.is_ordinary() && most.is_ordinary()) {
            python(py, "float_error")?.call1(("over", name))?;
        }
        if pairs().any(|(result, most)| result.has_nan() && !most.has_nan()) {
            python(py, "float_error")?.call1(("invalid", name))?;
        }
        Ok(())
    }

    /// An exact statistic of the items of each result, rounded once.
    fn exact<T: Statistics>(&self, results: &mut [T]) -> PyResult<Counts> {
        let (name, ddof) = (self.statistic.name, self.ddof);
        let initial = self.initial::<T>()?;
        if initial.is_none()
            && let Some(counts) = self.exact_side_by_side(results)?
        {
            return Ok(counts);
        }
        let source = self.source()?;
        let (mut first_wrong, mut counts) = (None, zeroed(results.len())?);
        let mut states = Vec::new();
        compute(self.items.array.py(), self.bytes::<T>(), || {
            let mut reader = Reader::<T>::new(&source);
            let (mut x, mut y) = (Vec::new(), Vec::new());
            for group in source.shape.groups(EXACT_COLUMNS) {
                let width = group.columns.len;
                states.clear();
                states.extend((0..width).filter_map(|_| T::state(name, ddof)));
                for block in group.blocks((block_items::<T>(&source.shape) / width).max(1)) {
                    for (tile, state) in block.each_column().zip(&mut states) {
                        x.clear();
                        y.clear();
                        reader.compact(&tile, &mut x, &mut y);
                        state.add(&x, &y);
                        counts[tile.place.result] += x.len() as i64;
                    }
                }
                for (result, state) in group.results().zip(&mut states) {
                    if let Some(initial) = initial {
                        state.add(&[initial], &[]);
                    }
                    match state.value() {
                        Ok(value) => results[result] = value,
                        Err(wrong) => first_wrong = first_wrong.or(Some(wrong)),
                    }
                }
            }
        });
        first_wrong.map_or(Ok(Counts::Each(counts)), |wrong| Err(undefined::<T>(wrong)))
    }

    /// The same of an array that lies side by side, by all threads.
    fn exact_side_by_side<T: Statistics>(&self, results: &mut [T]) -> PyResult<Option<Counts>> {
        let (name, ddof) = (self.statistic.name, self.ddof);
        if name == "sum"
            && let Some(counts) = self.side_by_side(Op::ExactSum, results)?
        {
            return Ok(Some(counts));
        }
        let ([result], Ok(x)) = (results, self.items.array.cast::<PyArrayDyn<T>>()) else {
            return Ok(None);
        };
        let y = self.y.as_ref().map(|y| y.cast::<PyArrayDyn<T>>()).transpose();
        let Ok(y) = y else {
            return Ok(None);
        };
        // Squares and sums do not depend on the order, and pairs do.
        if self.items.has_holes() || self.types.halves || y.is_some_and(|y| !(y.is_c_contiguous() && x.is_c_contiguous())) {
            return Ok(None);
        }
        let x_ref = x.try_readonly()?;
        let y_ref = y.map(|y| y.try_readonly()).transpose()?;
        let (Ok(x_items), Ok(y_items)) =
            (x_ref.as_slice(), y_ref.as_ref().map_or(Ok(&[][..]), |y| y.as_slice()))
        else {
            return Ok(None);
        };
        let by = Workers::of(x_items.len())?;
        let value = compute(x.py(), size_of_val(x_items), || {
            value_of(name, ddof, by.pool(), x_items, y_items)
        });
        *result = value.transpose().map_err(undefined::<T>)?.unwrap_or(T::zeroed());
        Ok(Some(Counts::All(x_items.len())))
    }
}

/// The columns whose exact sums are added at once.
const EXACT_COLUMNS: usize = 64;

/// Writes leaves of a tile.
type Fill<'f, T, L> =
    dyn FnMut(&mut Reader<'_, T>, &Tile<'_>, &mut [i64], &mut [L]) + Send + 'f;

/// Combines reductions with `initial`, and gives those of no items their value.
fn complete<L: Item>(
    op: Op,
    counts: &Counts,
    initial: Option<L>,
    results: &mut [L],
) -> PyResult<()> {
    let has_all = matches!(counts, Counts::All(1..));
    let Some(operator) = L::operator(op).filter(|_| initial.is_some() || !has_all) else {
        return Ok(());
    };
    for (number, result) in results.iter_mut().enumerate() {
        let value = match (counts.of(number) > 0.0, initial) {
            (true, None) => Some(*result),
            (true, Some(initial)) => Some(operator.combine(initial, *result)),
            (false, Some(initial)) => Some(initial),
            (false, None) => operator.empty(),
        };
        let Some(value) = value else {
            let name = if op == Op::Min { "minimum" } else { "maximum" };
            return Err(PyValueError::new_err(format!(
                "zero-size array to reduction operation {name} which has no identity"
            )));
        };
        *result = operator.canonical(value);
    }
    Ok(())
}

/// A NaN as the canonical one.
fn canonical<L: Item>(value: L) -> L {
    L::operator(Op::Sum).map_or(value, |operator| operator.canonical(value))
}

pub(crate) fn undefined<T: Item>(wrong: Undefined) -> PyErr {
    match wrong {
        Undefined::ZeroWeights => PyZeroDivisionError::new_err(
            "the weights sum to zero, and the mean is not defined",
        ),
        Undefined::Beyond(sum) => PyOverflowError::new_err(format!(
            "the sum is {sum}, beyond {} bits: pass dtype=float",
            8 * size_of::<T>()
        )),
    }
}

/// What makes the squared distances of items from the mean of their result.
fn distances<T: Item>(means: &[T]) -> impl Fn(&Tile<'_>, &[T], &[T], &mut [T::Real]) {
    |tile, values, _, into| {
        let width = tile.columns.len;
        if width == 1 {
            let mean = means[tile.place.result];
            for (into, &value) in into.iter_mut().zip(values) {
                *into = value.squared_distance(mean);
            }
            return;
        }
        let own: Vec<T> = tile.results().map(|result| means[result]).collect();
        for (into, values) in into.chunks_exact_mut(width).zip(values.chunks_exact(width)) {
            for ((into, value), &mean) in into.iter_mut().zip(values).zip(&own) {
                *into = value.squared_distance(mean);
            }
        }
    }
}
