//! Statistics of moving windows.

use treefold::exact::{Float, Placement, Rolling, RollingError, RollingIndex};

use super::has_room;
use crate::element::ElementType;
use crate::failure::{self, Code, Failure};
use crate::raw::{elements, elements_mut};
use crate::statistic::Question;
use crate::{by_integer, by_real};

/// The items that a window contains.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Extent<'i> {
    /// A number of items.
    Items(usize),
    /// A range of index values; `width` is one element of the index's type.
    Range {
        index_type: ElementType,
        index: &'i [u8],
        width: &'i [u8],
    },
    /// All items up to the current one.
    Expanding,
}

/// A `treefold_window`, with slices instead of pointers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<'i> {
    pub(crate) extent: Extent<'i>,
    pub(crate) placement: Placement,
    pub(crate) least_items: usize,
    pub(crate) skips_nan: bool,
}

/// Writes a statistic of each item's window to `result`.
pub(crate) fn rolling(
    element_type: ElementType,
    question: Question,
    window: Window<'_>,
    arrays: &[&[u8]],
    result: &mut [u8],
) -> Result<(), Failure> {
    by_real!(element_type, T => of_reals::<T>(question, window, arrays, result))
}

fn of_reals<T: Float + bytemuck::Pod>(
    question: Question,
    window: Window<'_>,
    arrays: &[&[u8]],
    result: &mut [u8],
) -> Result<(), Failure> {
    let names = ["x", "y"].iter().zip(arrays);
    let columns = names.map(|(name, array)| elements::<T>(name, array));
    let columns: Vec<&[T]> = columns.collect::<Result<_, _>>()?;
    let result = elements_mut::<T>("result", result)?;
    let (found, expected) = (result.len(), columns[0].len());
    if found != expected {
        let message = format!("`result` has {found} elements, but `x` has {expected}");
        return Err(Failure::new(Code::Length, message));
    }
    has_room(expected, size_of::<T>() + size_of::<u64>())?;
    let windows = window.rolling()?;
    let windows = windows
        .least_items(window.least_items)
        .skip_nan(window.skips_nan);
    let values = windows.values(question.asked.of_reals(), question.options, &columns);
    let values = values.map_err(|error| match error {
        RollingError::Length {
            column: 1,
            found,
            expected,
        } => failure::lengths(expected, found),
        error => Failure::argument("x", error),
    })?;
    result.copy_from_slice(&values);
    Ok(())
}

impl Window<'_> {
    fn rolling(self) -> Result<Rolling, Failure> {
        match self.extent {
            Extent::Items(0) => Err(Failure::argument("window", "set `items` or `index`")),
            Extent::Items(window) => Ok(Rolling::of_items(window, self.placement)),
            Extent::Expanding => Ok(Rolling::expanding()),
            Extent::Range {
                index_type,
                index,
                width,
            } => match index_type {
                ElementType::F32 => self.ascending::<f32>(index, width),
                ElementType::F64 => self.ascending::<f64>(index, width),
                _ => by_integer!(
                    index_type,
                    I => self.ascending::<I>(index, width),
                    else Err(Failure::argument("index_type", "an index must consist of real numbers or integers"))
                ),
            },
        }
    }

    fn ascending<I: RollingIndex + bytemuck::AnyBitPattern>(
        self,
        index: &[u8],
        width: &[u8],
    ) -> Result<Rolling, Failure> {
        let index = elements::<I>("index", index)?;
        let width = bytemuck::pod_read_unaligned(width);
        let windows = Rolling::of_range(index, width, self.placement);
        windows.map_err(|error| match error {
            RollingError::Width => Failure::argument("width", "it must be more than 0"),
            error => Failure::argument("index", error),
        })
    }
}
