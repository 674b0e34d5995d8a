//! Computes the covariance, the correlation and the regression line of two columns of items.

use num_bigint::BigInt;

use crate::bytes::{self, BytesError, Kind, Reader};
use crate::number::counters::{Counters, LimitError, RemoveError};
use crate::number::float::Float;
use crate::number::scaled::{Scaled, over_tens, quotient, signed_root};
use crate::slots::Slot;
use crate::slots::accumulator::sealed::Sealed;
use crate::slots::moments::Moments;
use crate::slots::product_sum::ProductSum;
use crate::statistic::{Held, Options, Statistic};

/// The moments of pairs of items x and y, and the sum of their products. The covariance, the correlation and the regression line are computed
/// exactly and rounded once.
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
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoMoments<T: Float> {
    pub(crate) x: Moments<T>,
    pub(crate) y: Moments<T>,
    /// Products are not counted: the counts of both columns show whether all items are finite.
    pub(crate) products: ProductSum<T>,
}

impl<T: Float> Eq for CoMoments<T> {}

impl<T: Float> CoMoments<T> {
    /// The co-moments of no pairs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The co-moments of pairs (x0, y0), (x1, y1), ….
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
        self.products.total.counters = Counters::default();
        self.x.add(x);
        self.y.add(y);
    }

    /// Adds the pairs of `other`.
    ///
    /// # Errors
    /// Those of [`Moments::merge`].
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        // Both columns have the same number of items, and products are not counted, so only the first merge can fail.
        self.x.merge(&other.x)?;
        self.y.merge(&other.y)?;
        self.products.merge(&other.products)
    }

    /// Removes the pairs of `other`.
    ///
    /// # Errors
    /// Those of [`Moments::unmerge`].
    pub fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
        // A copy is changed, since removal may succeed in one column and fail in the other.
        let mut left = *self;
        left.products.unmerge(&other.products)?;
        left.x.unmerge(&other.x)?;
        left.y.unmerge(&other.y)?;
        *self = left;
        Ok(())
    }

    /// Removes pairs that were added.
    ///
    /// # Panics
    /// The slices differ in length.
    ///
    /// # Errors
    /// Those of [`Moments::remove`].
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

    /// The sums, if there are pairs and all items are finite.
    pub(crate) fn sums(&self) -> Option<PairSums> {
        let (x, y) = (self.x.finite()?, self.y.finite()?);
        let products = Scaled::of(&self.products.total.fixed);
        Some(PairSums::new(self.items(), [x, y], products))
    }

    /// The co-moments in the format of [`Accumulator::to_bytes`](crate::Accumulator::to_bytes), as kind 9: the sums of x and of y with their
    /// counts, then the sums of x², of y² and of the products, without counts.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = bytes::header::<T>(Kind::CoMoments);
        for column in [&self.x, &self.y] {
            bytes::write_total(&column.sum.total, &mut bytes);
        }
        for sum in [&self.x.squares, &self.y.squares, &self.products] {
            bytes::write_number(&sum.total.fixed, &mut bytes);
        }
        bytes
    }

    /// The co-moments that bytes hold.
    ///
    /// # Errors
    /// The bytes hold no co-moments of this type.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let mut reader = Reader::of::<T>(Kind::CoMoments, bytes)?;
        let mut both = Self::new();
        for column in [&mut both.x, &mut both.y] {
            column.sum.total = reader.total()?;
        }
        for column in [&mut both.x, &mut both.y] {
            column.read_squares(&mut reader)?;
        }
        (both.products.total.fixed, _) = reader.number()?;
        reader.end()?;
        bytes::check_parts(&[&both.x.sum.total, &both.y.sum.total])?;
        both.check()?;
        Ok(both)
    }

    /// Checks that pairs can have these sums of squares and products: see [`is_bounded`]. If all items are finite, the bound holds
    /// for their differences from the means, too.
    fn check(&self) -> Result<(), BytesError> {
        let is_possible = if let Some(sums) = self.sums() {
            sums.is_possible()
        } else {
            let columns = [&self.x, &self.y];
            let [xx, yy] = columns.map(|column| Scaled::of(&column.squares.total.fixed));
            is_bounded(&Scaled::of(&self.products.total.fixed), &xx, &yy)
        };
        is_possible.then_some(()).ok_or(BytesError::Corrupted {
            what: "no pairs have these sums of squares and products",
        })
    }
}

impl<T: Float> Sealed for CoMoments<T> {}

impl<T: Float> Slot for CoMoments<T> {
    type Item = T;
    type Items<'i> = [&'i [T]; 2];

    fn statistic(&self, statistic: Statistic, options: Options) -> Option<T> {
        (statistic.held() == Held::CoMoments).then(|| self.rounded(statistic, options.ddof))
    }
}

/// The number of pairs, the sum of each column and of its squares, and the sum of the products. There is at least one pair, and all items
/// are finite.
pub(crate) struct PairSums {
    n: BigInt,
    x: [Scaled; 2],
    y: [Scaled; 2],
    products: Scaled,
    /// The items of x are in units of 10^-`tens[0]`, and the items of y in units of 10^-`tens[1]`.
    tens: [i32; 2],
}

impl PairSums {
    pub(crate) fn new(items: u64, [x, y]: [[Scaled; 2]; 2], products: Scaled) -> Self {
        Self {
            n: items.into(),
            x,
            y,
            products,
            tens: [0; 2],
        }
    }

    pub(crate) fn with_tens(self, tens: [i32; 2]) -> Self {
        Self { tens, ..self }
    }

    /// A statistic of two columns: NaN if a denominator is zero, `None` if co-moments do not determine the statistic.
    pub(crate) fn statistic<T: Float>(&self, statistic: Statistic, options: Options) -> Option<T> {
        match statistic {
            Statistic::Covariance => Some(self.covariance(options.ddof)),
            Statistic::Correlation => Some(self.correlation()),
            Statistic::Slope => Some(self.slope()),
            Statistic::Intercept => Some(self.intercept()),
            _ => None,
        }
    }

    fn covariance<T: Float>(&self, ddof: f64) -> T {
        if !ddof.is_finite() {
            return T::NAN;
        }
        let pairs = Scaled {
            integer: self.n.clone(),
            unit: 0,
        };
        let denominator = pairs.less(&Scaled::from(ddof)).times(&self.n);
        if denominator.is_positive() {
            self.quotient([self.xy(), denominator], [1, 1])
        } else {
            T::NAN
        }
    }

    fn correlation<T: Float>(&self) -> T {
        let xy = self.xy();
        signed_root(&xy, &xy.by(&xy), &self.xx().by(&self.yy()))
    }

    fn slope<T: Float>(&self) -> T {
        self.quotient([self.xy(), self.xx()], [-1, 1])
    }

    fn intercept<T: Float>(&self) -> T {
        let ([x, squares], [y, _]) = (&self.x, &self.y);
        // Σx² Σy - Σx Σxy
        let numerator = squares.by(y).less(&x.by(&self.products));
        self.quotient([numerator, self.xx()], [0, 1])
    }

    /// The quotient of `parts`, rounded once. It is proportional to (the unit of x)^`x` · (the unit of y)^`y`.
    fn quotient<T: Float>(&self, parts: [Scaled; 2], [x, y]: [i32; 2]) -> T {
        let [numerator, denominator] = over_tens(parts, x * self.tens[0] + y * self.tens[1]);
        quotient(&numerator, &denominator)
    }

    fn is_possible(&self) -> bool {
        is_bounded(&self.xy(), &self.xx(), &self.yy())
    }

    fn xx(&self) -> Scaled {
        self.centred(&self.x[1], &self.x[0], &self.x[0])
    }

    fn yy(&self) -> Scaled {
        self.centred(&self.y[1], &self.y[0], &self.y[0])
    }

    fn xy(&self) -> Scaled {
        self.centred(&self.products, &self.x[0], &self.y[0])
    }

    /// n times the sum of the products of the items' differences from their means.
    fn centred(&self, products: &Scaled, first: &Scaled, second: &Scaled) -> Scaled {
        products.times(&self.n).less(&first.by(second))
    }
}

/// Whether items can have these sums of products and of squares: the square of the sum of products is at most the product of the two sums of
/// squares (Cauchy and Schwarz).
fn is_bounded(xy: &Scaled, xx: &Scaled, yy: &Scaled) -> bool {
    !xy.by(xy).less(&xx.by(yy)).is_positive()
}
