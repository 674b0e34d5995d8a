//! A transport's own reductions.

use std::fmt;

use crate::error::Error;

/// `combine(left, right)` stores the combination of two slots, which have the same number of bytes, in `right`.
///
/// If `combine` panics, other ranks may get an unfinished `right` without learning of the panic. So a slot must record whether it is valid.
pub type CombineSlots<'f> = dyn Fn(&[u8], &mut [u8]) + 'f;

/// A transport's own reductions: MPI's `MPI_Reduce` and `MPI_Allreduce`, with an operation of the caller or with `MPI_SUM`.
pub trait NativeReductions: fmt::Debug {
    /// Reduces slots of `slot_bytes` bytes, each separately, with an operation that is associative but need not be commutative. Every rank
    /// has the same number of slots. The result is stored in `slots`, on `root` or, with `None`, on all ranks; on other ranks `slots` is
    /// undefined afterwards.
    ///
    /// If `combine` panics, the other slots are still combined, and the panic resumes after the reduction.
    ///
    /// The silence limit does not bound this call, since the transport itself waits.
    ///
    /// # Errors
    /// The root does not exist, or the transport failed.
    fn reduce_slots(
        &self,
        root: Option<usize>,
        slots: &mut [u8],
        slot_bytes: usize,
        combine: &CombineSlots<'_>,
    ) -> Result<(), Error>;

    /// Adds the ranks' integers element by element with `MPI_SUM`. Every rank has the same number of integers, and no sum may overflow.
    /// The result is stored in `words`, on `root` or, with `None`, on all ranks; on other ranks `words` is undefined afterwards.
    ///
    /// The silence limit does not bound this call, since the transport itself waits.
    ///
    /// # Errors
    /// The root does not exist, or the transport failed.
    fn add_integers(&self, root: Option<usize>, words: &mut [i64]) -> Result<(), Error>;
}
