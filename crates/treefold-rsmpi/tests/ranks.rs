//! Checks worlds that are made from rsmpi's communicators. `cargo xtask test --stage rsmpi` starts this program by `mpirun`.

#![expect(clippy::print_stdout, reason = "its output is its report")]

use mpi::topology::{Color, Communicator as _};
use mpi::traits::CommunicatorCollectives as _;
use treefold::{Plan, World, threads};

fn main() {
    if !treefold::mpi::is_launched() {
        println!("skipped: no launcher has started ranks");
        return;
    }
    let initialised = mpi::initialize_with_threading(mpi::Threading::Funneled);
    let (universe, _) = initialised.expect("MPI starts once");
    let processes = universe.world();
    let world = treefold_rsmpi::world(&processes).expect("it is a communicator");
    assert_eq!(total(&world).to_bits(), expected(world.size()).to_bits());

    // Two groups of ranks, each in reverse order.
    let color = Color::with_value(processes.rank() % 2);
    let half = processes.split_by_color_with_key(color, -processes.rank());
    let half = half.expect("every rank has a color");
    let (of_half, to_free) = treefold_rsmpi::world_to_free(&half).expect("it is a communicator");
    assert_eq!(
        total(&of_half).to_bits(),
        expected(of_half.size()).to_bits()
    );

    // Makes a communicator from a world. The messages of the world and of the communicator do not mix.
    let back = treefold_rsmpi::communicator(&of_half).expect("MPI can be called");
    let back = back.expect("its ranks are processes");
    assert_eq!((back.rank(), back.size()), (half.rank(), half.size()));
    let mut ranks = vec![-1; of_half.size()];
    back.all_gather_into(&back.rank(), &mut ranks[..]);
    assert!(ranks.into_iter().eq(0..back.size()));
    drop(back);
    drop(of_half);
    to_free.free().expect("nobody uses it");

    let on_threads = threads::run(1, |world| treefold_rsmpi::communicator(world).map(|_| ()));
    on_threads
        .expect("a thread ends")
        .remove(0)
        .expect("a world of threads is no error");
    if processes.rank() == 0 {
        let library = treefold::mpi::library().expect("it is called");
        println!(
            "worlds of rsmpi's communicators, {} ranks: passed; {}",
            world.size(),
            library.choice()
        );
    }
}

/// The three items of a rank.
fn items_of(rank: usize) -> [f64; 3] {
    [0, 1, 2].map(|i| 1.0 / (3 * rank + i + 1) as f64)
}

fn total(world: &World) -> f64 {
    let plan = Plan::builder(world).local_items(3).build::<f64>();
    let plan = plan.expect("all ranks build it");
    plan.allreduce(&items_of(world.rank()))
        .expect("no rank fails")
}

fn expected(ranks: usize) -> f64 {
    let items: Vec<f64> = (0..ranks).flat_map(items_of).collect();
    treefold::sum(&items).expect("the environment is the default")
}
