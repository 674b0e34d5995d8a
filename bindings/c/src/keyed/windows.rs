//! Exact sums and means of windows that end at each item.

use bytemuck::AnyBitPattern;
use treefold::exact::{self, Float, Placement, Rolling, RollingError, RollingIndex};

use super::has_room;
use crate::by_integer;
use crate::element::ElementType;
use crate::failure::{Code, Failure};
use crate::raw::elements;
use crate::statistic::Statistic;

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
        Window::Items(window) => Rolling::of_items(window, Placement::Trailing),
        Window::Range {
            index_type,
            index,
            width,
        } => of_range(items.len(), index_type, index, width)?,
    };
    let windows = windows.least_items(least_items);
    let statistic = match statistic {
        Statistic::Mean => exact::Statistic::Mean,
        _ => exact::Statistic::Sum,
    };
    let values = windows.values(statistic, statistic.defaults(), &[items]);
    let values = values.map_err(|error| Failure::argument("items", error))?;
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
    match index_type {
        ElementType::F32 => ascending::<f32>(items, index, width),
        ElementType::F64 => ascending::<f64>(items, index, width),
        _ => by_integer!(
            index_type,
            I => ascending::<I>(items, index, width),
            else Err(Failure::argument("index_type", "an index is of real numbers or integers"))
        ),
    }
}

fn ascending<I: RollingIndex + AnyBitPattern>(
    items: usize,
    index: &[u8],
    width: &[u8],
) -> Result<Rolling, Failure> {
    let index = elements::<I>("index", index)?;
    if index.len() != items {
        let found = index.len();
        let message = format!("`index` has {found} elements, but `items` has {items}");
        return Err(Failure::new(Code::Length, message));
    }
    let windows = Rolling::of_range(
        index,
        bytemuck::pod_read_unaligned(width),
        Placement::Trailing,
    );
    windows.map_err(|error| match error {
        RollingError::Width => Failure::argument("width", "it is not more than 0"),
        error => Failure::argument("index", error),
    })
}
