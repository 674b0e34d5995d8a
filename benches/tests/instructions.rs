//! How many instructions a kernel takes: a guard against slow code that no clock disturbs.
//!
//! valgrind's callgrind counts them; it knows no AVX-512. The limits are a tenth above what was counted when they were written, so that a
//! new compiler may differ a little, and an extra pass, a lost vector or a call that is no longer inlined may not.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::path::Path;
use std::process::Command;

/// Kernel, level, leaves, and the most instructions that one call may take.
const LIMITS: [(&str, &str, usize, u64); 11] = [
    ("sum", "scalar", 4096, 9_600),
    ("sum", "sse2", 4096, 12_300),
    ("sum", "avx2", 4096, 5_700),
    ("sum", "avx2", 10, 110),
    ("sum", "avx2", 1000, 2_000),
    ("sum", "avx2", 100_003, 135_000),
    ("dot", "avx2", 4096, 6_900),
    ("absolute", "avx2", 4096, 11_800),
    ("2", "avx2", 4096, 13_000),
    ("5", "avx2", 4095, 9_700),
    ("64", "avx2", 4096, 11_100),
];

/// All instructions of a run of this number of calls.
fn instructions(kernel: &str, level: &str, leaves: usize, calls: usize) -> u64 {
    let file = format!("callgrind-{kernel}-{level}-{leaves}-{calls}");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(env!("CARGO_BIN_EXE_one-kernel"))
        .args([kernel, level, &leaves.to_string(), &calls.to_string()])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let counts = std::fs::read_to_string(file).unwrap();
    let total = counts
        .lines()
        .find_map(|line| line.strip_prefix("totals: "));
    total.unwrap().trim().parse().unwrap()
}

#[test]
fn kernels_take_no_more_instructions_than_they_did() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("SKIPPED: valgrind is not installed");
        return;
    }
    if cfg!(debug_assertions) {
        println!(
            "SKIPPED: it counts what is used, `cargo test --release -p benches --test instructions`"
        );
        return;
    }
    if !cfg!(target_arch = "x86_64") {
        println!("SKIPPED: the limits are x86-64's");
        return;
    }
    for (kernel, level, leaves, limit) in LIMITS {
        // What is not the kernel's is in both runs.
        let once = instructions(kernel, level, leaves, 1);
        let often = instructions(kernel, level, leaves, 11);
        let count = (often - once) / 10;
        println!("{kernel}, {level}, {leaves} leaves: {count} instructions");
        assert!(
            count <= limit,
            "{kernel}, {level}, {leaves} leaves: {count} instructions, at most {limit}"
        );
    }
}
