//! How a plan comes about.

use std::any;
use std::ops::Range;

use bytemuck::Pod;
use comm::Communicator;
use distribution::{Distribution, Ownership};
use schedule::Link;

use crate::agreement::{Proposal, Share, agree};
use crate::algorithm::Algorithm;
use crate::environment;
use crate::error::BuildError;
use crate::operator::{Operator, Sum};
use crate::outbox::MessageBuffer;
use crate::plan::{Plan, Terms};
use crate::trace::span;
use crate::tuner::{Hints, Task};

/// Longer messages are cut: MPI counts bytes in an `int`.
const MESSAGE_LIMIT_BYTES: usize = 1 << 30;

/// Collects what a plan needs; made by [`Plan::builder`].
///
/// Say which items this rank has, by [`local_items`](Builder::local_items), [`distribution`](Builder::distribution),
/// [`ownership`](Builder::ownership) or [`extents`](Builder::extents); everything else has a default.
#[derive(Debug)]
#[must_use = "nothing happens before `build`"]
pub struct Builder<'c, O = Sum> {
    comm: &'c dyn Communicator,
    operator: O,
    wishes: Wishes,
}

#[derive(Debug)]
struct Wishes {
    hints: Hints,
    root: usize,
    width: usize,
    share: Option<Share>,
    items: Option<u64>,
    message_limit: Option<usize>,
    /// A distribution that this communicator cannot use.
    misfit: Option<String>,
}

impl<'c> Builder<'c> {
    pub(crate) fn new(comm: &'c dyn Communicator) -> Self {
        Self {
            comm,
            operator: Sum,
            wishes: Wishes {
                hints: Hints::default(),
                root: 0,
                width: 1,
                share: None,
                items: None,
                message_limit: None,
                misfit: None,
            },
        }
    }
}

impl<'c, O> Builder<'c, O> {
    /// The number of items on this rank, which may be 0. They follow those of the ranks below.
    pub fn local_items(mut self, count: u64) -> Self {
        self.wishes.share = Some(Share::Count(count));
        self
    }

    /// The number of items on all ranks, to be checked against what they have.
    pub fn items(mut self, count: u64) -> Self {
        self.wishes.items = Some(count);
        self
    }

    /// Both from a distribution that all ranks use.
    ///
    /// If it is a rule rather than a table, ranks need not tell each other how many items they have: a plan then takes
    /// O(log p) memory.
    pub fn distribution(self, distribution: &Distribution) -> Self {
        self.ownership(&Ownership::from(distribution.clone()))
    }

    /// Who owns which items, as [`distribution`](Builder::distribution), but in any pieces.
    pub fn ownership(mut self, ownership: &Ownership) -> Self {
        let (planned, size) = (ownership.ranks(), self.comm.size());
        if planned == size {
            let rank = self.comm.rank();
            self.wishes.items = Some(ownership.items());
            self.wishes.share = Some(if ownership.is_rule() {
                Share::Rule(ownership.clone())
            } else if ownership.as_distribution().is_some() {
                Share::Count(ownership.count(rank))
            } else {
                Share::Extents(ownership.extents(rank).collect())
            });
        } else {
            self.wishes.misfit = Some(format!(
                "the distribution is for {planned} ranks, the communicator has {size}"
            ));
        }
        self
    }

    /// The items on this rank, as any list of disjoint ranges, in the order in which the local slice holds them. With those of all
    /// ranks they must be the items 0..N, each once.
    pub fn extents(mut self, extents: &[Range<u64>]) -> Self {
        self.wishes.share = Some(Share::Extents(extents.to_vec()));
        self
    }

    /// The number of elements of an item: with more than one, items are rows that are reduced element by element.
    pub fn width(mut self, elements: usize) -> Self {
        self.wishes.width = elements;
        self
    }

    /// What combines two items; [`Sum`] unless said otherwise.
    pub fn operator<P>(self, operator: P) -> Builder<'c, P> {
        Builder {
            comm: self.comm,
            operator,
            wishes: self.wishes,
        }
    }

    /// Who talks to whom; the bits are the same for all algorithms of [`Order::Tree`](crate::Order::Tree).
    ///
    /// Unless it is said here, it is what the environment variable [`TREEFOLD_ALGORITHM`](crate::ALGORITHM_VARIABLE) names, and
    /// otherwise the schedule that should take least on the [`link`](Builder::link). Printing the plan tells.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.wishes.hints.algorithm = Some(algorithm);
        self
    }

    /// What messages and combinations cost, to choose the schedule and its blocks by; [`DEFAULT_LINK`](crate::DEFAULT_LINK) unless
    /// said otherwise. [`measure_link`](crate::measure_link) measures it.
    pub fn link(mut self, link: Link) -> Self {
        self.wishes.hints.link = link;
        self
    }

    /// The column blocks of a row, at most one a column. Pipelined algorithms send them one after the other: unless said otherwise,
    /// as many as should take least (paper 2, Lemma 1). The others reduce them one after the other: as many as stay in cache, as
    /// long as that costs little.
    pub fn blocks(mut self, count: usize) -> Self {
        self.wishes.hints.blocks = Some(count);
        self
    }

    /// n of [`Bruck`](Algorithm::Bruck) and [`Dissemination`](Algorithm::Dissemination): the messages that a rank sends at once; 1
    /// and 2 unless said otherwise.
    pub fn ports(mut self, count: usize) -> Self {
        self.wishes.hints.ports = Some(count);
        self
    }

    /// The ranks of a node of [`Hierarchical`](Algorithm::Hierarchical), which follow each other in the order of their items; unless
    /// said otherwise, those of the machine's nodes, or 4 if they are not told apart.
    pub fn node_ranks(mut self, count: usize) -> Self {
        self.wishes.hints.node_ranks = Some(count);
        self
    }

    /// The schedules of [`Hierarchical`](Algorithm::Hierarchical) within nodes and between them; binomial and recursive doubling
    /// unless said otherwise.
    pub fn levels(mut self, inner: Algorithm, outer: Algorithm) -> Self {
        self.wishes.hints.levels = Some((inner, outer));
        self
    }

    /// When [`Algorithm1`](Algorithm::Algorithm1) sends what it has buffered; as published unless said otherwise.
    pub fn message_buffer(mut self, buffer: MessageBuffer) -> Self {
        self.wishes.hints.message_buffer = buffer;
        self
    }

    /// The rank that gets the result of [`Plan::reduce`] and gives that of [`Plan::broadcast`]; 0 unless said otherwise.
    pub fn root(mut self, rank: usize) -> Self {
        self.wishes.root = rank;
        self
    }

    /// Cuts messages of more elements than this into several; 2^30 bytes unless said otherwise.
    pub fn message_limit(mut self, elements: usize) -> Self {
        self.wishes.message_limit = Some(elements);
        self
    }

    /// Compares the ranks' wishes and builds the plan. Collective: it communicates, and if it fails, it fails with the
    /// same error on every rank.
    ///
    /// # Errors
    /// The ranks disagree on type, operator, algorithm, what was said of its parameters, root, width, message limit or number of items; their items are not 0..N,
    /// each once; a rank does not say what items it has, has a distribution for another number of ranks, a root that does
    /// not exist, a width of 0, rows or scattered items for an algorithm that does not take them, or a floating-point
    /// environment other than IEEE 754's default; there are no items and no empty value; or the
    /// transport fails.
    pub fn build<T>(self) -> Result<Plan<'c, T, O>, BuildError>
    where
        T: Pod,
        O: Operator<T> + 'static,
    {
        span!("plan", ranks = self.comm.size());
        let named = self.wishes.hints.named_algorithm();
        let rejection = self.rejection::<T>(&named);
        let (wishes, named) = (self.wishes, named.unwrap_or_default());
        let default_limit = (MESSAGE_LIMIT_BYTES / size_of::<T>().max(1)).max(1);
        let message_limit = wishes.message_limit.unwrap_or(default_limit);
        let proposal = Proposal {
            rejection,
            share: wishes.share.unwrap_or(Share::Count(0)),
            items: wishes.items,
            wishes: [
                any::type_name::<T>().to_owned(),
                self.operator.name().to_owned(),
                named.map_or("the fastest".to_owned(), |algorithm| algorithm.to_string()),
                wishes.hints.to_string(),
                format!("rank {}", wishes.root),
                wishes.width.to_string(),
                message_limit.to_string(),
            ],
        };
        let ownership = agree(self.comm, &proposal)?;
        if let Some(algorithm) = named
            && ownership.as_distribution().is_none()
            && !algorithm.is_scheduled()
        {
            return Err(BuildError::Scattered { algorithm });
        }
        if ownership.items() == 0 && self.operator.empty().is_none() {
            return Err(BuildError::NoItems {
                operator: self.operator.name().to_owned(),
            });
        }
        let task = Task {
            ownership: &ownership,
            width: wishes.width,
            element_bytes: size_of::<T>(),
        };
        let choice = wishes.hints.choose(named, self.comm, task);
        let terms = Terms {
            choice,
            root: wishes.root,
            width: wishes.width,
            ownership,
            message_limit,
            message_buffer: wishes.hints.message_buffer,
        };
        Ok(Plan::new(self.comm, self.operator, terms))
    }

    /// Why this rank cannot take part, if it cannot.
    fn rejection<T>(&self, named: &Result<Option<Algorithm>, String>) -> Option<String> {
        let (wishes, size) = (&self.wishes, self.comm.size());
        if let Some(misfit) = &wishes.misfit {
            return Some(misfit.clone());
        }
        if wishes.share.is_none() {
            return Some("neither local_items nor a distribution was given".to_owned());
        }
        if wishes.root >= size {
            let root = wishes.root;
            return Some(format!(
                "root {root} does not exist, there are {size} ranks"
            ));
        }
        if wishes.width == 0 || wishes.message_limit == Some(0) || size_of::<T>() == 0 {
            return Some(
                "an item, its elements and a message have a size of at least 1".to_owned(),
            );
        }
        let named = match named {
            Ok(named) => *named,
            Err(error) => return Some(error.clone()),
        };
        if let Some(rejection) = wishes.hints.rejection() {
            return Some(rejection);
        }
        if named == Some(Algorithm::MpiNative) && !self.comm.has_own_reductions() {
            return Some("algorithm `mpi-native` needs MPI".to_owned());
        }
        if let Some(algorithm) = named
            && wishes.width > 1
            && !algorithm.takes_rows()
        {
            let width = wishes.width;
            return Some(format!(
                "algorithm `{algorithm}` does not reduce rows of {width} elements"
            ));
        }
        environment::check().err().map(|error| error.to_string())
    }
}
