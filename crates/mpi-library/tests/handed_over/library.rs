//! A library that a program in C loads. The program passes it an MPI function or NULL, and a communicator.

#![expect(unsafe_code, reason = "C calls this library")]
#![expect(clippy::print_stdout, reason = "the test reads this output")]

use std::ffi::c_void;

use mpi_library::{Comm, Handle, Library, MPI_SUCCESS, Names, Options, Passed};

/// Prints the choice, the words of all predefined handles, and, if `comm` is not 0, the sum of 1 over its ranks.
///
/// # Safety
/// `comm` is 0, or a communicator of the library that has `function`, and MPI is initialised. `other` is NULL, or a function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hand_over(
    function: *const c_void,
    other: *const c_void,
    by_pmpi: i32,
    comm: Passed<Comm>,
) {
    let options = Options {
        function,
        opens: false,
        names: match by_pmpi {
            0 => Names::Mpi,
            _ => Names::Pmpi,
        },
        ..Options::default()
    };
    let mpi = match Library::choose(&options) {
        Ok(mpi) => mpi,
        Err(error) => {
            println!("error\t{error}");
            return;
        }
    };
    println!("choice\t{}", mpi.choice());
    for (name, word) in mpi.handles.words() {
        println!("table\t{name}\t{word}");
    }
    if !other.is_null() {
        match mpi.check_function(other) {
            Ok(()) => println!("other\tthe same"),
            Err(error) => println!("other\t{error}"),
        }
    }
    let comm = mpi.family().take(comm);
    if comm != Comm::UNSET {
        let (own, mut sum) = (1_i32, 0_i32);
        let (int, add) = (mpi.handles.MPI_INT, mpi.handles.MPI_SUM);
        let checked = mpi.family().checked::<Comm>(comm.word());
        assert_eq!(checked, Ok(comm));
        // SAFETY: the caller promises a communicator; both buffers are one live int.
        let code = unsafe {
            mpi.MPI_Allreduce(
                (&raw const own).cast(),
                (&raw mut sum).cast(),
                1,
                int,
                add,
                comm,
            )
        };
        assert_eq!(code, MPI_SUCCESS);
        println!("sum\t{sum}");
    }
}
