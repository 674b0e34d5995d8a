//! Adds one number from each rank, with whichever MPI library is installed. Build this program once, and start it with any launcher:
//!
//! ```text
//! cargo build --example allreduce
//! mpirun.openmpi -n 3 target/debug/examples/allreduce
//! mpirun.mpich -n 3 target/debug/examples/allreduce
//! ```

#![expect(unsafe_code, reason = "MPI is a C library")]
#![expect(clippy::print_stdout, reason = "the program's output is its result")]

use std::ffi::c_int;
use std::ptr;

use mpi_library::{Library, MPI_SUCCESS, Options};

fn main() {
    let options = Options {
        variable: Some("MPI_LIBRARY"),
        ..Options::default()
    };
    let mpi = match Library::choose(&options) {
        Ok(mpi) => mpi,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    };
    let mut provided = 0;
    let funneled = mpi.constants.MPI_THREAD_FUNNELED;
    // SAFETY: MPI is initialised once, and NULL stands for the arguments (MPI 4.1, 11.2.1); `provided` is an int.
    let code = unsafe {
        mpi.MPI_Init_thread(
            ptr::null_mut(),
            ptr::null_mut(),
            funneled,
            &raw mut provided,
        )
    };
    assert_eq!(code, MPI_SUCCESS);
    let (mut rank, mut size): (c_int, c_int) = (0, 0);
    let world = mpi.handles.MPI_COMM_WORLD;
    // SAFETY: MPI is initialised; `rank` is a live int.
    unsafe { mpi.MPI_Comm_rank(world, &raw mut rank) };
    // SAFETY: as above.
    unsafe { mpi.MPI_Comm_size(world, &raw mut size) };
    let own = f64::from(rank + 1);
    let mut sum = 0.0_f64;
    // SAFETY: both buffers are one live f64, and are distinct.
    unsafe {
        mpi.MPI_Allreduce(
            (&raw const own).cast(),
            (&raw mut sum).cast(),
            1,
            mpi.handles.MPI_DOUBLE,
            mpi.handles.MPI_SUM,
            world,
        )
    };
    if rank == 0 {
        println!("{}", mpi.choice());
        println!("the sum of 1 to {size} is {sum}");
    }
    // SAFETY: nothing is under way.
    unsafe { mpi.MPI_Finalize() };
}
