//! The ways to a sum that are compared: treefold's algorithms, and the two baselines that are none of them.

use std::fmt;

use reduce::Algorithm;
use serde::{Deserialize, Serialize};

/// A way to reduce items over ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Way {
    /// A plan of treefold.
    Tree(Algorithm),
    /// A plan of treefold for the exact sum, rounded once.
    Exact,
    /// Each rank folds its own items as fast as it can, then the transport's ordinary allreduce: what programs usually do.
    Unordered,
    /// All items are gathered on one rank and folded from left to right (thesis, eq. 1.5).
    LeftToRight,
}

/// The order in which a way combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The binary tree over all items: treefold's promise.
    Tree,
    /// ((x0 + x1) + x2) + …
    LeftToRight,
    /// None: the sum is exact, and rounded once.
    Exact,
    /// Whatever the number of ranks and the transport make of it.
    None,
}

impl Order {
    /// Its name in rows.
    pub fn name(self) -> &'static str {
        match self {
            Order::Tree => "tree",
            Order::LeftToRight => "left-to-right",
            Order::Exact => "exact",
            Order::None => "none",
        }
    }
}

impl Way {
    /// All of them, the baselines last.
    pub fn all() -> Vec<Self> {
        let trees = Algorithm::all().map(Way::Tree);
        let others = [Way::Exact, Way::Unordered, Way::LeftToRight];
        trees.chain(others).collect()
    }

    /// Its name in options and rows.
    pub fn name(self) -> &'static str {
        match self {
            Way::Tree(algorithm) => algorithm.name(),
            Way::Exact => "exact-sum",
            Way::Unordered => "unordered",
            Way::LeftToRight => "left-to-right",
        }
    }

    /// The order in which it combines.
    pub fn order(self) -> Order {
        match self {
            Way::Tree(_) => Order::Tree,
            Way::Exact => Order::Exact,
            Way::Unordered => Order::None,
            Way::LeftToRight => Order::LeftToRight,
        }
    }

    /// Whether it reduces items of which a rank may own several pieces, or ranks' items in any order.
    pub fn takes_pieces(self) -> bool {
        match self {
            Way::Tree(algorithm) => algorithm.is_scheduled(),
            Way::Exact => true,
            Way::Unordered | Way::LeftToRight => false,
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Lets values of a type, each of which has a name, be read by it and travel by it in JSON.
macro_rules! travels_by_name {
    ($type:ident, $what:literal) => {
        impl From<$type> for String {
            fn from(named: $type) -> String {
                named.to_string()
            }
        }

        impl TryFrom<String> for $type {
            type Error = String;

            fn try_from(name: String) -> Result<Self, String> {
                name.parse()
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(name: &str) -> Result<Self, String> {
                let all = $type::all();
                let found = all.iter().find(|known| known.to_string() == name);
                found.copied().ok_or_else(|| {
                    let known: Vec<String> = all.iter().map(ToString::to_string).collect();
                    format!("unknown {} `{name}`; known: {}", $what, known.join(", "))
                })
            }
        }
    };
}
pub(crate) use travels_by_name;

travels_by_name!(Way, "algorithm");
