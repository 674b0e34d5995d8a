//! Tests of arguments that commands refuse, each with an error of one line; and of `cargo xtask simulate`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use super::{command, file, is_refused, repro_check, rows, text, told, xtask};

/// Arguments, and after `=>`, parts of the error message. A check without any tree-ordered sum is an error, too.
const WORDS: &str = "\
tets => unrecognized subcommand 'tets'; a similar subcommand exists: 'test'
repro-chek => error: unrecognized subcommand 'repro-chek';
test --stag=c => unexpected argument '--stag' found; a similar argument exists: '--stage'
launch => launch
repro-check --input /nowhere/x.f64 => /nowhere/x.f64 | No such file
repro-check --json /nowhere/x.json => /nowhere/x.json
repro-check --ranks 0 => --ranks | at least one rank
repro-check --ranks 1..=x => --ranks | `x`
repro-check --ranks 40000 => --ranks:
repro-check --ranks 1..=99999999999 => --ranks:
repro-check --ranks 1..=18446744073709551615 => --ranks:
repro-check --ranks 1..=20:18446744073709551615 => --ranks:
repro-check --ranks 99999999999999999999999 => 99999999999999999999999
repro-check --algorithm magic => --algorithm | `magic` | algorithm1,
repro-check --distribution odd => --distribution | `odd` | lower, upper
repro-check --backend pvm => --backend | `pvm` | threads, mpi, all
repro-check --seed x => --seed
repro-check --no-such => --no-such
repro-check --algorithm unordered => --algorithm: nothing to check
repro-check --algorithm mpi-native => --algorithm: nothing to check
repro-check --algorithm mpi-native,unordered => --algorithm: nothing to check
repro-check --algorithm algorithm1 --distribution scattered => nothing to check
bench memory => `memory` | kernels, parallel, exact, python, lookup, reduce
bench peers => --peers | stelzch/reprored | stelzch/allreduce | willow-ahrens/ReproBLAS
bench peers --record => --record
bench reduce --peers . => --peers | `bench peers`
bench --ranks 0 => --ranks
bench --backend all => --backend
simulate --ranks=0 => --ranks
simulate --ranks=1e9 => --ranks
simulate --items=1.5 => --items | not a whole number below 2^64
simulate --items=1e20 => --items | not a whole number below 2^64
simulate --width=0 => --width
simulate --width=1 --blocks=2 => --blocks: 2 blocks for 1 column;
simulate --algorithm=magic => --algorithm
simulate --distribution=odd => --distribution
simulate --alpha=-1 => --alpha
simulate --gamma=nan => --gamma
simulate --node-ranks=0 => --node-ranks
simulate --ports=0 => --ports
simulate --ports=99999999999 => --ports:
simulate --blocks=0 => --blocks
simulate --blocks=99999999999 => --blocks:
cluster --nodes 2 => required
cluster --nodes 0 -- repro-check => --nodes | 1 to 64
cluster --nodes 65 -- repro-check => --nodes | 1 to 64
cluster --nodes many -- repro-check => --nodes | 'many'
cluster --ranks-per-node 0 -- repro-check => --ranks-per-node | 1 to 1024
cluster --delay 1 -- repro-check => --delay | not a time
cluster --delay -1ms -- repro-check => --delay | not a time
cluster --delay 11s -- repro-check => --delay | longer than 10s
cluster --loss 0.5 -- repro-check => --loss | not a percentage
cluster --loss 101% -- repro-check => --loss | below 100%
cluster --mpi no-such -- repro-check => --mpi | openmpi
cluster --launcher srun -- repro-check => --launcher | {ranks}
cluster -- repro-check --mpi=mpich => --mpi | must be before `--`
test --stage checks,magic => --stage | `magic` | checks, threads, mpi
test --no-mpi --stage mpi => --no-mpi | `--stage mpi`
campaign --ranks 0 => --ranks
campaign --cases 0 => --cases
campaign --faults hang => --faults
campaign --leaks --backend=mpi => --leaks
campaign --leaks --backend=cluster => --leaks
campaign --backend cloud => --backend";

#[test]
fn words() {
    for line in WORDS.lines() {
        println!("{line}");
        let (words, expected) = line.split_once(" => ").unwrap();
        let expected: Vec<&str> = expected.split(" | ").collect();
        is_refused(&xtask(&words.split(' ').collect::<Vec<_>>()), &expected);
    }
}

/// Errors escape an argument's control characters, so that a terminal interprets none of them.
#[test]
fn control_characters_are_written_out() {
    let hostile = "a\u{1b}[2J\u{7}b\nc";
    let written = r"a\u{1b}[2J\u{7}b\nc";
    let file = format!("/nowhere/{hostile}.f64");
    for (command, option, word) in [
        ("repro-check", "--input", &*file),
        ("repro-check", "--algorithm", hostile),
        ("repro-check", "--distribution", hostile),
        ("repro-check", "--backend", hostile),
        ("repro-check", "--json", &file),
        ("simulate", "--algorithm", hostile),
        ("simulate", "--distribution", hostile),
    ] {
        is_refused(&xtask(&[command, option, word]), &[written]);
    }
    // The first line of clap's error names the refused word.
    for (option, word) in [
        ("--seed", "\u{1b}[2J"),
        ("--ranks", "x\u{7}"),
        ("\u{1b}[2J", "x"),
    ] {
        let output = xtask(&["repro-check", option, word]);
        let errors = text(&output.stderr);
        let is_obeyed = |character: char| character.is_control() && character != '\n';
        assert!(!errors.contains(is_obeyed), "{errors:?}");
        assert_eq!(errors.lines().count(), 1, "{errors:?}");
    }
}

#[test]
fn numbers_agree_with_their_nouns() {
    let output = xtask(&["simulate", "--ranks", "1", "--algorithm", "binomial"]);
    let said = told(&output);
    let begin = "allreduce of 1 item of one double over 1 rank, ";
    assert!(said.starts_with(begin), "{said}");
}

/// An error that quotes a file is one short line, whatever the file contains.
#[test]
fn an_error_is_one_line_whatever_the_file_says() {
    let header = "{'descr': 'x\ny', 'fortran_order': False, 'shape': (2,), }\n";
    let npy = super::check::npy(header, &[]);
    let long_word = vec![b'z'; 1 << 20];
    let psllh = [b"1 ", &long_word[..]].concat();
    let shortened = format!("`{}…`", "z".repeat(40));
    for (name, content, expected) in [
        (
            "lines.npy",
            npy,
            "lines.npy: its numbers are `'x\u{FFFD}y'`",
        ),
        ("word.psllh", psllh, &*shortened),
        ("count.psllh", long_word, &shortened),
        (
            "two\nlines.dat",
            Vec::new(),
            r"two\nlines.dat: unknown format",
        ),
    ] {
        is_refused(&repro_check(&[], &[file(name, &content)]), &[expected]);
    }
}

/// The error names the files that a folder of peers lacks. Nothing has been built by then.
#[test]
fn a_folder_without_peers() {
    let empty = file("peers/ReproRed/src/summation.cpp", b"");
    let folder = empty.ancestors().nth(3).unwrap();
    let output = xtask(&["bench", "peers", "--peers", folder.to_str().unwrap()]);
    let expected = [
        "ReproRed/include/dual_tree_summation.hpp (https://github.com/stelzch/reprored)",
        "allreduce/src/summation/strategies/binary_tree.hpp",
        "ReproBLAS/include/binnedMPI.h",
    ];
    is_refused(&output, &expected);
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let mut check = super::command(&["repro-check", "--ranks", "1,2", "--input"]);
    check.arg(super::numbers("full.f64", &[1.5]));
    let output = check.stdout(full.unwrap()).output().unwrap();
    is_refused(&output, &["standard output: No space left on device"]);
}

/// The rows that `simulate` prints for a network where a message takes 1 µs, whatever its length.
fn simulated(words: &[&str]) -> Vec<Value> {
    let link = ["--alpha", "1000", "--beta", "0", "--gamma", "0"];
    rows(&xtask(
        &[&["simulate", "--json", "-"], &link[..], words].concat(),
    ))
}

/// The simulated times and numbers of messages equal the papers' counts. Messages between nodes take longer.
#[test]
fn schedules() {
    let all = simulated(&["--ranks", "64"]);
    assert_eq!(all.len(), schedule::Algorithm::ALL.len());
    let doubling = ["--ranks", "64", "--algorithm", "recursive-doubling"];
    let near = simulated(&doubling);
    assert_eq!(near[0]["time_ns"], 6000.0);
    assert_eq!(near[0]["messages"], 64 * 6);
    assert_eq!(
        (&near[0]["rows_mean"], &near[0]["rows_max"]),
        (&1.0.into(), &1.into())
    );
    let nodes = ["--node-ranks", "8", "--far-alpha", "2000"];
    let far = simulated(&[&doubling[..], &nodes].concat());
    assert_eq!(far[0]["time_ns"], 9000.0);
}

/// The rounds grow with the logarithm of the number of ranks. If each rank states its number of items, the memory grows linearly.
#[test]
fn building() {
    for (log, ranks) in [(3_u32, 8), (10, 1024)] {
        let rows = simulated(&["--building", "--ranks", &ranks.to_string()]);
        for (row, (items, ns)) in rows.iter().zip([("rule", 2_000.0), ("count", 3_000.0)]) {
            assert_eq!(row["items"], items);
            assert_eq!(row["time_ns"], ns * f64::from(log));
        }
        assert_eq!(
            rows[1]["messages"],
            2 * (ranks - 1) + ranks * u64::from(log)
        );
        assert_eq!(rows[1]["rank_bytes"], 24 * ranks + 8);
    }
}

#[test]
fn many_items_and_many_ranks() {
    for words in [
        "simulate --items 1e18 --ranks 4 --algorithm binomial",
        // There are too many messages to simulate, so one rank represents all.
        "simulate --ranks 262144 --algorithm direct,ring,binomial",
    ] {
        told(&xtask(&words.split(' ').collect::<Vec<_>>()));
    }
}

#[test]
fn a_single_rank_takes_no_time_and_has_a_ratio() {
    for row in simulated(&["--ranks", "1"]) {
        assert_eq!((&row["time_ns"], &row["ratio"]), (&0.0.into(), &1.0.into()));
    }
}

/// If standard error is not a terminal, a line of progress is printed every ten seconds.
#[test]
fn many_ranks_are_not_simulated_in_silence() {
    let mut running = command(&["simulate", "--ranks", "16777216"]);
    running.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = running.spawn().unwrap();
    let errors = BufReader::new(running.stderr.take().unwrap());
    let first = errors.lines().next();
    // Ends the command, which would run for minutes. `kill` fails if the command has already ended.
    let _ = running.kill();
    running.wait().unwrap();
    let first = first.expect("it says what it does").unwrap();
    let says = |words: &str| first.contains(words);
    assert!(
        says(" ranks: ") && says(" schedules, ") && first.ends_with(" s"),
        "{first}"
    );
}
