//! Exports the functions as capsules, which the Python package `datafusion` accepts if it has the engine's major version.

use std::sync::Arc;

use datafusion_ffi::udaf::FFI_AggregateUDF;
use datafusion_ffi::udf::FFI_ScalarUDF;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Returns a capsule for each aggregate.
#[pyfunction]
fn aggregates(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyCapsule>>> {
    let functions = treefold_datafusion::aggregates().into_iter();
    let capsules = functions.map(|function| {
        let function = FFI_AggregateUDF::from(Arc::new(function));
        PyCapsule::new_with_value(py, function, c"datafusion_aggregate_udf")
    });
    capsules.collect()
}

/// Returns a capsule for each scalar function.
#[pyfunction]
fn scalars(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyCapsule>>> {
    let readers = treefold_datafusion::readers().into_iter();
    let functions = readers.chain([treefold_datafusion::tree_sum()]);
    let capsules = functions.map(|function| {
        let function = FFI_ScalarUDF::from(Arc::new(function));
        PyCapsule::new_with_value(py, function, c"datafusion_scalar_udf")
    });
    capsules.collect()
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(aggregates, module)?)?;
    module.add_function(wrap_pyfunction!(scalars, module)?)
}
