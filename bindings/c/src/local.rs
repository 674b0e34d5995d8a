//! The reductions of one process, on bytes that are elements of a type which only the program's codes tell.

use treefold::{Float, Operator, Sum, par};

use crate::element::{Element, ElementType};
use crate::failure::Failure;
use crate::operator::{Builtin, in_words, of_function};
use crate::raw::{Function, threads};
use crate::{by_type, raw};

/// Who does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The caller's thread.
    Caller,
    /// The threads of a pool.
    Pool,
}

/// Reductions of no more elements are done by one thread: `treefold::par` divides no less.
const DIVIDED_ELEMENTS: usize = 1 << 17;

impl By {
    /// Runs a reduction, and tells it who does the work: only long arrays are worth waking the threads of the pool.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub(crate) fn reduce<R: Send>(
        self,
        elements: usize,
        reduce: impl FnOnce(Self) -> R + Send,
    ) -> Result<R, Failure> {
        match self {
            Self::Pool if elements > DIVIDED_ELEMENTS => {
                Ok(par::install(threads()?, || reduce(Self::Pool)))
            }
            Self::Caller | Self::Pool => Ok(reduce(Self::Caller)),
        }
    }
}

/// The sum, by the threads of the pool.
pub(crate) fn par_sum<T: Copy + Send + Sync + 'static>(x: &[T]) -> Result<T, Failure>
where
    Sum: Operator<T>,
{
    let reduced = By::Pool.reduce(x.len(), |by| match by {
        By::Caller => treefold::sum(x),
        By::Pool => par::sum(x),
    });
    Ok(reduced??)
}

/// The sum in lanes, by the threads of the pool.
pub(crate) fn par_sum_lanes<T: Float + Send + Sync>(x: &[T], lanes: usize) -> Result<T, Failure>
where
    Sum: Operator<T>,
{
    let reduced = By::Pool.reduce(x.len(), |by| match by {
        By::Caller => treefold::sum_lanes(x, lanes),
        By::Pool => par::sum_lanes(x, lanes),
    });
    Ok(reduced??)
}

/// The dot product of arrays of one length, by the threads of the pool.
pub(crate) fn par_dot<T: Float + Send + Sync>(x: &[T], y: &[T]) -> Result<T, Failure>
where
    Sum: Operator<T>,
{
    let reduced = By::Pool.reduce(x.len(), |by| match by {
        By::Caller => treefold::dot(x, y),
        By::Pool => par::dot(x, y),
    });
    Ok(reduced??)
}

/// The sum of the squares, by the threads of the pool.
pub(crate) fn par_squared_norm<T: Float + Send + Sync>(x: &[T]) -> Result<T, Failure>
where
    Sum: Operator<T>,
{
    let reduced = By::Pool.reduce(x.len(), |by| match by {
        By::Caller => treefold::squared_norm(x),
        By::Pool => par::squared_norm(x),
    });
    Ok(reduced??)
}

/// The sum, and that of the absolute values, by the threads of the pool.
pub(crate) fn par_sum_and_absolute_sum<T: Float + Send + Sync>(x: &[T]) -> Result<(T, T), Failure>
where
    Sum: Operator<T>,
{
    let reduced = By::Pool.reduce(x.len(), |by| match by {
        By::Caller => treefold::sum_and_absolute_sum(x),
        By::Pool => par::sum_and_absolute_sum(x),
    });
    Ok(reduced??)
}

/// The bytes of an element of a type.
pub(crate) fn element_bytes(element_type: ElementType) -> usize {
    by_type!(element_type, T => size_of::<T>())
}

/// The bytes of the longest element.
pub(crate) const LONGEST_ELEMENT: usize = size_of::<num_complex::Complex<f64>>();

/// What an address of an element of a type is a multiple of.
pub(crate) fn alignment(element_type: ElementType) -> usize {
    by_type!(element_type, T => align_of::<T>())
}

/// The reduction of the items, into one item.
pub(crate) fn fold(
    by: By,
    element_type: ElementType,
    operator: Builtin,
    items: &[u8],
    result: &mut [u8],
) -> Result<(), Failure> {
    by_type!(element_type, T => {
        let operator = T::operator(operator)?;
        let items = raw::elements::<T>("items", items)?;
        let value = by.reduce(items.len(), |by| match by {
            By::Caller => treefold::fold(items, &operator),
            By::Pool => par::fold(items, &operator),
        })??;
        result.copy_from_slice(bytemuck::bytes_of(&value));
        Ok(())
    })
}

/// The reduction of rows, into one row.
pub(crate) fn fold_rows(
    by: By,
    element_type: ElementType,
    operator: Builtin,
    items: &[u8],
    width: usize,
    result: &mut [u8],
) -> Result<(), Failure> {
    by_type!(element_type, T => {
        let operator = T::operator(operator)?;
        let items = raw::elements::<T>("items", items)?;
        let result = raw::elements_mut::<T>("result", result)?;
        by.reduce(items.len(), |by| match by {
            By::Caller => treefold::fold_rows(items, width, &operator, result),
            By::Pool => par::fold_rows(items, width, &operator, result),
        })??;
        Ok(())
    })
}

/// The reductions of fields, into an item for each.
pub(crate) fn fields(
    by: By,
    element_type: ElementType,
    operator: Builtin,
    fields: &[&[u8]],
    result: &mut [u8],
) -> Result<(), Failure> {
    by_type!(element_type, T => {
        let operator = T::operator(operator)?;
        let fields = fields.iter().map(|&field| raw::elements::<T>("fields", field));
        let fields: Vec<&[T]> = fields.collect::<Result<_, _>>()?;
        let longest = fields.first().map_or(0, |field| field.len());
        let values = by.reduce(longest, |by| match by {
            By::Caller => treefold::fields(&fields, &operator),
            By::Pool => par::fields(&fields, &operator),
        })??;
        result.copy_from_slice(bytemuck::cast_slice(&values));
        Ok(())
    })
}

/// The reduction of items by the caller's operator, into one item.
pub(crate) fn fold_user(
    by: By,
    items: &[u8],
    function: Function,
    empty: Option<&[u8]>,
    result: &mut [u8],
) -> Result<(), Failure> {
    let operator = of_function("the operator".to_owned(), function, empty);
    let items = in_words(items, result.len())?;
    let value = by.reduce(items.len(), |by| match by {
        By::Caller => operator.fold(&items),
        By::Pool => par::fold_words(&items, &operator),
    })??;
    result.copy_from_slice(&bytemuck::cast_slice(&value)[..result.len()]);
    Ok(())
}
