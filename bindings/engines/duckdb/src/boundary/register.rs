//! Registers functions with DuckDB. All overloads of one name, which differ in their parameters, are registered as one set.

use std::ffi::CString;

use exact_sum::sql::{FUNCTIONS, MERGE, STATES, SqlFunction};
use exact_sum::{
    CompactCoMoments, CompactMoments, CompactPowers, CompactProducts, CompactSum,
    CompactWeightedMean, Held, Statistic,
};
use libduckdb_sys::{
    DUCKDB_TYPE_DUCKDB_TYPE_ANY, DUCKDB_TYPE_DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_DUCKDB_TYPE_BLOB,
    DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE, DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT, DuckDBSuccess,
    duckdb_add_aggregate_function_to_set, duckdb_add_scalar_function_to_set,
    duckdb_aggregate_function, duckdb_aggregate_function_add_parameter,
    duckdb_aggregate_function_set_destructor, duckdb_aggregate_function_set_extra_info,
    duckdb_aggregate_function_set_functions, duckdb_aggregate_function_set_name,
    duckdb_aggregate_function_set_return_type, duckdb_connection, duckdb_create_aggregate_function,
    duckdb_create_aggregate_function_set, duckdb_create_scalar_function,
    duckdb_create_scalar_function_set, duckdb_destroy_aggregate_function,
    duckdb_destroy_aggregate_function_set, duckdb_destroy_scalar_function,
    duckdb_destroy_scalar_function_set, duckdb_register_aggregate_function_set,
    duckdb_register_scalar_function_set, duckdb_scalar_function_add_parameter,
    duckdb_scalar_function_set_extra_info, duckdb_scalar_function_set_function,
    duckdb_scalar_function_set_name, duckdb_scalar_function_set_return_type,
    duckdb_scalar_function_t, duckdb_state, duckdb_type,
};

use super::aggregate::{combine, destroy, finalize, init, size, update};
use super::numbers::INTEGERS;
use super::scalar::{read_states, sum_lists};
use super::vectors::{Arguments, Native, Type, Written};
use crate::functions::{
    AddAll, AddNumbers, Aggregate, Bytes, Figure, MeanOfIntegers, Merge, Number, OfDoubles,
    OfNumbers, Outcome, SumOfIntegers, TREE_SUM, Tree,
};

/// Registers all functions.
///
/// # Errors
/// DuckDB rejects a function, which the error names.
///
/// # Safety
/// The connection is open.
pub(super) unsafe fn register_all(connection: duckdb_connection) -> Result<(), String> {
    for function in &FUNCTIONS {
        // SAFETY: the connection is open.
        unsafe { register(connection, function, &overloads(function)) }?;
        // Weighted means cannot be read from states.
        if function.statistic.held() != Held::Weighted {
            let name = format!("{}_of", function.name);
            // SAFETY: as above.
            unsafe { register_scalar(connection, &name, &[add_reader(function)]) }?;
        }
    }
    for function in &STATES {
        // SAFETY: the connection is open.
        unsafe { register(connection, function, &state_overloads(function)) }?;
    }
    let merge = [Overload::of::<Merge>(&[DUCKDB_TYPE_DUCKDB_TYPE_BLOB])];
    // SAFETY: the connection is open.
    unsafe { register(connection, &MERGE, &merge) }?;
    let sums = [add_tree_sum::<f64>(), add_tree_sum::<f32>()];
    // SAFETY: the connection is open.
    unsafe { register_scalar(connection, TREE_SUM, &sums) }
}

const DOUBLE: &[duckdb_type] = &[DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE];
const DOUBLES: &[duckdb_type] = &[DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE; 2];
const ANY: &[duckdb_type] = &[DUCKDB_TYPE_DUCKDB_TYPE_ANY];
const ANY_TWO: &[duckdb_type] = &[DUCKDB_TYPE_DUCKDB_TYPE_ANY; 2];

/// Returns the overloads of a statistic. If no other overload fits without casts, DuckDB chooses ANY, which thus gets decimals and text.
fn overloads(function: &SqlFunction) -> Vec<Overload> {
    let mut overloads = match function.statistic.held() {
        _ if function.statistic == Statistic::Mean => of_one::<CompactSum, Figure>(),
        Held::Sum => of_one::<CompactSum, Figure>(),
        Held::Moments => of_one::<CompactMoments, Figure>(),
        Held::Powers => of_one::<CompactPowers, Figure>(),
        Held::Products => of_two::<CompactProducts, Figure>(),
        Held::Weighted => of_two::<CompactWeightedMean, Figure>(),
        Held::CoMoments => of_two::<CompactCoMoments, Figure>(),
        held => unreachable!("no function has states of {held:?}"),
    };
    match function.statistic {
        Statistic::Sum => {
            for kind in INTEGERS {
                overloads.push(match kind {
                    DUCKDB_TYPE_DUCKDB_TYPE_BIGINT => Overload::of::<SumOfIntegers<i64>>(&[kind]),
                    DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT => Overload::of::<SumOfIntegers<i128>>(&[kind]),
                    _ => Overload::of::<SumOfIntegers<[Number; 1]>>(&[kind]),
                });
            }
        }
        Statistic::Mean => overloads.extend([
            Overload::of::<MeanOfIntegers<i64>>(&[DUCKDB_TYPE_DUCKDB_TYPE_BIGINT]),
            Overload::of::<MeanOfIntegers<i128>>(&[DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT]),
        ]),
        _ => {}
    }
    overloads
}

/// Returns the overloads of a function that returns states.
fn state_overloads(function: &SqlFunction) -> Vec<Overload> {
    match function.statistic.held() {
        Held::Sum => of_one::<CompactSum, Bytes>(),
        Held::Moments => of_one::<CompactMoments, Bytes>(),
        Held::Powers => of_one::<CompactPowers, Bytes>(),
        Held::Products => of_two::<CompactProducts, Bytes>(),
        Held::CoMoments => of_two::<CompactCoMoments, Bytes>(),
        held => unreachable!("states of {held:?} have no bytes"),
    }
}

fn of_one<S, O>() -> Vec<Overload>
where
    S: AddAll<f64> + AddNumbers<1>,
    O: Outcome<S, Value: Written>,
{
    vec![
        Overload::of::<OfDoubles<f64, S, O>>(DOUBLE),
        Overload::of::<OfNumbers<1, S, O>>(ANY),
    ]
}

fn of_two<S, O>() -> Vec<Overload>
where
    S: AddAll<(f64, f64)> + AddNumbers<2>,
    O: Outcome<S, Value: Written>,
{
    vec![
        Overload::of::<OfDoubles<(f64, f64), S, O>>(DOUBLES),
        Overload::of::<OfNumbers<2, S, O>>(ANY_TWO),
    ]
}

/// An overload of an aggregate: the types of its parameters and its result, and a function that sets its callbacks.
struct Overload {
    parameters: Vec<duckdb_type>,
    result: duckdb_type,
    set: unsafe fn(duckdb_aggregate_function),
}

impl Overload {
    fn of<A: Aggregate<Item: Arguments, Value: Written>>(parameters: &[duckdb_type]) -> Self {
        assert_eq!(
            parameters.len(),
            A::Item::COLUMNS,
            "a parameter for each column"
        );
        Self {
            parameters: parameters.to_vec(),
            result: A::Value::TYPE,
            set: set_functions::<A>,
        }
    }
}

/// # Safety
/// The function is live.
unsafe fn set_functions<A: Aggregate<Item: Arguments, Value: Written>>(
    function: duckdb_aggregate_function,
) {
    // SAFETY: the function is live, and these are callbacks of one aggregate.
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
    // SAFETY: the function is live, and the callback destroys states of this aggregate.
    unsafe { duckdb_aggregate_function_set_destructor(function, Some(destroy::<A>)) };
}

/// Registers the aggregate overloads of one name.
///
/// # Safety
/// The connection is open.
unsafe fn register(
    connection: duckdb_connection,
    own: &'static SqlFunction,
    overloads: &[Overload],
) -> Result<(), String> {
    let c_name = c_name(own.name);
    // SAFETY: the name ends with a zero.
    let mut set = unsafe { duckdb_create_aggregate_function_set(c_name.as_ptr()) };
    for overload in overloads {
        // SAFETY: the call has no preconditions.
        let mut function = unsafe { duckdb_create_aggregate_function() };
        // SAFETY: the function is live, and DuckDB copies the name.
        unsafe { duckdb_aggregate_function_set_name(function, c_name.as_ptr()) };
        for kind in &overload.parameters {
            // SAFETY: the function is live, and DuckDB copies the type.
            unsafe { duckdb_aggregate_function_add_parameter(function, Type::of(*kind).0) };
        }
        // SAFETY: as above.
        unsafe { duckdb_aggregate_function_set_return_type(function, Type::of(overload.result).0) };
        // SAFETY: the function is live. The callbacks read arguments and write results of these types.
        unsafe { (overload.set)(function) };
        let info = (&raw const *own).cast_mut().cast();
        // SAFETY: the function is live, and its data is static, so it is not freed.
        unsafe { duckdb_aggregate_function_set_extra_info(function, info, None) };
        // SAFETY: the set and the function are live, and the set copies the function. Registering the set reports errors.
        unsafe { duckdb_add_aggregate_function_to_set(set, function) };
        // SAFETY: the function is freed once.
        unsafe { duckdb_destroy_aggregate_function(&raw mut function) };
    }
    // SAFETY: the connection is open, and the set is live.
    let state = unsafe { duckdb_register_aggregate_function_set(connection, set) };
    // SAFETY: the set is freed once.
    unsafe { duckdb_destroy_aggregate_function_set(&raw mut set) };
    result(state, own.name)
}

/// A scalar function: its parameter, its result, its callback and the callback's data.
struct Scalar {
    parameter: Type,
    result: duckdb_type,
    call: duckdb_scalar_function_t,
    own: Option<&'static SqlFunction>,
}

fn add_tree_sum<T: Native + Tree>() -> Scalar {
    Scalar {
        parameter: Type::list_of(<T as Native>::TYPE),
        result: <T as Native>::TYPE,
        call: Some(sum_lists::<T>),
        own: None,
    }
}

fn add_reader(function: &'static SqlFunction) -> Scalar {
    Scalar {
        parameter: Type::of(DUCKDB_TYPE_DUCKDB_TYPE_BLOB),
        result: DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE,
        call: Some(read_states),
        own: Some(function),
    }
}

/// Registers the scalar overloads of one name.
///
/// # Safety
/// The connection is open.
unsafe fn register_scalar(
    connection: duckdb_connection,
    name: &str,
    scalars: &[Scalar],
) -> Result<(), String> {
    let c_name = c_name(name);
    // SAFETY: the name ends with a zero.
    let mut set = unsafe { duckdb_create_scalar_function_set(c_name.as_ptr()) };
    for scalar in scalars {
        // SAFETY: the call has no preconditions.
        let mut function = unsafe { duckdb_create_scalar_function() };
        // SAFETY: the function is live, and DuckDB copies the name.
        unsafe { duckdb_scalar_function_set_name(function, c_name.as_ptr()) };
        // SAFETY: the function is live, and DuckDB copies the type.
        unsafe { duckdb_scalar_function_add_parameter(function, scalar.parameter.0) };
        // SAFETY: as above.
        unsafe { duckdb_scalar_function_set_return_type(function, Type::of(scalar.result).0) };
        if let Some(own) = scalar.own {
            let own = (&raw const *own).cast_mut().cast();
            // SAFETY: the function is live, and its data is static, so it is not freed.
            unsafe { duckdb_scalar_function_set_extra_info(function, own, None) };
        }
        // SAFETY: the callback expects this argument, this result and this data.
        unsafe { duckdb_scalar_function_set_function(function, scalar.call) };
        // SAFETY: the set and the function are live, and the set copies the function.
        unsafe { duckdb_add_scalar_function_to_set(set, function) };
        // SAFETY: the function is freed once.
        unsafe { duckdb_destroy_scalar_function(&raw mut function) };
    }
    // SAFETY: the connection is open, and the set is live.
    let state = unsafe { duckdb_register_scalar_function_set(connection, set) };
    // SAFETY: the set is freed once.
    unsafe { duckdb_destroy_scalar_function_set(&raw mut set) };
    result(state, name)
}

fn c_name(name: &str) -> CString {
    CString::new(name).expect("names have no zero bytes")
}

fn result(state: duckdb_state, name: &str) -> Result<(), String> {
    let refused =
        || format!("DuckDB rejected the function {name}; another function may have this name");
    if state == DuckDBSuccess {
        Ok(())
    } else {
        Err(refused())
    }
}
