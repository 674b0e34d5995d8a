//! The commands under MPI, with real processes.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use harness::Error;
use harness::ranks::RANK_WORD;
use launch::{Installation, Launcher};
use reduce::mpi;
use serde_json::Value;

fn launcher() -> Launcher {
    let installation = Installation::find(None, None).unwrap();
    Launcher::of(installation, env!("CARGO_BIN_EXE_xtask"))
}

/// What ranks print is not looked at.
fn said_nothing(_line: &str) -> Result<(), Error> {
    Ok(())
}

/// The error of a launch of `ranks` ranks, the last of which misbehaves.
fn fault(kind: &str, ranks: usize) -> String {
    let ended = launcher().launch(ranks, &[RANK_WORD, "fault", kind], said_nothing);
    ended.expect_err(kind).to_string()
}

#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn a_panic_ends_the_job_after_one_line_that_names_the_rank() {
    let error = fault("panic", 3);
    assert_eq!(error.matches("panicked").count(), 1, "{error}");
    let told = ": rank 2 panicked: on purpose (at xtask/src/mpi_runner.rs:";
    assert!(error.contains(told), "{error}");
}

#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn a_launcher_that_is_not_there_is_named() {
    let launcher = Some("no-such-launcher -n {ranks}");
    let installation = Installation::find(None, launcher).unwrap();
    let launcher = Launcher::of(installation, env!("CARGO_BIN_EXE_xtask"));
    let ended = launcher.launch(3, &[RANK_WORD, "fault", "leave"], said_nothing);
    let error = ended.unwrap_err().to_string();
    assert!(error.starts_with("no-such-launcher -n 3: "), "{error}");
}

#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn silence_ends_by_a_time_out_that_names_both_ranks() {
    for kind in ["silence", "leave"] {
        let error = fault(kind, 3);
        let told = "nothing came within 2s, and rank 2 is silent";
        assert!(error.contains(told), "{kind}: {error}");
        assert!(error.contains("mpi-runner: rank "), "{kind}: {error}");
    }
}

#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn a_run_whose_ranks_say_nothing_is_ended() {
    let launcher = launcher().with_limit(Duration::from_secs(1));
    let begin = Instant::now();
    let ended = launcher.launch(3, &[RANK_WORD, "fault", "silence"], said_nothing);
    let error = ended.unwrap_err().to_string();
    assert!(
        error.contains("no rank has said anything for 1s"),
        "{error}"
    );
    // The last rank sleeps for 20 s.
    assert!(begin.elapsed() < Duration::from_secs(15));
}

/// Without a launcher, a program is a job of one rank; this one is told that it is one of three, and perhaps that it is alone on purpose.
fn as_one_of_three(variable: &str, alone: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args([RANK_WORD, "fault", "leave"])
        .env(variable, "3")
        .env(mpi::ALONE_VARIABLE, alone)
        .output()
        .unwrap()
}

#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn another_librarys_launcher_is_noticed() {
    for alone in ["", "off", "No"] {
        let output = as_one_of_three("SLURM_STEP_NUM_TASKS", alone);
        assert!(!output.status.success(), "{alone}");
        let error = String::from_utf8(output.stderr).unwrap();
        let told = "the launcher has started 3 ranks (SLURM_STEP_NUM_TASKS=3)";
        assert!(error.contains(told), "{error}");
        assert!(error.contains("set TREEFOLD_ALONE=on"), "{error}");
    }
}

/// The lines in which the two ranks of a launch with this library say what is wrong. MPICH's launcher may end the second before it has its say.
fn told_of_library(file: &Path) -> Vec<String> {
    let installation = Installation::find(None, None).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_xtask"));
    let mut launch = installation.command(2, program);
    launch
        .args([RANK_WORD, "fault", "leave"])
        .env(mpi::LIBRARY_VARIABLE, file);
    let output = launch.output().unwrap();
    assert!(!output.status.success(), "{}", file.display());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines = told.lines().filter(|line| line.contains("mpi-runner: "));
    lines.map(str::to_owned).collect()
}

#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn a_library_that_cannot_be_is_told() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let text = folder.join("no-library.so");
    fs::write(&text, "no library").unwrap();
    for (file, told) in [
        (folder.join("missing.so"), "which cannot be opened: "),
        (text, "which cannot be opened: "),
        ("libm.so.6".into(), "which is no MPI library: "),
    ] {
        let lines = told_of_library(&file);
        assert!((1..=2).contains(&lines.len()), "{lines:?}");
        for line in lines {
            let variable = format!("TREEFOLD_MPI_LIBRARY is {file:?}, {told}");
            assert!(line.contains(&variable), "{line}");
        }
    }
}

/// The other of Debian's two, whichever starts the ranks.
#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn a_library_of_another_family_than_the_launchers_is_told() {
    let told = ["libmpi.so.40", "libmpich.so.12"].map(|file| told_of_library(Path::new(file)));
    let is_missing = |line: &String| line.contains("cannot be opened");
    if told.iter().flatten().any(is_missing) {
        println!("skipped: there is one library only");
        return;
    }
    let words = "but the launcher that has started this process is of ";
    let refused = told.map(|lines| lines.iter().any(|line| line.contains(words)));
    assert!(refused[0] != refused[1], "{refused:?}");
}

/// In a shell within a job of Slurm's, its variable is left over.
#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn a_job_of_one_rank_may_be_meant_to_be_one() {
    for alone in ["on", "1", "TRUE"] {
        let output = as_one_of_three("SLURM_STEP_NUM_TASKS", alone);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{alone}: {error}");
    }
    let output = as_one_of_three("SLURM_STEP_NUM_TASKS", "perhaps");
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    let told =
        "rank 0: TREEFOLD_ALONE is `perhaps`, not one of on, off, 1, 0, true, false, yes, no";
    assert!(error.contains(told), "{error}");
}

/// A switch has several spellings; any other is told with its rank and its value.
#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn a_setting_that_cannot_be_is_an_error() {
    let check = |value: &str| {
        Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["repro-check", "--backend", "mpi", "--ranks", "2"])
            .args(["--algorithm", "direct", "--distribution", "lower"])
            .env("TREEFOLD_SHARED_MEMORY", value)
            .output()
            .unwrap()
    };
    for (value, told) in [("perhaps", "perhaps"), ("o\u{1b}n", r"o\u{1b}n")] {
        let output = check(value);
        assert_eq!(output.status.code(), Some(2));
        let error = String::from_utf8(output.stderr).unwrap();
        let told = format!(
            "rank 0: TREEFOLD_SHARED_MEMORY is `{told}`, not one of on, off, 1, 0, true, false, yes, no"
        );
        assert!(error.contains(&told), "{error}");
    }
    for value in ["OFF", "0", "", "On", "1"] {
        let output = check(value);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{value}: {error}");
    }
}

/// Only rank 1 has it, and every rank tells it: the launch ends with rank 0's words, or rank 1's.
#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn a_setting_of_one_rank_is_told_by_all() {
    let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join("set-on-rank-1.sh");
    let set = "if [ \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 1 ]; then export TREEFOLD_SHARED_MEMORY=perhaps; fi\nexec \"$@\"\n";
    fs::write(&script, set).unwrap();
    let own = Installation::find(None, None).unwrap().shown(3);
    let launcher = format!("env RANKS={{ranks}} {own} sh {}", script.display());
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["repro-check", "--backend", "mpi", "--ranks", "3"])
        .args(["--launcher", &launcher])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    let told = "rank 1: TREEFOLD_SHARED_MEMORY is `perhaps`, not one of ";
    assert!(error.contains(told), "{error}");
    assert!(!error.contains("rank 0: TREEFOLD"), "{error}");
}

#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn repro_check_under_mpi() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpi.psllh");
    let numbers: Vec<String> = (1..=700)
        .map(|i| format!("{:e}", 1.0 / f64::from(i)))
        .collect();
    fs::write(&path, format!("700\n{}\n", numbers.join("\n"))).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args([
            "repro-check",
            "--backend",
            "all",
            "--ranks",
            "1,2,5",
            "--json",
            "-",
        ])
        .args(["--distribution", "all", "--algorithm", "all", "--input"])
        .arg(&path)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let rows = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Value> = rows
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for backend in ["threads", "mpi"] {
        let of_backend = rows
            .iter()
            .filter(|row| row["backend"] == backend && row["dataset"] == "mpi");
        // On eleven distributions exact sums by both operations, and twenty schedules, eight of them by reduce, too; on the nine contiguous
        // ones also the four other algorithms, and under MPI the library's own reductions by both.
        let native = if backend == "mpi" { 2 } else { 0 };
        assert_eq!(of_backend.clone().count(), 3 * (11 * 30 + 9 * (4 + native)));
        let mut tree: Vec<&str> = of_backend
            .filter(|row| row["order"] == "tree")
            .map(|row| row["bits"].as_str().unwrap())
            .collect();
        tree.dedup();
        assert_eq!(tree.len(), 1, "{backend}");
    }
    for row in &rows {
        let sum = row["sum"].as_f64().unwrap().to_bits();
        assert_eq!(format!("{sum:016X}"), row["bits"], "{row}");
    }
    let unordered = |row: &&Value| row["backend"] == "mpi" && row["algorithm"] == "unordered";
    assert!(
        rows.iter()
            .filter(unordered)
            .all(|row| row["messages"].is_null())
    );
}
