//! The functions of `treefold.h` that run on the caller's threads.

use std::ffi::c_void;

use super::arrays::reduced;
use super::guard;
use super::tree::dot_by;
use crate::element::ElementType;
use crate::failure::{Failure, Status};
use crate::local::{self, AnyElement, LONGEST_ELEMENT, Parts};
use crate::operator::Builtin;
use crate::raw::{Team, by_team};

/// Reduces n items on the caller's threads.
///
/// # Safety
/// `items` points to n elements of the type, `result` to one element, and the team behaves as `treefold.h` requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_fold_on(
    element_type: i32,
    op: i32,
    items: *const c_void,
    n: usize,
    team: Team,
    context: *mut c_void,
    result: *mut c_void,
) -> Status {
    guard(|| {
        let element_type = ElementType::of_code(element_type)?;
        let operator = Builtin::of_code(op)?;
        let part =
            |part: &[&[u8]], value: &mut [u8]| local::fold(element_type, operator, part[0], value);
        let fold = |arrays: [&[u8]; 1], value: &mut [u8]| {
            let team = (team, context);
            // SAFETY: the caller promises that the team behaves as `treefold.h` requires.
            unsafe { by_parts((element_type, operator), &arrays, n, team, &part, value) }
        };
        // SAFETY: the caller promises what the callee requires.
        unsafe { reduced(element_type, [("items", items, n)], result, fold) }
    })
}

/// Writes the dot product, computed on the caller's threads.
///
/// # Safety
/// `x` points to n elements of the type, `y` to m elements, `result` to one element, and the team behaves as `treefold.h` requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_dot_on(
    element_type: i32,
    x: *const c_void,
    n: usize,
    y: *const c_void,
    m: usize,
    team: Team,
    context: *mut c_void,
    result: *mut c_void,
) -> Status {
    let dot = |element_type: ElementType, arrays: [&[u8]; 2], value: &mut [u8]| {
        let part = |part: &[&[u8]], value: &mut [u8]| {
            local::dot_of(element_type, [part[0], part[1]], value)
        };
        let (of, team) = ((element_type, Builtin::Sum), (team, context));
        // SAFETY: the caller promises that the team behaves as `treefold.h` requires.
        unsafe { by_parts(of, &arrays, n, team, &part, value) }
    };
    // SAFETY: the caller promises what the callee requires.
    unsafe { dot_by(element_type, (x, n), (y, m), result, dot) }
}

/// A function that reduces one part of the arrays to an element.
type OfPart<'a> = dyn Fn(&[&[u8]], &mut [u8]) -> Result<(), Failure> + Sync + 'a;

/// Reduces arrays of `items` items in parts.
///
/// # Safety
/// The team is as [`by_team`] requires.
unsafe fn by_parts(
    (element_type, operator): (ElementType, Builtin),
    arrays: &[&[u8]],
    items: usize,
    team: (Team, *mut c_void),
    of_part: &OfPart<'_>,
    result: &mut [u8],
) -> Result<(), Failure> {
    // Each thread of the team reduces its part without a pool, whatever number of threads it has set with treefold_threads.
    let of_part = |part: &[&[u8]], value: &mut [u8]| local::alone(|| of_part(part, value));
    let parts = Parts::of(items);
    if parts.count() <= 1 && team.0.is_some() {
        return of_part(arrays, result);
    }
    let element_bytes = result.len();
    let reduce = |part: usize| {
        let of_arrays = arrays.iter();
        let of_arrays: Vec<&[u8]> = of_arrays
            .map(|array| parts.part(array, element_bytes, part))
            .collect();
        let mut value: AnyElement = [0; LONGEST_ELEMENT];
        of_part(&of_arrays, &mut value[..element_bytes])?;
        Ok(value)
    };
    // SAFETY: the caller promises what the callee requires.
    let values = unsafe { by_team(team, parts.count(), &reduce) }?;
    local::fold_parts(element_type, operator, &values, result)
}
