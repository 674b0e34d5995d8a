//! A floating-point environment that would change bits is an error, on every rank.
//!
//! x86-64 only: the test sets the control register of its own threads, which takes an instruction.

#![cfg(target_arch = "x86_64")]
#![expect(unsafe_code, reason = "the control register is set by an instruction")]
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::arch::asm;

use reduce::environment::{EnvironmentError, check};
use reduce::threads::run;
use reduce::{BuildError, FoldError, Plan, RunError};

const FLUSH_TO_ZERO: u32 = 1 << 15;
const DENORMALS_ARE_ZERO: u32 = 1 << 6;
const ROUND_DOWN: u32 = 1 << 13;
const ROUND_UP: u32 = 2 << 13;
const ROUND_TO_ZERO: u32 = 3 << 13;
/// Round to nearest, all exceptions masked, as every thread begins.
const DEFAULT: u32 = 0x1F80;

/// Runs `body` with these bits of the control register set, on this thread.
fn with<R>(bits: u32, body: impl FnOnce() -> R) -> R {
    set(DEFAULT | bits);
    let result = body();
    set(DEFAULT);
    result
}

fn set(control: u32) {
    // SAFETY: `ldmxcsr` reads the four bytes that the pointer names, and no reserved bit is set.
    // The register is this thread's own, and `with` sets it back.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const control) }
}

#[test]
fn each_departure_from_the_default_is_named() {
    assert_eq!(check(), Ok(()));
    let cases = [
        (FLUSH_TO_ZERO, EnvironmentError::FlushToZero),
        (DENORMALS_ARE_ZERO, EnvironmentError::DenormalsAreZero),
        (ROUND_DOWN, EnvironmentError::Rounding),
        (ROUND_UP, EnvironmentError::Rounding),
        (ROUND_TO_ZERO, EnvironmentError::Rounding),
    ];
    for (bits, error) in cases {
        assert_eq!(with(bits, check), Err(error));
        let sum = with(bits, || reduce::sum(&[1.0, 2.0]));
        assert_eq!(sum, Err(FoldError::Environment(error)));
        let x = [1.0, 2.0];
        let others = with(bits, || {
            [
                reduce::dot(&x, &x).map(drop),
                reduce::squared_norm(&x).map(drop),
                reduce::sum_and_absolute_sum(&x).map(drop),
                reduce::sum_rows(&x, 1, &mut [0.0]),
                reduce::fields(&[&x], &reduce::Sum).map(drop),
            ]
        });
        for other in others {
            assert_eq!(other, Err(FoldError::Environment(error)));
        }
    }
    assert_eq!(check(), Ok(()));
}

#[test]
fn one_rank_s_environment_stops_the_plan_on_every_rank() {
    let errors = run(5, |world| {
        let build = || Plan::builder(world).local_items(1).build::<f64>().map(drop);
        let bits = if world.rank() == 3 { FLUSH_TO_ZERO } else { 0 };
        with(bits, build)
    });
    let expected = BuildError::Environment {
        rank: 3,
        error: EnvironmentError::FlushToZero,
    };
    assert_eq!(errors.unwrap(), vec![Err(expected); 5]);
}

#[test]
fn an_environment_that_changes_after_the_plan_stops_its_run() {
    let results = run(5, |world| {
        let plan = Plan::builder(world).local_items(1).build::<f64>().unwrap();
        let bits = if world.rank() == 3 { ROUND_UP } else { 0 };
        with(bits, || plan.allreduce(&[1.0]))
    });
    for (rank, result) in results.unwrap().into_iter().enumerate() {
        let expected = if rank == 3 {
            let error = EnvironmentError::Rounding;
            RunError::Environment { rank, error }
        } else {
            RunError::RankFailed { rank: 3 }
        };
        assert_eq!(result, Err(expected));
    }
}
