//! The functions of `treefold_aggregates.h`: states in the caller's memory.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::slice;
use std::sync::OnceLock;

use bytemuck::AnyBitPattern;
use treefold::exact::Held;
use treefold::exact::sql::{self, SqlFunction};

use super::arrays::{place_of, write_element};
use super::placed::{self, bytes_of, held_for, state, treefold_aggregate};
use super::{guard, held};
use crate::aggregate::{self, Column, Rows};
use crate::element::ElementType;
use crate::failure::{Failure, Status};
use crate::keyed::Change;
use crate::raw::{Bytes, disjoint, write};
use crate::statistic::Question;

/// Writes the number of bytes of a state.
///
/// # Safety
/// `result` points to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_bytes(statistic: i32, result: *mut usize) -> Status {
    guard(|| {
        let bytes = bytes_of(held_for(statistic)?);
        // SAFETY: the caller promises that there is room for a number.
        unsafe { write("result", result, bytes) }
    })
}

/// Creates an empty state.
///
/// # Safety
/// `aggregate` points to n bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_init(
    aggregate: *mut treefold_aggregate,
    n: usize,
    statistic: i32,
) -> Status {
    guard(|| {
        // SAFETY: the caller promises what the callee requires.
        unsafe { placed::create(aggregate, n, held_for(statistic)?) }
    })
}

/// Removes all rows.
///
/// # Safety
/// `aggregate` points to a state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_clear(aggregate: *mut treefold_aggregate) -> Status {
    guard(|| {
        // SAFETY: the caller promises that the pointer points to a state.
        unsafe { state("aggregate", aggregate) }?.clear();
        Ok(())
    })
}

/// A caller's column: the code of its type, and its address.
type Input = (i32, *const c_void);

/// Adds rows, or removes them.
///
/// # Safety
/// `aggregate` points to a state, and each column points to n items of its type, or is NULL.
#[inline(always)]
unsafe fn change(
    change: Change,
    aggregate: *mut treefold_aggregate,
    (x, y): (Input, Input),
    n: usize,
) -> Status {
    guard(move || {
        // SAFETY: the caller promises that the pointer points to a state.
        let state = unsafe { state("aggregate", aggregate) }?;
        // SAFETY: the caller promises that the column has n items.
        let x = unsafe { column("x", "x_type", x, n) }?;
        let y = if state.held().inputs() == 2 {
            // SAFETY: the caller promises that the column has n items.
            unsafe { column("y", "y_type", y, n) }?
        } else if y == (0, ptr::null()) {
            Column::F64(&[])
        } else {
            let reason = "the statistic takes one column, so `y` must be NULL and `y_type` 0";
            return Err(Failure::argument("y", reason));
        };
        let rows = Rows { x, y };
        match change {
            Change::Add => state.add(&rows),
            Change::Remove => state.remove(&rows),
        }
    })
}

/// # Safety
/// The column points to n items of its type.
///
/// # Errors
/// A column cannot have this type, or the pointer is NULL or not aligned.
#[inline(always)]
unsafe fn column<'a>(
    name: &'static str,
    type_name: &'static str,
    (element_type, pointer): Input,
    n: usize,
) -> Result<Column<'a>, Failure> {
    const F32: i32 = ElementType::F32 as i32 + 1;
    const F64: i32 = ElementType::F64 as i32 + 1;
    const I64: i32 = ElementType::I64 as i32 + 1;
    match element_type {
        // SAFETY: the caller promises that there are n items of this type.
        F32 => unsafe { items(name, pointer, n) }.map(Column::F32),
        // SAFETY: as before.
        F64 => unsafe { items(name, pointer, n) }.map(Column::F64),
        // SAFETY: as before.
        I64 => unsafe { items(name, pointer, n) }.map(Column::I64),
        _ => Err(aggregate::is_no_column(type_name, element_type)),
    }
}

/// # Safety
/// The pointer points to n items.
///
/// # Errors
/// The pointer is NULL or not aligned.
#[inline(always)]
unsafe fn items<'a, T: AnyBitPattern>(
    name: &'static str,
    pointer: *const c_void,
    n: usize,
) -> Result<&'a [T], Failure> {
    let array = Bytes::of(name, pointer, n, size_of::<T>())?;
    array.aligned(align_of::<T>())?;
    if n == 0 {
        return Ok(&[]);
    }
    // SAFETY: the array is not NULL, aligned and not too long, as was just checked; the caller promises n items.
    Ok(unsafe { slice::from_raw_parts(pointer.cast(), n) })
}

/// Adds rows.
///
/// # Safety
/// `aggregate` points to a state, `x` points to n items of type `x_type`, and `y` points to n items of type `y_type` or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_add(
    aggregate: *mut treefold_aggregate,
    x_type: i32,
    x: *const c_void,
    y_type: i32,
    y: *const c_void,
    n: usize,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { change(Change::Add, aggregate, ((x_type, x), (y_type, y)), n) }
}

/// Removes rows.
///
/// # Safety
/// `aggregate` points to a state, `x` points to n items of type `x_type`, and `y` points to n items of type `y_type` or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_remove(
    aggregate: *mut treefold_aggregate,
    x_type: i32,
    x: *const c_void,
    y_type: i32,
    y: *const c_void,
    n: usize,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { change(Change::Remove, aggregate, ((x_type, x), (y_type, y)), n) }
}

/// Adds another state's rows, or removes them.
///
/// # Safety
/// Both pointers point to states.
unsafe fn change_by(
    change: Change,
    aggregate: *mut treefold_aggregate,
    other: *const treefold_aggregate,
) -> Status {
    guard(|| {
        if ptr::eq(aggregate, other) {
            return Err(Failure::argument("other", "it must be another state"));
        }
        // SAFETY: the caller promises that the pointer points to a state.
        let own = unsafe { state("aggregate", aggregate) }?;
        // SAFETY: the caller promises that the pointer points to a state. It is not `own`, as was just checked.
        let other = unsafe { state("other", other.cast_mut()) }?;
        own.change_by(change, other)
    })
}

/// Adds another state's rows.
///
/// # Safety
/// Both pointers point to states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_merge(
    aggregate: *mut treefold_aggregate,
    other: *const treefold_aggregate,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { change_by(Change::Add, aggregate, other) }
}

/// Removes another state's rows.
///
/// # Safety
/// Both pointers point to states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_unmerge(
    aggregate: *mut treefold_aggregate,
    other: *const treefold_aggregate,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { change_by(Change::Remove, aggregate, other) }
}

/// Writes a statistic of the rows.
///
/// # Safety
/// `aggregate` points to a state, `result` to one element of the type, and `is_null` to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_value(
    aggregate: *const treefold_aggregate,
    statistic: i32,
    ddof: f64,
    element_type: i32,
    result: *mut c_void,
    is_null: *mut c_int,
) -> Status {
    guard(|| {
        let question = Question::of_codes(statistic, ddof)?;
        let element_type = ElementType::of_code(element_type)?;
        let [value, null] = [
            place_of("result", result, element_type)?,
            Bytes::of_place("is_null", is_null)?,
        ];
        disjoint(value, null)?;
        // SAFETY: the caller promises that the pointer points to a state.
        let state = unsafe { state("aggregate", aggregate.cast_mut()) }?;
        let mut is_there = false;
        let find = |value: &mut [u8]| {
            is_there = state.write(question, element_type, value)?;
            Ok(())
        };
        // SAFETY: the caller promises that there is room for an element. If the result is NULL in SQL, a zero is written.
        unsafe { write_element(result, element_type, find) }?;
        // SAFETY: the caller promises that there is room for a number.
        unsafe { write("is_null", is_null, c_int::from(!is_there)) }
    })
}

/// Writes a state as bytes.
///
/// # Safety
/// `aggregate` points to a state, `bytes` has room for `capacity` bytes, and `needed` points to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_to_bytes(
    aggregate: *const treefold_aggregate,
    bytes: *mut c_void,
    capacity: usize,
    needed: *mut usize,
) -> Status {
    let written = || {
        // SAFETY: the caller promises that the pointer points to a state.
        unsafe { state("aggregate", aggregate.cast_mut()) }?.to_bytes()
    };
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::copy_bytes((bytes, capacity), needed, written) }
}

/// Replaces the contents of a state with those that the bytes describe.
///
/// # Safety
/// `aggregate` points to a state, and `bytes` points to n bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_of_bytes(
    aggregate: *mut treefold_aggregate,
    bytes: *const c_void,
    n: usize,
) -> Status {
    guard(|| {
        let array = Bytes::of("bytes", bytes, n, 1)?;
        // SAFETY: the caller promises that the pointer points to a state.
        let state = unsafe { state("aggregate", aggregate) }?;
        // SAFETY: the caller promises that there are n bytes.
        state.become_bytes(unsafe { array.read(bytes) })
    })
}

/// Writes a statistic. A state that is created for this statistic can read the given bytes.
///
/// # Safety
/// `bytes` points to n bytes, and `result` points to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_statistic(
    bytes: *const c_void,
    n: usize,
    result: *mut i32,
) -> Status {
    guard(|| {
        let array = Bytes::of("bytes", bytes, n, 1)?;
        // SAFETY: the caller promises that there are n bytes.
        let statistic = aggregate::statistic_of_bytes(unsafe { array.read(bytes) })?;
        // SAFETY: the caller promises that there is room for a number.
        unsafe { write("result", result, i32::from(statistic as u8)) }
    })
}

/// An aggregate function of SQL, as `treefold_aggregates.h` declares it.
#[repr(C)]
#[derive(Debug)]
pub struct treefold_sql_function {
    name: *const c_char,
    statistic: i32,
    ddof: f64,
    columns: i32,
    y_first: i32,
    returns_state: i32,
}

/// All SQL functions, in C's layout.
struct Functions(Vec<treefold_sql_function>);

// SAFETY: the names are neither written to nor freed.
unsafe impl Send for Functions {}
// SAFETY: as before.
unsafe impl Sync for Functions {}

/// The list of SQL functions, and its length.
///
/// # Safety
/// `count` points to one number or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_sql_functions(count: *mut usize) -> *const treefold_sql_function {
    static LIST: OnceLock<Functions> = OnceLock::new();
    let list = LIST.get_or_init(|| {
        let figures = sql::FUNCTIONS.iter().map(|function| (function, false));
        let states = sql::STATES.iter().map(|function| (function, true));
        let functions = figures.chain(states).map(|(function, returns_state)| {
            let SqlFunction {
                name,
                statistic,
                options,
            } = function;
            treefold_sql_function {
                name: CString::new(*name).unwrap_or_default().into_raw(),
                statistic: i32::from(*statistic as u8),
                ddof: options.ddof,
                columns: if statistic.inputs() == 2 { 2 } else { 1 },
                y_first: i32::from(statistic.held() == Held::CoMoments),
                returns_state: i32::from(returns_state),
            }
        });
        Functions(functions.collect())
    });
    if !count.is_null() {
        // SAFETY: `count` is not NULL, and the caller promises that there is room for a number.
        unsafe { count.write(list.0.len()) };
    }
    list.0.as_ptr()
}
