//! The table: a line a function.

use crate::typed::{Shape, Typed, typed};

/// Reductions in tree order.
pub(crate) const TYPED: &[Typed] = &[
    typed(
        "sum_lanes",
        Shape::Lanes,
        "The sum in lanes",
        "|x| treefold::sum_lanes(x, lanes)",
        "|x| local::par_sum_lanes(x, lanes)",
    ),
    typed(
        "dot",
        Shape::Arrays,
        "The dot product",
        "treefold::dot",
        "local::par_dot",
    ),
    typed(
        "squared_norm",
        Shape::Array,
        "The sum of the squares",
        "treefold::squared_norm",
        "local::par_squared_norm",
    ),
    typed(
        "sum_and_absolute_sum",
        Shape::Numbers,
        "The sum, and that of the absolute values",
        "treefold::sum_and_absolute_sum",
        "local::par_sum_and_absolute_sum",
    ),
];

/// Sums of floats have functions of their own in C: they need not look at a type and an operator first. Fortran and C++ know them as the
/// operator's.
pub(crate) const SUM: Typed = Typed {
    types: &["f32", "f64", "c32", "c64"],
    ..typed(
        "sum",
        Shape::Array,
        "The sum of n {numbers}",
        "treefold::sum",
        "local::par_sum",
    )
};

/// All functions for each of several types that Fortran and C++ know by one name.
pub(crate) fn all_typed() -> impl Iterator<Item = &'static Typed> {
    let families = crate::exact::FAMILIES.into_iter();
    [TYPED].into_iter().chain(families).flatten()
}

/// A function for items of any type, whose type is an argument, and another for all threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Untyped {
    /// Its name, after `treefold_`.
    pub(crate) name: &'static str,
    /// What it gives.
    pub(crate) gives: &'static str,
    /// What the caller promises.
    pub(crate) safety: &'static str,
    /// Rust's arguments.
    pub(crate) arguments: &'static str,
    /// What it calls, after who does the work.
    pub(crate) passes: &'static str,
}

pub(crate) const UNTYPED: &[Untyped] = &[
    Untyped {
        name: "fold",
        gives: "The reduction of n items of any type by any operator",
        safety: "`items` are n elements of the type, and `result` is one.",
        arguments: "element_type: i32, op: i32, items: *const c_void, n: usize, result: *mut c_void",
        passes: "(element_type, op), (items, n), result",
    },
    Untyped {
        name: "fold_rows",
        gives: "The reduction of rows, element by element",
        safety: "`items` are n elements of the type, and `result` are m.",
        arguments: "element_type: i32, op: i32, items: *const c_void, n: usize, width: usize, result: *mut c_void, m: usize",
        passes: "(element_type, op), (items, n), width, (result, m)",
    },
    Untyped {
        name: "fields",
        gives: "The reductions of several fields",
        safety: "`fields` are `count` pointers to n elements of the type each, and `result` are `count` elements.",
        arguments: "element_type: i32, op: i32, fields: *const *const c_void, count: usize, n: usize, result: *mut c_void",
        passes: "(element_type, op), (fields, count, n), result",
    },
    Untyped {
        name: "fold_user",
        gives: "The reduction of n items by the caller's operator",
        safety: "`items` are n items of so many bytes, `empty` is NULL or one, `result` is one, and the operator does as `treefold.h` says.",
        arguments: "items: *const c_void, n: usize, item_bytes: usize, combine: Combine, context: *mut c_void, empty: *const c_void, result: *mut c_void",
        passes: "(items, n), item_bytes, (combine, context), empty, result",
    },
];

/// An operator that has a name in C++ and Fortran, such as `treefold_sum` and `treefold_sum_rows`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operator {
    /// Its name; in capitals that of its code.
    pub(crate) name: &'static str,
    /// Whether it needs an order, which complex numbers lack.
    pub(crate) is_ordered: bool,
    /// What Fortran calls the result.
    pub(crate) result: &'static str,
}

pub(crate) const OPERATORS: &[Operator] = &[
    Operator {
        name: "sum",
        is_ordered: false,
        result: "total",
    },
    Operator {
        name: "product",
        is_ordered: false,
        result: "total",
    },
    Operator {
        name: "min",
        is_ordered: true,
        result: "least",
    },
    Operator {
        name: "max",
        is_ordered: true,
        result: "greatest",
    },
];

/// A call of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// Its name, after `treefold_`.
    pub(crate) name: &'static str,
    /// Rust's `Operation`.
    pub(crate) operation: &'static str,
    /// The forms in which Fortran takes the items, and leaves the result.
    pub(crate) forms: &'static [Form],
    /// Whether one rank alone gets the result.
    pub(crate) to_root: bool,
    /// Whether it takes a row in place of items, and leaves one there.
    pub(crate) in_place: bool,
    /// What it gives of two arrays, for the documentation in Rust, if dot products have it.
    pub(crate) of_pairs: Option<&'static str>,
    /// What it gives of items with keys, for the documentation in Rust, if plans by key have it.
    pub(crate) by_key: Option<&'static str>,
}

/// How arrays of Fortran hold items and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// The end of the procedure's name.
    pub(crate) name: &'static str,
    /// The items' shape.
    pub(crate) local: &'static str,
    /// The result's shape; none for a scalar.
    pub(crate) result: &'static str,
}

const ONE: Form = Form {
    name: "one",
    local: "(:)",
    result: "",
};
const ROW: Form = Form {
    name: "row",
    local: "(:)",
    result: "(:)",
};
const ROWS: Form = Form {
    name: "rows",
    local: "(:, :)",
    result: "(:)",
};
const EACH_ROW: Form = Form {
    name: "rows",
    local: "(:, :)",
    result: "(:, :)",
};

/// The forms of a wait's result.
pub(crate) const WAITS: &[Form] = &[ONE, ROW, EACH_ROW];

pub(crate) const CALLS: &[Call] = &[
    Call {
        of_pairs: Some("The dot product on every rank"),
        by_key: Some("The value of each key on every rank"),
        ..call("allreduce", "Allreduce", &[ONE, ROW, ROWS])
    },
    Call {
        to_root: true,
        of_pairs: Some("The dot product on the root"),
        by_key: Some("The value of each key on the root"),
        ..call("reduce", "Reduce", &[ONE, ROW, ROWS])
    },
    Call {
        by_key: Some("The values of this rank's keys"),
        ..call("reduce_scatter", "ReduceScatter", &[ROW, ROWS])
    },
    call("scan", "Scan", &[ROW, EACH_ROW]),
    call("exscan", "Exscan", &[ROW, EACH_ROW]),
    Call {
        in_place: true,
        ..call("broadcast", "Broadcast", &[ONE, ROW])
    },
];

const fn call(name: &'static str, operation: &'static str, forms: &'static [Form]) -> Call {
    Call {
        name,
        operation,
        forms,
        to_root: false,
        in_place: false,
        of_pairs: None,
        by_key: None,
    }
}

/// The calls that dot products have.
pub(crate) fn with_pairs() -> impl Iterator<Item = &'static Call> {
    CALLS.iter().filter(|call| call.of_pairs.is_some())
}

/// The calls that plans by key have.
pub(crate) fn with_keys() -> impl Iterator<Item = &'static Call> {
    CALLS.iter().filter(|call| call.by_key.is_some())
}

/// The calls that can be started.
pub(crate) fn with_starts() -> impl Iterator<Item = &'static Call> {
    CALLS.iter().filter(|call| !call.in_place)
}

/// A setting of a plan that is one number or several, which Fortran takes in four or eight bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// Its name, after `treefold_builder_`.
    pub(crate) name: &'static str,
    /// What Fortran's users read of it.
    pub(crate) says: &'static [&'static str],
}

pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        name: "local_items",
        says: &[
            "Which items this rank has: one of these three and treefold_builder_extents is needed, except for exact sums. So many, which",
            "follow those of the ranks below:",
        ],
    },
    Setting {
        name: "even",
        says: &[
            "N items over all ranks, floor(N / p) for each of p ranks and one more for the first N mod p of them. A rule, as block_cyclic:",
            "all ranks give the same numbers, and a plan needs no table of the ranks.",
        ],
    },
    Setting {
        name: "block_cyclic",
        says: &["Blocks of so many of N items, dealt to the ranks in turn."],
    },
    Setting {
        name: "items",
        says: &["The items on all ranks, to be checked against what they have."],
    },
    Setting {
        name: "width",
        says: &[
            "The elements of an item: with more than one, items are rows, which are reduced element by element. 1 by default.",
        ],
    },
    Setting {
        name: "blocks",
        says: &[
            "Parameters of algorithms, which change no bit either. The column blocks of a row:",
        ],
    },
    Setting {
        name: "ports",
        says: &["The messages that a rank sends at once (bruck, dissemination):"],
    },
    Setting {
        name: "node_ranks",
        says: &["The ranks of a node (hierarchical):"],
    },
    Setting {
        name: "message_limit",
        says: &["The longest message, in elements:"],
    },
];

/// The handles of Fortran, each with what ends it in C.
pub(crate) const HANDLES: &[(&str, &str)] = &[
    ("comm", "comm_destroy"),
    ("builder", "builder_destroy"),
    ("plan", "plan_destroy"),
    ("run", "cancel"),
    ("hashed", "hashed_destroy"),
];
