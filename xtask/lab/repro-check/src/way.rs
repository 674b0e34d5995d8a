//! The compared algorithms, the distributions of items over ranks, and the backends.

use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use distribution::{Distribution, Ownership, Scheme};
use reduce::Algorithm;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::data::Random;

/// An algorithm for reducing items over ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Way {
    /// A plan of treefold.
    Tree(Algorithm),
    /// A plan of treefold for the exact sum, rounded once.
    Exact,
    /// Each rank folds its own items as fast as it can, then calls the transport's own allreduce, as programs usually do.
    Unordered,
    /// One rank gathers all items and folds them from left to right (thesis, eq. 1.5).
    LeftToRight,
}

/// The order in which an algorithm combines items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Along the binary tree over all items, as treefold promises.
    Tree,
    /// ((x0 + x1) + x2) + …
    LeftToRight,
    /// In any order, since the sum is exact and rounded once.
    Exact,
    /// In an order that depends on the number of ranks and the transport.
    None,
}

impl Order {
    /// The order's name in the rows of results.
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
    /// All algorithms, the baselines last.
    pub fn all() -> Vec<Self> {
        let trees = Algorithm::all().map(Way::Tree);
        let others = [Way::Exact, Way::Unordered, Way::LeftToRight];
        trees.chain(others).collect()
    }

    /// The algorithm's name in options and in the rows of results.
    pub fn name(self) -> &'static str {
        match self {
            Way::Tree(algorithm) => algorithm.name(),
            Way::Exact => "exact-sum",
            Way::Unordered => "unordered",
            Way::LeftToRight => "left-to-right",
        }
    }

    /// The order in which the algorithm combines items.
    pub fn order(self) -> Order {
        match self {
            Way::Tree(_) => Order::Tree,
            Way::Exact => Order::Exact,
            Way::Unordered => Order::None,
            Way::LeftToRight => Order::LeftToRight,
        }
    }

    /// Whether a rank may own several pieces of the items, or items in any order.
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

/// Parses and serialises values of a type by their names.
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
travels_by_name!(Way, "algorithm");

/// The number of items in a block of [`Sharing::BlockCyclic`].
const BLOCK_ITEMS: u64 = 64;

/// A distribution of items over ranks: named, in blocks, or random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Sharing {
    /// A distribution of crate `distribution`.
    Named(Scheme),
    /// Blocks of 64 items, dealt out round-robin.
    BlockCyclic,
    /// Random boundaries from the seed. A third of the ranks have no items.
    Random,
    /// Random pieces from the seed, in any order, about three per rank.
    Scattered,
}

impl Sharing {
    /// All distributions.
    pub fn all() -> Vec<Self> {
        [Self::named(), vec![Sharing::Random, Sharing::Scattered]].concat()
    }

    /// The distributions that follow a rule, contiguous ones first.
    pub fn named() -> Vec<Self> {
        [Self::contiguous(), vec![Sharing::BlockCyclic]].concat()
    }

    /// The distributions that follow a rule and give every rank contiguous items.
    pub fn contiguous() -> Vec<Self> {
        Scheme::ALL.iter().copied().map(Sharing::Named).collect()
    }

    /// Whether an algorithm can reduce items with this distribution.
    pub fn suits(self, way: Way) -> bool {
        let is_contiguous = matches!(self, Sharing::Named(_) | Sharing::Random);
        is_contiguous || way.takes_pieces()
    }

    /// Distributes N items over p ranks. Equal seeds, N and p give equal distributions.
    ///
    /// The last distribution is cached, since all ranks that are threads request it, one after another.
    pub fn distribute(self, items: u64, ranks: usize, seed: u64) -> Result<Ownership, Error> {
        type Question = (Sharing, u64, usize, u64);
        static LAST: Mutex<Option<(Question, Ownership)>> = Mutex::new(None);
        let question = (self, items, ranks, seed);
        // After a panic, the cache has a complete distribution or none.
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, ownership)) = &*last
            && *known == question
        {
            return Ok(ownership.clone());
        }
        let ownership = self.make(items, ranks, seed)?;
        *last = Some((question, ownership.clone()));
        Ok(ownership)
    }

    fn make(self, items: u64, ranks: usize, seed: u64) -> Result<Ownership, Error> {
        match self {
            Sharing::Named(scheme) => scheme.distribute(items, ranks).map(Ownership::from),
            Sharing::BlockCyclic => Ownership::block_cyclic(items, ranks, BLOCK_ITEMS),
            Sharing::Random => {
                let boundaries = random_boundaries(items, ranks, seed);
                Distribution::from_boundaries(boundaries).map(Ownership::from)
            }
            Sharing::Scattered => {
                let mut random = Random::new(seed ^ items ^ ranks as u64);
                // About three pieces per rank.
                let length_max = (2 * items).div_ceil(3 * ranks as u64);
                Ownership::from_extents(&scattered(&mut random, items, ranks, length_max))
            }
        }
        .map_err(|error| Error::option("--ranks", error))
    }
}

/// The pieces of each rank.
pub(crate) type Pieces = Vec<Vec<Range<u64>>>;

/// Pieces of limited length. Each goes to a random rank, at a random position among the rank's pieces.
pub fn scattered(random: &mut Random, items: u64, ranks: usize, length_max: u64) -> Pieces {
    let mut extents = vec![Vec::new(); ranks];
    let mut start = 0;
    while start < items {
        let end = items.min(start + 1 + random.below(length_max));
        let own = &mut extents[random.index(ranks)];
        let place = random.index(own.len() + 1);
        own.insert(place, start..end);
        start = end;
    }
    extents
}

/// Boundaries of which two in three are random. Each third boundary equals its neighbour, so that the rank between them has no items.
fn random_boundaries(items: u64, ranks: usize, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed ^ items ^ ranks as u64);
    let mut boundaries = vec![0];
    let mut last = 0;
    for index in 1..ranks {
        if index % 3 != 0 {
            last = random.below(items + 1);
        }
        boundaries.push(last);
    }
    boundaries.push(items);
    boundaries.sort_unstable();
    boundaries
}

impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Sharing::Named(scheme) => return scheme.fmt(f),
            Sharing::BlockCyclic => "block-cyclic",
            Sharing::Random => "random",
            Sharing::Scattered => "scattered",
        })
    }
}

travels_by_name!(Sharing, "distribution");

/// How ranks run: as threads or as processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Backend {
    /// Threads of this process.
    Threads,
    /// Processes under `mpirun`.
    Mpi,
}

impl Backend {
    /// The backend's name.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Threads => "threads",
            Backend::Mpi => "mpi",
        }
    }

    /// The name of the transport's own allreduce.
    pub fn allreduce(self) -> &'static str {
        match self {
            Backend::Threads => "allreduce",
            Backend::Mpi => "MPI_Allreduce",
        }
    }

    /// Whether the backend's ranks can run an algorithm.
    pub fn offers(self, way: Way) -> bool {
        self == Backend::Mpi || way != Way::Tree(Algorithm::MpiNative)
    }

    /// One backend by name, or `all`.
    pub fn parse(name: &str) -> Result<Vec<Self>, Error> {
        match name {
            "threads" => Ok(vec![Backend::Threads]),
            "mpi" => Ok(vec![Backend::Mpi]),
            "all" => Ok(vec![Backend::Threads, Backend::Mpi]),
            _ => {
                let reason = format!("unknown backend `{name}`; known: threads, mpi, all");
                Err(Error::option("--backend", reason))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Sharing;

    #[test]
    fn random_distributions_repeat_and_leave_ranks_empty() {
        for (items, ranks) in [(0, 1), (5, 17), (1000, 17), (504_850, 241)] {
            for sharing in [Sharing::Random, Sharing::Scattered] {
                let draw = |seed| sharing.distribute(items, ranks, seed).unwrap();
                assert_eq!(draw(1), draw(1));
                assert_eq!((draw(1).items(), draw(1).ranks()), (items, ranks));
                if ranks > 3 {
                    assert_ne!(draw(1), draw(2));
                }
                if ranks > 3 && sharing == Sharing::Random {
                    assert!((0..ranks).any(|rank| draw(1).count(rank) == 0));
                }
            }
        }
    }
}
