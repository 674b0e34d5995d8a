//! Tests of the commands as users see them: their exit status, their one-line errors, and where their output goes.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod check;
mod refused;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// `cargo xtask` with these arguments.
fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(words);
    command
}

fn xtask(words: &[&str]) -> Output {
    command(words).output().unwrap()
}

/// `cargo xtask repro-check` of these files.
fn repro_check(words: &[&str], files: &[PathBuf]) -> Output {
    let mut check = command(&["repro-check"]);
    check.args(words).arg("--input").args(files);
    check.output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

/// The standard output of a command, which must succeed.
#[track_caller]
fn told(output: &Output) -> &str {
    let told = text(&output.stdout);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}{errors}");
    told
}

/// The rows on standard output, which must contain nothing else.
#[track_caller]
fn rows(output: &Output) -> Vec<Value> {
    let lines = told(output).lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Checks that the command ended with status 2 and printed nothing but one line of error, which contains these words.
#[track_caller]
fn is_refused(output: &Output, expected: &[&str]) {
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.len() < 600, "{errors}");
    assert!(output.stdout.is_empty());
    for word in expected {
        assert!(errors.contains(word), "`{errors}` lacks `{word}`");
    }
}

/// Writes a file in a folder that only these tests use.
fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("cli")
        .join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

fn doubles(items: &[f64]) -> Vec<u8> {
    items.iter().flat_map(|item| item.to_le_bytes()).collect()
}

/// A file of doubles.
fn numbers(name: &str, items: &[f64]) -> PathBuf {
    file(name, &doubles(items))
}

/// `test --list` prints every stage, in running order, and runs none.
#[test]
fn stages_are_listed() {
    let output = xtask(&["test", "--list"]);
    let listed = told(&output);
    let at = |stage: &str| listed.find(&format!(" min  {stage} ")).unwrap();
    assert!(at("checks") < at("threads") && at("threads") < at("aarch64"));
    let end = "in all, on 2 cores with an empty target folder";
    assert!(listed.trim_end().ends_with(end), "{listed}");
}

/// An empty environment variable counts as not set.
#[test]
fn empty_variables_say_nothing() {
    let path = numbers("unset.f64", &[0.1, 0.2, 0.3]);
    let check = |value: &str| {
        let variables = "TREEFOLD_MPI TREEFOLD_MPIRUN TREEFOLD_ALGORITHM MPICC".split(' ');
        let mut check = command(&["repro-check", "--ranks", "1,2", "--input"]);
        check
            .arg(&path)
            .envs(variables.map(|variable| (variable, value)));
        check.output().unwrap()
    };
    told(&check(""));
    let reason = "error: TREEFOLD_MPI: unknown MPI library `no-such`; known: ";
    is_refused(&check("no-such"), &[reason]);
}

/// Without Debian's cross-compilers and qemu, stage `aarch64` prints one line and does not fail.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn a_target_that_cannot_be_built_is_skipped() {
    if Path::new("/usr/bin/qemu-aarch64-static").exists() {
        println!("SKIPPED: this machine may build for aarch64");
        return;
    }
    let mut test = command(&["test", "--stage", "aarch64"]);
    let output = test.env("PATH", "/nowhere").output().unwrap();
    let mut lines = told(&output).lines();
    assert!(lines.any(|line| line.starts_with("skipped: aarch64")));
}

/// Without MPI's tools, `--backend mpi` prints one line that says what to install. A check on threads still works.
#[test]
fn mpi_missing() {
    let check = |words: &[&str]| {
        let mut check = command(&["repro-check", "--ranks", "1,2"]);
        check.args(words).env("PATH", "/nowhere");
        check.env("MPICC", "/nowhere/mpicc").output().unwrap()
    };
    for backend in ["mpi", "all"] {
        let expected = ["apt-get install libopenmpi-dev", "mpirun"];
        is_refused(&check(&["--backend", backend]), &expected);
    }
    let path = numbers("alone.f64", &[1.0, 2.0]);
    told(&check(&["--input", path.to_str().unwrap()]));
}

/// `cluster` passes on its command's output and exit status. If it cannot run, as it needs root, it prints one line.
#[test]
fn a_cluster_is_transparent() {
    let script = "echo told; exit 5";
    let output = xtask(&["cluster", "--exec", "--", "sh", "-c", script]);
    if let Err(error) = cluster::check() {
        println!("SKIPPED: {error}");
        return is_refused(&output, &[&error.to_string()]);
    }
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "told\n");
    // A command of this program that runs on threads prints only its rows.
    let own = ["simulate", "--ranks", "64", "--json", "-"];
    let inside = xtask(&[&["cluster", "--"], &own[..]].concat());
    assert_eq!(told(&inside), told(&xtask(&own)));
    let wrong = xtask(&["cluster", "--", "repro-check", "--ranks", "0"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("--ranks"));
}

#[test]
fn benches_run_small() {
    let rows = rows(&xtask(&["bench", "all", "--quick", "--json", "-"]));
    for (key, values) in [
        ("bench", "kernels, parallel, exact, lookup, reduce"),
        ("variant", "recursive, algorithm4-scalar, constant"),
        ("variant", "algorithm1, plan, algorithm4-scalar-f32"),
        ("variant", "streaming-scalar"),
        ("variant", "by-key-allreduce f64"),
        ("reference", "unordered-simd, left-to-right, linear"),
        ("reference", "unordered-simd+allreduce"),
    ] {
        for value in values.split(", ") {
            assert!(rows.iter().any(|row| row[key] == value), "{key}: {value}");
        }
    }
    assert!(rows.iter().all(|row| row["ratio"].as_f64().unwrap() > 0.0));
}

/// The commands that the error lists if no command is given.
fn commands() -> Vec<String> {
    let refused = xtask(&[]);
    is_refused(
        &refused,
        &["error: no command; known: repro-check, bench, "],
    );
    let errors = text(&refused.stderr).trim();
    let (_, known) = errors.rsplit_once("known: ").unwrap();
    known.split(", ").map(str::to_owned).collect()
}

/// Every command is in the output of `cargo xtask --help`, which is written by hand.
#[test]
fn help_has_all_commands() {
    let help = xtask(&["--help"]);
    let shown = told(&help).lines();
    let shown = shown.filter_map(|line| line.strip_prefix("  "));
    let shown = shown.filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    let mut shown: Vec<&str> = shown.filter_map(|line| line.split(' ').next()).collect();
    let mut known = commands();
    // A program of its own.
    known.push("book".to_owned());
    shown.sort_unstable();
    known.sort_unstable();
    assert_eq!(shown, known);
}

/// If standard output is not a terminal, COLUMNS gives the width.
#[test]
fn help_fits_the_terminal() {
    for of in commands().iter().map(String::as_str).chain(["--help"]) {
        for columns in [60, 90] {
            let mut help = command(&[of, "--help"]);
            help.env("COLUMNS", columns.to_string());
            let output = help.stdin(Stdio::null()).output().unwrap();
            for line in told(&output).lines() {
                assert!(line.chars().count() <= columns, "{of}: `{line}`");
            }
        }
    }
}

#[test]
fn a_campaign_counts_its_cases_and_faults() {
    let words = "campaign --cases 200 --seed 7 --ranks 5 --json -";
    let output = xtask(&words.split(' ').collect::<Vec<_>>());
    let [summary] = &rows(&output)[..] else {
        panic!("one line: {}", text(&output.stdout));
    };
    assert_eq!([&summary["cases"], &summary["failures"]], [200, 0]);
    let faults = summary["faults"].as_object().unwrap();
    let cases = faults.values().filter_map(Value::as_u64);
    assert_eq!(cases.fold(0, |total, count| total + count), 200);
    assert!(faults.len() >= 18, "{faults:?}");
    assert!(text(&output.stderr).contains("200 cases from seed 7"));
}
