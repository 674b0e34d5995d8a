//! What MPI libraries have in common: how they lay out handles.

#![expect(unsafe_code, reason = "handles in a program's memory")]

use std::ffi::c_void;
use std::fmt;
use std::ptr;

use crate::constants::{ABI, Constants, MPICH, OPEN_MPI};
use crate::error::Error;
use crate::handle::{Handle, Passed};
use crate::object;

/// Libraries with one layout of handles and statuses, and with the same constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Open MPI 4 and 5, and what is made of it. Handles are pointers; predefined ones are the addresses of the library's objects.
    OpenMpi,
    /// MPICH, Intel MPI, MVAPICH, Cray MPICH and others of the MPICH ABI Compatibility Initiative. Handles are `int`s.
    Mpich,
    /// Any library with the standard ABI (MPI 5.0, chapter 20). Handles are pointers; predefined ones are small integers.
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
    /// All of them.
    pub const ALL: [Self; 3] = [Self::OpenMpi, Self::Mpich, Self::Abi];

    /// Its constants.
    #[inline]
    pub fn constants(self) -> &'static Constants {
        match self {
            Self::OpenMpi => &OPEN_MPI,
            Self::Mpich => &MPICH,
            Self::Abi => &ABI,
        }
    }

    /// The bytes of a handle in memory: the distance between those of an array.
    #[inline]
    pub fn handle_bytes(self) -> usize {
        self.constants().handle_bytes
    }

    /// The handle that has come from MPI or from a program.
    #[inline]
    pub fn take<H: Handle>(self, passed: Passed<H>) -> H {
        H::from_word(self.defined(passed.word()))
    }

    /// What is defined of a handle's word that C has passed.
    #[inline]
    fn defined(self, word: usize) -> usize {
        match self {
            Self::Mpich => word & LOWER_HALF,
            Self::OpenMpi | Self::Abi => word,
        }
    }

    /// The handle at `index` of an array of MPI's or a program's, or the one that a pointer points to, if that is 0.
    ///
    /// # Safety
    /// `handles` points to more than `index` handles of this family, which are of this type.
    #[inline]
    pub unsafe fn read<H: Handle>(self, handles: *const c_void, index: usize) -> H {
        let offset_bytes = index * self.handle_bytes();
        // SAFETY: the caller promises an array, and so many bytes are before this element of it.
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

    /// Writes the handle at `index` of an array of MPI's or a program's.
    ///
    /// # Safety
    /// `handles` points to room for more than `index` handles of this family, which are of this type.
    #[inline]
    pub unsafe fn write<H: Handle>(self, handles: *mut c_void, index: usize, handle: H) {
        let offset_bytes = index * self.handle_bytes();
        // SAFETY: the caller promises an array, and so many bytes are before this element of it.
        let place = unsafe { handles.byte_add(offset_bytes) };
        // The lower half comes first: processors are little-endian.
        let bytes = handle.word().to_le_bytes();
        // SAFETY: the caller promises room for a handle, whose bytes these are; `bytes` is ours.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), place.cast(), self.handle_bytes()) };
    }

    /// The handle of a word that a program hands over as a number: an `int` with or without its sign, or a pointer.
    ///
    /// This finds what would otherwise crash: handles of another family. What it lets pass need not be a live handle.
    ///
    /// # Errors
    /// A handle of this type and family has no such word.
    pub fn checked<H: Handle>(self, word: usize) -> Result<H, Error> {
        let is_one = match self {
            Self::OpenMpi => object::is_place_of_object(word),
            Self::Mpich => {
                let is_int = word >> 31 == ALL_ONES >> 31 || word <= LOWER_HALF;
                is_int && (word >> MPICH_KIND_SHIFT) & MPICH_KIND_MASK == H::MPICH_KIND
            }
            Self::Abi => {
                let (first, count) = H::ABI_ROW;
                // Others are the library's own choice: addresses or numbers.
                (first..first + count).contains(&word) || word > ABI_LAST
            }
        };
        match is_one {
            true => Ok(H::from_word(self.defined(word))),
            false => Err(Error::NotAHandle {
                noun: H::NOUN,
                word,
                family: self,
            }),
        }
    }
}

const ALL_ONES: usize = usize::MAX;

/// An `int`'s bits.
const LOWER_HALF: usize = u32::MAX as usize;

/// Where the kind of object is in a handle of the MPICH family, which all its predefined handles show.
const MPICH_KIND_SHIFT: u32 = 26;
const MPICH_KIND_MASK: usize = 0xf;

/// Predefined handles of the standard ABI have ten bits, and its constants no more than twelve: so the first page is theirs (MPI 5.0, chapter 20).
const ABI_LAST: usize = 0xfff;

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

    /// World, its sign-extended duplicate, and what is none.
    #[test]
    fn handles_of_another_family_are_found() {
        let word_of = |family: Family, word| family.checked::<Comm>(word).map(Comm::word).ok();
        let object = Box::new(0_u64);
        let address = (&raw const *object).addr();
        let (mpich, abi) = (0x4400_0000, 0x101);
        assert_eq!(word_of(Family::OpenMpi, address), Some(address));
        assert_eq!(word_of(Family::Mpich, mpich), Some(mpich));
        assert_eq!(
            word_of(Family::Mpich, 0xffff_ffff_8400_0001),
            Some(0x8400_0001)
        );
        assert_eq!(word_of(Family::Abi, abi), Some(abi));
        for (family, word) in [
            (Family::OpenMpi, 0),
            (Family::OpenMpi, abi),
            (Family::OpenMpi, mpich),
            (Family::OpenMpi, mpich + 1),
            (Family::Mpich, address),
            (Family::Mpich, abi),
            (Family::Mpich, 0),
            // A datatype.
            (Family::Mpich, 0x4c00_010d),
            (Family::Abi, 0),
            (Family::Abi, 0x247),
        ] {
            assert_eq!(word_of(family, word), None, "{family}: {word:#x}");
        }
        let error = Family::OpenMpi.checked::<Comm>(mpich).expect_err("an int");
        assert_eq!(
            error.to_string(),
            "0x44000000 cannot be the handle of a communicator in Open MPI"
        );
    }
}
