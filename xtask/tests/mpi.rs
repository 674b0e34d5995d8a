//! The commands under MPI, with real processes; `cargo xtask test` builds it with feature `mpi`.

#![cfg(feature = "mpi")]
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use xtask::mpi::Launcher;

/// What one launch of so many ranks says, the last of which misbehaves; it ends, and not well.
fn fault(kind: &str, ranks: usize) -> String {
    let launcher = Launcher::of(env!("CARGO_BIN_EXE_mpi-runner"));
    let output = launcher.command(ranks, &["fault", kind]).output().unwrap();
    assert!(!output.status.success(), "{kind} must fail");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_panic_ends_the_job_after_one_line_that_names_the_rank() {
    let errors = fault("panic", 3);
    let lines: Vec<&str> = errors
        .lines()
        .filter(|line| line.contains("panicked"))
        .collect();
    assert_eq!(lines.len(), 1, "{errors}");
    assert!(lines[0].starts_with("rank 2 panicked at "), "{errors}");
    assert!(lines[0].ends_with("on purpose"), "{errors}");
}

#[test]
fn silence_ends_by_a_time_out_that_names_both_ranks() {
    for kind in ["silence", "leave"] {
        let errors = fault(kind, 3);
        assert!(
            errors.contains("rank 2 has been silent for 2s"),
            "{kind}: {errors}"
        );
        assert!(errors.contains("mpi-runner: rank "), "{kind}: {errors}");
    }
}

#[test]
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
        // Eleven schedules, five of them by reduce, too; on the six contiguous distributions also the four other algorithms,
        // and under MPI the library's own reductions by both.
        let native = if backend == "mpi" { 2 } else { 0 };
        assert_eq!(of_backend.clone().count(), 3 * (8 * 16 + 6 * (4 + native)));
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
