//! Proves a schedule correct for a given p: positions hold every piece that they send, every message is received, and no positions
//! wait for each other in a cycle.
//!
//! A piece that is sent must be made up of pieces that its sender held before the step, and both ends of a message must name the
//! same pieces. If no positions wait in a cycle, it follows by induction that every piece is the reduction of the positions that it
//! names, each once and in order. What a position wants must be made up of what it holds at the end.
//!
//! Waits are checked as if sends were synchronous: a step ends when all its sends and receives have met their other end. A
//! schedule that ends under this rule ends under any transport.

mod holdings;
mod violation;
mod waits;

use self::holdings::check_holdings;
pub use self::violation::Violation;
use self::waits::{check_waits, match_messages};
use crate::catalogue::Schedule;
use crate::vocabulary::{Piece, Step};

/// The costs of a schedule, counted from its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The number of steps of the position that has the most, not counting steps without messages.
    pub steps: usize,
    /// The number of rounds until the last position has ended, if each step takes one round once all its peers have arrived.
    pub rounds: usize,
    /// The number of messages.
    pub messages: usize,
}

/// Checks a schedule.
///
/// # Errors
///
/// The first violation that is found.
pub fn check(schedule: &Schedule) -> Result<Report, Violation> {
    let programs: Vec<Vec<Step>> = (0..schedule.ranks())
        .map(|position| schedule.steps(position).collect())
        .collect();
    check_programs(
        &programs,
        |position| schedule.held(position),
        |position| schedule.wanted(position),
    )
}

/// Checks the programs of all positions, given what each holds at the start and wants at the end.
///
/// # Errors
///
/// The first violation that is found.
pub fn check_programs(
    programs: &[Vec<Step>],
    held: impl Fn(usize) -> Vec<Piece>,
    wanted: impl Fn(usize) -> Vec<Piece>,
) -> Result<Report, Violation> {
    for (position, program) in programs.iter().enumerate() {
        check_holdings(
            position,
            program,
            programs.len(),
            held(position),
            &wanted(position),
        )?;
    }
    let streams = match_messages(programs)?;
    let rounds = check_waits(programs, &streams)?;
    let with_messages =
        |program: &Vec<Step>| program.iter().filter(|step| !step.is_empty()).count();
    let steps = programs.iter().map(with_messages);
    Ok(Report {
        steps: steps.max().unwrap_or(0),
        rounds,
        messages: streams
            .values()
            .map(|stream| stream.len())
            .fold(0, |sum, count| sum + count),
    })
}
