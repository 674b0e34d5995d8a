//! The settings of a plan that is to be built.

use std::cell::RefCell;
use std::ops::{Deref, Range};
use std::rc::Rc;

use bytemuck::Pod;
use treefold::exact::quantity::{ComplexDots, ComplexSums, Dots, Norms, Quantity, Sums};
use treefold::exact::{Float, KeyedPlan, KeyedSlot};
use treefold::mpi::Duplicate;
use treefold::operator::LANES_MAX;
use treefold::{Algorithm, AnyPlan, BuildError, Builder, LanesPlan, Ownership, Plan, World};
use treefold_c::element::{Element, ElementType};
use treefold_c::failure::{Code, Failure};
use treefold_c::figure::Figure;
use treefold_c::operator::{Builtin, of_function};
use treefold_c::raw::Function;
use treefold_c::statistic::Asked;
use treefold_c::{by_real, by_slot, by_type};

use crate::failure::of_build;
#[cfg(feature = "cuda")]
use crate::gpu::Floats;
use crate::handle::handle;
use crate::items::Items;
use crate::operands::Takes;
use crate::plan::Shaped;

handle!(
    /// `treefold_comm`: a communicator's duplicate.
    pub treefold_comm, Comm, 1, "comm"
);

/// A duplicate of the program's communicator.
#[derive(Debug)]
pub(crate) struct Comm {
    pub(crate) world: World,
    /// Frees the duplicate communicator.
    pub(crate) duplicate: Duplicate,
}

impl Deref for Comm {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}
handle!(
    /// `treefold_builder`: the settings of a plan.
    pub treefold_builder, RefCell<Settings>, 2, "builder"
);

/// The items and how they are combined.
#[derive(Clone)]
pub(crate) enum Kind {
    /// A type and an operator of `treefold.h`.
    Builtin(ElementType, Builtin),
    /// A type of `treefold.h`, and what is computed from the exact sums.
    Exact(ElementType, Figure),
    /// `F32` or `F64`, a statistic of each key's items, and the number of keys.
    ByKey(ElementType, Asked, usize),
    /// Items of `item_bytes` bytes each, combined by a function of the program.
    User {
        name: String,
        item_bytes: usize,
        function: Function,
        empty: Option<Vec<u8>>,
    },
}

impl Kind {
    /// A type and an operator of `treefold.h`.
    ///
    /// # Errors
    /// The operator is not defined for the type.
    pub(crate) fn builtin(element_type: ElementType, operator: Builtin) -> Result<Self, Failure> {
        by_type!(element_type, T => T::operator(operator).map(drop))?;
        Ok(Self::Builtin(element_type, operator))
    }

    /// The type of the floats to sum, if a GPU can sum them.
    #[cfg(feature = "cuda")]
    fn floats(&self) -> Option<Floats> {
        match self {
            Self::Builtin(ElementType::F32 | ElementType::C32, Builtin::Sum)
            | Self::Exact(ElementType::F32, Figure::Sum) => Some(Floats::F32),
            Self::Builtin(ElementType::F64 | ElementType::C64, Builtin::Sum)
            | Self::Exact(ElementType::F64, Figure::Sum) => Some(Floats::F64),
            _ => None,
        }
    }
}

/// Which items this rank has.
#[derive(Clone)]
pub(crate) enum Share {
    Local(u64),
    Extents(Vec<Range<u64>>),
    /// A rule that distributes the items over the ranks. All ranks know the rule.
    Rule(Ownership),
}

type Setter = fn(Builder, usize) -> Builder;

/// The name, the maximum and the setter of each parameter of algorithms, in the order of the parameters' codes, which count from 1.
const PARAMETERS: [(&str, usize, Setter); 4] = [
    ("TREEFOLD_BLOCKS", 1 << 20, Builder::blocks),
    ("TREEFOLD_PORTS", 1 << 20, Builder::ports),
    ("TREEFOLD_NODE_RANKS", usize::MAX, Builder::node_ranks),
    ("TREEFOLD_MESSAGE_LIMIT", usize::MAX, Builder::message_limit),
];

/// Checks that an argument is from 1 to `most`.
///
/// # Errors
/// The argument is 0 or greater than `most`.
pub(crate) fn positive(name: &str, number: usize, most: usize) -> Result<usize, Failure> {
    if (1..=most).contains(&number) {
        return Ok(number);
    }
    let reason = match most {
        usize::MAX => format!("it must be at least 1, not {number}"),
        most => format!("it must be from 1 to {most}, not {number}"),
    };
    Err(Failure::argument(name, reason))
}

/// The settings of a plan, as the program gave them.
pub(crate) struct Settings {
    pub(crate) world: World,
    pub(crate) kind: Kind,
    pub(crate) share: Option<Share>,
    pub(crate) items: Option<u64>,
    pub(crate) width: Option<usize>,
    pub(crate) root: usize,
    pub(crate) algorithm: Option<Algorithm>,
    /// The value of each of [`PARAMETERS`], if it is set.
    parameters: [Option<usize>; PARAMETERS.len()],
    lanes: Option<usize>,
    pub(crate) is_agreed: bool,
}

impl Settings {
    /// The settings that every builder begins with.
    pub(crate) fn new(world: World, kind: Kind) -> Self {
        Self {
            world,
            kind,
            share: None,
            items: None,
            width: None,
            root: 0,
            algorithm: None,
            parameters: Default::default(),
            lanes: None,
            is_agreed: false,
        }
    }

    /// Sets which items this rank has.
    pub(crate) fn set_share(&mut self, share: Share) -> Result<(), Failure> {
        self.check_numbered()?;
        self.share = Some(share);
        Ok(())
    }

    /// Sets the ranges of items that this rank has.
    pub(crate) fn set_extents(&mut self, ranges: Vec<Range<u64>>) -> Result<(), Failure> {
        let wrong = |reason| Err(Failure::argument("ranges", reason));
        if let Some(Range { start, end }) = ranges.iter().find(|range| range.start > range.end) {
            return wrong(format!("{{{start}, {end}}} ends before it begins"));
        }
        let mut sorted: Vec<&Range<u64>> =
            ranges.iter().filter(|range| !range.is_empty()).collect();
        sorted.sort_unstable_by_key(|range| range.start);
        let mut pairs = sorted.windows(2);
        if let Some(pair) = pairs.find(|pair| pair[0].end > pair[1].start) {
            return wrong(format!("item {} is in two ranges", pair[1].start));
        }
        self.set_share(Share::Extents(ranges))
    }

    /// Sets the rank that gets the result of a reduce.
    pub(crate) fn set_root(&mut self, rank: i32) -> Result<(), Failure> {
        let ranks = self.world.size();
        let root = usize::try_from(rank).ok().filter(|&root| root < ranks);
        self.root = root.ok_or_else(|| {
            let reason = format_args!("{rank} is not one of {ranks} ranks");
            Failure::argument("rank", reason)
        })?;
        Ok(())
    }

    /// Sets the total number of items.
    pub(crate) fn set_items(&mut self, items: u64) -> Result<(), Failure> {
        self.check_numbered()?;
        self.items = Some(items);
        Ok(())
    }

    /// Sets the number of elements per item.
    pub(crate) fn set_width(&mut self, elements: usize) -> Result<(), Failure> {
        if let Kind::ByKey(..) = self.kind {
            return Err(Failure::argument("builder", "plans by key have no width"));
        }
        self.width = Some(positive("elements", elements, usize::MAX)?);
        Ok(())
    }

    /// Sets a parameter of algorithms.
    pub(crate) fn set_parameter(&mut self, code: i32, value: usize) -> Result<(), Failure> {
        let index = usize::try_from(code).ok();
        let index = index.and_then(|code| code.checked_sub(1));
        let found =
            index.and_then(|index| PARAMETERS.get(index).zip(self.parameters.get_mut(index)));
        let ((_, most, _), parameter) = found.ok_or_else(|| {
            let names = PARAMETERS.map(|(name, ..)| name).join(", ");
            let reason = format_args!("it must be one of {names}, not {code}");
            Failure::argument("parameter", reason)
        })?;
        *parameter = Some(positive("value", value, *most)?);
        Ok(())
    }

    /// Sets the number of lanes.
    pub(crate) fn set_lanes(&mut self, lanes: usize) -> Result<(), Failure> {
        let lanes = positive("lanes", lanes, LANES_MAX)?;
        let Kind::Builtin(ElementType::F32 | ElementType::F64, Builtin::Sum) = self.kind else {
            let message = "plans in lanes need TREEFOLD_SUM of TREEFOLD_F32 or TREEFOLD_F64";
            return Err(Failure::new(Code::Unsupported, message));
        };
        self.lanes = Some(lanes);
        Ok(())
    }

    fn check_numbered(&self) -> Result<(), Failure> {
        match self.kind {
            Kind::Exact(..) | Kind::ByKey(..) => {
                let reason =
                    "items of exact sums have no numbers: each call takes any number of items";
                Err(Failure::argument("builder", reason))
            }
            Kind::Builtin(..) | Kind::User { .. } => Ok(()),
        }
    }

    /// Builds the plan. Collective.
    pub(crate) fn build(&self) -> Result<Rc<Shaped>, Failure> {
        let plan = self.build_of_kind()?;
        #[cfg(feature = "cuda")]
        if self.lanes.is_none() {
            plan.gpu.floats.set(self.kind.floats());
        }
        Ok(plan)
    }

    fn build_of_kind(&self) -> Result<Rc<Shaped>, Failure> {
        match &self.kind {
            Kind::Builtin(element_type, operator) => match self.lanes {
                Some(lanes) => self.build_in_lanes(*element_type, lanes),
                None => by_type!(*element_type, T => {
                    let builder = self.builder().operator(T::operator(*operator)?);
                    let plan = builder.build::<T>().map(Plan::into_any);
                    self.shaped(plan, Takes::InTree, Items::of::<T>())
                }),
            },
            Kind::Exact(element_type, figure) => match (element_type, figure) {
                (ElementType::F32, figure) => self.build_real::<f32>(*figure),
                (ElementType::F64, figure) => self.build_real::<f64>(*figure),
                (ElementType::C32, figure) => self.build_complex::<f32>(*figure),
                (ElementType::C64, figure) => self.build_complex::<f64>(*figure),
                _ => unreachable!("`Figure::of_statistic` rejects integers"),
            },
            Kind::ByKey(element_type, asked, keys) => {
                let (takes, keys) = (Takes::ByKey(*element_type, *asked), *keys);
                by_real!(*element_type, T => by_slot!(asked.held(), T, S => self.build_by_key::<S>(takes, keys)))
            }
            Kind::User {
                name,
                item_bytes,
                function,
                empty,
            } => {
                // The name contains the size, since items of different sizes may take the same number of words.
                let name = format!("{name} on {item_bytes} bytes");
                let operator = of_function(name, *function, empty.as_deref());
                let plan = self.builder().operator(operator).build_words();
                self.shaped(plan, Takes::InTree, Items::of_words(*item_bytes))
            }
        }
    }

    fn shaped(
        &self,
        plan: Result<AnyPlan, BuildError>,
        takes: Takes,
        items: Items,
    ) -> Result<Rc<Shaped>, Failure> {
        let plan = plan.map_err(|error| of_build(&error))?;
        let is_root = self.world.rank() == self.root;
        Ok(Rc::new(Shaped::new(plan, takes, items, is_root)))
    }

    fn build_in_lanes(
        &self,
        element_type: ElementType,
        lanes: usize,
    ) -> Result<Rc<Shaped>, Failure> {
        if let Some(width @ 2..) = self.width {
            // Makes the build fail on all ranks: a plan cannot be built without a distribution of items. The error names this rank.
            drop(Plan::builder(&self.world).build::<f64>());
            let reason = format_args!("plans in lanes have width 1, not {width}");
            return Err(Failure::argument("builder", reason));
        }
        by_real!(element_type, T => {
            let plan = self.builder().build_lanes::<T>(lanes).map(LanesPlan::into_any);
            self.shaped(plan, Takes::InLanes, Items::of::<T>())
        })
    }

    fn build_real<T: Float>(&self, figure: Figure) -> Result<Rc<Shaped>, Failure> {
        match figure {
            Figure::Sum => self.build_quantity::<Sums<T>>(),
            Figure::Norm => self.build_quantity::<Norms<T>>(),
            Figure::Dot | Figure::ConjugateDot => self.build_quantity::<Dots<T>>(),
        }
    }

    fn build_complex<T: Float>(&self, figure: Figure) -> Result<Rc<Shaped>, Failure> {
        match figure {
            Figure::Sum => self.build_quantity::<ComplexSums<T>>(),
            Figure::Dot => self.build_quantity::<ComplexDots<T, false>>(),
            Figure::ConjugateDot => self.build_quantity::<ComplexDots<T, true>>(),
            Figure::Norm => unreachable!("`Figure::of_statistic` rejects complex norms"),
        }
    }

    fn build_quantity<Q: Quantity>(&self) -> Result<Rc<Shaped>, Failure> {
        let takes = if Q::TAKES_PAIRS {
            Takes::ExactPairs
        } else {
            Takes::Exact
        };
        let plan = self.builder().build_quantity::<Q>();
        self.shaped(plan, takes, Items::of::<Q::Item>())
    }

    fn build_by_key<S: KeyedSlot<Item: Pod>>(
        &self,
        takes: Takes,
        keys: usize,
    ) -> Result<Rc<Shaped>, Failure> {
        let plan = self.builder().build_keyed::<S>(keys);
        self.shaped(plan.map(KeyedPlan::into_any), takes, Items::of::<S::Item>())
    }

    /// Converts the settings to a builder of crate `treefold`.
    fn builder(&self) -> Builder {
        let mut builder = Plan::builder(&self.world).root(self.root);
        builder = match &self.share {
            None => builder,
            Some(Share::Local(items)) => builder.local_items(*items),
            Some(Share::Extents(extents)) => builder.extents(extents),
            Some(Share::Rule(ownership)) => builder.ownership(ownership),
        };
        if let Some(items) = self.items {
            builder = builder.items(items);
        }
        if let Some(width) = self.width {
            builder = builder.width(width);
        }
        if let Some(algorithm) = self.algorithm {
            builder = builder.algorithm(algorithm);
        }
        for (value, (.., set)) in self.parameters.iter().zip(PARAMETERS) {
            if let Some(value) = value {
                builder = set(builder, *value);
            }
        }
        if self.is_agreed {
            builder.agreed()
        } else {
            builder
        }
    }
}
