//! Tests worlds, plans and runs in flight that are stored in a struct and dropped in every order.

use distribution::Ownership;
use reduce::{BuildError, Pending, Plan, RunError, Sum, World, exact};

use super::Check;

/// A program's struct that owns its handles.
struct Solver {
    world: Option<World>,
    plan: Option<Plan<f64, Sum>>,
    in_flight: Option<Pending<f64>>,
}

impl Solver {
    fn new(world: &World) -> Self {
        Self {
            world: Some(world.clone()),
            plan: Some(Plan::builder(world).local_items(1).build().unwrap()),
            in_flight: None,
        }
    }

    fn start(mut self) -> Self {
        self.in_flight = Some(self.plan.as_ref().unwrap().start_allreduce(&[1.0]).unwrap());
        self
    }

    /// Drops one of the three members.
    fn drop_one(&mut self, which: usize) {
        match which {
            0 => self.world = None,
            1 => self.plan = None,
            _ => self.in_flight = None,
        }
    }
}

const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// Ranks drop their handles in different orders, some after they have tested the run. Later plans never receive the run's messages.
fn dropped_in_every_order(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    for (round, _) in ORDERS.iter().enumerate() {
        let mut solver = Box::new(Solver::new(world).start());
        if (rank + round).is_multiple_of(3) {
            let _ = solver.in_flight.as_ref().unwrap().test();
        }
        for which in ORDERS[(rank + round) % ORDERS.len()] {
            solver.drop_one(which);
        }
        let fresh = Plan::builder(world).local_items(1).build::<f64>().unwrap();
        assert_eq!(
            fresh.allreduce(&[1.0]).unwrap().to_bits(),
            (size as f64).to_bits()
        );
    }
}

/// A run outlives its plan and the other handles to its world.
fn a_run_outlives_its_plan(world: &World) {
    let Solver {
        world: clone,
        plan,
        in_flight,
    } = Solver::new(world).start();
    drop(plan);
    drop(clone);
    let total = in_flight.unwrap().wait().unwrap();
    assert_eq!(total.to_bits(), (world.size() as f64).to_bits());
}

/// If the slice that is passed to a wait has the wrong length, the wait returns an error, but the run has succeeded. The plan can run again.
fn a_slice_of_another_length_spends_nothing(world: &World) {
    let (rank, size) = (world.rank(), world.size() as f64);
    let plan = Plan::builder(world)
        .local_items(1)
        .width(3)
        .build::<f64>()
        .unwrap();
    for culprit in 0..world.size() {
        let pending = plan.start_allreduce_row(&[1.0; 3]).unwrap();
        let wrong = usize::from(rank == culprit);
        let mut row = vec![0.0; 3 - wrong];
        let outcome = pending.wait_into(&mut row);
        if rank == culprit {
            let (expected, given) = (3, 2);
            let refused = RunError::WrongResultLength {
                rank,
                expected,
                given,
            };
            assert_eq!(outcome, Err(refused));
        } else {
            assert_eq!(outcome, Ok(()));
        }
        let pending = plan.start_scan(&[1.0; 3]).unwrap();
        let mut row = vec![0.0; 3];
        let outcome = pending.wait_into(&mut row[wrong..]);
        assert_eq!(outcome.is_err(), rank == culprit);
        plan.allreduce_into(&[1.0; 3], &mut row).unwrap();
        assert_eq!(row, [size; 3]);
    }
}

/// A scalar call on a plan of rows fails at once on every rank that makes it. Ranks that depend on such a rank get an error, too.
fn a_scalar_call_on_rows(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let refused = |expected| RunError::WrongResultLength {
        rank,
        expected,
        given: 1,
    };
    let heard = |culprit: usize| RunError::RankFailed { rank: culprit };
    // One rank makes the wrong call or, if `culprit` is `size`, all ranks do.
    for culprit in 0..=size {
        let is_wrong = culprit == size || culprit == rank;
        for calls in 0..6 {
            let builder = || Plan::builder(world).width(3);
            let plan = builder().local_items(1).build::<f64>().unwrap();
            let exact = builder().build_exact::<exact::Sum<f64>>().unwrap();
            let (row, sums) = ([1.0; 3], [exact::Sum::of(&[1.0]); 3]);
            let wrong = || match calls {
                0 => plan.start_allreduce(&row).map(drop),
                1 => plan.start_reduce(&row).map(drop),
                2 => exact.start_allreduce(&sums[0]).map(drop),
                3 => exact.start_reduce(&sums[0]).map(drop),
                4 => exact.start_scan(&sums[0]).map(drop),
                _ => exact.start_exscan(&sums[0]).map(drop),
            };
            let right = || match calls {
                0 => plan.start_allreduce_row(&row)?.wait().map(drop),
                1 => plan.start_reduce_row(&row)?.wait().map(drop),
                2 => exact.start_allreduce_row(&sums)?.wait().map(drop),
                3 => exact.start_reduce_row(&sums)?.wait().map(drop),
                4 => exact.start_scan_row(&sums)?.wait().map(drop),
                _ => exact.start_exscan_row(&sums)?.wait().map(drop),
            };
            if is_wrong {
                assert_eq!(wrong(), Err(refused(3)), "{calls}");
                let spent = RunError::Spent { rank };
                assert_eq!(wrong(), Err(spent), "{calls}");
            } else {
                let outcome = right();
                // A rank that needs nothing from the culprit need not get the error in this run.
                let needs_it =
                    calls % 2 == 0 && (calls < 4 || culprit < rank) || calls == 5 && culprit < rank;
                let heard_or_well = [Ok(()), Err(heard(culprit))];
                assert!(heard_or_well.contains(&outcome), "{calls}: {outcome:?}");
                if needs_it {
                    assert_eq!(outcome, Err(heard(culprit)), "{calls}");
                }
            }
        }
    }
    let plan = Plan::builder(world).local_items(1).build::<f64>().unwrap();
    let total = plan.allreduce(&[1.0]).unwrap();
    assert_eq!(total.to_bits(), (size as f64).to_bits());
}

/// An agreed plan, whose parameters are known to all ranks, is built without messages.
fn agreed_plans_communicate_nothing(world: &World) {
    let before = world.traffic().messages;
    let rule = Ownership::one_item_each(world.size()).unwrap();
    let plan = Plan::builder(world)
        .ownership(&rule)
        .agreed()
        .build::<f64>()
        .unwrap();
    assert_eq!(world.traffic().messages, before);
    let total = plan.allreduce(&[1.0]).unwrap();
    assert_eq!(total.to_bits(), (world.size() as f64).to_bits());
    let refused = Plan::builder(world).local_items(1).agreed().build::<f64>();
    assert_eq!(refused.unwrap_err(), BuildError::NotARule);
}

pub(crate) const CHECKS: [(&str, Check); 5] = [
    ("dropped in every order", dropped_in_every_order),
    ("a run outlives its plan", a_run_outlives_its_plan),
    (
        "a slice of another length spends nothing",
        a_slice_of_another_length_spends_nothing,
    ),
    ("a scalar call on rows", a_scalar_call_on_rows),
    (
        "agreed plans communicate nothing",
        agreed_plans_communicate_nothing,
    ),
];
