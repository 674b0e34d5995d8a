//! MPI's names for its objects, as words that cannot be mixed up.

use std::marker::PhantomData;

mod sealed {
    pub trait Sealed {}
}

/// A handle of the MPI library's: an `int`, or a pointer, which is never followed here.
///
/// It is a plain value. Callers of MPI's functions promise that it names a live object of the library.
pub trait Handle: Copy + Eq + sealed::Sealed {
    /// The object that it names, with its article, for messages.
    const NOUN: &'static str;

    /// Room for MPI to write a handle to. It is not a handle of any family.
    const UNSET: Self;

    /// In the MPICH family, bits 26 to 29 of a handle say what it is of.
    #[doc(hidden)]
    const MPICH_KIND: usize;

    /// In the standard ABI, predefined handles of one type are consecutive numbers: the first, and how many there are (MPI 5.0,
    /// chapter 20).
    #[doc(hidden)]
    const ABI_ROW: (usize, usize);

    /// The handle of this word: of an `int`, its bits without a sign.
    fn from_word(word: usize) -> Self;

    /// Its word.
    fn word(self) -> usize;
}

/// A handle as it arrives in a register, or on the stack, from MPI or from a program: in the MPICH family, its upper half is not defined.
/// [`Family::take`](crate::Family::take) makes a handle of it.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Passed<H> {
    word: usize,
    handle: PhantomData<H>,
}

impl<H: Handle> Passed<H> {
    /// A handle to return to C, from a function that stands in for one of MPI's.
    #[inline]
    pub fn back(handle: H) -> Self {
        Self::from_word(handle.word())
    }

    /// The word that arrived.
    #[inline]
    pub(crate) fn word(self) -> usize {
        self.word
    }

    #[inline]
    pub(crate) fn from_word(word: usize) -> Self {
        Self {
            word,
            handle: PhantomData,
        }
    }
}

/// A type for each of MPI's handles: its noun, its kind in the MPICH family, and its row in the standard ABI.
macro_rules! handles {
    ($($name:ident, $noun:literal, $kind:literal, $row:expr;)+) => {$(
        #[doc = concat!("`MPI_", stringify!($name), "`: the handle of ", $noun, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(usize);

        impl $name {
            /// Room for MPI to write a handle to; see [`Handle::UNSET`].
            pub const UNSET: Self = Self(0);

            pub(crate) const fn new(word: usize) -> Self {
                Self(word)
            }
        }

        impl sealed::Sealed for $name {}

        impl Handle for $name {
            const NOUN: &'static str = $noun;
            const UNSET: Self = Self(0);
            const MPICH_KIND: usize = $kind;
            const ABI_ROW: (usize, usize) = $row;

            #[inline]
            fn from_word(word: usize) -> Self {
                Self(word)
            }

            #[inline]
            fn word(self) -> usize {
                self.0
            }
        }
    )+};
}

handles! {
    Comm, "a communicator", 0x1, (0x100, 8);
    Group, "a group", 0x2, (0x108, 8);
    Datatype, "a datatype", 0x3, (0x200, 0x200);
    Errhandler, "an error handler", 0x5, (0x140, 8);
    Op, "an operator", 0x6, (0x20, 0x20);
    Info, "an info object", 0x7, (0x130, 8);
    Win, "a window", 0x8, (0x110, 8);
    Request, "a request", 0xb, (0x180, 8);
    Message, "a message", 0xb, (0x128, 8);
}
