//! Implements conjugate gradients, as in the example `conjugate_gradient`, but saves each iterate on two ranks.

use treefold::{Distribution, Plan, World};

use crate::Outcome;
use crate::deaths::{Deaths, Place};
use crate::problem::{Plate, SIDE};
use crate::state::{FIELDS, Saved, Scalars};

/// The iteration ends when the residual is this fraction of the first residual.
const TOLERANCE: f64 = 1e-8;

/// Continues from the saved state until the problem is solved, and compares every iterate's fingerprint with the expected one. Collective.
pub(crate) fn go_on(
    world: &World,
    saved: &mut Saved,
    deaths: &Deaths,
    expected: &[u64],
) -> Outcome<()> {
    solve(world, saved, |iteration, place| {
        deaths.strike(world, iteration, place)
    })?;
    if saved.fingerprints() == expected {
        Ok(())
    } else {
        Err("an iterate should have had the same bits as on one rank".into())
    }
}

/// The fingerprints of all iterates, on the only rank of a world.
pub(crate) fn solve_alone(world: &World) -> Outcome<Vec<u64>> {
    let mut saved = Saved::start(world)?;
    solve(world, &mut saved, |_, _| Ok(()))?;
    Ok(saved.fingerprints().to_vec())
}

fn solve(
    world: &World,
    saved: &mut Saved,
    strike: impl Fn(usize, Place) -> Outcome<()>,
) -> Outcome<()> {
    let plate = Plate::new(world, &saved.rows)?;
    // Items are the grid points, whichever rank has them.
    let points = saved.rows.starts().map(|row| row * SIDE as u64).collect();
    let points = Distribution::from_boundaries(points)?;
    let dot_products = Plan::builder(world)
        .distribution(&points)
        .width(2)
        .build::<f64>()?;
    let fingerprints = Plan::builder(world).local_items(1).build::<u64>()?;
    let first_point = plate.points().start;
    loop {
        let state = saved.newest();
        let iteration = state.scalars.fingerprints.len();
        let [mut x, mut r, mut p, mut s] = state.columns();
        let mut scalars: Scalars = state.scalars.clone();

        strike(iteration, Place::BeforeEdges)?;
        let w = plate.times_matrix(&r)?;
        strike(iteration, Place::BeforeSums)?;
        let mut sums = [0.0; 2];
        dot_products.dots(&[[&r, &r], [&r, &w]], &mut sums)?;
        let [rr, rw] = sums;
        if rr <= TOLERANCE * TOLERANCE * *scalars.rr_first.get_or_insert(rr) {
            return Ok(());
        }
        let beta = rr / scalars.rr_before;
        let alpha = rr / (rw - beta * (rr / scalars.alpha));
        (scalars.alpha, scalars.rr_before) = (alpha, rr);
        for i in 0..x.len() {
            p[i] = r[i] + beta * p[i];
            s[i] = w[i] + beta * s[i];
            x[i] += alpha * p[i];
            r[i] -= alpha * s[i];
        }
        let mut own_fingerprint = 0_u64;
        for (point, value) in (first_point..).zip(&x) {
            let place = (iteration << 32 | point) as u64;
            own_fingerprint = own_fingerprint.wrapping_add(scrambled(place, value.to_bits()));
        }
        let fingerprint = fingerprints.allreduce(&[own_fingerprint])?;
        scalars.fingerprints.push(fingerprint);
        strike(iteration, Place::BeforeCopies)?;
        let points = x.iter().zip(&r).zip(p.iter().zip(&s));
        let values = points.flat_map(|((&x, &r), (&p, &s))| -> [f64; FIELDS] { [x, r, p, s] });
        saved.save(world, scalars, values.collect())?;
        strike(iteration, Place::AfterCopies)?;
    }
}

/// A hash of two numbers (the last steps of splitmix64).
fn scrambled(place: u64, bits: u64) -> u64 {
    let mut mixed = bits.wrapping_add(place.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}
