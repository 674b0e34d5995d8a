//! The functions that Polars calls by name: version 0.1 of its plugin interface.
//!
//! `_polars_plugin_NAME` computes a column from columns, and `_polars_plugin_field_NAME` computes its name and type from theirs. If the result
//! stays empty, Polars asks for the last error of the thread. When it loads the library, Polars rejects a version of the interface that it does
//! not know.
#![expect(
    unsafe_code,
    reason = "Polars passes pointers; each block says what its interface promises"
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

/// Version 0.1: the upper half of the bits is the major version.
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
        Err(_) => format!("{name}: panicked: this is a bug in treefold"),
    };
    let text = CString::new(text.replace('\0', "")).unwrap_or_default();
    LAST_ERROR.set(text);
    None
}

/// Computes a column.
///
/// # Safety
/// `columns` points to `count` columns, which this function releases, and `result` to room for a column.
unsafe fn call(
    function: Function,
    columns: *const SeriesExport,
    count: usize,
    result: *mut SeriesExport,
) {
    let made = tried(function.name, || {
        // SAFETY: by the contract.
        let columns = unsafe { all_of(columns, count) };
        let made = function.call(&columns)?;
        let name = columns.first().map_or("", |column| &column.name);
        Ok(made.export(name))
    });
    if let Some(made) = made {
        // SAFETY: by the contract; the place was empty.
        unsafe { result.write(made) };
    }
}

/// Computes a field.
///
/// # Safety
/// `fields` points to `count` fields, and `result` to room for a field.
unsafe fn field(
    function: Function,
    fields: *const ArrowSchema,
    count: usize,
    result: *mut ArrowSchema,
) {
    let fields = if count == 0 {
        &[]
    } else {
        // SAFETY: by the contract.
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
        // SAFETY: by the contract; the place was empty.
        unsafe { result.write(made) };
    }
}

macro_rules! functions {
    ($($name:literal, $figure:expr, $of_lists:literal, $call:ident, $field:ident;)+) => {$(
        /// # Safety
        /// Called by Polars: see [`call`].
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $call(
            columns: *const SeriesExport,
            count: usize,
            _arguments: *const u8,
            _bytes: usize,
            result: *mut SeriesExport,
            _context: *const c_void,
        ) {
            let function = Function { name: $name, figure: $figure, of_lists: $of_lists };
            // SAFETY: by the contract.
            unsafe { call(function, columns, count, result) };
        }

        /// # Safety
        /// Called by Polars: see [`field`].
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $field(
            fields: *const ArrowSchema,
            count: usize,
            result: *mut ArrowSchema,
            _arguments: *const u8,
            _bytes: usize,
        ) {
            let function = Function { name: $name, figure: $figure, of_lists: $of_lists };
            // SAFETY: by the contract.
            unsafe { field(function, fields, count, result) };
        }
    )+};
}

functions! {
    "exact_sum", Figure::Sum, false, _polars_plugin_exact_sum, _polars_plugin_field_exact_sum;
    "exact_mean", Figure::Mean, false, _polars_plugin_exact_mean, _polars_plugin_field_exact_mean;
    "exact_var", Figure::Variance, false, _polars_plugin_exact_var, _polars_plugin_field_exact_var;
    "exact_std", Figure::Deviation, false, _polars_plugin_exact_std, _polars_plugin_field_exact_std;
    "exact_dot", Figure::Dot, false, _polars_plugin_exact_dot, _polars_plugin_field_exact_dot;
    "exact_list_sum", Figure::Sum, true, _polars_plugin_exact_list_sum, _polars_plugin_field_exact_list_sum;
    "exact_list_mean", Figure::Mean, true, _polars_plugin_exact_list_mean, _polars_plugin_field_exact_list_mean;
    "exact_list_var", Figure::Variance, true, _polars_plugin_exact_list_var, _polars_plugin_field_exact_list_var;
    "exact_list_std", Figure::Deviation, true, _polars_plugin_exact_list_std, _polars_plugin_field_exact_list_std;
    "exact_list_dot", Figure::Dot, true, _polars_plugin_exact_list_dot, _polars_plugin_field_exact_list_dot;
    "tree_sum", Figure::Tree, true, _polars_plugin_tree_sum, _polars_plugin_field_tree_sum;
    "exact_skewness", Figure::Other(Statistic::Skewness), false, _polars_plugin_exact_skewness, _polars_plugin_field_exact_skewness;
    "exact_kurtosis", Figure::Other(Statistic::Kurtosis), false, _polars_plugin_exact_kurtosis, _polars_plugin_field_exact_kurtosis;
    "exact_cov", Figure::Other(Statistic::Covariance), false, _polars_plugin_exact_cov, _polars_plugin_field_exact_cov;
    "exact_corr", Figure::Other(Statistic::Correlation), false, _polars_plugin_exact_corr, _polars_plugin_field_exact_corr;
    "exact_slope", Figure::Other(Statistic::Slope), false, _polars_plugin_exact_slope, _polars_plugin_field_exact_slope;
    "exact_intercept", Figure::Other(Statistic::Intercept), false, _polars_plugin_exact_intercept, _polars_plugin_field_exact_intercept;
    "exact_average", Figure::Other(Statistic::WeightedMean), false, _polars_plugin_exact_average, _polars_plugin_field_exact_average;
    "exact_sum_state", Figure::State(Held::Sum), false, _polars_plugin_exact_sum_state, _polars_plugin_field_exact_sum_state;
    "exact_dot_state", Figure::State(Held::Products), false, _polars_plugin_exact_dot_state, _polars_plugin_field_exact_dot_state;
    "exact_moments_state", Figure::State(Held::Moments), false, _polars_plugin_exact_moments_state, _polars_plugin_field_exact_moments_state;
    "exact_powers_state", Figure::State(Held::Powers), false, _polars_plugin_exact_powers_state, _polars_plugin_field_exact_powers_state;
    "exact_comoments_state", Figure::State(Held::CoMoments), false, _polars_plugin_exact_comoments_state, _polars_plugin_field_exact_comoments_state;
    "exact_merge", Figure::Merged, false, _polars_plugin_exact_merge, _polars_plugin_field_exact_merge;
    "exact_count_of", Figure::Of(Statistic::Count), false, _polars_plugin_exact_count_of, _polars_plugin_field_exact_count_of;
    "exact_sum_of", Figure::Of(Statistic::Sum), false, _polars_plugin_exact_sum_of, _polars_plugin_field_exact_sum_of;
    "exact_mean_of", Figure::Of(Statistic::Mean), false, _polars_plugin_exact_mean_of, _polars_plugin_field_exact_mean_of;
    "exact_var_of", Figure::Of(Statistic::Variance), false, _polars_plugin_exact_var_of, _polars_plugin_field_exact_var_of;
    "exact_std_of", Figure::Of(Statistic::StandardDeviation), false, _polars_plugin_exact_std_of, _polars_plugin_field_exact_std_of;
    "exact_dot_of", Figure::Of(Statistic::Dot), false, _polars_plugin_exact_dot_of, _polars_plugin_field_exact_dot_of;
    "exact_skewness_of", Figure::Of(Statistic::Skewness), false, _polars_plugin_exact_skewness_of, _polars_plugin_field_exact_skewness_of;
    "exact_kurtosis_of", Figure::Of(Statistic::Kurtosis), false, _polars_plugin_exact_kurtosis_of, _polars_plugin_field_exact_kurtosis_of;
    "exact_cov_of", Figure::Of(Statistic::Covariance), false, _polars_plugin_exact_cov_of, _polars_plugin_field_exact_cov_of;
    "exact_corr_of", Figure::Of(Statistic::Correlation), false, _polars_plugin_exact_corr_of, _polars_plugin_field_exact_corr_of;
    "exact_slope_of", Figure::Of(Statistic::Slope), false, _polars_plugin_exact_slope_of, _polars_plugin_field_exact_slope_of;
    "exact_intercept_of", Figure::Of(Statistic::Intercept), false, _polars_plugin_exact_intercept_of, _polars_plugin_field_exact_intercept_of;
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
        figure: Figure,
        columns: Vec<(&str, Made)>,
    ) -> Result<Vec<f64>, String> {
        let columns = columns.into_iter().map(|(name, made)| made.export(name));
        let columns: Vec<SeriesExport> = columns.collect();
        let function = Function {
            name,
            figure,
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
        // SAFETY: zeros are an empty column.
        let result = unsafe { result.assume_init() };
        if result.is_empty() {
            return Err(last_error());
        }
        // SAFETY: there is one column, which is now ours.
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
        let sum = answer("exact_sum", Figure::Sum, vec![("x", column())]);
        assert_eq!(sum, Ok(vec![expected]));
        let ones = Made::I64(vec![Some(1); 200]);
        let dot = answer("exact_dot", Figure::Dot, vec![("x", column()), ("n", ones)]);
        assert_eq!(dot, Ok(vec![expected]));
        let few = Made::I64(vec![Some(1); 3]);
        let dot = answer("exact_dot", Figure::Dot, vec![("x", column()), ("n", few)]);
        let text = "exact_dot: column `x` has 200 items, and `n` 3";
        assert_eq!(dot, Err(text.into()));
    }

    #[test]
    fn panics_do_not_cross() {
        let made = tried::<()>("exact_sum", || panic!("on purpose"));
        assert!(made.is_none());
        let text = "exact_sum: panicked: this is a bug in treefold";
        assert_eq!(last_error(), text);
    }
}
