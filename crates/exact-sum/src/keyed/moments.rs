//! Means and variances by key.

use simd_kernels::{DECODED_ITEMS, Level, Quiet, exact_products};

use super::key::{self, Key, KeyError};
use super::tables::Decoded;
use super::windows::Windows;
use crate::float::Float;
use crate::moments::Spread;
use crate::product_sum::ProductSum;
use crate::round;
use crate::total::Total;

/// The number, the sum and the sum of the squares of the items of each of the keys 0 to K - 1: their means, variances and standard deviations,
/// each exact until it is rounded once.
///
/// ```
/// use exact_sum::KeyedMoments;
///
/// let mut moments = KeyedMoments::<f64>::new(2);
/// moments.add(&[0, 1, 0, 0_u8], &[1e8 + 1.0, 7.0, 1e8 + 2.0, 1e8 + 6.0])?;
/// assert_eq!(moments.counts(), [3, 1]);
/// assert_eq!([moments.mean(0), moments.variance(0, 1.0)], [1e8 + 3.0, 7.0]);
/// # Ok::<(), exact_sum::KeyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyedMoments<T: Float> {
    counts: Vec<u64>,
    sums: Windows<T::Sums>,
    /// Those of the rounded squares, and of what these lack.
    squares: [Windows<T::Products>; 2],
}

impl<T: Float> KeyedMoments<T> {
    /// Those of no items, for so many keys.
    #[must_use]
    pub fn new(keys: usize) -> Self {
        Self {
            counts: vec![0; keys],
            sums: Windows::new(keys),
            squares: [Windows::new(keys), Windows::new(keys)],
        }
    }

    /// The number of keys.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.counts.len()
    }

    /// Adds items to those of their keys.
    ///
    /// # Errors
    /// There are not as many keys as items, or a key is out of range. Nothing has changed then.
    pub fn add<K: Key>(&mut self, keys: &[K], items: &[T]) -> Result<(), KeyError> {
        key::check(keys, items.len(), self.keys())?;
        let level = Level::best();
        let is_quiet = Quiet::now().is_some();
        let blocks = keys.chunks(DECODED_ITEMS).zip(items.chunks(DECODED_ITEMS));
        let mut doubles = [0.0; DECODED_ITEMS];
        let mut decoded = Decoded::ZERO;
        for (keys, items) in blocks {
            let doubles = &mut doubles[..items.len()];
            for (double, item) in doubles.iter_mut().zip(items) {
                *double = item.widened();
            }
            for key in keys {
                self.counts[key.place()] += 1;
            }
            self.sums.add(level, keys, doubles, false, &mut decoded);
            if is_quiet {
                self.add_squares(level, keys, doubles, &mut decoded);
            } else {
                for (key, item) in keys.iter().zip(doubles) {
                    self.squares[0].add_square(key.place(), *item);
                }
            }
        }
        Ok(())
    }

    fn add_squares<K: Key>(
        &mut self,
        level: Level,
        keys: &[K],
        items: &[f64],
        decoded: &mut Decoded,
    ) {
        let [mut squares, mut errors] = [[0.0; DECODED_ITEMS]; 2];
        let (squares, errors) = (&mut squares[..items.len()], &mut errors[..items.len()]);
        if !exact_products(level, items, items, squares, errors) {
            for (index, &item) in items.iter().enumerate() {
                let is_exact = item == 0.0
                    || squares[index] >= simd_kernels::EXACT_PRODUCT && errors[index].is_finite();
                if !is_exact {
                    (squares[index], errors[index]) = (0.0, 0.0);
                    self.squares[0].add_square(keys[index].place(), item);
                } else if item == 0.0 {
                    errors[index] = 0.0;
                }
            }
        }
        self.squares[0].add(level, keys, squares, false, decoded);
        self.squares[1].add(level, keys, errors, false, decoded);
    }

    /// Adds other ones, key by key. If they have more keys, so will these.
    pub fn merge(&mut self, other: &Self) {
        self.counts.resize(self.keys().max(other.keys()), 0);
        for (count, other) in self.counts.iter_mut().zip(&other.counts) {
            *count += other;
        }
        self.sums.merge_all(&other.sums);
        for (squares, other) in self.squares.iter_mut().zip(&other.squares) {
            squares.merge_all(other);
        }
    }

    /// The number of items of each key.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The mean of a key's items, rounded once; NaN if there are none.
    ///
    /// # Panics
    /// The key is out of range.
    #[must_use]
    pub fn mean(&self, key: usize) -> T {
        self.sums.mean(key, self.counts[key])
    }

    /// The variance of a key's items, rounded once: see [`Moments::variance`](crate::Moments::variance).
    ///
    /// # Panics
    /// The key is out of range.
    #[must_use]
    pub fn variance(&self, key: usize, ddof: f64) -> T {
        self.spread(key, ddof).value(|magnitude| magnitude)
    }

    /// The standard deviation of a key's items, rounded once: see [`Moments::standard_deviation`](crate::Moments::standard_deviation).
    ///
    /// # Panics
    /// The key is out of range.
    #[must_use]
    pub fn standard_deviation(&self, key: usize, ddof: f64) -> T {
        self.spread(key, ddof).value(round::root)
    }

    fn spread(&self, key: usize, ddof: f64) -> Spread {
        let sum: Total<T::Sums> = self.sums.total(key);
        let mut squares = ProductSum::<T>::new();
        for part in &self.squares {
            squares.total.merge(&part.total(key));
        }
        Spread::of::<T>(&[&sum], &squares, self.counts[key], ddof)
    }
}
