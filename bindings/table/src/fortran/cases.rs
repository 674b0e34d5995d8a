//! Which functions of C the calls stand for: the cases of Fortran's choices between calls.

use crate::functions::{CALLS, Call, with_keys, with_pairs, with_starts};
use crate::text::put;

/// The parts of `treefold_mpi.F90` that are such cases.
pub(super) fn regions() -> [(&'static str, String); 8] {
    [
        ("calls of C", cases(CALLS, RUN)),
        ("dot products of C", cases(with_pairs(), RUN_DOT)),
        ("starts of C", cases(with_starts(), START)),
        (
            "starts of dot products of C",
            cases(with_pairs(), START_DOT),
        ),
        ("sums by key of C", cases(with_keys(), RUN_BY_KEY)),
        ("states by key of C", cases(with_keys(), RUN_KEYED)),
        (
            "starts of sums by key of C",
            cases(with_keys(), START_BY_KEY),
        ),
        (
            "sums by keys of 64 bits of C",
            cases(with_keys(), RUN_HASHED),
        ),
    ]
}

const RUN: &str = "c_{name}(plan%handle, {local}result, result_count{mine})";
const RUN_DOT: &str =
    "c_{name}_dot(plan%handle, first, x_count, y, y_count, result, result_count{mine})";
const START: &str = "c_start_{name}(plan%handle, first, local_count, run%handle)";
const START_DOT: &str = "c_start_{name}_dot(plan%handle, first, x_count, y, y_count, run%handle)";
const RUN_BY_KEY: &str =
    "c_{name}_by_key(plan%handle, key_type, keys, k, first, count, result, result_count{mine})";
const RUN_KEYED: &str = "c_{name}_keyed(plan%handle, handle{mine})";
const START_BY_KEY: &str =
    "c_start_{name}_by_key(plan%handle, key_type, keys, k, first, count, run%handle)";
const RUN_HASHED: &str = "c_hashed_{name}(hashed%handle, keys, k, first, item_count, found)";

const CASE: &str = "      case (TREEFOLD_CALL_{call})
         status = {function}
";

fn cases(calls: impl IntoIterator<Item = &'static Call>, function: &str) -> String {
    let case = put(CASE, &[("function", function)]);
    let each = |call: &Call| {
        let values = [
            ("name", call.name),
            ("call", &call.name.to_uppercase()),
            (
                "local",
                ["first, local_count, ", ""][usize::from(call.in_place)],
            ),
            ("mine", ["", ", mine"][usize::from(call.to_root)]),
        ];
        put(&case, &values)
    };
    calls.into_iter().map(each).collect()
}
