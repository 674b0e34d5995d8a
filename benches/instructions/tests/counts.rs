//! Checks that no kernel executes more instructions than its limit. This detects slow code without a clock.
//!
//! On x86-64, valgrind's callgrind counts the instructions, except for AVX-512, which valgrind does not support. On aarch64, the test counts
//! them in qemu's trace. The limits are a tenth above the counts at the time of writing. A newer compiler may need a few more instructions,
//! but an extra pass, a loop without vectors or a call that is no longer inlined exceeds a limit.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Kernel, level, leaves, and the most instructions that one call may take.
#[cfg(not(target_arch = "aarch64"))]
const LIMITS: [(&str, &str, usize, u64); 11] = [
    ("sum", "scalar", 4096, 9_600),
    ("sum", "sse2", 4096, 12_300),
    ("sum", "avx2", 4096, 5_700),
    ("sum", "avx2", 10, 110),
    ("sum", "avx2", 1000, 2_000),
    ("sum", "avx2", 100_003, 135_000),
    ("dot", "avx2", 4096, 6_900),
    ("absolute", "avx2", 4096, 11_800),
    ("2", "avx2", 4096, 5_600),
    ("5", "avx2", 4095, 9_700),
    ("64", "avx2", 4096, 11_100),
];

/// Kernel, level, leaves, and the most instructions that one call may take.
#[cfg(target_arch = "aarch64")]
const LIMITS: [(&str, &str, usize, u64); 8] = [
    ("sum", "scalar", 4096, 4_900),
    ("sum", "neon", 4096, 4_300),
    ("sum-f32", "neon", 4096, 2_050),
    ("minimum", "neon", 4096, 5_200),
    ("product", "neon", 4096, 8_000),
    ("dot", "neon", 4096, 9_000),
    ("2", "neon", 4096, 11_300),
    ("64", "neon", 4096, 19_600),
];

/// Kernel, level, leaves, calls.
type Run<'r> = (&'r str, &'r str, usize, usize);

/// Whether a program is installed.
fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// The file for the counts of a run.
fn file((kernel, level, leaves, calls): Run) -> PathBuf {
    let file = format!("instructions-{kernel}-{level}-{leaves}-{calls}");
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(file)
}

/// Runs the kernel under a program that counts instructions.
fn run(command: &mut Command, (kernel, level, leaves, calls): Run) {
    let output = command
        .arg(env!("CARGO_BIN_EXE_one-kernel"))
        .args([kernel, level, &leaves.to_string(), &calls.to_string()])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The number of all instructions of a run.
#[cfg(not(target_arch = "aarch64"))]
fn instructions(of: Run) -> BTreeMap<String, u64> {
    let file = file(of);
    let mut valgrind = Command::new(COUNTER);
    valgrind.args(["--tool=callgrind", "--quiet"]);
    valgrind.arg(format!("--callgrind-out-file={}", file.display()));
    run(&mut valgrind, of);
    let counts = std::fs::read_to_string(file).unwrap();
    let total = counts
        .lines()
        .find_map(|line| line.strip_prefix("totals: "));
    let total = total.unwrap().trim().parse().unwrap();
    BTreeMap::from([("all".to_owned(), total)])
}

#[cfg(not(target_arch = "aarch64"))]
const COUNTER: &str = "valgrind";

#[cfg(target_arch = "aarch64")]
const COUNTER: &str = "qemu-aarch64-static";

/// The number of executions of each instruction in a run, by name. A vector instruction's name ends with its lanes, such as `.2d`.
///
/// qemu's trace has each instruction once, when it is translated, and the instruction's address each time it is executed.
#[cfg(target_arch = "aarch64")]
fn instructions(of: Run) -> BTreeMap<String, u64> {
    let file = file(of);
    let mut qemu = Command::new(COUNTER);
    qemu.args(["-L", "/usr/aarch64-linux-gnu", "-singlestep"]);
    qemu.args(["-d", "in_asm,exec,nochain", "-D"]).arg(&file);
    run(&mut qemu, of);
    let trace = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let (mut names, mut counts) = (BTreeMap::new(), BTreeMap::new());
    let address = |word: &str| u64::from_str_radix(word, 16).unwrap();
    for line in trace.lines() {
        if let Some(instruction) = line.strip_prefix("0x") {
            let (at, words) = instruction.split_once(':').unwrap();
            let mut words = words.split_whitespace().skip(1);
            let (name, operand) = (words.next().unwrap(), words.next().unwrap_or_default());
            let lanes = operand.trim_end_matches(',').split_once('.');
            let name = lanes.map_or(name.to_owned(), |(_, lanes)| format!("{name}.{lanes}"));
            names.insert(address(at), name);
        } else if line.starts_with("Trace ") {
            let at = address(line.split('/').nth(1).unwrap());
            *counts.entry(names[&at].clone()).or_default() += 1;
        }
    }
    counts
}

/// The instructions of one call, by name: a tenth of the difference between 11 calls and one. Instructions outside the calls cancel.
fn per_call(kernel: &str, level: &str, leaves: usize) -> BTreeMap<String, u64> {
    let once = instructions((kernel, level, leaves, 1));
    let mut often = instructions((kernel, level, leaves, 11));
    for (name, count) in &mut often {
        *count = count.saturating_sub(once.get(name).copied().unwrap_or(0)) / 10;
    }
    often
}

/// Why the test is skipped, if it is.
fn skip_reason() -> Option<String> {
    if !is_installed(COUNTER) {
        return Some(format!("{COUNTER} is not installed"));
    }
    if cfg!(debug_assertions) {
        let command = "cargo test --release -p instructions";
        return Some(format!("limits are for optimised code; run `{command}`"));
    }
    let has_limits = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    (!has_limits).then(|| "there are limits only for x86-64 and aarch64".to_owned())
}

/// The sum of all counts.
fn all(counts: &BTreeMap<String, u64>) -> u64 {
    counts.values().fold(0, |sum, count| sum + count)
}

#[test]
fn kernels_take_no_more_instructions_than_they_did() {
    if let Some(reason) = skip_reason() {
        println!("SKIPPED: {reason}");
        return;
    }
    for (kernel, level, leaves, limit) in LIMITS {
        let count = all(&per_call(kernel, level, leaves));
        println!("{kernel}, {level}, {leaves} leaves: {count} instructions");
        assert!(
            count <= limit,
            "{kernel}, {level}, {leaves} leaves: {count} instructions, at most {limit}"
        );
    }
}

/// Summing in tree order takes one load and one addition per register of leaves, like any other order. The trace has only instructions
/// that were executed, so the count is exact whatever the compiler generates.
#[cfg(target_arch = "aarch64")]
#[test]
fn a_level_of_the_tree_is_one_instruction() {
    if let Some(reason) = skip_reason() {
        println!("SKIPPED: {reason}");
        return;
    }
    println!(
        "| instructions per 4096 leaves | all | additions of vectors | loads of vectors or pairs |"
    );
    for (float, lanes, in_lanes) in [("", 2, "2d"), ("-f32", 4, "4s")] {
        let counts = |kernel: &str| {
            let counts = per_call(&format!("{kernel}{float}"), "neon", 4096);
            let sum_of = |names: &[&str]| {
                let named = |name: &&str| counts.get(*name).copied().unwrap_or(0);
                names.iter().map(named).fold(0, |sum, count| sum + count)
            };
            let pairs = sum_of(&[&format!("faddp.{in_lanes}")]);
            let additions = pairs + sum_of(&[&format!("fadd.{in_lanes}")]);
            let loads = sum_of(&["ldp", "ldr", "ld1", "ld2"]);
            let all = all(&counts);
            println!("| {kernel}{float} | {all} | {additions} | {loads} |");
            (all, pairs, additions)
        };
        let (tree, pairs, additions) = counts("sum");
        let registers = 4096 / lanes;
        // In the last levels of each block, the sums are no longer whole registers.
        assert!(
            (registers - registers / 64..=registers).contains(&pairs),
            "{pairs}"
        );
        assert!(additions <= registers, "{additions} additions");
        let (unordered, _, unordered_additions) = counts("unordered-8");
        assert!(additions <= unordered_additions);
        assert!(tree <= unordered, "{tree}, unordered {unordered}");
        for other in ["unordered-4", "unordered-16"] {
            counts(other);
        }
    }
}
