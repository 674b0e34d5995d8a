//! Operators on items without a Rust type: a program in another language says how many 64-bit words an item has.

use std::fmt;

use crate::environment;
use crate::error::FoldError;

/// Combines two items into a third, whose former content does not matter.
type CombineWords = dyn Fn(&[u64], &[u64], &mut [u64]) + Sync;

/// An operator on items whose size, in 64-bit words, is known when the program runs.
#[doc(hidden)]
pub struct WordsOperator {
    name: String,
    words: usize,
    empty: Option<Vec<u64>>,
    combine: Box<CombineWords>,
}

impl fmt::Debug for WordsOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WordsOperator({}, {} words)", self.name, self.words)
    }
}

/// A range of columns in rows of items.
#[derive(Clone, Copy)]
struct Rows<'r> {
    items: &'r [u64],
    count: usize,
    /// The number of words of a row.
    stride: usize,
    /// The first word of the columns, and their number of words.
    first: usize,
    length: usize,
}

impl<'r> Rows<'r> {
    fn row(&self, row: usize) -> &'r [u64] {
        &self.items[row * self.stride + self.first..][..self.length]
    }

    /// The first `rows` rows, and the others.
    fn split_at(&self, rows: usize) -> (Self, Self) {
        let (left, right) = self.items.split_at(rows * self.stride);
        let of = |items, count| Self {
            items,
            count,
            ..*self
        };
        (of(left, rows), of(right, self.count - rows))
    }
}

/// Rows of more than this number of words are reduced panel by panel. A panel has this number of words of each row, and stays in a cache.
const PANEL_WORDS: usize = 1 << 10;

impl WordsOperator {
    /// Makes an operator from its name, the number of words of an item, the reduction of no items, if there is one, and a function.
    pub fn new(
        name: String,
        words: usize,
        empty: Option<Vec<u64>>,
        combine: impl Fn(&[u64], &[u64], &mut [u64]) + Sync + 'static,
    ) -> Self {
        assert!(words > 0, "an item must have at least one word");
        Self {
            name,
            words,
            empty,
            combine: Box::new(combine),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The number of words of an item.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    pub(crate) fn empty(&self) -> Option<&[u64]> {
        self.empty.as_deref()
    }

    /// The reduction of the items in tree order.
    ///
    /// # Errors
    /// There are no items and no empty value, or this thread's floating-point environment is not IEEE 754's default.
    pub fn fold(&self, items: &[u64]) -> Result<Vec<u64>, FoldError> {
        environment::check()?;
        let mut result = vec![0; self.words];
        if self
            .fold_rows(items, &mut Vec::new(), &mut result)
            .is_some()
        {
            // The operator may have changed the environment.
            environment::check()?;
            return Ok(result);
        }
        self.empty.clone().ok_or_else(|| FoldError::NoItems {
            operator: self.name.clone(),
        })
    }

    /// Reduces rows that are as long as `result`, item by item in tree order; returns `None` for no rows. `scratch` grows to the length needed.
    pub(crate) fn fold_rows(
        &self,
        items: &[u64],
        scratch: &mut Vec<u64>,
        result: &mut [u64],
    ) -> Option<()> {
        let stride = result.len();
        let count = items.len() / stride;
        // Scratch memory holds both children at each level above pairs.
        let panel = (PANEL_WORDS / self.words).max(1) * self.words;
        let levels = count.checked_sub(1)?.checked_ilog2().unwrap_or(0) as usize;
        let needed = 2 * levels * panel.min(stride);
        scratch.resize(scratch.len().max(needed), 0);
        for (number, result) in result.chunks_mut(panel).enumerate() {
            let rows = Rows {
                items,
                count,
                stride,
                first: number * panel,
                length: result.len(),
            };
            self.fold_panel(rows, scratch, result);
        }
        Some(())
    }

    /// The reduction of at least one row.
    fn fold_panel(&self, rows: Rows<'_>, scratch: &mut [u64], into: &mut [u64]) {
        match rows.count {
            1 => into.copy_from_slice(rows.row(0)),
            2 => self.combine_rows(rows.row(0), rows.row(1), into),
            count => {
                let (lefts, rights) = rows.split_at(count.next_power_of_two() / 2);
                let (left, scratch) = scratch.split_at_mut(rows.length);
                self.fold_panel(lefts, scratch, left);
                if rights.count == 1 {
                    return self.combine_rows(left, rights.row(0), into);
                }
                let (right, scratch) = scratch.split_at_mut(rows.length);
                self.fold_panel(rights, scratch, right);
                self.combine_rows(left, right, into);
            }
        }
    }

    /// Combines two rows, item by item, into a third.
    #[inline]
    pub(crate) fn combine_rows(&self, left: &[u64], right: &[u64], into: &mut [u64]) {
        if into.len() == self.words {
            return (self.combine)(left, right, into);
        }
        let (lefts, rights) = (
            left.chunks_exact(self.words),
            right.chunks_exact(self.words),
        );
        for ((left, right), into) in lefts.zip(rights).zip(into.chunks_exact_mut(self.words)) {
            (self.combine)(left, right, into);
        }
    }

    /// Scans rows that are as long as `row`, which is scratch memory. There are `first_item` items before the rows; `waiting` has the
    /// values of the subtrees that these items fill, the highest first.
    pub(crate) fn scan(
        &self,
        first_item: u64,
        waiting: &mut Vec<u64>,
        rows: &[u64],
        is_exclusive: bool,
        row: &mut [u64],
        result: &mut [u64],
    ) {
        let length = row.len();
        let results = result.chunks_exact_mut(length);
        for ((item, next), result) in (first_item..).zip(rows.chunks_exact(length)).zip(results) {
            if is_exclusive {
                self.join(waiting, row, result);
            }
            waiting.extend_from_slice(next);
            for _ in 0..item.trailing_ones() {
                let left = waiting.len() - 2 * length;
                let (lefts, rights) = waiting[left..].split_at(length);
                self.combine_rows(lefts, rights, row);
                waiting.truncate(left);
                waiting.extend_from_slice(row);
            }
            if !is_exclusive {
                self.join(waiting, row, result);
            }
        }
    }

    /// Writes the reduction of all items whose subtrees are in `waiting`; the empty value if there are none.
    fn join(&self, waiting: &[u64], row: &mut [u64], result: &mut [u64]) {
        let mut lefts = waiting.chunks_exact(result.len()).rev();
        let Some(last) = lefts.next() else {
            return self.write_empty(result);
        };
        result.copy_from_slice(last);
        for left in lefts {
            self.combine_rows(left, result, row);
            result.copy_from_slice(row);
        }
    }

    /// Fills a row with the empty value. Callers have checked that the operator has one.
    pub(crate) fn write_empty(&self, row: &mut [u64]) {
        let empty = self.empty().expect("without items there is an empty value");
        for item in row.chunks_exact_mut(self.words) {
            item.copy_from_slice(empty);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WordsOperator;

    /// A function that is neither associative nor commutative.
    fn combine(left: u64, right: u64) -> u64 {
        (left.rotate_left(7) ^ 0x9E37)
            .wrapping_mul(0x2545_F491_4F6C_DD1D)
            .wrapping_add(right)
    }

    fn operator(words: usize) -> WordsOperator {
        WordsOperator::new("mix".to_owned(), words, None, |left, right, into| {
            for ((into, &left), &right) in into.iter_mut().zip(left).zip(right) {
                *into = combine(left, right);
            }
        })
    }

    fn column(items: &[u64], width: usize, column: usize) -> u64 {
        let own: Vec<u64> = items.iter().copied().skip(column).step_by(width).collect();
        simd_kernels::by_definition(&own, &combine).expect("there are rows")
    }

    /// Tests every number of rows up to `most`, for rows of one or several items, in one or several panels.
    #[test]
    fn rows_are_folded_by_the_definition() {
        for (words, width, most) in [
            (1, 1, 200),
            (3, 3, 70),
            (2, 8, 40),
            (1, 3000, 9),
            (5, 2055, 9),
        ] {
            for rows in 1..=most {
                let items: Vec<u64> = (0..rows * width)
                    .map(|i| (i as u64).wrapping_mul(0x9E37_79B9))
                    .collect();
                let (mut result, mut scratch) = (vec![0; width], Vec::new());
                let folded = operator(words).fold_rows(&items, &mut scratch, &mut result);
                assert_eq!(folded, Some(()));
                let expected: Vec<u64> = (0..width).map(|at| column(&items, width, at)).collect();
                assert_eq!(result, expected, "{rows} rows of {width} words");
            }
        }
        let none = operator(1).fold_rows(&[], &mut Vec::new(), &mut [0]);
        assert_eq!(none, None);
    }

    /// Scans 75 rows in three calls.
    #[test]
    fn a_scan_goes_on_from_what_was_before() {
        let items: Vec<u64> = (0..150_u64).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
        let (mut waiting, mut row, mut found) = (Vec::new(), [0; 2], vec![0; items.len()]);
        let (mut first, mut done) = (0, 0);
        for rows in [7, 25, 43] {
            let part = 2 * done..2 * (done + rows);
            let result = &mut found[part.clone()];
            operator(1).scan(first, &mut waiting, &items[part], false, &mut row, result);
            first += rows as u64;
            done += rows;
        }
        for (before, found) in found.chunks_exact(2).enumerate() {
            let expected = [0, 1].map(|at| column(&items[..2 * before + 2], 2, at));
            assert_eq!(found, expected, "{before} rows before");
        }
    }
}
