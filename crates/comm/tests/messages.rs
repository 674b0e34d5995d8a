//! Tests the texts of errors, which have one line each and use the user's terms.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use comm::{Error, Tag, threads};

#[test]
fn ranks_in_different_exchanges_are_told_in_words() {
    let tag = Tag::new(1);
    let error = Error::Mismatched {
        rank: 0,
        from: 1,
        expected: tag,
        found: tag.with_exchange(1, 1),
    };
    assert_eq!(
        error.to_string(),
        "rank 0 awaits exchange 0 of conversation 1 (kind 0), but rank 1 has sent exchange 1 of conversation 1 (kind 1): all ranks must make the same calls in the same order"
    );
    let call = "start_send";
    assert_eq!(
        Error::NotOpened { call, tag }.to_string(),
        "start_send: conversation 1 was not opened"
    );
}

#[test]
fn numbers_agree_with_their_nouns() {
    let (call, rank, from) = ("start_send", 0, 1);
    let text = |size| Error::NoSuchRank {
        call,
        peer: 3,
        size,
    };
    assert!(text(1).to_string().ends_with("has 1 rank"));
    assert!(text(2).to_string().ends_with("has 2 ranks"));
    let truncated = Error::Truncated {
        rank,
        from,
        capacity_bytes: 1,
    };
    assert!(truncated.to_string().ends_with("allows (1 byte)"));
    let too_long = Error::TooLong {
        rank,
        length_bytes: 2,
        limit_bytes: 1,
    };
    let told = "rank 0: a message of 2 bytes is longer than 1 byte, the transport's limit";
    assert_eq!(too_long.to_string(), told);
}

/// The message of a panic may have several lines, and escape sequences for colours.
#[test]
fn a_panic_is_told_in_one_line() {
    let error = threads::run(2, |_| panic!("\u{1b}[31mred\u{7}\nand below")).unwrap_err();
    let threads::RunError::Failed(Error::Panicked { rank, .. }) = error else {
        panic!("{error}");
    };
    let told = format!(r"rank {rank} panicked: \u{{1b}}[31mred\u{{7}}\nand below");
    assert_eq!(error.to_string(), told);
}

#[test]
fn a_setting_names_rank_and_value() {
    let error = Error::BadSetting {
        rank: 2,
        variable: "TREEFOLD_SHARED_MEMORY",
        value: "per\rhaps".to_owned(),
        expected: comm::setting::SWITCH_VALUES,
    };
    assert_eq!(
        error.to_string(),
        r"rank 2: TREEFOLD_SHARED_MEMORY is `per\rhaps`, not one of on, off, 1, 0, true, false, yes, no"
    );
}
