//! Random programs over random worlds, with faults at random points, judged by the definition of the order.
//!
//! A [`Case`] is drawn from a seed: plans, and the collective calls that all ranks make on them. [`execute`] runs it on the ranks of
//! a world, and [`judge`] compares what every rank got with the recursive definition over all items. On threads, the same seed
//! also draws the order in which ranks run and messages arrive, so a seed replays a case exactly.

mod case;
mod element;
mod execute;
mod expected;
mod generate;
mod shrink;
mod slot;
mod state;
mod workers;

use std::panic;
use std::sync::Mutex;

use reduce::threads;

pub use case::{Action, Case, Fault, FaultKind, Kind, Mode, Outcome, Spec, Step};
pub use execute::execute;
pub use expected::judge;
pub use generate::generate;
pub use shrink::shrink;
pub use workers::{Campaign, Failure, Findings};

/// Runs a case on threads, one at a time in the order that its seed draws, and returns what is wrong with it, if anything is.
pub fn check_on_threads(case: &Case) -> Option<String> {
    let outcomes = Mutex::new(vec![Vec::new(); case.ranks]);
    let ended = threads::run_seeded(case.ranks, case.seed, |world| {
        execute(case, world, &|outcome| {
            let mut outcomes = outcomes.lock().expect("nothing panics while it is locked");
            outcomes[world.rank()].push(outcome);
        });
    });
    let may_panic = case
        .fault
        .is_some_and(|fault| fault.kind == FaultKind::Panic);
    if let Err(error) = ended
        && !may_panic
    {
        return Some(format!("the job failed: {error}"));
    }
    let outcomes = outcomes
        .into_inner()
        .expect("nothing panics while it is locked");
    judge(case, &outcomes)
}

/// Silences the messages of panics that a campaign causes on purpose.
pub fn silence_panics() {
    panic::set_hook(Box::new(|_| {}));
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use reduce::threads;

    use super::{
        Action, Case, FaultKind, Mode, Outcome, check_on_threads, execute, generate, judge, shrink,
    };
    use crate::Backend;

    /// What all ranks get, without a seeded order.
    fn outcomes(case: &Case) -> Vec<Vec<Outcome>> {
        threads::run(case.ranks, |world| {
            let outcomes = Mutex::new(Vec::new());
            execute(case, world, &|outcome| {
                outcomes.lock().unwrap().push(outcome)
            });
            outcomes.into_inner().unwrap()
        })
        .unwrap()
    }

    #[test]
    fn a_seed_makes_one_case() {
        for seed in 0..100 {
            let draw = || generate(seed, Backend::Threads, 5, FaultKind::ALL);
            assert_eq!(draw(), draw());
            assert!(draw().ranks <= 5);
        }
    }

    #[test]
    fn programs_without_faults_give_the_definition() {
        for seed in 0..200 {
            let case = generate(seed, Backend::Threads, 5, &[]);
            assert_eq!(check_on_threads(&case), None, "seed {seed}");
            assert_eq!(judge(&case, &outcomes(&case)), None, "seed {seed}");
        }
    }

    /// Any byte of any value, any error but a test's, and any missing step.
    #[test]
    fn the_judge_sees_what_is_wrong() {
        let mut values = 0;
        for seed in 0..60 {
            let case = generate(seed, Backend::Threads, 3, &[]);
            let right = outcomes(&case);
            for rank in 0..case.ranks {
                for step in 0..case.steps.len() {
                    let mut wrong = right.clone();
                    if let Outcome::Value(bytes) = &mut wrong[rank][step]
                        && let Some(byte) = bytes.last_mut()
                    {
                        *byte ^= 1;
                        values += 1;
                        assert!(judge(&case, &wrong).is_some(), "seed {seed}");
                    }
                    // A test may fail where its run is given up later.
                    if case.steps[step].action != Action::Test {
                        wrong[rank][step] = Outcome::Failed("anything".to_owned());
                        assert!(judge(&case, &wrong).is_some(), "seed {seed}");
                    }
                }
                let mut short = right.clone();
                short[rank].pop();
                assert!(judge(&case, &short).is_some(), "seed {seed}");
            }
        }
        assert!(values > 100);
    }

    #[test]
    fn a_failing_case_shrinks_to_what_matters() {
        let has_scan = |case: &Case| {
            let mut calls = case.steps.iter();
            calls.any(|step| {
                matches!(
                    step.action,
                    Action::Call(reduce::Operation::Scan, Mode::Split)
                )
            })
        };
        let cases = (0..1000).map(|seed| generate(seed, Backend::Threads, 3, FaultKind::ALL));
        let long = cases
            .filter(|case| has_scan(case) && case.steps.len() > 9)
            .take(10);
        for case in long {
            let small = shrink(&case, has_scan);
            assert!(small.steps.len() <= 2 && small.fault.is_none(), "{small:?}");
        }
    }
}
