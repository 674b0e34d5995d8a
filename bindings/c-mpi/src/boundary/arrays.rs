//! The arrays that a call reads and writes, as a program passes them.

use std::ffi::{c_int, c_void};

use treefold::Operation;
use treefold_c::boundary::{KeysInput, keys_of, treefold_keyed};
use treefold_c::failure::{Code, Failure};
use treefold_c::raw::{Bytes, disjoint, write};

use crate::operands::Given;
use crate::plan::Shaped;
use crate::run::treefold_run;

pub(super) use crate::run::Output;

/// An input array: its address and length.
pub(super) type Input = (*const c_void, usize);

/// The pairs of arrays of a call, as slices.
pub(super) type Pairs<'a> = Vec<[&'a [u8]; 2]>;

/// The input of a call. Each pointer is valid for the given number of elements, or NULL.
#[derive(Clone, Copy)]
pub(super) enum Arrays {
    /// Items. A broadcast has none.
    Items(Input),
    /// Two arrays of factors.
    Pair([Input; 2]),
    /// Two lists of k pointers to arrays of n elements: the lists, k and n.
    Pairs([*const *const c_void; 2], usize, usize),
    /// Items with keys.
    ByKey(KeysInput, Input),
    /// A state by key, which becomes the result.
    State(*mut treefold_keyed),
}

impl Arrays {
    /// The arrays as slices, after checking that they do not overlap the output.
    ///
    /// # Safety
    /// No thread writes to the arrays while the returned slices are in use.
    #[inline(always)]
    pub(super) unsafe fn given<'k, 'a: 'k>(
        self,
        element_bytes: usize,
        written: &[Bytes; 2],
        kept: &'k mut Pairs<'a>,
    ) -> Result<Given<'k>, Failure> {
        let read = |name, array: Input| -> Result<&'a [u8], Failure> {
            let bytes = apart(name, array, element_bytes, written)?;
            // SAFETY: the caller promises that the array has this number of elements.
            Ok(unsafe { bytes.read(array.0) })
        };
        let pair = |[x, y]: [Input; 2]| Ok([read("x", x)?, read("y", y)?]);
        Ok(match self {
            Self::Items(local) => Given::Items(read("local", local)?),
            Self::Pair(arrays) => Given::Pair(pair(arrays)?),
            Self::Pairs(lists, k, n) => {
                // SAFETY: the caller promises that each list has k pointers.
                let pairs = unsafe { listed(lists, k, n, written) }?;
                let pairs: Result<_, Failure> = pairs.into_iter().map(pair).collect();
                *kept = pairs?;
                Given::Pairs(kept)
            }
            Self::ByKey(keys, items) => {
                // SAFETY: the caller promises that the keys can be read.
                let (keys, array) = unsafe { keys_of(keys) }?;
                written
                    .iter()
                    .try_for_each(|&place| disjoint(array, place))?;
                Given::ByKey(keys, read("items", items)?)
            }
            Self::State(state) => Given::Keyed(state),
        })
    }

    /// The arrays that may be on a GPU, after checking that they do not overlap the output. Arrays with keys are in host memory.
    ///
    /// # Safety
    /// The lists of pointers have the stated lengths.
    #[cfg(feature = "cuda")]
    pub(super) unsafe fn inputs(
        self,
        element_bytes: usize,
        written: &[Bytes; 2],
    ) -> Result<Vec<Input>, Failure> {
        let named = |[x, y]: [Input; 2]| [("x", x), ("y", y)];
        let named = match self {
            Self::Items(local) => vec![("local", local)],
            Self::Pair(pair) => named(pair).to_vec(),
            Self::Pairs(lists, k, n) => {
                // SAFETY: the caller promises that each list has k pointers.
                let pairs = unsafe { listed(lists, k, n, written) }?;
                pairs.into_iter().flat_map(named).collect()
            }
            Self::ByKey(..) | Self::State(_) => Vec::new(),
        };
        let checked = named
            .into_iter()
            .map(|(name, array)| apart(name, array, element_bytes, written).map(|_| array));
        checked.collect()
    }
}

/// The address range of an input array, after checking that it does not overlap the output.
#[inline(always)]
fn apart(
    name: &'static str,
    (pointer, n): Input,
    element_bytes: usize,
    written: &[Bytes; 2],
) -> Result<Bytes, Failure> {
    let array = Bytes::of(name, pointer, n, element_bytes)?;
    written
        .iter()
        .try_for_each(|&place| disjoint(array, place))?;
    Ok(array)
}

/// Reads two lists of k pointers to n elements each.
///
/// # Safety
/// Each list has k pointers.
unsafe fn listed(
    lists: [*const *const c_void; 2],
    k: usize,
    n: usize,
    written: &[Bytes; 2],
) -> Result<Vec<[Input; 2]>, Failure> {
    for (name, list) in ["x", "y"].into_iter().zip(lists) {
        let list = apart(name, (list.cast(), k), size_of::<*const c_void>(), written)?;
        list.aligned(align_of::<*const c_void>())?;
    }
    // SAFETY: each list is aligned and not NULL, as was just checked, and the caller promises that it has k pointers.
    let at = |list: *const *const c_void, j| unsafe { list.wrapping_add(j).read() };
    Ok((0..k).map(|j| lists.map(|list| (at(list, j), n))).collect())
}

/// The address ranges of a blocking call's outputs: the result, and `is_mine`.
#[inline(always)]
pub(super) fn places(
    plan: &Shaped,
    operation: Operation,
    (result, m): Output,
    is_mine: *mut c_int,
) -> Result<[Bytes; 2], Failure> {
    let mut m = m;
    // A rank that gets no result needs no buffer.
    if plan.is_unused(operation) && result.is_null() {
        if m != 0 && m != plan.width {
            let message = format!("`result` has {m} elements, but a row has {}", plan.width);
            return Err(Failure::new(Code::Length, message));
        }
        m = 0;
    }
    let name = match operation {
        Operation::Broadcast => "row",
        _ => "result",
    };
    let result = Bytes::of(name, result, m, plan.items.bytes)?;
    let is_mine = Bytes::of_optional_place("is_mine", is_mine)?;
    disjoint(is_mine, result)?;
    Ok([result, is_mine])
}

/// The address ranges of a start's outputs: the handle, which the start writes, and the result, which the wait writes.
pub(super) fn start_places(
    plan: &Shaped,
    operation: Operation,
    (result, m): Output,
    run: *mut *mut treefold_run,
) -> Result<[Bytes; 2], Failure> {
    let place = Bytes::of_place("run", run)?;
    let is_absent = plan.is_unused(operation) && result.is_null();
    let m = if is_absent { 0 } else { m };
    let result = Bytes::of("result", result, m, plan.items.bytes)?;
    let result = result.aligned(plan.items.alignment())?;
    disjoint(place, result)?;
    Ok([place, result])
}

/// Writes to `is_mine` whether this rank gets a result.
///
/// # Safety
/// `is_mine` points to one int, or is NULL.
#[inline]
pub(super) unsafe fn tell(is_mine: *mut c_int, outcome: bool) -> Result<(), Failure> {
    if is_mine.is_null() {
        return Ok(());
    }
    // SAFETY: `is_mine` is not NULL, and the caller promises that it points to an int.
    unsafe { write("is_mine", is_mine, c_int::from(outcome)) }
}
