//! Two columns of items, and how one follows the other.

use num_bigint::BigInt;

use crate::number::counters::{LimitError, RemoveError};
use crate::number::float::Float;
use crate::number::scaled::{Scaled, quotient, signed_root};
use crate::slots::Slot;
use crate::slots::accumulator::sealed::Sealed;
use crate::slots::moments::Moments;
use crate::slots::product_sum::ProductSum;
use crate::statistic::{Options, Statistic};

/// The moments of pairs of items x and y, and the sum of their products: their covariance, correlation and regression line, each exact until
/// it is rounded once.
///
/// ```
/// use exact_sum::CoMoments;
///
/// let (x, y) = ([1e12, 1e7, 6.0, 5.0, 8.0], [3.0, -1e12, 4.0, 7.0, 6.0]);
/// let mut both = CoMoments::of(&x, &y);
/// both.remove(&x[..2], &y[..2])?;
/// assert_eq!(both.covariance(1.0), -1.0 / 3.0);
/// # Ok::<(), exact_sum::RemoveError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CoMoments<T: Float> {
    pub(crate) x: Moments<T>,
    pub(crate) y: Moments<T>,
    pub(crate) products: ProductSum<T>,
}

impl<T: Float> Default for CoMoments<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Float> PartialEq for CoMoments<T> {
    fn eq(&self, other: &Self) -> bool {
        self.x == other.x && self.y == other.y && self.products == other.products
    }
}

impl<T: Float> Eq for CoMoments<T> {}

impl<T: Float> CoMoments<T> {
    /// Those of no pairs.
    #[must_use]
    pub fn new() -> Self {
        Self {
            x: Moments::new(),
            y: Moments::new(),
            products: ProductSum::new(),
        }
    }

    /// Those of pairs (x0, y0), (x1, y1), ….
    ///
    /// # Panics
    /// The slices differ in length.
    #[must_use]
    pub fn of(x: &[T], y: &[T]) -> Self {
        let mut both = Self::new();
        both.add(x, y);
        both
    }

    /// Adds pairs.
    ///
    /// # Panics
    /// The slices differ in length.
    pub fn add(&mut self, x: &[T], y: &[T]) {
        self.products.add(x, y);
        self.x.add(x);
        self.y.add(y);
    }

    /// Adds another one's pairs.
    ///
    /// # Errors
    /// As [`Moments::merge`].
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.products.merge(&other.products)?;
        self.x.merge(&other.x)?;
        self.y.merge(&other.y)
    }

    /// Takes back what another one was given.
    ///
    /// # Errors
    /// As [`Moments::unmerge`].
    pub fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
        // One column may lack what the other has.
        let mut left = *self;
        left.products.unmerge(&other.products)?;
        left.x.unmerge(&other.x)?;
        left.y.unmerge(&other.y)?;
        *self = left;
        Ok(())
    }

    /// Takes back pairs that were added.
    ///
    /// # Panics
    /// The slices differ in length.
    ///
    /// # Errors
    /// As [`Moments::remove`].
    pub fn remove(&mut self, x: &[T], y: &[T]) -> Result<(), RemoveError> {
        self.unmerge(&Self::of(x, y))
    }

    /// The number of pairs.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.x.items()
    }

    /// The moments of x.
    #[must_use]
    pub fn x(&self) -> &Moments<T> {
        &self.x
    }

    /// The moments of y.
    #[must_use]
    pub fn y(&self) -> &Moments<T> {
        &self.y
    }

    /// The covariance: the sum of (x - x̄) (y - ȳ), divided by the number of pairs less `ddof`. NaN where an item is not finite, and of as many
    /// pairs as `ddof`, or fewer.
    #[must_use]
    pub fn covariance(&self, ddof: f64) -> T {
        match self.raw() {
            Some(raw) if ddof.is_finite() => {
                let freedom = Scaled::from(self.items()).less(&Scaled::from(ddof));
                let denominator = freedom.times(&raw.n);
                if denominator.is_positive() {
                    quotient(&raw.xy(), &denominator)
                } else {
                    T::NAN
                }
            }
            _ => T::NAN,
        }
    }

    /// The correlation, from -1 to 1: the covariance over the product of both standard deviations. NaN where an item is not finite or a column
    /// is constant, and of less than two pairs.
    #[must_use]
    pub fn correlation(&self) -> T {
        self.raw().map_or(T::NAN, |raw| {
            let xy = raw.xy();
            signed_root(&xy, &xy.by(&xy), &raw.xx().by(&raw.yy()))
        })
    }

    /// The slope of the line y = a + b x that has the least squares of errors in y. NaN where an item is not finite or x is constant.
    #[must_use]
    pub fn slope(&self) -> T {
        self.raw()
            .map_or(T::NAN, |raw| quotient(&raw.xy(), &raw.xx()))
    }

    /// The height a of that line at x = 0.
    #[must_use]
    pub fn intercept(&self) -> T {
        self.raw().map_or(T::NAN, |raw| {
            let ([x, squares], [y, _]) = (&raw.x, &raw.y);
            // Σx² Σy - Σx Σxy
            quotient(&squares.by(y).less(&x.by(&raw.products)), &raw.xx())
        })
    }

    /// The sums, if all items are finite and there are some.
    fn raw(&self) -> Option<Raw> {
        Some(Raw {
            n: self.items().into(),
            x: self.x.finite()?,
            y: self.y.finite()?,
            products: Scaled::of(&self.products.total.fixed),
        })
    }
}

impl<T: Float> Sealed for CoMoments<T> {}

impl<T: Float> Slot for CoMoments<T> {
    type Item = T;

    fn statistic(&self, statistic: Statistic, options: Options) -> Option<T> {
        match statistic {
            Statistic::Covariance => Some(self.covariance(options.ddof)),
            Statistic::Correlation => Some(self.correlation()),
            Statistic::Slope => Some(self.slope()),
            Statistic::Intercept => Some(self.intercept()),
            _ => None,
        }
    }
}

/// The number of pairs, the sums of each column and of its squares, and that of the products.
///
/// The functions return n times the sums of products of what items differ from their means.
struct Raw {
    n: BigInt,
    x: [Scaled; 2],
    y: [Scaled; 2],
    products: Scaled,
}

impl Raw {
    fn xx(&self) -> Scaled {
        self.centred(&self.x[1], &self.x[0], &self.x[0])
    }

    fn yy(&self) -> Scaled {
        self.centred(&self.y[1], &self.y[0], &self.y[0])
    }

    fn xy(&self) -> Scaled {
        self.centred(&self.products, &self.x[0], &self.y[0])
    }

    fn centred(&self, products: &Scaled, first: &Scaled, second: &Scaled) -> Scaled {
        products.times(&self.n).less(&first.by(second))
    }
}
