//! Tests of what `repro-check` reads, runs and prints. Each test of a verdict covers a verdict that was once wrong.

use super::{doubles, file, is_refused, numbers, repro_check, rows, text, told};

/// If the canary's plain sums were equal on two rank counts, `repro-check` would report a correct library as faulty.
#[test]
fn any_pair_of_rank_counts_gives_the_canary_a_spread() {
    let one = [numbers("one.f64", &[1.5])];
    for ranks in ["1,4", "2,30", "3,16", "5,19", "240,241"] {
        told(&repro_check(&["--ranks", ranks], &one));
    }
}

/// With a single rank count, the canary also runs on other counts, which the report lists separately.
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

/// With `--json -`, standard output has only JSON; with `--json FILE`, it has the report.
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

fn binpsllh(count: u64, items: &[f64]) -> Vec<u8> {
    [&count.to_le_bytes()[..], &doubles(items)].concat()
}

/// A NumPy file of version 1.
pub(super) fn npy(header: &str, numbers: &[u8]) -> Vec<u8> {
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [
        b"\x93NUMPY\x01\x00",
        &length[..],
        header.as_bytes(),
        numbers,
    ]
    .concat()
}

fn header(kind: &str, shape: &str) -> String {
    format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n")
}

#[test]
fn every_format_gives_the_same_rows() {
    let items = [0.1, 0.2, 0.3, 1e17, -1e17];
    let expected = (((0.1_f64 + 0.2) + (0.3 + 1e17)) + -1e17).to_bits();
    // The large items cancel exactly.
    let exact = 0.6_f64.to_bits();
    let plain = ((((0.1_f64 + 0.2) + 0.3) + 1e17) + -1e17).to_bits();
    for path in [
        file("good.binpsllh", &binpsllh(5, &items)),
        file("good.psllh", b"5\n0.1 0.2\n0.3\n1e17 -1e17\n"),
        file("good.npy", &npy(&header("<f8", "(5,)"), &doubles(&items))),
        file("good.f64", &doubles(&items)),
    ] {
        let words = ["--ranks", "1,2,5", "--json", "-", "--algorithm", "all"];
        let rows = rows(&repro_check(&words, &[path]));
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
        // Each of the three rank counts has one row of the canary. Each distribution has 28 rows of schedules (twenty with allreduce, eight
        // with reduce) and two of exact sums. The eight contiguous distributions also have four of other algorithms.
        assert_eq!(rows.len(), 3 * (8 * (28 + 2 + 4) + 28 + 2) + 3);
    }
}

#[test]
fn files_that_are_wrong() {
    let npy_of = |kind, shape, count: usize| npy(&header(kind, shape), &vec![0; 8 * count]);
    let cut = binpsllh(2, &[1.0, 2.0])[..20].to_vec();
    let without_end = npy_of("<f8", "(2,)", 0)[..30].to_vec();
    for (name, content, reason) in [
        ("empty.binpsllh", Vec::new(), "empty"),
        ("one.binpsllh", vec![0], "1 byte, too few for a count"),
        ("short.binpsllh", vec![1, 0, 0], "too few for a count"),
        ("truncated.binpsllh", binpsllh(3, &[1.0, 2.0]), "truncated"),
        ("cut.binpsllh", cut, "truncated"),
        ("long.binpsllh", binpsllh(1, &[1.0, 2.0]), "too long"),
        (
            "absurd.binpsllh",
            binpsllh(1 << 63, &[1.0]),
            "9223372036854775808",
        ),
        ("most.binpsllh", binpsllh(u64::MAX, &[]), "truncated"),
        ("empty.psllh", Vec::new(), "empty"),
        ("blank.psllh", b" \n".to_vec(), "no count"),
        ("count.psllh", b"two 1 2".to_vec(), "`two` is not a count"),
        ("negative.psllh", b"-2 1 2".to_vec(), "`-2` is not a count"),
        ("word.psllh", b"3 1.5 x 2".to_vec(), "item 1, `x`"),
        ("truncated.psllh", b"3 1 2".to_vec(), "truncated"),
        ("long.psllh", b"1 1 2".to_vec(), "too long"),
        ("binary.psllh", vec![0xFF, 0xFE, 0x00], "not text"),
        ("empty.npy", Vec::new(), "empty"),
        ("text.npy", b"1 2 3".to_vec(), "not a NumPy file"),
        ("magic.npy", b"\x93NUMPY".to_vec(), "truncated"),
        ("header.npy", without_end, "truncated"),
        ("truncated.npy", npy_of("<f8", "(2,)", 1), "truncated"),
        ("long.npy", npy_of("<f8", "(2,)", 3), "too long"),
        (
            "integers.npy",
            npy_of("<i8", "(2,)", 2),
            "`'<i8'`, not '<f8' or '<f4'",
        ),
        ("half.npy", npy_of("<f2", "(4,)", 1), "'<f2'"),
        ("matrix.npy", npy_of("<f8", "(2, 1)", 2), "one dimension"),
        ("scalar.npy", npy_of("<f8", "()", 1), "one dimension"),
        ("keys.npy", npy("{}\n", &[0; 8]), "descr"),
        ("empty.f64", Vec::new(), "empty"),
        (
            "one.f64",
            vec![0],
            "1 byte cannot be a whole number of doubles",
        ),
        ("cut.f64", vec![0; 12], "12 bytes"),
        (
            "numbers.dat",
            b"1,2".to_vec(),
            "known: .binpsllh, .psllh, .npy, .f64, .txt, .csv",
        ),
    ] {
        is_refused(&repro_check(&[], &[file(name, &content)]), &[name, reason]);
    }
}

#[test]
fn legal_edges() {
    let cases: [(&str, &[f64], &str); 5] = [
        ("none.f64", &[], "0000000000000000"),
        ("minus.f64", &[-0.0], "8000000000000000"),
        ("fewer.f64", &[0.1, 0.2, 0.3], "3FE3333333333334"),
        ("nan.f64", &[1.0, -f64::NAN, 2.0], "7FF8000000000000"),
        ("infinite.f64", &[f64::MAX; 9], "7FF0000000000000"),
    ];
    for (name, items, bits) in cases {
        let name = name.replace(".f64", ".binpsllh");
        let path = file(&name, &binpsllh(items.len() as u64, items));
        let words = ["--ranks", "1,2,5", "--json", "-", "--distribution", "all"];
        let rows = rows(&repro_check(&words, &[path]));
        let mut trees = rows.iter().filter(|row| row["order"] == "tree");
        let is_finite = !bits.starts_with("7FF");
        assert!(trees.all(|row| row["bits"] == bits && row["sum"].is_null() != is_finite));
    }
}

/// An earlier version of the reference rounded this item's exact sum to a neighbouring double, and reported 220 faults in correct sums.
#[test]
fn an_item_is_reproducible_alone() {
    let item = f64::from_bits(0xC001_215A_19D5_E256);
    let files = [
        numbers("item.f64", &[item]),
        numbers("minus-item.f64", &[-item]),
    ];
    let words = ["--ranks", "1,2,17", "--algorithm", "all"];
    let output = repro_check(&words, &files);
    assert!(told(&output).contains("\nPASS: "));
}

#[test]
fn numpy_files_of_either_precision_and_byte_order() {
    let numbers = [0.1_f32, 3.0];
    let single = |to_bytes: fn(f32) -> [u8; 4]| numbers.map(to_bytes).concat();
    let double =
        |to_bytes: fn(f64) -> [u8; 8]| numbers.map(|number| to_bytes(number.into())).concat();
    let files = [
        ("a.npy", "<f4", single(f32::to_le_bytes)),
        ("b.npy", ">f4", single(f32::to_be_bytes)),
        ("c.npy", "<f8", double(f64::to_le_bytes)),
        ("d.npy", ">f8", double(f64::to_be_bytes)),
        ("e.npy", "=f8", double(f64::to_ne_bytes)),
    ];
    let files =
        files.map(|(name, kind, numbers)| file(name, &npy(&header(kind, "(2,)"), &numbers)));
    let rows = rows(&repro_check(&["--ranks", "1,2", "--json", "-"], &files));
    let expected = format!("{:016X}", (f64::from(numbers[0]) + 3.0).to_bits());
    let trees: Vec<_> = rows.iter().filter(|row| row["order"] == "tree").collect();
    assert!(trees.len() > 50 && trees.iter().all(|row| row["bits"] == *expected));
}

#[test]
fn text_is_an_input() {
    let lines = file("lines.txt", b"# three\n0.5\n0.25 0.125\n");
    let table = file("table.csv", b"day,price\n1,0.5\n2,0.375\n");
    let [price, cost] = ["price", "cost"].map(|name| format!("{}:{name}", table.display()).into());
    let output = repro_check(&["--ranks", "1,2"], &[lines, table, price]);
    for expected in [
        ["lines", "3", "0.875"],
        ["table", "2", "3.0"],
        ["table:price", "2", "0.875"],
    ] {
        let cells = |line: &str| line.split_whitespace().take(3).eq(expected);
        assert!(told(&output).lines().any(cells), "{expected:?}");
    }
    let reason = "no column is called `cost`; known: `day`, `price`";
    is_refused(&repro_check(&[], &[cost]), &[reason]);
}
