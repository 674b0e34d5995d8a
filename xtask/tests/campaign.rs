//! `cargo xtask campaign`: random programs with faults.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::process::{Command, Output};

use serde_json::Value;

fn campaign(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("campaign")
        .args(words)
        .output()
        .unwrap()
}

#[test]
fn a_campaign_counts_its_cases_and_faults() {
    let output = campaign(&[
        "--cases", "200", "--seed", "7", "--ranks", "5", "--json", "-",
    ]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let summary: Value = serde_json::from_str(lines.trim()).unwrap();
    assert_eq!(
        (&summary["cases"], &summary["failures"]),
        (&200.into(), &0.into())
    );
    let faults = summary["faults"].as_object().unwrap();
    let cases = faults.values().map(|count| count.as_u64().unwrap());
    assert_eq!(cases.fold(0, |total, count| total + count), 200);
    assert_eq!(faults.len(), 18, "{faults:?}");
    assert!(told.contains("200 cases from seed 7"), "{told}");
}

#[test]
fn options_that_mean_nothing_are_refused() {
    for words in [
        ["--ranks", "0"],
        ["--cases", "0"],
        ["--minutes", "0"],
        ["--faults", "hang"],
        ["--leaks", "--backend=mpi"],
        ["--leaks", "--backend=cluster"],
        ["--backend", "cloud"],
    ] {
        let output = campaign(&words);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(words[0]), "{errors}");
    }
}
