//! Runs the check's rows, with one communicator for each backend and number of ranks.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use checkout::progress::Progress;
use checkout::table::thousands;
use comm::text::counted;
use launch::Launcher;

use super::{Check, Launch};
use crate::job::Row;
use crate::matrix::{self, Board, Items};
use crate::output::Output;
use crate::ranks::{on_processes, on_threads};
use crate::{Backend, Error};

/// The progress of a check.
struct Tally<'c> {
    check: &'c Check,
    progress: Progress,
    /// The number of runs in total.
    all: usize,
    done: AtomicUsize,
    faults: AtomicUsize,
}

impl Tally<'_> {
    /// Counts a run and updates the progress line.
    fn count(&self, row: &Row) {
        let is_wrong = usize::from(self.check.expected.fault(row).is_some());
        let faults = self.faults.fetch_add(is_wrong, Relaxed) + is_wrong;
        let done = self.done.fetch_add(1, Relaxed) + 1;
        let so_far = match faults {
            0 => "one sum per data set".to_owned(),
            _ => counted(faults, "fault"),
        };
        let (done, all) = (thousands(done), thousands(self.all));
        let ranks = row.ranks;
        self.progress
            .say(format!("p = {ranks}: {done} of {all} runs, {so_far}"));
    }
}

impl Check {
    /// Runs everything. Writes the rows of each launch as soon as it has ended.
    pub(super) fn run_launches(
        &self,
        launcher: Option<&Launcher>,
        output: &mut Output,
    ) -> Result<Vec<Row>, Error> {
        let rows_count = |launch| self.part(launch).0.rows_count();
        let rows = self.launches.iter().map(rows_count);
        let tally = Tally {
            check: self,
            progress: Progress::of("starting ranks"),
            all: rows.fold(0, |total, rows| total + rows),
            done: AtomicUsize::new(0),
            faults: AtomicUsize::new(0),
        };
        let mut all = Vec::new();
        for launch in &self.launches {
            let rows = match (launch.backend, launcher) {
                (Backend::Mpi, Some(launcher)) => self.run_mpi(launcher, launch, &tally)?,
                _ => self.run_threads(launch, &tally)?,
            };
            for row in &rows {
                output.json(row)?;
            }
            all.extend(rows);
        }
        Ok(all)
    }

    fn run_threads(&self, launch: &Launch, tally: &Tally<'_>) -> Result<Vec<Row>, Error> {
        let (job, data) = self.part(launch);
        let board = Board::default();
        on_threads(launch.ranks, |world, report| {
            let report = |row| {
                tally.count(&row);
                report(row);
            };
            let items = Items::Shared(data, &board);
            matrix::check_all(world, Backend::Threads, &job, items, &report)
        })
    }

    fn run_mpi(
        &self,
        launcher: &Launcher,
        launch: &Launch,
        tally: &Tally<'_>,
    ) -> Result<Vec<Row>, Error> {
        let (job, data) = self.part(launch);
        // Rows arrive in the job's order. Only this process has made names distinct that two files share.
        let mut names = job
            .cases
            .iter()
            .zip(data)
            .flat_map(|(cases, data)| std::iter::repeat_n(&data.name, cases.rows_count()));
        let mut rows: Vec<Row> = Vec::new();
        on_processes(launcher, launch.ranks, "repro", &job, |mut row: Row| {
            if let Some(name) = names.next() {
                row.dataset.clone_from(name);
            }
            tally.count(&row);
            rows.push(row);
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
        Ok(rows)
    }
}
