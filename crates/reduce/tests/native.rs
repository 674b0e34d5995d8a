//! Tests `mpi-native` on transports whose own reductions leave ranks out, count a rank twice or swap ranks. Each run fails with an error.

use std::time::Duration;

use comm::{CombineSlots, Communicator, Error, NativeReductions, Request, RequestId, Tag, Traffic};
use distribution::Ownership;
use reduce::exact::Sum as ExactSum;
use reduce::{Algorithm, Plan, RunError, Sum, World};

const RANKS: usize = 3;

/// Which ranks' values a reduction combines, from left to right.
#[derive(Clone, Debug)]
struct Combining(Vec<usize>);

/// The transport of rank 0. All three ranks have the same values, so this rank knows the values of all ranks. Slots have the headers
/// that `reduce::engines::native` writes.
#[derive(Debug)]
struct Faulty(Combining);

impl Communicator for Faulty {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        RANKS
    }

    fn start_send(&self, _: usize, _: Tag, _: Vec<u8>, _: usize) -> Result<Request, Error> {
        unreachable!("an agreed plan sends nothing")
    }

    fn start_receive(&self, _: usize, _: Tag, _: Vec<u8>) -> Result<Request, Error> {
        unreachable!("an agreed plan receives nothing")
    }

    fn test(&self, _: &Request) -> Result<bool, Error> {
        unreachable!("there are no requests")
    }

    fn wait(&self, _: Request) -> Result<Vec<u8>, Error> {
        unreachable!("there are no requests")
    }

    fn wait_any(&self, _: &[RequestId], _: Option<Duration>) -> Result<bool, Error> {
        unreachable!("there are no requests")
    }

    fn cancel(&self, _: Request) {}

    fn traffic(&self) -> Traffic {
        Traffic::default()
    }

    fn native_reductions(&self) -> Option<&dyn NativeReductions> {
        Some(&self.0)
    }
}

impl NativeReductions for Combining {
    fn reduce_slots(
        &self,
        _: Option<usize>,
        slots: &mut [u8],
        slot_bytes: usize,
        combine: &CombineSlots<'_>,
    ) -> Result<(), Error> {
        for slot in slots.chunks_exact_mut(slot_bytes) {
            let of_rank = |rank: usize| {
                let mut slot = slot.to_vec();
                let rank = rank as u64;
                slot[8..24].copy_from_slice(bytemuck::bytes_of(&[rank, rank + 1]));
                slot
            };
            let mut whole = of_rank(self.0[0]);
            for &rank in &self.0[1..] {
                let mut right = of_rank(rank);
                combine(&whole, &mut right);
                whole = right;
            }
            slot.copy_from_slice(&whole);
        }
        Ok(())
    }

    fn add_integers(&self, _: Option<usize>, words: &mut [i64]) -> Result<(), Error> {
        // After the sum come the number of ranks that have taken part, and the sum of their rank numbers. The last words are the same on all ranks.
        let (sum, proof) = words.split_at_mut(words.len() - 6);
        let ranks = i64::try_from(self.0.len()).expect("a few");
        let same = sum.iter_mut().chain(&mut proof[4..]);
        same.for_each(|word| *word *= ranks);
        let numbers = self.0.iter().fold(0, |sum, rank| sum + rank);
        proof[0] = ranks;
        proof[1] = i64::try_from(numbers).expect("a few");
        Ok(())
    }
}

#[test]
fn a_result_proves_that_it_covers_all_ranks() {
    let cases: [(&[usize], bool); 8] = [
        (&[0, 1, 2], true),
        (&[0], false),
        (&[2], false),
        (&[0, 1], false),
        (&[1, 2], false),
        (&[0, 2], false),
        (&[0, 1, 1, 2], false),
        (&[0, 1, 2, 3], false),
    ];
    for (ranks, is_right) in cases {
        let world = World::new(Faulty(Combining(ranks.to_vec())));
        let builder = || {
            let builder = Plan::builder(&world).agreed();
            builder.algorithm(Algorithm::MpiNative)
        };
        let one_each = Ownership::one_item_each(RANKS).unwrap();
        for width in [1, 3] {
            let builder = builder().ownership(&one_each).width(width).operator(Sum);
            let plan = builder.build::<f64>().unwrap();
            let mut row = vec![0.0; width];
            let outcome = plan.allreduce_into(&vec![5.0; width], &mut row);
            let outcome = outcome.map(|()| row.iter().map(|value| value.to_bits()).collect());
            let expected = if is_right {
                Ok(vec![15.0_f64.to_bits(); width])
            } else {
                Err(RunError::Torn { rank: 0 })
            };
            assert_eq!(outcome, expected, "{ranks:?}, width {width}");
        }
        let exact = builder().build_exact::<ExactSum<f64>>().unwrap();
        let expected = if is_right {
            Ok(15.0_f64.to_bits())
        } else {
            Err(RunError::Torn { rank: 0 })
        };
        let outcome = exact.sum(&[5.0]).map(f64::to_bits);
        assert_eq!(outcome, expected, "{ranks:?}, exact");
    }
}

#[test]
fn a_swap_of_ranks_is_no_result() {
    let world = World::new(Faulty(Combining(vec![1, 0, 2])));
    let one_each = Ownership::one_item_each(RANKS).unwrap();
    let builder = Plan::builder(&world).ownership(&one_each).agreed();
    let plan = builder.algorithm(Algorithm::MpiNative).build::<f64>();
    assert_eq!(
        plan.unwrap().allreduce(&[5.0]),
        Err(RunError::Torn { rank: 0 })
    );
}
