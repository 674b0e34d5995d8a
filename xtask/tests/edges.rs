//! Words and files at the edge of what `repro-check` takes: each once led to a crash or to a wrong verdict.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use serde_json::Value;

fn repro_check(words: &[&str], files: &[PathBuf]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("repro-check")
        .args(words)
        .arg("--input")
        .args(files)
        .output()
        .unwrap()
}

/// Writes doubles to a file below this test's own folder.
fn file(name: &str, items: &[f64]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("edges")
        .join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
    fs::write(&path, bytes).unwrap();
    path
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

#[track_caller]
fn refused(output: &Output, expected: &str) {
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.len() < 400, "{errors}");
    assert!(errors.contains(expected), "{errors}");
}

/// The item whose exact sum a former reference took for its neighbour: it found 220 faults in good sums.
#[test]
fn an_item_is_reproducible_alone() {
    let item = f64::from_bits(0xC001_215A_19D5_E256);
    let files = [file("item.f64", &[item]), file("minus-item.f64", &[-item])];
    let words = ["--ranks", "1,2,17", "--algorithm", "all"];
    let output = repro_check(&words, &files);
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("\nPASS: "), "{told}");
}

/// A canary whose sums lie close together has the same one on some pairs: then a sound library fails.
#[test]
fn any_pair_of_rank_counts_gives_the_canary_a_spread() {
    let one = [file("one.f64", &[1.5])];
    for ranks in ["1,4", "2,30", "3,16", "5,19", "240,241", "7"] {
        let output = repro_check(&["--ranks", ranks], &one);
        let told = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "--ranks {ranks}: {told}");
    }
}

/// The canary's extra rank counts are not passed off as those of the data.
#[test]
fn the_summary_tells_what_the_canary_alone_ran_on() {
    let output = repro_check(&["--ranks", "7"], &[file("seven.f64", &[1.5])]);
    let told = text(&output.stdout);
    assert!(
        told.contains("threads: p = 7; the canary also on 1, 2, 3\n"),
        "{told}"
    );
}

#[test]
fn files_that_share_a_name_are_told_apart() {
    let files = [
        file("here/same.f64", &[1.0]),
        file("there/same.f64", &[2.0]),
        file("there/same#2.f64", &[3.0]),
        file("there/canary.f64", &[4.0]),
    ];
    let output = repro_check(&["--ranks", "1,2", "--json", "-"], &files);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut sums: Vec<(String, f64)> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|row| row["order"] == "tree")
        .map(|row| {
            let name = row["dataset"].as_str().unwrap().to_owned();
            (name, row["sum"].as_f64().unwrap())
        })
        .collect();
    sums.sort_by(|a, b| a.partial_cmp(b).unwrap());
    sums.dedup();
    let expected = [
        ("canary#2", 4.0),
        ("same", 2.0),
        ("same#2", 3.0),
        ("same#3", 1.0),
    ];
    let expected = expected.map(|(name, sum)| (name.to_owned(), sum));
    assert_eq!(sums, expected);
}

#[test]
fn more_ranks_than_a_process_can_hold() {
    let one = [file("few.f64", &[1.5])];
    for ranks in [
        "40000",
        "1..=99999999999",
        "1..=18446744073709551615",
        "1..=20:18446744073709551615",
    ] {
        refused(&repro_check(&["--ranks", ranks], &one), "--ranks: ");
    }
    let huge = "99999999999999999999999";
    refused(&repro_check(&["--ranks", huge], &one), huge);
}

/// What a file says is shown, but it cannot break the line, nor fill the screen.
#[test]
fn an_error_is_one_line_whatever_the_file_says() {
    let folder = file("any.f64", &[1.0]).parent().unwrap().to_owned();
    let header = "{'descr': 'x\ny', 'fortran_order': False, 'shape': (2,), }\n";
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    let npy = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes()].concat();
    let long_word = vec![b'z'; 1 << 20];
    let shortened = format!("`{}…`", "z".repeat(40));
    let files = [
        (
            "lines.npy",
            npy,
            "lines.npy: its numbers are `'x\u{FFFD}y'`",
        ),
        ("word.psllh", [b"1 ", &long_word[..]].concat(), &shortened),
        ("count.psllh", long_word, &shortened),
        (
            "two\nlines.dat",
            Vec::new(),
            r"two\nlines.dat: unknown format",
        ),
    ];
    for (name, content, expected) in files {
        let path = folder.join(name);
        fs::write(&path, content).unwrap();
        refused(&repro_check(&[], &[path]), expected);
    }
}

#[test]
fn no_command_is_told_the_commands() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).output().unwrap();
    refused(
        &output,
        "repro-check, bench, simulate, schedules, papers, draw, numbers, campaign, cluster, install, release, book, test",
    );
}

/// What `cargo xtask --help` shows is written by hand, in groups.
#[test]
fn help_has_all_commands() {
    let xtask = env!("CARGO_BIN_EXE_xtask");
    let help = Command::new(xtask).arg("--help").output().unwrap();
    let shown = text(&help.stdout).lines();
    let shown = shown.filter_map(|line| line.strip_prefix("  "));
    let shown = shown.filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    let mut shown: Vec<&str> = shown.filter_map(|line| line.split(' ').next()).collect();
    let refused = Command::new(xtask).output().unwrap();
    let known = text(&refused.stderr)
        .trim()
        .rsplit_once("known: ")
        .unwrap()
        .1;
    let mut known: Vec<&str> = known.split(", ").collect();
    shown.sort_unstable();
    known.sort_unstable();
    assert_eq!(shown, known);
}

/// A check of nothing proves nothing.
#[test]
fn a_check_without_an_ordered_row_is_refused() {
    let one = [file("nothing.f64", &[1.5])];
    for algorithm in ["unordered", "mpi-native", "mpi-native,unordered"] {
        let output = repro_check(&["--ranks", "1,2", "--algorithm", algorithm], &one);
        refused(&output, "--algorithm: nothing to check");
    }
    let words = ["--algorithm", "algorithm1", "--distribution", "scattered"];
    refused(&repro_check(&words, &one), "nothing to check");
}

/// What a person reads fits a terminal, and says whose sums are how many.
#[test]
fn the_verdict_fits_a_terminal() {
    let numbers: Vec<f64> = (1..1000).map(|k| 1.0 / f64::from(k)).collect();
    let long = "a-name-that-is-longer-than-there-is-room-for-it-beside-the-numbers.f64";
    let files = [
        file("single.f64", &[1.5]),
        file("many.f64", &numbers),
        file(long, &[-f64::MIN_POSITIVE / 3.0; 1000]),
    ];
    let output = repro_check(&["--ranks", "1,2,3"], &files);
    let told = text(&output.stdout);
    assert!(
        told.lines().all(|line| line.chars().count() <= 80),
        "{told}"
    );
    let line = |begin: &str| told.lines().find(|line| line.starts_with(begin)).unwrap();
    let cells = |begin: &str| line(begin).split_whitespace().collect::<Vec<_>>();
    assert_eq!(cells("single"), ["single", "1", "1.5", "159", "1", "0"]);
    let sum = format!("{:?}", reduce::sum(&numbers).unwrap());
    assert_eq!(cells("many")[..4], ["many", "999", &*sum, "159"]);
    assert!(line("a-name-that").contains("… "), "{told}");
    assert!(
        line("canary, threads: ").contains("3 different plain sums on 3 rank counts"),
        "{told}"
    );
    let verdict = "PASS: one sum per data set on 1 to 3 ranks (";
    assert!(told.lines().last().unwrap().starts_with(verdict), "{told}");
    assert!(!told.contains("distributions: "), "{told}");
    let output = repro_check(&["--ranks", "1,2,3", "--verbose"], &files);
    let told = text(&output.stdout);
    assert!(told.contains("3FF8000000000000"), "{told}");
    assert!(told.contains("distributions: "), "{told}");
}

#[test]
fn text_is_an_input() {
    let folder = file("any.f64", &[1.0]).parent().unwrap().to_owned();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let lines = write("lines.txt", "# three\n0.5\n0.25 0.125\n");
    let table = write("table.csv", "day,price\n1,0.5\n2,0.375\n");
    let column = folder.join("table.csv:price");
    let output = repro_check(&["--ranks", "1,2"], &[lines, table.clone(), column]);
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}");
    for expected in [
        ["lines", "3", "0.875"],
        ["table", "2", "3.0"],
        ["table:price", "2", "0.875"],
    ] {
        let cells = |line: &str| line.split_whitespace().take(3).eq(expected);
        assert!(told.lines().any(cells), "{told}");
    }
    let column = folder.join("table.csv:cost");
    refused(
        &repro_check(&[], &[column]),
        "no column is called `cost`; known: `day`, `price`",
    );
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["repro-check", "--ranks", "1,2", "--input"])
        .arg(file("full.f64", &[1.5]))
        .stdout(full)
        .output()
        .unwrap();
    refused(&output, "standard output: No space left on device");
}

#[test]
fn numpy_files_of_either_precision_and_byte_order() {
    let write = |name: &str, kind: &str, numbers: &[u8]| {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': (2,), }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(numbers);
        let path = file(name, &[]);
        fs::write(&path, bytes).unwrap();
        path
    };
    let numbers = [0.1_f32, 3.0];
    let single = |to_bytes: fn(f32) -> [u8; 4]| numbers.map(to_bytes).concat();
    let double =
        |to_bytes: fn(f64) -> [u8; 8]| numbers.map(|number| to_bytes(number.into())).concat();
    let files = [
        write("a.npy", "<f4", &single(f32::to_le_bytes)),
        write("b.npy", ">f4", &single(f32::to_be_bytes)),
        write("c.npy", "<f8", &double(f64::to_le_bytes)),
        write("d.npy", ">f8", &double(f64::to_be_bytes)),
        write("e.npy", "=f8", &double(f64::to_ne_bytes)),
    ];
    let output = repro_check(&["--ranks", "1,2", "--json", "-"], &files);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let expected = format!("{:016X}", (f64::from(numbers[0]) + 3.0).to_bits());
    let rows = text(&output.stdout).lines();
    let rows = rows.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let bits: Vec<Value> = rows
        .filter(|row| row["order"] == "tree")
        .map(|row| row["bits"].clone())
        .collect();
    assert!(bits.len() > 50 && bits.iter().all(|bits| *bits == expected.as_str()));
    let whole = [write("f.npy", "<i8", &[0; 16])];
    refused(&repro_check(&[], &whole), "not '<f8' or '<f4'");
}

fn simulate(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("simulate")
        .args(words)
        .output()
        .unwrap()
}

#[test]
fn numbers_that_no_schedule_takes_are_refused_at_once() {
    refused(&simulate(&["--ports", "99999999999"]), "--ports: ");
    refused(&simulate(&["--blocks", "99999999999"]), "--blocks: ");
    refused(&simulate(&["--blocks", "3", "--width", "2"]), "--blocks: ");
    refused(
        &simulate(&["--items", "1e20"]),
        "not a whole number below 2^64",
    );
    refused(
        &simulate(&["--items", "1.5"]),
        "not a whole number below 2^64",
    );
    let output = simulate(&["--items", "1e18", "--ranks", "4", "--algorithm", "binomial"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

/// What the answers take is measured on fewer ranks, by the same method: otherwise it would be a thousand times as much.
#[test]
fn the_time_of_many_ranks_is_estimated_by_the_method_that_answers() {
    let words = ["--ranks", "262144", "--algorithm", "direct,ring,binomial"];
    let begin = Instant::now();
    let output = simulate(&words);
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let estimate = told.split_once("this takes about ").unwrap().1;
    let estimate: f64 = estimate.split_once(" s").unwrap().0.parse().unwrap();
    let took = begin.elapsed().as_secs_f64();
    println!("estimate {estimate} s, it took {took:.1} s");
    assert!(estimate < 10.0 * took + 5.0);
    // One rank stood for all where there are too many messages; so it did for the estimate.
    assert!(took < 60.0);
}

#[test]
fn a_single_rank_takes_no_time_and_has_a_ratio() {
    let output = simulate(&["--ranks", "1", "--json", "-"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for line in text(&output.stdout).lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&row["time_ns"], &row["ratio"]), (&0.0.into(), &1.0.into()));
    }
}

/// Where nobody sees a line that changes, a plain one comes each ten seconds, from the estimate on.
#[test]
fn many_ranks_are_not_simulated_in_silence() {
    let mut running = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["simulate", "--ranks", "16777216"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let errors = BufReader::new(running.stderr.take().unwrap());
    let first = errors.lines().next();
    // It would take minutes, and may have ended.
    let _ = running.kill();
    running.wait().unwrap();
    let first = first.expect("it says what it does").unwrap();
    assert!(
        first.contains(" ranks: ") && first.contains(" schedules, "),
        "{first}"
    );
    assert!(first.ends_with(" s"), "{first}");
}
