//! Tests of the commands under MPI, with real processes.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use common::{fresh_folder, said, xtask};
use harness::Error;
use harness::ranks::RANK_WORD;
use launch::{Installation, Launcher};
use reduce::mpi;
use serde_json::Value;

const XTASK: &str = env!("CARGO_BIN_EXE_xtask");

fn launcher() -> Launcher {
    Launcher::of(Installation::find(None, None).unwrap(), XTASK)
}

/// Launches three ranks, the last of which misbehaves, and returns the launch's error. Ignores the ranks' output.
fn fault(launcher: &Launcher, kind: &str) -> String {
    let said = |_: &str| -> Result<(), Error> { Ok(()) };
    let ended = launcher.launch(3, &[RANK_WORD, "fault", kind], said);
    ended.expect_err(kind).to_string()
}

/// A file in a folder of its own.
fn file(name: &str, text: &str) -> PathBuf {
    let path = fresh_folder(&format!("of-{name}")).join(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn a_panic_ends_the_job_after_one_line_that_names_the_rank() {
    let error = fault(&launcher(), "panic");
    assert_eq!(error.matches("panicked").count(), 1, "{error}");
    let told = ": rank 2 panicked: on purpose (at xtask/src/mpi_runner.rs:";
    assert!(error.contains(told), "{error}");
}

#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn a_launcher_that_is_not_there_is_named() {
    let installation = Installation::find(None, Some("no-such-launcher -n {ranks}")).unwrap();
    let error = fault(&Launcher::of(installation, XTASK), "leave");
    assert!(error.starts_with("no-such-launcher -n 3: "), "{error}");
}

#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn silence_ends_by_a_time_out_that_names_both_ranks() {
    for kind in ["silence", "leave"] {
        let error = fault(&launcher(), kind);
        let told = "nothing came within 2s, and rank 2 is silent";
        assert!(error.contains(told), "{kind}: {error}");
        assert!(error.contains("mpi-runner: rank "), "{kind}: {error}");
    }
}

#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn a_run_whose_ranks_say_nothing_is_ended() {
    let begin = Instant::now();
    let error = fault(&launcher().with_limit(Duration::from_secs(1)), "silence");
    let told = "no rank has said anything for 1s";
    assert!(error.contains(told), "{error}");
    // The last rank sleeps for 20 s.
    assert!(begin.elapsed() < Duration::from_secs(15));
}

/// Without a launcher, a program is a job of one rank. Here a variable says that the job has three ranks, as in a shell within a Slurm job,
/// and `TREEFOLD_ALONE` may say that one rank is intended.
#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn another_librarys_launcher_is_noticed() {
    let started = "the launcher has started 3 ranks (SLURM_STEP_NUM_TASKS=3)";
    let spelled =
        "rank 0: TREEFOLD_ALONE is `perhaps`, not one of on, off, 1, 0, true, false, yes, no";
    for (alone, expected) in [
        ("", Some([started, "set TREEFOLD_ALONE=on"])),
        ("off", Some([started, "set TREEFOLD_ALONE=on"])),
        ("No", Some([started, "set TREEFOLD_ALONE=on"])),
        ("perhaps", Some([spelled, ""])),
        ("on", None),
        ("1", None),
        ("TRUE", None),
    ] {
        let mut rank = Command::new(XTASK);
        rank.args([RANK_WORD, "fault", "leave"]);
        rank.env("SLURM_STEP_NUM_TASKS", "3");
        let output = rank.env(mpi::ALONE_VARIABLE, alone).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.success(), expected.is_none(), "{error}");
        let mut expected = expected.iter().flatten();
        assert!(expected.all(|told| error.contains(told)), "{error}");
    }
}

/// The error lines of two ranks that are launched with this library. MPICH's launcher may end one rank before that rank prints its line.
fn told_of_library(file: &Path) -> Vec<String> {
    let installation = Installation::find(None, None).unwrap();
    let mut launch = installation.command(2, Path::new(XTASK));
    launch.args([RANK_WORD, "fault", "leave"]);
    let output = launch.env(mpi::LIBRARY_VARIABLE, file).output().unwrap();
    assert!(!output.status.success(), "{}", file.display());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines = told.lines().filter(|line| line.contains("mpi-runner: "));
    lines.map(str::to_owned).collect()
}

#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn a_library_that_cannot_be_is_told() {
    let text = file("no-library.so", "no library");
    for (file, told) in [
        (text.with_file_name("missing.so"), "cannot be opened: "),
        (text, "cannot be opened: "),
        ("libm.so.6".into(), "is not an MPI library: "),
    ] {
        let lines = told_of_library(&file);
        assert!((1..=2).contains(&lines.len()), "{lines:?}");
        for line in lines {
            let variable = format!("TREEFOLD_MPI_LIBRARY is {file:?}, which {told}");
            assert!(line.contains(&variable), "{line}");
        }
    }
}

/// Tries both of Debian's MPI libraries. The launcher belongs to the family of only one.
#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn a_library_of_another_family_than_the_launchers_is_told() {
    let told = ["libmpi.so.40", "libmpich.so.12"].map(|file| told_of_library(Path::new(file)));
    let is_missing = |line: &String| line.contains("cannot be opened");
    if told.iter().flatten().any(is_missing) {
        println!("skipped: only one MPI library is installed");
        return;
    }
    let words = "but the launcher that has started this process belongs to ";
    let refused = told.map(|lines| lines.iter().any(|line| line.contains(words)));
    assert!(refused[0] != refused[1], "{refused:?}");
}

/// A setting that is on or off accepts several spellings. Any other value is an error that names the rank and the value.
#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn a_setting_that_cannot_be_is_an_error() {
    let check = |value: &str| {
        let words = "repro-check --backend mpi --ranks 2 --algorithm direct --distribution lower";
        let mut check = Command::new(XTASK);
        check.args(words.split(' '));
        let check = check.env("TREEFOLD_SHARED_MEMORY", value);
        check.output().unwrap()
    };
    for (value, told) in [("perhaps", "perhaps"), ("o\u{1b}n", r"o\u{1b}n")] {
        let error = said(check(value), 2);
        let told = format!("rank 0: TREEFOLD_SHARED_MEMORY is `{told}`, not one of on, off, 1, 0,");
        assert!(error.contains(&told), "{error}");
    }
    for value in ["OFF", "0", "", "On", "1"] {
        said(check(value), 0);
    }
}

/// Only rank 1 has the wrong setting, but every rank reports it. The launch's error names rank 1, whichever rank's message it is.
#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn a_setting_of_one_rank_is_told_by_all() {
    let set = "if [ \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 1 ]; then export TREEFOLD_SHARED_MEMORY=perhaps; fi\nexec \"$@\"\n";
    let script = file("set-on-rank-1.sh", set);
    let own = Installation::find(None, None).unwrap().shown(3);
    let launcher = format!("env RANKS={{ranks}} {own} sh {}", script.display());
    let words = ["--backend", "mpi", "--ranks", "3", "--launcher", &launcher];
    let error = said(xtask("repro-check", &words), 2);
    let told = "rank 1: TREEFOLD_SHARED_MEMORY is `perhaps`, not one of ";
    assert!(error.contains(told), "{error}");
    assert!(!error.contains("rank 0: TREEFOLD"), "{error}");
}

#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn repro_check_under_mpi() {
    let numbers = (1..=700).map(|i| format!("{:e}\n", 1.0 / f64::from(i)));
    let numbers: String = numbers.collect();
    let path = file("mpi.psllh", &format!("700\n{numbers}"));
    let words = "--backend all --ranks 1,2,5 --json - --distribution all --algorithm all --input";
    let words: Vec<&str> = words.split(' ').chain(path.to_str()).collect();
    let output = xtask("repro-check", &words);
    let rows = String::from_utf8(output.stdout.clone()).unwrap();
    said(output, 0);
    let rows = rows.lines().map(|line| serde_json::from_str(line).unwrap());
    let rows: Vec<Value> = rows.collect();
    for backend in ["threads", "mpi"] {
        let is_it = |row: &&Value| row["backend"] == backend && row["dataset"] == "mpi";
        let of_backend = rows.iter().filter(is_it);
        // Each of the eleven distributions has 30 rows: twenty schedules with allreduce, eight with reduce, and exact sums with both. The
        // nine contiguous ones also have the four other algorithms and, under MPI, the library's own reductions with both operations.
        let native = if backend == "mpi" { 2 } else { 0 };
        assert_eq!(of_backend.clone().count(), 3 * (11 * 30 + 9 * (4 + native)));
        let tree = of_backend.filter(|row| row["order"] == "tree");
        let mut tree: Vec<&Value> = tree.map(|row| &row["bits"]).collect();
        tree.dedup();
        assert_eq!(tree.len(), 1, "{backend}");
    }
    for row in &rows {
        let sum = row["sum"].as_f64().unwrap().to_bits();
        assert_eq!(format!("{sum:016X}"), row["bits"], "{row}");
        let is_unordered = row["backend"] == "mpi" && row["algorithm"] == "unordered";
        assert!(!is_unordered || row["messages"].is_null(), "{row}");
    }
}
