//! Rings between all ranks of a node, in an MPI-3 shared-memory window.

#![expect(unsafe_code, reason = "MPI is a C library, and hands out memory")]

use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};
use std::slice;

use mpi_library::Win;

use crate::mpi::calls::collectives::Agreed;
use crate::mpi::calls::communicator::RawCommunicator;
use crate::mpi::calls::failure::{Failure, check};
use crate::mpi::calls::library::mpi;
use crate::ring::{DataLine, LINE_BYTES, Line, Ring, Size};

/// MPI's handle of a window that is locked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawWindow {
    handle: Win,
}

/// Rings from every rank of a node to every rank. Each ring is in its reader's part of the memory.
///
/// The memory exists until [`lifetime`](crate::mpi::channels::lifetime) frees the window, after the communicator that owns this value is
/// dropped or when MPI is finalised. So callers check that MPI is not finalised before they use the rings.
#[derive(Debug)]
pub(crate) struct Window {
    handle: Win,
    rings: Size,
    /// The address of each rank's part, which has a ring for each rank.
    parts: Vec<NonNull<u8>>,
}

/// The size of a ring on a node of `size` ranks. All rings together take 5 MiB for 8 ranks, 9 MiB for 32, and 54 MB for 256.
fn rings_of(size: usize) -> Size {
    let (slots, slot_lines, data_lines) = match size {
        0..=8 => (32, 8, 1024),
        9..=32 => (16, 1, 128),
        _ => (4, 1, 8),
    };
    Size {
        slots,
        slot_lines,
        data_lines,
    }
}

/// The size of a ring in bytes.
fn bytes_of(ring: Size) -> usize {
    (ring.control_lines() + ring.data_lines) * LINE_BYTES
}

/// The size in bytes of a rank's part on a node of `size` ranks, with room to align it.
fn part_bytes(size: usize) -> usize {
    size * bytes_of(rings_of(size)) + LINE_BYTES
}

impl Window {
    /// Allocates rings for the ranks of a communicator, which share a node. Collective; `None` on all ranks if this fails on any rank.
    pub(crate) fn allocate(node: &RawCommunicator) -> Result<Option<Self>, Failure> {
        let (size, rank) = (node.size()?, node.rank()?);
        let mut window = Self::of_length(node, size).ok();
        let is_ready = window
            .as_mut()
            .is_some_and(|window| window.fill(size, rank).is_some());
        // This call also makes every rank wait until all rings are ready.
        let all = node.allreduce_u64(is_ready.into(), Agreed::Least)?;
        Ok(window.filter(|_| all == 1))
    }

    /// Allocates shared memory for the rings of `size` ranks.
    fn of_length(node: &RawCommunicator, size: usize) -> Result<Self, Failure> {
        let mut own = ptr::null_mut::<c_void>();
        let mut handle = Win::UNSET;
        let info = mpi().handles.MPI_INFO_NULL;
        // SAFETY: the communicator is live; MPI writes an address to `own` and a handle to `handle`.
        let code = unsafe {
            mpi().MPI_Win_allocate_shared(
                isize::try_from(part_bytes(size)).expect("rings take some MiB"),
                1,
                info,
                node.handle(),
                (&raw mut own).cast(),
                &raw mut handle,
            )
        };
        check("MPI_Win_allocate_shared", code)?;
        let window = Self {
            handle,
            rings: rings_of(size),
            parts: Vec::new(),
        };
        let errors_return = mpi().handles.MPI_ERRORS_RETURN;
        // SAFETY: the window is live, the error handler is predefined.
        let code = unsafe { mpi().MPI_Win_set_errhandler(window.handle, errors_return) };
        check("MPI_Win_set_errhandler", code).map(|()| window)
    }

    /// Finds the parts and clears the rings that this rank reads; `None` if a part is missing.
    fn fill(&mut self, size: usize, rank: usize) -> Option<()> {
        let no_check = mpi().constants.MPI_MODE_NOCHECK;
        // SAFETY: the window is live. The lock begins an epoch, within which the window's memory may be used (MPI 4.1, 12.5.4).
        let code = unsafe { mpi().MPI_Win_lock_all(no_check, self.handle) };
        check("MPI_Win_lock_all", code).ok()?;
        for owner in 0..size {
            self.parts.push(self.part(owner, size)?);
        }
        for writer in 0..size {
            self.ring(writer, rank).clear();
        }
        // SAFETY: the window is live and locked.
        let code = unsafe { mpi().MPI_Win_sync(self.handle) };
        check("MPI_Win_sync", code).ok()
    }

    /// MPI's handle of the window.
    pub(crate) fn raw(&self) -> RawWindow {
        RawWindow {
            handle: self.handle,
        }
    }

    /// The address of a rank's part in this process; `None` if the part is too short.
    fn part(&self, owner: usize, size: usize) -> Option<NonNull<u8>> {
        let owner = c_int::try_from(owner).ok()?;
        let (mut length_bytes, mut unit) = (0, 0);
        let mut base = ptr::null_mut::<c_void>();
        // SAFETY: the window was made by MPI_Win_allocate_shared and is live; the other pointers have room for one value each.
        let code = unsafe {
            mpi().MPI_Win_shared_query(
                self.handle,
                owner,
                &raw mut length_bytes,
                &raw mut unit,
                (&raw mut base).cast(),
            )
        };
        check("MPI_Win_shared_query", code).ok()?;
        let has_room = usize::try_from(length_bytes).ok()? >= part_bytes(size);
        // MPI aligns memory only for numbers. All processes skip the same number of bytes, since the memory's offset in a page is the same.
        let skipped_bytes = base.cast::<u8>().align_offset(LINE_BYTES);
        let first = NonNull::new(base.cast::<u8>().wrapping_add(skipped_bytes));
        first.filter(|_| has_room && skipped_bytes < LINE_BYTES)
    }

    /// The ring that carries one rank's messages to another, by their ranks on the node.
    #[inline]
    pub(crate) fn ring(&self, writer: usize, reader: usize) -> Ring<'_> {
        assert!(writer < self.parts.len());
        let Size { data_lines, .. } = self.rings;
        let control_lines = self.rings.control_lines();
        // SAFETY: the part has room for a ring from each rank, as `part` has checked.
        let control = unsafe { self.parts[reader].add(writer * bytes_of(self.rings)) };
        // SAFETY: the data follow the control lines.
        let data = unsafe { control.add(control_lines * LINE_BYTES) };
        let (control, data) = (control.cast::<Line>(), data.cast::<DataLine>());
        // SAFETY: the part has these lines, which live as long as the window. They are aligned, since the part is aligned and a ring
        // consists of whole lines. They are atomic integers: any bits are valid, and other processes may write them.
        let control = unsafe { slice::from_raw_parts(control.as_ptr(), control_lines) };
        // SAFETY: as above. The lines of data consist of cells, since the process that owns a line may write to it.
        let data = unsafe { slice::from_raw_parts(data.as_ptr(), data_lines) };
        Ring::in_memory(self.rings, control, data)
    }

    /// The length of the longest message that the rings carry.
    pub(crate) fn longest_bytes(&self) -> usize {
        self.rings.longest_bytes()
    }
}

impl RawWindow {
    /// Frees the window. Collective. Nothing may use its memory afterwards.
    pub(crate) fn free(mut self) -> Result<(), Failure> {
        // SAFETY: the window is live and locked.
        let code = unsafe { mpi().MPI_Win_unlock_all(self.handle) };
        check("MPI_Win_unlock_all", code)?;
        // SAFETY: the window is ours and live; by this function's contract nothing uses it or its memory afterwards.
        let code = unsafe { mpi().MPI_Win_free(&raw mut self.handle) };
        check("MPI_Win_free", code)
    }
}
