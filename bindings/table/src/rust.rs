//! The exports, which are text and no macro's work: `cbindgen` reads them, and so do we.

mod calls_by_key;
mod states;

use std::io::Write;
use std::process::{Command, Stdio};

use crate::Error;
use crate::exact;
use crate::functions::{self, CALLS, Call, SUM, UNTYPED, Untyped, with_pairs, with_starts};
use crate::text::put;
use crate::typed::{Shape, Typed};
pub(crate) use calls_by_key::calls_by_key;
pub(crate) use states::states;

/// Who does the work.
#[derive(Clone, Copy)]
struct By {
    /// What names begin with.
    prefix: &'static str,
    /// What the documentation says.
    whom: &'static str,
    /// Rust's word.
    word: &'static str,
    /// What a function calls.
    calls: fn(&Typed) -> Option<&'static str>,
}

const BY: [By; 2] = [
    By {
        prefix: "",
        whom: "",
        word: "By::Caller",
        calls: |function| Some(function.caller),
    },
    By {
        prefix: "par_",
        whom: ", by all threads",
        word: "By::Pool",
        calls: |function| function.pool,
    },
];

const TYPED_BEGINS: &str = "\
//! The functions of `treefold.h` that there are for several types, and by one thread or all. Written by crate `table`.

use std::ffi::c_void;

use num_complex::Complex;

use super::Combine;
use super::shapes::{self, one_array, results, two_arrays, two_results};
use crate::exact;
use crate::failure::Status;
use crate::local::{self, By};
";

/// The exports of crate `treefold-c` of one process, but those of [`by_key`].
pub(crate) fn typed() -> Result<String, Error> {
    let mut text = TYPED_BEGINS.to_owned();
    for by in BY {
        text += &of_types([&SUM].into_iter().chain(functions::TYPED), by);
        let each = |function: &Untyped| of_any_type(function, by);
        text.extend(UNTYPED.iter().map(each));
    }
    formatted(&text)
}

const BY_KEY_BEGINS: &str = "\
//! The functions of `treefold.h` of items with keys, and of windows, by one thread or all. Written by crate `table`.

use std::ffi::c_void;

use treefold::exact::{KeyedExtrema, KeyedMoments, KeyedProducts, KeyedWeightedMeans};

use super::keyed::{by_key, by_range};
use super::shapes::results;
use crate::accumulator::Statistic;
use crate::failure::Status;
use crate::keyed::{self, Window, of_items, rolling};
use crate::local::By;
";

/// The exports of crate `treefold-c` of items with keys, and of windows.
pub(crate) fn by_key() -> Result<String, Error> {
    let mut text = BY_KEY_BEGINS.to_owned();
    text.extend(BY.map(|by| of_types(exact::TYPED, by)));
    formatted(&text)
}

/// Functions for each of their types, if these workers have them.
fn of_types(functions: impl IntoIterator<Item = &'static Typed>, by: By) -> String {
    let mut text = String::new();
    for function in functions {
        if let Some(calls) = (by.calls)(function) {
            let calls = put(calls, &[("by", by.word)]);
            let each = |&element: &&str| of_type(function, element, by, &calls);
            text.extend(function.types.iter().map(each));
        }
    }
    text
}

fn of_type(function: &Typed, element: &str, by: By, calls: &str) -> String {
    let is_complex = element.starts_with('c');
    let part = element.replace('c', "f");
    let (safety, arguments, before, body) = match function.shape {
        Shape::Array if is_complex => (
            "`x` has 2 n numbers, and `result` has 2.",
            "x: *const {part}, n: usize, result: *mut {part}",
            "let (x, result) = (x.cast::<Complex<{part}>>(), result.cast());
             // SAFETY: the caller promises n complex numbers, each of two parts, and room for one.",
            "one_array(x, n, result, {calls})",
        ),
        Shape::Array => (
            "`x` has n numbers, and `result` is one.",
            "x: *const {part}, n: usize, result: *mut {part}",
            PROMISE,
            "one_array(x, n, result, {calls})",
        ),
        Shape::Lanes => (
            "`x` has n numbers, and `result` is one.",
            "x: *const {part}, n: usize, lanes: usize, result: *mut {part}",
            PROMISE,
            "one_array(x, n, result, {calls})",
        ),
        Shape::Arrays => (
            "`x` has n numbers, `y` has m, and `result` is one.",
            "x: *const {part}, n: usize, y: *const {part}, m: usize, result: *mut {part}",
            PROMISE,
            "two_arrays((x, n), (y, m), result, {calls})",
        ),
        Shape::Numbers => (
            "`x` has n numbers, and `sum` and `absolute_sum` are one each.",
            "x: *const {part}, n: usize, sum: *mut {part}, absolute_sum: *mut {part}",
            PROMISE,
            "two_results(x, n, (sum, absolute_sum), {calls})",
        ),
        Shape::Rows => (
            "`items` are n numbers, and `result` are m.",
            "items: *const {part}, n: usize, width: usize, result: *mut {part}, m: usize",
            PROMISE,
            "results((items, n), (result, m), {calls})",
        ),
        Shape::Windows => (
            "`items` are n numbers, and `result` are m.",
            "items: *const {part}, n: usize, window: usize, least_items: usize, result: *mut {part}, m: usize",
            PROMISE,
            "results((items, n), (result, m), {calls})",
        ),
        Shape::Ranges => (
            "`index` are k numbers of their type, `width` is one, `items` are n numbers, and `result` are m.",
            "index_type: i32, index: *const c_void, k: usize, items: *const {part}, n: usize, width: *const c_void, least_items: usize, result: *mut {part}, m: usize",
            PROMISE,
            "by_range((index_type, index, k), (items, n), width, (result, m), {calls})",
        ),
        Shape::ByKey | Shape::SpreadByKey | Shape::RowsByKey => (
            "`keys` are k numbers of their type, `items` are n, and `result` are m.",
            "key_type: i32, keys: *const c_void, k: usize, items: *const {part}, n: usize, {more}result: *mut {part}, m: usize",
            PROMISE,
            "by_key((key_type, keys, k), [(\"items\", items, n)], (result, m), {calls})",
        ),
        Shape::PairsByKey => (
            "`keys` are k numbers of their type, `x` has n numbers, `y` has l, and `result` are m.",
            "key_type: i32, keys: *const c_void, k: usize, x: *const {part}, n: usize, y: *const {part}, l: usize, result: *mut {part}, m: usize",
            PROMISE,
            "by_key((key_type, keys, k), [(\"x\", x, n), (\"y\", y, l)], (result, m), {calls})",
        ),
    };
    let numbers = if is_complex {
        "complex numbers"
    } else {
        "numbers"
    };
    let gives = put(function.gives, &[("numbers", numbers)]);
    let more = match function.shape {
        Shape::SpreadByKey => "ddof: f64, ",
        Shape::RowsByKey => "width: usize, ",
        _ => "",
    };
    let values = [("part", part.as_str()), ("calls", calls), ("more", more)];
    let name = format!("{}{}_{element}", by.prefix, function.name);
    let (arguments, body) = (put(arguments, &values), put(body, &values));
    let before = put(before, &values);
    export(
        &name,
        &format!("{gives}{}.", by.whom),
        safety,
        &arguments,
        &before,
        &body,
    )
}

fn of_any_type(function: &Untyped, by: By) -> String {
    let name = format!("{}{}", by.prefix, function.name);
    let gives = format!("{}{}.", function.gives, by.whom);
    let body = format!(
        "shapes::{}({}, {})",
        function.name, by.word, function.passes
    );
    export(
        &name,
        &gives,
        function.safety,
        function.arguments,
        PROMISE,
        &body,
    )
}

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
const IS_MINE: &str = ", is_mine: *mut c_int";

const PROMISE: &str = "// SAFETY: the caller's promise is this function's.";

const EXPORT: &str = "
/// {gives}
///
/// # Safety
/// {safety}
#[unsafe(no_mangle)]
pub unsafe extern \"C\" fn treefold_{name}({arguments}) -> Status {
    {before}
    unsafe { {body} }
}
";

fn export(
    name: &str,
    gives: &str,
    safety: &str,
    arguments: &str,
    before: &str,
    body: &str,
) -> String {
    put(
        EXPORT,
        &[
            ("gives", gives),
            ("safety", safety),
            ("name", name),
            ("arguments", arguments),
            ("before", before),
            ("body", body),
        ],
    )
}

/// As `cargo fmt` has it.
fn formatted(text: &str) -> Result<String, Error> {
    let failed = |error: &dyn std::fmt::Display| Error::Rustfmt(error.to_string());
    let mut command = Command::new("rustfmt");
    command.args(["--edition", "2024"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut running = command.spawn().map_err(|error| failed(&error))?;
    if let Some(mut input) = running.stdin.take() {
        input
            .write_all(text.as_bytes())
            .map_err(|error| failed(&error))?;
    }
    let output = running.wait_with_output().map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| failed(&error))
}
