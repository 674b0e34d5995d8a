//! The exports of one process: functions that there are for several types, and by one thread or all.

use super::{PROMISE, export, formatted};
use crate::Error;
use crate::exact::{BY_KEY, OF_ALL, ROWS_BY_KEY, WINDOWS};
use crate::functions::{SUM, TYPED, UNTYPED, Untyped};
use crate::text::put;
use crate::typed::{Shape, Typed};

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

/// The files of functions for several types, what each begins with, and which it has.
const FAMILIES: [(&str, &str, &[&[Typed]]); 5] = [
    ("typed", TYPED_BEGINS, &[&[SUM], TYPED]),
    ("exact", EXACT_BEGINS, &[OF_ALL]),
    ("by_key", BY_KEY_BEGINS, &[BY_KEY]),
    ("rows_by_key", ROWS_BY_KEY_BEGINS, &[ROWS_BY_KEY]),
    ("windows", WINDOWS_BEGINS, &[WINDOWS]),
];

const TYPED_BEGINS: &str = "\
//! The functions of `treefold.h` that there are for several types, by one thread or all. Written by crate `table`.

use num_complex::Complex;

use super::shapes::{one_array, two_arrays, two_results};
use crate::failure::Status;
use crate::local;
";

const EXACT_BEGINS: &str = "\
//! The functions of `treefold.h` whose results are exact until rounded once, by one thread or all. Written by crate `table`.

use super::shapes::{one_array, results, two_arrays};
use crate::exact;
use crate::failure::Status;
use crate::local::By;
";

const BY_KEY_BEGINS: &str = "\
//! The functions of `treefold.h` of items with keys, by one thread or all. Written by crate `table`.

use std::ffi::c_void;

use treefold::exact::{Extrema, Moments};

use super::keyed::by_key;
use crate::statistic::Statistic;
use crate::failure::Status;
use crate::keyed::{self, of_items};
use crate::local::By;
";

const ROWS_BY_KEY_BEGINS: &str = "\
//! The functions of `treefold.h` of pairs and rows with keys. Written by crate `table`.

use std::ffi::c_void;

use treefold::exact::{ProductSum, WeightedMean};

use super::keyed::by_key;
use crate::statistic::Statistic;
use crate::failure::Status;
use crate::keyed::{self, of_items};
";

const WINDOWS_BEGINS: &str = "\
//! The functions of `treefold.h` of windows. Written by crate `table`.

use std::ffi::c_void;

use super::keyed::by_range;
use super::shapes::results;
use crate::statistic::Statistic;
use crate::failure::Status;
use crate::keyed::{Window, rolling};
";

const ANY_TYPE_BEGINS: &str = "\
//! The functions of `treefold.h` for items of any type, by one thread or all. Written by crate `table`.

use std::ffi::c_void;

use super::shapes;
use crate::raw::Combine;
use crate::failure::Status;
use crate::local::By;
";

/// The exports of crate `treefold-c` without handles: the names of their files, and the texts.
pub(crate) fn local() -> Result<Vec<(&'static str, String)>, Error> {
    let mut files = Vec::new();
    for (name, begins, functions) in FAMILIES {
        let of = |by| of_types(functions.iter().copied().flatten(), by);
        files.push((
            name,
            formatted(&(begins.to_owned() + &BY.map(of).concat()))?,
        ));
    }
    let of = |by| {
        UNTYPED
            .iter()
            .map(move |function| of_any_type(function, by))
    };
    let texts = BY.into_iter().flat_map(of);
    let any_type: String = [ANY_TYPE_BEGINS.to_owned()]
        .into_iter()
        .chain(texts)
        .collect();
    files.push(("any_type", formatted(&any_type)?));
    Ok(files)
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
