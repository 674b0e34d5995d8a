//! Tests reports, as text and as JSON.

use super::{Report, size};
use crate::settings::Mode;
use crate::statistics::{Counts, Kind, Statistics};

pub(super) fn report(statistics: &Statistics) -> Report<'_> {
    Report {
        statistics,
        sites: &[],
        mode: Mode::Check,
        library: "a library",
        ranks: 2,
        counted: 2,
        ahead: None,
    }
}

pub(super) fn kind() -> Kind {
    Kind {
        passed: String::new(),
        call: "Allreduce".to_owned(),
        element: "double".to_owned(),
        op: "sum".to_owned(),
        size_class: 3,
        is_open: false,
    }
}

/// Statistics of one kind of call.
fn statistics(counts: Counts) -> Statistics {
    let mut statistics = Statistics::default();
    statistics.count(kind(), counts);
    statistics
}

/// Removes line breaks, so that texts can be searched for sentences.
fn in_one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

#[test]
fn pages_have_room_for_reports() {
    let counts = Counts {
        calls: 11_640,
        bytes: 93_120,
        compared: 11_640,
        differing: 3_240,
        differing_elements: 3_240,
        treefold_ns: 15_492_000_000,
        library_ns: 6_651_000_000,
        ..Counts::default()
    };
    let mut statistics = statistics(counts);
    let passed = Kind {
        passed: "TREEFOLD_PMPI_OPS lacks the operator".to_owned(),
        call: "Reduce".to_owned(),
        element: "double".to_owned(),
        op: "max".to_owned(),
        size_class: 0,
        is_open: false,
    };
    statistics.count(passed, counts);
    let report = Report {
        library: "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022",
        ..report(&statistics)
    };
    let text = report.text();
    for line in text.lines() {
        assert!(line.chars().count() <= 78, "{line}");
    }
    assert!(text.contains("3240  27.8 %"), "{text}");
}

#[test]
fn sizes_are_powers_of_four() {
    assert_eq!(
        [0, 2, 5, 6, 10].map(size),
        ["1 B", "16 B", "1 KiB", "4 KiB", "1 MiB"]
    );
}

#[test]
fn another_environment_is_no_choice_of_algorithm() {
    let text_of = |environments, differing_environments| {
        let counts = Counts {
            calls: 4,
            compared: 4,
            differing: 3,
            environments,
            differing_environments,
            ..Counts::default()
        };
        in_one_line(&report(&statistics(counts)).text())
    };
    let of_algorithm = "depend on the library's choice of algorithm";
    let text = text_of(0, 0);
    assert!(text.contains(of_algorithm) && !text.contains("subnormal"));
    let text = text_of(4, 3);
    assert!(!text.contains(of_algorithm) && text.contains("Of these 3, 3 came"));
    let text = text_of(2, 2);
    assert!(text.contains("The rest, 1, depends on") && text.contains("Of these 3, 2 came"));
}

#[test]
fn nothing_seen_is_said_with_what_hides_calls() {
    let nothing = Statistics::default();
    let text = in_one_line(&report(&nothing).text());
    assert!(text.contains("Calls seen: 0. The program made no reduction, or another tool"));
    let report = Report {
        ahead: Some("/lib/libtool.so".to_owned()),
        ..report(&nothing)
    };
    let text = in_one_line(&report.text());
    assert!(text.contains("Calls seen: 0. The program calls the reductions of /lib/libtool.so"));
    assert!(report.json().contains("\"calls_seen\": 0"));
}

#[test]
fn a_check_begins_with_its_verdict() {
    let counts = Counts {
        calls: 4,
        compared: 4,
        ..Counts::default()
    };
    let mut statistics = statistics(counts);
    let text = report(&statistics).text();
    let line = text.lines().next();
    let verdict = "treefold-pmpi: same bits as treefold's order in all 4 reductions";
    assert_eq!(line, Some(verdict));
    assert!(!text.contains("different bits"));
    assert!(!text.contains("different reductions"));
    statistics.disagreements = 1;
    statistics.count_mismatched("MPI_Iscan of 3 float, prod", 2, 1);
    for rank in [1, 0] {
        statistics.count_mismatched("MPI_Iscan of 3 float, sum", rank, 1);
    }
    let report = report(&statistics);
    let called = "have called different reductions: rank 0 and 1 other: MPI_Iscan of 3 float, sum. rank 2: MPI_Iscan of 3 float, prod.";
    assert!(in_one_line(&report.text()).contains(called));
    assert!(report.json().contains("\"first_rank\": 2"));
    assert!(
        in_one_line(&report.text())
            .contains("In at least 1 call, ranks got different bits of the same result.")
    );
    assert!(report.json().contains("\"disagreements\": 1"));
    assert!(report.json().contains("\"verdict\": \"same bits"));
}

#[test]
fn places_fit_the_page() {
    let statistics = statistics(Counts::default());
    let sites = [(
        "Reduce_scatter_block_init".to_owned(),
        123_456_789,
        "é".repeat(99),
    )];
    let report = Report {
        sites: &sites,
        ..report(&statistics)
    };
    let text = report.text();
    assert!(text.contains("123456789"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    assert!(report.json().contains("\"from\""));
}

#[test]
fn numbers_agree_with_their_nouns() {
    let counts = Counts {
        calls: 1,
        failed: 1,
        environments: 1,
        ..Counts::default()
    };
    let statistics = statistics(counts);
    let report = Report {
        ranks: 1,
        counted: 1,
        ..report(&statistics)
    };
    let text = in_one_line(&report.text());
    for part in [
        "1 rank, a library",
        "With 1 rank and",
        "in 1 call.",
        " 1 call came",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for wrong in ["1 ranks", "1 calls", "all 1"] {
        assert!(!text.contains(wrong), "{wrong}: {text}");
    }
}
