//! Registers functions. A set has the functions of one name, which differ in their arguments.

use std::ffi::CString;

use libduckdb_sys::{
    DuckDBSuccess, duckdb_add_aggregate_function_to_set, duckdb_add_scalar_function_to_set,
    duckdb_aggregate_function_add_parameter, duckdb_aggregate_function_set_destructor,
    duckdb_aggregate_function_set_functions, duckdb_aggregate_function_set_name,
    duckdb_aggregate_function_set_return_type, duckdb_connection, duckdb_create_aggregate_function,
    duckdb_create_aggregate_function_set, duckdb_create_list_type, duckdb_create_logical_type,
    duckdb_create_scalar_function, duckdb_create_scalar_function_set,
    duckdb_destroy_aggregate_function, duckdb_destroy_aggregate_function_set,
    duckdb_destroy_logical_type, duckdb_destroy_scalar_function,
    duckdb_destroy_scalar_function_set, duckdb_logical_type,
    duckdb_register_aggregate_function_set, duckdb_register_scalar_function_set,
    duckdb_scalar_function_add_parameter, duckdb_scalar_function_set_function,
    duckdb_scalar_function_set_name, duckdb_scalar_function_set_return_type, duckdb_state,
    duckdb_type,
};

use super::aggregate::{combine, destroy, finalize, init, size, update};
use super::scalar::sum_lists;
use super::vectors::{Arguments, Native};
use crate::functions::{self, Aggregate, TREE_SUM, Tree};

/// Registers all.
///
/// # Errors
/// DuckDB refuses a function; the error names it.
///
/// # Safety
/// The connection is open.
pub(super) unsafe fn register_all(connection: duckdb_connection) -> Result<(), String> {
    use functions::{
        Average, AverageOfBigints, AverageOfHugeints, DeviationPopulation,
        DeviationPopulationOfBigints, DeviationSample, DeviationSampleOfBigints, Dot, Sum,
        SumOfBigints, SumOfHugeints, VariancePopulation, VariancePopulationOfBigints,
        VarianceSample, VarianceSampleOfBigints,
    };
    // Of arguments that fit several functions, DuckDB casts to those that cost least.
    let sets = [
        Set::of::<Sum>()
            .with::<SumOfBigints>()
            .with::<SumOfHugeints>(),
        Set::of::<Average>()
            .with::<AverageOfBigints>()
            .with::<AverageOfHugeints>(),
        Set::of::<Dot>(),
        Set::of::<VariancePopulation>().with::<VariancePopulationOfBigints>(),
        Set::of::<VarianceSample>().with::<VarianceSampleOfBigints>(),
        Set::of::<DeviationPopulation>().with::<DeviationPopulationOfBigints>(),
        Set::of::<DeviationSample>().with::<DeviationSampleOfBigints>(),
    ];
    for set in sets {
        // SAFETY: the connection is open.
        unsafe { set.register(connection) }?;
    }
    // SAFETY: the connection is open.
    unsafe { register_tree_sum(connection) }
}

/// A type that is freed.
struct Type(duckdb_logical_type);

impl Type {
    fn of(kind: duckdb_type) -> Self {
        // SAFETY: it is a type without parameters.
        Self(unsafe { duckdb_create_logical_type(kind) })
    }

    fn list_of(kind: duckdb_type) -> Self {
        let items = Self::of(kind);
        // SAFETY: the items' type is live, and is copied.
        Self(unsafe { duckdb_create_list_type(items.0) })
    }
}

impl Drop for Type {
    fn drop(&mut self) {
        // SAFETY: it is freed once.
        unsafe { duckdb_destroy_logical_type(&raw mut self.0) };
    }
}

/// Aggregates of one name.
struct Set {
    name: &'static str,
    /// Each adds its function.
    add: Vec<unsafe fn(libduckdb_sys::duckdb_aggregate_function_set) -> duckdb_state>,
}

impl Set {
    fn of<A: Aggregate<Item: Arguments, Value: Native>>() -> Self {
        let name = A::NAME;
        Self {
            name,
            add: Vec::new(),
        }
        .with::<A>()
    }

    fn with<A: Aggregate<Item: Arguments, Value: Native>>(mut self) -> Self {
        assert_eq!(self.name, A::NAME, "a set has one name");
        self.add.push(add_aggregate::<A>);
        self
    }

    /// # Safety
    /// The connection is open.
    unsafe fn register(self, connection: duckdb_connection) -> Result<(), String> {
        let name = c_name(self.name);
        // SAFETY: the name ends with a zero.
        let mut set = unsafe { duckdb_create_aggregate_function_set(name.as_ptr()) };
        for add in self.add {
            // SAFETY: the set is live. What goes wrong shows when it is registered.
            unsafe { add(set) };
        }
        // SAFETY: both are live.
        let state = unsafe { duckdb_register_aggregate_function_set(connection, set) };
        // SAFETY: it is freed once.
        unsafe { duckdb_destroy_aggregate_function_set(&raw mut set) };
        result(state, self.name)
    }
}

/// # Safety
/// The set is live.
unsafe fn add_aggregate<A: Aggregate<Item: Arguments, Value: Native>>(
    set: libduckdb_sys::duckdb_aggregate_function_set,
) -> duckdb_state {
    let name = c_name(A::NAME);
    // SAFETY: it has no precondition.
    let mut function = unsafe { duckdb_create_aggregate_function() };
    // SAFETY: the function is live, and DuckDB copies the name.
    unsafe { duckdb_aggregate_function_set_name(function, name.as_ptr()) };
    for kind in A::Item::TYPES {
        // SAFETY: the function is live, and DuckDB copies the type.
        unsafe { duckdb_aggregate_function_add_parameter(function, Type::of(*kind).0) };
    }
    // SAFETY: as above.
    unsafe { duckdb_aggregate_function_set_return_type(function, Type::of(A::Value::TYPE).0) };
    // SAFETY: these are functions of one aggregate, with the arguments and the result of above.
    unsafe {
        duckdb_aggregate_function_set_functions(
            function,
            Some(size::<A>),
            Some(init::<A>),
            Some(update::<A>),
            Some(combine::<A>),
            Some(finalize::<A>),
        );
    };
    // SAFETY: it destroys states of this aggregate.
    unsafe { duckdb_aggregate_function_set_destructor(function, Some(destroy::<A>)) };
    // SAFETY: both are live, and the set copies the function.
    let state = unsafe { duckdb_add_aggregate_function_to_set(set, function) };
    // SAFETY: it is freed once.
    unsafe { duckdb_destroy_aggregate_function(&raw mut function) };
    state
}

/// # Safety
/// The connection is open.
unsafe fn register_tree_sum(connection: duckdb_connection) -> Result<(), String> {
    let name = c_name(TREE_SUM);
    // SAFETY: the name ends with a zero.
    let mut set = unsafe { duckdb_create_scalar_function_set(name.as_ptr()) };
    // SAFETY: the set is live.
    unsafe { add_tree_sum::<f64>(set) };
    // SAFETY: as above.
    unsafe { add_tree_sum::<f32>(set) };
    // SAFETY: both are live.
    let state = unsafe { duckdb_register_scalar_function_set(connection, set) };
    // SAFETY: it is freed once.
    unsafe { duckdb_destroy_scalar_function_set(&raw mut set) };
    result(state, TREE_SUM)
}

/// # Safety
/// The set is live.
unsafe fn add_tree_sum<T: Native + Tree>(
    set: libduckdb_sys::duckdb_scalar_function_set,
) -> duckdb_state {
    let name = c_name(TREE_SUM);
    // SAFETY: it has no precondition.
    let mut function = unsafe { duckdb_create_scalar_function() };
    // SAFETY: the function is live, and DuckDB copies the name.
    unsafe { duckdb_scalar_function_set_name(function, name.as_ptr()) };
    // SAFETY: the function is live, and DuckDB copies the type.
    unsafe { duckdb_scalar_function_add_parameter(function, Type::list_of(T::TYPE).0) };
    // SAFETY: as above.
    unsafe { duckdb_scalar_function_set_return_type(function, Type::of(T::TYPE).0) };
    // SAFETY: it has this argument and this result.
    unsafe { duckdb_scalar_function_set_function(function, Some(sum_lists::<T>)) };
    // SAFETY: both are live, and the set copies the function.
    let state = unsafe { duckdb_add_scalar_function_to_set(set, function) };
    // SAFETY: it is freed once.
    unsafe { duckdb_destroy_scalar_function(&raw mut function) };
    state
}

fn c_name(name: &str) -> CString {
    CString::new(name).expect("names have no zeros")
}

fn result(state: duckdb_state, name: &str) -> Result<(), String> {
    let refused =
        || format!("DuckDB does not take the function {name}: is there another one of this name?");
    if state == DuckDBSuccess {
        Ok(())
    } else {
        Err(refused())
    }
}
