//! Exact sums by the transport's own reduction of integers: MPI's `MPI_Allreduce` with `MPI_SUM`, which a network may compute in hardware.
//!
//! After the integers of the sums come the upper halves of the sums' numbers of items, which show whether a number of items has wrapped. Six
//! more integers prove whose sums a result holds: the number of ranks that have taken part and the sum of their rank numbers; the same two
//! integers for the ranks that have failed; the sum s of the kinds of all ranks' calls and the sum q of the squares of these kinds. By
//! Cauchy-Schwarz, p q = s^2 only if all ranks are in the same kind of call.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::rc::Rc;

use exact_sum::{Accumulator, LimitError};

use super::words::of_words;
use crate::algorithm::Algorithm;
use crate::engines::terms::Terms;
use crate::engines::{Engine, Flight, not_offered};
use crate::error::RunError;
use crate::operation::Operation;
use crate::world::World;
use crate::world::conversation::Conversation;

const PROOF_INTEGERS: usize = 6;

/// The number of bits below the upper half of a number of items.
const UPPER: u32 = 32;

/// The engine for exact sums by the transport's own reductions.
pub(crate) struct NativeIntegers<A> {
    world: World,
    terms: Rc<Terms>,
    conversation: Rc<Conversation>,
    integers: RefCell<Vec<i64>>,
    accumulator: PhantomData<fn() -> A>,
}

impl<A: Accumulator> NativeIntegers<A> {
    pub(crate) fn new(world: &World, terms: Rc<Terms>, conversation: Rc<Conversation>) -> Self {
        Self {
            world: world.clone(),
            terms,
            conversation,
            integers: RefCell::default(),
            accumulator: PhantomData,
        }
    }

    /// The number of integers of a sum.
    const LENGTH: usize = size_of::<A::Integers>() / size_of::<i64>();

    /// Adds up the ranks' rows; `row` is `None` if this rank has failed. Returns whether this rank gets the result.
    fn add(
        &self,
        root: Option<usize>,
        row: Option<&[A::Words]>,
        result: &mut [A::Words],
    ) -> Result<bool, RunError> {
        let rank = self.world.rank();
        let kind = i64::from(self.conversation.tag().kind());
        let integers = &mut *self.integers.borrow_mut();
        integers.clear();
        match row {
            Some(row) => {
                let mut uppers = Vec::with_capacity(row.len());
                for words in row {
                    let sum: A = of_words(rank, words).expect("this rank's sums are valid");
                    integers.extend_from_slice(bytemuck::cast_slice(&[sum.integers()]));
                    uppers.push((sum.items() >> UPPER).cast_signed());
                }
                integers.extend(uppers);
                integers.extend([1, rank as i64, 0, 0]);
            }
            None => {
                integers.resize(self.terms.width * (Self::LENGTH + 1), 0);
                integers.extend([0, 0, 1, rank as i64]);
            }
        }
        integers.extend([kind, kind * kind]);
        let reductions = self.world.transport().native_reductions();
        let reductions = reductions.expect("the builder has checked for them");
        reductions.add_integers(root, integers)?;
        if root.is_some_and(|root| root != rank) {
            return Ok(false);
        }
        let (sums, proof) = integers.split_at(integers.len() - PROOF_INTEGERS);
        self.check(proof)?;
        let (size, kinds, squares) = (self.world.size() as i64, proof[4], proof[5]);
        if root.is_none() && i128::from(size) * i128::from(squares) != i128::from(kinds).pow(2) {
            return Err(self.mismatch(kind)?);
        }
        let (sums, uppers) = sums.split_at(self.terms.width * Self::LENGTH);
        let parts = sums.chunks_exact(Self::LENGTH).zip(uppers);
        for (words, (integers, upper)) in result.iter_mut().zip(parts) {
            let mut sum = A::default();
            let mut added = sum.add_integers(&bytemuck::cast_slice(integers)[0]);
            // Adding the lower halves cannot decrease the upper half, unless the number of items wraps.
            if (sum.items() >> UPPER).cast_signed() < *upper {
                added = Err(LimitError::Items);
            }
            added.map_err(|error| RunError::Limit { rank, error })?;
            *words = sum.words();
        }
        Ok(true)
    }

    /// Finds a rank that is in another call, after all ranks have detected that there is such a rank.
    #[cold]
    fn mismatch(&self, own: i64) -> Result<RunError, comm::Error> {
        let mut kinds = vec![0; self.world.size()];
        kinds[self.world.rank()] = own;
        let reductions = self.world.transport().native_reductions();
        let reductions = reductions.expect("the builder has checked for them");
        reductions.add_integers(None, &mut kinds)?;
        let other = (0..).zip(kinds).find(|&(_, kind)| kind != own);
        let (from, kind) = other.expect("kinds differ");
        let kind = u8::try_from(kind).unwrap_or(u8::MAX);
        Ok(self.conversation.mismatched(from, kind))
    }

    /// Checks that all ranks have taken part, each once, and that none has failed.
    fn check(&self, proof: &[i64]) -> Result<(), RunError> {
        let (rank, size) = (self.world.rank(), self.world.size() as i64);
        let every_rank_once = (size, size * (size - 1) / 2);
        match *proof {
            [ranks, numbers, failed_ranks, failed_numbers, ..]
                if (ranks + failed_ranks, numbers + failed_numbers) == every_rank_once =>
            {
                match failed_ranks {
                    0 => Ok(()),
                    1 => Err(RunError::RankFailed {
                        rank: usize::try_from(failed_numbers).unwrap_or(usize::MAX),
                    }),
                    _ => Err(RunError::RanksFailed {
                        count: failed_ranks.unsigned_abs(),
                    }),
                }
            }
            _ => Err(RunError::Torn { rank }),
        }
    }
}

impl<A: Accumulator> Engine for NativeIntegers<A> {
    fn run(
        &self,
        operation: Operation,
        rows: Result<&[u8], RunError>,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        let root = match operation {
            Operation::Allreduce => None,
            Operation::Reduce => Some(self.terms.root),
            _ => return Err(not_offered(&self.world, &self.terms)),
        };
        let row = rows.as_ref().ok().copied().map(bytemuck::cast_slice);
        let result = if row.is_some() {
            bytemuck::cast_slice_mut(result)
        } else {
            &mut []
        };
        let outcome = self.add(root, row, result);
        // This rank's own failure takes precedence over another rank's failure.
        rows.and(outcome)
    }

    fn start(
        &self,
        _operation: Operation,
        _rows: Option<&[u8]>,
    ) -> Result<Rc<dyn Flight>, RunError> {
        Err(not_offered(&self.world, &self.terms))
    }

    fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        let is_offered = matches!(operation, Operation::Reduce | Operation::Allreduce);
        is_offered.then_some(self.terms.choice.algorithm)
    }
}
