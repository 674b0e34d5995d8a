//! The code of README and of the pages that is no program by itself: every statement there is one here, which
//! `book.rs` checks. The pages' programs are doctests of this crate (`src/pages.rs`).

use std::fs;
use std::path::Path;

#[test]
fn one_process() -> Result<(), treefold::FoldError> {
    let x: [f64; 4] = [0.1, 0.2, 0.3, 0.4];
    let y: [f64; 4] = [1.0, 2.0, 3.0, 4.0];
    let (table, width, mut column_sums) = (x, 2, [0.0; 2]);

    let total = treefold::sum(&x)?;
    assert_eq!(
        f64::to_bits(total),
        ((0.1_f64 + 0.2) + (0.3 + 0.4)).to_bits()
    );
    let total = treefold::par::sum(&x)?;
    assert_eq!(total.to_bits(), treefold::sum(&x)?.to_bits());
    let energy = treefold::dot(&x, &y)?;
    let exact = treefold::exact::sum(&x);
    assert!((energy - 3.0).abs() < 1e-15);
    assert_eq!(exact.to_bits(), 1.0_f64.to_bits());
    treefold::sum_rows(&table, width, &mut column_sums)?;
    assert_eq!(
        column_sums.map(f64::to_bits),
        [0.1_f64 + 0.3, 0.2 + 0.4].map(f64::to_bits)
    );
    Ok(())
}

/// The first program.
mod first_program {
    use std::error::Error;
    use treefold::{Plan, Sum, World, threads};

    pub(crate) fn total(world: &World, local: &[f64]) -> Result<f64, Box<dyn Error + Send + Sync>> {
        let plan = Plan::builder(world)
            .local_items(local.len() as u64)
            .operator(Sum)
            .build::<f64>()?;
        Ok(plan.allreduce(local)?)
    }

    pub(crate) fn my_items(rank: usize) -> Vec<f64> {
        vec![0.1; rank + 1]
    }

    #[test]
    fn gives_the_bits_of_one_process() -> Result<(), Box<dyn Error + Send + Sync>> {
        let totals = threads::run(4, |world| total(world, &my_items(world.rank())))?;
        for total in totals {
            assert_eq!(total?.to_bits(), treefold::sum(&[0.1_f64; 10])?.to_bits());
        }
        Ok(())
    }
}

/// Programs over MPI.
mod mpi {
    #![expect(
        dead_code,
        reason = "it is here to be compiled: `mpirun` starts other tests"
    )]
    #![expect(clippy::print_stdout, reason = "as the page has it")]

    use std::error::Error;

    use treefold::{Plan, World};

    use crate::first_program::{my_items, total};

    fn readme() -> Result<(), Box<dyn Error + Send + Sync>> {
        let total = treefold::mpi::run(|world| total(world, &my_items(world.rank())))?;
        println!("{}", total?);
        Ok(())
    }

    /// The quick start.
    fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
        treefold::mpi::run(|world| {
            let first = 1000 * world.rank() as u64;
            let local: Vec<f64> = (first..first + 1000)
                .map(|i| 1.0 / (i + 1) as f64)
                .collect();
            println!("rank {}: {:e}", world.rank(), total(world, &local)?);
            Ok(())
        })?
    }

    fn cluster(world: &World) -> Result<(), Box<dyn Error + Send + Sync>> {
        world.measure_link()?;
        let plan = Plan::builder(world)
            .width(1_000_000)
            .local_items(1)
            .build::<f64>()?;
        println!("{plan}");
        Ok(())
    }
}

/// The programs of the pages for C, C++ and Fortran are the examples, which stage `c` compiles and runs.
#[test]
fn programs_in_other_languages_are_the_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    for (page, language, example, beginning) in [
        ("c.md", "c", "c/examples/first_sum.c", "#include"),
        ("c.md", "c", "c-mpi/examples/allreduce.c", "#include"),
        ("cpp.md", "cpp", "c/examples/first_sum.cpp", "#include"),
        ("cpp.md", "cpp", "c-mpi/examples/allreduce.cpp", "#include"),
        (
            "fortran.md",
            "fortran",
            "c/examples/first_sum.f90",
            "program",
        ),
        (
            "fortran.md",
            "fortran",
            "c-mpi/examples/allreduce.f90",
            "program",
        ),
    ] {
        let read = |path: &str| fs::read_to_string(root.join(path)).expect("it is there");
        let program = read(&format!("bindings/{example}"));
        // What comes before says what the example is; the page says that in its own words.
        let begin = if program.starts_with(beginning) {
            0
        } else {
            program.find(&format!("\n{beginning}")).expect("it begins") + 1
        };
        let block = format!("```{language}\n{}```", &program[begin..]);
        assert!(
            read(&format!("docs/{page}")).contains(&block),
            "docs/{page}: {example}"
        );
    }
}
