//! How a plan comes about.

use std::any;

use bytemuck::Pod;
use comm::Communicator;
use distribution::Distribution;

use crate::agreement::{Proposal, agree};
use crate::algorithm::Algorithm;
use crate::environment;
use crate::error::BuildError;
use crate::operator::{Operator, Sum};
use crate::plan::Plan;
use crate::trace::span;

/// Collects what a plan needs; made by [`Plan::builder`].
///
/// Say how many items this rank has, by [`local_items`](Builder::local_items) or
/// [`distribution`](Builder::distribution); everything else has a default.
#[derive(Debug)]
#[must_use = "nothing happens before `build`"]
pub struct Builder<'c, O = Sum> {
    comm: &'c dyn Communicator,
    operator: O,
    algorithm: Algorithm,
    root: usize,
    local_items: Option<u64>,
    items: Option<u64>,
    /// A distribution that this communicator cannot use.
    misfit: Option<String>,
}

impl<'c> Builder<'c> {
    pub(crate) fn new(comm: &'c dyn Communicator) -> Self {
        Self {
            comm,
            operator: Sum,
            algorithm: Algorithm::default(),
            root: 0,
            local_items: None,
            items: None,
            misfit: None,
        }
    }
}

impl<'c, O> Builder<'c, O> {
    /// The number of items on this rank, which may be 0. They follow those of the ranks below.
    pub fn local_items(mut self, count: u64) -> Self {
        self.local_items = Some(count);
        self
    }

    /// The number of items on all ranks, to be checked against what they have.
    pub fn items(mut self, count: u64) -> Self {
        self.items = Some(count);
        self
    }

    /// Both from a distribution that all ranks use.
    pub fn distribution(mut self, distribution: &Distribution) -> Self {
        let (planned, size) = (distribution.ranks(), self.comm.size());
        if planned == size {
            self.local_items = Some(distribution.count(self.comm.rank()));
            self.items = Some(distribution.items());
        } else {
            self.misfit = Some(format!(
                "the distribution is for {planned} ranks, the communicator has {size}"
            ));
        }
        self
    }

    /// What combines two items; [`Sum`] unless said otherwise.
    pub fn operator<P>(self, operator: P) -> Builder<'c, P> {
        Builder {
            comm: self.comm,
            operator,
            algorithm: self.algorithm,
            root: self.root,
            local_items: self.local_items,
            items: self.items,
            misfit: self.misfit,
        }
    }

    /// Who talks to whom; the bits are the same for all algorithms of [`Order::Tree`](crate::Order::Tree).
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// The rank that gets the result of [`Plan::reduce`]; 0 unless said otherwise.
    pub fn root(mut self, rank: usize) -> Self {
        self.root = rank;
        self
    }

    /// Compares the ranks' wishes and builds the plan. Collective: it communicates, and if it fails, it fails with the
    /// same error on every rank.
    ///
    /// # Errors
    /// The ranks disagree on type, operator, algorithm, root or number of items; a rank does not say how many items
    /// it has, has a distribution for another number of ranks, a root that does not exist, or a floating-point
    /// environment other than IEEE 754's default; there are no items and no empty value; or the
    /// transport fails.
    pub fn build<T>(self) -> Result<Plan<'c, T, O>, BuildError>
    where
        T: Pod,
        O: Operator<T>,
    {
        span!("plan", ranks = self.comm.size());
        let proposal = Proposal {
            rejection: self.rejection(),
            local_items: self.local_items.unwrap_or(0),
            items: self.items,
            wishes: [
                any::type_name::<T>().to_owned(),
                self.operator.name().to_owned(),
                self.algorithm.to_string(),
                format!("rank {}", self.root),
            ],
        };
        let counts = agree(self.comm, &proposal)?;
        let distribution =
            Distribution::from_counts(&counts).map_err(|_| BuildError::TooManyItems)?;
        if distribution.items() == 0 && self.operator.empty().is_none() {
            return Err(BuildError::NoItems {
                operator: self.operator.name().to_owned(),
            });
        }
        Ok(Plan::new(
            self.comm,
            self.operator,
            self.algorithm,
            self.root,
            distribution,
        ))
    }

    /// Why this rank cannot take part, if it cannot.
    fn rejection(&self) -> Option<String> {
        let size = self.comm.size();
        if let Some(misfit) = &self.misfit {
            return Some(misfit.clone());
        }
        if self.local_items.is_none() {
            return Some("neither local_items nor a distribution was given".to_owned());
        }
        if self.root >= size {
            let root = self.root;
            return Some(format!(
                "root {root} does not exist, there are {size} ranks"
            ));
        }
        environment::check().err().map(|error| error.to_string())
    }
}
