//! Runs random programs over random worlds, with faults at random points, and compares results with the definition of the order.
//!
//! A [`Case`] is drawn from a seed: plans, and the collective calls that all ranks make on them. `execute` runs it on the ranks of a world,
//! and `judge` compares what every rank got with the recursive definition over all items. On threads, the seed also determines the order in
//! which ranks run and messages arrive, so running a seed again repeats the case exactly.

mod case;
mod element;
mod environment;
mod exact;
mod execute;
mod generate;
mod judge;
mod keyed;
mod processes;
mod run;
mod slot;
mod started;
mod tree;
mod vocabulary;

use std::panic;
use std::sync::Mutex;

use reduce::{World, threads};

pub use case::{Case, Fault, FaultKind};
pub use generate::Generator;
pub use processes::{CaseReport, Cases, run_cases};
pub use run::{Campaign, FailedCase, Findings, Summary};
pub use vocabulary::{Action, Figure, Keyed, Kind, Mode, Spec, Step};

use execute::execute;
use judge::judge;

/// Runs a case on threads, and returns its failure, if any.
///
/// Ranks run one at a time, in an order drawn from the seed. With the fault `sleep`, they run freely; else all would wait for the sleeper.
fn check_on_threads(case: &Case) -> Option<String> {
    let outcomes = Mutex::new(vec![Vec::new(); case.ranks]);
    // A world that is split has one rank more than the case.
    let size = case.ranks + usize::from(case.seed.is_multiple_of(8));
    let body = |world: &World| {
        let Some(world) = world_of(case, world) else {
            return;
        };
        execute(case, &world, &mut |outcome| {
            let mut outcomes = outcomes.lock().expect(NO_PANIC);
            outcomes[world.rank()].push(outcome);
        });
    };
    let kind = case.fault.map(|fault| fault.kind);
    let ended = match kind {
        Some(FaultKind::Sleep) => threads::run(size, body),
        _ => threads::run_seeded(size, case.seed, body),
    };
    match ended {
        Err(error) if kind != Some(FaultKind::Panic) => Some(format!("the job failed: {error}")),
        _ => judge(case, &outcomes.into_inner().expect(NO_PANIC)),
    }
}

/// The world of a case: the job's, a duplicate, or a subset without one rank. Collective.
fn world_of(case: &Case, world: &World) -> Option<World> {
    let left_out = case.seed / 8 % world.size() as u64;
    let made = match case.seed % 8 {
        0 => threads::split(world, (world.rank() as u64 != left_out).then_some(0), 0),
        1 => threads::duplicate(world).map(Some),
        _ => Ok(Some(world.clone())),
    };
    made.expect("no rank has a fault yet")
}

const NO_PANIC: &str = "nothing panics while it is locked";

/// Suppresses the messages of panics that a campaign causes on purpose.
pub fn silence_panics() {
    panic::set_hook(Box::new(|_| {}));
}

#[cfg(test)]
mod tests {
    use reduce::environment::check;
    use reduce::{Algorithm, Operation, threads};

    use super::environment::{CAN_BE_SET, Environment, within};
    use super::judge::shrink;
    use super::slot::Outcome;
    use super::{Action, Case, FaultKind, Generator, Kind, Mode, check_on_threads, execute, judge};
    use crate::Backend;

    fn generate(seed: u64, ranks: usize, faults: &[FaultKind]) -> Case {
        let generator = Generator::new(Backend::Threads, Some(ranks), faults);
        generator.case(seed)
    }

    /// The results of all ranks if they run freely, without a seeded order.
    fn outcomes(case: &Case) -> Vec<Vec<Outcome>> {
        threads::run(case.ranks, |world| {
            let mut outcomes = Vec::new();
            execute(case, world, &mut |outcome| outcomes.push(outcome));
            outcomes
        })
        .unwrap()
    }

    #[test]
    fn a_seed_makes_one_case() {
        for seed in 0..100 {
            let draw = || generate(seed, 5, FaultKind::ALL);
            assert_eq!(draw(), draw());
            assert!(draw().ranks <= 5);
        }
    }

    /// Ranks read cases from their job as JSON.
    #[test]
    fn cases_survive_json() {
        let generator = Generator::new(Backend::Mpi, None, FaultKind::ALL);
        for seed in 0..300 {
            let case = generator.case(seed);
            let text = serde_json::to_string(&case).unwrap();
            assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), case);
        }
    }

    #[test]
    fn no_rank_is_missing_where_the_library_waits_without_limit() {
        let generator = Generator::new(Backend::Mpi, None, &[FaultKind::Leave, FaultKind::Kill]);
        let (mut natives, mut started) = (0, 0);
        for seed in 0..1000 {
            let case = generator.case(seed);
            let calls_mpi = case.plans.iter().any(|plan| plan.kind == Kind::Started);
            assert!(!calls_mpi || case.fault.is_none(), "seed {seed}");
            started += usize::from(calls_mpi);
            let mut algorithms = case.plans.iter().map(|plan| plan.algorithm);
            let has_native = algorithms.any(|one| one == Some(Algorithm::MpiNative));
            assert!(!has_native || case.fault.is_none(), "seed {seed}");
            natives += usize::from(has_native);
        }
        assert!(natives > 10 && started > 100, "{natives}, {started}");
    }

    #[test]
    fn an_environment_lasts_as_long_as_it_is_asked_for() {
        for (environment, is_default) in [
            (Environment::Default, true),
            (Environment::FlushToZero, !CAN_BE_SET),
            (Environment::RoundUp, !CAN_BE_SET),
        ] {
            let mut checked = Ok(());
            within(environment, &mut || {
                within(Environment::Default, &mut || check().unwrap());
                checked = check();
            });
            assert_eq!(checked.is_ok(), is_default, "{environment:?}");
            assert_eq!(check(), Ok(()));
        }
    }

    #[test]
    fn programs_without_faults_give_the_definition() {
        for seed in 0..200 {
            let case = generate(seed, 5, &[]);
            assert_eq!(check_on_threads(&case), None, "seed {seed}");
            assert_eq!(judge(&case, &outcomes(&case)), None, "seed {seed}");
        }
    }

    /// The judge detects any changed byte of a value, any error (except of `test`), endless tests and missing steps, even with harmless faults.
    #[test]
    fn the_judge_sees_what_is_wrong() {
        let (mut values, mut harmless) = (0, 0);
        for seed in 0..100 {
            let case = generate(seed, 3, &[FaultKind::ExtraTests, FaultKind::Sleep]);
            harmless += usize::from(case.fault.is_some());
            let right = outcomes(&case);
            assert_eq!(judge(&case, &right), None, "seed {seed}");
            let is_wrong = |rank: usize, step: usize, outcome: Outcome| {
                let mut wrong = right.clone();
                wrong[rank][step] = outcome;
                assert!(judge(&case, &wrong).is_some(), "seed {seed}");
            };
            for (rank, outcomes) in right.iter().enumerate() {
                for (step, outcome) in outcomes.iter().enumerate() {
                    if let Outcome::Value(bytes) = outcome
                        && let [others @ .., last] = &bytes[..]
                    {
                        values += 1;
                        is_wrong(rank, step, Outcome::Value([others, &[last ^ 1]].concat()));
                    }
                    // A test may fail if its run is cancelled later.
                    if case.steps[step].action != Action::Test {
                        is_wrong(rank, step, Outcome::Failed("anything".to_owned()));
                    }
                    is_wrong(rank, step, Outcome::Endless);
                }
                let mut short = right.clone();
                short[rank].pop();
                assert!(judge(&case, &short).is_some(), "seed {seed}");
            }
        }
        assert!(values > 100 && harmless > 25, "{values}, {harmless}");
    }

    #[test]
    fn a_failing_case_shrinks_to_what_matters() {
        let scan = Action::Call(Operation::Scan, Mode::Split);
        let has_scan = |case: &Case| case.steps.iter().any(|step| step.action == scan);
        let cases = (0..1000).map(|seed| generate(seed, 3, FaultKind::ALL));
        let long = cases.filter(|case| has_scan(case) && case.steps.len() > 9);
        for case in long.take(10) {
            let fails = |case: &Case| has_scan(case).then(String::new);
            let (small, _) = shrink(case, String::new(), fails);
            assert!(small.steps.len() <= 2 && small.fault.is_none(), "{small:?}");
        }
    }
}
