//! The functions of `treefold_mpi.h`, in its order.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::rc::Rc;
use std::sync::OnceLock;

use treefold::transport::{Error, Interruption};
use treefold::{Algorithm, Distribution, Ownership};
use treefold_c::boundary::{
    Bytes, Combine, Function, disjoint, guard, place, text, treefold_keyed, write,
};
use treefold_c::element::ElementType;
use treefold_c::failure::{Failure, Status};
use treefold_c::operator::{Builtin, Words};

use super::collectives::{read_handle, write_handle};
use super::entry;
use super::library;
use super::started::{self, duration};
use crate::builder::{Comm, Kind, Settings, Share, operation_of_code};
use crate::exact::figure::Figure;
use crate::failure::of_transport;
use crate::handle::{self, Named};
use crate::words;

pub use crate::builder::{treefold_builder, treefold_comm};
pub use crate::plan::treefold_plan;
pub use crate::run::treefold_run;

/// The items `begin` to `end` - 1.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct treefold_range {
    /// The first item.
    pub begin: u64,
    /// The item after the last.
    pub end: u64,
}

/// Takes what a handle names, and leaves NULL in its place; `None` if it is NULL, or has ended with this thread.
///
/// # Safety
/// `handle` is a handle, or NULL.
unsafe fn take_handle<H: Named>(
    name: &'static str,
    handle: *mut *mut H,
) -> Result<Option<Rc<H::Object>>, Failure> {
    // SAFETY: the caller promises a handle, or NULL.
    let named = unsafe { read_handle(name, handle) }?;
    if named.is_null() {
        return Ok(None);
    }
    let object = handle::end(named)?;
    // SAFETY: the caller promises a handle.
    unsafe { write_handle(name, handle, ptr::null_mut()) }?;
    Ok(object)
}

/// Ends a handle; NULL is none.
///
/// # Safety
/// `handle` is a handle, or NULL.
pub(super) unsafe fn destroy<H: Named>(name: &'static str, handle: *mut *mut H) -> Status {
    // SAFETY: the caller's promise is this function's.
    guard(|| unsafe { take_handle(name, handle) }.map(drop))
}

/// Which MPI library is called, and why.
///
/// # Safety
/// `text` is room for an address, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_mpi_library(text: *mut *const c_char) -> Status {
    guard(|| {
        place("text", text)?;
        let description = library::description()?;
        // SAFETY: not NULL and aligned, as was just found; the caller promises room for an address.
        unsafe { text.write(description.as_ptr()) };
        Ok(())
    })
}

/// Duplicates a communicator by its address, its size, the family of its `mpi.h`, and a function of its library. Collective.
///
/// # Safety
/// `comm` points to a communicator of the MPI library that the program was compiled with, `family` is a text, `function` is the program's
/// `MPI_Comm_size`, and `result` is room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_comm_duplicate_checked(
    comm: *const c_void,
    comm_bytes: usize,
    family: *const c_char,
    function: Option<unsafe extern "C" fn()>,
    result: *mut *mut treefold_comm,
) -> Status {
    guard(|| {
        place("result", result)?;
        // SAFETY: the caller promises a text.
        let family = unsafe { text("family", family) }?;
        // SAFETY: the caller promises a communicator.
        let duplicate = unsafe { library::duplicate(comm, comm_bytes, family, function) }?;
        // SAFETY: the caller promises room for a handle.
        unsafe { write_handle("result", result, handle::name(Rc::new(duplicate))?) }
    })
}

/// Duplicates a communicator of Fortran's. Collective.
///
/// # Safety
/// `comm` and `world` are communicators of the program's MPI library, and `result` is room for a handle, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_comm_duplicate_f(
    comm: i32,
    world: i32,
    result: *mut *mut treefold_comm,
) -> Status {
    guard(|| {
        place("result", result)?;
        // SAFETY: the caller promises a communicator.
        let duplicate = unsafe { library::duplicate_fortran(comm, world) }?;
        // SAFETY: the caller promises room for a handle.
        unsafe { write_handle("result", result, handle::name(Rc::new(duplicate))?) }
    })
}

/// Leaves a number of ranks.
///
/// # Safety
/// `place` is one int, or NULL.
unsafe fn write_rank(name: &'static str, place: *mut c_int, number: usize) -> Result<(), Failure> {
    let number = c_int::try_from(number).expect("MPI counts ranks in an int");
    // SAFETY: the caller promises an int.
    unsafe { write(name, place, number) }
}

/// This rank.
///
/// # Safety
/// `rank` is one int, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_comm_rank(
    comm: *const treefold_comm,
    rank: *mut c_int,
) -> Status {
    guard(|| {
        let world = handle::object(comm)?;
        // SAFETY: the caller promises an int.
        unsafe { write_rank("rank", rank, world.rank()) }
    })
}

/// The number of ranks.
///
/// # Safety
/// `size` is one int, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_comm_size(
    comm: *const treefold_comm,
    size: *mut c_int,
) -> Status {
    guard(|| {
        let world = handle::object(comm)?;
        // SAFETY: the caller promises an int.
        unsafe { write_rank("size", size, world.size()) }
    })
}

/// How long a wait tolerates a silent rank.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_comm_silence_limit(comm: *mut treefold_comm, seconds: f64) -> Status {
    guard(|| {
        let world = handle::object(comm)?;
        world.set_silence_limit(duration(seconds)?);
        Ok(())
    })
}

/// Measures what a message costs. Collective.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_comm_measure_link(comm: *mut treefold_comm) -> Status {
    guard(|| {
        let world = handle::object(comm)?;
        let measured = world.measure_link();
        measured.map(drop).map_err(|error| of_transport(&error))
    })
}

/// Ends a handle of a communicator.
///
/// # Safety
/// `comm` is a handle, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_comm_destroy(comm: *mut *mut treefold_comm) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { destroy("comm", comm) }
}

/// Ends a handle of a communicator, and frees MPI's own unless some rank uses it. Collective.
///
/// # Safety
/// `comm` is a handle, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_comm_free(comm: *mut *mut treefold_comm) -> Status {
    guard(|| {
        // SAFETY: the caller promises a handle, or NULL.
        let name = unsafe { read_handle("comm", comm) }?;
        if !name.is_null() {
            let world = &handle::object(name)?.world;
            if world.is_in_operator() {
                let rank = world.rank();
                return Err(of_transport(&Error::Nested { rank }));
            }
        }
        // SAFETY: as above.
        let Some(object) = unsafe { take_handle("comm", comm) }? else {
            return Ok(());
        };
        let duplicate = object.duplicate;
        drop(object);
        duplicate.free().map_err(|error| of_transport(&error))
    })
}

/// `treefold_interrupted`.
pub type Interrupted = Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>;

/// Sets what waits ask.
///
/// # Safety
/// The function may be called with this context, by this thread, while plans of this communicator live. It makes no call of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_comm_interruption(
    comm: *mut treefold_comm,
    interrupted: Interrupted,
    context: *mut c_void,
) -> Status {
    guard(|| {
        let world = handle::object(comm)?;
        world.set_interruption(interrupted.map(|interrupted| -> Interruption {
            // SAFETY: the caller promises that it can be called.
            Rc::new(move || unsafe { interrupted(context) } != 0)
        }));
        Ok(())
    })
}

/// Begins a plan.
fn settings(comm: &Comm, kind: Kind) -> Rc<RefCell<Settings>> {
    Rc::new(RefCell::new(Settings::new(comm.world.clone(), kind)))
}

/// Begins a plan for a type and an operator.
///
/// # Safety
/// `result` is room for a handle, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_builder_create(
    comm: *const treefold_comm,
    element_type: i32,
    op: i32,
    result: *mut *mut treefold_builder,
) -> Status {
    guard(|| {
        let world = handle::object(comm)?;
        place("result", result)?;
        let kind = Kind::builtin(ElementType::of_code(element_type)?, Builtin::of_code(op)?)?;
        let builder = handle::name(settings(&world, kind))?;
        // SAFETY: the caller promises room for a handle.
        unsafe { write_handle("result", result, builder) }
    })
}

/// Begins a plan of exact sums.
///
/// # Safety
/// `result` is room for a handle, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_builder_create_exact(
    comm: *const treefold_comm,
    element_type: i32,
    figure: i32,
    result: *mut *mut treefold_builder,
) -> Status {
    guard(|| {
        let world = handle::object(comm)?;
        place("result", result)?;
        let element_type = ElementType::of_code(element_type)?;
        let kind = Kind::Exact(element_type, Figure::of_code(figure, element_type)?);
        let builder = handle::name(settings(&world, kind))?;
        // SAFETY: the caller promises room for a handle.
        unsafe { write_handle("result", result, builder) }
    })
}

/// Begins a plan by key.
///
/// # Safety
/// `result` is room for a handle, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_builder_create_by_key(
    comm: *const treefold_comm,
    element_type: i32,
    figure: i32,
    keys: usize,
    result: *mut *mut treefold_builder,
) -> Status {
    guard(|| {
        let world = handle::object(comm)?;
        place("result", result)?;
        let keys = positive("keys", keys, usize::MAX)?;
        let kind = Kind::by_key(ElementType::of_code(element_type)?, figure, keys)?;
        let builder = handle::name(settings(&world, kind))?;
        // SAFETY: the caller promises room for a handle.
        unsafe { write_handle("result", result, builder) }
    })
}

/// Begins a plan for an operator of the program's.
///
/// # Safety
/// `name` is a text, `empty` is an item of so many bytes, `result` is room for a handle; each may be NULL. The operator does as
/// `treefold.h` says while plans of this builder live.
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
    guard(|| {
        let world = handle::object(comm)?;
        place("result", result)?;
        Words::of_item(item_bytes)?;
        // SAFETY: the caller promises a text.
        let name = unsafe { text("name", name) }?.to_owned();
        // SAFETY: the caller promises such an operator.
        let function = unsafe { Function::new(combine, context) }?;
        let item = Bytes::of("empty", empty, usize::from(!empty.is_null()), item_bytes)?;
        disjoint(item, Bytes::of_place("result", result)?)?;
        // SAFETY: the caller promises an item, or NULL.
        let empty = unsafe { item.read(empty) };
        let kind = Kind::User {
            name,
            item_bytes,
            function,
            empty: (!empty.is_empty()).then(|| empty.to_vec()),
        };
        let builder = handle::name(settings(&world, kind))?;
        // SAFETY: the caller promises room for a handle.
        unsafe { write_handle("result", result, builder) }
    })
}

/// Changes a builder's settings.
fn set(
    builder: *const treefold_builder,
    change: impl FnOnce(&mut Settings) -> Result<(), Failure>,
) -> Status {
    guard(|| change(&mut handle::object(builder)?.borrow_mut()))
}

/// This rank's items follow those of the ranks below.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_local_items(
    builder: *mut treefold_builder,
    items: u64,
) -> Status {
    set(builder, |settings| settings.set_share(Share::Local(items)))
}

/// This rank's items are ranges.
///
/// # Safety
/// `ranges` has n ranges.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_builder_extents(
    builder: *mut treefold_builder,
    ranges: *const treefold_range,
    n: usize,
) -> Status {
    set(builder, |settings| {
        let array = Bytes::of("ranges", ranges.cast(), n, size_of::<treefold_range>())?;
        array.aligned(align_of::<treefold_range>())?;
        // SAFETY: the caller promises n ranges.
        let array = unsafe { array.read(ranges.cast()) };
        let ranges = array.chunks_exact(size_of::<treefold_range>());
        let ranges = ranges.map(bytemuck::pod_read_unaligned::<[u64; 2]>);
        let ranges = ranges.map(|[begin, end]| begin..end).collect();
        settings.set_extents(ranges)
    })
}

/// The items lie by a rule, of which what this argument says can be wrong.
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

/// All ranks have the same number of items, or one more.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_even(builder: *mut treefold_builder, items: u64) -> Status {
    set_rule(builder, "items", |ranks| {
        Distribution::lower(items, ranks).map(Ownership::from)
    })
}

/// Blocks of items are dealt to the ranks in turn.
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

/// The items on all ranks, to be checked.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_items(builder: *mut treefold_builder, items: u64) -> Status {
    set(builder, |settings| settings.set_items(items))
}

/// The rank that gets the result of a reduce.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_root(builder: *mut treefold_builder, rank: c_int) -> Status {
    set(builder, |settings| settings.set_root(rank))
}

/// Who talks to whom.
///
/// # Safety
/// `name` is a text, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_builder_algorithm(
    builder: *mut treefold_builder,
    name: *const c_char,
) -> Status {
    set(builder, |settings| {
        // SAFETY: the caller promises a text.
        let name = unsafe { text("name", name) }?;
        let algorithm = name.parse::<Algorithm>();
        settings.algorithm = Some(algorithm.map_err(|error| Failure::argument("name", error))?);
        Ok(())
    })
}

/// The elements of an item.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_width(
    builder: *mut treefold_builder,
    elements: usize,
) -> Status {
    set(builder, |settings| {
        settings.set_width(positive("elements", elements, usize::MAX)?)
    })
}

/// The most blocks and ports that schedules take.
const PARAMETER_MAX: usize = 1 << 20;

/// A number of which there is at least one.
fn positive(name: &str, number: usize, most: usize) -> Result<usize, Failure> {
    if (1..=most).contains(&number) {
        return Ok(number);
    }
    let reason = match most {
        usize::MAX => format!("{number}, but it is at least 1"),
        most => format!("{number} is not from 1 to {most}"),
    };
    Err(Failure::argument(name, reason))
}

/// The column blocks of a row.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_blocks(builder: *mut treefold_builder, blocks: usize) -> Status {
    set(builder, |settings| {
        settings.blocks = Some(positive("blocks", blocks, PARAMETER_MAX)?);
        Ok(())
    })
}

/// The messages that a rank sends at once.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_ports(builder: *mut treefold_builder, ports: usize) -> Status {
    set(builder, |settings| {
        settings.ports = Some(positive("ports", ports, PARAMETER_MAX)?);
        Ok(())
    })
}

/// The ranks of a node.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_node_ranks(
    builder: *mut treefold_builder,
    ranks: usize,
) -> Status {
    set(builder, |settings| {
        settings.node_ranks = Some(positive("ranks", ranks, usize::MAX)?);
        Ok(())
    })
}

/// The longest message, in elements.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_message_limit(
    builder: *mut treefold_builder,
    elements: usize,
) -> Status {
    set(builder, |settings| {
        settings.message_limit = Some(positive("elements", elements, usize::MAX)?);
        Ok(())
    })
}

/// Builds without communicating.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_builder_agreed(builder: *mut treefold_builder) -> Status {
    set(builder, |settings| {
        settings.is_agreed = true;
        Ok(())
    })
}

/// Ends a builder.
///
/// # Safety
/// `builder` is a handle, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_builder_destroy(builder: *mut *mut treefold_builder) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { destroy("builder", builder) }
}

/// Builds a plan. Collective.
///
/// # Safety
/// `result` is room for a handle, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_plan_build(
    builder: *const treefold_builder,
    result: *mut *mut treefold_plan,
) -> Status {
    guard(|| {
        let builder = handle::object(builder)?;
        place("result", result)?;
        let plan = builder.borrow().build()?;
        // SAFETY: the caller promises room for a handle.
        unsafe { write_handle("result", result, handle::name(plan)?) }
    })
}

/// Ends a plan.
///
/// # Safety
/// `plan` is a handle, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_plan_destroy(plan: *mut *mut treefold_plan) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { destroy("plan", plan) }
}

/// The algorithm that runs for an operation.
///
/// # Safety
/// `name` is room for a pointer, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_plan_algorithm(
    plan: *const treefold_plan,
    operation: i32,
    name: *mut *const c_char,
) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        place("name", name)?;
        let algorithm = plan.algorithm(operation_of_code(operation)?);
        // SAFETY: the caller's promise is this function's.
        unsafe { write_algorithm(name, algorithm) }
    })
}

/// Leaves the name of an algorithm, or NULL for none.
///
/// # Safety
/// `name` is room for a pointer, or NULL.
unsafe fn write_algorithm(
    name: *mut *const c_char,
    algorithm: Option<Algorithm>,
) -> Result<(), Failure> {
    place("name", name)?;
    let text = algorithm.map_or(ptr::null(), |algorithm| c_name(algorithm).as_ptr());
    // SAFETY: not NULL and aligned, as was just found; the caller promises room for a pointer.
    unsafe { name.write(text) };
    Ok(())
}

/// This rank's columns of a reduce-scatter.
///
/// # Safety
/// `begin` and `end` are one number each, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_plan_scattered_columns(
    plan: *const treefold_plan,
    begin: *mut usize,
    end: *mut usize,
) -> Status {
    guard(|| {
        let columns = handle::object(plan)?.scattered_columns();
        disjoint(
            Bytes::of_place("begin", begin)?,
            Bytes::of_place("end", end)?,
        )?;
        // SAFETY: the caller promises a number.
        unsafe { write("begin", begin, columns.start) }?;
        // SAFETY: the caller promises a number.
        unsafe { write("end", end, columns.end) }
    })
}

/// Prints a plan.
///
/// # Safety
/// `text` is room for so many bytes, and `needed` is one number, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_plan_print(
    plan: *const treefold_plan,
    text: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        let place = Bytes::of_place("needed", needed)?;
        let array = Bytes::of("text", text.cast(), capacity, 1)?;
        disjoint(array, place)?;
        // SAFETY: the caller promises room for so many bytes.
        let room = unsafe { array.write(text.cast()) };
        let printed = plan.text();
        if let Some(last) = capacity.checked_sub(1) {
            let lengths = (0..=last.min(printed.len())).rev();
            let mut whole = lengths.filter(|&length| printed.is_char_boundary(length));
            let length = whole.next().expect("0 is a boundary");
            room[..length].copy_from_slice(&printed.as_bytes()[..length]);
            room[length] = 0;
        }
        // SAFETY: the caller promises a number.
        unsafe { write("needed", needed, printed.len() + 1) }
    })
}

/// Makes progress without waiting.
///
/// # Safety
/// `done` is one int, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_test(run: *const treefold_run, done: *mut c_int) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { started::test(run, done) }
}

/// Waits for so many seconds at most.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_wait_timeout(run: *const treefold_run, seconds: f64) -> Status {
    started::wait_timeout(run, seconds)
}

/// Whether a run of a plan was started, and neither waited for nor abandoned.
///
/// # Safety
/// `pending` is one int, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_plan_pending(
    plan: *const treefold_plan,
    pending: *mut c_int,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { started::pending(plan, pending) }
}

/// The plan of a run.
///
/// # Safety
/// `plan` is room for a handle, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_run_plan(
    run: *const treefold_run,
    plan: *mut *const treefold_plan,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { started::plan_of(run, plan) }
}

/// The algorithm of a run.
///
/// # Safety
/// `name` is room for a pointer, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_run_algorithm(
    run: *const treefold_run,
    name: *mut *const c_char,
) -> Status {
    guard(|| {
        let algorithm = handle::object(run)?.origin().algorithm;
        // SAFETY: the caller's promise is this function's.
        unsafe { write_algorithm(name, algorithm) }
    })
}

/// Waits for a run.
///
/// # Safety
/// `run` is a handle, `result` is m elements, and `is_mine` is one int; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_wait(
    run: *mut *mut treefold_run,
    result: *mut c_void,
    m: usize,
    is_mine: *mut c_int,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { entry::wait(run, (result, m), is_mine) }
}

/// Waits for a run by key, whose result becomes a state.
///
/// # Safety
/// `run` is a handle, and `is_mine` is one int; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_wait_keyed(
    run: *mut *mut treefold_run,
    keyed: *mut treefold_keyed,
    is_mine: *mut c_int,
) -> Status {
    // SAFETY: the caller's promise is this function's.
    unsafe { entry::wait_keyed(run, keyed, is_mine) }
}

/// Abandons a run.
///
/// # Safety
/// `run` is a handle, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_cancel(run: *mut *mut treefold_run) -> Status {
    guard(|| {
        // SAFETY: the caller promises a handle, or NULL.
        if let Some(object) = unsafe { take_handle("run", run) }? {
            object.cancel();
        }
        Ok(())
    })
}

/// The names of all algorithms, as C has texts.
fn algorithm_names() -> &'static [(Algorithm, CString)] {
    static NAMES: OnceLock<Vec<(Algorithm, CString)>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let named = |algorithm: Algorithm| {
            let name = CString::new(algorithm.name()).expect("no name has a 0");
            (algorithm, name)
        };
        Algorithm::all().map(named).collect()
    })
}

fn c_name(algorithm: Algorithm) -> &'static CStr {
    let found = algorithm_names()
        .iter()
        .find(|(known, _)| *known == algorithm);
    &found.expect("all algorithms are known").1
}

/// The number of algorithms.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_algorithm_count() -> usize {
    algorithm_names().len()
}

/// The name of an algorithm.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_algorithm_name(index: usize) -> *const c_char {
    let found = algorithm_names().get(index);
    found.map_or(ptr::null(), |(_, name)| name.as_ptr())
}
