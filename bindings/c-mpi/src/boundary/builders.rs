//! The functions of `treefold_mpi.h` for builders.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};
use std::rc::Rc;

use treefold::{Algorithm, Distribution, Ownership};
use treefold_c::boundary::guard;
use treefold_c::element::ElementType;
use treefold_c::failure::{Failure, Status};
use treefold_c::figure::Figure;
use treefold_c::operator::Builtin;
use treefold_c::raw::{Bytes, Combine, Function, disjoint, place, text, words_of_item};
use treefold_c::statistic::Asked;

use super::handles::{destroy, write_handle};
use crate::builder::{Kind, Settings, Share, positive};
use crate::handle;
use crate::words;

pub use crate::builder::{treefold_builder, treefold_comm};

/// The items `begin` to `end` - 1.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct treefold_range {
    /// The first item.
    pub begin: u64,
    /// The item after the last.
    pub end: u64,
}

/// Creates a builder for a kind of plan.
///
/// # Safety
/// `result` points to room for a handle, or is NULL.
unsafe fn begin(
    comm: *const treefold_comm,
    result: *mut *mut treefold_builder,
    kind: impl FnOnce() -> Result<Kind, Failure>,
) -> Status {
    guard(|| {
        let world = handle::object(comm)?.world.clone();
        place("result", result)?;
        let settings = RefCell::new(Settings::new(world, kind()?));
        // SAFETY: the caller promises that there is room for a handle.
        unsafe { write_handle("result", result, handle::name(Rc::new(settings))?) }
    })
}

/// Creates a builder for a type and an operator.
///
/// # Safety
/// `result` points to room for a handle, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_builder_create(
    comm: *const treefold_comm,
    element_type: i32,
    op: i32,
    result: *mut *mut treefold_builder,
) -> Status {
    let kind = || Kind::builtin(ElementType::of_code(element_type)?, Builtin::of_code(op)?);
    // SAFETY: the caller promises what the callee requires.
    unsafe { begin(comm, result, kind) }
}

/// Creates a builder for exact sums.
///
/// # Safety
/// `result` points to room for a handle, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_builder_create_exact(
    comm: *const treefold_comm,
    element_type: i32,
    statistic: i32,
    result: *mut *mut treefold_builder,
) -> Status {
    let kind = || {
        let element_type = ElementType::of_code(element_type)?;
        let figure = Figure::of_statistic(Asked::of_code(statistic)?, element_type)?;
        Ok(Kind::Exact(element_type, figure))
    };
    // SAFETY: the caller promises what the callee requires.
    unsafe { begin(comm, result, kind) }
}

/// Creates a builder by key.
///
/// # Safety
/// `result` points to room for a handle, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_builder_create_by_key(
    comm: *const treefold_comm,
    element_type: i32,
    statistic: i32,
    keys: usize,
    result: *mut *mut treefold_builder,
) -> Status {
    let kind = || {
        let keys = positive("keys", keys, usize::MAX)?;
        let asked = Asked::of_code(statistic)?;
        let element_type = ElementType::of_code(element_type)?;
        element_type.check_real()?;
        Ok(Kind::ByKey(element_type, asked, keys))
    };
    // SAFETY: the caller promises what the callee requires.
    unsafe { begin(comm, result, kind) }
}

/// Creates a builder for a user-defined operator.
///
/// # Safety
/// `name` points to a string, `empty` to an item of `item_bytes` bytes, and `result` to room for a handle; each may be NULL. The operator
/// behaves as `treefold.h` requires while plans of this builder live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_builder_create_user(
    comm: *const treefold_comm,
    name: *const c_char,
    item_bytes: usize,
    combine: Combine,
    context: *mut c_void,
    empty: *const c_void,
    result: *mut *mut treefold_builder,
) -> Status {
    let kind = || {
        words_of_item(item_bytes)?;
        // SAFETY: the caller promises that the pointer points to a string or is NULL.
        let name = unsafe { text("name", name) }?.to_owned();
        // SAFETY: the caller promises that the operator behaves as `treefold.h` requires.
        let function = unsafe { Function::new(item_bytes, combine, context) }?;
        let item = Bytes::of("empty", empty, usize::from(!empty.is_null()), item_bytes)?;
        disjoint(item, Bytes::of_place("result", result)?)?;
        // SAFETY: the caller promises that `empty` points to one item or is NULL.
        let empty = unsafe { item.read(empty) };
        Ok(Kind::User {
            name,
            item_bytes,
            function,
            empty: (!empty.is_empty()).then(|| empty.to_vec()),
        })
    };
    // SAFETY: the caller promises what the callee requires.
    unsafe { begin(comm, result, kind) }
}

/// Changes a builder's settings.
fn set(
    builder: *const treefold_builder,
    change: impl FnOnce(&mut Settings) -> Result<(), Failure>,
) -> Status {
    guard(|| change(&mut handle::object(builder)?.borrow_mut()))
}

/// Gives this rank `items` items, numbered after the items of the lower ranks.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_local_items(
    builder: *mut treefold_builder,
    items: u64,
) -> Status {
    set(builder, |settings| settings.set_share(Share::Local(items)))
}

/// Gives this rank ranges of items.
///
/// # Safety
/// `ranges` points to n ranges.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_builder_extents(
    builder: *mut treefold_builder,
    ranges: *const treefold_range,
    n: usize,
) -> Status {
    set(builder, |settings| {
        let array = Bytes::of("ranges", ranges.cast(), n, size_of::<treefold_range>())?;
        array.aligned(align_of::<treefold_range>())?;
        // SAFETY: the caller promises that there are n ranges.
        let array = unsafe { array.read(ranges.cast()) };
        let ranges = array.chunks_exact(size_of::<treefold_range>());
        let ranges = ranges.map(bytemuck::pod_read_unaligned::<[u64; 2]>);
        let ranges = ranges.map(|[begin, end]| begin..end).collect();
        settings.set_extents(ranges)
    })
}

/// Sets a rule for the distribution of items. Fails if `rule` fails.
fn set_rule(
    builder: *const treefold_builder,
    argument: &str,
    rule: impl FnOnce(usize) -> Result<Ownership, treefold::DistributionError>,
) -> Status {
    set(builder, |settings| {
        let ownership = rule(settings.world.size());
        let ownership = ownership
            .map_err(|error| Failure::argument(argument, words::of_distribution(&error)))?;
        settings.set_share(Share::Rule(ownership))
    })
}

/// Distributes the items evenly.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_even(builder: *mut treefold_builder, items: u64) -> Status {
    set_rule(builder, "items", |ranks| {
        Distribution::lower(items, ranks).map(Ownership::from)
    })
}

/// Deals blocks of items to the ranks round-robin.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_block_cyclic(
    builder: *mut treefold_builder,
    items: u64,
    block: u64,
) -> Status {
    set_rule(builder, "block", |ranks| {
        Ownership::block_cyclic(items, ranks, block)
    })
}

/// Sets the total number of items of all ranks. The build checks this number.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_items(builder: *mut treefold_builder, items: u64) -> Status {
    set(builder, |settings| settings.set_items(items))
}

/// Sets the rank that gets the result of a reduce.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_root(builder: *mut treefold_builder, rank: c_int) -> Status {
    set(builder, |settings| settings.set_root(rank))
}

/// Sets the algorithm.
///
/// # Safety
/// `name` points to a string, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_builder_algorithm(
    builder: *mut treefold_builder,
    name: *const c_char,
) -> Status {
    set(builder, |settings| {
        // SAFETY: the caller promises that the pointer points to a string or is NULL.
        let name = unsafe { text("name", name) }?;
        let algorithm = name.parse::<Algorithm>();
        settings.algorithm = Some(algorithm.map_err(|error| Failure::argument("name", error))?);
        Ok(())
    })
}

/// Sets the number of elements of an item.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_width(
    builder: *mut treefold_builder,
    elements: usize,
) -> Status {
    set(builder, |settings| settings.set_width(elements))
}

/// Sets a parameter of algorithms.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_parameter(
    builder: *mut treefold_builder,
    parameter: i32,
    value: usize,
) -> Status {
    set(builder, |settings| settings.set_parameter(parameter, value))
}

/// Sets the number of lanes.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_lanes(builder: *mut treefold_builder, lanes: usize) -> Status {
    set(builder, |settings| settings.set_lanes(lanes))
}

/// Lets the plan be built without communication.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_agreed(builder: *mut treefold_builder) -> Status {
    set(builder, |settings| {
        settings.is_agreed = true;
        Ok(())
    })
}

/// Destroys a builder.
///
/// # Safety
/// `builder` points to a handle, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_builder_destroy(builder: *mut *mut treefold_builder) -> Status {
    // SAFETY: the caller promises what the callee requires.
    unsafe { destroy("builder", builder) }
}
