//! Computes products and their rounding errors.

use crate::sets::dispatch::compute;
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::vector::{Combine, Minimum, Proven, Vector};

/// 2^-968. The rounding error of a product of at least this magnitude is a double: the error's last binary place is at most 106 places
/// below the product's first, and the smallest subnormal number is 2^-1074.
pub const EXACT_PRODUCT: f64 = f64::from_bits((1023 - 968) << 52);

/// Writes the rounded products of the items of `x` and `y` to `products`, and their rounding errors to `errors`. Returns true if all
/// errors are exact: product + error is x * y.
///
/// Returns false if a product is infinite, NaN, zero or smaller than 2^-968 in magnitude, or if an item is so large that the instruction
/// set cannot compute the error.
///
/// # Panics
/// The slices differ in length.
///
/// ```
/// use simd_kernels::{Level, exact_products};
///
/// let x = 1.0 + f64::EPSILON;
/// let (mut product, mut error) = ([0.0], [0.0]);
/// assert!(exact_products(Level::best(), &[x], &[x], &mut product, &mut error));
/// assert_eq!((product[0], error[0]), (1.0 + 2.0 * f64::EPSILON, f64::EPSILON * f64::EPSILON));
/// ```
pub fn exact_products(
    level: Level,
    x: &[f64],
    y: &[f64],
    products: &mut [f64],
    errors: &mut [f64],
) -> bool {
    let len = x.len();
    assert_eq!([y.len(), products.len(), errors.len()], [len; 3]);
    compute(
        level,
        ProductErrors {
            x,
            y,
            products,
            errors,
        },
    )
}

struct ProductErrors<'a> {
    x: &'a [f64],
    y: &'a [f64],
    products: &'a mut [f64],
    errors: &'a mut [f64],
}

impl Kernel<f64> for ProductErrors<'_> {
    type Output = bool;

    #[inline(always)]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, proven: Proven<V>) -> bool {
        let mut check = Check {
            smallest: proven.load(&[f64::INFINITY; 16]),
            bits: proven.load(&[0.0; 16]),
        };
        let rows = self.x.len() / V::LANES * V::LANES;
        let (x, last_x) = self.x.split_at(rows);
        let (y, last_y) = self.y.split_at(rows);
        let (products, last_products) = self.products.split_at_mut(rows);
        let (errors, last_errors) = self.errors.split_at_mut(rows);
        let inputs = x.chunks_exact(V::LANES).zip(y.chunks_exact(V::LANES));
        let outputs = products.chunks_exact_mut(V::LANES);
        let outputs = outputs.zip(errors.chunks_exact_mut(V::LANES));
        for ((x, y), (products, errors)) in inputs.zip(outputs) {
            let (product, error) = check.product(proven, proven.load(x), proven.load(y));
            proven.store_first(product, products);
            proven.store_first(error, errors);
        }
        let mut padded = [[1.0; 16]; 2];
        padded[0][..last_x.len()].copy_from_slice(last_x);
        padded[1][..last_y.len()].copy_from_slice(last_y);
        let [x, y] = padded.map(|items| proven.load(&items));
        let (product, error) = check.product(proven, x, y);
        let [mut product_lanes, mut error_lanes] = [[0.0; 16]; 2];
        proven.store(product, &mut product_lanes);
        proven.store(error, &mut error_lanes);
        last_products.copy_from_slice(&product_lanes[..last_x.len()]);
        last_errors.copy_from_slice(&error_lanes[..last_x.len()]);
        check.all_exact(proven)
    }
}

/// Checks that all errors are exact.
struct Check<V> {
    /// The smallest magnitude of the products in each lane.
    smallest: V,
    /// Not zero in lanes in which a product or an error was not finite.
    bits: V,
}

impl<V: Vector<Element = f64>> Check<V> {
    #[inline(always)]
    fn product(&mut self, proven: Proven<V>, x: V, y: V) -> (V, V) {
        let (product, error) = product_and_error(proven, x, y);
        self.smallest = Minimum::lanes(proven, self.smallest, proven.absolute(product));
        // The error of an infinite product is not finite either.
        self.bits = proven.or(self.bits, proven.subtract(error, error));
        (product, error)
    }

    #[inline(always)]
    fn all_exact(self, proven: Proven<V>) -> bool {
        let mut lanes = [0.0; 16];
        proven.store(self.smallest, &mut lanes);
        // The comparison is false for NaN.
        let are_large = lanes[..V::LANES].iter().all(|&lane| lane >= EXACT_PRODUCT);
        proven.store(self.bits, &mut lanes);
        let are_finite = lanes[..V::LANES].iter().all(|&lane| lane == 0.0);
        are_large && are_finite
    }
}

/// Rounded products and their rounding errors, which may be NaN for factors of 2^996 or more.
#[inline(always)]
pub(crate) fn product_and_error<V>(proven: Proven<V>, x: V, y: V) -> (V, V)
where
    V: Vector<Element = f64>,
{
    let product = proven.multiply(x, y);
    let error = match proven.multiply_subtract(x, y, product) {
        Some(error) => error,
        None => error_by_halves(proven, x, y, product),
    };
    (product, error)
}

/// The rounding error of a product, computed from products of the factors' halves (Dekker, Numer. Math. 18, 1971). It is NaN for factors
/// of 2^996 or more.
#[inline(always)]
fn error_by_halves<V>(proven: Proven<V>, x: V, y: V, product: V) -> V
where
    V: Vector<Element = f64>,
{
    let [x_high, x_low] = halves(proven, x);
    let [y_high, y_low] = halves(proven, y);
    let error = proven.subtract(proven.multiply(x_high, y_high), product);
    let error = proven.add(error, proven.multiply(x_high, y_low));
    let error = proven.add(error, proven.multiply(x_low, y_high));
    proven.add(error, proven.multiply(x_low, y_low))
}

/// The upper 26 bits of a number, and the rest (Veltkamp).
#[inline(always)]
fn halves<V: Vector<Element = f64>>(proven: Proven<V>, x: V) -> [V; 2] {
    let shifted = proven.multiply(proven.load(&[134_217_729.0; 16]), x);
    let high = proven.subtract(shifted, proven.subtract(shifted, x));
    [high, proven.subtract(x, high)]
}
