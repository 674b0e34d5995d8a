//! Tests that complex sums and products on any number of ranks have the bits of the elementary operations written out here.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use num_complex::Complex;
use reduce::threads::run;
use reduce::{Operator, Plan, Product, Sum};

/// Numbers near the unit circle, so that products neither vanish nor overflow.
fn items(count: u32) -> Vec<Complex<f64>> {
    (0..count)
        .map(|i| {
            let (sin, cos) = (f64::from(i) * 1.7).sin_cos();
            Complex::new(cos * 1.01, sin * 0.99)
        })
        .collect()
}

fn check<O: Operator<Complex<f64>> + Copy + Sync + 'static>(
    operator: O,
    combine: fn(Complex<f64>, Complex<f64>) -> Complex<f64>,
) {
    let items = items(301);
    let expected = simd_kernels::by_definition(&items, &combine).unwrap();
    for ranks in [1, 2, 7] {
        let totals = run(ranks, |world| {
            let share = |rank: usize| 301 * rank / ranks;
            let own = &items[share(world.rank())..share(world.rank() + 1)];
            let plan = Plan::builder(world)
                .local_items(own.len() as u64)
                .operator(operator)
                .build()
                .unwrap();
            plan.allreduce(own).unwrap()
        });
        for total in totals.unwrap() {
            assert_eq!(total.re.to_bits(), expected.re.to_bits());
            assert_eq!(total.im.to_bits(), expected.im.to_bits());
        }
    }
}

#[test]
fn complex_sums_and_products() {
    check(Sum, |a, b| Complex::new(a.re + b.re, a.im + b.im));
    check(Product, |a, b| {
        let (ac, bd) = (a.re * b.re, a.im * b.im);
        let (ad, bc) = (a.re * b.im, a.im * b.re);
        Complex::new(ac - bd, ad + bc)
    });
}

#[test]
fn a_part_that_is_no_number_is_the_canonical_nan() {
    let odd = Complex::new(f64::from_bits(0xFFF8_0000_0000_0001), 1.0);
    let sum = reduce::fold(&[odd], &Sum).unwrap();
    assert_eq!(sum.re.to_bits(), 0x7FF8_0000_0000_0000);
    assert_eq!(sum.im.to_bits(), 1.0_f64.to_bits());
}

#[test]
fn nothing_is_the_neutral_element() {
    assert_eq!(
        reduce::fold::<Complex<f32>, _>(&[], &Sum),
        Ok(Complex::new(0.0, 0.0))
    );
    assert_eq!(
        reduce::fold::<Complex<f32>, _>(&[], &Product),
        Ok(Complex::new(1.0, 0.0))
    );
}
