//! Exact statistics of whole arrays.

use treefold::exact::{self, Float, Held, Statistic, par};

use crate::accumulator;
use crate::element::ElementType;
use crate::failure::{self, Failure};
use crate::keyed::{Change, Keys};
use crate::local::{self, By};
use crate::raw::{elements, put};
use crate::statistic::Question;
use crate::{by_real, keyed};

pub(crate) fn sum<T: Float>(x: &[T]) -> Result<T, Failure> {
    local::reduce(x.len(), |by| {
        Ok::<T, Failure>(match by {
            By::Caller => exact::sum(x),
            By::Pool => par::sum(x),
        })
    })
}

/// The exact dot product of arrays of the same length.
pub(crate) fn dot<T: Float>(x: &[T], y: &[T]) -> Result<T, Failure> {
    local::reduce(x.len(), |by| match by {
        By::Caller => exact::dot(x, y),
        By::Pool => par::dot(x, y),
    })
}

/// The square root of the exact sum of the squares.
fn norm<T: Float>(x: &[T]) -> Result<T, Failure> {
    local::reduce(x.len(), |by| {
        Ok::<T, Failure>(match by {
            By::Caller => exact::norm(x),
            By::Pool => par::norm(x),
        })
    })
}

/// Writes a statistic of one array or two to `result`, which has room for one element.
pub(crate) fn statistic(
    element_type: ElementType,
    question: Question,
    arrays: &[&[u8]],
    result: &mut [u8],
) -> Result<(), Failure> {
    let is_real = element_type.is_real();
    let asked = question.asked;
    if let [x, y] = arrays
        && x.len() != y.len()
    {
        let [n, m] = [x, y].map(|array| array.len() / local::element_bytes(element_type));
        return Err(failure::lengths(n, m));
    }
    match (asked.of_reals(), arrays) {
        (Statistic::Sum, [x]) if is_real => by_real!(element_type, T => {
            put(sum::<T>(elements("x", x)?)?, result);
            Ok(())
        }),
        (Statistic::Norm, [x]) if is_real => by_real!(element_type, T => {
            put(norm::<T>(elements("x", x)?)?, result);
            Ok(())
        }),
        (Statistic::Dot, [x, y]) if is_real => by_real!(element_type, T => {
            put(dot::<T>(elements("x", x)?, elements("y", y)?)?, result);
            Ok(())
        }),
        _ if asked.held() == Held::Moments || !is_real => {
            let mut items = accumulator::of_codes(element_type, asked)?;
            items.change(Change::Add, Keys::NONE, arrays)?;
            items.write(question, result)
        }
        _ => keyed::of_arrays(element_type, question, None, arrays, 1, (result, 1)),
    }
}
