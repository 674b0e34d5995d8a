//! The exports that run and start plans.

use super::{IS_MINE, PROMISE, export, formatted};
use crate::Error;
use crate::functions::{CALLS, Call, with_pairs, with_starts};

const CALLS_BEGINS: &str = "\
//! The functions of `treefold_mpi.h` that run and start plans. Written by crate `table`.

use std::ffi::{c_int, c_void};
use std::ptr;

use treefold::Operation;
use treefold_c::failure::Status;

use super::entry;
use crate::plan::treefold_plan;
use crate::run::treefold_run;
";

/// The exports of crate `treefold-c-mpi` that run and start plans.
pub(crate) fn calls() -> Result<String, Error> {
    let mut text = CALLS_BEGINS.to_owned();
    text.extend(CALLS.iter().map(run));
    text.extend(with_starts().map(start));
    text.extend(with_pairs().map(run_of_pairs));
    text.extend(with_pairs().map(start_of_pairs));
    formatted(&text)
}

fn run(call: &Call) -> String {
    let Call {
        name, operation, ..
    } = call;
    let gives = format!("`treefold_{name}`. Collective.");
    if call.in_place {
        let safety = "`row` is m elements, or NULL.";
        let arguments = "plan: *const treefold_plan, row: *mut c_void, m: usize";
        return export(
            name,
            &gives,
            safety,
            arguments,
            PROMISE,
            &format!("entry::{name}(plan, (row, m))"),
        );
    }
    let (safety, more, is_mine) = if call.to_root {
        (
            "`local` is n elements, `result` is m, and `is_mine` is one int; each may be NULL.",
            IS_MINE,
            "is_mine",
        )
    } else {
        (
            "`local` is n elements and `result` is m, or NULL.",
            "",
            "ptr::null_mut()",
        )
    };
    let arguments = format!("{LOCAL}, result: *mut c_void, m: usize{more}");
    let body =
        format!("entry::run(plan, Operation::{operation}, (local, n), (result, m), {is_mine})");
    export(name, &gives, safety, &arguments, PROMISE, &body)
}

fn start(call: &Call) -> String {
    let Call {
        name, operation, ..
    } = call;
    let gives = format!("Starts `treefold_{name}`. Collective.");
    let safety = "`local` is n elements, and `run` is room for a handle; each may be NULL.";
    let arguments = format!("{LOCAL}, run: *mut *mut treefold_run");
    let body = format!("entry::start(plan, Operation::{operation}, (local, n), run)");
    export(
        &format!("start_{name}"),
        &gives,
        safety,
        &arguments,
        PROMISE,
        &body,
    )
}

fn run_of_pairs(call: &Call) -> String {
    let Call {
        name,
        operation,
        of_pairs,
        ..
    } = call;
    let gives = format!("{}. Collective.", of_pairs.unwrap_or_default());
    let (safety, more, is_mine) = if call.to_root {
        (
            "`x` is n elements, `y` is k, `result` is m, and `is_mine` is one int; each may be NULL.",
            IS_MINE,
            "is_mine",
        )
    } else {
        (
            "`x` is n elements, `y` is k, and `result` is m; each may be NULL.",
            "",
            "ptr::null_mut()",
        )
    };
    let arguments = format!("{PAIRS}, result: *mut c_void, m: usize{more}");
    let body = format!(
        "entry::run_pairs(plan, Operation::{operation}, [(x, n), (y, k)], (result, m), {is_mine})"
    );
    export(
        &format!("{name}_dot"),
        &gives,
        safety,
        &arguments,
        PROMISE,
        &body,
    )
}

fn start_of_pairs(call: &Call) -> String {
    let Call {
        name, operation, ..
    } = call;
    let gives = format!("Starts `treefold_{name}_dot`. Collective.");
    let safety = "`x` is n elements, `y` is k, and `run` is room for a handle; each may be NULL.";
    let arguments = format!("{PAIRS}, run: *mut *mut treefold_run");
    let body = format!("entry::start_pairs(plan, Operation::{operation}, [(x, n), (y, k)], run)");
    export(
        &format!("start_{name}_dot"),
        &gives,
        safety,
        &arguments,
        PROMISE,
        &body,
    )
}

const LOCAL: &str = "plan: *const treefold_plan, local: *const c_void, n: usize";
const PAIRS: &str =
    "plan: *const treefold_plan, x: *const c_void, n: usize, y: *const c_void, k: usize";
