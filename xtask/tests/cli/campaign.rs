//! `cargo xtask campaign`: random programs with faults.

use serde_json::Value;

use super::{rows, text, xtask};

#[test]
fn a_campaign_counts_its_cases_and_faults() {
    let words = "campaign --cases 200 --seed 7 --ranks 5 --json -";
    let output = xtask(&words.split(' ').collect::<Vec<_>>());
    let [summary] = &rows(&output)[..] else {
        panic!("one line: {}", text(&output.stdout));
    };
    assert_eq!(
        (&summary["cases"], &summary["failures"]),
        (&200.into(), &0.into())
    );
    let faults = summary["faults"].as_object().unwrap();
    let cases = faults.values().filter_map(Value::as_u64);
    assert_eq!(cases.fold(0, |total, count| total + count), 200);
    assert!(faults.len() >= 18, "{faults:?}");
    assert!(text(&output.stderr).contains("200 cases from seed 7"));
}
