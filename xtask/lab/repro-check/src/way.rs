//! The ways to a sum that are compared, how items are spread over ranks, and where ranks live.

use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use distribution::{Distribution, Ownership, Scheme};
use reduce::Algorithm;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::data::Random;

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
travels_by_name!(Way, "algorithm");

/// Items of a block of [`Sharing::BlockCyclic`].
const BLOCK_ITEMS: u64 = 64;

/// A way to spread items over ranks: a named one, one in blocks, or a random one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Sharing {
    /// One of crate `distribution`'s.
    Named(Scheme),
    /// Blocks of 64 items, dealt out in turn.
    BlockCyclic,
    /// Boundaries drawn from the seed, a third of the ranks empty.
    Random,
    /// Pieces drawn from the seed, in any order, about three a rank.
    Scattered,
}

impl Sharing {
    /// All of them.
    pub fn all() -> Vec<Self> {
        let mut all = Self::named();
        all.extend([Sharing::Random, Sharing::Scattered]);
        all
    }

    /// Those that follow a rule, contiguous ones first.
    pub fn named() -> Vec<Self> {
        let mut named = Self::contiguous();
        named.push(Sharing::BlockCyclic);
        named
    }

    /// Those that follow a rule, and give every rank items that lie together.
    pub fn contiguous() -> Vec<Self> {
        Scheme::ALL.iter().copied().map(Sharing::Named).collect()
    }

    /// Whether items that are distributed like this can be reduced in this way.
    pub fn suits(self, way: Way) -> bool {
        let is_contiguous = matches!(self, Sharing::Named(_) | Sharing::Random);
        is_contiguous || way.takes_pieces()
    }

    /// Spreads N items over p ranks; the same for the same seed, N and p.
    ///
    /// Ranks that are threads ask for the same, one after the other: the last answer is kept for them.
    pub fn distribute(self, items: u64, ranks: usize, seed: u64) -> Result<Ownership, Error> {
        type Question = (Sharing, u64, usize, u64);
        static LAST: Mutex<Option<(Question, Ownership)>> = Mutex::new(None);
        let question = (self, items, ranks, seed);
        // A panic while it is held leaves a whole answer, or none.
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, ownership)) if *known == question => Ok(ownership.clone()),
            _ => {
                let ownership = self.make(items, ranks, seed)?;
                *last = Some((question, ownership.clone()));
                Ok(ownership)
            }
        }
    }

    fn make(self, items: u64, ranks: usize, seed: u64) -> Result<Ownership, Error> {
        match self {
            Sharing::Named(scheme) => scheme.distribute(items, ranks).map(Ownership::from),
            Sharing::BlockCyclic => Ownership::block_cyclic(items, ranks, BLOCK_ITEMS),
            Sharing::Random => Distribution::from_boundaries(random_boundaries(items, ranks, seed))
                .map(Ownership::from),
            Sharing::Scattered => {
                let mut random = Random::new(seed ^ items ^ ranks as u64);
                // About three pieces a rank.
                let length_max = (2 * items).div_ceil(3 * ranks as u64);
                Ownership::from_extents(&scattered(&mut random, items, ranks, length_max))
            }
        }
        .map_err(|error| Error::option("--ranks", error))
    }
}

/// Pieces of up to so many items, each for any rank and at any place among its own.
pub fn scattered(
    random: &mut Random,
    items: u64,
    ranks: usize,
    length_max: u64,
) -> Vec<Vec<Range<u64>>> {
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

/// Two boundaries in three are drawn anywhere; the third is its neighbour, which leaves a rank empty.
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
        match self {
            Sharing::Named(scheme) => scheme.fmt(f),
            Sharing::BlockCyclic => f.pad("block-cyclic"),
            Sharing::Random => f.pad("random"),
            Sharing::Scattered => f.pad("scattered"),
        }
    }
}

travels_by_name!(Sharing, "distribution");

/// Where ranks live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Threads of this process.
    Threads,
    /// Processes under `mpirun`.
    Mpi,
}

impl Backend {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Threads => "threads",
            Backend::Mpi => "mpi",
        }
    }

    /// What its transport's own allreduce is called.
    pub fn allreduce(self) -> &'static str {
        match self {
            Backend::Threads => "allreduce",
            Backend::Mpi => "MPI_Allreduce",
        }
    }

    /// Whether its ranks can reduce in this way.
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
