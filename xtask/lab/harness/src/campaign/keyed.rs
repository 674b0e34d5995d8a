//! Plans of exact sums by key: what they are given, what every rank must get, and what a program does with them.
//!
//! Each item of a step has a key, whichever rank has the item. A dense plan has as many keys as its specification is wide; a hashed one has
//! as many, which may be any integers of 64 bits.

mod definition;

use reduce::exact::{
    Float, HashedSums, KeyedAccumulator, KeyedMoments, KeyedPlan, KeyedState, KeyedSums,
};
use reduce::{BuildError, Operation, Pending, Plan, RunError, World};

use definition::{lot, single, spread};

use super::fault::FaultKind;
use super::flight::{Flight, Polls, outcome};
use super::outcome::{Outcome, not_built};
use super::slot::Slot;
use super::vocabulary::{Keyed, Spec};
pub(super) use definition::expected_of;

/// Builds a plan. Collective.
pub(super) fn build_of(
    form: Keyed,
    spec: &Spec,
    seed: u64,
    world: &World,
    _fault: Option<FaultKind>,
) -> Result<Box<dyn Slot>, Outcome> {
    let own = Own {
        spec: spec.clone(),
        seed,
        rank: world.rank(),
    };
    let builder = spec.builder(world);
    match form {
        Keyed::Sums => own.slot(builder.build_keyed::<KeyedSums<f64>>(spec.width)),
        Keyed::Floats => own.slot(builder.build_keyed::<KeyedSums<f32>>(spec.width)),
        Keyed::Moments => own.slot(builder.build_keyed::<KeyedMoments<f64>>(spec.width)),
        Keyed::Hashed => {
            let builder = Plan::builder(world).root(spec.root);
            own.slot(builder.build_hashed::<i64, f64>())
        }
    }
}

/// What plans of a kind do each in its own way.
trait Summed: KeyedState + Sized {
    /// Whether only a call on items can have too many of them.
    const ADDS_SURPLUS: bool = false;

    /// Those of a lot. Surplus are keys.
    fn local(lot: &Lot<'_>) -> Self;

    fn words_of_all(all: &Self::All) -> Vec<u64>;

    fn words(&self) -> Vec<u64>;

    /// The words of all, of all ranks' items, in one call. Surplus are items.
    fn added(plan: &KeyedPlan<Self>, lot: &Lot<'_>) -> Result<Vec<u64>, RunError>;
}

/// Items that are made of doubles.
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

impl<T: Item> Summed for KeyedSums<T> {
    fn local(lot: &Lot<'_>) -> Self {
        lot.dense()
    }

    fn words_of_all(all: &Self) -> Vec<u64> {
        all.words()
    }

    fn words(&self) -> Vec<u64> {
        self.values().into_iter().map(word).collect()
    }

    fn added(plan: &KeyedPlan<Self>, lot: &Lot<'_>) -> Result<Vec<u64>, RunError> {
        let (keys, items) = lot.with_surplus();
        let mut values = vec![T::zeroed(); plan.keys()];
        plan.by_key(&keys, &items, &mut values)?;
        Ok(values.into_iter().map(word).collect())
    }
}

impl Summed for KeyedMoments<f64> {
    fn local(lot: &Lot<'_>) -> Self {
        lot.dense()
    }

    fn words_of_all(all: &Self) -> Vec<u64> {
        all.words()
    }

    fn words(&self) -> Vec<u64> {
        let of_key = |key| {
            let (mean, variance) = (self.mean(key), self.variance(key, 1.0));
            [self.counts()[key], mean.to_bits(), variance.to_bits()]
        };
        (0..self.keys()).flat_map(of_key).collect()
    }

    fn added(plan: &KeyedPlan<Self>, lot: &Lot<'_>) -> Result<Vec<u64>, RunError> {
        let (keys, items) = lot.with_surplus();
        plan.allreduce_items(&keys, &items).map(|all| all.words())
    }
}

impl Summed for HashedSums<i64, f64> {
    const ADDS_SURPLUS: bool = true;

    fn local(lot: &Lot<'_>) -> Self {
        let (keys, items) = lot.items::<f64>();
        let keys: Vec<i64> = keys.into_iter().map(spread).collect();
        let mut local = Self::new();
        local.add(&keys, &items).expect(HAS_A_KEY);
        local
    }

    fn words_of_all(all: &Vec<(i64, f64)>) -> Vec<u64> {
        let pair = |&(key, value): &(i64, f64)| [key.cast_unsigned(), value.to_bits()];
        all.iter().flat_map(pair).collect()
    }

    fn words(&self) -> Vec<u64> {
        let own = self.values().into_iter();
        Self::words_of_all(&own.map(|(&key, value)| (key, value)).collect())
    }

    fn added(plan: &KeyedPlan<Self>, lot: &Lot<'_>) -> Result<Vec<u64>, RunError> {
        let (keys, mut items) = lot.items();
        let keys: Vec<i64> = keys.into_iter().map(spread).collect();
        items.extend((0..lot.surplus).map(|_| 1.0));
        let all = plan.by_key(&keys, &items)?;
        Ok(Self::words_of_all(&all))
    }
}

const HAS_A_KEY: &str = "each item has a key";

/// This rank's part of a plan.
struct Own {
    spec: Spec,
    seed: u64,
    rank: usize,
}

/// What it has in a step, and how much too much.
struct Lot<'o> {
    own: &'o Own,
    step: usize,
    surplus: usize,
}

impl Lot<'_> {
    /// Its keys and items.
    fn items<T: Item>(&self) -> (Vec<u32>, Vec<T>) {
        let own = self.own;
        let all = lot(&own.spec, own.seed, self.step);
        let items = own.spec.extents[own.rank].iter().cloned().flatten();
        let items = items.map(|item| all[usize::try_from(item).expect("the items are in memory")]);
        items.map(|(key, item)| (key, T::of(item))).unzip()
    }

    /// The same, and so many items of a key that a dense plan does not have.
    fn with_surplus<T: Item>(&self) -> (Vec<u32>, Vec<T>) {
        let (mut keys, mut items) = self.items();
        let last = u32::try_from(self.own.spec.width).expect("there are few keys");
        keys.extend((0..self.surplus).map(|_| last));
        items.extend((0..self.surplus).map(|_| T::of(1.0)));
        (keys, items)
    }

    /// Sums of a dense plan, of so many keys too many.
    fn dense<A>(&self) -> A
    where
        A: KeyedAccumulator<Item: Item>,
    {
        let (keys, items) = self.items();
        let local = A::of_keys(self.own.spec.width + self.surplus);
        let mut local = local.expect("there is memory for few keys");
        local.add_items(&keys, &items).expect(HAS_A_KEY);
        local
    }
}

impl Own {
    fn slot<S: Summed>(
        self,
        plan: Result<KeyedPlan<S>, BuildError>,
    ) -> Result<Box<dyn Slot>, Outcome> {
        Ok(Box::new(ByKey {
            plan: plan.map_err(not_built)?,
            own: self,
            flight: Flight::default(),
        }))
    }
}

struct ByKey<S: KeyedState> {
    plan: KeyedPlan<S>,
    own: Own,
    flight: Flight<u64>,
}

impl<S: Summed> ByKey<S> {
    fn try_call(
        &self,
        operation: Operation,
        step: usize,
        surplus: usize,
    ) -> Result<Option<Vec<u64>>, RunError> {
        let (plan, own) = (&self.plan, &self.own);
        let lot = Lot { own, step, surplus };
        // Some add the items up themselves: ranks need not do alike.
        let adds = (step + own.rank) % 2 == 1 || surplus > 0 && S::ADDS_SURPLUS;
        if operation == Operation::Allreduce && adds {
            return S::added(plan, &lot).map(Some);
        }
        let local = S::local(&lot);
        match operation {
            Operation::Allreduce => plan
                .allreduce(&local)
                .map(|all| Some(S::words_of_all(&all))),
            Operation::Reduce => Ok(plan.reduce(&local)?.as_ref().map(S::words_of_all)),
            Operation::ReduceScatter => plan.reduce_scatter(&local).map(|own| Some(own.words())),
            _ => unreachable!("{NOT_OFFERED}"),
        }
    }

    fn try_start(
        &self,
        operation: Operation,
        local: &S,
    ) -> Result<Pending<Option<Vec<u64>>>, RunError> {
        let plan = &self.plan;
        Ok(match operation {
            Operation::Allreduce => {
                let run = plan.start_allreduce(local)?;
                run.map(|all| Some(S::words_of_all(&all)))
            }
            Operation::Reduce => {
                let run = plan.start_reduce(local)?;
                run.map(|all| all.as_ref().map(S::words_of_all))
            }
            Operation::ReduceScatter => {
                let run = plan.start_reduce_scatter(local)?;
                run.map(|own| Some(own.words()))
            }
            _ => unreachable!("{NOT_OFFERED}"),
        })
    }
}

const NOT_OFFERED: &str = "plans of sums by key have no other calls";

impl<S: Summed> Slot for ByKey<S> {
    fn call(&mut self, operation: Operation, step: usize, surplus: usize) -> Outcome {
        outcome(self.try_call(operation, step, surplus))
    }

    fn start(&mut self, operation: Operation, step: usize, surplus: usize) -> Outcome {
        let own = &self.own;
        let local = S::local(&Lot { own, step, surplus });
        let started = self.try_start(operation, &local);
        self.flight.begin(started)
    }

    fn test(&self) -> Outcome {
        self.flight.test()
    }

    fn wait(&mut self, polls: Polls) -> Outcome {
        self.flight.end(polls, outcome)
    }

    fn give_up(&mut self) {
        self.flight.give_up();
    }
}
