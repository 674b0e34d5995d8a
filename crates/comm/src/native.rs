//! A transport's own reductions.

use std::fmt;

use crate::error::Error;

/// `combine(left, right)` stores the combination of two slots, which have the same number of bytes, in `right`.
///
/// If it panics, other ranks may get `right` as it is then, and do not learn of the panic. So a slot must say itself whether it is valid.
pub type CombineSlots<'f> = dyn Fn(&[u8], &mut [u8]) + 'f;

/// A transport's own reductions: MPI's `MPI_Reduce` and `MPI_Allreduce`, with an operation of the caller or with `MPI_SUM`.
pub trait NativeReductions: fmt::Debug {
    /// Reduces slots of `slot_bytes` bytes, one by one, by an operation that is associative and not commutative. Every rank has the same
    /// number of slots. The result is stored in `slots`, on `root` or, with `None`, on all ranks; on other ranks `slots` is undefined
    /// afterwards.
    ///
    /// If `combine` panics, the other slots are combined all the same, and the panic resumes after the reduction.
    ///
    /// The wait is the transport's own: the silence limit does not bound it.
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

    /// Adds the ranks' integers element by element, by MPI's `MPI_SUM`; every rank has the same number of them, and no sum may overflow.
    /// The result is stored in `words`, on `root` or, with `None`, on all ranks; on other ranks `words` is undefined afterwards.
    ///
    /// The wait is the transport's own: the silence limit does not bound it.
    ///
    /// # Errors
    /// The root does not exist, or the transport failed.
    fn add_integers(&self, root: Option<usize>, words: &mut [i64]) -> Result<(), Error>;
}
