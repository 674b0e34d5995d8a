//! Running the rows: one communicator for each backend and number of ranks.

use checkout::progress::Progress;
use comm::text::counted;
use harness::Backend;
use harness::Error;
use harness::job::Row;
use harness::matrix::{self, Items};
use harness::output::Output;
use harness::ranks::{on_processes, on_threads};
use launch::Launcher;

use super::{Check, Launch};

impl Check {
    /// Runs everything, and writes each launch's rows as soon as it is over.
    pub(super) fn run_launches(
        &self,
        launcher: Option<&Launcher>,
        output: &mut Output,
    ) -> Result<Vec<Row>, Error> {
        let rows_count = |launch| self.part(launch).0.rows_count() as u64;
        let rows = self.launches.iter().map(rows_count);
        let rows = rows.fold(0, |total, rows| total + rows);
        let progress = Progress::to("", rows, "rows");
        let mut all = Vec::new();
        for launch in &self.launches {
            progress.say(format!("{}, p = {}", launch.backend.name(), launch.ranks));
            let rows = match (launch.backend, launcher) {
                (Backend::Mpi, Some(launcher)) => self.run_mpi(launcher, launch, &progress)?,
                _ => self.run_threads(launch, &progress)?,
            };
            for row in &rows {
                output.json(row)?;
            }
            all.extend(rows);
        }
        Ok(all)
    }

    fn run_threads(&self, launch: &Launch, progress: &Progress) -> Result<Vec<Row>, Error> {
        let (job, data) = self.part(launch);
        on_threads(launch.ranks, |world, report| {
            let report = |row| {
                report(row);
                progress.advance(1);
            };
            matrix::check_all(world, Backend::Threads, &job, Items::Shared(data), &report)
        })
    }

    fn run_mpi(
        &self,
        launcher: &Launcher,
        launch: &Launch,
        progress: &Progress,
    ) -> Result<Vec<Row>, Error> {
        let (job, data) = self.part(launch);
        let mut rows: Vec<Row> = Vec::new();
        on_processes(launcher, launch.ranks, "repro", &job, |row| {
            rows.push(row);
            progress.advance(1);
        })?;
        if rows.len() != job.rows_count() {
            let reason = format!(
                "{} of {} came back",
                rows.len(),
                counted(job.rows_count(), "row")
            );
            let shown = launcher.shown(launch.ranks);
            return Err(Error::Mpi(format!("{shown}: {reason}")));
        }
        // Rows come in the job's order; names that two files share were made distinct in this process alone.
        let names = job
            .cases
            .iter()
            .zip(data)
            .flat_map(|(cases, data)| std::iter::repeat_n(&data.name, cases.rows_count()));
        for (row, name) in rows.iter_mut().zip(names) {
            row.dataset.clone_from(name);
        }
        Ok(rows)
    }
}
