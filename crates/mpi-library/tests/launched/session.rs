//! Makes a rank's calls to MPI, of all kinds that depend on a family's handles, statuses and constants.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use mpi_library::{
    Comm, Datatype, Group, Handle, Library, MPI_SUCCESS, Message, Op, Options, Passed, Request,
    Status, Win, copy_no_attribute,
};

/// The table of functions, for callbacks, which get no context from MPI.
static MPI: OnceLock<&'static Library> = OnceLock::new();

/// The communicator whose attribute was deleted.
static DELETED: AtomicUsize = AtomicUsize::new(0);

/// The datatype that the operator was called with.
static COMBINED: AtomicUsize = AtomicUsize::new(0);

/// Calls a function, which must succeed.
macro_rules! call {
    ($mpi:ident.$name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: handles are live and the library's, buffers are as long as counts say, and outputs have room for what is written.
        let code = unsafe { $mpi.$name($($argument),*) };
        assert_eq!(code, MPI_SUCCESS, "{}", stringify!($name));
    }};
}

pub(crate) fn run(options: &Options<'_>) {
    let mpi = Library::choose(options).unwrap_or_else(|error| panic!("{error}"));
    let mpi = *MPI.get_or_init(|| mpi);
    let mut flag = 0;
    call!(mpi.MPI_Initialized(&raw mut flag));
    assert_eq!(flag, 0);
    let (funneled, mut provided) = (mpi.constants.MPI_THREAD_FUNNELED, -1);
    call!(mpi.MPI_Init_thread(
        ptr::null_mut(),
        ptr::null_mut(),
        funneled,
        &raw mut provided
    ));
    assert!(provided >= funneled, "{provided}");
    let world = mpi.handles.MPI_COMM_WORLD;
    let (mut rank, mut size) = (-1, 0);
    call!(mpi.MPI_Comm_rank(world, &raw mut rank));
    call!(mpi.MPI_Comm_size(world, &raw mut size));
    let mut comm = Comm::UNSET;
    call!(mpi.MPI_Comm_dup(world, &raw mut comm));
    call!(mpi.MPI_Comm_set_errhandler(comm, mpi.handles.MPI_ERRORS_RETURN));
    communicators(mpi, world, comm);
    collectives(mpi, comm, rank, size);
    messages(mpi, comm, rank, size);
    errors(mpi, comm, size);
    windows(mpi, comm);
    attributes(mpi, comm);
    call!(mpi.MPI_Comm_free(&raw mut comm));
    assert_eq!(comm, mpi.handles.MPI_COMM_NULL);
    call!(mpi.MPI_Finalize());
    println!("rank {rank} of {size} ranks: right");
}

fn communicators(mpi: &Library, world: Comm, comm: Comm) {
    let mut result = -1;
    call!(mpi.MPI_Comm_compare(world, comm, &raw mut result));
    assert_eq!(result, mpi.constants.MPI_CONGRUENT);
    call!(mpi.MPI_Comm_compare(world, world, &raw mut result));
    assert_eq!(result, mpi.constants.MPI_IDENT);
    call!(mpi.MPI_Comm_test_inter(comm, &raw mut result));
    assert_eq!(result, 0);
    let mut parent = Comm::UNSET;
    call!(mpi.MPI_Comm_get_parent(&raw mut parent));
    assert_eq!(parent, mpi.handles.MPI_COMM_NULL);
    for comm in [world, comm] {
        assert_eq!(mpi.family().checked(comm.word()), Ok(comm));
        // SAFETY: the communicator is live.
        let number = unsafe { mpi.comm_to_fortran(comm) }.expect("every library has it");
        // SAFETY: the number is a communicator's.
        assert_eq!(unsafe { mpi.comm_from_fortran(number) }, Some(comm));
    }
    let mut group = Group::UNSET;
    call!(mpi.MPI_Comm_group(comm, &raw mut group));
    let (mut created, mut size) = (Comm::UNSET, 0);
    call!(mpi.MPI_Comm_create(comm, group, &raw mut created));
    call!(mpi.MPI_Group_size(group, &raw mut size));
    call!(mpi.MPI_Group_free(&raw mut group));
    assert_eq!(group, mpi.handles.MPI_GROUP_NULL);
    call!(mpi.MPI_Comm_free(&raw mut created));
    let mut none = Comm::UNSET;
    call!(mpi.MPI_Comm_split(comm, mpi.constants.MPI_UNDEFINED, 0, &raw mut none));
    assert_eq!(none, mpi.handles.MPI_COMM_NULL);
    let (mut bound, mut is_set) = (ptr::null::<c_int>(), 0);
    let key = mpi.constants.MPI_TAG_UB;
    call!(mpi.MPI_Comm_get_attr(world, key, (&raw mut bound).cast(), &raw mut is_set));
    assert_ne!(is_set, 0);
    // SAFETY: the attribute's value is a pointer to an int (MPI 4.1, 9.1.2).
    assert!(unsafe { *bound } >= 32767);
}

/// A user-defined operator, which combines [a, b] of lower ranks and [c, d] to [a, d].
unsafe extern "C" fn combine(
    left: *mut c_void,
    right: *mut c_void,
    length: *mut c_int,
    datatype: *mut c_void,
) {
    let family = MPI.get().expect("MPI is in use").family();
    // SAFETY: MPI passes a pointer to a handle of its own.
    let datatype: Datatype = unsafe { family.read(datatype, 0) };
    COMBINED.store(datatype.word(), Ordering::Relaxed);
    // SAFETY: MPI passes the number of elements.
    let count = usize::try_from(unsafe { *length }).expect("not negative");
    for element in 0..count {
        // SAFETY: each element is two f64s, and there are `count` of them.
        let lower = unsafe { left.cast::<[f64; 2]>().add(element) };
        // SAFETY: as above.
        let upper = unsafe { right.cast::<[f64; 2]>().add(element) };
        // SAFETY: MPI passes elements to read.
        let lower = unsafe { lower.read() };
        // SAFETY: MPI passes elements to write, which do not overlap those of `left`.
        let upper = unsafe { &mut *upper };
        upper[0] = lower[0];
    }
}

/// The reduction of one element of this datatype from each rank; `result` has room for it.
fn allreduce<T: Copy>(
    mpi: &Library,
    comm: Comm,
    (datatype, op): (Datatype, Op),
    own: T,
    mut result: T,
) -> T {
    call!(mpi.MPI_Allreduce(
        (&raw const own).cast(),
        (&raw mut result).cast(),
        1,
        datatype,
        op,
        comm
    ));
    result
}

fn combiner(mpi: &Library, datatype: Datatype) -> c_int {
    let (mut integers, mut addresses, mut datatypes, mut combiner) = (0, 0, 0, -1);
    call!(mpi.MPI_Type_get_envelope(
        datatype,
        &raw mut integers,
        &raw mut addresses,
        &raw mut datatypes,
        &raw mut combiner
    ));
    combiner
}

fn collectives(mpi: &Library, comm: Comm, rank: c_int, size: c_int) {
    let own = f64::from(rank + 1);
    let (double, add) = (mpi.handles.MPI_DOUBLE, mpi.handles.MPI_SUM);
    let sum = allreduce(mpi, comm, (double, add), own, 0.0);
    let expected = f64::from(size * (size + 1) / 2);
    assert_eq!(sum.to_bits(), expected.to_bits());
    let mut in_place = own;
    let place = mpi.constants.in_place();
    call!(mpi.MPI_Allreduce(place, (&raw mut in_place).cast(), 1, double, add, comm));
    assert_eq!(in_place.to_bits(), expected.to_bits());
    let ranks = u64::from(size.unsigned_abs());
    for (op, expected) in [
        (mpi.handles.MPI_MIN, 1),
        (mpi.handles.MPI_MAX, ranks),
        (
            mpi.handles.MPI_BOR,
            (1..=ranks).fold(0, |bits, rank| bits | rank),
        ),
    ] {
        let own = u64::from(rank.unsigned_abs()) + 1;
        let of = (mpi.handles.MPI_UINT64_T, op);
        assert_eq!(allreduce(mpi, comm, of, own, 0), expected);
    }
    let (mut pair, mut op) = (Datatype::UNSET, Op::UNSET);
    call!(mpi.MPI_Type_contiguous(2, double, &raw mut pair));
    call!(mpi.MPI_Type_commit(&raw mut pair));
    call!(mpi.MPI_Op_create(Some(combine), 0, &raw mut op));
    let ends = allreduce(mpi, comm, (pair, op), [own, own], [0.0; 2]);
    assert_eq!(
        ends.map(f64::to_bits),
        [1.0, f64::from(size)].map(f64::to_bits)
    );
    // The word is 0 if only other ranks have combined.
    let combined = COMBINED.load(Ordering::Relaxed);
    assert!([0, pair.word()].contains(&combined), "{combined:#x}");
    let contiguous = mpi.constants.MPI_COMBINER_CONTIGUOUS;
    assert_eq!(combiner(mpi, pair), contiguous);
    assert_eq!(combiner(mpi, double), mpi.constants.MPI_COMBINER_NAMED);
    call!(mpi.MPI_Op_free(&raw mut op));
    call!(mpi.MPI_Type_free(&raw mut pair));
    assert_eq!(
        (op, pair),
        (mpi.handles.MPI_OP_NULL, mpi.handles.MPI_DATATYPE_NULL)
    );
}

fn messages(mpi: &Library, comm: Comm, rank: c_int, size: c_int) {
    const TAG: c_int = 5;
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let byte = mpi.handles.MPI_BYTE;
    let (sent, mut received) = (
        [u8::try_from(rank).expect("there are few ranks"); 3],
        [0xff_u8; 3],
    );
    let mut request = Request::UNSET;
    // A rank that sends to itself posts the receive first, because MPICH may wait for it.
    if next == rank {
        call!(mpi.MPI_Irecv(
            received.as_mut_ptr().cast(),
            3,
            byte,
            before,
            TAG,
            comm,
            &raw mut request
        ));
        call!(mpi.MPI_Send(sent.as_ptr().cast(), 3, byte, next, TAG, comm));
        let mut status = Status::UNSET;
        call!(mpi.MPI_Wait(&raw mut request, &raw mut status));
        assert_eq!(status.tag(mpi.constants), TAG);
    } else {
        call!(mpi.MPI_Isend(
            sent.as_ptr().cast(),
            3,
            byte,
            next,
            TAG,
            comm,
            &raw mut request
        ));
        let (mut flag, mut message, mut status) = (0, Message::UNSET, Status::UNSET);
        let (any_source, any_tag) = (mpi.constants.MPI_ANY_SOURCE, mpi.constants.MPI_ANY_TAG);
        while flag == 0 {
            call!(mpi.MPI_Improbe(
                any_source,
                any_tag,
                comm,
                &raw mut flag,
                &raw mut message,
                &raw mut status
            ));
        }
        let of = (status.source(mpi.constants), status.tag(mpi.constants));
        assert_eq!(of, (before, TAG));
        let mut count = 0;
        call!(mpi.MPI_Get_count(&raw const status, byte, &raw mut count));
        assert_eq!(count, 3);
        let ignored = mpi.constants.status_ignore();
        call!(mpi.MPI_Mrecv(
            received.as_mut_ptr().cast(),
            3,
            byte,
            &raw mut message,
            ignored
        ));
        let mut done = 0;
        while done == 0 {
            call!(mpi.MPI_Test(&raw mut request, &raw mut done, ignored));
        }
    }
    assert_eq!(request, mpi.handles.MPI_REQUEST_NULL);
    assert_eq!(received.map(c_int::from), [before; 3]);
}

/// Sends to a rank that does not exist.
fn errors(mpi: &Library, comm: Comm, size: c_int) {
    let byte = mpi.handles.MPI_BYTE;
    // SAFETY: the call is erroneous, and the communicator returns errors (MPI 4.1, 9.3).
    let code = unsafe { mpi.MPI_Send(ptr::null(), 0, byte, size, 0, comm) };
    let mut class = 0;
    call!(mpi.MPI_Error_class(code, &raw mut class));
    assert_eq!(class, mpi.constants.MPI_ERR_RANK);
}

fn windows(mpi: &Library, comm: Comm) {
    let (info, shared) = (
        mpi.handles.MPI_INFO_NULL,
        mpi.constants.MPI_COMM_TYPE_SHARED,
    );
    let mut node = Comm::UNSET;
    call!(mpi.MPI_Comm_split_type(comm, shared, 0, info, &raw mut node));
    let (mut rank, mut size) = (0, 0);
    call!(mpi.MPI_Comm_rank(node, &raw mut rank));
    call!(mpi.MPI_Comm_size(node, &raw mut size));
    let (mut base, mut win) = (ptr::null_mut::<c_int>(), Win::UNSET);
    call!(mpi.MPI_Win_allocate_shared(64, 1, info, node, (&raw mut base).cast(), &raw mut win));
    call!(mpi.MPI_Win_set_errhandler(win, mpi.handles.MPI_ERRORS_RETURN));
    call!(mpi.MPI_Win_lock_all(mpi.constants.MPI_MODE_NOCHECK, win));
    // SAFETY: `base` points to this rank's part of the window, which no other rank touches before the barrier.
    unsafe { base.write(rank) };
    call!(mpi.MPI_Win_sync(win));
    call!(mpi.MPI_Barrier(node));
    call!(mpi.MPI_Win_sync(win));
    for peer in 0..size {
        let (mut bytes, mut unit, mut part) = (0, 0, ptr::null::<c_int>());
        call!(mpi.MPI_Win_shared_query(
            win,
            peer,
            &raw mut bytes,
            &raw mut unit,
            (&raw mut part).cast()
        ));
        assert!(bytes >= 64);
        // SAFETY: `part` points to the peer's part, which no rank writes after the barrier.
        assert_eq!(unsafe { *part }, peer);
    }
    call!(mpi.MPI_Barrier(node));
    call!(mpi.MPI_Win_unlock_all(win));
    call!(mpi.MPI_Win_free(&raw mut win));
    assert_eq!(win, mpi.handles.MPI_WIN_NULL);
    call!(mpi.MPI_Comm_free(&raw mut node));
}

unsafe extern "C" fn note(
    comm: Passed<Comm>,
    _key: c_int,
    _value: *mut c_void,
    _extra: *mut c_void,
) -> c_int {
    let family = MPI.get().expect("MPI is in use").family();
    DELETED.store(family.take(comm).word(), Ordering::Relaxed);
    MPI_SUCCESS
}

fn attributes(mpi: &Library, comm: Comm) {
    let mut key = mpi.constants.MPI_KEYVAL_INVALID;
    call!(mpi.MPI_Comm_create_keyval(
        Some(copy_no_attribute),
        Some(note),
        &raw mut key,
        ptr::null_mut()
    ));
    let value = ptr::without_provenance_mut::<c_void>(7);
    call!(mpi.MPI_Comm_set_attr(comm, key, value));
    let (mut found, mut is_set) = (ptr::null_mut::<c_void>(), 0);
    call!(mpi.MPI_Comm_get_attr(comm, key, (&raw mut found).cast(), &raw mut is_set));
    assert_eq!((found.addr(), is_set != 0), (7, true));
    let mut copy = Comm::UNSET;
    call!(mpi.MPI_Comm_dup(comm, &raw mut copy));
    call!(mpi.MPI_Comm_get_attr(copy, key, (&raw mut found).cast(), &raw mut is_set));
    assert_eq!(is_set, 0);
    call!(mpi.MPI_Comm_free(&raw mut copy));
    call!(mpi.MPI_Comm_delete_attr(comm, key));
    assert_eq!(DELETED.load(Ordering::Relaxed), comm.word());
    call!(mpi.MPI_Comm_free_keyval(&raw mut key));
    assert_eq!(key, mpi.constants.MPI_KEYVAL_INVALID);
}
