//! Lists of names and numbers, as they are typed after an option.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use distribution::{Distribution, Ownership, Scheme};
use reduce::Algorithm;
use serde::{Deserialize, Serialize};

use crate::error::Error;

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

    /// Whether an algorithm can reduce items that are spread so.
    pub fn suits(self, algorithm: Algorithm) -> bool {
        let is_contiguous = matches!(self, Sharing::Named(_) | Sharing::Random);
        is_contiguous || algorithm.is_scheduled()
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
            Sharing::Scattered => Ownership::from_extents(&random_extents(items, ranks, seed)),
        }
        .map_err(|error| Error::option("--ranks", error))
    }
}

/// About three pieces a rank, each for any rank and at any place among its own.
fn random_extents(items: u64, ranks: usize, seed: u64) -> Vec<Vec<Range<u64>>> {
    let mut random = benches::Random::new(seed ^ items ^ ranks as u64);
    let mut below = |bound: usize| -> usize {
        usize::try_from(random.below(bound as u64)).expect("it is below a usize")
    };
    let mut extents = vec![Vec::new(); ranks];
    let mut start = 0;
    while start < items {
        let length_max = (2 * items).div_ceil(3 * ranks as u64);
        let length_max = usize::try_from(length_max).unwrap_or(usize::MAX);
        let end = items.min(start + 1 + below(length_max) as u64);
        let own = &mut extents[below(ranks)];
        let place = below(own.len() + 1);
        own.insert(place, start..end);
        start = end;
    }
    extents
}

/// Two boundaries in three are drawn anywhere; the third is its neighbour, which leaves a rank empty.
fn random_boundaries(items: u64, ranks: usize, seed: u64) -> Vec<u64> {
    let mut random = benches::Random::new(seed ^ items ^ ranks as u64);
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

impl From<Sharing> for String {
    fn from(sharing: Sharing) -> String {
        sharing.to_string()
    }
}

impl TryFrom<String> for Sharing {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse()
    }
}

impl FromStr for Sharing {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = Sharing::all();
        let known = || {
            all.iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        };
        all.iter()
            .copied()
            .find(|sharing| sharing.to_string() == name)
            .ok_or_else(|| format!("unknown distribution `{name}`; known: {}", known()))
    }
}

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

    /// Whether its ranks can run an algorithm.
    pub fn offers(self, algorithm: Algorithm) -> bool {
        self == Backend::Mpi || algorithm != Algorithm::MpiNative
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

/// Names between commas; `all` stands for all of them.
pub(crate) fn names<T: Copy + PartialEq>(
    option: &'static str,
    typed: &str,
    all: &[T],
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, Error> {
    let mut chosen = Vec::new();
    for name in typed.split(',').map(str::trim) {
        if name == "all" {
            chosen.extend(all);
        } else {
            let one = parse(name).map_err(|reason| Error::option(option, reason + ", all"))?;
            chosen.push(one);
        }
    }
    let mut distinct = Vec::new();
    for choice in chosen {
        if !distinct.contains(&choice) {
            distinct.push(choice);
        }
    }
    Ok(distinct)
}

/// Distributions by name.
pub fn distributions(typed: &str) -> Result<Vec<Sharing>, Error> {
    names("--distribution", typed, &Sharing::all(), str::parse)
}

/// Algorithms by name.
pub fn algorithms(typed: &str) -> Result<Vec<Algorithm>, Error> {
    let parse = |name: &str| {
        name.parse()
            .map_err(|error: reduce::UnknownAlgorithm| error.to_string())
    };
    names("--algorithm", typed, &Algorithm::ALL, parse)
}

/// The most ranks of one run. Beyond twice as many threads this process would run out of memory maps, and abort.
const RANKS_MAX: usize = 8192;

/// Numbers of ranks: `1,17,33`, or `1..=241:16` for every sixteenth from 1 to 241.
pub fn rank_counts(typed: &str) -> Result<Vec<usize>, Error> {
    let wrong = |reason: String| Error::option("--ranks", reason);
    let number = |word: &str| {
        let word = word.trim();
        match word.parse::<usize>() {
            Ok(0) => Err(wrong(
                "a communicator needs at least one rank, not 0".to_owned(),
            )),
            Ok(count) if count > RANKS_MAX => {
                Err(wrong(format!("{count} is more than {RANKS_MAX} ranks")))
            }
            Ok(count) => Ok(count),
            Err(_) => Err(wrong(format!("`{word}` is not a number of ranks"))),
        }
    };
    let mut counts = Vec::new();
    for part in typed.split(',') {
        let Some((first, rest)) = part.split_once("..=") else {
            counts.push(number(part)?);
            continue;
        };
        let (last, step) = rest.split_once(':').unwrap_or((rest, "1"));
        let (first, last, step) = (number(first)?, number(last)?, number(step)?);
        if first > last {
            return Err(wrong(format!("`{part}` is empty")));
        }
        counts.extend((first..=last).step_by(step));
    }
    counts.sort_unstable();
    counts.dedup();
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::{Sharing, algorithms, distributions, rank_counts};

    #[test]
    fn ranks_are_lists_and_ranges() {
        let thesis: Vec<usize> = (1..=241).step_by(16).collect();
        assert_eq!(rank_counts("1..=241:16").unwrap(), thesis);
        assert_eq!(rank_counts("33, 1,17,1").unwrap(), [1, 17, 33]);
        assert_eq!(rank_counts("2..=4,9").unwrap(), [2, 3, 4, 9]);
        for wrong in [
            "0",
            "",
            "1,,2",
            "five",
            "4..=2",
            "1..=9:0",
            "-1",
            "1..9",
            "8193",
            "1..=18446744073709551615",
        ] {
            let error = rank_counts(wrong).unwrap_err().to_string();
            assert!(error.starts_with("--ranks: "), "{error}");
        }
    }

    #[test]
    fn unknown_names_are_told_the_known_ones() {
        let error = distributions("lower,even").unwrap_err().to_string();
        assert!(
            error.contains("`even`") && error.contains("power-of-two, optimized"),
            "{error}"
        );
        assert!(error.contains("random, scattered, all"), "{error}");
        let error = algorithms("reproblas").unwrap_err().to_string();
        assert!(
            error.contains("`reproblas`") && error.contains("algorithm1-unbuffered"),
            "{error}"
        );
        assert_eq!(distributions("all,lower").unwrap(), Sharing::all());
    }

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
