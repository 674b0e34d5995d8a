//! Plans of exact sums by key: their items, the expected results, and how a program uses them.
//!
//! Each item of a step has a key, independent of the item's rank. The number of keys is the width in the plan's specification; in a hashed plan,
//! keys may be any 64-bit integers.

use std::ops::Range;

use integer_sums::units;
use reduce::exact::{self, Float, Hashed, KeyedPlan, KeyedSlot, KeyedState, Moments, Slot, Sum};
use reduce::{Operation, Plan, RunError, World};

use super::case::{FaultKind, Own};
use super::slot::{Asked, CallResult, Form, Outcome};
use super::vocabulary::{Keyed, Mode};
use crate::data::Random;

/// The number of exponents of doubles, without the one of infinities and NaNs.
const EXPONENTS: u64 = 2047;

/// All items of a step with their keys. The items are made from bits, so they are the same on every rank in any environment.
///
/// Their exponents may be close or spread, and may differ between ranks. Sometimes an item cancels another one.
fn all_items(own: &Own, step: usize) -> Vec<(u32, f64)> {
    let items = own.spec.items();
    let mut random = Random::new(own.seed ^ (step as u64).wrapping_mul(0xA24B_AED4_963E_E407));
    let mut one_of = |choices: [u64; 4]| choices[random.index(4)];
    let (binades, drift) = (one_of([1, 20, 300, EXPONENTS]), one_of([0, 0, 30, 400]));
    let lowest = random.below(EXPONENTS);
    let has_specials = random.below(4) == 0;
    let keys = 1 + random.below(own.spec.width as u64);
    let mut all: Vec<(u32, f64)> = Vec::new();
    for item in 0..items {
        let key = u32::try_from(random.below(keys)).expect("there are few keys");
        let exponent = lowest + drift * (4 * item / items) + random.below(binades);
        let (sign, fraction) = (random.word() << 63, random.word() >> 12);
        let ordinary = f64::from_bits(sign | (exponent % EXPONENTS) << 52 | fraction);
        all.push(match (random.below(24), all.last()) {
            (0, _) => (key, 0.0),
            (1, _) => (key, -0.0),
            (2..6, Some(&(key, last))) => (key, -last),
            (6, _) if has_specials => (key, f64::INFINITY),
            (7, _) if has_specials => (key, f64::NEG_INFINITY),
            (8, _) if has_specials => (key, f64::NAN),
            _ => (key, ordinary),
        });
    }
    all
}

/// Converts a double to a float by its bits, with a proportional exponent.
fn single(item: f64) -> f32 {
    let bits = item.to_bits();
    let exponent = (bits >> 52 & 0x7FF) * 255 / EXPONENTS;
    let fraction = bits >> 29 & ((1 << 23) - 1);
    let bits = bits >> 63 << 31 | exponent << 23 | fraction;
    f32::from_bits(u32::try_from(bits).expect("it has 32 bits"))
}

/// Maps a key to one that is somewhere among all 64-bit integers.
fn spread(key: u32) -> i64 {
    let far = u64::from(key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    far.cast_signed()
}

/// The rank that owns a key of a hashed plan, by the finalizer of MurmurHash3, as documented.
fn owner(key: i64, ranks: usize) -> usize {
    let mut mixed = key.cast_unsigned();
    for factor in [0xFF51_AFD7_ED55_8CCD, 0xC4CE_B9FE_1A85_EC53] {
        mixed = (mixed ^ mixed >> 33).wrapping_mul(factor);
    }
    let scaled = u128::from(mixed ^ mixed >> 33) * ranks as u128;
    usize::try_from(scaled >> 64).expect("it is below the number of ranks")
}

/// The expected result for a key's items, computed with big integers. A sum by key begins at +0.0.
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

/// The expected result of a rank.
pub(super) fn expected(
    form: Keyed,
    own: &Own,
    operation: Operation,
    step: usize,
    columns: Range<usize>,
) -> Vec<u8> {
    let mut items = vec![Vec::new(); own.spec.width];
    for (key, item) in all_items(own, step) {
        items[key as usize].push(item);
    }
    let words: Vec<u64> = if form == Keyed::Hashed {
        let is_scattered = operation == Operation::ReduceScatter;
        let is_got = |key: i64| !is_scattered || owner(key, own.ranks()) == own.rank;
        let keys = (0..).map(spread).zip(&items);
        let keys = keys.filter(|&(key, items)| !items.is_empty() && is_got(key));
        let mut keys: Vec<_> = keys.collect();
        keys.sort_unstable_by_key(|&(key, _)| key);
        let pair =
            |(key, items): (i64, &Vec<f64>)| [key.cast_unsigned(), by_integers(form, items)[0]];
        keys.into_iter().flat_map(pair).collect()
    } else {
        let of_keys = items[columns].iter();
        of_keys.flat_map(|items| by_integers(form, items)).collect()
    };
    bytemuck::cast_slice(&words).to_vec()
}

/// Builds a plan. Collective.
pub(super) fn build(
    form: Keyed,
    own: Own,
    world: &World,
    _fault: Option<FaultKind>,
) -> Result<Form, Outcome> {
    let (builder, keys) = (own.spec.builder(world), own.spec.width);
    Ok(match form {
        Keyed::Sums => sums::<f64>(own, builder.build_keyed(keys)?),
        Keyed::Floats => sums::<f32>(own, builder.build_keyed(keys)?),
        Keyed::Moments => moments(own, builder.build_keyed(keys)?),
        Keyed::Hashed => {
            let builder = Plan::builder(world).root(own.spec.root);
            hashed(own, builder.build_hashed()?)
        }
    })
}

/// Item types that are made from doubles.
trait Item: Float {
    fn of(item: f64) -> Self;
}

impl Item for f64 {
    fn of(item: f64) -> Self {
        item
    }
}

impl Item for f32 {
    fn of(item: f64) -> Self {
        single(item)
    }
}

/// The bits of a value, without arithmetic.
fn word<T: Float>(value: T) -> u64 {
    let mut word = [0; 8];
    word[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    u64::from_le_bytes(word)
}

/// A rank's keys and items, with surplus items of a key that a dense plan does not have.
fn items<T: Item>(own: &Own, asked: Asked, surplus: usize) -> (Vec<u32>, Vec<T>) {
    let all = all_items(own, asked.step);
    let last = u32::try_from(own.spec.width).expect("there are few keys");
    let items = own.items_of(own.rank).map(|item| all[item]);
    let items = items.chain(std::iter::repeat_n((last, 1.0), surplus));
    items.map(|(key, item)| (key, T::of(item))).unzip()
}

/// A rank's slots of a dense plan.
fn dense<S>(own: &Own, asked: Asked) -> exact::Keyed<S>
where
    S: for<'i> KeyedSlot<Item: Item, Items<'i> = &'i [<S as Slot>::Item]>,
{
    let (keys, items) = items::<S::Item>(own, asked, 0);
    let local = exact::Keyed::new(own.spec.width + asked.surplus);
    let mut local = local.expect("there is memory for few keys");
    local.add(&keys, &items[..]).expect(HAS_A_KEY);
    local
}

const HAS_A_KEY: &str = "each item has a key";

fn sums<T: Item>(own: Own, plan: KeyedPlan<exact::Keyed<Sum<T>>>) -> Form {
    form(ByKey {
        plan,
        own,
        local: dense,
        words: |own| own.values().into_iter().map(word).collect(),
        words_of_all: |all| all.values().into_iter().map(word).collect(),
        added: |plan, own, asked| {
            let (keys, items) = items(own, asked, asked.surplus);
            let mut values = vec![T::zeroed(); plan.keys()];
            plan.by_key(&keys, &items, &mut values)?;
            Ok(values.into_iter().map(word).collect())
        },
    })
}

fn moments(own: Own, plan: KeyedPlan<exact::Keyed<Moments<f64>>>) -> Form {
    fn words(moments: &exact::Keyed<Moments<f64>>) -> Vec<u64> {
        let of_key = |key| {
            let of_key = moments.get(key);
            let (mean, variance) = (of_key.mean(), of_key.variance(1.0));
            [of_key.items(), mean.to_bits(), variance.to_bits()]
        };
        (0..moments.keys()).flat_map(of_key).collect()
    }
    form(ByKey {
        plan,
        own,
        local: dense,
        words,
        words_of_all: words,
        added: |plan, own, asked| {
            let (keys, items) = items(own, asked, asked.surplus);
            plan.allreduce_items(&keys, &items).map(|all| words(&all))
        },
    })
}

fn hashed(own: Own, plan: KeyedPlan<Hashed<i64, Sum<f64>>>) -> Form {
    fn words(pairs: impl Iterator<Item = (i64, f64)>) -> Vec<u64> {
        pairs
            .flat_map(|(key, value)| [key.cast_unsigned(), value.to_bits()])
            .collect()
    }
    fn spread_items(own: &Own, asked: Asked) -> (Vec<i64>, Vec<f64>) {
        let (keys, items) = items(own, asked, 0);
        (keys.into_iter().map(spread).collect(), items)
    }
    form(ByKey {
        plan,
        own,
        local: |own, asked| {
            let (keys, items) = spread_items(own, asked);
            let mut local = Hashed::new();
            local.add(&keys, &items[..]).expect(HAS_A_KEY);
            local
        },
        words: |own| words(own.values().into_iter().map(|(key, value)| (*key, value))),
        words_of_all: |all| words(all.iter().copied()),
        added: |plan, own, asked| {
            let (keys, mut items) = spread_items(own, asked);
            items.extend(std::iter::repeat_n(1.0, asked.surplus));
            Ok(words(plan.by_key(&keys, &items)?.into_iter()))
        },
    })
}

type Words = Result<Vec<u64>, RunError>;

/// A plan by key, dense or hashed.
struct ByKey<S: KeyedState> {
    plan: KeyedPlan<S>,
    own: Own,
    /// This rank's slots. A surplus means additional keys.
    local: fn(&Own, Asked) -> S,
    words: fn(&S) -> Vec<u64>,
    words_of_all: fn(&S::All) -> Vec<u64>,
    /// The words of all ranks' results, in one call. A surplus means additional items.
    added: fn(&KeyedPlan<S>, &Own, Asked) -> Words,
}

fn form<S: KeyedState + 'static>(of: ByKey<S>) -> Form {
    Box::new(move |asked| Ok(call(&of, asked)?.given(|words| words)))
}

fn call<S: KeyedState>(of: &ByKey<S>, asked: Asked) -> Result<CallResult<u64>, RunError> {
    use CallResult::{Later, Now};
    use Operation::{Allreduce, Reduce, ReduceScatter};
    let (plan, own) = (&of.plan, &of.own);
    let (words, words_of_all) = (of.words, of.words_of_all);
    let call = (asked.operation, asked.mode);
    // Some ranks pass items and others pass sums, since a plan accepts both. A list of items can be longer than its list of keys; sums cannot.
    let adds = (asked.step + own.rank) % 2 == 1 || asked.surplus > 0 && own.spec.kind.is_hashed();
    if adds && call == (Allreduce, Mode::Blocking) {
        return Ok(Now(Some((of.added)(plan, own, asked)?)));
    }
    let local = &(of.local)(own, asked);
    Ok(match call {
        (Allreduce, Mode::Blocking) => Now(Some(words_of_all(&plan.allreduce(local)?))),
        (Allreduce, Mode::Split) => {
            let run = plan.start_allreduce(local)?;
            Later(run.map(move |all| Some(words_of_all(&all))))
        }
        (Reduce, Mode::Blocking) => Now(plan.reduce(local)?.as_ref().map(words_of_all)),
        (Reduce, Mode::Split) => {
            let run = plan.start_reduce(local)?;
            Later(run.map(move |all| all.as_ref().map(words_of_all)))
        }
        (ReduceScatter, Mode::Blocking) => Now(Some(words(&plan.reduce_scatter(local)?))),
        (ReduceScatter, Mode::Split) => {
            let run = plan.start_reduce_scatter(local)?;
            Later(run.map(move |own| Some(words(&own))))
        }
        _ => unreachable!("plans of sums by key have no other calls"),
    })
}
