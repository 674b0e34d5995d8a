//! Tests that finite items cause no traps in treefold, at any SIMD level. Some programs let the processor trap invalid operations, divisions
//! by zero and overflows, in order to find their own errors.
//!
//! The tests run only on x86-64. Other processors may not support traps, and their exception flags are in another register.

#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(
    clippy::cast_possible_truncation,
    reason = "floats are converted from doubles"
)]
#![allow(clippy::float_cmp, reason = "sums are exact")]

mod control;

use control::{Bits, DEFAULT, DEPARTURES, FLUSH_TO_ZERO, ROUND_UP, get, set};
use reduce::environment::check;
use reduce::exact;
use reduce::operator::{Max, Min, Sum};
use reduce::threads::run;
use reduce::{Algorithm, Float, Operator, Plan};
use simd_kernels::{Level, Operation, rows_scratch_len};

/// The flags of invalid operations, divisions by zero and overflows, in the register's lowest bits. Their masks are seven bits higher.
const EXCEPTIONS: Bits = 0b1101;
const MASKS: Bits = EXCEPTIONS << 7;

const LENGTHS: [usize; 14] = [0, 1, 2, 3, 7, 8, 9, 31, 64, 65, 130, 257, 1000, 5001];

const WIDTHS: [usize; 9] = [1, 2, 3, 5, 8, 13, 17, 33, 100];

/// Runs `body` twice: first without traps, to report exceptions by name; then with traps, where an exception ends the test's process.
#[track_caller]
fn never_traps(what: &str, mut body: impl FnMut()) {
    set(DEFAULT);
    body();
    let happened = get() & EXCEPTIONS;
    assert_eq!(happened, 0, "{what}: exceptions {happened:#06b}");
    set(DEFAULT & !MASKS);
    body();
    set(DEFAULT);
}

/// A number of either sign. Its exponent differs from `middle` by at most `span`.
fn item(i: usize, middle: i32, span: i32) -> f64 {
    let mixed = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let fraction = 1.0 + (mixed >> 12) as f64 / (1_u64 << 52) as f64;
    let exponent = middle + i32::try_from(mixed % 1009).unwrap() % (2 * span + 1) - span;
    let sign = if mixed & 2048 == 0 { 1.0 } else { -1.0 };
    sign * fraction * 2_f64.powi(exponent)
}

/// Items whose sums, pairwise products and sums of products are finite; every ninth item is subnormal or a zero.
fn moderate(length: usize) -> Vec<f64> {
    let items = (0..length).map(|i| match i % 27 {
        8 => -0.0,
        17 => f64::from_bits(i as u64),
        26 => 0.0,
        _ => item(i, 0, 60),
    });
    items.collect()
}

/// Items near the largest and smallest magnitudes, each with its opposite, so that their exact sum is zero.
fn extreme(length: usize) -> Vec<f64> {
    let pair = |i: usize| match i % 5 {
        0 => f64::MAX,
        1 => f64::MIN_POSITIVE / 3.0,
        2 => item(i, 1000, 23),
        3 => f64::from_bits(1 + i as u64),
        _ => item(i, -1000, 23),
    };
    let half = length / 2;
    let opposites = (0..half).map(|i| -pair(i));
    (0..half).map(pair).chain(opposites).collect()
}

fn numbers(length: usize, is_extreme: bool) -> Vec<f64> {
    if is_extreme {
        extreme(length)
    } else {
        moderate(length)
    }
}

fn singles(items: &[f64], extreme: bool) -> Vec<f32> {
    let single = |&item: &f64| {
        if extreme {
            // Exponents of floats have 8 bits instead of 11.
            (item.signum() * item.abs().powf(0.125)) as f32
        } else {
            item as f32
        }
    };
    items.iter().map(single).collect()
}

fn kernels<T: Float>(items: &[T], is_extreme: bool) {
    for level in Level::available() {
        let name = |what: &str| format!("{what}, {level}, {} items", items.len());
        let of_extremes = [Operation::Minimum, Operation::Maximum];
        let of_all = [Operation::Sum, Operation::Minimum, Operation::Maximum];
        let operations = if is_extreme {
            &of_extremes[..]
        } else {
            &of_all[..]
        };
        for &operation in operations {
            never_traps(&name(&format!("{operation:?}")), || {
                simd_kernels::fold(level, operation, items);
            });
            for width in WIDTHS.into_iter().filter(|width| *width <= items.len()) {
                let rows = &items[..items.len() - items.len() % width];
                let mut scratch = vec![items[0]; rows_scratch_len::<T>(width, rows.len() / width)];
                let mut result = vec![items[0]; width];
                never_traps(&name(&format!("{operation:?} of rows of {width}")), || {
                    simd_kernels::fold_rows(
                        level,
                        operation,
                        width,
                        rows,
                        &mut scratch,
                        &mut result,
                    );
                });
            }
            let mut combined = items.to_vec();
            never_traps(&name(&format!("{operation:?} of two rows")), || {
                simd_kernels::combine_rows(level, operation, items, items, None, &mut combined);
            });
        }
        if !is_extreme {
            never_traps(&name("dot"), || {
                simd_kernels::dot(level, items, items);
            });
            never_traps(&name("squared norm"), || {
                simd_kernels::squared_norm(level, items);
            });
            never_traps(&name("sum and absolute sum"), || {
                simd_kernels::sum_and_absolute_sum(level, items);
            });
        }
    }
}

#[test]
fn finite_items_do_not_trap_in_the_kernels() {
    println!("levels: {:?}", Level::available().collect::<Vec<_>>());
    for length in LENGTHS {
        for is_extreme in [false, true] {
            let doubles = numbers(length, is_extreme);
            kernels(&doubles, is_extreme);
            kernels(&singles(&doubles, is_extreme), is_extreme);
        }
    }
}

macro_rules! exact_sums {
    ($name:ident, $float:ty) => {
        fn $name(items: &[$float], is_extreme: bool) {
            let reversed: Vec<$float> = items.iter().rev().copied().collect();
            let pairs: Vec<[$float; 2]> = items
                .chunks_exact(2)
                .map(|pair| [pair[0], pair[1]])
                .collect();
            for level in Level::available() {
                let name = |what: &str| format!("{what}, {level}, {} items", items.len());
                never_traps(&name("exact sum"), || {
                    let mut sum = exact::Sum::new();
                    sum.add_at(level, items);
                    sum.add_magnitudes(&items[..items.len().min(1)]);
                    let _ = sum.items();
                });
                never_traps(&name("exact sum's value"), || {
                    let mut sum = exact::Sum::new();
                    sum.add_at(level, items);
                    let _ = sum.value();
                });
                // Rounded to a float, the product of two of the largest items is infinite, and the product of two of the smallest is zero.
                for y in [items, &reversed] {
                    never_traps(&name("exact dot product"), || {
                        let mut sum = exact::ProductSum::new();
                        sum.add_at(level, items, y);
                        let _ = (sum.value(), sum.root());
                    });
                }
                never_traps(&name("exact complex sum"), || {
                    let mut sum = exact::ComplexSum::new();
                    sum.add_at(level, &pairs);
                    let _ = sum.value();
                });
            }
            let what = |what: &str| format!("{what}, {} items, extreme: {is_extreme}", items.len());
            never_traps(&what("exact products of complex numbers"), || {
                let mut sum = exact::ComplexProductSum::new();
                sum.add(&pairs, &pairs);
                sum.add_conjugate(&pairs, &pairs);
                let _ = sum.value();
            });
            never_traps(&what("exact sum of magnitudes"), || {
                let mut sum = exact::Sum::new();
                sum.add_magnitudes(items);
            });
            // A column's scale is guessed, and may be far from the scale of very large and very small items. The result is then discarded.
            for width in WIDTHS.into_iter().filter(|width| *width <= items.len()) {
                let rows = &items[..items.len() - items.len() % width];
                never_traps(&what(&format!("exact sums of rows of {width}")), || {
                    let mut sums = vec![exact::Sum::<$float>::new(); width];
                    exact::Sum::add_rows(&mut sums, rows);
                });
            }
        }
    };
}

exact_sums!(exact_sums_of_doubles, f64);
exact_sums!(exact_sums_of_singles, f32);

#[test]
fn finite_items_do_not_trap_in_exact_sums() {
    for length in LENGTHS {
        for is_extreme in [false, true] {
            let doubles = numbers(length, is_extreme);
            exact_sums_of_doubles(&doubles, is_extreme);
            exact_sums_of_singles(&singles(&doubles, is_extreme), is_extreme);
        }
        for items in [moderate(length), extreme(length)] {
            never_traps("exact values", || {
                let _ = exact::dot(&items, &items);
                let _ = exact::norm(&items);
            });
        }
    }
}

#[test]
fn finite_items_do_not_trap_in_one_process() {
    for length in LENGTHS {
        let items = moderate(length);
        never_traps("functions of one process", || {
            reduce::sum(&items).unwrap();
            reduce::dot(&items, &items).unwrap();
            reduce::scan(&items, &Sum, &mut items.clone()).unwrap();
            reduce::squared_norm(&items).unwrap();
            reduce::fields(&[&items, &items], &Sum).unwrap();
            reduce::sum_rows(&items, 1, &mut [0.0]).unwrap();
        });
    }
}

/// With traps enabled, exact sums have the same values as without, and leave the control register unchanged.
#[test]
fn exact_sums_leave_the_register_and_have_their_values() {
    let items = extreme(5001);
    let (x, y) = ([f64::MAX, 3.0, f64::MAX], [f64::MAX, 4.0, -f64::MAX]);
    let values = || {
        let mut columns = [0.0; 8];
        exact::sum_rows(&items[..4000], 8, &mut columns).unwrap();
        let mut complex = exact::ComplexProductSum::new();
        complex.add(&[x[..2].try_into().unwrap()], &[y[..2].try_into().unwrap()]);
        let values = [
            exact::sum(&items),
            exact::dot(&x, &y).unwrap(),
            exact::norm(&x),
        ];
        let all = values.into_iter().chain(columns).chain(complex.value());
        all.map(f64::to_bits).collect::<Vec<_>>()
    };
    let expected = values();
    assert_eq!(expected[..2], [0.0, 12.0].map(f64::to_bits));
    // Traps are enabled: alone, with the inexact flag set, and in two environments in which exact sums add integers.
    for register in [0, 1 << 5, ROUND_UP, FLUSH_TO_ZERO].map(|more| (DEFAULT & !MASKS) | more) {
        set(register);
        let values = values();
        let after = get();
        set(DEFAULT);
        assert_eq!((values, after), (expected.clone(), register));
    }
}

/// The check does not trap, although every exception would, including inexact results and underflow.
#[test]
fn the_environment_is_named_without_a_trap() {
    for (bits, error) in DEPARTURES {
        set(bits);
        let found = check();
        let after = get();
        set(DEFAULT);
        assert_eq!((found, after), (Err(error), bits), "{error}");
    }
}

/// Runs plans by every algorithm. Traps are enabled on the thread of each rank.
fn plans<O: Operator<f64> + Clone + Send + Sync + 'static>(operator: &O) {
    for algorithm in Algorithm::all().filter(|&other| other != Algorithm::MpiNative) {
        run(3, |world| {
            let items = moderate(40 + world.rank());
            let plan = || {
                let builder = Plan::builder(world).local_items(items.len() as u64);
                let builder = builder.operator(operator.clone()).algorithm(algorithm);
                builder.build::<f64>().unwrap()
            };
            set(DEFAULT & !MASKS);
            let plan = plan();
            plan.allreduce(&items).unwrap();
            // Not every algorithm offers scans.
            let _ = plan.scan(&items, &mut items.clone());
            set(DEFAULT);
        })
        .unwrap();
    }
}

/// Builds and runs plans of exact sums. Traps are enabled on the thread of each rank.
fn exact_plans(algorithm: Algorithm) {
    run(3, |world| {
        let items = extreme(600 + world.rank());
        let pairs: Vec<[f64; 2]> = items.chunks_exact(2).map(|x| [x[0], x[1]]).collect();
        set(DEFAULT & !MASKS);
        let builder = || Plan::builder(world).algorithm(algorithm);
        let sum = builder().build_exact::<exact::Sum<f64>>().unwrap();
        let sum = sum.sum(&items).unwrap();
        let norm = builder().build_exact::<exact::ProductSum<f64>>().unwrap();
        let norm = norm.norm(&items).unwrap();
        let dot = builder().build_exact::<exact::ComplexProductSum<f64>>();
        let dot = dot.unwrap().conjugate_dot(&pairs, &pairs).unwrap();
        // Not every algorithm reduces rows.
        let rows = builder().width(8).build_exact::<exact::Sum<f64>>();
        let mut columns = [0.0; 8];
        let columns = rows.map(|rows| rows.sum_rows(&items[..600], &mut columns));
        set(DEFAULT);
        assert!(columns.is_err() || columns.unwrap().is_ok());
        assert_eq!((sum, dot), (0.0, [f64::INFINITY, 0.0]));
        assert!(norm.is_infinite());
    })
    .unwrap();
}

#[test]
fn finite_items_do_not_trap_in_plans_of_exact_sums() {
    for algorithm in Algorithm::all().filter(|&other| other != Algorithm::MpiNative) {
        exact_plans(algorithm);
    }
}

/// Traps are enabled on every thread of the pool, because each thread has its own control register.
#[cfg(feature = "par")]
#[test]
fn finite_items_do_not_trap_in_exact_sums_by_many_threads() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3);
    let pool = pool.start_handler(|_| set(DEFAULT & !MASKS)).build();
    let items = extreme(1 << 19);
    let (sum, dot, norm) = pool.unwrap().install(|| {
        (
            exact::par::sum(&items),
            exact::par::dot(&items, &items).unwrap(),
            exact::par::norm(&items),
        )
    });
    assert_eq!(sum, 0.0);
    assert!(dot.is_infinite() && norm.is_infinite());
}

#[test]
fn finite_items_do_not_trap_in_plans() {
    plans(&Sum);
    plans(&Min);
    plans(&Max);
}
