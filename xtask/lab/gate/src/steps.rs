//! Runs the steps of a stage. A step is one command or check. Its name is printed before it runs, and its time when it ends.

use std::borrow::BorrowMut;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use std::{mem, thread};

use checkout::workspace::target;
use launch::Installation;

use crate::commands::{self, Result, Stop, shown};
use crate::pages::{Picture, Ran};
use crate::times::{Kind, Time};

/// Runs the steps of one stage.
#[derive(Debug)]
pub(crate) struct Steps {
    pub(crate) stage: &'static str,
    /// Whether steps may need MPI.
    pub(crate) mpi: bool,
    /// The MPI library of the steps that need one.
    pub(crate) installation: Installation,
    /// Whether another stage runs in parallel. If so, a step's output is printed when the step has ended.
    pub(crate) is_beside: bool,
    /// Whether no other stage may start ranks now.
    pub(crate) has_turn: bool,
    pub(crate) run: &'static Run,
}

/// The state that the stages of a run share.
#[derive(Debug, Default)]
pub(crate) struct Run {
    found: Mutex<Found>,
    /// The prefix of the installation, once it exists.
    pub(crate) prefix: Mutex<Option<PathBuf>>,
    /// The `xtask` program, once it is built.
    pub(crate) xtask: Mutex<Option<PathBuf>>,
    /// Held while ranks run: ranks poll for messages, so two launches would take cores from each other.
    ranks: Mutex<()>,
    /// Held while a stage prints, so that no other stage's lines are in between.
    console: Mutex<()>,
}

/// The results that steps collect for the end of a run.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The times of steps and tests that passed.
    pub(crate) times: Vec<Time>,
    /// The times of stages that have ended.
    pub(crate) stages: Vec<(&'static str, f64)>,
    /// The results of tests with MPI libraries, for a table in docs/.
    pub(crate) ran: Vec<Ran>,
    /// The pictures of this run.
    pub(crate) pictures: Vec<Picture>,
}

impl Run {
    /// The results of the steps that have run.
    pub(crate) fn found(&self) -> MutexGuard<'_, Found> {
        locked(&self.found)
    }

    /// Prints lines without interleaving other stages' lines.
    pub(crate) fn say(&self, text: &str) {
        let _console = locked(&self.console);
        println!("{text}");
    }
}

/// Locks a mutex even if it is poisoned. A step that panics leaves no state inconsistent.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Steps {
    /// Records that these members' tests passed with the current MPI library, on these numbers of ranks.
    pub(crate) fn note(&mut self, members: &[&str], ranks: &str) {
        let ran = Ran::new(&self.installation, members, ranks);
        self.run.found().ran.extend(ran);
    }

    /// Records the data of a picture in docs/.
    pub(crate) fn note_picture(&mut self, picture: Picture) {
        self.run.found().pictures.push(picture);
    }

    /// Runs steps that start ranks of another MPI library.
    pub(crate) fn with_installation<R>(
        &mut self,
        installation: Installation,
        run: impl FnOnce(&mut Self) -> R,
    ) -> R {
        self.in_turn(|steps| {
            let before = mem::replace(&mut steps.installation, installation);
            let result = run(steps);
            steps.installation = before;
            result
        })
    }

    /// Prints lines without interleaving other stages' lines.
    pub(crate) fn say(&self, text: &str) {
        self.run.say(text);
    }

    /// Runs a part of a stage. If it is skipped, prints why.
    pub(crate) fn part(&mut self, run: impl FnOnce(&mut Self) -> Result) -> Result {
        match run(self) {
            Err(Stop::Skipped(reason)) => {
                self.say(&format!("skipped: {reason}"));
                Ok(())
            }
            ended => ended,
        }
    }

    /// Waits until no other stage runs ranks, then runs steps that start ranks.
    pub(crate) fn in_turn<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        if self.has_turn {
            return run(self);
        }
        let _turn = locked(&self.run.ranks);
        self.has_turn = true;
        let result = run(self);
        self.has_turn = false;
        result
    }

    /// Records a step or a test that passed.
    pub(crate) fn passed(&self, name: &str, seconds: f64, kind: Kind) {
        self.run.found().times.push(Time {
            stage: self.stage,
            name: name.to_owned(),
            seconds,
            kind,
        });
    }

    /// Prints a failure, and how to repeat it: with this command, if one is given, or with the whole stage.
    pub(crate) fn failed(&self, name: &str, why: &str, command: Option<&str>) -> Stop {
        let command = command.map(|command| format!("── to repeat it: {command}\n"));
        let (command, stage) = (command.unwrap_or_default(), self.stage);
        let again = format!("── to repeat its stage: cargo xtask test --stage {stage}");
        self.say(&format!("── FAILED: {name}: {why}\n{command}{again}"));
        Stop::Failed
    }

    /// Runs a command.
    pub(crate) fn step(
        &mut self,
        name: impl AsRef<str>,
        mut command: impl BorrowMut<Command>,
    ) -> Result {
        self.timed(name.as_ref(), command.borrow_mut(), Kind::Run)
    }

    /// Runs a command that builds something.
    pub(crate) fn build(
        &mut self,
        name: impl AsRef<str>,
        mut command: impl BorrowMut<Command>,
    ) -> Result {
        self.timed(name.as_ref(), command.borrow_mut(), Kind::Build)
    }

    /// Runs `cargo` with these words, to build something.
    pub(crate) fn cargo(&mut self, name: impl AsRef<str>, words: &str) -> Result {
        self.build(name, commands::cargo(words))
    }

    fn timed(&mut self, name: &str, command: &mut Command, kind: Kind) -> Result {
        command.stdin(Stdio::null());
        let repeat = shown(command);
        let begin = Instant::now();
        let ended = if self.is_beside {
            let say = |printed: &str| self.say(&format!("\n── {name}\n{}", printed.trim_end()));
            self.kept(command).inspect(|(_, printed)| say(printed))
        } else {
            println!("\n── {name}");
            command.status().map(|status| (status, String::new()))
        };
        let (status, _) = ended.map_err(|error| format!("{name}: {error}"))?;
        let seconds = begin.elapsed().as_secs_f64();
        if !status.success() {
            let why = format!("{status}, {seconds:.0} s");
            return Err(self.failed(name, &why, Some(&repeat)));
        }
        self.say(&format!("── passed: {name} ({seconds:.0} s)"));
        self.passed(name, seconds, kind);
        Ok(())
    }

    /// Runs a command and captures both streams, in order.
    fn kept(&self, command: &mut Command) -> std::io::Result<(ExitStatus, String)> {
        let folder = target().map_err(std::io::Error::other)?;
        let path = folder.join(format!("gate-{}.log", self.stage));
        let file = File::create(&path)?;
        command.stdout(file.try_clone()?).stderr(file);
        let status = command.status()?;
        let printed = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        fs::remove_file(&path)?;
        Ok((status, printed))
    }

    /// Runs a check as a step, and prints what it found or its error.
    pub(crate) fn check(
        &mut self,
        name: impl AsRef<str>,
        check: impl FnOnce() -> Result<String>,
    ) -> Result {
        let name = name.as_ref();
        if !self.is_beside {
            println!("\n── {name}");
        }
        let begin = Instant::now();
        match check() {
            Ok(found) => {
                self.say(&format!("── passed: {name}: {found}"));
                self.passed(name, begin.elapsed().as_secs_f64(), Kind::Run);
                Ok(())
            }
            Err(Stop::Error(wrong)) => Err(self.failed(name, &wrong, None)),
            Err(stop) => Err(stop),
        }
    }

    /// Runs a command, which must succeed or fail as `succeeds` says and print these texts on its standard error.
    pub(crate) fn expect(
        &mut self,
        name: impl AsRef<str>,
        command: impl BorrowMut<Command>,
        succeeds: bool,
        texts: &[&str],
    ) -> Result {
        self.check(name, || commands::run(command)?.expect(succeeds, texts))
    }

    /// Builds something once for all stages. Other stages that need it wait until it is built.
    pub(crate) fn once(
        &mut self,
        place: impl Fn(&'static Run) -> &'static Mutex<Option<PathBuf>>,
        make: impl FnOnce(&mut Self) -> Result<PathBuf>,
    ) -> Result<PathBuf> {
        let mut known = locked(place(self.run));
        if known.is_none() {
            *known = Some(make(self)?);
        }
        Ok(known.clone().unwrap_or_default())
    }
}

/// Runs the entries of a queue, `count` at a time. After the first failure, no more entries start.
pub(crate) fn at_a_time<T: Send>(
    count: usize,
    queue: Vec<T>,
    run: impl Fn(T) -> Result + Sync,
) -> Result {
    let (queue, outcome) = (Mutex::new(VecDeque::from(queue)), Mutex::new(Ok(())));
    let work = || {
        while locked(&outcome).is_ok() {
            let Some(next) = locked(&queue).pop_front() else {
                return;
            };
            let ended = run(next);
            let mut outcome = locked(&outcome);
            if outcome.is_ok() {
                *outcome = ended;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(work);
        }
    });
    outcome.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{Stop, at_a_time};

    #[test]
    fn stages_beside_each_other_all_run_unless_one_fails() {
        let ran = AtomicUsize::new(0);
        let run = |number: usize| {
            ran.fetch_add(number, Ordering::Relaxed);
            (number != 100).then_some(()).ok_or(Stop::Failed)
        };
        assert!(at_a_time(2, vec![1, 2, 3, 4], run).is_ok());
        assert_eq!(ran.load(Ordering::Relaxed), 10);
        // One more entry may have begun before the failure.
        assert!(at_a_time(2, vec![100, 1, 1000, 1000], run).is_err());
        assert!(ran.load(Ordering::Relaxed) < 2110);
    }
}
