//! The commands as a person meets them: exit status, one-line errors, and where output goes.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs `cargo xtask` with these words.
fn xtask(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(words)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A file in a folder of this test's own.
fn file(name: &str, content: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

/// The command ends with status 2 and one line with these words; nothing is on standard output.
#[track_caller]
fn refused(words: &[&str], expected: &[&str]) {
    let output = xtask(words);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {errors}");
    assert_eq!(errors.lines().count(), 1, "{words:?}: {errors}");
    assert!(output.stdout.is_empty());
    for word in expected {
        assert!(
            errors.contains(word),
            "{words:?}: `{errors}` lacks `{word}`"
        );
    }
}

/// `repro-check` refuses the file, names it, and says why.
#[track_caller]
fn refused_file(name: &str, content: &[u8], reason: &str) {
    let path = file(name, content);
    refused(
        &["repro-check", "--input", path.to_str().unwrap()],
        &[name, reason],
    );
}

/// `repro-check` on few ranks: its rows, after a check of its exit status.
#[track_caller]
fn rows(words: &[&str]) -> Vec<serde_json::Value> {
    let common = ["repro-check", "--ranks", "1,2,5", "--json", "-"];
    json_rows(&[&common, words].concat())
}

/// The rows that a command writes to standard output, after a check of its exit status.
#[track_caller]
fn json_rows(words: &[&str]) -> Vec<serde_json::Value> {
    let output = xtask(words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn doubles(items: &[f64]) -> Vec<u8> {
    items.iter().flat_map(|item| item.to_le_bytes()).collect()
}

fn binpsllh(count: u64, items: &[f64]) -> Vec<u8> {
    [&count.to_le_bytes()[..], &doubles(items)].concat()
}

/// A NumPy file of version 1.
fn npy(header: &str, items: &[f64]) -> Vec<u8> {
    let length = u16::try_from(header.len()).unwrap();
    let magic = b"\x93NUMPY\x01\x00";
    [
        &magic[..],
        &length.to_le_bytes(),
        header.as_bytes(),
        &doubles(items),
    ]
    .concat()
}

#[test]
fn a_wrong_word_is_told_what_is_like_it() {
    for (typed, told) in [
        (
            "tets",
            "error: unrecognized subcommand 'tets'; a similar subcommand exists: 'test'\n",
        ),
        (
            "repro-chek",
            "error: unrecognized subcommand 'repro-chek'; ",
        ),
        (
            "test --stag=c",
            "error: unexpected argument '--stag' found; a similar argument exists: '--stage'\n",
        ),
    ] {
        let output = xtask(&typed.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2));
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.starts_with(told), "{errors}");
    }
}

/// Every stage, in the order in which they run, and nothing is run.
#[test]
fn stages_are_listed() {
    let output = xtask(&["test", "--list"]);
    assert!(output.status.success());
    let listed = String::from_utf8(output.stdout).unwrap();
    let at = |stage: &str| {
        listed
            .find(&format!(" min  {stage} "))
            .unwrap_or_else(|| panic!("{stage}: {listed}"))
    };
    assert!(at("checks") < at("threads") && at("threads") < at("aarch64"));
    assert!(
        listed
            .trim_end()
            .ends_with("in all, on 2 cores with an empty target folder"),
        "{listed}"
    );
}

#[test]
fn every_format_gives_the_same_rows() {
    let items = [0.1, 0.2, 0.3, 1e17, -1e17];
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (5,), }\n";
    let files = [
        file("good.binpsllh", &binpsllh(5, &items)),
        file("good.psllh", b"5\n0.1 0.2\n0.3\n1e17 -1e17\n"),
        file("good.npy", &npy(header, &items)),
        file("good.f64", &doubles(&items)),
    ];
    let expected = (((0.1_f64 + 0.2) + (0.3 + 1e17)) + -1e17).to_bits();
    // The large ones cancel without a trace.
    let exact = 0.6_f64.to_bits();
    let plain = ((((0.1_f64 + 0.2) + 0.3) + 1e17) + -1e17).to_bits();
    for path in files {
        let rows = rows(&["--input", path.to_str().unwrap(), "--algorithm", "all"]);
        for row in rows.iter().filter(|row| row["dataset"] == "good") {
            let bits = u64::from_str_radix(row["bits"].as_str().unwrap(), 16).unwrap();
            match row["order"].as_str().unwrap() {
                "tree" => assert_eq!(bits, expected, "{row}"),
                "left-to-right" => assert_eq!(bits, plain, "{row}"),
                "exact" => assert_eq!(bits, exact, "{row}"),
                order => assert_eq!((order, &row["algorithm"]), ("none", &"unordered".into())),
            }
            assert_eq!(row["n"], 5);
            assert_eq!(row["sum"].as_f64().unwrap().to_bits(), bits);
        }
        // Three rank counts. By twenty schedules, eight of them by reduce, too, and exactly by allreduce and reduce; on the eight
        // contiguous distributions also by the four other algorithms, on the block-cyclic one not. And the canary.
        assert_eq!(rows.len(), 3 * (8 * (28 + 2 + 4) + 28 + 2) + 3);
    }
}

#[test]
fn bad_binpsllh_files() {
    refused_file("empty.binpsllh", b"", "empty");
    refused_file("short.binpsllh", &[1, 0, 0], "too few for a count");
    refused_file("truncated.binpsllh", &binpsllh(3, &[1.0, 2.0]), "truncated");
    refused_file("cut.binpsllh", &binpsllh(2, &[1.0, 2.0])[..20], "truncated");
    refused_file("long.binpsllh", &binpsllh(1, &[1.0, 2.0]), "too long");
    refused_file(
        "absurd.binpsllh",
        &binpsllh(1 << 63, &[1.0]),
        "9223372036854775808",
    );
    refused_file("most.binpsllh", &binpsllh(u64::MAX, &[]), "truncated");
}

#[test]
fn bad_psllh_files() {
    refused_file("empty.psllh", b"", "empty");
    refused_file("blank.psllh", b" \n", "no count");
    refused_file("count.psllh", b"two 1 2", "`two` is not a count");
    refused_file("negative.psllh", b"-2 1 2", "`-2` is not a count");
    refused_file("word.psllh", b"3 1.5 x 2", "number 1, `x`");
    refused_file("truncated.psllh", b"3 1 2", "truncated");
    refused_file("long.psllh", b"1 1 2", "too long");
    refused_file("binary.psllh", &[0xFF, 0xFE, 0x00], "not text");
}

#[test]
fn bad_npy_files() {
    let header = |kind: &str, shape: &str| {
        format!("{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}\n")
    };
    let good = header("'<f8'", "(2,)");
    refused_file("empty.npy", b"", "empty");
    refused_file("text.npy", b"1 2 3", "not a NumPy file");
    refused_file("magic.npy", b"\x93NUMPY", "truncated");
    refused_file("header.npy", &npy(&good, &[])[..30], "truncated");
    refused_file("truncated.npy", &npy(&good, &[1.0]), "truncated");
    refused_file("long.npy", &npy(&good, &[1.0; 3]), "too long");
    refused_file(
        "integers.npy",
        &npy(&header("'<i8'", "(2,)"), &[1.0; 2]),
        "'<i8'",
    );
    refused_file("half.npy", &npy(&header("'<f2'", "(4,)"), &[1.0]), "'<f2'");
    refused_file(
        "matrix.npy",
        &npy(&header("'<f8'", "(2, 1)"), &[1.0; 2]),
        "one dimension",
    );
    refused_file(
        "scalar.npy",
        &npy(&header("'<f8'", "()"), &[1.0]),
        "one dimension",
    );
    refused_file("keys.npy", &npy("{}\n", &[1.0]), "descr");
}

#[test]
fn bad_f64_files_and_paths() {
    refused_file("empty.f64", b"", "empty");
    refused_file("cut.f64", &[0; 12], "12 bytes");
    refused_file(
        "numbers.dat",
        b"1,2",
        "known: .binpsllh, .psllh, .npy, .f64, .txt, .csv",
    );
    refused(
        &["repro-check", "--input", "/nowhere/x.f64"],
        &["/nowhere/x.f64", "No such file"],
    );
    refused(
        &["repro-check", "--json", "/nowhere/x.json"],
        &["/nowhere/x.json"],
    );
}

#[test]
fn bad_options() {
    refused(
        &["repro-check", "--ranks", "0"],
        &["--ranks", "at least one rank"],
    );
    refused(&["repro-check", "--ranks", "1..=x"], &["--ranks", "`x`"]);
    refused(
        &["repro-check", "--algorithm", "magic"],
        &["--algorithm", "`magic`", "algorithm1, "],
    );
    refused(
        &["repro-check", "--distribution", "odd"],
        &["--distribution", "`odd`", "lower, upper"],
    );
    refused(
        &["repro-check", "--backend", "pvm"],
        &["--backend", "`pvm`", "threads, mpi, all"],
    );
    refused(&["repro-check", "--seed", "x"], &["--seed"]);
    refused(&["repro-check", "--no-such"], &["--no-such"]);
    refused(
        &["bench", "memory"],
        &[
            "`memory`",
            "kernels, parallel, exact, python, lookup, reduce",
        ],
    );
    for (option, word) in [
        ("--ranks", "0"),
        ("--ranks", "1e9"),
        ("--items", "1.5"),
        ("--items", "1e30"),
        ("--width", "0"),
        ("--algorithm", "magic"),
        ("--distribution", "odd"),
        ("--alpha", "-1"),
        ("--gamma", "nan"),
        ("--node-ranks", "0"),
        ("--ports", "0"),
        ("--blocks", "0"),
    ] {
        refused(&["simulate", &format!("{option}={word}")], &[option]);
    }
    for (option, wrong, reason) in [
        ("--nodes", "0", "1 to 64"),
        ("--nodes", "65", "1 to 64"),
        ("--nodes", "many", "'many'"),
        ("--ranks-per-node", "0", "1 to 1024"),
        ("--delay", "1", "not a time"),
        ("--delay", "-1ms", "not a time"),
        ("--delay", "11s", "longer than 10s"),
        ("--loss", "0.5", "not a percentage"),
        ("--loss", "101%", "below 100%"),
        ("--mpi", "no-such", "openmpi"),
        ("--launcher", "srun", "{ranks}"),
    ] {
        let words = ["cluster", option, wrong, "--", "repro-check"];
        refused(&words, &[option, reason]);
    }
    refused(&["cluster", "--nodes", "2"], &["required"]);
    refused(
        &["cluster", "--", "repro-check", "--mpi=mpich"],
        &["--mpi", "belongs to the cluster"],
    );
    refused(&["bench", "--ranks", "0"], &["--ranks"]);
    refused(&["bench", "--backend", "all"], &["--backend"]);
    refused(&["launch"], &["launch"]);
    refused(
        &["test", "--stage", "checks,magic"],
        &["--stage", "`magic`", "checks, threads, mpi"],
    );
    refused(
        &["test", "--no-mpi", "--stage", "mpi"],
        &["--no-mpi", "`--stage mpi`"],
    );
    refused(&["test", "--target", "mips"], &["--target", "'mips'"]);
    refused(
        &["test", "--target", "aarch64", "--stage", "checks"],
        &["--target", "--stage"],
    );
}

/// Whatever an argument holds, a terminal obeys none of it.
#[test]
fn control_characters_are_written_out() {
    let hostile = "a\u{1b}[2J\u{7}b\nc";
    let told = r"a\u{1b}[2J\u{7}b\nc";
    let file = format!("/nowhere/{hostile}.f64");
    for words in [
        ["repro-check", "--input", &file],
        ["repro-check", "--algorithm", hostile],
        ["repro-check", "--distribution", hostile],
        ["repro-check", "--backend", hostile],
        ["repro-check", "--json", &file],
        ["simulate", "--algorithm", hostile],
        ["simulate", "--distribution", hostile],
    ] {
        refused(&words, &[told]);
    }
    // What clap itself refuses comes in its first line.
    for words in [
        ["repro-check", "--seed", "\u{1b}[2J"],
        ["repro-check", "--ranks", "x\u{7}"],
        ["repro-check", "\u{1b}[2J", "x"],
    ] {
        let errors = text(&xtask(&words).stderr);
        let is_obeyed = |character: char| character.is_control() && character != '\n';
        assert!(!errors.contains(is_obeyed), "{errors:?}");
        assert_eq!(errors.lines().count(), 1, "{errors:?}");
    }
}

#[test]
fn numbers_agree_with_their_nouns() {
    refused_file(
        "one.f64",
        &[0],
        "1 byte cannot be a whole number of doubles",
    );
    refused_file("one.binpsllh", &[0], "1 byte: too few for a count");
    refused(
        &["simulate", "--width=1", "--blocks=2"],
        &["2 blocks of 1 column: "],
    );
    let output = xtask(&["simulate", "--ranks", "1", "--algorithm", "binomial"]);
    let said = text(&output.stdout);
    let told = "allreduce of 1 item of one double over 1 rank, ";
    assert!(said.starts_with(told), "{said}");
}

/// As if they were not set.
#[test]
fn empty_variables_say_nothing() {
    let path = file("unset.f64", &doubles(&[0.1, 0.2, 0.3]));
    let check = |value: &str| {
        let variables = [
            "TREEFOLD_MPI",
            "TREEFOLD_MPIRUN",
            "TREEFOLD_ALGORITHM",
            "MPICC",
        ];
        Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["repro-check", "--backend", "threads", "--ranks", "1,2"])
            .arg("--input")
            .arg(&path)
            .envs(variables.map(|variable| (variable, value)))
            .output()
            .unwrap()
    };
    let output = check("");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let output = check("no-such");
    assert_eq!(output.status.code(), Some(2));
    let errors = text(&output.stderr);
    let told = "error: TREEFOLD_MPI: unknown MPI library `no-such`; known: ";
    assert!(errors.starts_with(told), "{errors}");
}

/// Without the programs of Debian the stage says so in one line, and nothing has failed.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn a_target_that_cannot_be_built_is_skipped() {
    if std::path::Path::new("/usr/bin/qemu-aarch64-static").exists() {
        println!("SKIPPED: this machine may build for aarch64");
        return;
    }
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["test", "--target", "aarch64"])
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(
        text.lines()
            .any(|line| line.starts_with("skipped: aarch64")),
        "{text}"
    );
}

/// MPI's tools out of reach: one line that says what to install; the in-process check still works.
#[test]
fn mpi_missing() {
    for backend in ["mpi", "all"] {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["repro-check", "--backend", backend])
            .env("PATH", "/nowhere")
            .env("MPICC", "/nowhere/mpicc")
            .output()
            .unwrap();
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(
            errors.contains("apt-get install libopenmpi-dev"),
            "{errors}"
        );
        assert!(errors.contains("mpirun"), "{errors}");
    }
    let path = file("alone.f64", &doubles(&[1.0, 2.0]));
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["repro-check", "--ranks", "1,2", "--input"])
        .arg(path)
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn legal_edges() {
    let cases: [(&str, &[f64]); 5] = [
        ("none.binpsllh", &[]),
        ("one.binpsllh", &[-0.0]),
        ("fewer.binpsllh", &[0.1, 0.2, 0.3]),
        ("nan.binpsllh", &[1.0, -f64::NAN, 2.0]),
        ("infinite.binpsllh", &[f64::MAX; 9]),
    ];
    let first_bits = |name: &str, items: &[f64]| {
        let path = file(name, &binpsllh(items.len() as u64, items));
        let rows = rows(&["--input", path.to_str().unwrap(), "--distribution", "all"]);
        let dataset = path.file_stem().unwrap().to_str().unwrap();
        let tree = rows
            .into_iter()
            .find(|row| row["dataset"] == dataset && row["order"] == "tree");
        let tree = tree.unwrap();
        (
            tree["bits"].as_str().unwrap().to_owned(),
            tree["sum"].is_null(),
        )
    };
    let found = cases.map(|(name, items)| first_bits(name, items));
    assert_eq!(found[0], ("0000000000000000".to_owned(), false));
    assert_eq!(found[1], ("8000000000000000".to_owned(), false));
    assert_eq!(
        found[2].0,
        format!("{:016X}", ((0.1_f64 + 0.2) + 0.3).to_bits())
    );
    assert_eq!(found[3], ("7FF8000000000000".to_owned(), true));
    assert_eq!(found[4], ("7FF0000000000000".to_owned(), true));
}

/// Counts that the papers give, from the programs that run; and a machine of nodes is slower between them.
#[test]
fn simulated_schedules() {
    let rows = |words: &[&str]| -> Vec<serde_json::Value> {
        let common = ["simulate", "--ranks", "64", "--json", "-"];
        json_rows(&[&common, words].concat())
    };
    let all = rows(&[]);
    assert_eq!(all.len(), schedule::Algorithm::ALL.len());
    let link = ["--alpha", "1000", "--beta", "0", "--gamma", "0"];
    let doubling = ["--algorithm", "recursive-doubling"];
    let near = rows(&[&link[..], &doubling].concat());
    assert_eq!(near[0]["time_ns"], 6000.0);
    assert_eq!(near[0]["messages"], 64 * 6);
    assert_eq!(
        (&near[0]["rows_mean"], &near[0]["rows_max"]),
        (&1.0.into(), &1.into())
    );
    let nodes = ["--node-ranks", "8", "--far-alpha", "2000"];
    let far = rows(&[&link[..], &doubling, &nodes].concat());
    assert_eq!(far[0]["time_ns"], 9000.0);
}

/// Rounds grow with the logarithm of the number of ranks; bytes and memory with the number, where each says its own number of items.
#[test]
fn simulated_building() {
    for (log, ranks) in [(3_u32, "8"), (10, "1024")] {
        let link = ["--alpha", "1000", "--beta", "0", "--gamma", "0"];
        let common = ["simulate", "--building", "--ranks", ranks, "--json", "-"];
        let rows = json_rows(&[&common[..], &link].concat());
        let times = [2_000.0, 3_000.0].map(|ns| ns * f64::from(log));
        for (row, (items, time_ns)) in rows.iter().zip(["rule", "count"].into_iter().zip(times)) {
            assert_eq!(
                (&row["items"], &row["time_ns"]),
                (&items.into(), &time_ns.into())
            );
        }
        let ranks: u64 = ranks.parse().unwrap();
        assert_eq!(
            rows[1]["messages"],
            2 * (ranks - 1) + ranks * u64::from(log)
        );
        assert_eq!(rows[1]["rank_bytes"], 24 * ranks + 8);
    }
}

/// With `--json -` standard output is JSON alone; with a file, it is for people.
#[test]
fn json_keeps_to_itself() {
    let path = file("pure.f64", &doubles(&[1.0; 40]));
    let path = path.to_str().unwrap();
    let common = ["repro-check", "--ranks", "1,3", "--input", path];
    let to_stdout = xtask(&[&common[..], &["--json", "-"]].concat());
    assert!(
        text(&to_stdout.stdout)
            .lines()
            .all(|line| line.starts_with('{'))
    );
    assert!(text(&to_stdout.stderr).contains("PASS: one sum per data set on 1 to 3 ranks"));

    let json = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rows.json");
    let to_file = xtask(&[&common[..], &["--json", json.to_str().unwrap()]].concat());
    assert!(text(&to_file.stdout).contains("PASS: one sum per data set"));
    assert_eq!(fs::read(&json).unwrap(), to_stdout.stdout);

    let first: serde_json::Value = serde_json::from_slice(
        to_stdout
            .stdout
            .split(|&byte| byte == b'\n')
            .next()
            .unwrap(),
    )
    .unwrap();
    let keys = [
        "dataset",
        "n",
        "algorithm",
        "distribution",
        "backend",
        "ranks",
        "bits",
        "sum",
        "order",
        "messages",
        "rounds",
        "collective",
    ];
    assert!(keys.iter().all(|key| first.get(key).is_some()), "{first}");
}

/// A cluster passes on what its command prints and how it ends; without root, or what it needs of Linux, it says so in one line.
#[test]
fn a_cluster_is_transparent() {
    let words = ["cluster", "--nodes", "2", "--exec", "--", "sh", "-c"];
    let script = "echo told; exit 5";
    if let Err(error) = cluster::check() {
        println!("SKIPPED: {error}");
        let words = [&words[..], &[script]].concat();
        return refused(&words, &[&error.to_string()]);
    }
    let output = xtask(&[&words[..], &[script]].concat());
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "told\n");
    // One of this program's own, on threads. Its rows are all that is printed.
    let own = ["simulate", "--ranks", "64", "--json", "-"];
    let inside = xtask(&[&["cluster", "--"], &own[..]].concat());
    assert_eq!(inside.status.code(), Some(0), "{}", text(&inside.stderr));
    assert_eq!(inside.stdout, xtask(&own).stdout);
    let wrong = xtask(&["cluster", "--", "repro-check", "--ranks", "0"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("--ranks"));
}

/// The canary is run on other rank counts where one alone was asked for.
#[test]
fn one_number_of_ranks_still_proves_something() {
    let path = file("single.f64", &doubles(&[1.0; 40]));
    let words = [
        "repro-check",
        "--ranks",
        "4",
        "--json",
        "-",
        "--input",
        path.to_str().unwrap(),
    ];
    let output = xtask(&words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    let rows: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        rows.iter()
            .filter(|row| row["dataset"] == "single")
            .all(|row| row["ranks"] == 4)
    );
    let mut patterns: Vec<&str> = rows
        .iter()
        .filter(|row| row["dataset"] == "canary")
        .map(|row| row["bits"].as_str().unwrap())
        .collect();
    patterns.sort_unstable();
    patterns.dedup();
    assert!(patterns.len() >= 2, "{patterns:?}");
}

#[test]
fn benches_run_small() {
    let output = xtask(&["bench", "all", "--quick", "--json", "-"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    let rows: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for bench in ["kernels", "parallel", "exact", "lookup", "reduce"] {
        assert!(rows.iter().any(|row| row["bench"] == bench), "{bench}");
    }
    let has = |key: &str, value: &str| rows.iter().any(|row| row[key] == value);
    for variant in [
        "recursive",
        "algorithm4-scalar",
        "constant",
        "algorithm1",
        "plan",
        "algorithm4-scalar-f32",
        "streaming-scalar",
        "by-key-allreduce f64",
    ] {
        assert!(has("variant", variant), "{variant}");
    }
    for reference in [
        "unordered-simd",
        "left-to-right",
        "linear",
        "unordered-simd+allreduce",
    ] {
        assert!(has("reference", reference), "{reference}");
    }
    assert!(rows.iter().all(|row| row["ratio"].as_f64().unwrap() > 0.0));
}

/// Where standard output is no terminal, COLUMNS says how wide one would be.
#[test]
fn help_fits_the_terminal() {
    for command in [
        "repro-check",
        "bench",
        "simulate",
        "schedules",
        "papers",
        "draw",
        "campaign",
        "cluster",
        "install",
        "release",
        "book",
        "test",
        "--help",
    ] {
        for columns in [60, 90] {
            let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
                .args([command, "--help"])
                .env("COLUMNS", columns.to_string())
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let help = text(&output.stdout);
            assert_eq!(output.status.code(), Some(0), "{command}");
            for line in help.lines() {
                assert!(line.chars().count() <= columns, "{command}: `{line}`");
            }
        }
    }
}
