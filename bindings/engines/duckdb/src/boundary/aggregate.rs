//! Implements the callbacks of an aggregate. The states are Rust values in DuckDB's memory.

use std::borrow::Cow;
use std::ffi::CString;
use std::slice;

use exact_sum::sql::SqlFunction;
use libduckdb_sys::{
    duckdb_aggregate_function_get_extra_info, duckdb_aggregate_function_set_error,
    duckdb_aggregate_state, duckdb_data_chunk, duckdb_function_info, duckdb_vector, idx_t,
};

use simd_kernels::prefetch_item;

use super::guarded;
use super::vectors::{Arguments, Chunk, Output, Validity, Written};
use crate::functions::{Aggregate, Error};

/// How many rows before its use a state is prefetched. With many groups, the states are not in the cache.
const AHEAD: usize = 32;

/// The addresses of states; several rows may share a state.
type States<'c, A> = &'c [*mut <A as Aggregate>::State];

/// # Safety
/// Only DuckDB may call this function and the callbacks below.
pub(super) unsafe extern "C" fn size<A: Aggregate>(_info: duckdb_function_info) -> idx_t {
    size_of::<A::State>() as idx_t
}

/// # Safety
/// `state` points to memory of a state's size, aligned to 8 bytes.
pub(super) unsafe extern "C" fn init<A: Aggregate>(
    _info: duckdb_function_info,
    state: duckdb_aggregate_state,
) {
    const { assert!(align_of::<A::State>() <= 8, "DuckDB aligns to 8 bytes") };
    // SAFETY: the caller passes memory for a state.
    unsafe { state.cast::<A::State>().write(A::State::default()) };
}

/// # Safety
/// There is an initialised state for each row of the chunk, and nothing else uses it during the call.
pub(super) unsafe extern "C" fn update<A: Aggregate>(
    info: duckdb_function_info,
    chunk: duckdb_data_chunk,
    states: *mut duckdb_aggregate_state,
) where
    A::Item: Arguments,
{
    report(info, |_| {
        // SAFETY: DuckDB passes a flat chunk of the types that the function was registered with.
        let chunk = unsafe { Chunk::new(chunk) };
        // SAFETY: DuckDB passes a state for each row.
        let states = unsafe { states_of::<A>(states, chunk.rows) };
        let items = A::Item::of_chunk(&chunk)?;
        let columns = 0..A::Item::COLUMNS as u64;
        let validities = columns.filter_map(|column| chunk.column(column).validity());
        let validities: Vec<Validity<'_>> = validities.collect();
        let (states, items) = if validities.is_empty() {
            (Cow::Borrowed(states), items)
        } else {
            let is_there = |row: &usize| validities.iter().all(|validity| validity.has(*row));
            let rows = (0..chunk.rows).filter(is_there);
            let (states, items): (Vec<_>, Vec<_>) =
                rows.map(|row| (states[row], items[row].clone())).unzip();
            (Cow::Owned(states), Cow::Owned(items))
        };
        // SAFETY: DuckDB guarantees that the states are initialised and that nothing else uses them.
        unsafe { add_rows::<A>(&states, &items) }
    });
}

/// Adds each item to the state of its row. This is a separate function so that the variables of its loop fit in registers.
///
/// # Safety
/// The states are initialised, and nothing else uses them during the call.
#[inline(never)]
unsafe fn add_rows<A: Aggregate>(states: States<'_, A>, items: &[A::Item]) -> Result<(), Error> {
    let [first, others @ ..] = states else {
        return Ok(());
    };
    if others.iter().all(|other| other == first) {
        // SAFETY: guaranteed by the caller.
        return A::add_all(unsafe { &mut **first }, items);
    }
    let ahead = states.get(AHEAD..).unwrap_or(&[]);
    for ((state, ahead), item) in states.iter().zip(ahead).zip(items) {
        // SAFETY: guaranteed by the caller.
        let ahead = unsafe { slice::from_ref(&**ahead) };
        // A state may span two cache lines.
        prefetch_item(ahead, 0);
        prefetch_item(ahead, 1);
        // SAFETY: guaranteed by the caller.
        A::add(unsafe { &mut **state }, item)?;
    }
    for (state, item) in states.iter().zip(items).skip(ahead.len()) {
        // SAFETY: guaranteed by the caller.
        A::add(unsafe { &mut **state }, item)?;
    }
    Ok(())
}

/// # Safety
/// All states are initialised, and nothing else uses the targets during the call.
pub(super) unsafe extern "C" fn combine<A: Aggregate>(
    info: duckdb_function_info,
    sources: *mut duckdb_aggregate_state,
    targets: *mut duckdb_aggregate_state,
    count: idx_t,
) {
    report(info, |_| {
        let count = usize::try_from(count).expect("the states are in memory");
        // SAFETY: DuckDB passes this number of states.
        let sources = unsafe { states_of::<A>(sources, count) };
        // SAFETY: as above.
        let targets = unsafe { states_of::<A>(targets, count) };
        for (source, target) in sources.iter().zip(targets) {
            // SAFETY: the state is initialised. It is only read, because DuckDB may use it again.
            let source = unsafe { &**source };
            // SAFETY: the target is initialised and is not a source, and only this call uses it now.
            let target = unsafe { &mut **target };
            A::merge(target, source)?;
        }
        Ok(())
    });
}

/// # Safety
/// All states are initialised, and the vector has a row for each of them, starting at the offset.
pub(super) unsafe extern "C" fn finalize<A: Aggregate>(
    info: duckdb_function_info,
    states: *mut duckdb_aggregate_state,
    result: duckdb_vector,
    count: idx_t,
    offset: idx_t,
) where
    A::Value: Written,
{
    report(info, |function| {
        let [count, offset] = [count, offset]
            .map(|number| usize::try_from(number).expect("the states are in memory"));
        // SAFETY: DuckDB passes this number of states.
        let states = unsafe { states_of::<A>(states, count) };
        // SAFETY: DuckDB passes a flat vector of the result's type, which only this call uses.
        let mut output = unsafe { Output::<A::Value>::new(result) };
        for (row, state) in states.iter().enumerate() {
            // SAFETY: the state is initialised. It is only read, because DuckDB may use it again.
            let state = unsafe { &**state };
            let value = A::value(state, function)?;
            // SAFETY: the vector has this row, and the type that the function was registered with.
            unsafe { output.write(offset + row, value) };
        }
        Ok(())
    });
}

/// # Safety
/// All states are initialised.
pub(super) unsafe extern "C" fn destroy<A: Aggregate>(
    states: *mut duckdb_aggregate_state,
    count: idx_t,
) {
    // Dropping a state frees memory and cannot fail.
    let _ = guarded("destroy", || {
        let count = usize::try_from(count).expect("the states are in memory");
        // SAFETY: DuckDB passes this number of states.
        let states = unsafe { states_of::<A>(states, count) };
        for state in states {
            // SAFETY: the state is initialised, and DuckDB does not use it any more.
            unsafe { state.drop_in_place() };
        }
        Ok(())
    });
}

/// # Safety
/// `states` points to `count` addresses.
unsafe fn states_of<'c, A: Aggregate>(
    states: *mut duckdb_aggregate_state,
    count: usize,
) -> States<'c, A> {
    if count == 0 {
        return &[];
    }
    // SAFETY: guaranteed by the caller.
    unsafe { slice::from_raw_parts(states.cast_const().cast(), count) }
}

/// Runs `call` with the registered aggregate, and reports an error to DuckDB.
fn report(
    info: duckdb_function_info,
    call: impl FnOnce(&'static SqlFunction) -> Result<(), Error>,
) {
    // SAFETY: the information belongs to this call.
    let function = unsafe { duckdb_aggregate_function_get_extra_info(info) };
    // SAFETY: all aggregates were registered with a static `SqlFunction`.
    let function: &'static SqlFunction = unsafe { &*function.cast_const().cast() };
    if let Err(error) = guarded(function.name, || call(function)) {
        let error = CString::new(error).unwrap_or_default();
        // SAFETY: the information belongs to this call, and DuckDB copies the text.
        unsafe { duckdb_aggregate_function_set_error(info, error.as_ptr()) };
    }
}
