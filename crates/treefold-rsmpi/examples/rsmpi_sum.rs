//! A program written with rsmpi, whose sum has the same bits on any number of ranks.
//!
//! ```text
//! cargo build --release --package treefold-rsmpi --example rsmpi_sum
//! mpirun -n 3 target/release/examples/rsmpi_sum
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::error::Error;

use mpi::topology::Communicator as _;
use treefold::{Distribution, Plan};

const ITEMS: u64 = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let threading = mpi::Threading::Funneled;
    let (universe, _) = mpi::initialize_with_threading(threading).ok_or("MPI is initialised")?;
    let processes = universe.world();

    // Any communicator of the program can be used.
    let world = treefold_rsmpi::world(&processes)?;
    let own = Distribution::lower(ITEMS, world.size())?.range(world.rank());
    let items: Vec<f64> = own.map(|i| 1.0 / (i + 1) as f64).collect();
    let builder = Plan::builder(&world).local_items(items.len() as u64);
    let total = builder.build::<f64>()?.allreduce(&items)?;

    if processes.rank() == 0 {
        println!("{:016x} {total}", total.to_bits());
    }
    Ok(())
}
