//! The exports of plans by key.

use super::{IS_MINE, PROMISE, export, formatted};
use crate::Error;
use crate::functions::{CALLS, Call};

const BEGINS: &str = "\
//! The functions of `treefold_mpi.h` that run and start plans by key. Written by crate `table`.

use std::ffi::{c_int, c_void};
use std::ptr;

use treefold::Operation;
use treefold_c::failure::Status;

use super::keyed;
use crate::plan::treefold_plan;
use crate::run::treefold_run;
";

/// The exports of crate `treefold-c-mpi` that run and start plans by key.
pub(crate) fn calls_by_key() -> Result<String, Error> {
    let mut text = BEGINS.to_owned();
    for of_kind in [run, start] {
        let each = |call: &Call| call.by_key.map(|gives| of_kind(call, gives));
        text.extend(CALLS.iter().filter_map(each));
    }
    formatted(&text)
}

const ITEMS: &str = "plan: *const treefold_plan, key_type: i32, keys: *const c_void, k: usize, items: *const c_void, n: usize";
const PASSED: &str = "(key_type, keys, k), (items, n)";

fn run(call: &Call, gives: &str) -> String {
    let Call {
        name, operation, ..
    } = call;
    let (safety, more, is_mine) = if call.to_root {
        (
            "`keys` are k numbers, `items` are n elements, `result` is m, and `is_mine` is one int; each may be NULL.",
            IS_MINE,
            "is_mine",
        )
    } else {
        (
            "`keys` are k numbers, `items` are n elements, and `result` is m; each may be NULL.",
            "",
            "ptr::null_mut()",
        )
    };
    export(
        &format!("{name}_by_key"),
        &format!("{gives}. Collective."),
        safety,
        &format!("{ITEMS}, result: *mut c_void, m: usize{more}"),
        PROMISE,
        &format!("keyed::run(plan, Operation::{operation}, {PASSED}, (result, m), {is_mine})"),
    )
}

fn start(call: &Call, _: &str) -> String {
    let Call {
        name, operation, ..
    } = call;
    export(
        &format!("start_{name}_by_key"),
        &format!("Starts `treefold_{name}_by_key`. Collective."),
        "`keys` are k numbers, `items` are n elements, and `run` is room for a handle; each may be NULL.",
        &format!("{ITEMS}, run: *mut *mut treefold_run"),
        PROMISE,
        &format!("keyed::start(plan, Operation::{operation}, {PASSED}, run)"),
    )
}
