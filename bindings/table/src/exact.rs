//! The table of exact results, and of what accumulators and keyed states do.

use crate::typed::{Shape, Typed, typed};

/// Of all items.
pub(crate) const OF_ALL: &[Typed] = &[
    typed(
        "exact_sum",
        Shape::Array,
        "The exact sum of n numbers",
        "|x| exact::sum({by}, x)",
        "|x| exact::sum({by}, x)",
    ),
    typed(
        "exact_dot",
        Shape::Arrays,
        "The exact dot product",
        "|x, y| exact::dot({by}, x, y)",
        "|x, y| exact::dot({by}, x, y)",
    ),
    Typed {
        result: "norm",
        ..typed(
            "exact_norm",
            Shape::Array,
            "The square root of the exact sum of the squares",
            "|x| exact::norm({by}, x)",
            "|x| exact::norm({by}, x)",
        )
    },
    Typed {
        pool: None,
        ..typed(
            "exact_sum_rows",
            Shape::Rows,
            "The exact sums of the columns of rows",
            "|items, result| exact::sum_rows(items, width, result)",
            "",
        )
    },
];

/// Of items with keys.
pub(crate) const BY_KEY: &[Typed] = &[
    Typed {
        result: "totals",
        ..typed(
            "exact_sum_by_key",
            Shape::ByKey,
            "The exact sum of the items of each key",
            "|keys, [items], result| keyed::sums({by}, keys, items, result)",
            "|keys, [items], result| keyed::sums({by}, keys, items, result)",
        )
    },
    by_one_thread(
        "exact_mean_by_key",
        Shape::ByKey,
        "The mean of the items of each key",
        "means",
        "|keys, [x], result| of_items::<Moments<_>>(Statistic::Mean, keys, [x, &[]], result)",
    ),
    by_one_thread(
        "exact_min_by_key",
        Shape::ByKey,
        "The least item of each key",
        "minima",
        "|keys, [x], result| of_items::<Extrema<_>>(Statistic::Minimum, keys, [x, &[]], result)",
    ),
    by_one_thread(
        "exact_max_by_key",
        Shape::ByKey,
        "The greatest item of each key",
        "maxima",
        "|keys, [x], result| of_items::<Extrema<_>>(Statistic::Maximum, keys, [x, &[]], result)",
    ),
    by_one_thread(
        "exact_variance_by_key",
        Shape::SpreadByKey,
        "The variance of the items of each key",
        "variances",
        "|keys, [x], result| of_items::<Moments<_>>(Statistic::Variance(ddof), keys, [x, &[]], result)",
    ),
    by_one_thread(
        "exact_standard_deviation_by_key",
        Shape::SpreadByKey,
        "The standard deviation of the items of each key",
        "deviations",
        "|keys, [x], result| of_items::<Moments<_>>(Statistic::StandardDeviation(ddof), keys, [x, &[]], result)",
    ),
];

/// Of pairs and rows with keys.
pub(crate) const ROWS_BY_KEY: &[Typed] = &[
    by_one_thread(
        "exact_dot_by_key",
        Shape::PairsByKey,
        "The exact dot product of the items of each key",
        "totals",
        "|keys, arrays, result| of_items::<ProductSum<_>>(Statistic::Value, keys, arrays, result)",
    ),
    by_one_thread(
        "exact_weighted_mean_by_key",
        Shape::PairsByKey,
        "The mean of the items x of each key, with weights y",
        "means",
        "|keys, arrays, result| of_items::<WeightedMean<_>>(Statistic::Mean, keys, arrays, result)",
    ),
    by_one_thread(
        "exact_sum_rows_by_key",
        Shape::RowsByKey,
        "The exact sums of the columns of each key's rows",
        "totals",
        "|keys, [items], result| keyed::sum_rows(keys, items, width, result)",
    ),
];

/// Of windows.
pub(crate) const WINDOWS: &[Typed] = &[
    by_one_thread(
        "exact_rolling_sum",
        Shape::Windows,
        "The exact sum of the window that ends at each item",
        "totals",
        "|items, result| rolling(Statistic::Value, items, Window::Items(window), least_items, result)",
    ),
    by_one_thread(
        "exact_rolling_mean",
        Shape::Windows,
        "The mean of the window that ends at each item",
        "means",
        "|items, result| rolling(Statistic::Mean, items, Window::Items(window), least_items, result)",
    ),
    by_one_thread(
        "exact_rolling_sum_by_range",
        Shape::Ranges,
        "The exact sum of the window of an index that ends at each item",
        "totals",
        "|items, window, result| rolling(Statistic::Value, items, window, least_items, result)",
    ),
    by_one_thread(
        "exact_rolling_mean_by_range",
        Shape::Ranges,
        "The mean of the window of an index that ends at each item",
        "means",
        "|items, window, result| rolling(Statistic::Mean, items, window, least_items, result)",
    ),
];

/// All of them.
pub(crate) const FAMILIES: [&[Typed]; 4] = [OF_ALL, BY_KEY, ROWS_BY_KEY, WINDOWS];

const fn by_one_thread(
    name: &'static str,
    shape: Shape,
    gives: &'static str,
    result: &'static str,
    caller: &'static str,
) -> Typed {
    Typed {
        pool: None,
        result,
        ..typed(name, shape, gives, caller, "")
    }
}

/// What a function of an accumulator or a keyed state takes and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Items.
    Items,
    /// Two arrays of one length.
    Pairs,
    /// Another accumulator.
    Other,
    /// A place for an element.
    Element,
    /// Degrees of freedom, and a place for a real number.
    Spread,
    /// Keys, and their items.
    KeyedItems,
    /// Keys, and two arrays of one length.
    KeyedPairs,
    /// Places for an element for each key.
    Elements,
    /// Degrees of freedom, and places for a real number for each key.
    Spreads,
}

/// A function of an accumulator, `treefold_accumulator_…`, or of a keyed state, `treefold_keyed_…`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Method {
    /// Its name, after that of the handle.
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    /// What it does, for the documentation in Rust.
    pub(crate) gives: &'static str,
    /// Rust's change or statistic.
    pub(crate) what: &'static str,
}

pub(crate) const METHODS: &[Method] = &[
    method("add", Takes::Items, "Adds items", "Change::Add"),
    method("remove", Takes::Items, "Takes back items", "Change::Remove"),
    method("add_dot", Takes::Pairs, "Adds products", "Change::Add"),
    method(
        "remove_dot",
        Takes::Pairs,
        "Takes back products",
        "Change::Remove",
    ),
    method(
        "merge",
        Takes::Other,
        "Adds what another accumulator was given",
        "Change::Add",
    ),
    method(
        "unmerge",
        Takes::Other,
        "Takes back what another accumulator was given",
        "Change::Remove",
    ),
    method("value", Takes::Element, "The value", "Statistic::Value"),
    method("mean", Takes::Element, "The mean", "Statistic::Mean"),
    method(
        "variance",
        Takes::Spread,
        "The variance",
        "Statistic::Variance(ddof)",
    ),
    method(
        "standard_deviation",
        Takes::Spread,
        "The standard deviation",
        "Statistic::StandardDeviation(ddof)",
    ),
    method("add", Takes::KeyedItems, "Adds items by key", "Change::Add"),
    method(
        "remove",
        Takes::KeyedItems,
        "Takes back items by key",
        "Change::Remove",
    ),
    method(
        "add_dot",
        Takes::KeyedPairs,
        "Adds products by key",
        "Change::Add",
    ),
    method(
        "remove_dot",
        Takes::KeyedPairs,
        "Takes back products by key",
        "Change::Remove",
    ),
    method(
        "sums",
        Takes::Elements,
        "The sum of each key",
        "Statistic::Value",
    ),
    method(
        "means",
        Takes::Elements,
        "The mean of each key",
        "Statistic::Mean",
    ),
    method(
        "minima",
        Takes::Elements,
        "The least item of each key",
        "Statistic::Minimum",
    ),
    method(
        "maxima",
        Takes::Elements,
        "The greatest item of each key",
        "Statistic::Maximum",
    ),
    method(
        "variances",
        Takes::Spreads,
        "The variance of each key",
        "Statistic::Variance(ddof)",
    ),
    method(
        "standard_deviations",
        Takes::Spreads,
        "The standard deviation of each key",
        "Statistic::StandardDeviation(ddof)",
    ),
];

const fn method(
    name: &'static str,
    takes: Takes,
    gives: &'static str,
    what: &'static str,
) -> Method {
    Method {
        name,
        takes,
        gives,
        what,
    }
}

impl Takes {
    /// Whether it is of keyed states.
    pub(crate) fn is_keyed(self) -> bool {
        matches!(
            self,
            Self::KeyedItems | Self::KeyedPairs | Self::Elements | Self::Spreads
        )
    }
}

impl Method {
    /// Its name, after `treefold_`.
    pub(crate) fn full_name(&self) -> String {
        let handle = if self.takes.is_keyed() {
            "keyed"
        } else {
            "accumulator"
        };
        format!("{handle}_{}", self.name)
    }
}

/// The handles of Fortran, each with what ends it in C.
pub(crate) const HANDLES: &[(&str, &str)] = &[
    ("accumulator", "accumulator_destroy"),
    ("keyed", "keyed_destroy"),
];
