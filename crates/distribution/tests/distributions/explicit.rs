//! Tests valid and invalid boundaries, counts and names.

use distribution::{ALPHA, Distribution, Error, Scheme};

#[test]
fn empty_ranks_own_nothing_wherever_they_are() {
    let distribution = Distribution::from_counts(&[0, 0, 3, 0, 2, 0]).unwrap();
    let owners: Vec<_> = (0..5).map(|item| distribution.rank_of(item)).collect();
    assert_eq!(owners, [2, 2, 2, 4, 4]);
    assert_eq!(distribution.range(3), 3..3);
    assert_eq!(distribution.count(5), 0);
    let without = Distribution::from_counts(&[3, 2]).unwrap();
    assert_eq!(distribution.message_count(), without.message_count());
    assert_ne!(distribution, without);
}

#[test]
fn no_items_are_legal() {
    for &scheme in Scheme::ALL {
        let distribution = scheme.distribute(0, 3).unwrap();
        assert!(distribution.starts().eq([0, 0, 0, 0]), "{scheme}");
        assert_eq!(distribution.message_count(), 0);
    }
    assert_eq!(
        Distribution::from_boundaries(vec![0, 0]).unwrap().items(),
        0
    );
}

#[test]
fn equality_is_about_who_owns_what() {
    let lower = Distribution::lower(512, 4).unwrap();
    assert_eq!(lower, Distribution::power_of_two(512, 4).unwrap());
    assert_eq!(
        lower,
        Distribution::from_boundaries(vec![0, 128, 256, 384, 512]).unwrap()
    );
    assert_ne!(lower, Distribution::lower(512, 5).unwrap());
    assert_ne!(lower, Distribution::lower(513, 4).unwrap());
}

#[test]
fn no_ranks_are_an_error_that_says_so() {
    for &scheme in Scheme::ALL {
        assert_eq!(scheme.distribute(9, 0), Err(Error::NoRanks));
    }
    assert_eq!(Distribution::from_counts(&[]), Err(Error::NoRanks));
    assert_eq!(Distribution::from_boundaries(vec![]), Err(Error::NoRanks));
    assert_eq!(Distribution::from_boundaries(vec![0]), Err(Error::NoRanks));
    assert!(Error::NoRanks.to_string().contains("p = 0"));
}

#[test]
fn an_alpha_outside_0_to_1_is_named() {
    for alpha in [-0.1, 1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        for make in [Distribution::optimized, Distribution::optimized_published] {
            let message = make(9, 3, alpha).unwrap_err().to_string();
            assert_eq!(
                message,
                format!("alpha must be at least 0 and less than 1, but is {alpha}")
            );
        }
    }
    assert!(Distribution::optimized(9, 3, 0.0).is_ok());
    assert_eq!(
        Distribution::optimized(9, 3, ALPHA),
        Scheme::Optimized.distribute(9, 3)
    );
}

#[test]
fn wrong_boundaries_are_named() {
    let error = |boundaries: &[u64]| Distribution::from_boundaries(boundaries.into()).unwrap_err();
    assert_eq!(error(&[1, 5]), Error::FirstStart { start: 1 });
    let decreasing = error(&[0, 4, 3, 9]);
    assert_eq!(
        decreasing,
        Error::Decreasing {
            rank: 1,
            start: 4,
            end: 3
        }
    );
    assert_eq!(
        decreasing.to_string(),
        "rank 1 starts at item 4, but ends before item 3"
    );
}

#[test]
fn counts_that_overflow_are_named() {
    let most = Distribution::from_counts(&[u64::MAX, 0]).unwrap();
    assert_eq!(most.items(), u64::MAX);
    let error = Distribution::from_counts(&[1, u64::MAX, 1]).unwrap_err();
    assert_eq!(error, Error::TooManyItems { rank: 1 });
    assert_eq!(
        error.to_string(),
        "ranks 0 to 1 together own more than 2^64 - 1 items"
    );
}

#[test]
fn names_come_back_and_unknown_ones_list_the_known() {
    for &scheme in Scheme::ALL {
        assert_eq!(scheme.to_string().parse(), Ok(scheme));
    }
    let message = "Lower".parse::<Scheme>().unwrap_err().to_string();
    assert!(message.contains("`Lower`"));
    for &scheme in Scheme::ALL {
        assert!(message.contains(scheme.name()));
    }
}

#[test]
#[should_panic(expected = "item 9 >= N = 9")]
fn an_item_that_nobody_owns() {
    let _ = Distribution::lower(9, 3).unwrap().rank_of(9);
}

#[test]
#[should_panic(expected = "rank 3 >= p = 3")]
fn a_rank_that_does_not_exist() {
    let _ = Distribution::lower(9, 3).unwrap().count(3);
}
