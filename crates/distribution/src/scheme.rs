//! Distributions by name, for programs that choose one at run time.

use std::fmt;
use std::str::FromStr;

use crate::cost::Cost;
use crate::distribution::Distribution;
use crate::error::Error;
use crate::optimized::ALPHA;

/// A rule that distributes any number of items over any number of ranks.
///
/// ```
/// use distribution::Scheme;
///
/// let scheme: Scheme = "power-of-two".parse()?;
/// assert_eq!(scheme, Scheme::PowerOfTwo);
/// assert_eq!(
///     "even".parse::<Scheme>().unwrap_err().to_string(),
///     "unknown distribution `even`; \
///      known: lower, upper, power-of-two, optimized, optimized-published, \
///      score-optimal, score-optimal-busy, path-optimal",
/// );
/// # Ok::<(), distribution::UnknownScheme>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scheme {
    /// [`Distribution::lower`].
    Lower,
    /// [`Distribution::upper`].
    Upper,
    /// [`Distribution::power_of_two`].
    PowerOfTwo,
    /// [`Distribution::optimized`] with α = [`ALPHA`].
    Optimized,
    /// [`Distribution::optimized_published`] with α = [`ALPHA`].
    OptimizedPublished,
    /// [`Distribution::score_optimal`] for [`Cost::THESIS`].
    ScoreOptimal,
    /// [`Distribution::score_optimal_busy`] for [`Cost::THESIS`].
    ScoreOptimalBusy,
    /// [`Distribution::path_optimal`] for [`Cost::THESIS`].
    PathOptimal,
}

impl Scheme {
    /// Every scheme, in the order in which lists and tables show them.
    pub const ALL: &'static [Self] = &[
        Self::Lower,
        Self::Upper,
        Self::PowerOfTwo,
        Self::Optimized,
        Self::OptimizedPublished,
        Self::ScoreOptimal,
        Self::ScoreOptimalBusy,
        Self::PathOptimal,
    ];

    /// The scheme's name, which [`Scheme::from_str`] parses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Upper => "upper",
            Self::PowerOfTwo => "power-of-two",
            Self::Optimized => "optimized",
            Self::OptimizedPublished => "optimized-published",
            Self::ScoreOptimal => "score-optimal",
            Self::ScoreOptimalBusy => "score-optimal-busy",
            Self::PathOptimal => "path-optimal",
        }
    }

    /// Distributes `items` over `ranks` by this rule.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0.
    pub fn distribute(self, items: u64, ranks: usize) -> Result<Distribution, Error> {
        match self {
            Self::Lower => Distribution::lower(items, ranks),
            Self::Upper => Distribution::upper(items, ranks),
            Self::PowerOfTwo => Distribution::power_of_two(items, ranks),
            Self::Optimized => Distribution::optimized(items, ranks, ALPHA),
            Self::OptimizedPublished => Distribution::optimized_published(items, ranks, ALPHA),
            Self::ScoreOptimal => Distribution::score_optimal(items, ranks, &Cost::THESIS),
            Self::ScoreOptimalBusy => Distribution::score_optimal_busy(items, ranks, &Cost::THESIS),
            Self::PathOptimal => Distribution::path_optimal(items, ranks, &Cost::THESIS),
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Scheme {
    type Err = UnknownScheme;

    fn from_str(name: &str) -> Result<Self, UnknownScheme> {
        let named = Self::ALL.iter().find(|scheme| scheme.name() == name);
        named
            .copied()
            .ok_or_else(|| UnknownScheme { name: name.into() })
    }
}

/// A name that no [`Scheme`] has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown distribution `{}`; known: {}", name.escape_debug(), known())]
pub struct UnknownScheme {
    /// The name that was given.
    pub name: String,
}

fn known() -> String {
    let names: Vec<&str> = Scheme::ALL.iter().map(|known| known.name()).collect();
    names.join(", ")
}
