//! Exact sums, with the errors that the reductions in tree order have for arrays that do not fit each other.

use treefold::FoldError;
use treefold::exact::{self, Float, Sum, par};

use crate::failure::{Code, Failure};
use crate::local::By;

/// The exact sum.
pub(crate) fn sum<T: Float>(by: By, x: &[T]) -> Result<T, Failure> {
    by.reduce(x.len(), |by| match by {
        By::Caller => exact::sum(x),
        By::Pool => par::sum(x),
    })
}

/// The exact dot product of arrays of one length.
pub(crate) fn dot<T: Float>(by: By, x: &[T], y: &[T]) -> Result<T, Failure> {
    let reduced = by.reduce(x.len(), |by| match by {
        By::Caller => exact::dot(x, y),
        By::Pool => par::dot(x, y),
    });
    Ok(reduced??)
}

/// The norm.
pub(crate) fn norm<T: Float>(by: By, x: &[T]) -> Result<T, Failure> {
    by.reduce(x.len(), |by| match by {
        By::Caller => exact::norm(x),
        By::Pool => par::norm(x),
    })
}

/// The exact sums of the columns of rows, into one row.
///
/// Rust's own function ends the program where there is no memory for the sums.
pub(crate) fn sum_rows<T: Float>(
    items: &[T],
    width: usize,
    result: &mut [T],
) -> Result<(), Failure> {
    if width == 0 || !items.len().is_multiple_of(width) {
        let (values, width) = (items.len() as u64, width as u64);
        return Err(FoldError::NotRows { values, width }.into());
    }
    if result.len() != width {
        let (width, found) = (width as u64, result.len() as u64);
        return Err(FoldError::ResultLength { width, found }.into());
    }
    let mut sums = Vec::new();
    let room = sums.try_reserve_exact(width);
    room.map_err(|_| {
        let message = format!("there is no memory for the exact sums of {width} columns");
        Failure::new(Code::Memory, message)
    })?;
    sums.resize(width, Sum::new());
    Sum::add_rows(&mut sums, items);
    for (value, sum) in result.iter_mut().zip(&sums) {
        *value = sum.value();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use treefold::exact;

    use super::sum_rows;
    use crate::failure::{Code, Failure};

    #[test]
    fn arrays_that_do_not_fit_have_the_errors_of_the_tree() {
        let (x, mut row) = ([1.0; 6], [0.0; 2]);
        for (items, width) in [(6, 0), (0, 0), (5, 2), (6, 3)] {
            let error = sum_rows(&x[..items], width, &mut row).unwrap_err();
            let tree = treefold::sum_rows(&x[..items], width, &mut row).unwrap_err();
            let tree = Failure::from(tree);
            assert_eq!((error.code, &error.message), (tree.code, &tree.message));
            assert_eq!(error.code, Code::Length);
        }
    }

    #[test]
    fn rows_have_the_sums_of_rust() {
        for width in [1, 2, 3, 7, 8, 9, 33] {
            let item = |index: u32| f64::from(index % 97).exp() - f64::from(index % 89).exp();
            let items: Vec<f64> = (0..1000 * width).map(item).collect();
            let width = width as usize;
            let (mut found, mut expected) = (vec![0.0; width], vec![0.0; width]);
            sum_rows(&items, width, &mut found).unwrap();
            exact::sum_rows(&items, width, &mut expected).unwrap();
            assert_eq!(bits(&found), bits(&expected));
        }
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }
}
