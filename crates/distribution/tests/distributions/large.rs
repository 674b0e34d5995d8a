//! Tests distributions of up to 2^64 - 1 items over up to 2^40 ranks, where nothing may overflow and
//! items cannot be enumerated.

use distribution::{Distribution, Scheme, lookup};
use proptest::prelude::*;

use super::common;

const RANKS_MAX: u64 = 1 << 40;

/// The schemes that follow a formula, which takes no memory for any number of ranks.
const REGULAR: [Scheme; 4] = [
    Scheme::Lower,
    Scheme::Upper,
    Scheme::PowerOfTwo,
    Scheme::Optimized,
];

/// The schemes that a search computes, which takes too long for hundreds of ranks.
const SEARCHED: [Scheme; 3] = [
    Scheme::ScoreOptimal,
    Scheme::ScoreOptimalBusy,
    Scheme::PathOptimal,
];

fn any_magnitude() -> impl Strategy<Value = u64> {
    let near_power = (0..64_u32, -2..=2_i64)
        .prop_map(|(exponent, offset)| (1_u64 << exponent).saturating_add_signed(offset));
    prop_oneof![
        (any::<u64>(), 0..64_u32).prop_map(|(bits, shift)| bits >> shift),
        near_power,
        Just(u64::MAX),
    ]
}

fn items_of_interest(starts: &[u64], items: u64) -> Vec<u64> {
    let around = starts.iter().flat_map(|&s| [s.saturating_sub(1), s]);
    around.filter(|&item| item < items).collect()
}

fn check_lookups(distribution: &Distribution) -> Result<(), TestCaseError> {
    let starts: Vec<u64> = distribution.starts().collect();
    prop_assert_eq!(starts[0], 0);
    prop_assert_eq!(starts.last(), Some(&distribution.items()));
    prop_assert!(starts.is_sorted());
    for item in items_of_interest(&starts, distribution.items()) {
        let owner = lookup::linear(&starts, item);
        prop_assert!(distribution.range(owner).contains(&item));
        prop_assert_eq!(distribution.rank_of(item), owner);
        prop_assert_eq!(lookup::logarithmic(&starts, item), owner);
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_scheme_tiles_the_items(items in any_magnitude(), ranks in 1..300_usize) {
        for &scheme in Scheme::ALL.iter().filter(|scheme| !SEARCHED.contains(scheme)) {
            check_lookups(&scheme.distribute(items, ranks).unwrap())?;
        }
    }

    #[test]
    fn any_alpha_tiles_the_items(
        items in any_magnitude(),
        ranks in 1..100_usize,
        alpha in prop_oneof![0.0..1.0, Just(1.0 - f64::EPSILON / 2.0)],
    ) {
        check_lookups(&Distribution::optimized(items, ranks, alpha).unwrap())?;
        check_lookups(&Distribution::optimized_published(items, ranks, alpha).unwrap())?;
    }

    #[test]
    fn optimized_starts_obey_equation_3_9_and_stop_no_earlier(
        items in any_magnitude(),
        ranks in 1..300_usize,
        alpha in 0.0..1.0,
    ) {
        let upper = Distribution::upper(items, ranks).unwrap();
        let optimized = Distribution::optimized(items, ranks, alpha).unwrap();
        let shift_max = alpha * (items as f64 / ranks as f64);
        for rank in 0..ranks {
            let (initial, start) = (upper.start(rank), optimized.start(rank));
            prop_assert!((initial - start) as f64 <= shift_max);
            if start > 0 {
                let further = initial - tree_index::parent(start);
                // Equality is allowed because converting a u64 to an f64 may round.
                prop_assert!(further as f64 >= shift_max);
            }
        }
    }

    #[test]
    fn regular_schemes_find_the_owner_among_many_ranks(
        items in any_magnitude().prop_filter("an item to look for", |&items| items > 0),
        ranks in any_magnitude().prop_map(|bits| bits % RANKS_MAX + 1),
        place in any::<u64>(),
    ) {
        let ranks = usize::try_from(ranks).unwrap();
        for scheme in REGULAR {
            let distribution = scheme.distribute(items, ranks).unwrap();
            for item in [0, place % items, items - 1] {
                let owner = distribution.rank_of(item);
                prop_assert!(distribution.range(owner).contains(&item), "{scheme}");
            }
            prop_assert_eq!(distribution.start(ranks), items);
        }
    }

    #[test]
    fn counts_come_back(counts in prop::collection::vec(prop_oneof![Just(0), 0..1000_u64], 1..50)) {
        let distribution = Distribution::from_counts(&counts).unwrap();
        prop_assert_eq!(common::counts(&distribution), counts);
        check_lookups(&distribution)?;
        let boundaries = distribution.starts().collect();
        prop_assert_eq!(Distribution::from_boundaries(boundaries).unwrap(), distribution);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_searched_for_tiles_the_items(items in any_magnitude(), ranks in 1..20_usize) {
        for scheme in SEARCHED {
            check_lookups(&scheme.distribute(items, ranks).unwrap())?;
        }
    }
}
