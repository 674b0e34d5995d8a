//! Families of MPI libraries. All libraries of a family have the same layout of handles and statuses.

#![expect(unsafe_code, reason = "reads and writes handles in a program's memory")]

use std::ffi::c_void;
use std::fmt;
use std::ptr;

use crate::constants::{ABI, Constants, MPICH, OPEN_MPI};
use crate::handle::{Handle, Passed};

/// Libraries with one layout of handles and statuses, and with the same constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Open MPI 4 and 5, and libraries derived from it. Handles are pointers; predefined handles are the addresses of the library's
    /// objects.
    OpenMpi,
    /// MPICH, Intel MPI, MVAPICH, Cray MPICH and others of the MPICH ABI Compatibility Initiative. Handles are `int`s.
    Mpich,
    /// Any library with the standard ABI (MPI 5.0, chapter 20). Handles are pointers; predefined handles are small integers.
    Abi,
}

impl fmt::Display for Family {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "the MPICH family",
            Self::Abi => "the MPI standard ABI",
        })
    }
}

impl Family {
    /// All families.
    pub const ALL: [Self; 3] = [Self::OpenMpi, Self::Mpich, Self::Abi];

    /// The family's constants.
    #[inline]
    pub fn constants(self) -> &'static Constants {
        match self {
            Self::OpenMpi => &OPEN_MPI,
            Self::Mpich => &MPICH,
            Self::Abi => &ABI,
        }
    }

    /// The size of a handle in memory, in bytes.
    #[inline]
    pub fn handle_bytes(self) -> usize {
        self.constants().handle_bytes
    }

    /// Makes a handle from a word that MPI or a program has passed.
    #[inline]
    pub fn take<H: Handle>(self, passed: Passed<H>) -> H {
        H::from_word(self.defined(passed.word()))
    }

    /// The defined bits of a handle's word that C has passed.
    #[inline]
    pub(crate) fn defined(self, word: usize) -> usize {
        match self {
            Self::Mpich => word & LOWER_HALF,
            Self::OpenMpi | Self::Abi => word,
        }
    }

    /// Reads the handle at `index` of an array that belongs to MPI or to a program.
    ///
    /// # Safety
    /// `handles` points to more than `index` handles of this family and type.
    #[inline]
    pub unsafe fn read<H: Handle>(self, handles: *const c_void, index: usize) -> H {
        let offset_bytes = index * self.handle_bytes();
        // SAFETY: the caller promises an array, and this element of it is at that offset.
        let place = unsafe { handles.byte_add(offset_bytes) };
        match self {
            Self::Mpich => {
                // SAFETY: in this family, a handle is an int (`mpi.h`: `typedef int MPI_Comm`), which the caller promises to be here.
                let bits = unsafe { place.cast::<u32>().read_unaligned() };
                H::from_word(bits as usize)
            }
            Self::OpenMpi | Self::Abi => {
                // SAFETY: in these families, a handle is a pointer (Open MPI's `mpi.h`; MPI 5.0, chapter 20), promised to be here.
                let word = unsafe { place.cast::<usize>().read_unaligned() };
                H::from_word(word)
            }
        }
    }

    /// Writes the handle at `index` of an array that belongs to MPI or to a program.
    ///
    /// # Safety
    /// `handles` points to room for more than `index` handles of this family and type.
    #[inline]
    pub unsafe fn write<H: Handle>(self, handles: *mut c_void, index: usize, handle: H) {
        let offset_bytes = index * self.handle_bytes();
        // SAFETY: the caller promises an array, and this element of it is at that offset.
        let place = unsafe { handles.byte_add(offset_bytes) };
        // The lower half comes first: processors are little-endian.
        let bytes = handle.word().to_le_bytes();
        // SAFETY: the caller promises room for a handle, whose bytes these are; `bytes` is a local array.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), place.cast(), self.handle_bytes()) };
    }
}

/// The bits of a word that belong to an `int`.
pub(crate) const LOWER_HALF: usize = u32::MAX as usize;

#[cfg(test)]
mod tests {
    use super::Family;
    use crate::handle::{Comm, Datatype, Handle, Passed};

    #[test]
    fn what_is_passed_is_masked_where_handles_are_ints() {
        let garbage = 0xdead_beef_4400_0000;
        let passed = Passed::<Comm>::from_word(garbage);
        assert_eq!(Family::Mpich.take(passed).word(), 0x4400_0000);
        for family in [Family::OpenMpi, Family::Abi] {
            assert_eq!(family.take(passed).word(), garbage);
        }
    }

    #[test]
    fn arrays_have_the_familys_stride() {
        let mut ints = [0x4400_0000_u32, 0x4400_0001, 7];
        // SAFETY: the array holds three ints.
        let second: Comm = unsafe { Family::Mpich.read(ints.as_ptr().cast(), 1) };
        assert_eq!(second.word(), 0x4400_0001);
        // SAFETY: as above.
        unsafe { Family::Mpich.write(ints.as_mut_ptr().cast(), 1, Comm::from_word(0x8400_0002)) };
        assert_eq!(ints, [0x4400_0000, 0x8400_0002, 7]);
        let mut pointers = [1_usize, 2, 3];
        for family in [Family::OpenMpi, Family::Abi] {
            // SAFETY: the array holds three words.
            let third: Datatype = unsafe { family.read(pointers.as_ptr().cast(), 2) };
            assert_eq!(third.word(), 3);
            // SAFETY: as above.
            unsafe { family.write(pointers.as_mut_ptr().cast(), 0, Datatype::from_word(9)) };
            assert_eq!(pointers, [9, 2, 3]);
            pointers[0] = 1;
        }
    }
}
