//! `cargo xtask simulate`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Instant;

use serde_json::Value;

use super::{command, rows, told, xtask};

/// The simulated rows, on a network where a message takes 1 µs, whatever its length.
fn simulated(words: &[&str]) -> Vec<Value> {
    let link = ["--alpha", "1000", "--beta", "0", "--gamma", "0"];
    rows(&xtask(
        &[&["simulate", "--json", "-"], &link[..], words].concat(),
    ))
}

/// The papers' counts, from the programs that run; and a machine of nodes is slower between nodes.
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

/// Rounds grow with the logarithm of the number of ranks. Bytes and memory grow with the number, if each rank states its items.
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
fn many_items() {
    let words = "simulate --items 1e18 --ranks 4 --algorithm binomial";
    told(&xtask(&words.split(' ').collect::<Vec<_>>()));
}

/// The estimate is measured on fewer ranks by the same method: otherwise it would be a thousand times too large.
#[test]
fn the_time_of_many_ranks_is_estimated_by_the_method_that_answers() {
    let words = "simulate --ranks 262144 --algorithm direct,ring,binomial";
    let begin = Instant::now();
    let output = xtask(&words.split(' ').collect::<Vec<_>>());
    let (_, estimate) = told(&output).split_once("this takes about ").unwrap();
    let estimate: f64 = estimate.split_once(" s").unwrap().0.parse().unwrap();
    let took = begin.elapsed().as_secs_f64();
    println!("estimate {estimate} s, it took {took:.1} s");
    assert!(estimate < 10.0 * took + 5.0);
    // One rank stood for all where there are too many messages, also for the estimate.
    assert!(took < 60.0);
}

#[test]
fn a_single_rank_takes_no_time_and_has_a_ratio() {
    for row in simulated(&["--ranks", "1"]) {
        assert_eq!((&row["time_ns"], &row["ratio"]), (&0.0.into(), &1.0.into()));
    }
}

/// If standard error is not a terminal, a plain line is printed every ten seconds, from the estimate on.
#[test]
fn many_ranks_are_not_simulated_in_silence() {
    let mut running = command(&["simulate", "--ranks", "16777216"]);
    running.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = running.spawn().unwrap();
    let errors = BufReader::new(running.stderr.take().unwrap());
    let first = errors.lines().next();
    // The command would take minutes; it may also have ended.
    let _ = running.kill();
    running.wait().unwrap();
    let first = first.expect("it says what it does").unwrap();
    let says = |words: &str| first.contains(words);
    assert!(
        says(" ranks: ") && says(" schedules, ") && first.ends_with(" s"),
        "{first}"
    );
}
