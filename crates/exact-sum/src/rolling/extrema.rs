//! Finds the least or the greatest item of each window.

use std::collections::VecDeque;

use crate::number::float::Float;
use crate::rolling::windows::Windows;
use crate::slots::extrema::ordered;

/// The least item of each window, or the greatest one; NaN if any item is NaN.
///
/// A queue holds the items that are less than all later items of the window, so the first in the queue is the least (Lemire, Nordic
/// Journal of Computing 13, 2006).
pub(super) fn extrema<T: Float>(items: &[T], windows: &Windows, is_greatest: bool) -> Vec<T> {
    const NAN: i64 = i64::MIN;
    let key = |item: T| {
        let item = item.widened();
        let number = ordered(item.to_bits().cast_signed());
        match (item.is_nan(), is_greatest) {
            (true, _) => NAN,
            (false, true) => !number,
            (false, false) => number,
        }
    };
    let mut queue: VecDeque<(usize, i64)> = VecDeque::new();
    let mut entered = 0;
    let mut values = Vec::with_capacity(items.len());
    for window in 0..windows.len().unwrap_or(items.len()) {
        let range = windows.range(window, items.len());
        while entered < range.end {
            let own = key(items[entered]);
            while queue.back().is_some_and(|(_, last)| *last >= own) {
                queue.pop_back();
            }
            queue.push_back((entered, own));
            entered += 1;
        }
        while queue.front().is_some_and(|(item, _)| *item < range.start) {
            queue.pop_front();
        }
        let least = queue.front().filter(|(_, key)| *key != NAN);
        values.push(least.map_or(T::NAN, |(item, _)| items[*item]));
    }
    values
}
