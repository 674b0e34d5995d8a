//! Tests ranks that make different calls. Every rank that cannot get a result gets an error at once, and no rank gets a wrong value.

#![expect(clippy::float_cmp, reason = "sums of small integers are exact")]

use std::panic::{self, AssertUnwindSafe};
use std::thread;
use std::time::Duration;

use comm::Tag;
use distribution::Ownership;
use reduce::exact;
use reduce::operator::custom;
use reduce::{Algorithm, BuildError, Builder, Operation, Plan, RunError, Sum, World};

use super::Check;

/// Checks that run only under MPI. A mismatch may leave all ranks waiting, which ends a world of threads, but not a world of MPI processes.
#[allow(dead_code, reason = "on threads, each case runs in a world of its own")]
pub(crate) const MISMATCHES: [(&str, Check); 3] = [
    ("ranks in different operations", different_operations),
    ("a rank that skips an operation", skipped_operations),
    ("ranks that reduce different things", different_operands),
];

pub(crate) const CHECKS: [(&str, Check); 7] = [
    ("a plan that is spent on one rank", spent_on_one_rank),
    ("a run that one rank drops", dropped_on_one_rank),
    ("an operator that panics on one rank", panics_on_one_rank),
    (
        "an operator that panics on one rank, in the transport's own reductions",
        panics_in_native_reductions,
    ),
    ("a rank that runs ahead", runs_ahead),
    ("tags that run out", tags_run_out),
    ("an operator that communicates", nested),
];

/// Schedules of different kinds.
const FEW: [Algorithm; 5] = [
    Algorithm::Direct,
    Algorithm::Binomial,
    Algorithm::RecursiveDoubling,
    Algorithm::Ring,
    Algorithm::Dissemination,
];

/// All schedules, or those of [`FEW`] if there are more than five ranks.
pub(crate) fn algorithms(size: usize) -> impl Iterator<Item = Algorithm> {
    let scheduled = Algorithm::all().filter(|algorithm| algorithm.is_scheduled());
    scheduled.filter(move |algorithm| size <= 5 || FEW.contains(algorithm))
}

fn plan(world: &World, algorithm: Algorithm, width: usize) -> Plan<f64, Sum> {
    let builder = Plan::builder(world).local_items(1).width(width);
    builder.algorithm(algorithm).build().unwrap()
}

/// Runs an operation on a row that is filled with `number`. Returns the result, if this rank gets one.
fn run(
    plan: &Plan<f64, Sum>,
    operation: Operation,
    number: f64,
) -> Result<Option<Vec<f64>>, RunError> {
    let local = vec![number; plan.width()];
    let mut result = local.clone();
    let mut is_mine = true;
    match operation {
        Operation::Reduce => is_mine = plan.reduce_into(&local, &mut result)?,
        Operation::ReduceScatter => {
            result.truncate(plan.scattered_columns().len());
            plan.reduce_scatter(&local, &mut result)?;
        }
        Operation::Scan => plan.scan(&local, &mut result)?,
        Operation::Exscan => plan.exscan(&local, &mut result)?,
        Operation::Broadcast => plan.broadcast(&mut result)?,
        _ => plan.allreduce_into(&local, &mut result)?,
    }
    Ok(is_mine.then_some(result))
}

/// This rank's correct result if its operation does not depend on the last rank, which runs another operation. Otherwise, `None`.
fn without_the_last(world: &World, operation: Operation, number: f64) -> Option<Option<f64>> {
    let rank = f64::from(u32::try_from(world.rank()).unwrap());
    let is_last = world.rank() == world.size() - 1;
    match operation {
        Operation::Reduce if world.rank() > 0 => Some(None),
        Operation::Scan if !is_last => Some(Some(number * (rank + 1.0))),
        Operation::Exscan if !is_last => Some(Some(number * rank)),
        Operation::Broadcast if !is_last => Some(Some(number)),
        _ => None,
    }
}

/// Checks that this rank got an error, an empty result or the correct result.
#[track_caller]
fn assert_no_wrong_value(
    world: &World,
    operation: Operation,
    number: f64,
    outcome: &Result<Option<Vec<f64>>, RunError>,
) {
    let Ok(result) = outcome else { return };
    if result.as_ref().is_some_and(Vec::is_empty) {
        return;
    }
    let own = without_the_last(world, operation, number);
    let own = own.unwrap_or_else(|| panic!("{operation}: {result:?}"));
    match (own, result) {
        (None, None) => {}
        (Some(own), Some(row)) => assert!(row.iter().all(|&value| value == own), "{row:?}"),
        other => panic!("{operation}: {other:?}"),
    }
}

/// Checks that a new plan works.
#[track_caller]
fn assert_world_works(world: &World) {
    let plan = plan(world, Algorithm::Binomial, 1);
    let size = u32::try_from(world.size()).unwrap();
    assert_eq!(plan.allreduce(&[1.0]), Ok(f64::from(size)));
}

/// A case in which the last rank runs a different operation from the others, with the same algorithm and rows of the same width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OddOneOut {
    algorithm: Algorithm,
    width: usize,
    odd: Operation,
    others: Operation,
}

impl OddOneOut {
    /// The cases for these algorithms. If there are more than five ranks, the ranks other than the last always run an allreduce.
    pub(crate) fn all(
        size: usize,
        algorithms: impl Iterator<Item = Algorithm>,
    ) -> impl Iterator<Item = Self> {
        let algorithms: Vec<_> = algorithms.collect();
        let pairs = Operation::ALL.iter().flat_map(|&odd| {
            let others = Operation::ALL.iter().copied();
            let others = others.filter(move |&others| others != odd);
            others.map(move |others| (odd, others))
        });
        let pairs = pairs.filter(move |&(_, others)| size <= 5 || others == Operation::Allreduce);
        pairs.enumerate().flat_map(move |(turn, (odd, others))| {
            // Every algorithm runs every pair of operations. The width alternates.
            let algorithms = algorithms.clone().into_iter().zip(turn + size..);
            algorithms.map(move |(algorithm, turn)| Self {
                algorithm,
                width: [1, 700][turn % 2],
                odd,
                others,
            })
        })
    }

    /// Checks that every rank that cannot get a result gets an error that names a rank.
    pub(crate) fn check(self, world: &World) {
        let is_odd = world.rank() == world.size() - 1;
        let plan = plan(world, self.algorithm, self.width);
        let operation = if is_odd { self.odd } else { self.others };
        let first = run(&plan, operation, 10.0);
        assert_no_wrong_value(world, operation, 10.0, &first);
        if let Err(error) = &first {
            assert!(is_known(error), "{self:?}: {error}");
        }
        // A rank that does not depend on the odd rank may get the second run's result, or an error in the second run.
        match run(&plan, Operation::Allreduce, 10.0) {
            Ok(row) => {
                let total = 10.0 * f64::from(u32::try_from(world.size()).unwrap());
                assert_eq!(row, Some(vec![total; self.width]), "{self:?}");
            }
            Err(error) => assert!(is_known(&error), "{self:?}: {error}"),
        }
    }
}

/// Whether an error is one that different calls may cause. If all threads wait, the error is a deadlock. A rank may learn of the mismatch and
/// end; if another rank finds it missing before it receives the notice of the mismatch, that rank's error is `Left`.
fn is_known(error: &RunError) -> bool {
    matches!(
        error,
        RunError::Spent { .. }
            | RunError::Mismatched { .. }
            | RunError::RankFailed { .. }
            | RunError::Transport(comm::Error::Deadlock(_) | comm::Error::Left { .. })
    )
}

/// Runs the checks on one world, which must stay usable.
pub(crate) fn different_operations(world: &World) {
    if world.size() > 1 {
        // Each case may take a tenth of a second.
        OddOneOut::all(world.size(), FEW.into_iter()).for_each(|case| case.check(world));
    }
    assert_world_works(world);
}

/// The name of a call in errors, and a function that makes the call on a new plan. It returns whether this rank gets a result.
type Asked = (&'static str, fn(Builder) -> Result<bool, RunError>);

/// Groups of calls. In each case, rank 0 makes one call of a group, and all other ranks make another call of this group.
const ASKED: [&[Asked]; 5] = [
    &[
        ("(allreduce)", |builder| {
            tree(builder).allreduce(&[7.0]).map(|_| true)
        }),
        ("(allreduce of products)", |builder| {
            tree(builder).dot(&[3.0], &[5.0]).map(|_| true)
        }),
        ("(allreduce of squares for a norm)", |builder| {
            tree(builder).norm2(&[3.0]).map(|_| true)
        }),
    ],
    &[
        ("(reduce)", |builder| {
            tree(builder).reduce(&[7.0]).map(|sum| sum.is_some())
        }),
        ("(reduce of products)", |builder| {
            let sum = tree(builder).reduce_dot(&[3.0], &[5.0]);
            sum.map(|sum| sum.is_some())
        }),
    ],
    &[
        ("(allreduce)", |builder| {
            let plan = builder.build_exact::<exact::ProductSum<f64>>().unwrap();
            plan.dot(&[3.0], &[5.0]).map(|_| true)
        }),
        ("(allreduce of squares for a norm)", |builder| {
            let plan = builder.build_exact::<exact::ProductSum<f64>>().unwrap();
            plan.norm(&[3.0]).map(|_| true)
        }),
    ],
    &[
        ("(allreduce)", |builder| {
            let plan = builder.build_exact::<exact::ComplexProductSum<f64>>();
            plan.unwrap()
                .dot(&[[3.0, 1.0]], &[[5.0, 1.0]])
                .map(|_| true)
        }),
        ("(allreduce of conjugate products)", |builder| {
            let plan = builder.build_exact::<exact::ComplexProductSum<f64>>();
            let dot = plan.unwrap().conjugate_dot(&[[3.0, 1.0]], &[[5.0, 1.0]]);
            dot.map(|_| true)
        }),
    ],
    // In a scan, rank 0 depends on no rank.
    &[
        ("(scan)", |builder| {
            let (plan, rank) = summing(builder);
            plan.scan_items(&[1.0], &mut [0.0]).map(|()| rank > 0)
        }),
        ("(exscan)", |builder| {
            let (plan, rank) = summing(builder);
            plan.exscan_items(&[1.0], &mut [0.0]).map(|()| rank > 0)
        }),
    ],
];

fn tree(builder: Builder) -> Plan<f64, Sum> {
    builder.build().unwrap()
}

fn summing(builder: Builder) -> (exact::Plan<exact::Sum<f64>>, usize) {
    let plan = builder.build_exact().unwrap();
    let rank = plan.world().rank();
    (plan, rank)
}

/// A case in which rank 0 reduces something different from the other ranks, in the same operation.
#[derive(Clone, Copy)]
pub(crate) struct OddOperand {
    pub(crate) algorithm: Algorithm,
    odd: Asked,
    others: Asked,
}

impl OddOperand {
    pub(crate) fn all(algorithms: impl Iterator<Item = Algorithm>) -> impl Iterator<Item = Self> {
        algorithms.flat_map(|algorithm| {
            let asked = ASKED.into_iter().filter(move |asked| {
                let is_scan = asked[0].0 == "(scan)";
                algorithm.is_scheduled() || !is_scan
            });
            let pairs = asked.flat_map(|asked| {
                let all = asked.iter();
                let pair = move |&odd: &Asked| asked.iter().map(move |&others| (odd, others));
                all.flat_map(pair)
            });
            let pairs = pairs.filter(|(odd, others)| odd.0 != others.0);
            pairs.map(move |(odd, others)| Self {
                algorithm,
                odd,
                others,
            })
        })
    }

    /// Makes this rank's call, and returns the error. Checks that the call has no result, and that a mismatch's error names both calls.
    pub(crate) fn check(self, world: &World) -> Option<RunError> {
        let (_, call) = if world.rank() == 0 {
            self.odd
        } else {
            self.others
        };
        let builder = Plan::builder(world).local_items(1);
        let (odd, others) = (self.odd.0, self.others.0);
        let case = format!("{}, {odd} and {others}", self.algorithm);
        let error = match call(builder.algorithm(self.algorithm)) {
            Ok(has_result) => {
                assert!(!has_result, "{case}");
                return None;
            }
            Err(error) => error,
        };
        assert!(is_known(&error), "{case}: {error}");
        if matches!(error, RunError::Mismatched { .. }) {
            let text = error.to_string();
            assert!(
                text.contains(odd) && text.contains(others),
                "{case}: {text}"
            );
        }
        Some(error)
    }
}

/// Runs the checks on one world, which must stay usable.
pub(crate) fn different_operands(world: &World) {
    if world.size() > 1 {
        let has_native = world.transport().native_reductions().is_some();
        let native = has_native.then_some(Algorithm::MpiNative);
        for case in OddOperand::all(FEW.into_iter().chain(native)) {
            let is_native_reduce =
                !case.algorithm.is_scheduled() && case.odd.0.starts_with("(reduce");
            // In a native reduce, the library decides which ranks learn of a failure.
            let error = case.check(world);
            if !case.algorithm.is_scheduled() && !is_native_reduce {
                assert!(
                    matches!(error, Some(RunError::Mismatched { .. })),
                    "{error:?}"
                );
            }
        }
    }
    assert_world_works(world);
}

/// Rank 0 skips the reduce that the other ranks run. No rank gets an allreduce's result.
pub(crate) fn skipped_operation(world: &World, algorithm: Algorithm, width: usize) {
    let plan = Plan::builder(world)
        .local_items(1)
        .width(width)
        .root(world.size() - 1)
        .algorithm(algorithm)
        .build::<f64>()
        .unwrap();
    let calls: &[Operation] = match world.rank() {
        0 => &[Operation::Allreduce, Operation::Allreduce],
        _ => &[
            Operation::Reduce,
            Operation::Allreduce,
            Operation::Allreduce,
        ],
    };
    for &operation in calls {
        let outcome = run(&plan, operation, 1.0);
        let is_leaf = operation == Operation::Reduce && outcome == Ok(None);
        assert!(
            is_leaf || outcome.is_err(),
            "{algorithm}, width {width}, {operation}: {outcome:?}"
        );
    }
}

/// Runs the checks on one world, which must stay usable.
pub(crate) fn skipped_operations(world: &World) {
    if world.size() > 1 {
        for algorithm in algorithms(world.size()) {
            skipped_operation(world, algorithm, 1);
            skipped_operation(world, algorithm, 700);
        }
    }
    assert_world_works(world);
}

/// The root of a reduce passes a slice of the wrong length. The other ranks, which do not depend on the root, get the error in the next run.
fn spent_on_one_rank(world: &World) {
    let root = world.size() - 1;
    for algorithm in algorithms(world.size()) {
        let plan = Plan::builder(world)
            .local_items(1)
            .root(root)
            .algorithm(algorithm)
            .build::<f64>()
            .unwrap();
        let local: &[f64] = if world.rank() == root {
            &[1.0; 2]
        } else {
            &[1.0]
        };
        let first = plan.reduce(local);
        let second = plan.allreduce(&[1.0]);
        if world.rank() == root {
            assert!(
                matches!(first, Err(RunError::WrongLength { .. })),
                "{first:?}"
            );
            assert_eq!(second, Err(RunError::Spent { rank: root }));
        } else if first.is_ok() {
            assert!(
                matches!(second, Err(RunError::RankFailed { .. })),
                "{algorithm}: {second:?}"
            );
        } else {
            assert!(second.is_err());
        }
    }
    assert_world_works(world);
}

/// The last rank drops a run in flight, and builds a new plan at once. The other ranks wait for the run before they build the new plan.
fn dropped_on_one_rank(world: &World) {
    let (rank, last) = (world.rank(), world.size() - 1);
    for width in [1, 700] {
        for algorithm in algorithms(world.size()) {
            let plan = plan(world, algorithm, width);
            let local = vec![1.0; width];
            let pending = plan.start_allreduce_row(&local).unwrap();
            if rank == last {
                drop(pending);
            } else {
                // This rank may already have received all of the last rank's messages.
                match pending.wait() {
                    Ok(row) => assert_eq!(
                        row,
                        vec![f64::from(u32::try_from(last + 1).unwrap()); width]
                    ),
                    Err(error) => {
                        assert_eq!(error, RunError::RankFailed { rank: last }, "{algorithm}")
                    }
                }
            }
            assert_world_works(world);
            let again = run(&plan, Operation::Allreduce, 1.0);
            assert!(again.is_err(), "{algorithm}: {again:?}");
        }
    }
}

/// The operator panics on the last rank, which notifies the other ranks at once. Their errors name the last rank, and not a rank that has
/// only learned of the panic.
fn panics_on_one_rank(world: &World) {
    let (rank, last) = (world.rank(), world.size() - 1);
    for algorithm in algorithms(world.size()) {
        let operator = custom("sum but for one rank", move |left: f64, right: f64| {
            if rank == last {
                // Panics without a message of the panic hook.
                panic::resume_unwind(Box::new("on purpose"));
            }
            left + right
        });
        let plan = Plan::builder(world)
            .local_items(2)
            .algorithm(algorithm)
            .operator(operator)
            .build::<f64>()
            .unwrap();
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| plan.allreduce(&[1.0; 2])));
        if rank == last {
            assert!(outcome.is_err(), "{algorithm}");
            world.tell_abandoned();
        } else {
            let failed = RunError::RankFailed { rank: last };
            assert_eq!(outcome.unwrap(), Err(failed), "{algorithm}");
        }
    }
    assert_world_works(world);
}

/// In the transport's own reductions, any rank may combine any values. Even after a panic, no rank gets a wrong value or waits forever.
fn panics_in_native_reductions(world: &World) {
    if world.transport().native_reductions().is_none() {
        return;
    }
    let (rank, ranks) = (world.rank(), u32::try_from(world.size()).unwrap());
    let ranks_and_lengths =
        (0..world.size()).flat_map(|panicking| [(panicking, 1), (panicking, 2)]);
    for (panicking, local_items) in ranks_and_lengths {
        for width in [1, 3] {
            for operation in [Operation::Allreduce, Operation::Reduce] {
                let operator = custom("sum but for one rank", move |left: f64, right: f64| {
                    if rank == panicking {
                        panic::resume_unwind(Box::new("on purpose"));
                    }
                    left + right
                });
                let builder = Plan::builder(world).local_items(local_items).width(width);
                let builder = builder.algorithm(Algorithm::MpiNative).operator(operator);
                let plan = builder.build::<f64>().unwrap();
                let number = 10.0_f64.powi(i32::try_from(rank).unwrap());
                let local = vec![number; width * usize::try_from(local_items).unwrap()];
                let mut row = vec![0.0; width];
                let outcome = panic::catch_unwind(AssertUnwindSafe(|| match operation {
                    Operation::Reduce => plan.reduce_into(&local, &mut row),
                    _ => plan.allreduce_into(&local, &mut row).map(|()| true),
                }));
                let case = format!("{operation}, rank {panicking}, {local_items} items, {width}");
                match outcome {
                    Err(_) => assert_eq!(rank, panicking, "{case}"),
                    Ok(Ok(is_mine)) => {
                        assert!(rank != panicking || local_items == 1, "{case}");
                        let ones = (10_u64.pow(ranks) - 1) / 9;
                        let total = f64::from(u32::try_from(ones * local_items).unwrap());
                        assert!(!is_mine || row == vec![total; width], "{case}: {row:?}");
                        assert!(!is_mine || local_items == 1, "{case}: {row:?}");
                    }
                    Ok(Err(error)) => {
                        let failed = RunError::RankFailed { rank: panicking };
                        assert_eq!(error, failed, "{case}");
                    }
                }
                world.tell_abandoned();
            }
        }
    }
    assert_world_works(world);
}

/// A rank that waits for no other rank may be ahead of the others by more runs than tags can count. The results are still correct.
fn runs_ahead(world: &World) {
    const RUNS: u32 = 9000;
    let plan = plan(world, Algorithm::Direct, 1);
    if world.rank() == 1 {
        thread::sleep(Duration::from_millis(200));
    }
    for run in 0..RUNS {
        let total = plan.reduce(&[f64::from(run)]).unwrap();
        let size = u32::try_from(world.size()).unwrap();
        let expected = (world.rank() == 0).then_some(f64::from(size * run));
        assert_eq!(total, expected, "run {run}");
    }
    assert_world_works(world);
}

/// The ranks drop a run, and then build more plans than MPI has tags. If tags were reused, one of the plans would have the dropped run's tag.
fn tags_run_out(world: &World) {
    const TAGS: usize = 1 << 15;
    let ownership = Ownership::one_item_each(world.size()).unwrap();
    let build = || {
        let builder = Plan::builder(world).ownership(&ownership).agreed();
        builder.algorithm(Algorithm::Direct).build::<f64>().unwrap()
    };
    let first = build();
    let stale = first.start_allreduce(&[1e6]).unwrap();
    drop(stale);
    drop(first);
    let kept = build();
    let mut numbers: Vec<u64> = Vec::new();
    for count in 0..TAGS + 2 {
        let plan = build();
        if count + 3 >= TAGS {
            let total = plan.allreduce(&[1.0]);
            let size = u32::try_from(world.size()).unwrap();
            assert_eq!(total, Ok(f64::from(size)), "{count}");
        }
        if count % TAGS == 0 {
            numbers.push(world.fresh_tag().unwrap().number());
        }
    }
    assert!(numbers.iter().all(|&number| number > Tag::CONTROL.number()));
    let size = u32::try_from(world.size()).unwrap();
    assert_eq!(kept.allreduce(&[1.0]), Ok(f64::from(size)));
    assert_world_works(world);
}

/// An operator that makes a call on its own world gets an error from that call.
fn nested(world: &World) {
    let inner = plan(world, Algorithm::Binomial, 1);
    let (rank, size) = (world.rank(), world.size());
    let its_world = world.clone();
    let refused = move || {
        let built = Plan::builder(&its_world).local_items(1).build::<f64>();
        matches!(inner.allreduce(&[1.0]), Err(RunError::Nested { .. }))
            && matches!(built, Err(BuildError::Nested { .. }))
    };
    let add = custom(
        "add",
        move |left: f64, right: f64| {
            if refused() { left + right } else { f64::NAN }
        },
    );
    let outer = Plan::builder(world)
        .local_items(2)
        .operator(add)
        .build::<f64>()
        .unwrap();
    let own = f64::from(u32::try_from(rank).unwrap());
    let expected = f64::from(u32::try_from(size * (size - 1)).unwrap());
    if size > 1 {
        assert_eq!(outer.allreduce(&[own, own]), Ok(expected));
        let pending = outer.start_allreduce(&[own, own]).unwrap();
        assert_eq!(pending.wait(), Ok(expected));
    }
}
