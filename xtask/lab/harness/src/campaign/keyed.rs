//! Plans of exact sums by key: what they are given, what every rank must get, and what a program does with them.
//!
//! Each item of a step has a key, whichever rank has the item. A dense plan has as many keys as its specification is wide; a hashed one has
//! as many, which may be any integers of 64 bits.

mod definition;

use reduce::exact::{
    Float, HashedPlan, HashedSums, KeyedAccumulator, KeyedMoments, KeyedPlan, KeyedSums,
};
use reduce::{Operation, Pending, Plan, RunError, World};

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
    match form {
        Keyed::Sums => own.build(
            world,
            Form {
                item: |item| item,
                words: sums,
                added: added_sums,
            },
        ),
        Keyed::Floats => own.build(
            world,
            Form {
                item: single,
                words: sums,
                added: added_sums,
            },
        ),
        Keyed::Moments => own.build(
            world,
            Form {
                item: |item| item,
                words: moments,
                added: added_moments,
            },
        ),
        Keyed::Hashed => {
            let builder = Plan::builder(world).root(spec.root);
            let plan = builder.build_hashed().map_err(not_built)?;
            Ok(Box::new(Hashed { plan, own }))
        }
    }
}

/// What kinds of dense plans do each in its own way.
struct Form<A: KeyedAccumulator> {
    item: fn(f64) -> A::Item,
    /// What is made of the sums of all keys.
    words: fn(&A) -> Vec<u64>,
    /// The same of all ranks' items, in one call.
    added: Added<A, A::Item>,
}

type Added<A, T> = fn(&KeyedPlan<A>, &[u32], &[T]) -> Result<Vec<u64>, RunError>;

/// The bits of a value, without arithmetic.
fn word<T: Float>(value: T) -> u64 {
    let mut word = [0; 8];
    word[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    u64::from_le_bytes(word)
}

fn sums<T: Float>(sums: &KeyedSums<T>) -> Vec<u64> {
    sums.values().into_iter().map(word).collect()
}

fn added_sums<T: Float>(
    plan: &KeyedPlan<KeyedSums<T>>,
    keys: &[u32],
    items: &[T],
) -> Result<Vec<u64>, RunError> {
    let mut values = vec![T::zeroed(); plan.keys()];
    plan.by_key(keys, items, &mut values)?;
    Ok(values.into_iter().map(word).collect())
}

fn moments(moments: &KeyedMoments<f64>) -> Vec<u64> {
    let keys = 0..moments.keys();
    let of_key = |key| {
        let (mean, variance) = (moments.mean(key), moments.variance(key, 1.0));
        [moments.counts()[key], mean.to_bits(), variance.to_bits()]
    };
    keys.flat_map(of_key).collect()
}

fn added_moments(
    plan: &KeyedPlan<KeyedMoments<f64>>,
    keys: &[u32],
    items: &[f64],
) -> Result<Vec<u64>, RunError> {
    plan.allreduce_items(keys, items).map(|all| moments(&all))
}

/// This rank's part of a plan.
struct Own {
    spec: Spec,
    seed: u64,
    rank: usize,
}

impl Own {
    /// Its keys and items of a step.
    fn items<T>(&self, step: usize, made: impl Fn(f64) -> T) -> (Vec<u32>, Vec<T>) {
        let all = lot(&self.spec, self.seed, step);
        let own = self.spec.extents[self.rank].iter().cloned().flatten();
        let own = own.map(|item| all[usize::try_from(item).expect("the items are in memory")]);
        own.map(|(key, item)| (key, made(item))).unzip()
    }

    fn build<A: KeyedAccumulator>(
        self,
        world: &World,
        form: Form<A>,
    ) -> Result<Box<dyn Slot>, Outcome> {
        let builder = self.spec.builder(world);
        let plan = builder.build_keyed(self.spec.width).map_err(not_built)?;
        Ok(Box::new(Dense {
            plan,
            form,
            own: self,
            flight: Flight::default(),
        }))
    }
}

struct Dense<A: KeyedAccumulator> {
    plan: KeyedPlan<A>,
    form: Form<A>,
    own: Own,
    flight: Flight<A>,
}

impl<A: KeyedAccumulator> Dense<A> {
    /// This rank's sums, of so many keys too many.
    fn local(&self, step: usize, surplus: usize) -> A {
        let (keys, items) = self.own.items(step, self.form.item);
        let local = A::of_keys(self.plan.keys() + surplus);
        let mut local = local.expect("there is memory for few keys");
        let added = local.add_items(&keys, &items);
        added.expect("each item has a key");
        local
    }

    fn try_call(
        &self,
        operation: Operation,
        step: usize,
        surplus: usize,
    ) -> Result<Option<Vec<u64>>, RunError> {
        let (plan, words) = (&self.plan, self.form.words);
        // Some add the items up themselves: ranks need not do alike.
        if operation == Operation::Allreduce && (step + self.own.rank) % 2 == 1 {
            let (mut keys, mut items) = self.own.items(step, self.form.item);
            let last = u32::try_from(plan.keys()).expect("there are few keys");
            keys.extend((0..surplus).map(|_| last));
            items.extend((0..surplus).map(|_| (self.form.item)(1.0)));
            return (self.form.added)(plan, &keys, &items).map(Some);
        }
        let local = self.local(step, surplus);
        match operation {
            Operation::Allreduce => plan.allreduce(&local).map(|all| Some(words(&all))),
            Operation::Reduce => Ok(plan.reduce(&local)?.as_ref().map(words)),
            Operation::ReduceScatter => plan.reduce_scatter(&local).map(|own| Some(words(&own))),
            _ => unreachable!("{NOT_OFFERED}"),
        }
    }

    fn try_start(
        &self,
        operation: Operation,
        local: &A,
    ) -> Result<Pending<Option<Vec<A>>>, RunError> {
        let plan = &self.plan;
        let one = |sums| Some(vec![sums]);
        Ok(match operation {
            Operation::Allreduce => plan.start_allreduce(local)?.map(one),
            Operation::Reduce => plan
                .start_reduce(local)?
                .map(|sums| sums.map(|sums| vec![sums])),
            Operation::ReduceScatter => plan.start_reduce_scatter(local)?.map(one),
            _ => unreachable!("{NOT_OFFERED}"),
        })
    }
}

const NOT_OFFERED: &str = "plans of sums by key have no other calls";

impl<A: KeyedAccumulator> Slot for Dense<A> {
    fn call(&mut self, operation: Operation, step: usize, surplus: usize) -> Outcome {
        outcome(self.try_call(operation, step, surplus))
    }

    fn start(&mut self, operation: Operation, step: usize, surplus: usize) -> Outcome {
        let started = self.try_start(operation, &self.local(step, surplus));
        self.flight.begin(started)
    }

    fn test(&self) -> Outcome {
        self.flight.test()
    }

    fn wait(&mut self, polls: Polls) -> Outcome {
        let words = self.form.words;
        let of_all = |all: Vec<A>| all.iter().flat_map(words).collect::<Vec<u64>>();
        self.flight
            .end(polls, |all| outcome(all.map(|all| all.map(of_all))))
    }

    fn give_up(&mut self) {
        self.flight.give_up();
    }
}

/// It has blocking calls alone.
struct Hashed {
    plan: HashedPlan<i64, f64>,
    own: Own,
}

impl Hashed {
    fn try_call(
        &self,
        operation: Operation,
        step: usize,
        surplus: usize,
    ) -> Result<Option<Vec<u64>>, RunError> {
        let plan = &self.plan;
        let (keys, mut items) = self.own.items(step, |item| item);
        let keys: Vec<i64> = keys.into_iter().map(spread).collect();
        items.extend((0..surplus).map(|_| 1.0));
        let pair = |(key, value): (i64, f64)| [key.cast_unsigned(), value.to_bits()];
        let words = |pairs: Vec<(i64, f64)>| pairs.into_iter().flat_map(pair).collect();
        let adds_up = operation == Operation::Allreduce && (step + self.own.rank) % 2 == 1;
        if adds_up || surplus > 0 {
            return plan.by_key(&keys, &items).map(|all| Some(words(all)));
        }
        let mut local = HashedSums::new();
        local.add(&keys, &items).expect("each item has a key");
        match operation {
            Operation::Allreduce => plan.allreduce(&local).map(|all| Some(words(all))),
            Operation::Reduce => Ok(plan.reduce(&local)?.map(words)),
            Operation::ReduceScatter => {
                let own = plan.reduce_scatter(&local)?;
                let own = own.values().into_iter().map(|(&key, value)| (key, value));
                Ok(Some(words(own.collect())))
            }
            _ => unreachable!("{NOT_OFFERED}"),
        }
    }
}

impl Slot for Hashed {
    fn call(&mut self, operation: Operation, step: usize, surplus: usize) -> Outcome {
        outcome(self.try_call(operation, step, surplus))
    }

    fn start(&mut self, _operation: Operation, _step: usize, _surplus: usize) -> Outcome {
        unreachable!("{NOT_OFFERED}")
    }

    fn test(&self) -> Outcome {
        Outcome::Nothing
    }

    fn wait(&mut self, _polls: Polls) -> Outcome {
        unreachable!("{NOT_OFFERED}")
    }

    fn give_up(&mut self) {}
}
