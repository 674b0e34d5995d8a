//! Blocking collectives on arrays of the program's in ordinary memory, as bytes. [`started`](super::started) has the others.

use std::ffi::{c_int, c_void};
use std::slice;

use treefold::Operation;
use treefold_c::failure::{Code, Failure};
use treefold_c::raw::{Bytes, bytes_mut, disjoint, write};

use crate::handle;
use crate::operands::Given;
use crate::plan::{Shaped, treefold_plan};

/// An array that is read: where it begins, and its elements.
pub(super) type Input = (*const c_void, usize);

/// An array that is written to.
pub(super) type Output = (*mut c_void, usize);

/// An allreduce that is a fold of this rank's items by an operator of `treefold.h`; `None`, and nothing is done, if it is not, or something is
/// wrong. A short call costs what it touches, and this touches little.
///
/// # Safety
/// As [`run_here`].
#[inline(always)]
pub(super) unsafe fn fold_here(
    plan: *const treefold_plan,
    (local, n): Input,
    (result, m): Output,
) -> Option<()> {
    handle::look(plan, |plan| {
        let [local_bytes, result_bytes] = plan.plan.fold_bytes(n)?;
        let (begin, place) = (local.addr(), result.addr());
        let ends = [(begin, local_bytes), (place, result_bytes)];
        let [end, place_end] = ends.map(|(begin, bytes)| begin.checked_add(bytes));
        let are_apart = place >= end? || place_end? <= begin;
        let is_valid = m == 1 && begin != 0 && place != 0 && plan.items.lie_right(begin, place);
        if !(is_valid && are_apart) {
            return None;
        }
        // SAFETY: not NULL, and the caller promises n elements, which have so many bytes: no more than any slice, as `fold_bytes` knows.
        let local = unsafe { slice::from_raw_parts(local.cast(), local_bytes) };
        // SAFETY: not NULL, and the caller promises one element, which is no item, as was just found.
        let result = unsafe { slice::from_raw_parts_mut(result.cast(), result_bytes) };
        plan.plan.fold(local, result)
    })
}

/// A blocking operation other than a broadcast; says whether this rank gets a result, and in `is_mine`, too, if that is not NULL.
///
/// # Safety
/// `local` and `result` are so many elements of the plan's type, or NULL; `is_mine` is one int, or NULL.
#[inline(always)]
pub(super) unsafe fn run_here(
    plan: &Shaped,
    operation: Operation,
    local: Input,
    result: Output,
    is_mine: *mut c_int,
) -> Result<bool, Failure> {
    // SAFETY: the caller's promise is this function's.
    let arrays = unsafe { arrays(plan, operation, local, result, is_mine) };
    let (local, result) = arrays.inspect_err(|_| plan.refuse(operation))?;
    let outcome = plan.run(operation, Given::Items(local), result)?;
    // SAFETY: the caller promises an int, or NULL.
    unsafe { tell(is_mine, outcome) }?;
    Ok(outcome)
}

/// The same on pairs of items.
///
/// # Safety
/// As [`run_here`].
pub(super) unsafe fn run_pairs_here(
    plan: &Shaped,
    operation: Operation,
    local: [Input; 2],
    result: Output,
    is_mine: *mut c_int,
) -> Result<bool, Failure> {
    // SAFETY: the caller's promise is this function's.
    let arrays = unsafe { pairs(plan, operation, local, result, is_mine) };
    let (local, result) = arrays.inspect_err(|_| plan.refuse(operation))?;
    let outcome = plan.run(operation, Given::Pair(local), result)?;
    // SAFETY: the caller promises an int, or NULL.
    unsafe { tell(is_mine, outcome) }?;
    Ok(outcome)
}

/// What an operation on pairs reads and writes.
///
/// # Safety
/// As [`run_here`].
unsafe fn pairs<'a>(
    plan: &Shaped,
    operation: Operation,
    pairs: [Input; 2],
    result: Output,
    is_mine: *mut c_int,
) -> Result<([&'a [u8]; 2], &'a mut [u8]), Failure> {
    let checked = check_pairs(plan, operation, pairs, result, is_mine)?;
    let ([x_array, y_array, result_array], _) = checked;
    let [(x, _), (y, _)] = pairs;
    // SAFETY: the caller promises n elements.
    let x = unsafe { x_array.read(x) };
    // SAFETY: the caller promises k elements.
    let y = unsafe { y_array.read(y) };
    // SAFETY: the caller promises m elements, which are in neither array, as was just found.
    let result = unsafe { result_array.write(result.0) };
    Ok(([x, y], result))
}

/// Where the arrays of an operation on pairs are, and the elements of its result.
pub(super) fn check_pairs(
    plan: &Shaped,
    operation: Operation,
    [(x, n), (y, k)]: [Input; 2],
    (result, m): Output,
    is_mine: *mut c_int,
) -> Result<([Bytes; 3], usize), Failure> {
    let m = room(plan, operation, (result, m))?;
    let x_array = Bytes::of("x", x, n, plan.items.bytes)?;
    let y_array = Bytes::of("y", y, k, plan.items.bytes)?;
    let result_array = Bytes::of("result", result, m, plan.items.bytes)?;
    disjoint(x_array, result_array)?;
    disjoint(y_array, result_array)?;
    let arrays = [x_array, y_array, result_array];
    check_told(is_mine, &arrays)?;
    Ok((arrays, m))
}

/// Several dot products of arrays that lie apart, on every rank.
///
/// # Safety
/// Each array is so many elements of the plan's type, or NULL.
pub(super) unsafe fn run_dots_here(
    plan: &Shaped,
    pairs: &[[Input; 2]],
    result: Output,
) -> Result<(), Failure> {
    let operation = Operation::Allreduce;
    let checked = check_dots(plan, pairs, result);
    let (arrays, result_array) = checked.inspect_err(|_| plan.refuse(operation))?;
    // SAFETY: the caller promises the elements.
    let arrays = unsafe { each_pair(&arrays, pairs) };
    // SAFETY: the caller promises m elements, which are in no other array, as was just found.
    let result = unsafe { result_array.write(result.0) };
    plan.run(operation, Given::Pairs(&arrays), result).map(drop)
}

/// Where the arrays and the result are.
pub(super) fn check_dots(
    plan: &Shaped,
    pairs: &[[Input; 2]],
    (result, m): Output,
) -> Result<(Vec<[Bytes; 2]>, Bytes), Failure> {
    let result = Bytes::of("result", result, m, plan.items.bytes)?;
    let array = |name, (pointer, n): Input| -> Result<Bytes, Failure> {
        let array = Bytes::of(name, pointer, n, plan.items.bytes)?;
        disjoint(array, result)?;
        Ok(array)
    };
    let pair = |&[x, y]: &[Input; 2]| Ok([array("x", x)?, array("y", y)?]);
    let arrays: Result<_, Failure> = pairs.iter().map(pair).collect();
    Ok((arrays?, result))
}

/// The arrays of pairs.
///
/// # Safety
/// The arrays are those of `pairs`, which can be read, and nobody writes to them while the result is in use.
pub(super) unsafe fn each_pair<'a>(
    arrays: &[[Bytes; 2]],
    pairs: &[[Input; 2]],
) -> Vec<[&'a [u8]; 2]> {
    // SAFETY: the caller's promise is this closure's.
    let slice = |array: Bytes, (pointer, _): Input| unsafe { array.read(pointer) };
    let each = arrays.iter().zip(pairs);
    let pair = |(&[x, y], &[x_from, y_from]): (&[Bytes; 2], &[Input; 2])| {
        [slice(x, x_from), slice(y, y_from)]
    };
    each.map(pair).collect()
}

/// The elements of a result: a rank that gets none need not have room for one.
#[inline(always)]
pub(super) fn room(
    plan: &Shaped,
    operation: Operation,
    (result, m): Output,
) -> Result<usize, Failure> {
    let is_unused = operation == Operation::Reduce && !plan.is_root && result.is_null();
    if is_unused && m != 0 && m != plan.width {
        let message = format!("`result` has {m} elements, but a row has {}", plan.width);
        return Err(Failure::new(Code::Length, message));
    }
    Ok(if is_unused { 0 } else { m })
}

/// What an operation reads and writes.
///
/// # Safety
/// As [`run_here`].
#[inline(always)]
unsafe fn arrays<'a>(
    plan: &Shaped,
    operation: Operation,
    local: Input,
    result: Output,
    is_mine: *mut c_int,
) -> Result<(&'a [u8], &'a mut [u8]), Failure> {
    let ([local_array, result_array], _) = check(plan, operation, local, result, is_mine)?;
    // SAFETY: the caller promises n elements.
    let local = unsafe { local_array.read(local.0) };
    // SAFETY: the caller promises m elements, which are no items, as was just found.
    let result = unsafe { result_array.write(result.0) };
    Ok((local, result))
}

/// Where the arrays of an operation are, and the elements of its result.
#[inline(always)]
pub(super) fn check(
    plan: &Shaped,
    operation: Operation,
    (local, n): Input,
    (result, m): Output,
    is_mine: *mut c_int,
) -> Result<([Bytes; 2], usize), Failure> {
    let element_bytes = plan.items.bytes;
    let m = room(plan, operation, (result, m))?;
    let local_array = Bytes::of("local", local, n, element_bytes)?;
    let result_array = Bytes::of("result", result, m, element_bytes)?;
    disjoint(local_array, result_array)?;
    check_told(is_mine, &[local_array, result_array])?;
    Ok(([local_array, result_array], m))
}

/// Whether the place of `is_mine`, if there is one, is apart from what a call reads and writes.
#[inline(always)]
pub(super) fn check_told(is_mine: *mut c_int, arrays: &[Bytes]) -> Result<(), Failure> {
    if is_mine.is_null() {
        return Ok(());
    }
    let told = Bytes::of_place("is_mine", is_mine)?;
    arrays.iter().try_for_each(|&array| disjoint(told, array))
}

/// # Safety
/// `is_mine` is one int, or NULL.
#[inline]
pub(super) unsafe fn tell(is_mine: *mut c_int, outcome: bool) -> Result<(), Failure> {
    if is_mine.is_null() {
        return Ok(());
    }
    // SAFETY: not NULL, and the caller promises an int.
    unsafe { write("is_mine", is_mine, c_int::from(outcome)) }
}

/// Copies the root's row.
///
/// # Safety
/// `row` is so many elements of the plan's type, or NULL.
pub(super) unsafe fn broadcast_here(plan: &Shaped, (row, m): Output) -> Result<(), Failure> {
    // SAFETY: the caller promises m elements.
    let row = unsafe { bytes_mut("row", row, m, plan.items.bytes) };
    let row = row.inspect_err(|_| plan.refuse(Operation::Broadcast))?;
    plan.run(Operation::Broadcast, Given::Items(&[]), row)
        .map(drop)
}
