//! Reductions that a transport has of its own.

use std::fmt;

use crate::error::Error;

/// `combine(left, right)` leaves the combination of two slots in `right`.
///
/// If it panics, what it has left in `right` may reach other ranks, which do not learn of the panic. So a slot must itself say what it
/// holds.
pub type CombineSlots<'f> = dyn Fn(&[u8], &mut [u8]) + 'f;

/// A transport's own reductions: MPI's `MPI_Reduce` and `MPI_Allreduce`, with an operation of the caller's or with `MPI_SUM`.
pub trait NativeReductions: fmt::Debug {
    /// Reduces `slots` one by one, by an operation that is associative and not commutative. Every rank has the same number of slots.
    /// The result is left in `slots`, on `root` or on all ranks; on the others they are undefined afterwards.
    ///
    /// If `combine` panics, the other slots are combined all the same, and the panic resumes when the reduction is over.
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

    /// Adds the ranks' integers element by element; every rank has the same number, and no sum may overflow. The result is left in
    /// `words`, on `root` or on all ranks; on the others they are undefined afterwards. This is MPI's own `MPI_SUM` of `MPI_INT64_T`.
    ///
    /// The wait is the transport's own: the silence limit does not bound it.
    ///
    /// # Errors
    /// The root does not exist, or the transport failed.
    fn add_integers(&self, root: Option<usize>, words: &mut [i64]) -> Result<(), Error>;
}
