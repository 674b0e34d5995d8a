//! Runs the test programs, which cargo builds once for all stages. Two programs run at a time, each with one test at a time. A test that waits
//! thus leaves its core to one that computes, and the time of each test is known.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use checkout::workspace::{Executable, executables, workspace};

use crate::times::{Kind, TESTS};
use crate::{Result, Steps, at_a_time, cargo, words};

/// All members except the one that depends on an MPI library and the one that compiles mdBook.
pub(crate) const MEMBERS: &str = "--workspace --exclude treefold-rsmpi --exclude book";

/// The features with which clippy, docs and tests are built. They are the same for all, so that builds are shared.
pub(crate) const FEATURES: &str =
    "treefold/cuda,treefold/mpi,treefold/tracing,treefold/par,treefold/num-complex";

/// The number of test programs that run at once: the gate is designed for two cores. With more,
/// ranks that are threads would compete for cores.
const BESIDE: usize = 2;

/// The programs with the longest tests, which start first. The other programs follow in cargo's order.
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

/// The tests that only stage `optimised` builds and runs.
const OPTIMISED: &str = "instructions";

/// Cargo's arguments: every build of the gate has these members with these features, so that nothing is built twice.
fn build_words(which: &str) -> String {
    format!("test --no-run {MEMBERS} --exclude {OPTIMISED} --features {FEATURES} {which}")
}

/// Builds test programs and returns them.
pub(crate) fn built(steps: &mut Steps, which: &str) -> Result<Vec<Executable>> {
    let words = build_words(which);
    steps.cargo(format!("build the tests {which}"), &words)?;
    Ok(executables(&mut cargo(&words))?)
}

/// The test program of a target in the package with this folder.
pub(crate) fn find<'a>(
    programs: &'a [Executable],
    package: &str,
    target: &str,
) -> Result<&'a Executable> {
    let is_it = |one: &&Executable| one.package.ends_with(package) && one.target == target;
    let found = programs.iter().filter(is_it).max_by_key(|one| one.is_test);
    found.ok_or_else(|| format!("cargo built no `{target}` of {package}").into())
}

/// Another command of `cargo xtask`. The program is the one that cargo builds for the tests of `xtask`.
pub(crate) fn xtask(steps: &mut Steps, words: Vec<OsString>) -> Result<Command> {
    let build = |steps: &mut Steps| {
        let mut programs = built(steps, "--test cli")?;
        programs.retain(|one| !one.is_test);
        Ok(find(&programs, "xtask", "xtask")?.path.clone())
    };
    let mut command = Command::new(steps.once(|run| &run.xtask, build)?);
    steps.installation.pass_on(&mut command);
    command.args(words).current_dir(workspace());
    Ok(command)
}

impl Steps {
    /// Runs another command of `cargo xtask` with these words.
    pub(crate) fn xtask(&mut self, name: &str, words: &str) -> Result {
        let command = xtask(self, words![words])?;
        self.step(name, command)
    }

    /// Runs a command of `cargo xtask` that starts ranks, while no other stage runs ranks.
    pub(crate) fn xtask_of_ranks(&mut self, name: &str, words: &str) -> Result {
        self.in_turn(|steps| steps.xtask(name, words))
    }
}

/// Runs the ignored tests of an `xtask` test program.
pub(crate) fn run_ignored(steps: &mut Steps, name: &str) -> Result {
    let programs = built(steps, &format!("--test {name}"))?;
    let mut command = command(find(&programs, "xtask", name)?);
    command.args(["--ignored", "--nocapture"]);
    steps.installation.pass_on(&mut command);
    steps.step(format!("all of {name}"), command)
}

/// The command that runs a test program in cargo's environment, one test at a time.
fn command(program: &Executable) -> Command {
    let mut command = Command::new(&program.path);
    // This is not an option, because programs without Rust's test harness would misread it.
    command.env("RUST_TEST_THREADS", "1");
    command.current_dir(&program.package);
    command.env("CARGO_MANIFEST_DIR", &program.package);
    command.env("CARGO", cargo("").get_program());
    command
}

/// Runs all test programs that need no launcher.
pub(crate) fn run_all(steps: &mut Steps) -> Result {
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
        "── passed: {count} test programs ({seconds:.0} s)"
    ));
    steps.passed(TESTS, seconds, Kind::Run);
    Ok(())
}

/// Runs a program's tests, one after the other.
fn run(steps: &Steps, program: &Executable) -> Result {
    let package = program.package.strip_prefix(workspace());
    let package = package.unwrap_or(&program.package).display();
    let title = format!("{package}: {}", program.target);
    let could_not = |error: io::Error| format!("{title}: {error}");
    let mut command = command(program);
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
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
    // The command names all members, so that cargo reuses the build.
    let repeat = format!("cargo test {MEMBERS} --features {FEATURES} {which}{test}");
    Err(steps.failed(&title, &status.to_string(), Some(&repeat)))
}

/// The output of a program: its lines, each with the seconds since the previous one, and its errors.
fn listen(child: &mut Child) -> io::Result<(Vec<(String, f64)>, String)> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let errors = thread::spawn(move || {
        let mut errors = Vec::new();
        stderr.map(|mut pipe| pipe.read_to_end(&mut errors));
        String::from_utf8_lossy(&errors).into_owned()
    });
    let mut lines = Vec::new();
    let mut before = Instant::now();
    let pipe = stdout.map(BufReader::new).into_iter();
    for line in pipe.flat_map(|pipe| pipe.split(b'\n')) {
        let line = String::from_utf8_lossy(&line?).into_owned();
        let now = Instant::now();
        lines.push((line, (now - before).as_secs_f64()));
        before = now;
    }
    let errors = errors.join();
    Ok((lines, errors.unwrap_or_default()))
}
