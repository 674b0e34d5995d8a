//! Checks the golden vectors of exact sums, in one process and on ranks.

use reduce::exact::{self, Accumulator, ComplexProductSum, ComplexSum, ProductSum, Sum};
use reduce::{Plan, RunError, threads};
use serde_json::Value;

use super::element::Element;
use super::{cases, text, values};

#[test]
fn every_exact_vector() {
    for case in &cases("exact.jsonl", 180) {
        match text(case, "type") {
            "f64" => check_real::<f64>(case),
            "f32" => check_real::<f32>(case),
            "c64" => check_complex::<f64>(case),
            "c32" => check_complex::<f32>(case),
            element => panic!("{element}"),
        }
    }
}

fn check_real<T: Element + exact::Float>(case: &Value) {
    let (x, y): (Vec<T>, Vec<T>) = (values(case, "items"), values(case, "other"));
    match text(case, "operator") {
        "sum" => {
            check(case, exact::sum(&x));
            on_ranks(case, &x, |plan: &exact::Plan<Sum<T>>, x| plan.sum(x));
        }
        "norm" => {
            check(case, exact::norm(&x));
            on_ranks(case, &x, |plan: &exact::Plan<ProductSum<T>>, x| {
                plan.norm(x)
            });
        }
        "dot" => {
            check(case, exact::dot(&x, &y).unwrap());
            on_ranks(
                case,
                &pairs(&x, &y),
                |plan: &exact::Plan<ProductSum<T>>, own| {
                    let (x, y): (Vec<T>, Vec<T>) = own.iter().copied().unzip();
                    plan.dot(&x, &y)
                },
            );
        }
        "root" => {
            let products = |pairs: &[(T, T)]| {
                let (x, y): (Vec<T>, Vec<T>) = pairs.iter().copied().unzip();
                let mut sum = ProductSum::new();
                sum.add(&x, &y);
                sum
            };
            check(case, products(&pairs(&x, &y)).root());
            on_ranks(
                case,
                &pairs(&x, &y),
                |plan: &exact::Plan<ProductSum<T>>, own| {
                    let sum = plan.allreduce(&products(own))?;
                    Ok(sum.root())
                },
            );
        }
        operator => panic!("{operator}"),
    }
}

fn check_complex<T: Element + exact::Float>(case: &Value) {
    let (x, y): (Vec<[T; 2]>, Vec<[T; 2]>) = (values(case, "items"), values(case, "other"));
    let mut products = ComplexProductSum::new();
    match text(case, "operator") {
        "sum" => {
            let mut sum = ComplexSum::new();
            sum.add(&x);
            check(case, sum.value());
            on_ranks(case, &x, |plan: &exact::Plan<ComplexSum<T>>, x| plan.sum(x));
        }
        "dot" => {
            products.add(&x, &y);
            check(case, products.value());
            products_on_ranks(case, &x, &y, exact::Plan::<ComplexProductSum<T>>::dot);
        }
        "conjugate_dot" => {
            products.add_conjugate(&x, &y);
            check(case, products.value());
            products_on_ranks(case, &x, &y, exact::Plan::conjugate_dot);
        }
        operator => panic!("{operator}"),
    }
}

/// A call on a plan with this rank's factors.
type ProductCall<T> =
    fn(&exact::Plan<ComplexProductSum<T>>, &[[T; 2]], &[[T; 2]]) -> Result<[T; 2], RunError>;

/// Checks a sum of products of complex numbers, by a call on a plan.
fn products_on_ranks<T: Element + exact::Float>(
    case: &Value,
    x: &[[T; 2]],
    y: &[[T; 2]],
    run: ProductCall<T>,
) {
    on_ranks(case, &pairs(x, y), |plan, own| {
        let (x, y): (Vec<[T; 2]>, Vec<[T; 2]>) = own.iter().copied().unzip();
        run(plan, &x, &y)
    });
}

fn pairs<T: Copy>(x: &[T], y: &[T]) -> Vec<(T, T)> {
    assert_eq!(x.len(), y.len());
    x.iter().copied().zip(y.iter().copied()).collect()
}

#[track_caller]
fn check(case: &Value, found: impl Element) {
    assert_eq!(found.word(), text(case, "bits"), "{case}");
}

/// Checks a result on ranks that get the items round-robin, from the last item to the first.
fn on_ranks<I: Copy + Sync, A: Accumulator, V: Element>(
    case: &Value,
    items: &[I],
    run: impl Fn(&exact::Plan<A>, &[I]) -> Result<V, RunError> + Sync,
) {
    for ranks in [1, 2, 3, 7, 12] {
        let totals = threads::run(ranks, |world| {
            let own = items.iter().rev().skip(world.rank()).step_by(ranks);
            let own: Vec<I> = own.copied().collect();
            let plan = Plan::builder(world).build_exact::<A>().unwrap();
            run(&plan, &own).unwrap()
        });
        for total in totals.unwrap() {
            assert_eq!(total.word(), text(case, "bits"), "p = {ranks}: {case}");
        }
    }
}
