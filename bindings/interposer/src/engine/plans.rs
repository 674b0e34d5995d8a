//! A cache of the plans of one communicator.

use std::fmt;

use bytemuck::Pod;
use treefold::{AnyPlan, Operator, Ownership, Plan, World};

use super::types::{Typed, typed};
use crate::task::{Element, Op, Task};

/// The maximum number of plans in the cache. Ranks make the same calls in the same order (MPI 4.1, 6.1), so their caches
/// are equal.
pub(super) const PLANS_MAX: usize = 64;

/// The key of a plan in the cache. A plan serves several calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) element: Element,
    pub(super) op: Op,
    pub(super) width: usize,
    pub(super) root: usize,
}

impl Key {
    /// The key for a block of a task's columns.
    pub(super) fn of(task: &Task, width: usize) -> Self {
        Self {
            element: task.element,
            op: task.op,
            width,
            root: task.root,
        }
    }
}

/// A cached plan.
struct CachedPlan {
    key: Key,
    plan: AnyPlan,
    /// The number of the request that last used this plan.
    last_use: u64,
}

pub(super) struct Plans {
    world: World,
    ranks: Ownership,
    kept: Vec<CachedPlan>,
    /// The number of requests so far.
    uses: u64,
}

impl fmt::Debug for Plans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plans({:?}, {} kept)", self.world, self.kept.len())
    }
}

impl Plans {
    pub(super) fn new(world: World) -> Self {
        let ranks = Ownership::one_item_each(world.size());
        Self {
            ranks: ranks.expect("a communicator has a rank"),
            world,
            kept: Vec::with_capacity(PLANS_MAX),
            uses: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.kept.clear();
    }

    /// The plan of a key, built without communicating if it is not cached.
    pub(super) fn get(&mut self, key: Key) -> Result<&AnyPlan, String> {
        let slot = match self.slot_of(key) {
            Some(slot) => slot,
            None => self.make(key)?,
        };
        Ok(self.at(slot, key).expect("it was found or built"))
    }

    /// The position of a key's plan, if it is cached.
    pub(super) fn slot_of(&self, key: Key) -> Option<usize> {
        self.kept.iter().position(|kept| kept.key == key)
    }

    /// The plan of a key, if it is at this position.
    #[inline]
    pub(super) fn at(&mut self, slot: usize, key: Key) -> Option<&AnyPlan> {
        let kept = self.kept.get_mut(slot)?;
        if kept.key != key {
            return None;
        }
        self.uses += 1;
        kept.last_use = self.uses;
        Some(&kept.plan)
    }

    /// Builds the plan of a key and returns its position. A full cache drops the least recently used plan.
    #[cold]
    fn make(&mut self, key: Key) -> Result<usize, String> {
        let kept = CachedPlan {
            key,
            plan: typed(key.element, key.op, Build(self, key))?,
            last_use: 0,
        };
        if self.kept.len() < PLANS_MAX {
            self.kept.push(kept);
            return Ok(self.kept.len() - 1);
        }
        let slots = 0..PLANS_MAX;
        let oldest = slots.min_by_key(|&slot| self.kept[slot].last_use);
        let oldest = oldest.expect("a full cache is not empty");
        self.kept[oldest] = kept;
        Ok(oldest)
    }
}

/// Builds a plan for a key.
struct Build<'a>(&'a Plans, Key);

impl Typed for Build<'_> {
    type Outcome = Result<AnyPlan, String>;

    fn run<T: Pod, O: Operator<T> + 'static>(self, operator: O) -> Self::Outcome {
        let Self(plans, key) = self;
        let plan = Plan::builder(&plans.world)
            .ownership(&plans.ranks)
            .width(key.width)
            .root(key.root)
            .operator(operator)
            .agreed()
            .build::<T>();
        plan.map(Plan::into_any).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use std::collections::BTreeSet;

    use treefold::threads;

    use super::{Key, PLANS_MAX, Plans};
    use crate::task::{Element, Op};

    #[test]
    fn the_last_ones_are_kept() {
        let kept = threads::run(1, |world| {
            let mut plans = Plans::new(world.clone());
            let key = |width| Key {
                element: Element::F64,
                op: Op::Sum,
                width,
                root: 0,
            };
            for width in (1..=PLANS_MAX + 9).chain([20]) {
                plans.get(key(width)).unwrap();
            }
            plans.get(key(PLANS_MAX + 10)).unwrap();
            let widths = plans.kept.iter().map(|kept| kept.key.width);
            widths.collect::<BTreeSet<_>>()
        });
        let kept = kept.unwrap().remove(0);
        // Plan 10 was the oldest of the remaining plans, so the last plan replaced it. Plan 20 was used again.
        assert!(kept.into_iter().eq(11..=PLANS_MAX + 10));
    }
}
