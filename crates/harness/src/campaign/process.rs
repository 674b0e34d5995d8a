//! Cases on a rank that is a process under `mpirun`.

use mpi::topology::SimpleCommunicator;

use super::execute::execute;
use super::judge::Judge;
use super::{Case, Report};
use crate::Error;

/// Runs the cases of a job on this rank, and reports. Collective.
pub fn run_cases(cases: &[(u64, Case)], report: &dyn Fn(Report)) -> Result<(), Error> {
    for (index, (_, case)) in cases.iter().enumerate() {
        // The ranks meet here, whatever became of the last case, and none of its messages is in the new world.
        let world = reduce::mpi::duplicate(&SimpleCommunicator::world())?;
        if world.rank() == 0 {
            report(Report::Begins(index));
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
    reduce::mpi::duplicate(&SimpleCommunicator::world())?;
    Ok(())
}
