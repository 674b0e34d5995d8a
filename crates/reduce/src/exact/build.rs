//! The builders of plans of exact sums.

use std::any;
use std::rc::Rc;

use exact_sum::wire::Terms;
use exact_sum::{Accumulator, Keyed, KeyedSlot, SparseKey, wire};

use super::keyed::{ByKey, CombineRows, CombineTerms};
use super::native::NativeIntegers;
use super::quantity::{Exactly, Quantity};
use super::words::merge;
use super::{HashedPlan, KeyedPlan, Plan};
use crate::engines::values::Words;
use crate::error::BuildError;
use crate::plan::{AnyPlan, Builder, Form, MakeEngine, PlanKind, make_native};
use crate::world::conversation::Conversation;

impl Builder {
    /// Builds a plan for exact sums, which need no order: see [`exact`](crate::exact). Collective.
    ///
    /// Each rank may have any number of items, and a different number in each run. The builder's settings about items are ignored.
    ///
    /// # Errors
    /// Those of [`build`](Builder::build), except those about items.
    pub fn build_exact<A: Accumulator>(self) -> Result<Plan<A>, BuildError> {
        let native: MakeEngine = |world, terms, _, conversation| {
            Rc::new(NativeIntegers::<A>::new(world, terms, conversation))
        };
        let (element, words) = (any::type_name::<A::Words>(), Words::of(merge::<A>()));
        let request = self.one_item_each(PlanKind::Exact)?;
        let plan = request.build(&self.world, element, words, native, &mut Ok)?;
        Ok(Plan::new(plan))
    }

    /// Like [`build_exact`](Builder::build_exact), for a quantity that exact sums compute from items. It must be the same on all ranks.
    #[doc(hidden)]
    pub fn build_quantity<Q: Quantity>(mut self) -> Result<AnyPlan, BuildError> {
        self.request.figure = Some(Q::NAME);
        let plan = self.build_exact::<Q::Total>()?;
        Ok(plan.with_form(Form::Encoded(Rc::new(Exactly::<Q>::NEW))))
    }

    /// Builds a plan for the slots, such as sums or moments, of keys 0 to `keys` - 1: see [`exact::KeyedPlan`](KeyedPlan). Collective.
    ///
    /// Each rank may have any number of items, with any of these keys; the items may change from run to run. The builder's
    /// [`width`](Builder::width) and its settings about items are ignored.
    ///
    /// # Errors
    /// Those of [`build`](Builder::build) that are not about items, or an error if the ranks disagree on the number of keys or it is 0.
    pub fn build_keyed<S: KeyedSlot>(self, keys: usize) -> Result<KeyedPlan<Keyed<S>>, BuildError> {
        let world = &self.world;
        let mut rows = self.one_item_each(PlanKind::Keyed)?;
        let mut terms = rows.clone();
        (rows.width, rows.later_conversations) = (keys, 2);
        (terms.width, terms.later_conversations) = (wire::parts::<S>(), 1);
        let (element, name) = (any::type_name::<S::Row>(), wire::name::<S>());
        let values = CombineRows::values::<S>(name);
        let rows = rows.build(world, element, values, make_native, &mut Ok);
        let rows = rows.map_err(|error| error.of_columns(BuildError::NoKeys))?;
        let (element, values) = (any::type_name::<Terms>(), CombineTerms::values());
        let terms = terms.build(world, element, values, make_native, &mut Ok)?;
        let beside = Conversation::open(world)?;
        let by_key = ByKey::new::<S>(terms, &rows, beside);
        Ok(KeyedPlan::new(&rows, Rc::new(by_key)))
    }

    /// Builds a plan for the slots of 64-bit keys: see [`exact::HashedPlan`](HashedPlan). Collective.
    ///
    /// Each rank may have any number of items, with any keys; items and keys may change from run to run. Of the builder's settings, only
    /// the [`root`](Builder::root) is used.
    ///
    /// # Errors
    /// The ranks disagree on the kind of plan, the types or the root, the root does not exist, a rank's floating-point environment is not IEEE 754's
    /// default, or the transport fails.
    pub fn build_hashed<K: SparseKey, S: KeyedSlot>(self) -> Result<HashedPlan<K, S>, BuildError> {
        let builder = Builder::new(&self.world).root(self.request.root);
        let request = builder.one_item_each(PlanKind::Hashed)?;
        let (element, name) = (any::type_name::<u64>(), exact_sum::sparse::name::<K, S>());
        let values = CombineRows::values::<S>(name);
        let plan = request.build(&self.world, element, values, make_native, &mut Ok)?;
        Ok(HashedPlan::of_keys(&plan))
    }
}
