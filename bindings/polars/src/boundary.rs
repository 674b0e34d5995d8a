//! Exports the functions that Polars calls by name, by version 0.1 of its plugin interface.
//!
//! `_polars_plugin_NAME` computes a column from columns. `_polars_plugin_field_NAME` computes the result's name and type from the names and
//! types of the columns. If the result stays empty, Polars asks for the thread's last error. When Polars loads the library, it rejects
//! unknown versions of the interface.
#![expect(
    unsafe_code,
    reason = "Polars passes pointers; each block says what the plugin interface promises"
)]

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use treefold::exact::{Held, Statistic};

use crate::arrow::{ArrowSchema, DataType, SeriesExport, all_of};
use crate::error::Error;
use crate::figure::Figure;
use crate::function::Function;

/// Version 0.1. The upper 16 bits are the major version, and the lower 16 bits are the minor version.
const VERSION: u32 = 1;

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

#[unsafe(no_mangle)]
extern "C" fn _polars_plugin_get_version() -> u32 {
    VERSION
}

/// Returns the thread's last error. Polars copies the text before it calls again.
#[unsafe(no_mangle)]
extern "C" fn _polars_plugin_get_last_error_message() -> *const c_char {
    LAST_ERROR.with_borrow(|error| error.as_ptr())
}

/// Calls `make`. If it fails or panics, stores the reason as the last error, and returns `None`.
fn tried<T>(name: &str, make: impl FnOnce() -> Result<T, Error>) -> Option<T> {
    let text = match catch_unwind(AssertUnwindSafe(make)) {
        Ok(Ok(made)) => return Some(made),
        Ok(Err(Error(text))) => format!("{name}: {text}"),
        Err(_) => format!("{name} panicked: this is a bug in treefold"),
    };
    let text = CString::new(text.replace('\0', "")).unwrap_or_default();
    LAST_ERROR.set(text);
    None
}

/// Computes the result of a function as a column.
///
/// # Safety
/// `columns` points to `count` columns, which this function releases. `result` points to room for a column.
unsafe fn call(
    function: Function,
    columns: *const SeriesExport,
    count: usize,
    result: *mut SeriesExport,
) {
    let made = tried(function.name, || {
        // SAFETY: guaranteed by the caller.
        let columns = unsafe { all_of(columns, count) };
        let made = function.call(&columns)?;
        let name = columns.first().map_or("", |column| &column.name);
        Ok(made.export(name))
    });
    if let Some(made) = made {
        // SAFETY: guaranteed by the caller; the place was empty.
        unsafe { result.write(made) };
    }
}

/// Computes the name and type of a function's result.
///
/// # Safety
/// `fields` points to `count` fields. `result` points to room for a field.
unsafe fn field(
    function: Function,
    fields: *const ArrowSchema,
    count: usize,
    result: *mut ArrowSchema,
) {
    let fields = if count == 0 {
        &[]
    } else {
        // SAFETY: guaranteed by the caller.
        unsafe { slice::from_raw_parts(fields, count) }
    };
    let made = tried(function.name, || {
        let columns = fields
            .iter()
            .map(|field| (field.name(), DataType::of(field)));
        let columns: Vec<(String, DataType)> = columns.collect();
        let pairs = columns
            .iter()
            .map(|(name, data_type)| (name.as_str(), data_type));
        let pairs: Vec<_> = pairs.collect();
        let data_type = function.result(&pairs)?;
        let name = pairs.first().map_or("", |(name, _)| name);
        Ok(ArrowSchema::of(name, &data_type))
    });
    if let Some(made) = made {
        // SAFETY: guaranteed by the caller; the place was empty.
        unsafe { result.write(made) };
    }
}

/// Exports both functions of each name.
macro_rules! functions {
    ($($name:literal, $figure:expr, $of_lists:literal;)+) => {$(
        const _: () = {
            const FUNCTION: Function = Function {
                name: $name,
                figure: $figure,
                of_lists: $of_lists,
            };

            /// # Safety
            /// Called by Polars: see [`call`].
            #[unsafe(export_name = concat!("_polars_plugin_", $name))]
            unsafe extern "C" fn called(
                columns: *const SeriesExport,
                count: usize,
                _arguments: *const u8,
                _bytes: usize,
                result: *mut SeriesExport,
                _context: *const c_void,
            ) {
                // SAFETY: guaranteed by the caller.
                unsafe { call(FUNCTION, columns, count, result) };
            }

            /// # Safety
            /// Called by Polars: see [`field`].
            #[unsafe(export_name = concat!("_polars_plugin_field_", $name))]
            unsafe extern "C" fn field_of(
                fields: *const ArrowSchema,
                count: usize,
                result: *mut ArrowSchema,
                _arguments: *const u8,
                _bytes: usize,
            ) {
                // SAFETY: guaranteed by the caller.
                unsafe { field(FUNCTION, fields, count, result) };
            }
        };
    )+};
}

functions! {
    "exact_sum", Figure::Items(Statistic::Sum), false;
    "exact_mean", Figure::Items(Statistic::Mean), false;
    "exact_var", Figure::Items(Statistic::Variance), false;
    "exact_std", Figure::Items(Statistic::StandardDeviation), false;
    "exact_dot", Figure::Items(Statistic::Dot), false;
    "exact_list_sum", Figure::Items(Statistic::Sum), true;
    "exact_list_mean", Figure::Items(Statistic::Mean), true;
    "exact_list_var", Figure::Items(Statistic::Variance), true;
    "exact_list_std", Figure::Items(Statistic::StandardDeviation), true;
    "exact_list_dot", Figure::Items(Statistic::Dot), true;
    "tree_sum", Figure::Tree, true;
    "exact_skewness", Figure::Items(Statistic::Skewness), false;
    "exact_kurtosis", Figure::Items(Statistic::Kurtosis), false;
    "exact_cov", Figure::Items(Statistic::Covariance), false;
    "exact_corr", Figure::Items(Statistic::Correlation), false;
    "exact_slope", Figure::Items(Statistic::Slope), false;
    "exact_intercept", Figure::Items(Statistic::Intercept), false;
    "exact_average", Figure::Items(Statistic::WeightedMean), false;
    "exact_sum_state", Figure::State(Held::Sum), false;
    "exact_dot_state", Figure::State(Held::Products), false;
    "exact_moments_state", Figure::State(Held::Moments), false;
    "exact_powers_state", Figure::State(Held::Powers), false;
    "exact_comoments_state", Figure::State(Held::CoMoments), false;
    "exact_merge", Figure::Merged, false;
    "exact_count_of", Figure::Of(Statistic::Count), false;
    "exact_sum_of", Figure::Of(Statistic::Sum), false;
    "exact_mean_of", Figure::Of(Statistic::Mean), false;
    "exact_var_of", Figure::Of(Statistic::Variance), false;
    "exact_std_of", Figure::Of(Statistic::StandardDeviation), false;
    "exact_dot_of", Figure::Of(Statistic::Dot), false;
    "exact_skewness_of", Figure::Of(Statistic::Skewness), false;
    "exact_kurtosis_of", Figure::Of(Statistic::Kurtosis), false;
    "exact_cov_of", Figure::Of(Statistic::Covariance), false;
    "exact_corr_of", Figure::Of(Statistic::Correlation), false;
    "exact_slope_of", Figure::Of(Statistic::Slope), false;
    "exact_intercept_of", Figure::Of(Statistic::Intercept), false;
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::mem::MaybeUninit;

    use super::*;
    use crate::arrow::{Made, Values};

    /// The result of a function on columns.
    fn answer(
        name: &'static str,
        statistic: Statistic,
        columns: Vec<(&str, Made)>,
    ) -> Result<Vec<f64>, String> {
        let columns = columns.into_iter().map(|(name, made)| made.export(name));
        let columns: Vec<SeriesExport> = columns.collect();
        let function = Function {
            name,
            figure: Figure::Items(statistic),
            of_lists: false,
        };
        let mut result = MaybeUninit::<SeriesExport>::zeroed();
        // SAFETY: `SeriesExport` has no destructor, so only the callee releases the columns.
        unsafe {
            call(
                function,
                columns.as_ptr(),
                columns.len(),
                result.as_mut_ptr(),
            )
        };
        // SAFETY: zero bytes are a valid column, which is empty.
        let result = unsafe { result.assume_init() };
        if result.is_empty() {
            return Err(last_error());
        }
        // SAFETY: `result` is one column, and nothing else releases the column.
        let made = unsafe { all_of(&raw const result, 1) };
        let chunks = made[0].chunks().map_err(|Error(text)| text)?;
        match chunks[0].values {
            Values::F64(items) => Ok(items.to_vec()),
            ref other => Err(format!("{other:?}")),
        }
    }

    fn last_error() -> String {
        // SAFETY: the text belongs to this thread.
        let text = unsafe { CStr::from_ptr(_polars_plugin_get_last_error_message()) };
        text.to_str().expect("a text").to_owned()
    }

    #[test]
    fn columns_cross_in_both_directions() {
        let items = (0..200).map(|item| (item % 7 > 0).then(|| f64::from(item)));
        let items: Vec<Option<f64>> = items.collect();
        let expected = items.iter().flatten().fold(0.0, |sum, item| sum + item);
        let column = || Made::F64(items.clone());
        let sum = answer("exact_sum", Statistic::Sum, vec![("x", column())]);
        assert_eq!(sum, Ok(vec![expected]));
        let ones = Made::I64(vec![Some(1); 200]);
        let dot = answer(
            "exact_dot",
            Statistic::Dot,
            vec![("x", column()), ("n", ones)],
        );
        assert_eq!(dot, Ok(vec![expected]));
        let few = Made::I64(vec![Some(1); 3]);
        let dot = answer(
            "exact_dot",
            Statistic::Dot,
            vec![("x", column()), ("n", few)],
        );
        let text = "exact_dot: column `x` has 200 items, but `n` has 3";
        assert_eq!(dot, Err(text.into()));
    }

    #[test]
    fn panics_do_not_cross() {
        let made = tried::<()>("exact_sum", || panic!("on purpose"));
        assert!(made.is_none());
        let text = "exact_sum panicked: this is a bug in treefold";
        assert_eq!(last_error(), text);
    }
}
