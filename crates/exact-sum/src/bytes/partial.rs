//! A format that stores a sum in as few bytes as possible. The workers of a query exchange one such sum for each group.
//!
//! All numbers are little-endian. The bytes do not include the number of items. If you need this number, keep it separately.
//!
//! | sum | bytes |
//! |---|---|
//! | a finite double | the double (8 bytes); a zero is written as +0.0 |
//! | the sum of two finite doubles, if the first is this sum rounded to nearest | the two doubles (16 bytes) |
//! | any other sum | the field of a sum in [`Keyed::to_bytes`](crate::Keyed::to_bytes): an odd number of bytes, at least 9 |
//!
//! A sum is written in the first of these forms that can hold it. So equal sums have equal bytes, whatever the order of the items and
//! however they were divided among threads or groups.

use simd_kernels::{DECODED_ITEMS, EXACT_PRODUCT, Level, Quiet, exact_products, is_zero};

use crate::bytes::{BytesError, Reader, check_counters};
use crate::keyed::bytes::{read_entry, write_entry};
use crate::keyed::message::terms::moved;
use crate::number::counters::Counters;
use crate::number::fixed::{DoubleProducts, Doubles, Fixed, FixedFormat, integer as parts_of};
use crate::number::float::sealed::Conversions;
use crate::number::total::Total;
use crate::slots::moments::{Moments, can_have};
use crate::slots::product_sum::ProductSum;
use crate::slots::sum::Sum;

const DOUBLE: usize = size_of::<f64>();

/// A sum that was read from bytes.
pub(crate) enum Partial<F: FixedFormat> {
    Doubles([f64; 2]),
    /// A total, and the smallest number of finite items that can have this sum.
    Long(Box<Total<F>>, u64),
}

impl<F: FixedFormat> Partial<F> {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, BytesError> {
        let double = |bytes: &[u8]| {
            let double = f64::from_le_bytes(bytes.try_into().expect("the length is right"));
            let is_one = double.is_finite().then_some(double);
            is_one.ok_or(BytesError::Corrupted {
                what: "one of its doubles is not finite",
            })
        };
        match bytes.len() {
            DOUBLE => Ok(Self::Doubles([double(bytes)?, 0.0])),
            16 => {
                let doubles = [double(&bytes[..DOUBLE])?, double(&bytes[DOUBLE..])?];
                let [nearest, rest] = doubles.map(exponent);
                // Half a unit in the last place is 2^-53 times the value of the highest bit.
                let is_nearest = rest + 53 <= nearest && !is_zero(doubles[1]);
                is_nearest
                    .then_some(Self::Doubles(doubles))
                    .ok_or(BytesError::Corrupted {
                        what: "its first double is not the sum rounded to nearest",
                    })
            }
            _ => {
                let mut reader = Reader::without_header(bytes);
                let (total, items) = read_entry(&mut reader)?;
                reader.end()?;
                Ok(Self::Long(Box::new(total), items))
            }
        }
    }

    /// The counts of items that are not finite, and the smallest number of finite items that can have this sum.
    pub(crate) fn needs(&self) -> (Counters, u64) {
        match self {
            Self::Doubles(doubles) => (Counters::default(), u64::from(!is_zero(doubles[0]))),
            Self::Long(total, items) => (total.counters, *items),
        }
    }

    /// Checks that `items` items can have this sum. Returns the counters of these items.
    pub(crate) fn check(&self, items: u64) -> Result<Counters, BytesError> {
        let (specials, others) = self.needs();
        let counters = Counters {
            items: items.cast_signed(),
            ..specials
        };
        check_counters(counters, others).map(|()| counters)
    }

    /// Whether the sum is less than zero, or is -0.0, which is never written.
    fn is_negative(&self) -> bool {
        match self {
            Self::Doubles([nearest, _]) => nearest.is_sign_negative(),
            Self::Long(total, _) => total.fixed.is_negative(),
        }
    }

    fn fixed(&self) -> Fixed<F> {
        let mut total = Total::ZERO;
        self.add_to(&mut total);
        total.fixed
    }

    fn add_to(&self, total: &mut Total<F>) {
        match self {
            Self::Doubles(doubles) => doubles.iter().for_each(|&double| total.add_one(double)),
            Self::Long(long, _) => total.merge(long),
        }
    }
}

/// Checks that `items` items can have both this sum and this sum of squares.
pub(crate) fn check_moments(
    items: u64,
    sum: &Partial<Doubles>,
    squares: &Partial<DoubleProducts>,
) -> Result<(), BytesError> {
    let specials = sum.check(items)?.of_specials();
    let are_theirs = squares.check(items)?.of_specials() == specials.squared();
    if squares.is_negative() {
        return Err(BytesError::Corrupted {
            what: "a sum of squares is negative",
        });
    }
    let finite = items - specials.specials();
    if are_theirs
        && (is_clear(finite, sum, squares) || {
            let (sum, squares) = (sum.fixed(), squares.fixed());
            can_have(finite, &[&sum], &squares)
        })
    {
        return Ok(());
    }
    Err(BytesError::Corrupted {
        what: "no items have this sum and this sum of squares",
    })
}

/// Whether the nearest doubles already show that the square of the sum is less than `items` times the sum of squares. This test is
/// faster than adding the partials to fixed-point numbers.
fn is_clear(items: u64, sum: &Partial<Doubles>, squares: &Partial<DoubleProducts>) -> bool {
    let (Partial::Doubles([sum, _]), Partial::Doubles([squares, _])) = (sum, squares) else {
        return false;
    };
    let (square, product) = (sum * sum, items as f64 * squares);
    let are_normal = square.min(*squares) >= f64::MIN_POSITIVE && product.is_finite();
    are_normal && square < product * (1.0 - 8.0 * f64::EPSILON)
}

/// The exponent of a finite number's highest bit, plus 1023; -52 for zero.
fn exponent(double: f64) -> i32 {
    let magnitude = double.abs().to_bits();
    match (magnitude >> 52 & 0x7FF) as i32 {
        // A subnormal number.
        0 => 12 - magnitude.leading_zeros().cast_signed(),
        biased => biased,
    }
}

pub(crate) fn write<F: FixedFormat>(total: &Total<F>, bytes: &mut Vec<u8>) {
    let begin = bytes.len();
    let mut rest = *total;
    rest.counters = total.counters.of_specials();
    if rest.counters == Counters::default() {
        for _ in 0..2 {
            let nearest: f64 = rest.value();
            if nearest.is_infinite() {
                break;
            }
            bytes.extend(nearest.to_le_bytes());
            rest.add_one(-nearest);
            if rest.fixed.magnitude().is_none() {
                return;
            }
        }
        bytes.truncate(begin);
    }
    write_entry(total, bytes);
}

/// Appends the bytes of integer * 2^unit if it is the sum of two doubles. Otherwise appends nothing, and returns `None`.
pub(crate) fn write_short(
    integer: i128,
    unit: i32,
    is_quiet: bool,
    bytes: &mut Vec<u8>,
) -> Option<()> {
    let mut rest = integer;
    let mut doubles = [0.0_f64; 2];
    for (place, double) in doubles.iter_mut().enumerate() {
        *double = f64::of_integer(rest, unit, is_quiet);
        if double.is_infinite() {
            return None;
        }
        let (significand, exponent) = parts_of(*double);
        rest -= moved(significand.into(), exponent - unit)?;
        if rest == 0 {
            let doubles = &doubles[..=place];
            bytes.extend(doubles.iter().flat_map(|double| double.to_le_bytes()));
            return Some(());
        }
    }
    None
}

/// Calls `each` with the bytes of each item, written as a sum of one item.
///
/// ```
/// let mut bytes = Vec::new();
/// exact_sum::partial::of_items(&[0.5, -0.0], |item| bytes.push(item.to_vec()));
/// assert_eq!(bytes, [0.5_f64.to_le_bytes(), 0.0_f64.to_le_bytes()]);
/// ```
pub fn of_items(items: &[f64], mut each: impl FnMut(&[u8])) {
    let mut long = Vec::new();
    for &item in items {
        if is_zero(item) {
            each(&[0; DOUBLE]);
        } else if item.is_finite() {
            each(&item.to_le_bytes());
        } else {
            let mut total = Total::<DoubleProducts>::ZERO;
            total.add_one(item);
            write_alone(&total, &mut long, &mut each);
        }
    }
}

/// Calls `each` with the bytes of each product x0 * y0, x1 * y1, …, written as a sum of one product.
///
/// # Panics
/// The slices differ in length.
pub fn of_products(x: &[f64], y: &[f64], mut each: impl FnMut(&[u8])) {
    assert_eq!(x.len(), y.len(), "the slices differ in length");
    let is_quiet = Quiet::now().is_some();
    let mut rooms = [[0.0; DECODED_ITEMS]; 2];
    let mut long = Vec::new();
    for (x, y) in x.chunks(DECODED_ITEMS).zip(y.chunks(DECODED_ITEMS)) {
        let [products, errors] = rooms.each_mut().map(|room| &mut room[..x.len()]);
        if is_quiet {
            exact_products(Level::best(), x, y, products, errors);
        }
        for (index, (&product, &error)) in products.iter().zip(&*errors).enumerate() {
            let is_exact = product.abs() >= EXACT_PRODUCT && product.is_finite();
            if !(is_quiet && is_exact && error.is_finite()) {
                write_alone(
                    &Total::<DoubleProducts>::of_product(x[index], y[index]),
                    &mut long,
                    &mut each,
                );
            } else if is_zero(error) {
                each(&product.to_le_bytes());
            } else {
                let [first, second] = [product, error].map(f64::to_le_bytes);
                each([first, second].as_flattened());
            }
        }
    }
}

fn write_alone<F: FixedFormat>(
    total: &Total<F>,
    bytes: &mut Vec<u8>,
    each: &mut impl FnMut(&[u8]),
) {
    bytes.clear();
    write(total, bytes);
    each(bytes);
}

macro_rules! partials {
    ($($sum:ident)*) => {$(
        impl $sum<f64> {
            /// Appends the sum in the format of [`partial`](crate::partial).
            pub fn write_partial(&self, bytes: &mut Vec<u8>) {
                write(&self.total, bytes);
            }

            /// Adds a sum of `items` items, given in the format of [`partial`](crate::partial).
            ///
            /// # Errors
            /// The bytes are not a sum of that many items, or there would be more than 2^63 - 1 items. A failed call changes nothing.
            pub fn add_partial(&mut self, items: u64, bytes: &[u8]) -> Result<(), BytesError> {
                let partial = Partial::read(bytes)?;
                let counters = self.total.counters.with(partial.check(items)?)?;
                partial.add_to(&mut self.total);
                self.total.counters = counters;
                Ok(())
            }

            /// The same sum, but started at +0.0, like sums by key. The sum of items that are all -0.0 then becomes +0.0.
            #[must_use]
            pub fn without_negative_zeros(mut self) -> Self {
                self.total.counters.negative_zeros = 0;
                self
            }
        }
    )*};
}

partials!(Sum ProductSum);

impl Moments<f64> {
    /// Adds the moments of `items` items: their sum and the sum of their squares, each in the format of [`partial`](crate::partial).
    ///
    /// # Errors
    /// The bytes are not sums of that many items, or there would be more than 2^63 - 1 items. A failed call changes nothing.
    pub fn add_partial(
        &mut self,
        items: u64,
        sum: &[u8],
        squares: &[u8],
    ) -> Result<(), BytesError> {
        let mut other = Self::new();
        other.sum.add_partial(items, sum)?;
        other.squares.add_partial(items, squares)?;
        other.check()?;
        Ok(self.merge(&other)?)
    }
}
