//! Computes the statistics of successive windows from sums of powers and products.

use simd_kernels::Quiet;

use crate::number::float::Float;
use crate::rolling::windows::Windows;
use crate::slots::Slot as _;
use crate::slots::narrow::grid::Grid;
use crate::slots::narrow::{Count, Narrow};
use crate::statistic::{Options, Statistic};

/// A window that moves over rows of C columns.
struct Slide<'c, T: Float, N: Narrow<T, C>, const C: usize> {
    columns: [&'c [f64]; C],
    grids: [Grid; C],
    /// The sums of the window's rows whose items fit the grids.
    narrow: N,
    /// The sums of the window's other rows.
    others: N::Slot,
    others_rows: i64,
}

/// A statistic of each window; NaN for windows with fewer rows than `least_items`.
pub(super) fn statistics<T: Float, N: Narrow<T, C>, const C: usize>(
    columns: [&[T]; C],
    windows: &Windows,
    least_items: usize,
    statistic: Statistic,
    options: Options,
) -> Vec<T> {
    let columns = columns.map(T::as_doubles);
    let columns = columns.each_ref().map(|column| column.as_ref());
    let len = columns[0].len();
    let longest = windows.longest(len);
    let bits = Grid::bits(usize::BITS - longest.leading_zeros());
    let grids = columns.map(|column| Grid::of::<T>(column, bits));
    let units = grids.map(Grid::unit);
    let mut slide = Slide::<T, N, C> {
        columns,
        grids,
        narrow: N::default(),
        others: N::Slot::default(),
        others_rows: 0,
    };
    let quiet = Quiet::now();
    let is_quiet = quiet.is_some();
    let mut window = 0..0;
    let mut count = Count::of(0, statistic, options);
    let mut values = Vec::with_capacity(len);
    for number in 0..windows.len().unwrap_or(len) {
        let next = windows.range(number, len);
        (window.end..next.end).for_each(|row| slide.step(row, 1));
        (window.start..next.start).for_each(|row| slide.step(row, -1));
        window = next;
        if window.len() < least_items {
            values.push(T::NAN);
            continue;
        }
        let items = window.len() as u64;
        if items != count.items {
            count = Count::of(items, statistic, options);
        }
        let near = if slide.others_rows == 0 && is_quiet {
            let narrow = &slide.narrow;
            narrow.statistic(statistic, options, count, units, false)
        } else {
            None
        };
        values.push(match near {
            Some(value) => value,
            None => slide.exact(statistic, options, items, units),
        });
    }
    if let Some(quiet) = quiet {
        quiet.forget_since();
    }
    values
}

impl<T: Float, N: Narrow<T, C>, const C: usize> Slide<'_, T, N, C> {
    /// A row, and its items as integers if all of them fit the grids.
    #[inline(always)]
    fn row(&self, number: usize) -> ([f64; C], Option<[i128; C]>) {
        let row = self.columns.map(|column| column[number]);
        let mut integers = [0; C];
        for ((integer, grid), item) in integers.iter_mut().zip(self.grids).zip(row) {
            match grid.integer(item) {
                Some(own) => *integer = own,
                None => return (row, None),
            }
        }
        (row, Some(integers))
    }

    /// Adds a row to the window if `sign` is 1; removes it if `sign` is -1.
    #[inline(always)]
    fn step(&mut self, number: usize, sign: i64) {
        match self.row(number) {
            (_, Some(integers)) => self.narrow.change(integers, sign < 0),
            (row, None) => {
                self.others_rows += sign;
                N::step(&mut self.others, row, sign);
            }
        }
    }

    /// Computes the statistic exactly. This is needed if an item does not fit its grid, if the rounding is in doubt, or if the
    /// floating-point environment is not the default.
    #[cold]
    fn exact(&self, statistic: Statistic, options: Options, items: u64, units: [i32; C]) -> T {
        let all = self.narrow.with(&self.others, items, units);
        all.statistic(statistic, options)
            .expect("the slot has the statistic")
    }
}
