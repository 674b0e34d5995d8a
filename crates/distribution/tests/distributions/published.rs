//! Checks the thesis' numbers for N = 504850 items on p = 256 ranks, in Tables 3.1 to 3.3, to the
//! printed precision.

use distribution::{Cost, Distribution, Scheme};

use super::common::counts as shares;

const ITEMS: u64 = 504_850;
const RANKS: usize = 256;

#[track_caller]
fn check(distribution: &Distribution, messages: u64, score_us: &str) {
    assert_eq!(distribution.message_count(), messages);
    let decimals = score_us.split('.').nth(1).map_or(0, str::len);
    let score = distribution.score(&Cost::THESIS) / 1000.0;
    assert_eq!(format!("{score:.decimals$}"), score_us);
}

#[test]
fn table_3_1_even() {
    check(&Distribution::lower(ITEMS, RANKS).unwrap(), 1640, "469.0");
    check(&Distribution::upper(ITEMS, RANKS).unwrap(), 1401, "401.9");
}

#[test]
fn table_3_2_power_of_two() {
    let power_of_two = Distribution::power_of_two(ITEMS, RANKS).unwrap();
    check(&power_of_two, 256, "1083.4");
    let shares = shares(&power_of_two);
    assert!(shares[..255].iter().all(|&share| share == 1024));
    assert_eq!(shares[255], 243_730);
}

#[test]
fn table_3_3_by_the_rule_that_was_published() {
    let published = Distribution::optimized_published(ITEMS, RANKS, 0.2).unwrap();
    check(&published, 621, "184.486");
    let shares = shares(&published);
    assert_eq!(shares.iter().min(), Some(&1690));
    assert_eq!(shares.iter().max(), Some(&2406));
}

#[test]
fn algorithm_3_by_the_rule_that_was_printed() {
    let optimized = |alpha| Distribution::optimized(ITEMS, RANKS, alpha).unwrap();
    check(&optimized(0.2), 557, "165.1");
    check(&optimized(0.15), 604, "178.3");
    check(&optimized(0.1), 683, "200.5");
    assert_eq!(shares(&optimized(0.2)).iter().max(), Some(&2066));
    assert_eq!(optimized(0.0), Distribution::upper(ITEMS, RANKS).unwrap());
}

/// Checks numbers that are not in the thesis: the minimum of eq. 3.7, and the messages of the shortest critical path.
#[test]
fn the_best_there_is() {
    let free = Distribution::score_optimal(ITEMS, RANKS, &Cost::THESIS).unwrap();
    check(&free, 61, "51.138");
    assert_eq!(shares(&free)[..61], [8192; 61]);
    assert_eq!(shares(&free)[61..63], [5138, 0]);
    let busy = Distribution::score_optimal_busy(ITEMS, RANKS, &Cost::THESIS).unwrap();
    check(&busy, 255, "80.154");
    assert_eq!(shares(&busy).iter().max(), Some(&2048));
    assert!(shares(&busy).iter().all(|&share| share > 0));
    let path = Distribution::path_optimal(ITEMS, RANKS, &Cost::THESIS).unwrap();
    check(&path, 428, "129.8");
}

/// Checks the messages of each scheme with the published α, and its critical path in microseconds.
#[test]
fn every_scheme() {
    let found = Scheme::ALL.iter().map(|scheme| {
        let distribution = scheme.distribute(ITEMS, RANKS).unwrap();
        let path_us = distribution.critical_path_ns(&Cost::THESIS) / 1000.0;
        (distribution.message_count(), format!("{path_us:.2}"))
    });
    let expected = [
        (1640, "12.14"),
        (1401, "12.15"),
        (256, "1012.04"),
        (557, "11.06"),
        (621, "12.13"),
        (61, "35.42"),
        (255, "10.50"),
        (428, "9.93"),
    ];
    let expected = expected.map(|(messages, path_us)| (messages, path_us.to_owned()));
    assert_eq!(found.collect::<Vec<_>>(), expected);
}
