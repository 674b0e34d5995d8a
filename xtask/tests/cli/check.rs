//! What `repro-check` runs and prints: each test covers a former wrong verdict.

use super::{doubles, file, numbers, repro_check, rows, text, told};

/// If a canary's sums lie close together, some pairs of rank counts give the same sum: then a sound library fails.
#[test]
fn any_pair_of_rank_counts_gives_the_canary_a_spread() {
    let one = [numbers("one.f64", &[1.5])];
    for ranks in ["1,4", "2,30", "3,16", "5,19", "240,241"] {
        told(&repro_check(&["--ranks", ranks], &one));
    }
}

/// If only one rank count was requested, the canary runs on others, too, which are not reported as the data's.
#[test]
fn one_number_of_ranks_still_proves_something() {
    let files = [numbers("seven.f64", &[1.0; 40])];
    let output = repro_check(&["--ranks", "7"], &files);
    let summary = "threads: p = 7; the canary also on 1, 2, 3\n";
    assert!(told(&output).contains(summary), "{}", told(&output));
    let rows = rows(&repro_check(&["--ranks", "7", "--json", "-"], &files));
    let mut own = rows.iter().filter(|row| row["dataset"] == "seven");
    assert!(own.all(|row| row["ranks"] == 7));
    let canary = rows.iter().filter(|row| row["dataset"] == "canary");
    let mut patterns: Vec<&str> = canary.map(|row| row["bits"].as_str().unwrap()).collect();
    patterns.sort_unstable();
    patterns.dedup();
    assert!(patterns.len() >= 2, "{patterns:?}");
}

#[test]
fn files_that_share_a_name_are_told_apart() {
    let files = [
        numbers("here/same.f64", &[1.0]),
        numbers("there/same.f64", &[2.0]),
        numbers("there/same#2.f64", &[3.0]),
        numbers("there/canary.f64", &[4.0]),
    ];
    let rows = rows(&repro_check(&["--ranks", "1,2", "--json", "-"], &files));
    let trees = rows.iter().filter(|row| row["order"] == "tree");
    let mut sums: Vec<String> = trees
        .map(|row| format!("{} {}", row["dataset"], row["sum"]))
        .collect();
    sums.sort_unstable();
    sums.dedup();
    let expected = [
        r#""canary#2" 4.0"#,
        r#""same" 2.0"#,
        r##""same#2" 3.0"##,
        r##""same#3" 1.0"##,
    ];
    assert_eq!(sums, expected);
}

/// With `--json -`, standard output has only JSON; with a file, it has the report.
#[test]
fn json_keeps_to_itself() {
    let files = [file("pure.f64", &doubles(&[1.0; 40]))];
    let to_stdout = repro_check(&["--ranks", "1,3", "--json", "-"], &files);
    let rows = rows(&to_stdout);
    assert!(text(&to_stdout.stderr).contains("PASS: one sum per data set on 1 to 3 ranks"));
    let json = file("rows.json", b"");
    let to_file = repro_check(
        &["--ranks", "1,3", "--json", json.to_str().unwrap()],
        &files,
    );
    assert!(told(&to_file).contains("PASS: one sum per data set"));
    assert_eq!(std::fs::read(&json).unwrap(), to_stdout.stdout);
    let keys =
        "dataset n algorithm distribution backend ranks bits sum order messages rounds collective";
    let mut keys = keys.split(' ');
    assert!(keys.all(|key| rows[0].get(key).is_some()), "{}", rows[0]);
}

/// The report fits a terminal, and counts the sums of each kind.
#[test]
fn the_verdict_fits_a_terminal() {
    let reciprocals: Vec<f64> = (1..1000).map(|k| 1.0 / f64::from(k)).collect();
    let long = "a-name-that-is-longer-than-there-is-room-for-it-beside-the-numbers.f64";
    let files = [
        numbers("single.f64", &[1.5]),
        numbers("many.f64", &reciprocals),
        numbers(long, &[-f64::MIN_POSITIVE / 3.0; 1000]),
    ];
    let output = repro_check(&["--ranks", "1,2,3"], &files);
    let shown = told(&output);
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );
    let line = |begin: &str| shown.lines().find(|line| line.starts_with(begin)).unwrap();
    let cells = |begin: &str| line(begin).split_whitespace().collect::<Vec<_>>();
    assert_eq!(cells("single"), ["single", "1", "1.5", "159", "1", "0"]);
    let sum = format!("{:?}", reduce::sum(&reciprocals).unwrap());
    assert_eq!(cells("many")[..4], ["many", "999", &*sum, "159"]);
    assert!(line("a-name-that").contains("… "), "{shown}");
    let canary = "3 different plain sums on 3 rank counts";
    assert!(line("canary, threads: ").contains(canary), "{shown}");
    let verdict = "PASS: one sum per data set on 1 to 3 ranks (";
    assert!(
        shown.lines().last().unwrap().starts_with(verdict),
        "{shown}"
    );
    assert!(!shown.contains("distributions: "), "{shown}");
    let output = repro_check(&["--ranks", "1,2,3", "--verbose"], &files);
    assert!(told(&output).contains("3FF8000000000000"));
    assert!(told(&output).contains("distributions: "));
}
