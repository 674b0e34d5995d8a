//! Compiles the code on pages that is not a complete program. `book.rs` checks that this file contains all such code. The pages' complete
//! programs are doctests of this crate (`src/pages.rs`), or files that are compiled and run elsewhere.

use super::read;

/// Programs over MPI.
mod mpi {
    #![expect(
        dead_code,
        reason = "this code is only compiled; it cannot run without `mpirun`"
    )]

    use std::error::Error;

    use treefold::{Plan, World};

    type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

    /// The Rust tutorial's program over MPI. Functions `sum` and `item` are those of the tutorial's first program.
    fn main() -> Outcome<()> {
        treefold::mpi::run(|world| {
            let begin = |rank| 100_000 * rank / world.size();
            let rank = world.rank();
            let mine: Vec<f64> = (begin(rank)..begin(rank + 1)).map(item).collect();
            let sum = sum(world, &mine)?;
            if rank == 0 {
                println!("{sum:.15} on {} ranks", world.size());
            }
            Ok(())
        })?
    }

    fn sum(world: &World, mine: &[f64]) -> Outcome<f64> {
        let plan = Plan::builder(world)
            .local_items(mine.len() as u64)
            .build::<f64>()?;
        Ok(plan.allreduce(mine)?)
    }

    fn item(i: usize) -> f64 {
        1.0 / (i + 1) as f64
    }

    fn cluster(world: &World) -> Outcome<()> {
        world.measure_link()?;
        let plan = Plan::builder(world)
            .width(1_000_000)
            .local_items(1)
            .build::<f64>()?;
        println!("{plan}");
        Ok(())
    }
}

/// Pages show programs exactly as they are in the source tree. These programs are compiled and run: the first by `treefold`'s test
/// `examples`, those in C, C++ and Fortran by stage `c`, the one in Python by stage `python`, and the last by stage `pmpi`.
#[test]
fn pages_show_programs_of_the_tree() {
    for line in "\
docs/tutorial-rust rust crates/treefold/examples/first_sum.rs use std
docs/tutorial-by-key c bindings/c/examples/by_key.c #include
docs/tutorial-by-key cpp bindings/c/examples/by_key.cpp #include
docs/tutorial-by-key fortran bindings/c/examples/by_key.f90 program
docs/tutorial-c c bindings/c/examples/first_sum.c #include
docs/tutorial-c c bindings/c-mpi/examples/allreduce.c #include
docs/tutorial-c cpp bindings/c/examples/first_sum.cpp #include
docs/tutorial-fortran fortran bindings/c/examples/first_sum.f90 program
docs/tutorial-fortran fortran bindings/c-mpi/examples/allreduce.f90 program
docs/tutorial-python-mpi python bindings/python/examples/first_sum.py from mpi4py
docs/tutorial-check c bindings/interposer/examples/steps.c #include"
        .lines()
    {
        let mut words = line.splitn(4, ' ');
        let [page, language, program, beginning] = [(); 4].map(|()| words.next().unwrap());
        let text = read(program);
        // Omits the comment at the top of the file, because the page describes the program in other words.
        let begin = text.find(&format!("\n{beginning}")).expect("it begins") + 1;
        let block = format!("```{language}\n{}```", &text[begin..]);
        assert!(read(format!("{page}.md")).contains(&block), "{line}");
    }
}
