//! Tests processes that a program spawns: ranks of another world, which have numbered their communicators separately. Both sides exchange
//! messages, and free communicators in several orders. `cargo xtask test` starts this program with `mpirun`; the program spawns itself.

#![expect(unsafe_code, reason = "MPI is a C library")]
#![expect(clippy::print_stdout, reason = "the program's output is its report")]

use std::env;
use std::ffi::{CString, c_int};
use std::os::unix::ffi::OsStrExt as _;
use std::ptr;

use comm::mpi::MpiCommunicator;
use comm::mpi::mpi_library::{Comm, Library, MPI_SUCCESS};
use comm::{Communicator, Tag, collective, mpi, text};

const CHILDREN: c_int = 2;

const ROUNDS: usize = 2;

/// The side of a process: it has spawned others, or was spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Parents,
    Children,
}

fn main() {
    if !mpi::is_launched() {
        println!("skipped: no launcher has started ranks");
        return;
    }
    mpi::run(|world| check(&world)).expect("MPI starts once");
}

fn check(world: &MpiCommunicator) {
    exchange(world);
    let library = mpi::library().expect("the library is chosen");
    let (between, side) = match parent(library) {
        Some(between) => (between, Side::Children),
        None if !can_start(library) => {
            if world.rank() == 0 {
                println!("skipped: this MPI library cannot start processes");
            }
            return;
        }
        None => (start(library), Side::Parents),
    };
    for round in 0..ROUNDS {
        together(library, between, side, round);
    }
    exchange(world);
    if world.rank() == 0 && side == Side::Parents {
        let ranks = text::counted(world.size(), "rank");
        println!("comm on MPI, {ranks} and {CHILDREN} that they have spawned: passed");
    }
}

/// Whether the library can spawn processes. MPICH 4.0 over UCX, as in Debian, cannot; later versions can.
fn can_start(library: &Library) -> bool {
    let version = library.version();
    !(library.choice().version.starts_with("MPICH Version: 4.0") && version.contains("ch4:ucx"))
}

/// The intercommunicator with the processes that have spawned this process, if any have.
fn parent(library: &Library) -> Option<Comm> {
    let mut parent = Comm::UNSET;
    // SAFETY: MPI is initialised; `parent` has room for one handle.
    let code = unsafe { library.MPI_Comm_get_parent(&raw mut parent) };
    assert_eq!(code, MPI_SUCCESS);
    (parent != library.handles.MPI_COMM_NULL).then_some(parent)
}

/// Spawns processes of this program, and returns the intercommunicator with them. Collective.
fn start(library: &Library) -> Comm {
    let own = env::current_exe().expect("this program is running");
    let own = CString::new(own.as_os_str().as_bytes()).expect("a path has no null character");
    let handles = &library.handles;
    let (info, world) = (handles.MPI_INFO_NULL, handles.MPI_COMM_WORLD);
    let mut between = Comm::UNSET;
    // SAFETY: MPI is initialised; the path is a C string; MPI_ARGV_NULL and MPI_ERRCODES_IGNORE are NULL in every family (`mpi.h`).
    let code = unsafe {
        library.MPI_Comm_spawn(
            own.as_ptr(),
            ptr::null_mut(),
            CHILDREN,
            info,
            0,
            world,
            &raw mut between,
            ptr::null_mut(),
        )
    };
    assert_eq!(code, MPI_SUCCESS, "two processes can be spawned");
    between
}

/// A communicator of both sides. Collective.
fn merge(library: &Library, between: Comm, side: Side) -> Comm {
    let mut merged = Comm::UNSET;
    let is_high = (side == Side::Children).into();
    // SAFETY: the intercommunicator is live; `merged` has room for one handle.
    let code = unsafe { library.MPI_Intercomm_merge(between, is_high, &raw mut merged) };
    assert_eq!(code, MPI_SUCCESS);
    merged
}

/// Makes and frees communicators of both sides, while each side has others of its own: the children have more than the parents.
fn together(library: &Library, between: Comm, side: Side, round: usize) {
    let own_count = match side {
        Side::Parents => 1,
        Side::Children => 3,
    };
    let world = library.handles.MPI_COMM_WORLD;
    let own: Vec<_> = (0..own_count).map(|_| duplicate(world)).collect();
    let mut merged = merge(library, between, side);
    drop(duplicate(merged));
    // Frees the duplicate that was just dropped.
    let both = duplicate(merged);
    if round.is_multiple_of(2) {
        own.into_iter().for_each(free);
        free(both);
    } else {
        free(both);
        own.iter().for_each(exchange);
        own.into_iter().for_each(free);
    }
    // SAFETY: the communicator is live, and is not used afterwards.
    let code = unsafe { library.MPI_Comm_free(&raw mut merged) };
    assert_eq!(code, MPI_SUCCESS);
}

fn duplicate(parent: Comm) -> MpiCommunicator {
    // SAFETY: MPI is initialised, and every caller has a live communicator.
    let copy = unsafe { MpiCommunicator::duplicate(parent) };
    let copy = copy.expect("every communicator can be duplicated");
    exchange(&copy);
    copy
}

/// Every rank receives from every other rank.
fn exchange(world: &MpiCommunicator) {
    let own = u8::try_from(world.rank()).expect("there are few ranks");
    let ranks = collective::allgather(world, Tag::CONTROL, vec![own]).expect("all ranks take part");
    let expected: Vec<u8> = (0..).take(world.size()).collect();
    assert_eq!(ranks, expected);
}

/// Drops a communicator, and frees the library's communicator behind it. Collective.
fn free(world: MpiCommunicator) {
    let library_own = world.library_communicator();
    drop(world);
    library_own.free().expect("MPI can be called");
}
