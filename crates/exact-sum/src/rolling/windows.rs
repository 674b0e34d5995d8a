//! Determines which items are in each window.

use std::ops::Range;

/// Where a window's own item is within the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Placement {
    /// At the end: the window has the item and items before it.
    #[default]
    Trailing,
    /// At the beginning: the window has the item and items after it.
    Forward,
    /// In the middle, as in pandas: (n - 1) / 2 of the window's n items, rounded down, come after its own item.
    Centred,
}

/// The window of each item. Starts and ends never decrease. An item is in its own window, unless it is left out as missing.
#[derive(Clone, Debug)]
pub(super) enum Windows {
    /// Windows of `items` items; `ahead` of them come after the window's own item.
    OfItems { items: usize, ahead: usize },
    /// Windows from their `starts` to their `ends`. Without `ends`, each window ends with its own item. With `ends`, there may be more
    /// windows than items, and some windows may be empty.
    Ranges {
        starts: Vec<usize>,
        ends: Option<Vec<usize>>,
    },
}

/// How many items enter and leave in each of the next windows.
pub(super) enum Steps {
    /// All windows are alike: one item enters in every window or in none, and one item leaves in every window or in none.
    Even {
        windows: usize,
        entering: Range<usize>,
        leaving: Range<usize>,
    },
    /// In each of this many windows one item enters, and any number leaves.
    Entering(usize),
    /// In each of this many windows any numbers enter and leave.
    Any(usize),
}

impl Windows {
    pub(super) fn of_items(items: usize, placement: Placement) -> Self {
        let ahead = match placement {
            Placement::Trailing => 0,
            Placement::Forward => items - 1,
            Placement::Centred => (items - 1) / 2,
        };
        Self::OfItems { items, ahead }
    }

    /// The number of windows; `None` if each item has a window.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            Self::OfItems { .. } => None,
            Self::Ranges { starts, .. } => Some(starts.len()),
        }
    }

    /// The items in the window of `item`, if there are `len` items in all.
    #[inline(always)]
    pub(super) fn range(&self, item: usize, len: usize) -> Range<usize> {
        match self {
            Self::OfItems { items, ahead } => {
                let start = (item + 1).saturating_sub(items - ahead);
                start..(item + 1).saturating_add(*ahead).min(len)
            }
            Self::Ranges { starts, ends } => {
                let end = ends.as_ref().map_or(item + 1, |ends| ends[item]);
                starts[item]..end
            }
        }
    }

    /// The largest number of items in a window, if there are `len` items in all.
    pub(super) fn longest(&self, len: usize) -> usize {
        match self {
            Self::OfItems { items, .. } => len.min(*items),
            Self::Ranges { .. } => len,
        }
    }

    /// The same windows without missing items, as ranges of columns from which these items have been removed.
    pub(super) fn without(&self, is_missing: &[bool]) -> Self {
        let mut before = vec![0];
        for (item, is_missing) in is_missing.iter().enumerate() {
            before.push(before[item] + usize::from(!is_missing));
        }
        let ranges = (0..is_missing.len()).map(|window| self.range(window, is_missing.len()));
        let (starts, ends) = ranges
            .map(|range| (before[range.start], before[range.end]))
            .unzip();
        Self::Ranges {
            starts,
            ends: Some(ends),
        }
    }

    /// Writes the number of items of each window from window `first` on.
    pub(super) fn write_counts(&self, first: usize, len: usize, counts: &mut [usize]) {
        match self {
            Self::OfItems { items, ahead }
                if *items <= first && len - first >= counts.len().saturating_add(*ahead) =>
            {
                counts.fill(*items);
            }
            _ => {
                for (window, count) in (first..).zip(counts) {
                    *count = self.range(window, len).len();
                }
            }
        }
    }

    /// The number of items that enter before the [steps](Self::steps) of the first window, if there are `len` items in all.
    pub(super) fn entered(&self, len: usize) -> usize {
        match self {
            Self::OfItems { ahead, .. } => len.min(*ahead),
            Self::Ranges { .. } => 0,
        }
    }

    /// The steps of at most `most` windows from `first` on.
    pub(super) fn steps(&self, first: usize, len: usize, most: usize) -> Steps {
        let windows = most.min(self.len().unwrap_or(len) - first);
        match self {
            Self::OfItems { items, ahead } => {
                let next = first.saturating_add(*ahead).min(len);
                let mut windows = windows;
                let (mut entering, mut leaving) = (next..next, 0..0);
                if next < len {
                    windows = windows.min(len - next);
                    entering.end += windows;
                }
                let behind = items - ahead;
                if let Some(start) = first.checked_sub(behind) {
                    leaving = start..start + windows;
                } else {
                    windows = windows.min(behind - first);
                    entering.end = entering.end.min(next + windows);
                }
                Steps::Even {
                    windows,
                    entering,
                    leaving,
                }
            }
            Self::Ranges { ends: None, .. } => Steps::Entering(windows),
            Self::Ranges { .. } => Steps::Any(windows),
        }
    }
}
