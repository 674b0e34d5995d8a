//! Items with their keys, and what every rank must get of them, by integers of any size.

use integer_sums::units;
use reduce::Operation;

use crate::campaign::element::columns;
use crate::campaign::outcome::Outcome;
use crate::campaign::vocabulary::{Keyed, Spec};
use crate::data::Random;

/// Items with their keys.
pub(super) type Lot = Vec<(u32, f64)>;

/// The exponents of doubles, that of infinities and NaNs aside.
const EXPONENTS: u64 = 2047;

/// All items of a step: the same on every rank, whatever its environment, as they are made of bits.
///
/// Their exponents may be near each other or anywhere, and may be others on each rank. Now and then an item takes back another one.
pub(super) fn lot(spec: &Spec, seed: u64, step: usize) -> Lot {
    let mut random = Random::new(seed ^ (step as u64).wrapping_mul(0xA24B_AED4_963E_E407));
    let mut one_of =
        |choices: [u64; 4]| choices[usize::try_from(random.below(4)).expect("it is small")];
    let (binades, drift) = (one_of([1, 20, 300, EXPONENTS]), one_of([0, 0, 30, 400]));
    let lowest = random.below(EXPONENTS);
    let has_specials = random.below(4) == 0;
    let keys = 1 + random.below(spec.width as u64);
    let mut lot = Lot::new();
    for item in 0..spec.items() {
        let key = u32::try_from(random.below(keys)).expect("there are few keys");
        let exponent = lowest + drift * (4 * item / spec.items()) + random.below(binades);
        let (sign, fraction) = (random.word() << 63, random.word() >> 12);
        let ordinary = f64::from_bits(sign | (exponent % EXPONENTS) << 52 | fraction);
        lot.push(match (random.below(24), lot.last()) {
            (0, _) => (key, 0.0),
            (1, _) => (key, -0.0),
            (2..6, Some(&(key, last))) => (key, -last),
            (6, _) if has_specials => (key, f64::INFINITY),
            (7, _) if has_specials => (key, f64::NEG_INFINITY),
            (8, _) if has_specials => (key, f64::NAN),
            _ => (key, ordinary),
        });
    }
    lot
}

/// A double made a float by its bits, with an exponent that is as far up.
pub(super) fn single(item: f64) -> f32 {
    let bits = item.to_bits();
    let exponent = (bits >> 52 & 0x7FF) * 255 / EXPONENTS;
    let fraction = bits >> 29 & ((1 << 23) - 1);
    let bits = bits >> 63 << 31 | exponent << 23 | fraction;
    f32::from_bits(u32::try_from(bits).expect("it has 32 bits"))
}

/// A key anywhere among the integers of 64 bits.
pub(super) fn spread(key: u32) -> i64 {
    let far = u64::from(key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    far.cast_signed()
}

/// The rank that owns a key of a hashed plan: by the finalizer of MurmurHash3, as its documentation says.
fn owner(key: i64, ranks: usize) -> usize {
    let mut mixed = key.cast_unsigned();
    for factor in [0xFF51_AFD7_ED55_8CCD, 0xC4CE_B9FE_1A85_EC53] {
        mixed = (mixed ^ mixed >> 33).wrapping_mul(factor);
    }
    let scaled = u128::from(mixed ^ mixed >> 33) * ranks as u128;
    usize::try_from(scaled >> 64).expect("it is below the number of ranks")
}

/// What a rank gets of a key's items, by integers of any size. A sum by key begins at +0.0.
fn by_integers(form: Keyed, items: &[f64]) -> Vec<u64> {
    let sum = |items: &[f64]| integer_sums::sum(items) + 0.0;
    match form {
        Keyed::Sums | Keyed::Hashed => vec![sum(items).to_bits()],
        Keyed::Floats => {
            let items: Vec<f64> = items.iter().map(|&item| single(item).into()).collect();
            let value = if items.iter().all(|item| item.is_finite()) {
                units::to_single(&units::sum(items))
            } else {
                single(sum(&items))
            };
            vec![value.to_bits().into()]
        }
        Keyed::Moments => vec![
            items.len() as u64,
            (integer_sums::mean(items) + 0.0).to_bits(),
            integer_sums::variance(items).to_bits(),
        ],
    }
}

/// What a call with a step's items gives on a rank.
pub(in super::super) fn expected_of(
    form: Keyed,
    spec: &Spec,
    operation: Operation,
    seed: u64,
    step: usize,
    rank: usize,
) -> Outcome {
    let ranks = spec.extents.len();
    if operation == Operation::Reduce && rank != spec.root {
        return Outcome::Nothing;
    }
    let mut items = vec![Vec::new(); spec.width];
    for (key, item) in lot(spec, seed, step) {
        items[key as usize].push(item);
    }
    let is_scattered = operation == Operation::ReduceScatter;
    let words: Vec<u64> = if form == Keyed::Hashed {
        let keys = (0..).map(spread).zip(&items);
        let is_got = |key: i64| !is_scattered || owner(key, ranks) == rank;
        let keys = keys.filter(|&(key, items)| !items.is_empty() && is_got(key));
        let mut keys: Vec<_> = keys.collect();
        keys.sort_unstable_by_key(|&(key, _)| key);
        let pair =
            |(key, items): (i64, &Vec<f64>)| [key.cast_unsigned(), by_integers(form, items)[0]];
        keys.into_iter().flat_map(pair).collect()
    } else {
        let keys = if is_scattered {
            columns(spec.width, ranks, rank)
        } else {
            0..spec.width
        };
        let of_keys = items[keys].iter();
        of_keys.flat_map(|items| by_integers(form, items)).collect()
    };
    Outcome::Value(bytemuck::cast_slice(&words).to_vec())
}
