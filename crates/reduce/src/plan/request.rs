//! A rank's request for a plan, and how the ranks agree on the plan. None of this code is generic, so it is compiled only once.

use distribution::Ownership;

use super::agreement::agree;
use super::choice::ScheduleOptions;
use super::memory::{RANGE_BYTES, reserve};
use super::proposal::{Proposal, Settings, Share};
use super::refusal::Refusal;
use super::table::Table;
use crate::algorithm::Algorithm;
use crate::environment;
use crate::error::{BuildError, UnknownName};
use crate::world::World;
use crate::world::conversation::Conversation;

/// The default limit of a message, in bytes.
const MESSAGE_LIMIT_BYTES: usize = 1 << 30;

/// The kind of a plan. Ranks compare it, since plans of two kinds may agree in everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanKind {
    TreeOrder,
    Lanes,
    Exact,
    Keyed,
    Hashed,
}

impl PlanKind {
    /// The kind's name in errors.
    fn name(self) -> &'static str {
        match self {
            Self::TreeOrder => "a reduction in tree order",
            Self::Lanes => "a sum in lanes",
            Self::Exact => "an exact sum",
            Self::Keyed => "exact sums by key",
            Self::Hashed => "exact sums by keys of 64 bits",
        }
    }

    /// The name of the kind's width in errors.
    fn width(self) -> &'static str {
        match self {
            Self::Lanes => "number of lanes",
            Self::Keyed => "number of keys",
            Self::TreeOrder | Self::Exact | Self::Hashed => "width",
        }
    }
}

/// The settings of a builder.
#[derive(Clone, Debug)]
pub(crate) struct PlanRequest {
    pub(crate) kind: PlanKind,
    /// The quantity that a plan of exact sums computes.
    pub(crate) figure: Option<&'static str>,
    pub(super) options: ScheduleOptions,
    pub(crate) root: usize,
    pub(crate) width: usize,
    pub(super) share: Option<Share>,
    pub(crate) items: Option<u64>,
    pub(crate) message_limit: Option<usize>,
    /// The number of ranks that the distribution is for, if the world has another number.
    pub(crate) other_size: Option<usize>,
    /// Whether to build without communicating.
    pub(crate) is_agreed: bool,
    /// The number of conversations that the same call opens after this plan's conversation.
    pub(crate) later_conversations: usize,
}

/// What is reduced, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduced<'v> {
    /// The operator's name.
    pub(crate) operator: &'v str,
    /// The bytes of the operator's empty value.
    pub(crate) empty: Option<&'v [u8]>,
    /// The name of the elements' type.
    pub(crate) element: &'static str,
    pub(crate) element_bytes: usize,
}

impl PlanRequest {
    /// Settles who owns what, and which algorithm the ranks name, if any.
    pub(crate) fn settle(
        &self,
        world: &World,
        reduced: Reduced<'_>,
        conversation: &Conversation,
    ) -> Result<(Option<Algorithm>, Ownership), BuildError> {
        let named = self.options.named_algorithm();
        let ownership = self
            .owners(world, reduced, &named, conversation)
            .inspect_err(|error| {
                // The other ranks may not know of the error.
                if self.is_agreed || matches!(error, BuildError::Transport(_)) {
                    conversation.give_up();
                    self.give_up_later_ones(world);
                }
            })
            .map_err(|error| conversation.explain_build(error))?;
        let algorithm = self.checked_algorithm(world, reduced, named, &ownership)?;
        Ok((algorithm, ownership))
    }

    /// Opens the later conversations of the same call, and gives them up. Ranks that have built this plan continue with them, and get an
    /// error there. All ranks have therefore opened the same number of conversations when they build the next plan.
    #[cold]
    fn give_up_later_ones(&self, world: &World) {
        for _ in 0..self.later_conversations {
            // A world in which no conversation can be opened is unusable.
            let Ok(conversation) = Conversation::open(world) else {
                return;
            };
            conversation.give_up();
        }
    }

    /// The number of elements of the longest message.
    pub(crate) fn longest_message(&self, element_bytes: usize) -> usize {
        let default = (MESSAGE_LIMIT_BYTES / element_bytes.max(1)).max(1);
        self.message_limit.unwrap_or(default)
    }

    /// The ownership of the items, on which the ranks agree or which, without communicating, follows from the rule that all of them know.
    fn owners(
        &self,
        world: &World,
        reduced: Reduced<'_>,
        named: &Result<Option<Algorithm>, UnknownName>,
        conversation: &Conversation,
    ) -> Result<Ownership, BuildError> {
        let refusal = self.refusal(world.rank(), reduced.element_bytes);
        if self.is_agreed {
            return match refusal {
                Some(refusal) => Err(refusal.into_error(world.rank(), world.size())),
                None => self.agreed_owners(world.rank()),
            };
        }
        let proposal = Proposal {
            refusal,
            share: self.share.clone().unwrap_or(Share::Count(0)),
            items: self.items,
            settings: self.settings(reduced, named),
        };
        let table = Table {
            comm: world.transport(),
            tag: conversation.tag(),
        };
        agree(table, &proposal)
    }

    /// The ownership of the items, by the rule that all ranks know.
    fn agreed_owners(&self, rank: usize) -> Result<Ownership, BuildError> {
        let Some(ownership) = self.share.as_ref().and_then(Share::rule) else {
            return Err(BuildError::NotARule);
        };
        let found = ownership.items();
        match self.items {
            Some(expected) if expected != found => Err(BuildError::ItemCount {
                rank,
                expected,
                found,
            }),
            _ => Ok(ownership.clone()),
        }
    }

    /// The settings that must be the same on all ranks.
    fn settings(
        &self,
        reduced: Reduced<'_>,
        named: &Result<Option<Algorithm>, UnknownName>,
    ) -> Settings {
        let algorithm = match named {
            Ok(None) => "the fastest".to_owned(),
            Ok(Some(algorithm)) => algorithm.to_string(),
            Err(unknown) => format!("{}={}", unknown.variable, unknown.error.name),
        };
        let empty = match reduced.empty {
            None => "none".to_owned(),
            Some(bytes) => format!("bytes {bytes:02X?}"),
        };
        let longest_message = self.longest_message(reduced.element_bytes);
        let kind = match self.figure {
            None => self.kind.name().to_owned(),
            Some(figure) => format!("{}, for {figure}", self.kind.name()),
        };
        [
            ("kind of plan", kind),
            ("operator", reduced.operator.to_owned()),
            ("element type", reduced.element.to_owned()),
            ("empty value of the operator", empty),
            ("algorithm", algorithm),
            ("parameters of the algorithm", self.options.to_string()),
            ("root", self.root.to_string()),
            (self.kind.width(), self.width.to_string()),
            ("message limit", longest_message.to_string()),
        ]
    }

    /// What is wrong on this rank alone.
    fn refusal(&self, rank: usize, element_bytes: usize) -> Option<Refusal> {
        if let Some(planned) = self.other_size {
            return Some(Refusal::OtherSize(planned));
        }
        let Some(share) = &self.share else {
            return Some(Refusal::NoShare);
        };
        if let Err(error) = environment::check() {
            return Some(Refusal::Environment(error));
        }
        let ranges = match share {
            Share::Count(_) => 1,
            Share::Extents(extents) => extents.len() as u64,
            Share::Whole(ownership) => ownership.extents_count(rank),
        };
        let row_bytes = self.width as u128 * element_bytes as u128;
        let bytes = row_bytes.max(u128::from(ranges) * RANGE_BYTES);
        reserve(bytes).is_none().then_some(Refusal::Memory(bytes))
    }

    /// The algorithm that the ranks name, if everything that they agree on is valid. The outcome is the same on all ranks.
    fn checked_algorithm(
        &self,
        world: &World,
        reduced: Reduced<'_>,
        named: Result<Option<Algorithm>, UnknownName>,
        ownership: &Ownership,
    ) -> Result<Option<Algorithm>, BuildError> {
        let (root, size) = (self.root, world.size());
        if root >= size {
            return Err(BuildError::Root { root, size });
        }
        if self.width == 0 {
            return Err(BuildError::ZeroWidth);
        }
        if self.longest_message(reduced.element_bytes) == 0 {
            return Err(BuildError::ZeroMessageLimit);
        }
        if reduced.element_bytes == 0 {
            let element = reduced.element;
            return Err(BuildError::ZeroSized { element });
        }
        self.options.check()?;
        let named = named?;
        if let Some(algorithm) = named {
            if algorithm == Algorithm::MpiNative && world.transport().native_reductions().is_none()
            {
                return Err(BuildError::NoNativeReductions);
            }
            if self.width > 1 && !algorithm.takes_rows() {
                let width = self.width;
                return Err(BuildError::NoRows { algorithm, width });
            }
            if ownership.as_distribution().is_none() && !algorithm.is_scheduled() {
                return Err(BuildError::Scattered { algorithm });
            }
        }
        if ownership.items() == 0 && reduced.empty.is_none() {
            return Err(BuildError::NoItems {
                operator: reduced.operator.to_owned(),
            });
        }
        Ok(named)
    }
}
