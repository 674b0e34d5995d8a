//! The programs of all tests: cargo builds them once, for all stages, and they run here, each with one test at a time and two beside each
//! other. So tests that wait leave a core to those that compute, and each has its time.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use checkout::workspace::{Executable, cargo, executables, workspace};
use launch::Error;

use super::members::{FEATURES, MEMBERS};
use super::steps::{Steps, Stop, at_a_time};
use super::times::{Kind, TESTS};

/// As many as the cores that the gate is made for. With more, ranks that are threads would wait for each other's turns.
const BESIDE: usize = 2;

/// What takes longest begins first; the others follow in their own order.
const LONG: [(&str, &str); 10] = [
    ("reduce", "plans"),
    ("treefold", "examples"),
    ("exact-sum", "against_integers"),
    ("xtask", "papers"),
    ("xtask", "cli"),
    ("xtask", "published"),
    ("reduce", "golden"),
    ("xtask", "install"),
    ("comm", "threads"),
    ("schedule", "all"),
];

/// What stage `optimised` builds and runs alone.
const OPTIMISED: &str = "instructions";

/// Cargo's words for all of them: every build of the gate has these members with these features, so that none is built twice.
fn build_words(which: &str) -> String {
    format!("test --no-run {MEMBERS} --exclude {OPTIMISED} --features {FEATURES} {which}")
}

/// Builds programs and says which there are.
pub(super) fn built(steps: &mut Steps, which: &str) -> Result<Vec<Executable>, Stop> {
    let words = build_words(which);
    steps.cargo(&format!("build the tests {which}"), &words)?;
    let mut again = cargo();
    Ok(executables(again.args(words.split_whitespace()))?)
}

/// The program of all commands but `test`: cargo builds it for its tests.
pub(super) fn xtask(steps: &mut Steps) -> Result<Command, Stop> {
    let program = steps.xtask_program(|steps| {
        let programs = built(steps, "--test cli")?;
        let found = programs
            .into_iter()
            .find(|one| one.target == "xtask" && !one.is_test);
        let missing = || Stop::Error(Error::Run("cargo built no xtask".to_owned()));
        Ok(found.ok_or_else(missing)?.path)
    })?;
    Ok(Command::new(program))
}

impl Steps {
    /// Runs another command of `cargo xtask` with these words.
    pub(super) fn xtask(&mut self, name: &str, words: &str) -> Result<(), Stop> {
        let mut command = xtask(self)?;
        self.installation().pass_on(&mut command);
        command.args(words.split_whitespace());
        self.step(name, command.current_dir(workspace()))
    }

    /// Runs it when no other stage's ranks run.
    pub(super) fn xtask_of_ranks(&mut self, name: &str, words: &str) -> Result<(), Stop> {
        self.in_turn(|steps| steps.xtask(name, words))
    }
}

/// Runs those tests of a program of `xtask` that a run of all leaves out.
pub(super) fn run_ignored(steps: &mut Steps, name: &str) -> Result<(), Stop> {
    let programs = built(steps, &format!("--test {name}"))?;
    let is_it = |one: &Executable| one.is_test && one.name == "xtask" && one.target == name;
    let program = programs.into_iter().find(is_it);
    let missing = || Stop::Error(Error::Run(format!("cargo built no test `{name}` of xtask")));
    let program = program.ok_or_else(missing)?;
    let mut command = command(&program);
    command.args(["--ignored", "--nocapture"]);
    steps.installation().pass_on(&mut command);
    steps.step(&format!("all of {name}"), &mut command)
}

/// A program of tests, told what cargo tells those that it runs; one test at a time.
fn command(program: &Executable) -> Command {
    let mut command = Command::new(&program.path);
    // Not by an option, which programs without Rust's own harness would take for theirs.
    command.env("RUST_TEST_THREADS", "1");
    command.current_dir(&program.package);
    command.env("CARGO_MANIFEST_DIR", &program.package);
    command.env("CARGO", cargo().get_program());
    command
}

/// Runs all that need no launcher.
pub(super) fn run_all(steps: &mut Steps) -> Result<(), Stop> {
    let mut programs = built(steps, "")?;
    programs.retain(|program| program.is_test);
    let place = |program: &Executable| {
        let is = |&(package, name): &(&str, &str)| {
            program.package.ends_with(package) && program.target == name
        };
        LONG.iter().position(is).unwrap_or(LONG.len())
    };
    programs.sort_by_key(place);
    let count = programs.len();
    let begin = Instant::now();
    let shared = &*steps;
    at_a_time(BESIDE, programs, |program| run(shared, &program))?;
    let seconds = begin.elapsed().as_secs_f64();
    steps.say(&format!(
        "── passed: {count} programs of tests ({seconds:.0} s)"
    ));
    steps.passed(TESTS, seconds, Kind::Run);
    Ok(())
}

/// Runs a program's tests, one after the other.
fn run(steps: &Steps, program: &Executable) -> Result<(), Stop> {
    let package = program.package.strip_prefix(workspace());
    let package = package.unwrap_or(&program.package).display();
    let title = format!("{package}: {}", program.target);
    let could_not = |error: io::Error| Stop::Error(Error::Run(format!("{title}: {error}")));
    let mut command = command(program);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    let begin = Instant::now();
    let mut child = command.spawn().map_err(could_not)?;
    let (lines, errors) = listen(&mut child).map_err(could_not)?;
    let status = child.wait().map_err(could_not)?;
    let mut printed = format!("\n── {title}");
    let (mut is_timed, mut failed) = (false, None);
    let outcome = |line: &str, word: &str| {
        let test = line.strip_prefix("test ")?.strip_suffix(word)?;
        Some(test.strip_suffix(" ... ")?.to_owned())
    };
    for (line, seconds) in lines {
        if let Some(test) = outcome(&line, "ok") {
            is_timed = true;
            steps.passed(&format!("{title}: {test}"), seconds, Kind::Test);
        }
        failed = failed.or_else(|| outcome(&line, "FAILED"));
        printed += &format!("\n{line}");
    }
    steps.say(format!("{printed}\n{errors}").trim_end());
    if status.success() {
        if !is_timed {
            steps.passed(&title, begin.elapsed().as_secs_f64(), Kind::Test);
        }
        return Ok(());
    }
    let which = match &*program.kind {
        "lib" => "--lib".to_owned(),
        kind => format!("--{kind} {}", program.target),
    };
    let test = failed.map_or(String::new(), |test| format!(" -- --exact {test}"));
    // Of all members, as they were built.
    let repeat = format!("cargo test {MEMBERS} --features {FEATURES} {which}{test}");
    Err(steps.failed(&title, &status.to_string(), Some(&repeat)))
}

/// What a program prints: its lines, each with the seconds since the one before, and its errors.
fn listen(child: &mut Child) -> io::Result<(Vec<(String, f64)>, String)> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let errors = thread::spawn(move || {
        let mut errors = Vec::new();
        stderr.map(|mut pipe| pipe.read_to_end(&mut errors));
        String::from_utf8_lossy(&errors).into_owned()
    });
    let mut lines = Vec::new();
    let mut before = Instant::now();
    for line in stdout
        .map(BufReader::new)
        .into_iter()
        .flat_map(|pipe| pipe.split(b'\n'))
    {
        let line = String::from_utf8_lossy(&line?).into_owned();
        let now = Instant::now();
        lines.push((line, (now - before).as_secs_f64()));
        before = now;
    }
    let errors = errors.join();
    Ok((lines, errors.unwrap_or_default()))
}
