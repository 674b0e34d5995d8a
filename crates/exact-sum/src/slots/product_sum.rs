//! Sums products of two items.

use bytemuck::Zeroable as _;
use simd_kernels::{
    Ahead, EXACT_PRODUCT, Exponents, Level, Quiet, RangeScale, exact_products,
    split_products_in_range, without_traps,
};

use crate::bytes::{self, BytesError, Kind};
use crate::number::blocks::{BlockHistory, FIRST_ITEMS};
use crate::number::convert::FEW_ITEMS;
use crate::number::counters::{Counters, LimitError, RemoveError, is_negative_zero};
use crate::number::destination::Destination;
use crate::number::fixed::FixedFormat;
use crate::number::float::Float;
use crate::number::products::add_product;
use crate::number::round;
use crate::number::total::{Total, WithoutZeros, check_counts};
use crate::slots::Slot;
use crate::slots::accumulator::sealed::Sealed;
use crate::slots::accumulator::{Accumulator, accumulator, parts, parts_mut};
use crate::statistic::{Options, Statistic};

/// The number of products that are split at one scale.
const BLOCK_PRODUCTS: usize = 4096;

/// The number of products that are written to memory at once.
const PRODUCTS: usize = 1024;

/// The largest number of successive blocks whose products are written to memory without trying to add them in a range.
const MOST_WRITTEN: u32 = 63;

/// A sum of products that stays exact until it is rounded.
///
/// ```
/// use exact_sum::ProductSum;
///
/// let mut dot = ProductSum::<f64>::new();
/// dot.add(&[1e200, 3.0, 1e200], &[1e200, 4.0, -1e200]);
/// assert_eq!(dot.value(), 12.0);
///
/// let mut squares = ProductSum::<f64>::new();
/// squares.add_squares(&[3e-200, 4e-200]);
/// assert_eq!(squares.root(), 5e-200);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ProductSum<T: Float> {
    pub(crate) total: Total<T::Products>,
    products: ProductHistory,
}

impl<T: Float> Default for ProductSum<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Float> ProductSum<T> {
    /// The sum of no products, +0.0.
    #[must_use]
    pub fn new() -> Self {
        Self {
            total: Total::ZERO,
            products: ProductHistory::START,
        }
    }

    /// The sum of x0 * y0, x1 * y1, ….
    ///
    /// # Panics
    /// The slices differ in length.
    #[must_use]
    #[inline]
    pub fn of(x: &[T], y: &[T]) -> Self {
        let mut sum = Self::new();
        sum.add(x, y);
        sum
    }

    /// Adds x0 * y0, x1 * y1, ….
    ///
    /// # Panics
    /// The slices differ in length; or there would be more than 2^63 - 1 products, which is possible after merges.
    #[inline]
    pub fn add(&mut self, x: &[T], y: &[T]) {
        self.add_at(Level::best(), x, y);
    }

    /// Does what [`add`](Self::add) does, with the instruction set `level`.
    pub fn add_at(&mut self, level: Level, x: &[T], y: &[T]) {
        assert_eq!(x.len(), y.len(), "the slices differ in length");
        let Some(quiet) = Quiet::now() else {
            if !without_traps(&mut || self.add_at(level, x, y)) {
                for (x, y) in x.iter().zip(y) {
                    self.total.add_product_by_integers(x.widened(), y.widened());
                }
            }
            return;
        };
        self.total.counters.count(x.len());
        let Self { total, products } = self;
        // Converted items are copies, so the next items do not follow them in memory.
        let ahead = if T::IS_SINGLE {
            Ahead::Nothing
        } else {
            Ahead::of_bytes(size_of_val(x))
        };
        T::in_pairs_of_doubles(x, y, |x, y| {
            for (x, y) in x.chunks(BLOCK_PRODUCTS).zip(y.chunks(BLOCK_PRODUCTS)) {
                products.add_block::<T>(level, x, y, ahead, total);
            }
        });
        quiet.forget_since();
    }

    /// Removes products that were added.
    ///
    /// # Panics
    /// The slices differ in length.
    ///
    /// # Errors
    /// Those of [`Sum::remove`](crate::Sum::remove).
    pub fn remove(&mut self, x: &[T], y: &[T]) -> Result<(), RemoveError> {
        let mut removed = Self {
            total: Total::ZERO,
            products: self.products,
        };
        removed.add(x, y);
        self.unmerge(&removed)?;
        self.products = removed.products;
        Ok(())
    }

    /// Adds x0 * x0, x1 * x1, ….
    pub fn add_squares(&mut self, x: &[T]) {
        self.add(x, x);
    }

    /// Whether this sum of squares has the counters that follow from the items' totals. Complex items have one total for each part.
    pub(crate) fn are_of(&self, parts: &[&Total<T::Sums>]) -> bool {
        let of_parts = |count: fn(&Counters) -> i64| {
            let counts = parts.iter().map(|part| count(&part.counters));
            counts.fold(0_i64, i64::saturating_add)
        };
        let squares = self.total.counters;
        let infinities = of_parts(|counters| {
            counters
                .infinities
                .saturating_add(counters.negative_infinities)
        });
        squares
            == Counters {
                items: of_parts(|counters| counters.items),
                negative_zeros: 0,
                nans: of_parts(|counters| counters.nans),
                infinities,
                negative_infinities: 0,
            }
    }

    pub(crate) fn of_total(total: Total<T::Products>) -> Self {
        Self {
            total,
            ..Self::new()
        }
    }

    fn of_totals([total]: [Total<T::Products>; 1]) -> Self {
        Self::of_total(total)
    }

    fn totals(&self) -> [&Total<T::Products>; 1] {
        [&self.total]
    }

    fn totals_mut(&mut self) -> [&mut Total<T::Products>; 1] {
        [&mut self.total]
    }

    /// The sum divided by the number of products, rounded once; NaN if there are no products.
    #[must_use]
    pub fn mean(&self) -> T {
        self.total.mean()
    }

    /// The sum, rounded to nearest, ties to even; for special cases see [`Sum::value`](crate::Sum::value).
    #[must_use]
    pub fn value(&self) -> T {
        self.total.value()
    }

    /// The square root of the exact sum, rounded once: a norm, if the products are squares. NaN if the sum is negative.
    #[must_use]
    pub fn root(&self) -> T {
        if let Some(special) = self.total.special::<T>() {
            let is_negative = special.into() < 0.0;
            return if is_negative { T::NAN } else { special };
        }
        match self.total.fixed.magnitude() {
            None => self.total.zero(),
            Some((true, _)) => T::NAN,
            Some((false, magnitude)) => T::nearest(round::root(magnitude)),
        }
    }
}

accumulator!(
    ProductSum,
    Products,
    <T::Products as FixedFormat>::Words,
    <T::Products as FixedFormat>::Integers,
    1,
    Kind::ProductSum,
    "exact sum of products"
);

/// What earlier blocks have shown about products and their rounding errors.
#[derive(Clone, Copy, Debug)]
struct ProductHistory {
    /// The scale of the last block, and whether some products were zero; `None` if no scale fit the block's products.
    method: Option<(RangeScale, bool)>,
    /// The number of blocks whose products are written to memory before a range is tried again.
    written: u32,
    /// The last value to which `written` was set.
    last_written: u32,
    /// The history of the products that were written to memory.
    products: BlockHistory,
    errors: BlockHistory,
}

impl ProductHistory {
    const START: Self = Self {
        method: None,
        written: 0,
        last_written: 0,
        products: BlockHistory::START,
        errors: BlockHistory::START,
    };

    /// Adds the products of at most `BLOCK_PRODUCTS` pairs of doubles that were converted from items of type `T`.
    fn add_block<T: Float>(
        &mut self,
        level: Level,
        x: &[f64],
        y: &[f64],
        ahead: Ahead,
        total: &mut Total<T::Products>,
    ) {
        if !T::IS_SINGLE && self.split::<T>(level, x, y, ahead, total) {
            return;
        }
        if x.len() <= FEW_ITEMS {
            return self.add::<FEW_ITEMS, T>(level, x, y, total);
        }
        for (x, y) in x.chunks(PRODUCTS).zip(y.chunks(PRODUCTS)) {
            self.add::<PRODUCTS, T>(level, x, y, total);
        }
    }

    /// Adds the products if their exponents are in a range. Returns whether they were added.
    #[inline]
    fn split<T: Float>(
        &mut self,
        level: Level,
        x: &[f64],
        y: &[f64],
        ahead: Ahead,
        total: &mut Total<T::Products>,
    ) -> bool {
        if x.len() < FIRST_ITEMS {
            return false;
        }
        if self.written > 0 {
            self.written -= 1;
            return false;
        }
        let first = || Exponents::of_products(level, &x[..FIRST_ITEMS], &y[..FIRST_ITEMS]);
        let method = self.method.or_else(|| method_for(first()?));
        if let Some(method) = method
            && add_in_range(level, x, y, method, ahead, total)
        {
            self.method = Some(method);
            return true;
        }
        x.len() > FEW_ITEMS && self.split_at_own_scale::<T>(level, x, y, total)
    }

    #[cold]
    fn split_at_own_scale<T: Float>(
        &mut self,
        level: Level,
        x: &[f64],
        y: &[f64],
        total: &mut Total<T::Products>,
    ) -> bool {
        self.method = Exponents::of_products(level, x, y).and_then(method_for);
        if let Some(method) = self.method
            && add_in_range(level, x, y, method, Ahead::Nothing, total)
        {
            self.last_written = 0;
            return true;
        }
        self.method = None;
        self.last_written = (2 * self.last_written + 1).min(MOST_WRITTEN);
        self.written = self.last_written;
        false
    }

    /// Adds the products of at most `MOST` pairs of doubles that were converted from items of type `T`.
    fn add<const MOST: usize, T: Float>(
        &mut self,
        level: Level,
        x: &[f64],
        y: &[f64],
        destination: &mut Total<T::Products>,
    ) {
        let [mut products, mut errors] = [[0.0; MOST]; 2];
        let products = &mut products[..x.len()];
        if T::IS_SINGLE {
            // The products are exact: the factors' significands have 24 bits, and their exponents are far from the limits of doubles.
            for (product, (x, y)) in products.iter_mut().zip(x.iter().zip(y)) {
                *product = x * y;
            }
            return self
                .products
                .add(level, products, Ahead::Nothing, destination);
        }
        let errors = &mut errors[..x.len()];
        if !exact_products(level, x, y, products, errors) {
            for (index, (product, error)) in products.iter_mut().zip(&mut *errors).enumerate() {
                let (x, y) = (x[index], y[index]);
                if x == 0.0 || y == 0.0 || !x.is_finite() || !y.is_finite() {
                    *error = 0.0;
                } else if product.abs() < EXACT_PRODUCT || !error.is_finite() {
                    (*product, *error) = (0.0, 0.0);
                    add_product(x, y, |value, unit| destination.fixed.add(value, unit));
                }
            }
        }
        self.products
            .add(level, products, Ahead::Nothing, destination);
        self.errors.add(
            level,
            errors,
            Ahead::Nothing,
            &mut WithoutZeros(destination),
        );
    }
}

/// The scale for products of these exponents, and whether there are zeros; `None` if the exponents are not in a range.
fn method_for(exponents: Exponents) -> Option<(RangeScale, bool)> {
    let Exponents {
        lowest,
        highest,
        has_zeros,
    } = exponents;
    Some((RangeScale::for_products(lowest, highest)?, has_zeros))
}

/// Adds products if their exponents are in the range of `scale`. Returns whether they were added.
fn add_in_range(
    level: Level,
    x: &[f64],
    y: &[f64],
    (scale, has_zeros): (RangeScale, bool),
    ahead: Ahead,
    destination: &mut impl Destination,
) -> bool {
    let splits = split_products_in_range(level, x, y, has_zeros, scale, ahead);
    let Some([products, errors]) = splits else {
        return false;
    };
    destination.add_split(products, scale.units());
    destination.add_split(errors, scale.error_units());
    if products.may_have_negative_zeros {
        let products = x.iter().zip(y).map(|(x, y)| x * y);
        let zeros = products.filter(|&product| is_negative_zero(product));
        destination.count_negative_zeros([zeros.count() as u64, 0]);
    }
    true
}

impl<T: Float> Slot for ProductSum<T> {
    type Item = T;
    type Items<'i> = [&'i [T]; 2];

    fn statistic(&self, statistic: Statistic, _: Options) -> Option<T> {
        match statistic {
            Statistic::Dot => Some(self.value()),
            Statistic::Norm => Some(self.root()),
            _ => None,
        }
    }
}
