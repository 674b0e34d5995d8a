//! The exports of accumulators and keyed states.

use super::{PROMISE, export, formatted};
use crate::Error;
use crate::exact::{METHODS, Method, Takes};
use crate::text::put;

const BEGINS: &str = "\
//! The functions of `treefold.h` that change accumulators and keyed states, and read them. Written by crate `table`.

use std::ffi::c_void;

use super::{held, keyed as by_keys};
use crate::accumulator::{Change, treefold_accumulator};
use crate::statistic::Statistic;
use crate::failure::Status;
use crate::keyed::treefold_keyed;
";

/// The exports of crate `treefold-c` that take accumulators and keyed states.
pub(crate) fn states() -> Result<String, Error> {
    let mut text = BEGINS.to_owned();
    text.extend(METHODS.iter().map(of_state));
    formatted(&text)
}

fn of_state(method: &Method) -> String {
    let (safety, arguments, body) = match method.takes {
        Takes::Items => (
            "`items` are n elements of the accumulator's type.",
            "accumulator: *mut treefold_accumulator, items: *const c_void, n: usize",
            "held::change(accumulator, {what}, (items, n))",
        ),
        Takes::Pairs => (
            "`x` has n elements of the accumulator's type, and `y` has m.",
            "accumulator: *mut treefold_accumulator, x: *const c_void, n: usize, y: *const c_void, m: usize",
            "held::change_pairs(accumulator, {what}, (x, n), (y, m))",
        ),
        Takes::Other => (
            "",
            "accumulator: *mut treefold_accumulator, other: *const treefold_accumulator",
            "held::change_by(accumulator, {what}, other)",
        ),
        Takes::Element => (
            "`result` is one element of the accumulator's type.",
            "accumulator: *const treefold_accumulator, result: *mut c_void",
            "held::statistic(accumulator, {what}, result)",
        ),
        Takes::Spread => (
            "`result` is one real number of the accumulator's type.",
            "accumulator: *const treefold_accumulator, ddof: f64, result: *mut c_void",
            "held::statistic(accumulator, {what}, result)",
        ),
        Takes::KeyedItems => (
            "`keys` are k numbers of their type, and `items` are n elements of the state's.",
            "keyed: *mut treefold_keyed, key_type: i32, keys: *const c_void, k: usize, items: *const c_void, n: usize",
            "by_keys::change(keyed, {what}, (key_type, keys, k), [(\"items\", items, n)])",
        ),
        Takes::KeyedPairs => (
            "`keys` are k numbers of their type, `x` has n elements of the state's, and `y` has l.",
            "keyed: *mut treefold_keyed, key_type: i32, keys: *const c_void, k: usize, x: *const c_void, n: usize, y: *const c_void, l: usize",
            "by_keys::change(keyed, {what}, (key_type, keys, k), [(\"x\", x, n), (\"y\", y, l)])",
        ),
        Takes::Elements => (
            "`result` are m elements of the state's type.",
            "keyed: *const treefold_keyed, result: *mut c_void, m: usize",
            "by_keys::statistics(keyed, {what}, (result, m))",
        ),
        Takes::Spreads => (
            "`result` are m elements of the state's type.",
            "keyed: *const treefold_keyed, ddof: f64, result: *mut c_void, m: usize",
            "by_keys::statistics(keyed, {what}, (result, m))",
        ),
    };
    let body = put(body, &[("what", method.what)]);
    let (name, gives) = (method.full_name(), format!("{}.", method.gives));
    if safety.is_empty() {
        return put(
            SAFE_EXPORT,
            &[
                ("gives", &gives),
                ("name", &name),
                ("arguments", arguments),
                ("body", &body),
            ],
        );
    }
    export(&name, &gives, safety, arguments, PROMISE, &body)
}

/// Handles are names, which need no promise.
const SAFE_EXPORT: &str = "
/// {gives}
#[unsafe(no_mangle)]
pub extern \"C\" fn treefold_{name}({arguments}) -> Status {
    {body}
}
";
