//! Cases on a rank that is a process under `mpirun`.

use std::fs;

use super::execute::execute;
use super::judge::Judge;
use super::started;
use super::{Cases, Report};
use crate::Error;

/// Runs the cases of a job on this rank, and reports. Collective.
///
/// # Errors
/// MPI fails, or the file that tells of the last case cannot be made.
pub fn run_cases(job: &Cases, report: &dyn Fn(Report)) -> Result<(), Error> {
    started::load(&job.interposer)?;
    for (index, (_, case)) in job.cases.iter().enumerate() {
        // The ranks meet here, whatever became of the last case, and none of its messages is in the new world.
        let world = reduce::mpi::world()?;
        if world.rank() == 0 {
            report(Report::Begins(index));
        }
        if case.ends_job() {
            if world.rank() == 0 {
                let made = fs::write(&job.last_begins, []);
                made.map_err(|error| Error::file(&job.last_begins, error))?;
            }
            reduce::mpi::world()?;
        }
        let mut judge = Judge::new(case, world.rank());
        execute(case, &world, &mut |outcome| {
            if let Some(reason) = judge.next(&outcome) {
                report(Report::Wrong(index, reason));
            }
        });
        if let Some(reason) = judge.end() {
            report(Report::Wrong(index, reason));
        }
    }
    // No rank leaves while another is in its last case.
    reduce::mpi::world()?;
    Ok(())
}
