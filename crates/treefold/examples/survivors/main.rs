//! Runs conjugate gradients that continue when ranks are lost. The survivors take over the lost ranks' points, and every iterate has the
//! bits of an undisturbed run on one rank.
//!
//! Run it on threads, which are lost when they panic or return. The arguments are the number of ranks, the number of lost ranks, and the
//! seed that determines which ranks are lost, and when:
//!
//! ```text
//! cargo run --release --example survivors [8 5 1]
//! ```
//!
//! Or run it under Open MPI 5.0 or newer, where processes kill themselves:
//!
//! ```text
//! cargo build --release --features mpi --example survivors
//! mpirun --with-ft ulfm -n 8 target/release/examples/survivors 5 1
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

mod deaths;
#[path = "../conjugate_gradient/problem.rs"]
mod problem;
mod solver;
mod state;

use std::env;
use std::error::Error;

use deaths::Deaths;
use treefold::{BuildError, RunError, World, threads, transport};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    #[cfg(feature = "mpi")]
    if treefold::mpi::is_launched() {
        return on_processes();
    }
    on_threads()
}

/// Runs the solver on threads as ranks.
fn on_threads() -> Outcome<()> {
    let [ranks, lost, seed] = arguments([8, 5, 1])?;
    let deaths = Deaths::new(usize::try_from(ranks)?, usize::try_from(lost)?, seed)?;
    let outcomes = threads::run_each(deaths.ranks, |world| run(world, &deaths))?;
    let mut reports = Vec::new();
    // The other threads have panicked, as intended.
    for outcome in outcomes.into_iter().filter_map(Result::ok) {
        match outcome {
            Ok(report) => reports.push(report),
            Err(error) if error.is::<deaths::Left>() => {}
            Err(error) => return Err(error),
        }
    }
    let first = reports.iter().find(|report| report.is_first);
    let report = first.ok_or("no rank is left")?;
    report.print();
    if reports.len() == report.left {
        Ok(())
    } else {
        Err(format!("only {} of the survivors have an answer", reports.len()).into())
    }
}

/// Runs the solver on MPI processes as ranks, as many as `mpirun` has started.
#[cfg(feature = "mpi")]
fn on_processes() -> Outcome<()> {
    treefold::mpi::run(|world| {
        let [lost, seed] = arguments([0, 1])?;
        let deaths = Deaths::new(world.size(), usize::try_from(lost)?, seed)?;
        let report = run(world, &deaths)?;
        if report.is_first {
            report.print();
        }
        Ok(())
    })?
}

/// The program's arguments, or these numbers by default.
fn arguments<const COUNT: usize>(mut numbers: [u64; COUNT]) -> Outcome<[u64; COUNT]> {
    for (number, argument) in numbers.iter_mut().zip(env::args().skip(1)) {
        *number = argument.parse()?;
    }
    Ok(numbers)
}

/// The report of a surviving rank.
struct Report {
    ranks: usize,
    left: usize,
    /// Whether this is rank 0 of the ranks that are left.
    is_first: bool,
    iterations: usize,
    /// The fingerprint of the bits of all iterates on all ranks.
    fingerprint: u64,
}

impl Report {
    fn print(&self) {
        println!(
            "{} ranks, of which {} were lost, one after the other:\n{} iterates, fingerprint {:016x}, all as on one rank",
            self.ranks,
            self.ranks - self.left,
            self.iterations,
            self.fingerprint
        );
    }
}

/// Solves the problem on the ranks of a world, and after losses on the survivors.
fn run(world: &World, deaths: &Deaths) -> Outcome<Report> {
    let undisturbed = threads::run(1, |world| {
        solver::solve_alone(world).map_err(|error| error.to_string())
    })?;
    let expected = undisturbed.into_iter().next().ok_or("no ranks")??;
    let mut world = world.clone();
    let mut saved = state::Saved::start(&world)?;
    loop {
        let is_solved = match solver::go_on(&world, &mut saved, deaths, &expected) {
            Ok(()) => true,
            Err(error) if is_loss(&*error) => false,
            Err(error) => return Err(error),
        };
        // A rank that has its answer may hold data that another rank needs, so no rank ends before all have their answers.
        if is_solved && world.agree(true)? {
            let fingerprints = saved.fingerprints();
            return Ok(Report {
                ranks: deaths.ranks,
                left: world.size(),
                is_first: world.rank() == 0,
                iterations: fingerprints.len(),
                fingerprint: fingerprints
                    .iter()
                    .fold(0, |sum: u64, one| sum.wrapping_add(*one)),
            });
        }
        (world, saved) = recover(world, &saved)?;
    }
}

/// The world of the survivors, and the state from which each of them continues. Collective.
fn recover(mut world: World, saved: &state::Saved) -> Outcome<(World, state::Saved)> {
    // The survivors, by the numbers that they had when the state was saved.
    let mut left: Vec<usize> = (0..world.size()).collect();
    loop {
        let shrunk = world.shrink()?;
        left = shrunk.left.into_iter().map(|rank| left[rank]).collect();
        world = shrunk.world;
        // Another rank may be lost meanwhile. The saved state is kept until all ranks have what they need.
        match state::take_over(&world, saved, &left) {
            Ok(after) if world.agree(true)? => return Ok((world, after)),
            Ok(_) => {}
            Err(error) if is_loss(&*error) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether an error says that ranks are lost, so that the remaining ranks continue without them.
fn is_loss(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    let of_run = error
        .downcast_ref::<RunError>()
        .and_then(RunError::lost_ranks);
    let of_build = error
        .downcast_ref::<BuildError>()
        .and_then(BuildError::lost_ranks);
    let of_transport = error.downcast_ref::<transport::Error>();
    let of_transport = of_transport.and_then(transport::Error::lost_ranks);
    of_run.or(of_build).or(of_transport).is_some()
}
