//! Implements conjugate gradients. The caller computes the dot products over all grid points.

use crate::Outcome;
use crate::problem::Plate;

/// The iteration ends when the residual is this fraction of the first residual.
const TOLERANCE: f64 = 1e-8;

/// Solves A x = b from x = 0 and returns this rank's part of every iterate.
///
/// This is Chronopoulos and Gear's form of the method: it needs both dot products of an iteration at once, so one reduction is enough.
/// `dot_products` receives this rank's parts of the residual and of another vector. It returns the dot products, over all ranks, of the
/// residual with itself and with the other vector.
pub(crate) fn solve(
    plate: &Plate<'_>,
    b: &[f64],
    mut dot_products: impl FnMut(&[f64], &[f64]) -> Outcome<[f64; 2]>,
) -> Outcome<Vec<Vec<f64>>> {
    let mut x = vec![0.0; b.len()];
    let (mut r, mut p, mut s) = (b.to_vec(), x.clone(), x.clone());
    let (mut alpha, mut rr_before) = (1.0, f64::INFINITY);
    let mut rr_first = None;
    let mut iterates = Vec::new();
    loop {
        let w = plate.times_matrix(&r)?;
        let [rr, rw] = dot_products(&r, &w)?;
        if rr <= TOLERANCE * TOLERANCE * *rr_first.get_or_insert(rr) {
            return Ok(iterates);
        }
        let beta = rr / rr_before;
        alpha = rr / (rw - beta * (rr / alpha));
        rr_before = rr;
        for i in 0..x.len() {
            p[i] = r[i] + beta * p[i];
            s[i] = w[i] + beta * s[i];
            x[i] += alpha * p[i];
            r[i] -= alpha * s[i];
        }
        iterates.push(x.clone());
    }
}
