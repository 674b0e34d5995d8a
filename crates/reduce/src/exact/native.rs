//! Exact sums by the transport's own sum of integers: MPI's `MPI_Allreduce` with `MPI_SUM`, which a network may carry out by itself.
//!
//! Two words follow those of the sums: how many ranks have failed, and the sum of their numbers.

use std::cell::RefCell;
use std::rc::Rc;

use bytemuck::Pod;

use crate::algorithm::Algorithm;
use crate::engine::{Engine, Flight, Operation, not_offered};
use crate::error::RunError;
use crate::terms::Terms;
use crate::world::World;

const FAILURE_WORDS: usize = 2;

/// The engine for words that are added, by the transport's own reductions.
pub(crate) struct NativeIntegers {
    world: World,
    terms: Rc<Terms>,
    words: RefCell<Vec<i64>>,
}

impl NativeIntegers {
    pub(crate) fn new(world: &World, terms: Rc<Terms>) -> Self {
        Self {
            world: world.clone(),
            terms,
            words: RefCell::default(),
        }
    }

    /// Adds up the ranks' rows; without one, this rank has failed.
    fn add<W: Pod>(
        &self,
        root: Option<usize>,
        row: Option<&[W]>,
        result: &mut [W],
    ) -> Result<bool, RunError> {
        let rank = self.world.rank();
        let words = &mut *self.words.borrow_mut();
        words.clear();
        match row {
            Some(row) => {
                words.extend_from_slice(bytemuck::cast_slice(row));
                words.extend([0; FAILURE_WORDS]);
            }
            None => {
                let row_words = self.terms.width * (size_of::<W>() / size_of::<i64>());
                words.resize(row_words, 0);
                words.extend([1, rank as i64]);
            }
        }
        let reductions = self.world.transport().native_reductions();
        let reductions = reductions.expect("the builder has asked for them");
        reductions.add_integers(root, words)?;
        if root.is_some_and(|root| root != rank) {
            return Ok(false);
        }
        let (sums, failures) = words.split_at(words.len() - FAILURE_WORDS);
        match *failures {
            [0, _] => {
                // A rank that has failed may have no room for the result.
                if row.is_some() {
                    result.copy_from_slice(bytemuck::cast_slice(sums));
                }
                Ok(true)
            }
            [1, failed] => Err(RunError::RankFailed {
                rank: usize::try_from(failed).unwrap_or(usize::MAX),
            }),
            _ => Err(RunError::RanksFailed {
                count: failures[0].unsigned_abs(),
            }),
        }
    }
}

impl<W: Pod> Engine<W> for NativeIntegers {
    fn run(
        &self,
        operation: Operation,
        rows: Result<&[W], RunError>,
        result: &mut [W],
    ) -> Result<bool, RunError> {
        let root = match operation {
            Operation::Allreduce => None,
            Operation::Reduce => Some(self.terms.root),
            _ => return Err(not_offered(&self.world, &self.terms)),
        };
        let outcome = self.add(root, rows.as_ref().ok().copied(), result);
        // This rank's own failure takes precedence over what it heard.
        rows.and(outcome)
    }

    fn start(
        &self,
        _operation: Operation,
        _rows: Option<&[W]>,
    ) -> Result<Rc<dyn Flight<W>>, RunError> {
        Err(not_offered(&self.world, &self.terms))
    }

    fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        let is_offered = matches!(operation, Operation::Reduce | Operation::Allreduce);
        is_offered.then_some(self.terms.choice.algorithm)
    }
}
