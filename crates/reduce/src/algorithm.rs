//! The closed set of ways to run a plan.

use std::fmt;
use std::str::FromStr;

/// Who talks to whom, and when. Those of [`Order::Tree`] all give the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Algorithm 1 of the thesis with its message buffer: up to four values a message (section 3.1.1).
    #[default]
    Algorithm1,
    /// Algorithm 1 as printed: a message for every subtree that crosses ranks.
    Algorithm1Unbuffered,
    /// Not reproducible: each rank folds its own items as fast as it can, then the transport's
    /// ordinary allreduce.
    Unordered,
    /// Reproducible and slow: all items are gathered on one rank and folded from left to right (eq. 1.5).
    LeftToRight,
}

/// The order in which an algorithm combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The binary tree over all items: treefold's promise.
    Tree,
    /// ((x0 + x1) + x2) + …
    LeftToRight,
    /// Whatever the number of ranks and the transport make of it.
    None,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; 4] = [
        Algorithm::Algorithm1,
        Algorithm::Algorithm1Unbuffered,
        Algorithm::Unordered,
        Algorithm::LeftToRight,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Algorithm1 => "algorithm1",
            Algorithm::Algorithm1Unbuffered => "algorithm1-unbuffered",
            Algorithm::Unordered => "unordered",
            Algorithm::LeftToRight => "left-to-right",
        }
    }

    /// The order in which it combines.
    pub fn order(self) -> Order {
        match self {
            Algorithm::Algorithm1 | Algorithm::Algorithm1Unbuffered => Order::Tree,
            Algorithm::Unordered => Order::None,
            Algorithm::LeftToRight => Order::LeftToRight,
        }
    }
}

impl Order {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Order::Tree => "tree",
            Order::LeftToRight => "left-to-right",
            Order::None => "none",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no algorithm has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown algorithm `{name}`; known: {}", Algorithm::ALL.map(Algorithm::name).join(", "))]
pub struct UnknownAlgorithm {
    /// The name.
    pub name: String,
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
            .ok_or_else(|| UnknownAlgorithm {
                name: name.to_owned(),
            })
    }
}
