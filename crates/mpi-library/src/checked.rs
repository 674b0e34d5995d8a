//! Checks whether a word can be a handle.

use crate::error::Error;
use crate::family::{Family, LOWER_HALF};
use crate::handle::Handle;
use crate::object;

impl Family {
    /// Makes a handle from a word that a program passes as a number: an `int`, sign-extended or not, or a pointer.
    ///
    /// Rejects handles of another family, which would crash MPI. An accepted word need not be a live handle.
    ///
    /// # Errors
    /// The word cannot be a handle of this type and family.
    pub fn checked<H: Handle>(self, word: usize) -> Result<H, Error> {
        let is_one = match self {
            Self::OpenMpi => object::is_place_of_object(word),
            Self::Mpich => {
                let is_int = word >> 31 == ALL_ONES >> 31 || word <= LOWER_HALF;
                is_int && (word >> MPICH_KIND_SHIFT) & MPICH_KIND_MASK == H::MPICH_KIND
            }
            Self::Abi => {
                let (first, count) = H::ABI_ROW;
                // Handles that are not predefined are the library's choice: addresses or numbers.
                (first..first + count).contains(&word) || word > ABI_LAST
            }
        };
        if is_one {
            Ok(H::from_word(self.defined(word)))
        } else {
            Err(Error::NotAHandle {
                noun: H::NOUN,
                word,
                family: self,
            })
        }
    }
}

const ALL_ONES: usize = usize::MAX;

/// In a handle of the MPICH family, the four bits from this bit on are the kind of object, as the predefined handles show.
const MPICH_KIND_SHIFT: u32 = 26;
const MPICH_KIND_MASK: usize = 0xf;

/// Predefined handles of the standard ABI have ten bits, and its constants at most twelve, so other handles are greater (MPI 5.0, chapter 20).
const ABI_LAST: usize = 0xfff;

#[cfg(test)]
mod tests {
    use super::Family;
    use crate::handle::{Comm, Handle};

    /// `MPI_COMM_WORLD`, its sign-extended copy, and words that are no handles.
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
