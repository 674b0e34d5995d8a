//! Variances and standard deviations of arrays that lie side by side: one call for what takes many in Python.

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::element::{Item, Op, Reduction, with_first_of};
use crate::engine::{BLOCK_BYTES, Waiting};
use crate::error::raised;
use crate::fold::{compute, scalar};
use crate::pool::Workers;

/// A float.
trait Real: Item<Real = Self> {
    fn root(self) -> Self;
}

impl Real for f32 {
    fn root(self) -> Self {
        self.sqrt()
    }
}

impl Real for f64 {
    fn root(self) -> Self {
        self.sqrt()
    }
}

#[derive(Clone, Copy)]
enum Moment {
    Variance,
    StandardDeviation,
}

struct Moments {
    moment: Moment,
    ddof: f64,
}

impl Moments {
    fn visit<T: Real>(self, array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Option<Py<PyAny>>> {
        if !array.is_c_contiguous() || array.is_empty() {
            return Ok(None);
        }
        let array_ref = array.try_readonly()?;
        let Ok(items) = array_ref.as_slice() else {
            return Ok(None);
        };
        let Some(sum) = T::reduction(Op::Sum) else {
            return Ok(None);
        };
        let by = Workers::of(items.len())?;
        let count = items.len() as f64;
        let value = compute(array.py(), size_of_val(items), || {
            let mut total = [T::zeroed()];
            sum.rows(1, by.pool(), items, &mut total)?;
            let mean = total[0].over(count);
            let variance = squares(items, mean, sum).over(count - self.ddof);
            Ok(match self.moment {
                Moment::Variance => variance,
                Moment::StandardDeviation => variance.root(),
            })
        });
        let value = value.map_err(raised)?;
        // Callers are told of these.
        if !value.is_ordinary() || count <= self.ddof {
            return Ok(None);
        }
        scalar(array.py(), value).map(Some)
    }
}

/// The sum of the squared distances from the mean, in tree order.
fn squares<T: Real>(items: &[T], mean: T, sum: Reduction<T>) -> T {
    let Reduction::InOrder(operator) = sum else {
        unreachable!("sums in tree order have an operator")
    };
    let block_items = BLOCK_BYTES / 2 / size_of::<T>();
    let mut waiting = Waiting::new(operator);
    let mut block = Vec::with_capacity(block_items.min(items.len()));
    for (number, items) in items.chunks(block_items).enumerate() {
        block.clear();
        block.extend(items.iter().map(|&item| item.squared_distance(mean)));
        let root = operator.fold(&block).expect("a block has items");
        waiting.push(number, &[root]);
    }
    waiting.finish(1)[0]
}

/// The variance or standard deviation of all items of an array; None where it takes more than that: no array that lies side by side, of
/// floats, or a result that is not finite, which may be to be told.
#[pyfunction]
pub(crate) fn moment_all(
    moment: &str,
    array: &Bound<'_, PyAny>,
    ddof: f64,
) -> PyResult<Option<Py<PyAny>>> {
    let moment = match moment {
        "var" => Moment::Variance,
        "std" => Moment::StandardDeviation,
        _ => return Err(PyValueError::new_err("moment: it is neither var nor std")),
    };
    // Subclasses have results of their own.
    if !array.is_exact_instance_of::<PyUntypedArray>() {
        return Ok(None);
    }
    of_floats(array, Moments { moment, ddof }).map(Option::flatten)
}

fn of_floats(array: &Bound<'_, PyAny>, moments: Moments) -> PyResult<Option<Option<Py<PyAny>>>> {
    with_first_of!(array, moments, [f64, f32])
}
