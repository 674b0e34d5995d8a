//! Implements the callbacks of scalar functions of lists and of states.

use std::ffi::CString;

use exact_sum::sql::SqlFunction;
use libduckdb_sys::{
    duckdb_data_chunk, duckdb_function_info, duckdb_scalar_function_get_extra_info,
    duckdb_scalar_function_set_error, duckdb_vector,
};

use super::guarded;
use super::vectors::{Chunk, Native, Output};
use crate::functions::{Error, TREE_SUM, Tree, statistic_of, tree_sum};

/// # Safety
/// DuckDB calls the function with a chunk that has one vector of lists of `T`, and with a flat output vector of `T` that has the same
/// number of rows.
pub(super) unsafe extern "C" fn sum_lists<T: Native + Tree>(
    info: duckdb_function_info,
    chunk: duckdb_data_chunk,
    output: duckdb_vector,
) {
    let call = || {
        // SAFETY: DuckDB passes a flat chunk of the types that the function was registered with.
        let chunk = unsafe { Chunk::new(chunk) };
        // SAFETY: DuckDB passes a flat vector of the result's type, which only this call uses.
        let mut output = unsafe { Output::<T>::new(output) };
        let column = chunk.column(0);
        let (lists, child) = (column.validity(), column.child());
        let (items, validity) = (child.items::<T>(), child.validity());
        for (row, entry) in column.lists().iter().enumerate() {
            let mut sum = None;
            if lists.is_none_or(|lists| lists.has(row)) {
                let [first, length] = [entry.offset, entry.length]
                    .map(|number| usize::try_from(number).expect("lists are in memory"));
                let list = first..first + length;
                sum = if let Some(validity) = validity {
                    let there = list.filter(|item| validity.has(*item));
                    let there: Vec<T> = there.map(|item| items[item]).collect();
                    tree_sum(&there)
                } else {
                    tree_sum(&items[list])
                };
            }
            // SAFETY: the output has a row of this type for each list.
            unsafe { output.write(row, sum) };
        }
        Ok(())
    };
    report(info, guarded(TREE_SUM, call));
}

/// # Safety
/// DuckDB calls the function with a chunk that has one vector of BLOBs, and with a flat output vector of DOUBLE that has the same
/// number of rows.
pub(super) unsafe extern "C" fn read_states(
    info: duckdb_function_info,
    chunk: duckdb_data_chunk,
    output: duckdb_vector,
) {
    // SAFETY: the information belongs to this call.
    let function = unsafe { duckdb_scalar_function_get_extra_info(info) };
    // SAFETY: the scalar function was registered with a static `SqlFunction`.
    let function: &'static SqlFunction = unsafe { &*function.cast_const().cast() };
    let call = || {
        // SAFETY: DuckDB passes a flat chunk of the types that the function was registered with.
        let chunk = unsafe { Chunk::new(chunk) };
        // SAFETY: DuckDB passes a flat vector of the result's type, which only this call uses.
        let mut output = unsafe { Output::<f64>::new(output) };
        let column = chunk.column(0);
        let validity = column.validity();
        for row in 0..chunk.rows {
            let value = match column.bytes(row, validity) {
                Some(bytes) => statistic_of(bytes, function)?,
                None => None,
            };
            // SAFETY: the output has a row for each state.
            unsafe { output.write(row, value) };
        }
        Ok(())
    };
    report(info, guarded(&format!("{}_of", function.name), call));
}

/// Reports an error to DuckDB.
fn report(info: duckdb_function_info, called: Result<(), Error>) {
    if let Err(error) = called {
        let error = CString::new(error).unwrap_or_default();
        // SAFETY: the information belongs to this call, and DuckDB copies the text.
        unsafe { duckdb_scalar_function_set_error(info, error.as_ptr()) };
    }
}
