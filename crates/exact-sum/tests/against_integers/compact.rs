//! Checks compact states. Rows are divided into parts, which are added in any order; some parts are removed again. Sums are compared with
//! integers, and all other statistics with slots.

use exact_sum::Accumulator as _;
use exact_sum::{
    CoMoments, CompactAny, CompactBytes, CompactCoMoments, CompactMoments, CompactNumber,
    CompactPowers, CompactProducts, CompactRows, CompactState, CompactSum, CompactWeightedMean,
    IntegerSum, Moments, Options, Powers, ProductSum, Slot, Statistic, Sum, WeightedMean,
};
use integer_sums::units::{
    UNITS_PER_ONE, dot, quotient_to_double, root_of_quotient, sum, to_double,
};
use num_bigint::BigInt;
use proptest::prelude::*;

use super::{finite, in_range, ranges};

const SAMPLE: Options = Options {
    ddof: 1.0,
    bias: false,
};

const POPULATION: Options = Options {
    ddof: 0.0,
    bias: true,
};

/// Items of few exponents, or of any exponents.
fn items() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        2 => prop::collection::vec(finite(), 1..60),
        1 => prop::collection::vec((-1000..1000).prop_map(f64::from), 1..60),
        3 => (1..400_usize, ranges(), any::<bool>(), any::<u64>())
            .prop_map(|(len, range, signs, seed)| in_range(len, range, signs, seed)),
    ]
}

/// How rows are divided: the number of parts, whether parts are merged from the last one backwards, and how many parts are removed afterwards.
#[derive(Clone, Copy, Debug)]
struct Division {
    parts: usize,
    is_reversed: bool,
    taken_back: usize,
}

fn divisions() -> impl Strategy<Value = Division> {
    let numbers = (1..9_usize, any::<bool>(), 0..3_usize);
    numbers.prop_map(|(parts, is_reversed, taken_back)| Division {
        parts,
        is_reversed,
        taken_back,
    })
}

/// The state of rows after some were removed, and the remaining rows. Also checks that the state and its bytes are those of
/// the remaining rows.
fn divided<Row: Copy, S: CompactRows<Row> + CompactBytes>(
    rows: &[Row],
    division: Division,
) -> (S, Vec<Row>) {
    divided_by(rows, division, |state: &mut S, rows| {
        rows.iter().for_each(|row| state.add_row(*row));
    })
}

fn divided_by<Row: Copy, S: CompactRows<Row> + CompactBytes>(
    rows: &[Row],
    division: Division,
    add: impl Fn(&mut S, &[Row]),
) -> (S, Vec<Row>) {
    let mut parts: Vec<&[Row]> = rows.chunks(rows.len().div_ceil(division.parts)).collect();
    if division.is_reversed {
        parts.reverse();
    }
    let state_of = |rows: &[Row]| {
        let mut state = S::default();
        add(&mut state, rows);
        state
    };
    let mut all = S::default();
    for part in &parts {
        let bytes = state_of(part).to_bytes();
        let any = CompactAny::of_bytes(&bytes).expect("a state wrote the bytes");
        assert_eq!(any.to_bytes(), bytes);
        all.merge_bytes(&bytes).expect("there is room");
    }
    let taken_back = division.taken_back.min(parts.len());
    let (gone, left) = parts.split_at(taken_back);
    for (number, part) in gone.iter().enumerate() {
        if number == 0 {
            for row in *part {
                all.remove(*row).expect("it was added");
            }
        } else {
            all.unmerge(&state_of(part)).expect("it was merged");
        }
    }
    let left = left.concat();
    let whole = state_of(&left);
    assert_eq!(all, whole);
    assert_eq!(all.to_bytes(), whole.to_bytes());
    assert_eq!(all.items(), left.len() as u64);
    assert!(gone.concat().is_empty() || all.clone().unmerge(&state_of(rows)).is_err());
    (all, left)
}

/// Checks that a state has the statistics of a slot, but NULL (`None`) instead of a NaN.
fn check<S: CompactState, T: Slot<Item = f64>>(state: &S, slot: &T, is_finite: bool) {
    for statistic in Statistic::ALL {
        for options in [SAMPLE, POPULATION] {
            let value = state.statistic(statistic, options);
            let Some(expected) = slot.statistic(statistic, options) else {
                assert!(
                    value.is_none() || statistic == Statistic::Count,
                    "{statistic}"
                );
                continue;
            };
            let has_ddof = matches!(
                statistic,
                Statistic::Variance | Statistic::StandardDeviation | Statistic::Covariance
            );
            let is_null = has_ddof && state.items() as f64 <= options.ddof
                || state.items() == 0 && statistic != Statistic::Count
                || state.items() < statistic.least_items(options)
                || is_finite && expected.is_nan();
            // A sum of -0.0 is +0.0 in these states.
            let is_sum = matches!(statistic, Statistic::Sum | Statistic::Mean);
            let bits = |value: f64| match value {
                _ if value.is_nan() => f64::NAN.to_bits(),
                0.0 if is_sum => 0,
                _ => value.to_bits(),
            };
            let expected = (!is_null).then(|| bits(expected));
            let value = value.map(bits);
            assert_eq!(value, expected, "{statistic}: {state:?}");
        }
    }
}

proptest! {
    #[test]
    fn sums_and_means(items in items(), division in divisions()) {
        let each = |sum: &mut CompactSum, items: &[f64]| items.iter().for_each(|item| sum.add(*item));
        for add in [&each as &dyn Fn(&mut CompactSum, &[f64]), &|sum, items| sum.add_all(items)] {
            let (state, left) = divided_by(&items, division, add);
            let exact = sum(left.iter().copied());
            let count = left.len();
            let value = |value: &dyn Fn() -> f64| (count > 0).then(|| value().to_bits());
            let found = |statistic| state.statistic(statistic, SAMPLE).map(f64::to_bits);
            prop_assert_eq!(state.value().map(f64::to_bits), value(&|| to_double(&exact)));
            prop_assert_eq!(found(Statistic::Mean), value(&|| quotient_to_double(&exact, &count.into())));
            let held = Sum::of(&left);
            check(&state, &held, true);
            let zeros = left.iter().filter(|item| item.to_bits() == 1 << 63).count();
            if zeros == 0 {
                prop_assert_eq!(state.to_bytes(), held.to_bytes());
            }
        }
    }

    #[test]
    fn moments(items in items(), division in divisions(), ddof in 0..3_u32) {
        let (state, left) = divided::<f64, CompactMoments>(&items, division);
        check(&state, &Moments::of(&left), true);
        let total = sum(left.iter().copied());
        let (count, freedom) = (BigInt::from(left.len()), left.len().saturating_sub(ddof as usize));
        let of_squares: BigInt = (dot(&left, &left) * &count) << UNITS_PER_ONE;
        let numerator = of_squares - &total * &total;
        let denominator: BigInt = (count * BigInt::from(freedom)) << UNITS_PER_ONE;
        let options = Options { ddof: ddof.into(), bias: true };
        let expected = (freedom > 0).then(|| quotient_to_double(&numerator, &denominator));
        prop_assert_eq!(state.statistic(Statistic::Variance, options), expected);
        let expected = (freedom > 0).then(|| root_of_quotient(&numerator, &denominator));
        prop_assert_eq!(state.statistic(Statistic::StandardDeviation, options), expected);
    }

    #[test]
    fn powers(items in items(), division in divisions()) {
        let (state, left) = divided::<f64, CompactPowers>(&items[..items.len().min(90)], division);
        check(&state, &Powers::of(&left), true);
    }

    #[test]
    fn pairs(x in items(), y in items(), division in divisions()) {
        let pairs: Vec<(f64, f64)> = x.into_iter().zip(y).take(90).collect();
        let (state, left) = divided::<(f64, f64), CompactCoMoments>(&pairs, division);
        let (x, y): (Vec<f64>, Vec<f64>) = left.into_iter().unzip();
        check(&state, &CoMoments::of(&x, &y), true);
        let (state, left) = divided::<(f64, f64), CompactProducts>(&pairs, division);
        let (x, y): (Vec<f64>, Vec<f64>) = left.into_iter().unzip();
        let expected = (!x.is_empty()).then(|| to_double(&dot(&x, &y)));
        prop_assert_eq!(state.value(), expected);
        prop_assert_eq!(state.statistic(Statistic::Dot, SAMPLE), expected);
        let mut mean = CompactWeightedMean::new();
        pairs.iter().for_each(|(x, y)| mean.add(*x, *y));
        for (x, y) in &pairs[..pairs.len() - x.len()] {
            mean.remove((*x, *y)).unwrap();
        }
        let last = &pairs[pairs.len() - x.len()..];
        let (x, weights): (Vec<f64>, Vec<f64>) = last.iter().copied().unzip();
        let mut held = WeightedMean::new();
        held.add(&x, &weights);
        let is_zero = sum(weights.iter().copied()) == BigInt::ZERO;
        let expected = (!is_zero).then(|| held.value() + 0.0);
        prop_assert_eq!(mean.statistic(Statistic::WeightedMean, SAMPLE), expected);
    }

    /// The product of a double and an integer may have more bits than the product of two doubles.
    #[test]
    fn doubles_with_integers(x in items(), y in prop::collection::vec(any::<i64>(), 60), shift in 0..64, division in divisions()) {
        let pairs: Vec<(f64, i64)> = x.into_iter().zip(y.iter().map(|y| y >> shift)).collect();
        let exact = |pairs: &[(f64, i64)]| {
            let units = pairs.iter().map(|(x, y)| (sum([*x]), BigInt::from(*y)));
            units.fold([BigInt::ZERO, BigInt::ZERO, BigInt::ZERO], |[xy, x, y], (next_x, next_y)| {
                [xy + &next_x * &next_y, x + next_x, y + next_y]
            })
        };
        let (state, left) = divided::<(f64, i64), CompactProducts>(&pairs, division);
        let [xy, ..] = exact(&left);
        prop_assert_eq!(state.value(), (!left.is_empty()).then(|| to_double(&xy)));
        let (state, left) = divided::<(f64, i64), CompactCoMoments>(&pairs, division);
        let [xy, x, y] = exact(&left);
        let n = BigInt::from(left.len());
        let covariance = (left.len() > 1).then(|| quotient_to_double(&(&n * &xy - &x * &y), &(&n * (&n - 1))));
        prop_assert_eq!(state.statistic(Statistic::Covariance, SAMPLE), covariance);
        let (state, left) = divided::<(i64, f64), CompactCoMoments>(&pairs.iter().map(|(x, y)| (*y, *x)).collect::<Vec<_>>(), division);
        prop_assert_eq!(state.statistic(Statistic::Covariance, SAMPLE), covariance);
        prop_assert_eq!(left.len(), n.try_into().unwrap());
        let mut mean = CompactWeightedMean::new();
        left.iter().for_each(|(weight, item)| mean.add(*item, *weight));
        let [above, below] = if y < BigInt::ZERO { [-&xy, -&y] } else { [xy.clone(), y.clone()] };
        let expected = (y != BigInt::ZERO).then(|| quotient_to_double(&above, &below));
        prop_assert_eq!(mean.statistic(Statistic::WeightedMean, SAMPLE), expected);
    }

    #[test]
    fn what_is_not_finite_can_be_taken_back(items in prop::collection::vec((finite(), 0..9_u8), 2..40), division in divisions()) {
        let items: Vec<f64> = items.into_iter().map(|(item, kind)| match kind {
            0 => f64::INFINITY,
            1 => f64::NEG_INFINITY,
            2 => f64::NAN,
            _ => item,
        }).collect();
        let (state, left) = divided::<f64, CompactPowers>(&items, division);
        let is_finite = left.iter().all(|item| item.is_finite());
        check(&state, &Powers::of(&left), is_finite);
        let (sum, left) = divided::<f64, CompactSum>(&items, division);
        check(&sum, &Sum::of(&left), is_finite);
        let pairs: Vec<(f64, f64)> = items.iter().copied().zip(items.iter().rev().copied()).collect();
        let (state, left) = divided::<(f64, f64), CompactCoMoments>(&pairs, division);
        let (x, y): (Vec<f64>, Vec<f64>) = left.iter().copied().unzip();
        let is_finite = x.iter().chain(&y).all(|item| item.is_finite());
        check(&state, &CoMoments::of(&x, &y), is_finite);
        let (state, left) = divided::<(f64, f64), CompactProducts>(&pairs, division);
        let (x, y): (Vec<f64>, Vec<f64>) = left.into_iter().unzip();
        let expected = (!x.is_empty()).then(|| ProductSum::of(&x, &y).value() + 0.0);
        let same = |one: Option<f64>, other: Option<f64>| one == other || one.is_some_and(f64::is_nan) && other.is_some_and(f64::is_nan);
        prop_assert!(same(state.value(), expected), "{:?} {:?}", state.value(), expected);
    }

    #[test]
    fn integers(items in prop::collection::vec((any::<i128>(), 0..128_u32), 1..40), parts in 1..9_usize) {
        let items: Vec<i128> = items.iter().map(|(item, places)| item >> places).collect();
        let sums = items.chunks(items.len().div_ceil(parts)).map(|part| {
            let mut sum = IntegerSum::new();
            part.iter().for_each(|item| sum.add_one(*item));
            sum
        });
        let sum = sums.fold(IntegerSum::new(), |mut all, sum| { all.merge(&sum).unwrap(); all });
        let exact = items.iter().fold(BigInt::ZERO, |sum, item| sum + item);
        prop_assert_eq!(sum.items(), items.len() as u64);
        prop_assert_eq!(sum.value(), i128::try_from(&exact).ok());
        let units = &exact << UNITS_PER_ONE;
        prop_assert_eq!(sum.mean(), Some(quotient_to_double(&units, &items.len().into())));
        let mut doubles = CompactSum::new();
        items.iter().for_each(|item| doubles.add_integer(*item));
        prop_assert_eq!(doubles.value(), Some(to_double(&units)));
        prop_assert_eq!(doubles.integer(), sum.value());
        let of_decimals = doubles.statistic_of_decimals(Statistic::Mean, SAMPLE, [7, 0]);
        let divisor = BigInt::from(items.len()) * 10_000_000;
        prop_assert_eq!(of_decimals, Some(quotient_to_double(&units, &divisor)));
        let (first, others) = items.split_at(items.len() / parts);
        let (mut all, mut left) = (sum, IntegerSum::new());
        all.remove(first).unwrap();
        left.add(others);
        prop_assert_eq!(all, left);
    }

    /// Decimals of any scale, given as integers with more bits than a double has.
    #[test]
    fn decimals(pairs in prop::collection::vec((any::<i64>(), any::<i64>()), 2..30), shift in 0..64, scales in [0..19_u8, 0..19_u8]) {
        let pairs: Vec<(i64, i64)> = pairs.iter().map(|(x, y)| (x >> shift, y >> shift)).collect();
        let (mut powers, mut both, mut dot) = (CompactPowers::new(), CompactCoMoments::new(), CompactProducts::new());
        for (x, y) in &pairs {
            powers.add(*x);
            both.add(*x, *y);
            dot.add(*x, *y);
        }
        let mut mixed = CompactCoMoments::new();
        for (x, y) in &pairs {
            mixed.add(CompactNumber::Integer(*x), CompactNumber::Integer(*y));
        }
        prop_assert_eq!(&mixed, &both);
        let n = BigInt::from(pairs.len());
        let total = |of: &dyn Fn(BigInt, BigInt) -> BigInt| {
            let terms = pairs.iter().map(|(x, y)| of(BigInt::from(*x), BigInt::from(*y)));
            terms.fold(BigInt::ZERO, |sum, term| sum + term)
        };
        let tens = |power: u8| BigInt::from(10).pow(power.into());
        let quotient = |above: &BigInt, below: &BigInt| quotient_to_double(&(above << UNITS_PER_ONE), below);
        let (x, y, xy) = (total(&|x, _| x), total(&|_, y| y), total(&|x, y| x * y));
        let (xx, yy) = (total(&|x, _| &x * &x), total(&|_, y| &y * &y));
        let centred = |products: &BigInt, one: &BigInt, other: &BigInt| products * &n - one * other;
        let [cxx, cxy, cyy] = [centred(&xx, &x, &x), centred(&xy, &x, &y), centred(&yy, &y, &y)];
        let freedom = &n * (&n - 1);
        let scaled = |statistic| powers.statistic_of_decimals(statistic, SAMPLE, scales);
        prop_assert_eq!(scaled(Statistic::Sum), Some(quotient(&x, &tens(scales[0]))));
        prop_assert_eq!(scaled(Statistic::Variance), Some(quotient(&cxx, &(&freedom * tens(2 * scales[0])))));
        prop_assert_eq!(scaled(Statistic::Kurtosis), powers.statistic(Statistic::Kurtosis, SAMPLE));
        let product = tens(scales[0] + scales[1]);
        prop_assert_eq!(dot.statistic_of_decimals(Statistic::Dot, SAMPLE, scales), Some(quotient(&xy, &product)));
        let scaled = |statistic| both.statistic_of_decimals(statistic, SAMPLE, scales);
        prop_assert_eq!(scaled(Statistic::Covariance), Some(quotient(&cxy, &(&freedom * product))));
        let varies = cxx != BigInt::ZERO;
        let slope = varies.then(|| quotient(&(&cxy * tens(scales[0])), &(&cxx * tens(scales[1]))));
        prop_assert_eq!(scaled(Statistic::Slope), slope);
        let above = &xx * &y - &x * &xy;
        let intercept = varies.then(|| quotient(&above, &(&cxx * tens(scales[1]))));
        prop_assert_eq!(scaled(Statistic::Intercept), intercept);
        let correlation = both.statistic(Statistic::Correlation, SAMPLE);
        prop_assert_eq!(scaled(Statistic::Correlation), correlation);
        prop_assert_eq!(correlation.is_some(), varies && cyy != BigInt::ZERO);
    }
}

#[test]
fn bulk_additions_of_what_is_not_finite() {
    const INFINITY: f64 = f64::INFINITY;
    for (items, expected) in [
        (&[1e308, f64::NAN, 1e308][..], f64::NAN),
        (&[INFINITY, 1.0], INFINITY),
        (&[f64::MAX, -INFINITY, f64::MAX], -INFINITY),
        (&[INFINITY, 0.0, -INFINITY], f64::NAN),
    ] {
        let long: Vec<f64> = [items, &[2.5; 100]].concat();
        let mut sum = CompactSum::new();
        sum.add_all(&long);
        let mean = sum.statistic(Statistic::Mean, SAMPLE).unwrap();
        assert!(
            mean == expected || mean.is_nan() && expected.is_nan(),
            "{items:?}: {mean}"
        );
        for item in items {
            sum.remove(*item).unwrap();
        }
        assert_eq!(sum.value(), Some(250.0));
        assert!(sum.remove(f64::NAN).is_err());
        assert_eq!(sum.value(), Some(250.0));
    }
}

#[test]
fn nothing_has_no_value_and_negative_zeros_have_a_positive_one() {
    let mut sum = CompactSum::new();
    sum.merge(&CompactSum::new()).unwrap();
    assert_eq!(sum.value(), None);
    sum.add_all(&[-0.0; 100]);
    sum.add(-0.0);
    assert_eq!(sum.value().map(f64::to_bits), Some(0));
    assert_eq!(CompactProducts::new().value(), None);
    assert_eq!(IntegerSum::new().mean(), None);
    for statistic in Statistic::ALL {
        let count = (statistic == Statistic::Count).then_some(0.0);
        assert_eq!(CompactPowers::new().statistic(statistic, SAMPLE), count);
        assert_eq!(CompactCoMoments::new().statistic(statistic, SAMPLE), count);
        assert_eq!(
            CompactWeightedMean::new().statistic(statistic, SAMPLE),
            count
        );
    }
    let mut powers = CompactPowers::new();
    let value = |powers: &CompactPowers, statistic, options| powers.statistic(statistic, options);
    powers.add(3.0);
    assert_eq!(value(&powers, Statistic::Variance, POPULATION), Some(0.0));
    assert_eq!(value(&powers, Statistic::StandardDeviation, SAMPLE), None);
    assert_eq!(value(&powers, Statistic::Skewness, POPULATION), None);
    powers.add(4.0);
    assert_eq!(value(&powers, Statistic::Skewness, POPULATION), Some(0.0));
    assert_eq!(value(&powers, Statistic::Skewness, SAMPLE), None);
}

/// Adds enough equal items that the digits and the 32-bit count of rows overflow.
#[test]
fn digits_and_counters_that_overflow() {
    let mut sum = CompactSum::new();
    sum.add(1.0);
    for _ in 0..62 {
        let before = sum.clone();
        sum.merge(&before).unwrap();
    }
    assert_eq!(sum.value(), Some(2_f64.powi(62)));
    assert_eq!(sum.items(), 1 << 62);
    let before = sum.clone();
    assert!(sum.merge(&before).is_err());
    assert_eq!(CompactSum::of_bytes(&sum.to_bytes()), Ok(before.clone()));
    sum.unmerge(&before).unwrap();
    assert_eq!(sum, CompactSum::new());
    for _ in 0..3 {
        sum.add(2_f64.powi(70));
        sum.add(2_f64.powi(-60));
        sum.add(-2_f64.powi(70));
    }
    assert_eq!(sum.value(), Some(3.0 * 2_f64.powi(-60)));
    assert_eq!(sum.integer(), None);
}

/// The number of rows grows beyond 32 bits: first by merges, then by a single row.
#[test]
fn rows_can_be_removed_of_more_than_32_bits() {
    let (mut power, mut all) = (CompactSum::new(), CompactSum::new());
    power.add(1.0);
    for _ in 0..32 {
        all.merge(&power).unwrap();
        let before = power.clone();
        power.merge(&before).unwrap();
    }
    all.add(0.5);
    all.remove(0.5).unwrap();
    assert_eq!(
        (all.items(), all.value()),
        ((1 << 32) - 1, Some(2_f64.powi(32) - 1.0))
    );
    let before = all.clone();
    all.add(2.0);
    all.unmerge(&before).unwrap();
    assert_eq!((all.items(), all.value()), (1, Some(2.0)));
}

/// Only states of the same kind can be merged. A state has exactly the statistics that `Held::has` lists for its kind.
#[test]
fn states_of_any_kind() {
    let rows = [(1.0, 5.0), (2.0, 3.0), (4.0, 4.0), (8.0, 0.5), (9.0, 1.0)];
    let (mut sum, mut dot) = (CompactSum::new(), CompactProducts::new());
    let (mut moments, mut both, mut powers) = (
        CompactMoments::new(),
        CompactCoMoments::new(),
        CompactPowers::new(),
    );
    for (x, y) in rows {
        sum.add(x);
        dot.add(x, y);
        moments.add(x);
        both.add(x, y);
        powers.add(x);
    }
    let all = [
        sum.to_bytes(),
        dot.to_bytes(),
        moments.to_bytes(),
        both.to_bytes(),
        powers.to_bytes(),
    ];
    let all = all.map(|bytes| CompactAny::of_bytes(&bytes).unwrap());
    for (number, state) in all.iter().enumerate() {
        for statistic in Statistic::ALL {
            let value = state.statistic(statistic, SAMPLE);
            assert_eq!(
                value.is_some(),
                state.held().has(statistic),
                "{statistic} of {}",
                state.held().name()
            );
        }
        for (other_number, other) in all.iter().enumerate() {
            let mut merged = state.clone();
            assert_eq!(merged.merge(other).is_ok(), number == other_number);
            assert_eq!(merged.items(), if number == other_number { 10 } else { 5 });
        }
    }
    assert_eq!(
        all.each_ref().map(|state| state.held()),
        [
            Statistic::Sum,
            Statistic::Dot,
            Statistic::Variance,
            Statistic::Slope,
            Statistic::Skewness,
        ]
        .map(Statistic::held)
    );
    let error = |bytes: &[u8]| CompactAny::of_bytes(bytes).unwrap_err().to_string();
    assert_eq!(error(b"no state"), "the bytes are not an exact sum");
    assert_eq!(error(b"tfx"), "the bytes end too early");
    assert_eq!(
        error(&Sum::of(&[0.5_f32]).to_bytes()),
        "the bytes are a sum of f32, not a sum of f64"
    );
    assert_eq!(
        error(b"tfx\x01\x07\x08\0\0"),
        "the bytes are sums by key, not a state of doubles"
    );
    assert!(error(b"tfx\x01\x4d\x08\0\0").contains("an unknown kind of sum"));
}
