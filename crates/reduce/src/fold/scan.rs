//! The reductions of all prefixes of a slice.

use super::rows::check_width;
use crate::environment;
use crate::error::FoldError;
use crate::fold::prefix::Stack;
use crate::fold::prefixes::Prefixes;
use crate::operator::Operator;

/// The inclusive scan: `result[k]` becomes the [`fold`](crate::fold) of the items 0 to k, in the tree order of k + 1 items.
///
/// Item k takes about log2(k) / 2 combinations; the combinations of eight items are computed at once.
///
/// ```
/// use reduce::Sum;
///
/// let mut sums = [0.0; 3];
/// reduce::scan(&[0.1, 0.2, 0.3], &Sum, &mut sums)?;
/// assert_eq!(sums, [0.1, 0.1 + 0.2, (0.1 + 0.2) + 0.3]);
/// # Ok::<(), reduce::FoldError>(())
/// ```
///
/// # Errors
/// Those of [`scan_rows`], for rows of one value.
pub fn scan<T: Copy + 'static, O: Operator<T>>(
    items: &[T],
    operator: &O,
    result: &mut [T],
) -> Result<(), FoldError> {
    scan_rows(items, 1, operator, result)
}

/// The inclusive scan of rows of `width` values, element by element: row k of the result becomes the reduction of the rows 0 to k.
///
/// # Errors
/// `width` is 0, `items` are not whole rows, `result` is not as long as `items`, or this thread's floating-point environment is not
/// IEEE 754's default.
pub fn scan_rows<T: Copy + 'static, O: Operator<T>>(
    items: &[T],
    width: usize,
    operator: &O,
    result: &mut [T],
) -> Result<(), FoldError> {
    environment::check()?;
    check_width(items, width)?;
    if result.len() != items.len() {
        return Err(FoldError::Lengths {
            first: items.len() as u64,
            position: 1,
            found: result.len() as u64,
        });
    }
    if width == 1 {
        operator.scan(items, &mut Prefixes::new(), result);
        return Ok(environment::check()?);
    }
    let mut rows = Vec::new();
    let mut stack = Stack {
        width,
        rows: &mut rows,
        operator,
    };
    let rows = items.chunks_exact(width);
    let results = result.chunks_exact_mut(width);
    for ((number, row), result) in (0..).zip(rows).zip(results) {
        stack.push(number, row);
        stack.join(result);
    }
    operator.make_canonical(result);
    // An operator may have changed the environment.
    environment::check()?;
    Ok(())
}
