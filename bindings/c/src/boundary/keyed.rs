//! What functions of `treefold.h` do with items that have keys, or an index: arrays become slices, and handles states.

use std::ffi::c_void;

use bytemuck::Pod;

use super::guard;
use crate::accumulator::Change;
use crate::element::ElementType;
use crate::failure::{Code, Failure, Status};
use crate::handle;
use crate::keyed::{self, KeyedState, Keys, Window, treefold_keyed};
use crate::local;
use crate::raw::{Bytes, disjoint, elements, elements_mut, write};
use crate::statistic::Statistic;

/// An array of a program's: what the header calls it, where it is, and its length.
pub(super) type Array<T> = (&'static str, *const T, usize);

/// Keys of a program's: their type, where they begin, and how many they are.
pub type KeysInput = (i32, *const c_void, usize);

/// A result for each key.
///
/// # Safety
/// `keys` are so many numbers of their type, the arrays have so many elements, and `result` are m.
pub(super) unsafe fn by_key<T: Pod, const ARRAYS: usize>(
    keys: KeysInput,
    arrays: [Array<T>; ARRAYS],
    (result, m): (*mut T, usize),
    reduce: impl FnOnce(Keys<'_>, [&[T]; ARRAYS], &mut [T]) -> Result<(), Failure>,
) -> Status {
    guard(|| {
        // SAFETY: the caller promises such keys.
        let (keys, keys_array) = unsafe { keys_of(keys) }?;
        let (result, result_array) = (result.cast(), array_of(("result", result, m))?);
        disjoint(keys_array, result_array)?;
        // SAFETY: the caller promises so many elements.
        let arrays = unsafe { slices(arrays, result_array) }?;
        // SAFETY: the caller promises m elements, which are neither keys nor items, as was just found.
        let result = unsafe { result_array.write(result) };
        reduce(keys, arrays, elements_mut("result", result)?)
    })
}

/// A result for the window of each item, by an index of a type, of which the width of windows is an element.
///
/// # Safety
/// `index` are so many numbers of their type, `width` is one, `items` are n elements, and `result` are m.
pub(super) unsafe fn by_range<T: Pod>(
    (index_type, index, k): (i32, *const c_void, usize),
    items: (*const T, usize),
    width: *const c_void,
    (result, m): (*mut T, usize),
    reduce: impl FnOnce(&[T], Window<'_>, &mut [T]) -> Result<(), Failure>,
) -> Status {
    guard(|| {
        let index_type = type_of("index_type", index_type)?;
        let number_bytes = local::element_bytes(index_type);
        let index_array = Bytes::of("index", index, k, number_bytes)?;
        let width_array = Bytes::of("width", width, 1, number_bytes)?;
        let (result, result_array) = (result.cast(), array_of(("result", result, m))?);
        disjoint(index_array, result_array)?;
        disjoint(width_array, result_array)?;
        // SAFETY: the caller promises so many elements.
        let [items] = unsafe { slices([("items", items.0, items.1)], result_array) }?;
        let window = Window::Range {
            index_type,
            // SAFETY: the caller promises so many numbers.
            index: unsafe { index_array.read(index) },
            // SAFETY: the caller promises a number.
            width: unsafe { width_array.read(width) },
        };
        // SAFETY: the caller promises m elements, which nothing else has, as was just found.
        let result = unsafe { result_array.write(result) };
        reduce(items, window, elements_mut("result", result)?)
    })
}

/// The sums of each key's integers.
///
/// # Safety
/// `keys` are so many numbers of their type, `items` are n, and `result` are m of 64 bits.
pub(super) unsafe fn integer_sums(
    keys: KeysInput,
    (item_type, items, n): (i32, *const c_void, usize),
    (result, m): (*mut c_void, usize),
) -> Status {
    guard(|| {
        // SAFETY: the caller promises such keys.
        let (keys, keys_array) = unsafe { keys_of(keys) }?;
        let item_type = type_of("type", item_type)?;
        let items_array = Bytes::of("items", items, n, local::element_bytes(item_type))?;
        let result_array = Bytes::of("result", result, m, size_of::<u64>())?;
        disjoint(keys_array, result_array)?;
        disjoint(items_array, result_array)?;
        // SAFETY: the caller promises n numbers.
        let items = unsafe { items_array.read(items) };
        // SAFETY: the caller promises m numbers, which are neither keys nor items, as was just found.
        let result = unsafe { result_array.write(result) };
        keyed::integer_sums(keys, item_type, items, m, result)
    })
}

/// Adds or removes items by key, of one array or of two.
///
/// # Safety
/// `keys` are so many numbers of their type, and the arrays have so many elements of the state's.
pub(super) unsafe fn change<const ARRAYS: usize>(
    keyed: *const treefold_keyed,
    change: Change,
    keys: KeysInput,
    arrays: [Array<c_void>; ARRAYS],
) -> Status {
    guard(|| {
        // SAFETY: the caller promises such keys.
        let (keys, _) = unsafe { keys_of(keys) }?;
        handle::change(keyed, |held| {
            let element_bytes = local::element_bytes(held.element_type());
            let mut slices: [&[u8]; ARRAYS] = [&[]; ARRAYS];
            for (slice, (name, array, n)) in slices.iter_mut().zip(arrays) {
                let bytes = Bytes::of(name, array, n, element_bytes)?;
                // SAFETY: the caller promises n elements.
                *slice = unsafe { bytes.read(array) };
            }
            held.change(change, keys, &slices)
        })
    })
}

/// Adds what another state was given.
pub(super) fn merge(keyed: *const treefold_keyed, other: *const treefold_keyed) -> Status {
    guard(|| handle::change_by(keyed, other, |held, other| held.merge(other.as_ref())))
}

/// A statistic of each key.
///
/// # Safety
/// `result` are m elements of its type.
pub(super) unsafe fn statistics(
    keyed: *const treefold_keyed,
    statistic: Statistic,
    result: (*mut c_void, usize),
) -> Status {
    let write = |held: &dyn KeyedState, result: &mut [u8]| held.write(statistic, result);
    let of_type = |held: &dyn KeyedState| statistic.element_type(held.element_type());
    // SAFETY: the caller's promise is this function's.
    unsafe { of_each_key(keyed, result, of_type, write) }
}

/// The number of each key's items.
///
/// # Safety
/// `result` are m numbers.
pub(super) unsafe fn counts(
    keyed: *const treefold_keyed,
    (result, m): (*mut u64, usize),
) -> Status {
    let write = |held: &dyn KeyedState, result: &mut [u8]| {
        elements_mut("result", result)?.copy_from_slice(&held.counts()?);
        Ok(())
    };
    // SAFETY: the caller's promise is this function's.
    unsafe { of_each_key(keyed, (result.cast(), m), |_| ElementType::U64, write) }
}

/// The keys.
///
/// # Safety
/// `result` are m numbers of their type.
pub(super) unsafe fn keys(keyed: *const treefold_keyed, result: (*mut c_void, usize)) -> Status {
    let of_type = |held: &dyn KeyedState| held.key_type().unwrap_or(ElementType::U64);
    let write = |held: &dyn KeyedState, result: &mut [u8]| held.write_keys(result);
    // SAFETY: the caller's promise is this function's.
    unsafe { of_each_key(keyed, result, of_type, write) }
}

/// The number of keys.
///
/// # Safety
/// `result` is one number.
pub(super) unsafe fn groups(keyed: *const treefold_keyed, result: *mut usize) -> Status {
    guard(|| {
        let groups = handle::read(keyed, |held| Ok(held.groups()))?;
        // SAFETY: the caller promises room for a number.
        unsafe { write("result", result, groups) }
    })
}

/// Writes an element of a type for each key, or a row of them.
///
/// # Safety
/// `result` are m elements of the type.
unsafe fn of_each_key(
    keyed: *const treefold_keyed,
    (result, m): (*mut c_void, usize),
    element_type: impl FnOnce(&dyn KeyedState) -> ElementType,
    write: impl FnOnce(&dyn KeyedState, &mut [u8]) -> Result<(), Failure>,
) -> Status {
    guard(|| {
        handle::read(keyed, |held| {
            let held = held.as_ref();
            let element_bytes = local::element_bytes(element_type(held));
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
            // SAFETY: the caller promises m elements.
            write(held, unsafe { array.write(result) })
        })
    })
}

/// Keys, and where they are.
///
/// # Safety
/// They are so many numbers of the type, or NULL.
///
/// # Errors
/// There is no such type, or no such keys.
pub unsafe fn keys_of<'k>((key_type, keys, k): KeysInput) -> Result<(Keys<'k>, Bytes), Failure> {
    let key_type = type_of("key_type", key_type)?;
    let array = Bytes::of("keys", keys, k, local::element_bytes(key_type))?;
    // SAFETY: the caller promises so many keys.
    let bytes = unsafe { array.read(keys) };
    Ok((Keys { key_type, bytes }, array))
}

/// The type of a code that is an argument of this name.
pub(super) fn type_of(name: &str, code: i32) -> Result<ElementType, Failure> {
    let known = ElementType::of_code(code);
    known.map_err(|_| Failure::argument(name, format_args!("there is no type {code}")))
}

/// Arrays of items, if they are apart from the result.
///
/// # Safety
/// They have so many elements.
unsafe fn slices<'a, T: Pod, const ARRAYS: usize>(
    arrays: [Array<T>; ARRAYS],
    result: Bytes,
) -> Result<[&'a [T]; ARRAYS], Failure> {
    let mut slices: [&[T]; ARRAYS] = [&[]; ARRAYS];
    for (slice, array) in slices.iter_mut().zip(arrays) {
        let (name, pointer, _) = array;
        let bytes = array_of(array)?;
        disjoint(bytes, result)?;
        // SAFETY: the caller promises so many elements.
        *slice = elements(name, unsafe { bytes.read(pointer.cast()) })?;
    }
    Ok(slices)
}

fn array_of<T>((name, pointer, length): Array<T>) -> Result<Bytes, Failure> {
    Bytes::of(name, pointer.cast(), length, size_of::<T>())
}
