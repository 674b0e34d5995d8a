//! The functions of `treefold.h` for states by key.

use std::ffi::{c_int, c_void};

use super::{guard, held};
use crate::element::ElementType;
use crate::failure::{Code, Failure, Status};
use crate::handle;
use crate::keyed::{self, Change, State, treefold_keyed};
use crate::local;
use crate::raw::{Bytes, write};
use crate::statistic::{Asked, Question};

/// Creates an empty state.
///
/// # Safety
/// `result` points to one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_create(
    element_type: i32,
    statistic: i32,
    keys: usize,
    result: *mut *mut treefold_keyed,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { treefold_keyed_create_rows(element_type, statistic, keys, 1, result) }
}

/// Creates an empty state of rows.
///
/// # Safety
/// `result` points to one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_create_rows(
    element_type: i32,
    statistic: i32,
    keys: usize,
    width: usize,
    result: *mut *mut treefold_keyed,
) -> Status {
    let make = || {
        let asked = Asked::of_code(statistic)?;
        keyed::of_codes(ElementType::of_code(element_type)?, asked, keys, width)
    };
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::create(result, make) }
}

/// Creates an empty hashed state.
///
/// # Safety
/// `result` points to one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_create_hashed(
    element_type: i32,
    key_type: i32,
    result: *mut *mut treefold_keyed,
) -> Status {
    let make = || {
        let key_type = ElementType::of_argument("key_type", key_type)?;
        keyed::hashed_of_codes(ElementType::of_code(element_type)?, key_type)
    };
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::create(result, make) }
}

/// Copies a state.
///
/// # Safety
/// `result` points to one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_copy(
    keyed: *const treefold_keyed,
    result: *mut *mut treefold_keyed,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::copy(keyed, result) }
}

/// Destroys a state.
///
/// # Safety
/// `keyed` points to one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_destroy(keyed: *mut *mut treefold_keyed) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::destroy(keyed) }
}

/// Removes all items.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_keyed_clear(keyed: *mut treefold_keyed) -> Status {
    held::clear(keyed)
}

/// Adds items by key.
///
/// # Safety
/// `keys` points to k numbers of type `key_type`, and `items` to n elements of the state's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_add(
    keyed: *mut treefold_keyed,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const c_void,
    n: usize,
) -> Status {
    let arrays = [("items", items, n)];
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::change(keyed, Change::Add, Some((key_type, keys, k)), arrays) }
}

/// Removes items by key.
///
/// # Safety
/// `keys` points to k numbers of type `key_type`, and `items` to n elements of the state's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_remove(
    keyed: *mut treefold_keyed,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    items: *const c_void,
    n: usize,
) -> Status {
    let arrays = [("items", items, n)];
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::change(keyed, Change::Remove, Some((key_type, keys, k)), arrays) }
}

/// Adds pairs by key.
///
/// # Safety
/// `keys` points to k numbers of type `key_type`, `x` to n elements of the state's type, and `y` to l such elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_add_pairs(
    keyed: *mut treefold_keyed,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    l: usize,
) -> Status {
    let arrays = [("x", x, n), ("y", y, l)];
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::change(keyed, Change::Add, Some((key_type, keys, k)), arrays) }
}

/// Removes pairs by key.
///
/// # Safety
/// `keys` points to k numbers of type `key_type`, `x` to n elements of the state's type, and `y` to l such elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_remove_pairs(
    keyed: *mut treefold_keyed,
    key_type: i32,
    keys: *const c_void,
    k: usize,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    l: usize,
) -> Status {
    let arrays = [("x", x, n), ("y", y, l)];
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::change(keyed, Change::Remove, Some((key_type, keys, k)), arrays) }
}

/// Adds another state's items.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_keyed_merge(
    keyed: *mut treefold_keyed,
    other: *const treefold_keyed,
) -> Status {
    held::change_by(keyed, Change::Add, other)
}

/// Removes another state's items.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_keyed_unmerge(
    keyed: *mut treefold_keyed,
    other: *const treefold_keyed,
) -> Status {
    held::change_by(keyed, Change::Remove, other)
}

/// Writes the number of a state's keys.
///
/// # Safety
/// `result` points to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_groups(
    keyed: *const treefold_keyed,
    result: *mut usize,
) -> Status {
    guard(|| {
        let groups = handle::read(keyed, |held| Ok(held.groups()))?;
        // SAFETY: the caller promises that there is room for a number.
        unsafe { write("result", result, groups) }
    })
}

/// Writes the keys of a hashed state in ascending order.
///
/// # Safety
/// `result` points to m numbers of the type of the keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_keys(
    keyed: *const treefold_keyed,
    result: *mut c_void,
    m: usize,
) -> Status {
    let of_type = |held: &dyn State| held.key_type();
    let write = |held: &dyn State, result: &mut [u8]| held.write_keys(result);
    // SAFETY: the caller promises what the callee requires.
    guard(|| unsafe { of_each_key(keyed, (result, m), of_type, write) })
}

/// Writes a statistic of each key.
///
/// # Safety
/// `result` points to m elements of the statistic's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_values(
    keyed: *const treefold_keyed,
    statistic: i32,
    ddof: f64,
    result: *mut c_void,
    m: usize,
) -> Status {
    guard(|| {
        let question = Question::of_codes(statistic, ddof)?;
        let of_type = |held: &dyn State| Ok(question.asked.element_type(held.element_type()));
        let write = |held: &dyn State, result: &mut [u8]| held.write(question, result);
        // SAFETY: the caller promises what the callee requires.
        unsafe { of_each_key(keyed, (result, m), of_type, write) }
    })
}

/// Writes one element, or one row of elements, for each key.
///
/// # Safety
/// `result` points to m elements of the type.
unsafe fn of_each_key(
    keyed: *const treefold_keyed,
    (result, m): (*mut c_void, usize),
    element_type: impl FnOnce(&dyn State) -> Result<ElementType, Failure>,
    write: impl FnOnce(&dyn State, &mut [u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    handle::read(keyed, |held| {
        let held = held.as_ref();
        let element_bytes = local::element_bytes(element_type(held)?);
        let array = Bytes::of("result", result, m, element_bytes)?;
        let (groups, width) = (held.groups(), held.width());
        if m != groups * width {
            let of_columns = match width {
                1 => String::new(),
                _ => format!(" of {width} columns"),
            };
            let message =
                format!("`result` has {m} elements, but there are {groups} keys{of_columns}");
            return Err(Failure::new(Code::Length, message));
        }
        // SAFETY: the caller promises that there are m elements.
        write(held, unsafe { array.write(result) })
    })
}

/// Writes whether two states are equal.
///
/// # Safety
/// `result` points to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_equal(
    keyed: *const treefold_keyed,
    other: *const treefold_keyed,
    result: *mut c_int,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::equal(keyed, other, result) }
}

/// Writes a state as bytes.
///
/// # Safety
/// `bytes` has room for `capacity` bytes, and `needed` points to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_to_bytes(
    keyed: *const treefold_keyed,
    bytes: *mut c_void,
    capacity: usize,
    needed: *mut usize,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::to_bytes(keyed, (bytes, capacity), needed) }
}

/// Replaces the contents of a state with those that the bytes describe.
///
/// # Safety
/// `bytes` points to n bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keyed_of_bytes(
    keyed: *mut treefold_keyed,
    bytes: *const c_void,
    n: usize,
) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { held::of_bytes(keyed, (bytes, n)) }
}
