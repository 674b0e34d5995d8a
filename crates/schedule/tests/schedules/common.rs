//! Helpers that several tests use: schedules with parameters, and formulas for numbers of rounds.

use schedule::{Algorithm, Collective, Parameters, Report, Schedule, Step, check};

pub(crate) fn schedule(
    algorithm: Algorithm,
    collective: Collective,
    ranks: usize,
    parameters: Parameters,
) -> Schedule {
    let schedule = Schedule::new(algorithm, collective, ranks).unwrap();
    schedule.with(parameters).unwrap()
}

/// The costs of a schedule in which the checker finds no fault.
#[track_caller]
pub(crate) fn checked(
    algorithm: Algorithm,
    collective: Collective,
    ranks: usize,
    parameters: Parameters,
) -> Report {
    check(&schedule(algorithm, collective, ranks, parameters)).unwrap_or_else(|violation| {
        panic!("{algorithm}, {collective:?}, p = {ranks}, {parameters:?}: {violation}")
    })
}

pub(crate) fn with_blocks(blocks: usize) -> Parameters {
    Parameters {
        blocks,
        ..Parameters::default()
    }
}

pub(crate) fn with_ports(ports: usize) -> Parameters {
    Parameters {
        ports: Some(ports),
        ..Parameters::default()
    }
}

/// The steps of all positions.
pub(crate) fn programs(schedule: &Schedule) -> Vec<Vec<Step>> {
    (0..schedule.ranks())
        .map(|position| schedule.steps(position).collect())
        .collect()
}

/// ceil(log2 p).
pub(crate) fn log2_up(ranks: usize) -> usize {
    ranks.next_power_of_two().ilog2() as usize
}

/// ceil(log_(n+1) p).
pub(crate) fn dissemination_rounds(ports: usize, ranks: usize) -> usize {
    let (mut rounds, mut reached) = (0, 1);
    while reached < ranks {
        (rounds, reached) = (rounds + 1, reached * (ports + 1));
    }
    rounds
}
