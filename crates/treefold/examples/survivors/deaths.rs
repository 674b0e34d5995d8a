//! Chooses which ranks are lost, and when, by a seed, so that a run can be repeated.

use std::fmt;

use treefold::World;

use crate::Outcome;

/// Where in an iteration a rank is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    BeforeEdges,
    BeforeSums,
    BeforeCopies,
    AfterCopies,
}

const PLACES: [Place; 4] = [
    Place::BeforeEdges,
    Place::BeforeSums,
    Place::BeforeCopies,
    Place::AfterCopies,
];

/// Ranks are lost in iterations below this number. The solver takes a few more iterations than that.
const ITERATIONS: u64 = 730;

#[derive(Clone, Copy, Debug)]
struct Death {
    iteration: usize,
    place: Place,
    /// The rank, modulo the number of ranks that are left by then.
    rank: u64,
}

/// The deaths, in the order of their iterations.
#[derive(Debug)]
pub(crate) struct Deaths {
    /// The number of ranks at the beginning.
    pub(crate) ranks: usize,
    deaths: Vec<Death>,
}

/// The error of a rank that leaves before the end.
#[derive(Debug)]
pub(crate) struct Left;

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this rank leaves")
    }
}

impl std::error::Error for Left {}

impl Deaths {
    /// Draws the deaths of `lost` ranks.
    pub(crate) fn new(ranks: usize, lost: usize, seed: u64) -> Outcome<Self> {
        if lost >= ranks {
            return Err(format!(
                "at least one of {ranks} ranks must be left, so {lost} cannot be lost"
            )
            .into());
        }
        let mut state = seed;
        let mut below = |bound: u64| {
            // SplitMix64 (Steele, Lea and Flood, 2014).
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            (z ^ z >> 31) % bound
        };
        let mut deaths = Vec::new();
        for _ in 0..lost {
            deaths.push(Death {
                iteration: usize::try_from(below(ITERATIONS))?,
                place: PLACES[usize::try_from(below(PLACES.len() as u64))?],
                rank: below(1 << 20),
            });
        }
        deaths.sort_by_key(|death| death.iteration);
        Ok(Self { ranks, deaths })
    }

    /// Ends this rank, if it is the next one to be lost.
    pub(crate) fn strike(&self, world: &World, iteration: usize, place: Place) -> Outcome<()> {
        let before = self.ranks - world.size();
        let Some(death) = self.deaths.get(before) else {
            return Ok(());
        };
        let is_time = iteration >= death.iteration && place == death.place;
        if is_time && world.rank() as u64 == death.rank % world.size() as u64 {
            die(before)
        } else {
            Ok(())
        }
    }
}

/// Ends this rank. A process kills itself by a signal, and cannot notify anyone. Threads alternately panic and return an error.
fn die(number: usize) -> Outcome<()> {
    #[cfg(feature = "mpi")]
    if treefold::mpi::is_launched() {
        let own = std::process::id().to_string();
        let mut kill = std::process::Command::new("kill");
        kill.args(["-KILL", &own]).status()?;
    }
    if number.is_multiple_of(2) {
        // Panics as `panic!` does, but without a message on standard error.
        std::panic::resume_unwind(Box::new("lost"));
    }
    Err(Left.into())
}
