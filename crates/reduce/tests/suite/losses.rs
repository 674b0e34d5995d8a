//! Tests the loss of ranks. The other ranks detect the loss, continue without the lost ranks, take over their items, and get the same bits.

use std::panic;

use distribution::{Distribution, Ownership, Rebalance, Source};
use reduce::operator::custom;
use reduce::{Algorithm, Plan, RunError, Sum, World};

use super::{Check, by_definition, mix, numbers};

/// How a rank is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "no backend uses all variants")]
pub(crate) enum Loss {
    Panic,
    Return,
    Kill,
}

impl Loss {
    /// Ends this rank, unless the loss is a [`Loss::Return`]. Then the function returns, and so must its caller.
    pub(crate) fn happen(self) {
        match self {
            // Skips the panic hook, which would print.
            Loss::Panic => panic::resume_unwind(Box::new("lost")),
            Loss::Return => {}
            Loss::Kill => {
                let own = std::process::id().to_string();
                let _ = std::process::Command::new("kill")
                    .args(["-KILL", &own])
                    .status();
                unreachable!("the process has killed itself");
            }
        }
    }
}

pub(crate) const CHECKS: [(&str, Check); 1] = [("ranks agree", ranks_agree)];

/// Whether a world can continue after the loss of a rank on this transport.
fn survives(world: &World) -> bool {
    match world.agree(true) {
        Ok(agreed) => {
            assert!(agreed);
            true
        }
        Err(comm::Error::NotSurvivable { rank, library, .. }) => {
            assert_eq!(rank, world.rank());
            assert!(!library.is_empty());
            let refused = world.shrink().map(|shrunk| shrunk.left);
            assert!(matches!(refused, Err(comm::Error::NotSurvivable { .. })));
            false
        }
        Err(error) => panic!("{error}"),
    }
}

fn ranks_agree(world: &World) {
    if !survives(world) {
        return;
    }
    for round in 0..20 {
        assert_eq!(world.agree(true), Ok(true));
        let only_one_says_no = world.rank() != round % world.size();
        assert_eq!(world.agree(only_one_says_no), Ok(false));
        assert_eq!(world.agree(false), Ok(false));
    }
}

/// Shrinks a world that has lost no rank. One rank calls `shrink`; then `agree` returns `false`, runs return errors, and all ranks shrink.
pub(crate) fn nobody_is_lost(world: &World) {
    if !survives(world) {
        return;
    }
    let (rank, size) = (world.rank(), world.size());
    let mut world = world.clone();
    for round in 0..3 {
        let plan = Plan::builder(&world).local_items(1).build::<f64>().unwrap();
        assert_eq!(plan.allreduce(&[1.0]), Ok(size as f64));
        // After this call, all ranks have the sum, so one of them may end this world.
        assert_eq!(world.agree(true), Ok(true));
        match (rank + round) % size {
            0 => {}
            1 => assert_eq!(world.agree(true), Ok(false)),
            _ => {
                let error = plan.allreduce(&[1.0]).unwrap_err();
                assert!(error.lost_ranks().is_some(), "{error}");
            }
        }
        let shrunk = world.shrink().unwrap();
        assert_eq!(shrunk.lost, []);
        assert!(shrunk.left.iter().copied().eq(0..size));
        let over = plan.allreduce(&[1.0]).unwrap_err();
        assert!(over.lost_ranks().is_some(), "{over}");
        let over = Plan::builder(&world).local_items(1).build::<f64>();
        assert!(over.unwrap_err().lost_ranks().is_some());
        world = shrunk.world;
        assert_eq!((world.rank(), world.size()), (rank, size));
    }
    let plan = Plan::builder(&world).local_items(1).build::<f64>().unwrap();
    assert_eq!(plan.allreduce(&[1.0]), Ok(size as f64));
}

/// When a rank is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    BeforePlan,
    BetweenRuns,
    InFlight,
    BeforeAgreement,
}

pub(crate) const MOMENTS: [Moment; 4] = [
    Moment::BeforePlan,
    Moment::BetweenRuns,
    Moment::InFlight,
    Moment::BeforeAgreement,
];

/// Reduces the ranks' items, unless a rank is lost. If `lost` is given, this rank is lost at that moment and in that manner.
fn sum_until_lost(
    world: &World,
    items: &[u64],
    ownership: &Ownership,
    algorithm: Algorithm,
    lost: Option<(Moment, Loss)>,
) -> Result<u64, Option<RunError>> {
    let at = |moment| {
        lost.filter(|(when, _)| *when == moment)
            .map(|(_, loss)| loss)
    };
    let own: Vec<u64> = ownership
        .extents(world.rank())
        .flatten()
        .map(|item| items[usize::try_from(item).unwrap()])
        .collect();
    if let Some(loss) = at(Moment::BeforePlan) {
        loss.happen();
        return Err(None);
    }
    let plan = Plan::builder(world)
        .ownership(ownership)
        .algorithm(algorithm)
        .operator(custom("mix", mix))
        .build::<u64>();
    let plan = plan.map_err(|error| {
        assert!(error.lost_ranks().is_some(), "{error}");
        None
    })?;
    let first = plan.allreduce(&own).map_err(Some)?;
    if let Some(loss) = at(Moment::BetweenRuns) {
        loss.happen();
        return Err(None);
    }
    let second = if algorithm.is_scheduled() {
        let pending = plan.start_allreduce(&own).map_err(Some)?;
        if let Some(loss) = at(Moment::InFlight) {
            loss.happen();
            return Err(None);
        }
        pending.wait()
    } else {
        if let Some(loss) = at(Moment::InFlight) {
            loss.happen();
            return Err(None);
        }
        plan.allreduce(&own)
    };
    let second = second.map_err(Some)?;
    assert_eq!(first, second);
    if let Some(loss) = at(Moment::BeforeAgreement) {
        loss.happen();
        return Err(None);
    }
    if world.agree(true).unwrap() {
        Ok(second)
    } else {
        Err(None)
    }
}

/// Loses one rank after the other until `keep` ranks are left. After each loss, the others shrink the world and take over the lost items.
pub(crate) fn lose_one_after_the_other(
    world: &World,
    keep: usize,
    algorithm: Algorithm,
    rule: Rebalance,
    moment: Moment,
    loss: Loss,
) {
    let items: Vec<u64> = numbers(97, 11).into_iter().map(f64::to_bits).collect();
    let expected = by_definition(&items, &custom("mix", mix)).unwrap();
    let mut world = world.clone();
    // For Algorithm 1, each rank's items must be contiguous.
    let (mut ownership, rule) = if algorithm.is_scheduled() {
        (Ownership::block_cyclic(97, world.size(), 5).unwrap(), rule)
    } else {
        (
            Distribution::upper(97, world.size()).unwrap().into(),
            Rebalance::EvenShares,
        )
    };
    while world.size() > keep {
        let (rank, size) = (world.rank(), world.size());
        let culprit = (size * 5 / 3) % size;
        let is_culprit = rank == culprit;
        let lost = is_culprit.then_some((moment, loss));
        let error = match sum_until_lost(&world, &items, &ownership, algorithm, lost) {
            Ok(_) => panic!("rank {culprit} was there"),
            Err(_) if is_culprit => return,
            Err(error) => error,
        };
        if let Some(error) = error {
            let known = error.lost_ranks().unwrap_or_else(|| panic!("{error}"));
            assert!(known.is_empty() || known == [culprit], "{error}");
        }
        let shrunk = world.shrink().unwrap();
        assert_eq!(shrunk.lost, [culprit], "{moment:?}");
        let left: Vec<_> = shrunk.left.iter().copied().map(Some).collect();
        let lost_items = ownership.lost(&shrunk.lost);
        let after = ownership.rebalanced(&left, rule).unwrap();
        let taken_over = after
            .moves
            .iter()
            .filter(|moved| moved.from == Source::Lost(culprit));
        assert!(
            taken_over
                .flat_map(|moved| moved.items.clone())
                .eq(lost_items.into_iter().flatten())
        );
        (world, ownership) = (shrunk.world, after.ownership);
        // In the new world, the ranks above the lost rank have numbers that are lower by one.
        assert_eq!(world.size(), size - 1);
        assert_eq!(world.rank(), rank - usize::from(rank > culprit));
    }
    let sum = sum_until_lost(&world, &items, &ownership, algorithm, None);
    assert_eq!(sum.unwrap(), expected, "{algorithm}, {rule:?}");
    // The new world can be used like any other world.
    let distribution = Distribution::upper(300, world.size()).unwrap();
    super::check(&world, &numbers(300, 3), Sum, &distribution, algorithm, 0);
}
