//! Running the steps of a stage: each is one command, announced before it runs and timed when it ends.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::mem;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use checkout::workspace::{cargo, target};
use launch::{Error, Installation};

use super::pictures::Picture;
use super::record::Ran;
use super::times::{Kind, Time};

/// Runs the steps of one stage.
#[derive(Debug)]
pub(super) struct Steps {
    stage: &'static str,
    mpi: bool,
    installation: Installation,
    /// Whether another stage runs beside this one: then what a step prints follows as a whole when the step has ended.
    is_beside: bool,
    /// Whether no other stage may start ranks now.
    has_turn: bool,
    run: &'static Run,
}

/// What the stages of a run share.
#[derive(Debug, Default)]
pub(super) struct Run {
    found: Mutex<Found>,
    prefix: Mutex<Option<PathBuf>>,
    xtask: Mutex<Option<PathBuf>>,
    /// Held by who starts ranks: those of two launches, which look for messages all the time, would keep each other from their cores.
    ranks: Mutex<()>,
    /// Held by who prints more than a line.
    console: Mutex<()>,
}

/// What steps leave to the end of a run.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The times of steps and tests that passed.
    pub(super) times: Vec<Time>,
    /// The times of stages that have ended.
    pub(super) stages: Vec<(&'static str, f64)>,
    /// What passed with MPI libraries that were named.
    pub(super) ran: Vec<Ran>,
    /// The pictures of what was run.
    pub(super) pictures: Vec<Picture>,
}

/// Why a stage ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// A step failed.
    Failed,
    /// A step could not be run.
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<checkout::Error> for Stop {
    fn from(error: checkout::Error) -> Self {
        Self::Error(error.into())
    }
}

impl Run {
    /// A run of stages; it stays to the end of the program.
    pub(super) fn begin() -> &'static Self {
        Box::leak(Box::default())
    }

    /// What its steps have left.
    pub(super) fn found(&self) -> MutexGuard<'_, Found> {
        locked(&self.found)
    }

    /// Prints lines that no other stage's come between.
    pub(super) fn say(&self, text: &str) {
        let _console = locked(&self.console);
        println!("{text}");
    }
}

/// A step that panics has left nothing half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Steps {
    /// Those of a stage.
    pub(super) fn new(
        run: &'static Run,
        stage: &'static str,
        mpi: bool,
        installation: Installation,
        is_beside: bool,
    ) -> Self {
        Self {
            stage,
            mpi,
            installation,
            is_beside,
            has_turn: false,
            run,
        }
    }

    /// Notes that these members' tests passed with the MPI library in use, on these numbers of ranks.
    pub(super) fn note(&mut self, members: &[&str], ranks: &str) {
        let ran = Ran::new(&self.installation, members, ranks);
        self.run.found().ran.extend(ran);
    }

    /// Notes what a picture of docs/ shows.
    pub(super) fn note_picture(&mut self, picture: Picture) {
        self.run.found().pictures.push(picture);
    }

    /// Where treefold is installed: one stage does it for all, by `install`, and the others wait.
    pub(super) fn prefix(
        &mut self,
        install: impl FnOnce(&mut Self) -> Result<PathBuf, Stop>,
    ) -> Result<PathBuf, Stop> {
        self.once(|run| &run.prefix, install)
    }

    /// The MPI library of the steps that need one.
    pub(super) fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Runs steps that start ranks of another MPI library.
    pub(super) fn with_installation<R>(
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

    /// Whether steps may need MPI.
    pub(super) fn mpi(&self) -> bool {
        self.mpi
    }

    /// Prints lines that no other stage's come between.
    pub(super) fn say(&self, text: &str) {
        self.run.say(text);
    }

    /// Runs steps that start ranks, when no other stage starts any.
    pub(super) fn in_turn<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        if self.has_turn {
            return run(self);
        }
        let _turn = locked(&self.run.ranks);
        self.has_turn = true;
        let result = run(self);
        self.has_turn = false;
        result
    }

    /// Notes a step or a test that passed.
    pub(super) fn passed(&self, name: &str, seconds: f64, kind: Kind) {
        self.run.found().times.push(Time {
            stage: self.stage,
            name: name.to_owned(),
            seconds,
            kind,
        });
    }

    /// Tells what has failed, and how to repeat it: by this command, if it is one, or by its stage.
    pub(super) fn failed(&self, name: &str, why: &str, command: Option<&str>) -> Stop {
        let command = command.map(|command| format!("── to repeat it: {command}\n"));
        self.say(&format!(
            "── FAILED: {name}: {why}\n{}── to repeat its stage: cargo xtask test --stage {}",
            command.unwrap_or_default(),
            self.stage
        ));
        Stop::Failed
    }

    /// Runs a command.
    pub(super) fn step(&mut self, name: &str, command: &mut Command) -> Result<(), Stop> {
        self.timed(name, command, Kind::Run)
    }

    /// Runs a command that builds something.
    pub(super) fn build(&mut self, name: &str, command: &mut Command) -> Result<(), Stop> {
        self.timed(name, command, Kind::Build)
    }

    fn timed(&mut self, name: &str, command: &mut Command, kind: Kind) -> Result<(), Stop> {
        let could_not = |error| Stop::Error(Error::Run(format!("{name}: {error}")));
        command.stdin(Stdio::null());
        let repeat = shown(command);
        let begin = Instant::now();
        let status = if self.is_beside {
            let (status, printed) = self.kept(command).map_err(could_not)?;
            self.say(&format!("\n── {name}\n{}", printed.trim_end()));
            status
        } else {
            println!("\n── {name}");
            command.status().map_err(could_not)?
        };
        let seconds = begin.elapsed().as_secs_f64();
        if !status.success() {
            let why = format!("{status}, {seconds:.0} s");
            return Err(self.failed(name, &why, Some(&repeat)));
        }
        self.say(&format!("── passed: {name} ({seconds:.0} s)"));
        self.passed(name, seconds, kind);
        Ok(())
    }

    /// Runs a command, and keeps what it prints on both streams, in its order.
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

    /// Looks at what other steps left; what is found is printed, or what is wrong.
    pub(super) fn check(
        &mut self,
        name: &str,
        check: impl FnOnce() -> Result<String, String>,
    ) -> Result<(), Stop> {
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
            Err(wrong) => Err(self.failed(name, &wrong, None)),
        }
    }

    /// Runs `cargo` with these words, to build something.
    pub(super) fn cargo(&mut self, name: &str, words: &str) -> Result<(), Stop> {
        let mut cargo = cargo();
        self.build(name, cargo.args(words.split_whitespace()))
    }

    /// The program of all other commands, which `find` builds for the first who asks.
    pub(super) fn xtask_program(
        &mut self,
        find: impl FnOnce(&mut Self) -> Result<PathBuf, Stop>,
    ) -> Result<PathBuf, Stop> {
        self.once(|run| &run.xtask, find)
    }

    /// What one stage makes for all, while the others wait for it.
    fn once(
        &mut self,
        place: impl Fn(&'static Run) -> &'static Mutex<Option<PathBuf>>,
        make: impl FnOnce(&mut Self) -> Result<PathBuf, Stop>,
    ) -> Result<PathBuf, Stop> {
        let mut known = locked(place(self.run));
        if let Some(known) = &*known {
            return Ok(known.clone());
        }
        let made = make(self)?;
        *known = Some(made.clone());
        Ok(made)
    }
}

/// A command as a shell takes it.
pub(super) fn shown(command: &Command) -> String {
    let quoted = |word: &OsStr| {
        let word = word.to_string_lossy();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
        if !word.is_empty() && word.chars().all(is_plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    let mut words = VecDeque::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            words.push_back(format!("{}={}", name.display(), quoted(value)));
        }
    }
    words.push_back(quoted(command.get_program()));
    words.extend(command.get_args().map(quoted));
    if let Some(folder) = command.get_current_dir() {
        words.push_front(format!("cd {} &&", quoted(folder.as_os_str())));
    }
    Vec::from(words).join(" ")
}

/// Runs what is in a queue, so many at a time; the first that fails lets no other begin.
pub(super) fn at_a_time<T: Send>(
    count: usize,
    queue: Vec<T>,
    run: impl Fn(T) -> Result<(), Stop> + Sync,
) -> Result<(), Stop> {
    let (queue, outcome) = (Mutex::new(VecDeque::from(queue)), Mutex::new(Ok(())));
    let work = || {
        while locked(&outcome).is_ok() {
            let Some(next) = locked(&queue).pop_front() else {
                return;
            };
            if let Err(stop) = run(next) {
                let mut outcome = locked(&outcome);
                if outcome.is_ok() {
                    *outcome = Err(stop);
                }
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
    use std::process::Command;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{Stop, at_a_time, shown};

    #[test]
    fn a_failure_is_repeated_by_a_shell() {
        let mut command = Command::new("mpirun");
        command.args(["-n", "2", "a program", "it's"]);
        command.env("TREEFOLD_PMPI", "on").current_dir("/tmp/a b");
        let expected = r"cd '/tmp/a b' && TREEFOLD_PMPI=on mpirun -n 2 'a program' 'it'\''s'";
        assert_eq!(shown(&command), expected);
    }

    #[test]
    fn stages_beside_each_other_all_run_unless_one_fails() {
        let ran = AtomicUsize::new(0);
        let run = |number: usize| {
            ran.fetch_add(number, Ordering::Relaxed);
            if number == 100 {
                Err(Stop::Failed)
            } else {
                Ok(())
            }
        };
        assert!(at_a_time(2, vec![1, 2, 3, 4], run).is_ok());
        assert_eq!(ran.load(Ordering::Relaxed), 10);
        // The other one may have begun.
        assert!(at_a_time(2, vec![100, 1, 1000, 1000], run).is_err());
        assert!(ran.load(Ordering::Relaxed) < 2110);
    }
}
