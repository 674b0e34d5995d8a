//! Computes the temperature of a plate by conjugate gradients. With treefold's sums, every iterate has the same bits on any number of
//! ranks; with plain sums, the iterates depend on the number of ranks.
//!
//! Run it on threads. If you name a file, the program writes the data of a plot to it:
//!
//! ```text
//! cargo run --release --example conjugate_gradient [numbers.json]
//! ```
//!
//! Or run it under MPI. The fingerprints are the same as on threads:
//!
//! ```text
//! cargo build --release --features mpi --example conjugate_gradient
//! mpirun -n 5 target/release/examples/conjugate_gradient
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

mod plain;
mod problem;
mod record;
mod solver;

use std::error::Error;

use problem::{Plate, SIDE};
use treefold::{Distribution, Max, Plan, World, threads};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// How the solver's dot products are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sums {
    Treefold,
    Plain,
}

impl Sums {
    const ALL: [Sums; 2] = [Sums::Treefold, Sums::Plain];
}

fn main() -> Outcome<()> {
    #[cfg(feature = "mpi")]
    if treefold::mpi::is_launched() {
        return on_processes();
    }
    on_threads()
}

/// Compares runs whose ranks are threads, 1 to 17 of them.
fn on_threads() -> Outcome<()> {
    print_header();
    let mut comparisons = Vec::new();
    for sums in Sums::ALL {
        let reference = on_one_rank(sums)?;
        for ranks in [1, 2, 5, 17] {
            let of_ranks = threads::run(ranks, |world| compare(world, &reference))?;
            let comparison = of_ranks.into_iter().next().ok_or("no ranks")??;
            comparison.print();
            comparison.check(&reference)?;
            comparisons.push(comparison);
        }
    }
    if let Some(path) = std::env::args_os().nth(1) {
        std::fs::write(path, record::json(&comparisons))?;
    }
    Ok(())
}

/// Compares a run whose ranks are MPI processes, as many as `mpirun` has started.
#[cfg(feature = "mpi")]
fn on_processes() -> Outcome<()> {
    treefold::mpi::run(|world| {
        if world.rank() == 0 {
            print_header();
        }
        for sums in Sums::ALL {
            let reference = on_one_rank(sums)?;
            let comparison = compare(world, &reference)?;
            if world.rank() == 0 {
                comparison.print();
            }
            comparison.check(&reference)?;
        }
        Ok(())
    })?
}

/// The solver's results.
struct Run {
    sums: Sums,
    /// This rank's part of every iterate.
    iterates: Vec<Vec<f64>>,
    /// The fingerprint of the bits of all iterates, on all ranks.
    fingerprint: u64,
}

/// Solves the problem. Collective.
fn run(world: &World, plate: &Plate<'_>, sums: Sums) -> Outcome<Run> {
    let points = plate.points();
    let b = vec![1.0; points.len()];
    let iterates = match sums {
        Sums::Treefold => {
            // The items are the grid points, in their order. Both dot products travel in one message.
            let plan = Plan::builder(world)
                .local_items(points.len() as u64)
                .width(2)
                .build::<f64>()?;
            solver::solve(plate, &b, |r, w| {
                let mut dot_products = [0.0; 2];
                plan.dots(&[[r, r], [r, w]], &mut dot_products)?;
                Ok(dot_products)
            })?
        }
        Sums::Plain => {
            let tag = world.fresh_tag()?;
            solver::solve(plate, &b, |r, w| plain::dot_products(world, tag, r, w))?
        }
    };
    // Sums of wrapping integers do not depend on the order.
    let mut own_fingerprint = 0_u64;
    for (iteration, iterate) in iterates.iter().enumerate() {
        for (point, value) in points.clone().zip(iterate) {
            let place = (iteration << 32 | point) as u64;
            own_fingerprint = own_fingerprint.wrapping_add(scrambled(place, value.to_bits()));
        }
    }
    let fingerprints = Plan::builder(world).local_items(1).build::<u64>()?;
    Ok(Run {
        sums,
        iterates,
        fingerprint: fingerprints.allreduce(&[own_fingerprint])?,
    })
}

/// A hash of two numbers (the last steps of splitmix64).
fn scrambled(place: u64, bits: u64) -> u64 {
    let mut mixed = bits.wrapping_add(place.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// The run that all other runs are compared with: its only rank has all points.
fn on_one_rank(sums: Sums) -> Outcome<Run> {
    let runs = threads::run(1, |world| run(world, &plate(world)?, sums))?;
    runs.into_iter().next().ok_or("no ranks")?
}

/// The problem, with about the same number of rows on every rank. Collective.
fn plate(world: &World) -> Outcome<Plate<'_>> {
    let size = world.size();
    let starts = (0..=size).map(|rank| (SIDE * rank / size) as u64);
    Plate::new(world, &Distribution::from_boundaries(starts.collect())?)
}

/// A run on several ranks, compared with the run on one rank.
struct Comparison {
    sums: Sums,
    ranks: usize,
    iterations: usize,
    fingerprint: u64,
    /// For every iterate, the largest distance from the same iterate on one rank, as a fraction of the solution's largest value.
    distances: Vec<f64>,
}

/// Solves the problem on the ranks of a world, and compares the run with `reference`. Collective: all ranks get the same result.
fn compare(world: &World, reference: &Run) -> Outcome<Comparison> {
    let plate = plate(world)?;
    let run = run(world, &plate, reference.sums)?;
    let largest = |values: &mut dyn Iterator<Item = f64>| values.map(f64::abs).fold(0.0, f64::max);
    let solution = reference.iterates.last().ok_or("no iterates")?;
    let scale = largest(&mut solution.iter().copied());
    let pairs = run.iterates.iter().zip(&reference.iterates);
    let own_distances: Vec<f64> = pairs
        .map(|(own, whole)| {
            let differences = own.iter().zip(&whole[plate.points()]);
            largest(&mut differences.map(|(own, whole)| own - whole)) / scale
        })
        .collect();
    // Each rank's item is a row with one value for every iteration.
    let farthest = Plan::builder(world)
        .local_items(1)
        .width(own_distances.len())
        .operator(Max)
        .build::<f64>()?;
    let mut distances = vec![0.0; own_distances.len()];
    farthest.allreduce_into(&own_distances, &mut distances)?;
    Ok(Comparison {
        sums: run.sums,
        ranks: world.size(),
        iterations: run.iterates.len(),
        fingerprint: run.fingerprint,
        distances,
    })
}

fn print_header() {
    println!("sums      ranks  iterations  iterates' bits    diverge from one rank");
}

impl Comparison {
    /// The first iteration, counted from 1, whose iterate differs from the iterate on one rank.
    fn parting(&self) -> Option<usize> {
        let is_apart = |&distance: &f64| distance != 0.0;
        self.distances.iter().position(is_apart).map(|at| at + 1)
    }

    fn print(&self) {
        let parting = match self.parting() {
            None => "never".to_owned(),
            Some(iteration) => {
                let farthest = self.distances.iter().copied().fold(0.0, f64::max);
                format!("iteration {iteration}, up to {farthest:.1e}")
            }
        };
        let Self {
            ranks, iterations, ..
        } = self;
        let (sums, fingerprint) = (format!("{:?}", self.sums), self.fingerprint);
        println!("{sums:8}  {ranks:5}  {iterations:10}  {fingerprint:016x}  {parting}");
    }

    /// Checks that the run shows what this example claims.
    fn check(&self, reference: &Run) -> Outcome<()> {
        let is_same = self.fingerprint == reference.fingerprint && self.parting().is_none();
        let should_be_same = self.sums == Sums::Treefold || self.ranks == 1;
        if is_same && !should_be_same {
            return Err("the plain sums' iterates should have diverged".into());
        }
        if !is_same && should_be_same {
            return Err("the iterates should have had the same bits as on one rank".into());
        }
        Ok(())
    }
}
