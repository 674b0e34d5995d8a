//! The builder of plans.

use std::any;
use std::ops::Range;
use std::rc::Rc;

use bytemuck::Pod;
use distribution::{Distribution, Ownership};
use schedule::Network;

use super::choice::{ScheduleOptions, Task};
use super::proposal::Share;
use super::request::{PlanKind, PlanRequest, Reduced};
#[cfg(feature = "tracing")]
use super::scattered::Scattered;
use super::{AnyPlan, Plan};
use crate::algorithm::Algorithm;
use crate::engines::algorithm1::Algorithm1;
use crate::engines::native::Native;
use crate::engines::scheduled::Scheduled;
use crate::engines::terms::Terms;
use crate::engines::values::{Memory, Typed, Values, Words};
use crate::engines::{Engine, NoEngine};
use crate::error::BuildError;
use crate::message_buffer::MessageBuffer;
use crate::operator::{Operator, Sum, WordsOperator};
use crate::trace::{span, warning};
use crate::world::World;
use crate::world::conversation::Conversation;

/// Collects what a plan needs; made by [`Plan::builder`].
///
/// Say which items this rank has, by [`local_items`](Builder::local_items), [`distribution`](Builder::distribution),
/// [`ownership`](Builder::ownership) or [`extents`](Builder::extents); everything else has a default.
#[derive(Debug)]
#[must_use = "nothing happens before `build`"]
pub struct Builder<O = Sum> {
    pub(crate) world: World,
    operator: O,
    pub(crate) request: PlanRequest,
}

impl Builder {
    pub(crate) fn new(world: &World) -> Self {
        Self {
            world: world.clone(),
            operator: Sum,
            request: PlanRequest {
                kind: PlanKind::TreeOrder,
                figure: None,
                options: ScheduleOptions::of(world.network()),
                root: 0,
                width: 1,
                share: None,
                items: None,
                message_limit: None,
                other_size: None,
                is_agreed: false,
                later_conversations: 0,
            },
        }
    }
}

impl<O> Builder<O> {
    /// The number of items on this rank, which may be 0. They follow the items of the lower ranks.
    pub fn local_items(mut self, count: u64) -> Self {
        self.request.share = Some(Share::Count(count));
        self
    }

    /// The number of items on all ranks together. The build fails if the ranks have another number of items.
    pub fn items(mut self, count: u64) -> Self {
        self.request.items = Some(count);
        self
    }

    /// Which rank owns which items, as a distribution. The build fails if the ranks own other items.
    ///
    /// If the distribution is a rule, not a table, ranks need not exchange their numbers of items, and a plan takes O(log p) memory.
    pub fn distribution(self, distribution: &Distribution) -> Self {
        self.ownership(&Ownership::from(distribution.clone()))
    }

    /// Which rank owns which items, like [`distribution`](Builder::distribution), but each rank can own any number of extents.
    pub fn ownership(mut self, ownership: &Ownership) -> Self {
        let (planned, size) = (ownership.ranks(), self.world.size());
        if planned == size {
            self.request.items = Some(ownership.items());
            self.request.share = Some(Share::Whole(ownership.clone()));
        } else {
            self.request.other_size = Some(planned);
        }
        self
    }

    /// The items on this rank, as any list of disjoint ranges, in the order in which the local slice holds them. Together, all ranks must
    /// have the items 0..N, each exactly once.
    pub fn extents(mut self, extents: &[Range<u64>]) -> Self {
        self.request.share = Some(Share::Extents(extents.to_vec()));
        self
    }

    /// The number of elements of an item. If it is more than one, items are rows that are reduced element by element.
    pub fn width(mut self, elements: usize) -> Self {
        self.request.width = elements;
        self
    }

    /// The operator that combines two items; [`Sum`] by default.
    pub fn operator<P>(self, operator: P) -> Builder<P> {
        Builder {
            world: self.world,
            operator,
            request: self.request,
        }
    }

    /// The algorithm, which decides who sends to whom. All algorithms give the same bits.
    ///
    /// The default is the algorithm that the environment variable [`TREEFOLD_ALGORITHM`](crate::ALGORITHM_VARIABLE) names or, if it names
    /// none, the schedule that should take the least time on the [`network`](Builder::network). A printed plan names the algorithm.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.request.options.algorithm = Some(algorithm);
        self
    }

    /// The cost of messages and combinations, by which the plan chooses its schedule and blocks; by default, the cost on the
    /// [world](World::network). A [`Link`](crate::Link) describes a network whose links are all alike.
    pub fn network(mut self, network: impl Into<Network>) -> Self {
        self.request.options.network = network.into();
        self
    }

    /// The number of column blocks of a row, at most one for each column. Pipelined algorithms send the blocks one after the other; their
    /// default is the number that should take the least time (paper 2, Lemma 1). Other algorithms reduce the row block by block; their
    /// default makes blocks that fit the cache, unless the additional messages would take more time.
    pub fn blocks(mut self, count: usize) -> Self {
        self.request.options.blocks = Some(count);
        self
    }

    /// The number n of messages that a rank sends at once in [`Bruck`](Algorithm::Bruck) (by default 1) and
    /// [`Dissemination`](Algorithm::Dissemination) (by default 2).
    pub fn ports(mut self, count: usize) -> Self {
        self.request.options.ports = Some(count);
        self
    }

    /// The number of ranks per node of [`Hierarchical`](Algorithm::Hierarchical): a node's ranks follow each other in the order of their
    /// items. By default, the number of ranks of a machine node, or 4 if the transport does not know that number.
    pub fn node_ranks(mut self, count: usize) -> Self {
        self.request.options.node_ranks = Some(count);
        self
    }

    /// The schedules that [`Hierarchical`](Algorithm::Hierarchical) runs within nodes and between nodes; by default, binomial and
    /// recursive doubling.
    pub fn levels(mut self, inner: Algorithm, outer: Algorithm) -> Self {
        self.request.options.levels = Some((inner, outer));
        self
    }

    /// When [`Algorithm1`](Algorithm::Algorithm1) sends its message buffer; by default, as the thesis does.
    pub fn message_buffer(mut self, buffer: MessageBuffer) -> Self {
        self.request.options.message_buffer = buffer;
        self
    }

    /// The rank that gets the result of [`Plan::reduce`] and whose row [`Plan::broadcast`] sends; 0 by default.
    pub fn root(mut self, rank: usize) -> Self {
        self.request.root = rank;
        self
    }

    /// The greatest number of elements of a message; longer messages are split. By default, the number of elements that 2^30 bytes hold.
    pub fn message_limit(mut self, elements: usize) -> Self {
        self.request.message_limit = Some(elements);
        self
    }

    /// Builds without communicating, except as [`World::fresh_tag`] does. The items must follow a rule, and every rank must make the same
    /// calls on the builder; the ranks do not check this.
    ///
    /// This is for layers that guarantee these conditions, such as a layer below MPI's own calls, where each rank has one item.
    pub fn agreed(mut self) -> Self {
        self.request.is_agreed = true;
        self
    }

    /// Compares what the ranks ask for and builds the plan. Collective: the ranks communicate, unless [`agreed`](Builder::agreed) was called. A
    /// build that fails returns the same error on every rank.
    ///
    /// # Errors
    /// The ranks disagree on the kind of plan, type, operator, algorithm, its parameters, root, width, message limit, number of items or their
    /// owners; their items are not 0..N, each once; a rank does not say which items it has, has a distribution for another number of ranks,
    /// has a floating-point environment other than IEEE 754's default, or lacks the memory for a row; the root does not exist, the width or
    /// the message limit is 0, elements take no memory, a parameter is out of range, or the algorithm does not support rows or scattered
    /// items; there are no items and no empty value; or the transport fails.
    ///
    /// A type whose alignment is more than 64 bytes does not compile.
    pub fn build<T>(self) -> Result<Plan<T, O>, BuildError>
    where
        T: Pod,
        O: Operator<T> + 'static,
    {
        let (element, typed) = (any::type_name::<T>(), Typed::<T, O>::of(self.operator));
        let values = Rc::clone(&typed) as _;
        let plan = self
            .request
            .build(&self.world, element, values, make_native, &mut Ok)?;
        Ok(Plan::new(plan, typed))
    }
}

impl Builder<WordsOperator> {
    /// Like [`build`](Builder::build), for items that have no Rust type.
    ///
    /// # Errors
    /// Those of [`build`](Builder::build).
    #[doc(hidden)]
    pub fn build_words(self) -> Result<AnyPlan, BuildError> {
        let values = Words::of(self.operator);
        self.request
            .build(&self.world, "[u64]", values, make_native, &mut Ok)
    }
}

impl PlanRequest {
    /// Compares the ranks' requests and makes the plan. Collective. `element` is the name of the elements' type, `native` makes the engine
    /// of [`Algorithm::MpiNative`], and `owned` converts the ownership of the items to the ownership of the engine's items.
    pub(crate) fn build(
        &self,
        world: &World,
        element: &'static str,
        values: Rc<dyn Values>,
        native: MakeEngine,
        owned: Owned<'_>,
    ) -> Result<AnyPlan, BuildError> {
        span!("plan", ranks = world.size());
        // Building a plan calls the operator for its name and empty value.
        let _busy = world.enter().map_err(BuildError::of_entry)?;
        world.cancel_abandoned();
        let conversation = Conversation::open(world)?;
        let element_bytes = values.item().size();
        let mut empty = Memory::zeroed(element_bytes);
        let has_empty = values.has_empty();
        if has_empty {
            values.write_empty(empty.bytes_mut());
        }
        let reduced = Reduced {
            operator: values.name(),
            empty: has_empty.then(|| empty.bytes()),
            element,
            element_bytes,
        };
        let (named, ownership) = self.settle(world, reduced, &conversation)?;
        let ownership = owned(ownership)?;
        let task = Task {
            ownership: &ownership,
            width: self.width,
            element_bytes,
        };
        let terms = Rc::new(Terms {
            choice: self.options.choose(named, world, task),
            root: self.root,
            width: self.width,
            ownership,
            message_limit: self.longest_message(element_bytes),
            message_buffer: self.options.message_buffer,
        });
        warning!(Scattered::of(&terms, &*values));
        let engine: Rc<dyn Engine> = {
            let (terms, values) = (Rc::clone(&terms), Rc::clone(&values));
            let conversation = Rc::clone(&conversation);
            let algorithm = terms.choice.algorithm;
            match algorithm.scheduled() {
                // Runs of such a plan are exchanges, which need no engine.
                _ if self.kind == PlanKind::Hashed => Rc::new(NoEngine),
                Some(schedule) => {
                    Rc::new(Scheduled::new(world, schedule, terms, values, conversation))
                }
                None if algorithm == Algorithm::MpiNative => {
                    native(world, terms, values, conversation)
                }
                None => Rc::new(Algorithm1::new(world, terms, values, conversation)),
            }
        };
        Ok(AnyPlan::new(
            world,
            self.kind,
            terms,
            values,
            engine,
            conversation,
        ))
    }
}

impl Builder {
    /// The request for a plan of this kind in which each rank has one item, or one row.
    pub(crate) fn one_item_each(&self, kind: PlanKind) -> Result<PlanRequest, BuildError> {
        let one_item_each = Ownership::one_item_each(self.world.size())?;
        Ok(PlanRequest {
            kind,
            share: Some(Share::Whole(one_item_each)),
            items: None,
            other_size: None,
            ..self.request.clone()
        })
    }
}

pub(crate) fn make_native(
    world: &World,
    terms: Rc<Terms>,
    values: Rc<dyn Values>,
    conversation: Rc<Conversation>,
) -> Rc<dyn Engine> {
    Rc::new(Native::new(world, terms, values, conversation))
}

/// Makes an engine from what the ranks have agreed on.
pub(crate) type MakeEngine =
    fn(&World, Rc<Terms>, Rc<dyn Values>, Rc<Conversation>) -> Rc<dyn Engine>;

/// Converts the ownership of a plan's items to that of the engine's items.
pub(super) type Owned<'o> = &'o mut dyn FnMut(Ownership) -> Result<Ownership, BuildError>;
