//! Reductions of rows of values, element by element, and of fields that are stored separately.

use super::empty;
use crate::environment;
use crate::error::FoldError;
use crate::operator::{Operator, Sum};

/// The sums of rows of `width` values, element by element, each in tree order: [`fold_rows`] with [`Sum`].
///
/// ```
/// let three_rows = [0.1, 1.0, 0.2, 2.0, 0.3, 3.0];
/// let mut sums = [0.0; 2];
/// reduce::sum_rows(&three_rows, 2, &mut sums)?;
/// assert_eq!(sums, [(0.1 + 0.2) + 0.3, (1.0 + 2.0) + 3.0]);
/// # Ok::<(), reduce::FoldError>(())
/// ```
///
/// # Errors
/// Those of [`fold_rows`], except that the sums of no rows are 0.
pub fn sum_rows<T: Copy + 'static>(
    items: &[T],
    width: usize,
    result: &mut [T],
) -> Result<(), FoldError>
where
    Sum: Operator<T>,
{
    fold_rows(items, width, &Sum, result)
}

/// The reduction of rows of `width` values by `operator`, element by element: `result[c]` becomes the
/// [`fold`](crate::fold) of every row's value `c`, in tree order. For no rows, the result is the empty value.
///
/// `items` holds the rows one after the other. They are read once, at the speed of memory. An error leaves `result` unchanged, unless
/// the operator has changed the environment.
///
/// # Errors
/// `width` is 0, `items` are not whole rows, `result` is not as long as a row, there are no rows and the operator has no
/// empty value, or this thread's floating-point environment is not IEEE 754's default.
pub fn fold_rows<T: Copy + 'static, O: Operator<T>>(
    items: &[T],
    width: usize,
    operator: &O,
    result: &mut [T],
) -> Result<(), FoldError> {
    environment::check()?;
    check_rows(items, width, result)?;
    let folded = if let [value] = result {
        operator.fold(items).map(|folded| *value = folded)
    } else if items.len() / 2 == width {
        let (left, right) = items.split_at(width);
        operator.combine_rows(left, right, result);
        Some(())
    } else {
        operator.fold_rows(items, width, &mut Vec::new(), result)
    };
    environment::check()?;
    match folded {
        Some(()) => operator.make_canonical(result),
        None => result.fill(empty(operator)?),
    }
    Ok(())
}

/// Checks that the items are whole rows, and that the result is as long as a row.
pub(crate) fn check_rows<T>(items: &[T], width: usize, result: &[T]) -> Result<(), FoldError> {
    check_width(items, width)?;
    if result.len() != width {
        return Err(FoldError::ResultLength {
            width: width as u64,
            found: result.len() as u64,
        });
    }
    Ok(())
}

/// Checks that the items are whole rows.
pub(super) fn check_width<T>(items: &[T], width: usize) -> Result<(), FoldError> {
    if width == 0 || !items.len().is_multiple_of(width) {
        return Err(FoldError::NotRows {
            values: items.len() as u64,
            width: width as u64,
        });
    }
    Ok(())
}

/// The reductions of several fields of the same items, each field in a slice of its own: value f is the [`fold`](crate::fold) of field f.
///
/// The bits are those of [`fold_rows`] over rows that hold a value of each field.
///
/// ```
/// use reduce::Max;
///
/// let (density, pressure) = ([1.0, 4.0, 2.0], [0.5, 0.25, 0.75]);
/// assert_eq!(reduce::fields(&[&density, &pressure], &Max)?, [4.0, 0.75]);
/// # Ok::<(), reduce::FoldError>(())
/// ```
///
/// # Errors
/// The fields differ in length, there are no items and the operator has no empty value, or this thread's
/// floating-point environment is not IEEE 754's default.
pub fn fields<T: Copy + 'static, O: Operator<T>>(
    fields: &[&[T]],
    operator: &O,
) -> Result<Vec<T>, FoldError> {
    environment::check()?;
    check_fields(fields)?;
    let total = |field: &&[T]| match operator.fold(field) {
        Some(value) => Ok(operator.canonical(value)),
        None => empty(operator),
    };
    let totals = fields.iter().map(total).collect();
    environment::check()?;
    totals
}

/// Checks that all fields have the same number of items.
pub(super) fn check_fields<T>(fields: &[&[T]]) -> Result<(), FoldError> {
    let first = fields.first().map_or(0, |field| field.len());
    match fields.iter().position(|field| field.len() != first) {
        None => Ok(()),
        Some(position) => Err(FoldError::Lengths {
            first: first as u64,
            position: position as u64,
            found: fields[position].len() as u64,
        }),
    }
}
