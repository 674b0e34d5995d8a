//! Tests a rank that gives up while the ranks build a plan of several parts. The others learn of this in each part, and the ranks build the
//! next plan together.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use comm::threads::ThreadCommunicator;
use comm::{Communicator, Error, Request, RequestId, Tag, Traffic};
use reduce::exact::Sum;
use reduce::{BuildError, Plan, World};

/// A rank's end of a transport on which one receive fails, as if the peer were silent.
#[derive(Debug)]
struct Impatient {
    inner: ThreadCommunicator,
    /// The number of receives before the one that fails; `None` if no receive fails.
    patience: Rc<Cell<Option<u32>>>,
}

impl Communicator for Impatient {
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn start_send(
        &self,
        to: usize,
        tag: Tag,
        message: Vec<u8>,
        capacity_bytes: usize,
    ) -> Result<Request, Error> {
        self.inner.start_send(to, tag, message, capacity_bytes)
    }

    fn start_receive(&self, from: usize, tag: Tag, buffer: Vec<u8>) -> Result<Request, Error> {
        let left = self.patience.get();
        self.patience.set(left.and_then(|left| left.checked_sub(1)));
        if left == Some(0) {
            return Err(Error::Silent {
                rank: self.rank(),
                peers: from..from + 1,
                after: Duration::from_secs(1),
            });
        }
        self.inner.start_receive(from, tag, buffer)
    }

    fn test(&self, request: &Request) -> Result<bool, Error> {
        self.inner.test(request)
    }

    fn wait(&self, request: Request) -> Result<Vec<u8>, Error> {
        self.inner.wait(request)
    }

    fn wait_any(&self, requests: &[RequestId], timeout: Option<Duration>) -> Result<bool, Error> {
        self.inner.wait_any(requests, timeout)
    }

    fn cancel(&self, request: Request) {
        self.inner.cancel(request);
    }

    fn traffic(&self) -> Traffic {
        self.inner.traffic()
    }

    fn open(&self, tag: Tag) -> Result<(), Error> {
        self.inner.open(tag)
    }

    fn close(&self, tag: Tag) {
        self.inner.close(tag);
    }

    fn give_up(&self, tag: Tag) {
        self.inner.give_up(tag);
    }
}

/// Rank 1 gives up a part after it has sent its messages, so rank 0 completes that part, and continues with the next part.
#[test]
fn a_rank_that_gives_up_one_part_gives_up_the_others() {
    // Each of the two parts that communicate is an allreduce, in which rank 1 receives once.
    for part in 0..2 {
        let outcomes = comm::threads::run(2, |inner| {
            let rank = inner.rank();
            let patience = Rc::new(Cell::new(None));
            let world = World::new(Impatient {
                inner,
                patience: Rc::clone(&patience),
            });
            patience.set((rank == 1).then_some(part));
            let keyed = Plan::builder(&world).build_keyed::<Sum<f64>>(3);
            patience.set(None);
            let plan = Plan::builder(&world).local_items(1).build::<f64>();
            (keyed.err(), plan.unwrap().allreduce(&[1.0]).unwrap())
        });
        let [(late, first), (impatient, second)] = outcomes.unwrap().try_into().unwrap();
        assert_eq!((first, second), (2.0, 2.0), "part {part}");
        assert!(
            matches!(
                impatient,
                Some(BuildError::Transport(Error::Silent { rank: 1, .. }))
            ),
            "part {part}: {impatient:?}"
        );
        // If rank 1 gives up the last part that communicates, rank 0 has a plan, whose first run would fail.
        let is_told = matches!(
            late,
            Some(BuildError::Transport(Error::GivenUp { rank: 1, .. }))
        );
        assert!(
            is_told || part == 1 && late.is_none(),
            "part {part}: {late:?}"
        );
    }
}
