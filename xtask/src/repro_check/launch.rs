//! Running the rows: one communicator for each backend and number of ranks.

use comm::text::counted;
use harness::Backend;
use harness::Error;
use harness::job::Row;
use harness::launcher::Launcher;
use harness::matrix::{self, Items};
use harness::output::Output;
use harness::ranks::{on_processes, on_threads};
use indicatif::{ProgressBar, ProgressStyle};

use super::{Check, Launch};

impl Check {
    /// Runs everything, and writes each launch's rows as soon as it is over.
    pub(super) fn run_launches(
        &self,
        launcher: Option<&Launcher>,
        output: &mut Output,
    ) -> Result<Vec<Row>, Error> {
        let rows_count = |launch| self.part(launch).0.rows_count() as u64;
        let bar = ProgressBar::new(
            self.launches
                .iter()
                .map(rows_count)
                .fold(0, |total, rows| total + rows),
        );
        let style =
            ProgressStyle::with_template("{msg:>16} {wide_bar} {pos}/{len} rows, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let mut all = Vec::new();
        for launch in &self.launches {
            bar.set_message(format!("{}, p = {}", launch.backend.name(), launch.ranks));
            let rows = match (launch.backend, launcher) {
                (Backend::Mpi, Some(launcher)) => self.run_mpi(launcher, launch, &bar)?,
                _ => self.run_threads(launch, &bar)?,
            };
            for row in &rows {
                output.json(row)?;
            }
            all.extend(rows);
        }
        bar.finish_and_clear();
        Ok(all)
    }

    fn run_threads(&self, launch: &Launch, bar: &ProgressBar) -> Result<Vec<Row>, Error> {
        let (job, data) = self.part(launch);
        on_threads(launch.ranks, |world, report| {
            let report = |row| {
                report(row);
                bar.inc(1);
            };
            matrix::run(world, Backend::Threads, &job, Items::Shared(data), &report)
        })
    }

    fn run_mpi(
        &self,
        launcher: &Launcher,
        launch: &Launch,
        bar: &ProgressBar,
    ) -> Result<Vec<Row>, Error> {
        let (job, data) = self.part(launch);
        let mut rows: Vec<Row> = Vec::new();
        on_processes(launcher, launch.ranks, "repro", &job, |row| {
            rows.push(row);
            bar.inc(1);
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
