//! Declares each of MPI's functions once, by its name and parameters.

#![expect(unsafe_code, reason = "MPI is a C library")]
#![allow(non_snake_case, reason = "MPI's names")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::ptr::NonNull;

use crate::constants::MPI_SUCCESS;
use crate::handle::{Comm, Datatype, Errhandler, Group, Info, Message, Op, Passed, Request, Win};
use crate::library::Library;
use crate::status::Status;

/// `MPI_User_function`: combines the elements of the first operand, which come from lower ranks, with the elements of the second, and
/// stores the results there. The last parameter points to a datatype, which [`Family::read`](crate::Family::read) reads.
pub type UserFunction = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut c_void);

/// `MPI_Comm_copy_attr_function`.
pub type CopyAttribute = unsafe extern "C" fn(
    Passed<Comm>,
    c_int,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_int,
) -> c_int;

/// A [`CopyAttribute`] that copies nothing, in place of `MPI_COMM_NULL_COPY_FN`, which differs from family to family.
///
/// # Safety
/// Only MPI may call this function: the last argument points to room for one int (MPI 4.1, 7.7.2).
pub unsafe extern "C" fn copy_no_attribute(
    _comm: Passed<Comm>,
    _key: c_int,
    _extra: *mut c_void,
    _value: *mut c_void,
    _copy: *mut c_void,
    is_copied: *mut c_int,
) -> c_int {
    // SAFETY: the caller has room for one int there.
    unsafe { *is_copied = 0 };
    MPI_SUCCESS
}

/// `MPI_Comm_delete_attr_function`.
pub type DeleteAttribute =
    unsafe extern "C" fn(Passed<Comm>, c_int, *mut c_void, *mut c_void) -> c_int;

/// A function's name and types, as this crate declares them.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The function's name in MPI.
    pub name: &'static str,
    /// The types of its parameters.
    pub parameters: &'static [&'static str],
    /// The type of its result.
    pub result: &'static str,
    /// Whether every library has the function.
    pub is_required: bool,
}

/// The C string of a text that ends with a null character.
const fn terminated(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name has one null character, at its end"),
    }
}

/// A function's two names: `MPI_` and `PMPI_`.
macro_rules! names {
    ($name:ident) => {{
        const NAMES: [&CStr; 2] = [
            terminated(concat!(stringify!($name), "\0")),
            terminated(concat!("P", stringify!($name), "\0")),
        ];
        NAMES
    }};
}

macro_rules! functions {
    (
        required {$(
            fn $name:ident($($parameter:ident: $type:ty),* $(,)?) -> $result:ty;
        )+}
        optional {$(
            fn $extra:ident($($extra_type:ty),* $(,)?) -> $extra_result:ty;
        )+}
    ) => {
        /// The addresses of MPI's functions.
        pub(crate) struct Functions {
            $($name: unsafe extern "C-unwind" fn($($type),*) -> $result,)+
            $($extra: Option<unsafe extern "C-unwind" fn($($extra_type),*) -> $extra_result>,)+
        }

        impl Functions {
            /// Looks up all functions by `find`, which gets both names of a function. The error is the name of a missing required function.
            ///
            /// # Safety
            /// `find` returns the address of MPI's function of that name, which stays valid until the process ends.
            pub(crate) unsafe fn fill(
                find: impl Fn([&'static CStr; 2]) -> Option<NonNull<c_void>>,
            ) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: {
                        let address = find(names!($name)).ok_or(stringify!($name))?;
                        // SAFETY: the caller promises MPI's function of this name, which has these parameters (MPI 4.1, A.3), with handles
                        // as words (see the crate's documentation). Both types are addresses of one size.
                        unsafe {
                            mem::transmute::<
                                NonNull<c_void>,
                                unsafe extern "C-unwind" fn($($type),*) -> $result,
                            >(address)
                        }
                    },)+
                    $($extra: find(names!($extra)).map(|address| {
                        // SAFETY: as above; in every library that has a function of this name, it has these parameters.
                        unsafe {
                            mem::transmute::<
                                NonNull<c_void>,
                                unsafe extern "C-unwind" fn($($extra_type),*) -> $extra_result,
                            >(address)
                        }
                    }),)+
                })
            }

            pub(crate) const SIGNATURES: &'static [Signature] = &[
                $(Signature {
                    name: stringify!($name),
                    parameters: &[$(stringify!($type)),*],
                    result: stringify!($result),
                    is_required: true,
                },)+
                $(Signature {
                    name: stringify!($extra),
                    parameters: &[$(stringify!($extra_type)),*],
                    result: stringify!($extra_result),
                    is_required: false,
                },)+
            ];
        }

        /// MPI's functions.
        impl Library {
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                ///
                /// # Safety
                /// The MPI standard's rules for callers hold: MPI is initialised, if the function requires it; handles are live handles of
                /// this library; buffers are as large as counts and datatypes say.
                #[allow(clippy::too_many_arguments, reason = "MPI's parameters")]
                #[inline]
                pub unsafe fn $name(&self, $($parameter: $type),*) -> $result {
                    // SAFETY: the function requires what the caller promises.
                    unsafe { (self.functions.$name)($($parameter),*) }
                }
            )+
            $(
                #[doc = concat!("`", stringify!($extra), "`, if the library has it.")]
                #[inline]
                pub fn $extra(
                    &self,
                ) -> Option<unsafe extern "C-unwind" fn($($extra_type),*) -> $extra_result> {
                    self.functions.$extra
                }
            )+
        }
    };
}

functions! {
    required {
        // Initialisation, finalisation, versions.
        fn MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int;
        fn MPI_Init_thread(argc: *mut c_int, argv: *mut *mut *mut c_char, required: c_int, provided: *mut c_int) -> c_int;
        fn MPI_Initialized(flag: *mut c_int) -> c_int;
        fn MPI_Query_thread(provided: *mut c_int) -> c_int;
        fn MPI_Is_thread_main(flag: *mut c_int) -> c_int;
        fn MPI_Finalize() -> c_int;
        fn MPI_Finalized(flag: *mut c_int) -> c_int;
        fn MPI_Abort(comm: Comm, code: c_int) -> c_int;
        fn MPI_Get_version(version: *mut c_int, subversion: *mut c_int) -> c_int;
        fn MPI_Get_library_version(version: *mut c_char, length: *mut c_int) -> c_int;
        fn MPI_Get_processor_name(name: *mut c_char, length: *mut c_int) -> c_int;
        // Errors.
        fn MPI_Error_class(code: c_int, class: *mut c_int) -> c_int;
        fn MPI_Error_string(code: c_int, text: *mut c_char, length: *mut c_int) -> c_int;
        fn MPI_Add_error_class(class: *mut c_int) -> c_int;
        fn MPI_Add_error_code(class: c_int, code: *mut c_int) -> c_int;
        fn MPI_Add_error_string(code: c_int, text: *const c_char) -> c_int;
        fn MPI_Errhandler_free(handler: *mut Errhandler) -> c_int;
        fn MPI_Comm_set_errhandler(comm: Comm, handler: Errhandler) -> c_int;
        fn MPI_Comm_get_errhandler(comm: Comm, handler: *mut Errhandler) -> c_int;
        fn MPI_Comm_call_errhandler(comm: Comm, code: c_int) -> c_int;
        // Communicators and groups.
        fn MPI_Comm_rank(comm: Comm, rank: *mut c_int) -> c_int;
        fn MPI_Comm_size(comm: Comm, size: *mut c_int) -> c_int;
        fn MPI_Comm_remote_size(comm: Comm, size: *mut c_int) -> c_int;
        fn MPI_Comm_test_inter(comm: Comm, flag: *mut c_int) -> c_int;
        fn MPI_Comm_compare(left: Comm, right: Comm, result: *mut c_int) -> c_int;
        fn MPI_Comm_dup(comm: Comm, duplicate: *mut Comm) -> c_int;
        fn MPI_Comm_create(comm: Comm, group: Group, created: *mut Comm) -> c_int;
        fn MPI_Comm_split(comm: Comm, color: c_int, key: c_int, part: *mut Comm) -> c_int;
        fn MPI_Comm_split_type(comm: Comm, split_type: c_int, key: c_int, info: Info, part: *mut Comm) -> c_int;
        fn MPI_Comm_free(comm: *mut Comm) -> c_int;
        fn MPI_Comm_disconnect(comm: *mut Comm) -> c_int;
        fn MPI_Comm_get_name(comm: Comm, name: *mut c_char, length: *mut c_int) -> c_int;
        fn MPI_Comm_group(comm: Comm, group: *mut Group) -> c_int;
        fn MPI_Comm_get_parent(parent: *mut Comm) -> c_int;
        fn MPI_Comm_spawn(command: *const c_char, arguments: *mut *mut c_char, processes: c_int, info: Info, root: c_int, comm: Comm, between: *mut Comm, codes: *mut c_int) -> c_int;
        fn MPI_Intercomm_create(local: Comm, leader: c_int, peers: Comm, remote_leader: c_int, tag: c_int, between: *mut Comm) -> c_int;
        fn MPI_Intercomm_merge(between: Comm, high: c_int, merged: *mut Comm) -> c_int;
        fn MPI_Group_size(group: Group, size: *mut c_int) -> c_int;
        fn MPI_Group_translate_ranks(group: Group, count: c_int, ranks: *const c_int, other: Group, others: *mut c_int) -> c_int;
        fn MPI_Group_free(group: *mut Group) -> c_int;
        // Attributes.
        fn MPI_Comm_create_keyval(copy: Option<CopyAttribute>, delete: Option<DeleteAttribute>, key: *mut c_int, extra: *mut c_void) -> c_int;
        fn MPI_Comm_free_keyval(key: *mut c_int) -> c_int;
        fn MPI_Comm_set_attr(comm: Comm, key: c_int, value: *mut c_void) -> c_int;
        fn MPI_Comm_get_attr(comm: Comm, key: c_int, value: *mut c_void, flag: *mut c_int) -> c_int;
        fn MPI_Comm_delete_attr(comm: Comm, key: c_int) -> c_int;
        // Messages.
        fn MPI_Send(buffer: *const c_void, count: c_int, datatype: Datatype, to: c_int, tag: c_int, comm: Comm) -> c_int;
        fn MPI_Recv(buffer: *mut c_void, count: c_int, datatype: Datatype, from: c_int, tag: c_int, comm: Comm, status: *mut Status) -> c_int;
        fn MPI_Isend(buffer: *const c_void, count: c_int, datatype: Datatype, to: c_int, tag: c_int, comm: Comm, request: *mut Request) -> c_int;
        fn MPI_Issend(buffer: *const c_void, count: c_int, datatype: Datatype, to: c_int, tag: c_int, comm: Comm, request: *mut Request) -> c_int;
        fn MPI_Irecv(buffer: *mut c_void, count: c_int, datatype: Datatype, from: c_int, tag: c_int, comm: Comm, request: *mut Request) -> c_int;
        fn MPI_Probe(from: c_int, tag: c_int, comm: Comm, status: *mut Status) -> c_int;
        fn MPI_Iprobe(from: c_int, tag: c_int, comm: Comm, flag: *mut c_int, status: *mut Status) -> c_int;
        fn MPI_Improbe(from: c_int, tag: c_int, comm: Comm, flag: *mut c_int, message: *mut Message, status: *mut Status) -> c_int;
        fn MPI_Mrecv(buffer: *mut c_void, count: c_int, datatype: Datatype, message: *mut Message, status: *mut Status) -> c_int;
        fn MPI_Test(request: *mut Request, flag: *mut c_int, status: *mut Status) -> c_int;
        fn MPI_Wait(request: *mut Request, status: *mut Status) -> c_int;
        fn MPI_Request_get_status(request: Request, flag: *mut c_int, status: *mut Status) -> c_int;
        fn MPI_Cancel(request: *mut Request) -> c_int;
        fn MPI_Request_free(request: *mut Request) -> c_int;
        fn MPI_Test_cancelled(status: *const Status, flag: *mut c_int) -> c_int;
        fn MPI_Get_count(status: *const Status, datatype: Datatype, count: *mut c_int) -> c_int;
        // Collectives.
        fn MPI_Barrier(comm: Comm) -> c_int;
        fn MPI_Ibarrier(comm: Comm, request: *mut Request) -> c_int;
        fn MPI_Bcast(buffer: *mut c_void, count: c_int, datatype: Datatype, root: c_int, comm: Comm) -> c_int;
        fn MPI_Gather(send: *const c_void, send_count: c_int, send_type: Datatype, receive: *mut c_void, receive_count: c_int, receive_type: Datatype, root: c_int, comm: Comm) -> c_int;
        fn MPI_Allgather(send: *const c_void, send_count: c_int, send_type: Datatype, receive: *mut c_void, receive_count: c_int, receive_type: Datatype, comm: Comm) -> c_int;
        fn MPI_Reduce(send: *const c_void, receive: *mut c_void, count: c_int, datatype: Datatype, op: Op, root: c_int, comm: Comm) -> c_int;
        fn MPI_Allreduce(send: *const c_void, receive: *mut c_void, count: c_int, datatype: Datatype, op: Op, comm: Comm) -> c_int;
        fn MPI_Reduce_scatter(send: *const c_void, receive: *mut c_void, counts: *const c_int, datatype: Datatype, op: Op, comm: Comm) -> c_int;
        fn MPI_Reduce_scatter_block(send: *const c_void, receive: *mut c_void, count: c_int, datatype: Datatype, op: Op, comm: Comm) -> c_int;
        fn MPI_Scan(send: *const c_void, receive: *mut c_void, count: c_int, datatype: Datatype, op: Op, comm: Comm) -> c_int;
        fn MPI_Exscan(send: *const c_void, receive: *mut c_void, count: c_int, datatype: Datatype, op: Op, comm: Comm) -> c_int;
        fn MPI_Iallreduce(send: *const c_void, receive: *mut c_void, count: c_int, datatype: Datatype, op: Op, comm: Comm, request: *mut Request) -> c_int;
        fn MPI_Iallgather(send: *const c_void, send_count: c_int, send_type: Datatype, receive: *mut c_void, receive_count: c_int, receive_type: Datatype, comm: Comm, request: *mut Request) -> c_int;
        fn MPI_Igather(send: *const c_void, send_count: c_int, send_type: Datatype, receive: *mut c_void, receive_count: c_int, receive_type: Datatype, root: c_int, comm: Comm, request: *mut Request) -> c_int;
        fn MPI_Ialltoallv(send: *const c_void, send_counts: *const c_int, send_begins: *const c_int, send_type: Datatype, receive: *mut c_void, receive_counts: *const c_int, receive_begins: *const c_int, receive_type: Datatype, comm: Comm, request: *mut Request) -> c_int;
        // Operators and datatypes.
        fn MPI_Op_create(function: Option<UserFunction>, commutes: c_int, op: *mut Op) -> c_int;
        fn MPI_Op_free(op: *mut Op) -> c_int;
        fn MPI_Type_contiguous(count: c_int, of: Datatype, datatype: *mut Datatype) -> c_int;
        fn MPI_Type_commit(datatype: *mut Datatype) -> c_int;
        fn MPI_Type_free(datatype: *mut Datatype) -> c_int;
        fn MPI_Type_size(datatype: Datatype, bytes: *mut c_int) -> c_int;
        fn MPI_Type_get_extent(datatype: Datatype, lower_bound_bytes: *mut isize, extent_bytes: *mut isize) -> c_int;
        fn MPI_Type_get_envelope(datatype: Datatype, integers: *mut c_int, addresses: *mut c_int, datatypes: *mut c_int, combiner: *mut c_int) -> c_int;
        fn MPI_Type_get_name(datatype: Datatype, name: *mut c_char, length: *mut c_int) -> c_int;
        // Windows.
        fn MPI_Win_allocate_shared(bytes: isize, unit_bytes: c_int, info: Info, comm: Comm, base: *mut c_void, win: *mut Win) -> c_int;
        fn MPI_Win_shared_query(win: Win, rank: c_int, bytes: *mut isize, unit_bytes: *mut c_int, base: *mut c_void) -> c_int;
        fn MPI_Win_set_errhandler(win: Win, handler: Errhandler) -> c_int;
        fn MPI_Win_lock_all(assertion: c_int, win: Win) -> c_int;
        fn MPI_Win_unlock_all(win: Win) -> c_int;
        fn MPI_Win_sync(win: Win) -> c_int;
        fn MPI_Win_free(win: *mut Win) -> c_int;
    }
    optional {
        // The standard ABI's version (MPI 5.0, chapter 20).
        fn MPI_Abi_get_version(*mut c_int, *mut c_int) -> c_int;
        // Conversions of handles to and from Fortran: functions in Open MPI, macros in the MPICH family, other names in the standard ABI.
        fn MPI_Comm_c2f(Comm) -> c_int;
        fn MPI_Comm_f2c(c_int) -> Passed<Comm>;
        fn MPI_Type_c2f(Datatype) -> c_int;
        fn MPI_Type_f2c(c_int) -> Passed<Datatype>;
        fn MPI_Op_c2f(Op) -> c_int;
        fn MPI_Op_f2c(c_int) -> Passed<Op>;
        fn MPI_Request_c2f(Request) -> c_int;
        fn MPI_Request_f2c(c_int) -> Passed<Request>;
        fn MPI_Comm_toint(Comm) -> c_int;
        fn MPI_Comm_fromint(c_int) -> Passed<Comm>;
        fn MPI_Type_toint(Datatype) -> c_int;
        fn MPI_Type_fromint(c_int) -> Passed<Datatype>;
        fn MPI_Op_toint(Op) -> c_int;
        fn MPI_Op_fromint(c_int) -> Passed<Op>;
        fn MPI_Request_toint(Request) -> c_int;
        fn MPI_Request_fromint(c_int) -> Passed<Request>;
        // Fortran's types by precision and range, if the library is built with Fortran.
        fn MPI_Type_create_f90_real(c_int, c_int, *mut Datatype) -> c_int;
        fn MPI_Type_create_f90_complex(c_int, c_int, *mut Datatype) -> c_int;
        // Large counts (MPI 4.0).
        fn MPI_Allreduce_c(*const c_void, *mut c_void, i64, Datatype, Op, Comm) -> c_int;
        fn MPI_Reduce_c(*const c_void, *mut c_void, i64, Datatype, Op, c_int, Comm) -> c_int;
        fn MPI_Reduce_scatter_c(*const c_void, *mut c_void, *const i64, Datatype, Op, Comm) -> c_int;
        fn MPI_Reduce_scatter_block_c(*const c_void, *mut c_void, i64, Datatype, Op, Comm) -> c_int;
        fn MPI_Scan_c(*const c_void, *mut c_void, i64, Datatype, Op, Comm) -> c_int;
        fn MPI_Exscan_c(*const c_void, *mut c_void, i64, Datatype, Op, Comm) -> c_int;
        // A persistent collective (MPI 4.0), and its name in Open MPI 4.
        fn MPI_Alltoallv_init(*const c_void, *const c_int, *const c_int, Datatype, *mut c_void, *const c_int, *const c_int, Datatype, Comm, Info, *mut Request) -> c_int;
        fn MPIX_Alltoallv_init(*const c_void, *const c_int, *const c_int, Datatype, *mut c_void, *const c_int, *const c_int, Datatype, Comm, Info, *mut Request) -> c_int;
        // User-level failure mitigation.
        fn MPIX_Comm_revoke(Comm) -> c_int;
        fn MPIX_Comm_shrink(Comm, *mut Comm) -> c_int;
        fn MPIX_Comm_agree(Comm, *mut c_int) -> c_int;
        fn MPIX_Comm_get_failed(Comm, *mut Group) -> c_int;
    }
}
