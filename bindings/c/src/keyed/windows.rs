//! Exact sums and means of windows that end at each item.

use std::ops::Sub;

use treefold::exact::{Float, Rolling};

use super::has_room;
use crate::accumulator::Statistic;
use crate::boundary::elements;
use crate::by_integer;
use crate::element::ElementType;
use crate::failure::{Code, Failure};

/// Which items a window has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Window<'i> {
    /// The last ones, so many.
    Items(usize),
    /// Those whose index is more than that of the last one less a width: both are elements of a type.
    Range {
        index_type: ElementType,
        index: &'i [u8],
        width: &'i [u8],
    },
}

/// The exact sums or means of the windows that end at each item.
pub(crate) fn rolling<T: Float>(
    statistic: Statistic,
    items: &[T],
    window: Window<'_>,
    least_items: usize,
    result: &mut [T],
) -> Result<(), Failure> {
    if result.len() != items.len() {
        let (found, expected) = (result.len(), items.len());
        let message = format!("`result` has {found} elements, but `items` has {expected}");
        return Err(Failure::new(Code::Length, message));
    }
    has_room(items.len(), size_of::<T>() + size_of::<u64>())?;
    let windows = match window {
        Window::Items(0) => return Err(Failure::argument("window", "a window has items")),
        Window::Items(window) => Rolling::of_items(window),
        Window::Range {
            index_type,
            index,
            width,
        } => of_range(items.len(), index_type, index, width)?,
    };
    let windows = windows.least_items(least_items);
    let values = match statistic {
        Statistic::Mean => windows.means(items),
        _ => windows.sums(items),
    };
    result.copy_from_slice(&values);
    Ok(())
}

/// The windows of so many items by an index of a type.
fn of_range(
    items: usize,
    index_type: ElementType,
    index: &[u8],
    width: &[u8],
) -> Result<Rolling, Failure> {
    macro_rules! floats {
        ($float:ty) => {{
            let width: $float = bytemuck::pod_read_unaligned(width);
            ascending(items, elements("index", index)?, width, width > 0.0)
        }};
    }
    match index_type {
        ElementType::F32 => floats!(f32),
        ElementType::F64 => floats!(f64),
        _ => by_integer!(
            index_type,
            I => {
                let width: I = bytemuck::pod_read_unaligned(width);
                let index = elements::<I>("index", index)?.iter();
                // The differences of integers from the least one of their type fit 64 bits, and so do differences of these.
                let distance = |&at: &I| {
                    let distance = i128::from(at) - i128::from(I::MIN);
                    u64::try_from(distance).expect("the integers of a type are 2^64 at most")
                };
                let index: Vec<u64> = index.map(distance).collect();
                let positive = u64::try_from(i128::from(width)).unwrap_or(0);
                ascending(items, &index, positive, width > 0)
            },
            else Err(Failure::argument("index_type", "an index is of real numbers or integers"))
        ),
    }
}

fn ascending<I: Copy + PartialOrd + Sub<Output = I>>(
    items: usize,
    index: &[I],
    width: I,
    is_positive: bool,
) -> Result<Rolling, Failure> {
    if index.len() != items {
        let found = index.len();
        let message = format!("`index` has {found} elements, but `items` has {items}");
        return Err(Failure::new(Code::Length, message));
    }
    if !is_positive {
        return Err(Failure::argument("width", "it is not more than 0"));
    }
    Rolling::of_range(index, width).map_err(|error| Failure::argument("index", error))
}
