//! The functions of `treefold_aggregates.h`: states in memory of the caller.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::slice;
use std::sync::OnceLock;

use bytemuck::AnyBitPattern;
use treefold::exact::sql::{self, SqlFunction};
use treefold::exact::{
    CompactCoMoments, CompactMoments, CompactPowers, CompactProducts, CompactSum,
    CompactWeightedMean, Held,
};

use super::arrays::{place_of, write_element};
use super::{guard, held};
use crate::accumulator::Change;
use crate::aggregate::{self, Aggregate, Column, Rows};
use crate::element::ElementType;
use crate::failure::{Code, Failure, Status};
use crate::raw::{Bytes, disjoint, place, write};
use crate::statistic::{Asked, Question};

/// The beginning of a caller's memory that holds a state.
#[repr(C)]
#[derive(Debug)]
pub struct treefold_aggregate {
    /// Tells what is held, and that this is a state.
    tag: u64,
}

/// A state in a caller's memory.
#[repr(C)]
struct Placed<S> {
    tag: u64,
    state: S,
}

/// What tags are, up to their lowest byte: no number that is likely elsewhere.
const STATE: u64 = 0x7472_6565_666f_6c00;

/// Evaluates an expression for the type that holds this.
macro_rules! with_type {
    ($held:expr, $state:ident => $value:expr, else $none:expr) => {
        match $held {
            Held::Sum => with_type!(CompactSum, $state => $value),
            Held::Products => with_type!(CompactProducts, $state => $value),
            Held::Moments => with_type!(CompactMoments, $state => $value),
            Held::Weighted => with_type!(CompactWeightedMean, $state => $value),
            Held::Powers => with_type!(CompactPowers, $state => $value),
            Held::CoMoments => with_type!(CompactCoMoments, $state => $value),
            _ => $none,
        }
    };
    ($type:ty, $state:ident => $value:expr) => {{
        type $state = $type;
        $value
    }};
}

/// All that states hold.
const HELD: [Held; 6] = [
    Held::Sum,
    Held::Products,
    Held::Moments,
    Held::Weighted,
    Held::Powers,
    Held::CoMoments,
];

/// What a state for a statistic holds.
///
/// # Errors
/// There is no such state.
fn held_for(statistic: i32) -> Result<Held, Failure> {
    let asked = Asked::of_code(statistic)?;
    let held = asked.held();
    match asked {
        Asked::Of(statistic) if HELD.contains(&held) && held.has(statistic) => Ok(held),
        _ => Err(asked.missing("aggregates")),
    }
}

/// The bytes of a state.
fn bytes_of(held: Held) -> usize {
    with_type!(held, State => {
        const { assert!(align_of::<Placed<State>>() <= 8) };
        size_of::<Placed<State>>()
    }, else 0)
}

/// The state in a caller's memory.
///
/// # Safety
/// If the memory begins as a state does, it holds one, and nobody else reads or writes it while the result is in use.
///
/// # Errors
/// It is NULL, or does not begin so.
#[inline(always)]
unsafe fn state<'a>(
    name: &'static str,
    memory: *mut treefold_aggregate,
) -> Result<&'a mut dyn Aggregate, Failure> {
    place(name, memory)?;
    // SAFETY: not NULL and aligned, as was just found, and the caller promises a state.
    let tag = unsafe { (*memory).tag };
    with_type!(held_of(tag), State => {
        // SAFETY: the tag says that a state of this type was created here; the caller promises that it is still there and not in use.
        Ok(unsafe { &mut (*memory.cast::<Placed<State>>()).state })
    }, else Err(Failure::argument(name, "it is not a state")))
}

fn tag_of(held: Held) -> u64 {
    STATE | held as u64
}

/// What a tag says; extrema, which no aggregate holds, for no tag.
#[inline(always)]
fn held_of(tag: u64) -> Held {
    let mut all = HELD.into_iter();
    all.find(|held| tag == tag_of(*held))
        .unwrap_or(Held::Extrema)
}

/// The number of bytes of a state.
///
/// # Safety
/// `result` is one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_bytes(statistic: i32, result: *mut usize) -> Status {
    guard(|| {
        let bytes = bytes_of(held_for(statistic)?);
        // SAFETY: the caller promises room for a number.
        unsafe { write("result", result, bytes) }
    })
}

/// A state of no rows.
///
/// # Safety
/// `aggregate` is memory of n bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_init(
    aggregate: *mut treefold_aggregate,
    n: usize,
    statistic: i32,
) -> Status {
    guard(|| {
        place("aggregate", aggregate)?;
        let held = held_for(statistic)?;
        let needed = bytes_of(held);
        if n < needed {
            let message = format!("`aggregate` has {n} bytes, but a state has {needed}");
            return Err(Failure::new(Code::Length, message));
        }
        let tag = tag_of(held);
        with_type!(held, State => {
            let new = Placed { tag, state: State::default() };
            // SAFETY: not NULL and aligned to 8, as was found, which is enough for every state; there is room, as the caller promises.
            unsafe { aggregate.cast::<Placed<State>>().write(new) };
        }, else ());
        Ok(())
    })
}

/// Forgets all rows.
///
/// # Safety
/// `aggregate` is a state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_clear(aggregate: *mut treefold_aggregate) -> Status {
    guard(|| {
        // SAFETY: the caller promises a state.
        unsafe { state("aggregate", aggregate) }?.clear();
        Ok(())
    })
}

/// A column of a caller's: the code of its type, and where it is.
type Input = (i32, *const c_void);

/// Adds rows, or removes them.
///
/// # Safety
/// `aggregate` is a state, and the columns have n items.
#[inline(always)]
unsafe fn change(
    change: Change,
    aggregate: *mut treefold_aggregate,
    (x, y): (Input, Input),
    n: usize,
) -> Status {
    guard(move || {
        // SAFETY: the caller promises a state.
        let state = unsafe { state("aggregate", aggregate) }?;
        // SAFETY: the caller promises so many items.
        let x = unsafe { column("x", "x_type", x, n) }?;
        let y = if state.held().inputs() == 2 {
            // SAFETY: the caller promises so many items.
            unsafe { column("y", "y_type", y, n) }?
        } else if y == (0, ptr::null()) {
            Column::F64(&[])
        } else {
            let reason = "the statistic takes one column: it must be NULL, and its type 0";
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
/// It has n items.
///
/// # Errors
/// It has a type that no column has, is NULL or not aligned.
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
        // SAFETY: the caller promises n items of this type.
        F32 => unsafe { items(name, pointer, n) }.map(Column::F32),
        // SAFETY: as before.
        F64 => unsafe { items(name, pointer, n) }.map(Column::F64),
        // SAFETY: as before.
        I64 => unsafe { items(name, pointer, n) }.map(Column::I64),
        _ => Err(aggregate::is_no_column(type_name, element_type)),
    }
}

/// # Safety
/// They are n.
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
    // SAFETY: not NULL, aligned and no longer than memory, as was found; the caller promises n items.
    Ok(unsafe { slice::from_raw_parts(pointer.cast(), n) })
}

/// Adds rows.
///
/// # Safety
/// `aggregate` is a state; `x` has n items of its type, and so has `y`, or it is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_add(
    aggregate: *mut treefold_aggregate,
    x_type: i32,
    x: *const c_void,
    y_type: i32,
    y: *const c_void,
    n: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { change(Change::Add, aggregate, ((x_type, x), (y_type, y)), n) }
}

/// Removes rows.
///
/// # Safety
/// `aggregate` is a state; `x` has n items of its type, and so has `y`, or it is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_remove(
    aggregate: *mut treefold_aggregate,
    x_type: i32,
    x: *const c_void,
    y_type: i32,
    y: *const c_void,
    n: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { change(Change::Remove, aggregate, ((x_type, x), (y_type, y)), n) }
}

/// Adds another state's rows, or removes them.
///
/// # Safety
/// Both are states.
unsafe fn change_by(
    change: Change,
    aggregate: *mut treefold_aggregate,
    other: *const treefold_aggregate,
) -> Status {
    guard(|| {
        if ptr::eq(aggregate, other) {
            return Err(Failure::argument("other", "it must be another state"));
        }
        // SAFETY: the caller promises a state.
        let own = unsafe { state("aggregate", aggregate) }?;
        // SAFETY: the caller promises a state, and it is another one.
        let other = unsafe { state("other", other.cast_mut()) }?;
        own.change_by(change, other)
    })
}

/// Adds another state's rows.
///
/// # Safety
/// Both are states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_merge(
    aggregate: *mut treefold_aggregate,
    other: *const treefold_aggregate,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { change_by(Change::Add, aggregate, other) }
}

/// Removes another state's rows.
///
/// # Safety
/// Both are states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_unmerge(
    aggregate: *mut treefold_aggregate,
    other: *const treefold_aggregate,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { change_by(Change::Remove, aggregate, other) }
}

/// A statistic of the rows.
///
/// # Safety
/// `aggregate` is a state, `result` one element of the type, and `is_null` one number.
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
        // SAFETY: the caller promises a state.
        let state = unsafe { state("aggregate", aggregate.cast_mut()) }?;
        let mut is_there = false;
        let find = |value: &mut [u8]| {
            is_there = state.write(question, element_type, value)?;
            Ok(())
        };
        // SAFETY: the caller promises room for an element. NULL leaves a zero.
        unsafe { write_element(result, element_type, find) }?;
        // SAFETY: the caller promises room for a number.
        unsafe { write("is_null", is_null, c_int::from(!is_there)) }
    })
}

/// A state as bytes.
///
/// # Safety
/// `aggregate` is a state, `bytes` has room for `capacity` bytes, and `needed` is one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_to_bytes(
    aggregate: *const treefold_aggregate,
    bytes: *mut c_void,
    capacity: usize,
    needed: *mut usize,
) -> Status {
    let written = || {
        // SAFETY: the caller promises a state.
        unsafe { state("aggregate", aggregate.cast_mut()) }?.to_bytes()
    };
    // SAFETY: the caller's promise is this function's.
    unsafe { held::copy_bytes((bytes, capacity), needed, written) }
}

/// Makes a state what bytes stand for.
///
/// # Safety
/// `aggregate` is a state, and `bytes` are n bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_of_bytes(
    aggregate: *mut treefold_aggregate,
    bytes: *const c_void,
    n: usize,
) -> Status {
    guard(|| {
        let array = Bytes::of("bytes", bytes, n, 1)?;
        // SAFETY: the caller promises a state.
        let state = unsafe { state("aggregate", aggregate) }?;
        // SAFETY: the caller promises n bytes.
        state.become_bytes(unsafe { array.read(bytes) })
    })
}

/// A statistic for which a state of such bytes can be created.
///
/// # Safety
/// `bytes` are n bytes, and `result` is one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_aggregate_statistic(
    bytes: *const c_void,
    n: usize,
    result: *mut i32,
) -> Status {
    guard(|| {
        let array = Bytes::of("bytes", bytes, n, 1)?;
        // SAFETY: the caller promises n bytes.
        let statistic = aggregate::statistic_of_bytes(unsafe { array.read(bytes) })?;
        // SAFETY: the caller promises room for a number.
        unsafe { write("result", result, i32::from(statistic as u8)) }
    })
}

/// A function of databases.
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

/// The functions as C has them.
struct Functions(Vec<treefold_sql_function>);

// SAFETY: the names are never written to, nor freed.
unsafe impl Send for Functions {}
// SAFETY: as before.
unsafe impl Sync for Functions {}

/// The functions of databases, and how many they are.
///
/// # Safety
/// `count` is one number, or NULL.
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
        // SAFETY: not NULL, and the caller promises room for a number.
        unsafe { count.write(list.0.len()) };
    }
    list.0.as_ptr()
}
