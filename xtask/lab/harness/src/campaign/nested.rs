//! An operator that calls treefold on the world that runs it.

use std::cell::Cell;
use std::rc::Rc;

use reduce::{BuildError, Pending, Plan, RunError, Sum, World};

use super::element::set_call;

/// What the operator has at hand: the same on every rank.
pub(super) struct Hand(Rc<Things>);

struct Things {
    world: World,
    plan: Plan<f64, Sum>,
    run: Pending<f64>,
}

/// A call, and whether it was refused.
type Call = fn(&Things) -> bool;

const CALLS: &[Call] = &[
    |hand| is_refused_by_transport(&hand.world.agree(true)),
    |hand| is_refused_by_transport(&hand.world.measure_link()),
    |hand| is_refused_by_transport(&hand.world.fresh_tag()),
    |hand| is_not_built(&Plan::builder(&hand.world).local_items(1).build::<f64>()),
    |hand| is_refused(&hand.plan.allreduce(&[1.0])),
    |hand| is_refused(&hand.plan.scan(&[1.0], &mut [0.0])),
    |hand| is_refused(&hand.plan.start_allreduce(&[1.0])),
    |hand| is_refused(&hand.run.test()),
];

fn is_refused<R>(result: &Result<R, RunError>) -> bool {
    matches!(result, Err(RunError::Nested { .. }))
}

fn is_refused_by_transport<R>(result: &Result<R, comm::Error>) -> bool {
    matches!(result, Err(comm::Error::Nested { .. }))
}

fn is_not_built<R>(result: &Result<R, BuildError>) -> bool {
    matches!(result, Err(BuildError::Nested { .. }))
}

impl Hand {
    /// Collective.
    pub(super) fn new(world: &World) -> Self {
        let plan = || {
            let plan = Plan::builder(world).local_items(1).build::<f64>();
            plan.expect("no rank has a fault yet")
        };
        let run = plan().start_allreduce(&[1.0]);
        Self(Rc::new(Things {
            world: world.clone(),
            plan: plan(),
            run: run.expect("no rank has a fault yet"),
        }))
    }

    /// What `body` gives whose first combination makes the call that the seed draws, and whether the call was refused, if it was made.
    pub(super) fn within<R>(&self, seed: u64, body: impl FnOnce() -> R) -> (R, bool) {
        let was_refused = Rc::new(Cell::new(true));
        let call = CALLS[usize::try_from(seed % CALLS.len() as u64).expect("it is small")];
        let (hand, refused) = (Rc::clone(&self.0), Rc::clone(&was_refused));
        set_call(Some(Box::new(move || refused.set(call(&hand)))));
        let given = body();
        set_call(None);
        (given, was_refused.get())
    }

    /// Uses what an operator had at hand: a call that was refused has changed nothing. Collective.
    ///
    /// # Panics
    /// It has.
    pub(super) fn finish(self) {
        let hand = Rc::into_inner(self.0).expect("the operator's call is over");
        let ranks = hand.world.size() as f64;
        assert_eq!(hand.plan.allreduce(&[1.0]), Ok(ranks));
        assert_eq!(hand.run.wait(), Ok(ranks));
    }
}
