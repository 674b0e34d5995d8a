//! A way to a sum, ready to run on ranks again and again.

use distribution::Ownership;
use reduce::{Plan, Sum, World, exact};

use crate::baselines::Baseline;
use crate::way::Way;
use crate::{Backend, Error};

/// A sum of doubles over the ranks of a world.
#[derive(Debug)]
pub enum Runner {
    /// By treefold.
    Plan(Box<Plan<f64, Sum>>),
    /// By treefold, in no order.
    Exact(Box<exact::Plan<exact::Sum<f64>>>),
    /// By one of the ways that it is compared with.
    Baseline(Baseline),
    /// By treefold's local fold of this rank's items alone: the sum over the ranks where there is one rank.
    LocalFold,
}

impl Runner {
    /// Prepares a way. Collective.
    pub fn new(
        way: Way,
        world: &World,
        backend: Backend,
        ownership: &Ownership,
    ) -> Result<Self, Error> {
        Ok(match way {
            Way::Tree(algorithm) => {
                let builder = Plan::builder(world).ownership(ownership);
                Runner::plan(builder.algorithm(algorithm).build()?)
            }
            Way::Exact => Runner::Exact(Box::new(Plan::builder(world).build_exact()?)),
            Way::Unordered => Runner::Baseline(Baseline::unordered(world, backend)?),
            Way::LeftToRight => {
                Runner::Baseline(Baseline::left_to_right(world, backend, ownership)?)
            }
        })
    }

    /// Runs a plan.
    pub fn plan(plan: Plan<f64, Sum>) -> Self {
        Runner::Plan(Box::new(plan))
    }

    /// The sum of all ranks' items. Collective.
    pub fn allreduce(&self, local: &[f64]) -> Result<f64, Error> {
        match self {
            Runner::Plan(plan) => Ok(plan.allreduce(local)?),
            Runner::Exact(plan) => Ok(plan.sum(local)?),
            Runner::Baseline(baseline) => baseline.allreduce(local),
            Runner::LocalFold => Ok(reduce::sum(local)?),
        }
    }
}
