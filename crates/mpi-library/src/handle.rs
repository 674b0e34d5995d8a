//! Handles of MPI's objects: words, with a type for each kind of object.

use std::marker::PhantomData;

mod sealed {
    pub trait Sealed {}
}

/// A handle of the MPI library: an `int`, or a pointer that this crate never dereferences.
///
/// A handle is a plain value. Callers of MPI's functions promise that the handle names a live object of the library.
pub trait Handle: Copy + Eq + sealed::Sealed {
    /// The kind of object that the handle names, with its article, for error texts.
    const NOUN: &'static str;

    /// The initial value of a variable to which MPI will write a handle. It is not a handle in any family.
    const UNSET: Self;

    /// In the MPICH family, the kind of object: bits 26 to 29 of a handle.
    #[doc(hidden)]
    const MPICH_KIND: usize;

    /// In the standard ABI, predefined handles of one type are consecutive numbers: the first number, and how many there are (MPI 5.0,
    /// chapter 20).
    #[doc(hidden)]
    const ABI_ROW: (usize, usize);

    /// The handle with this word, which for an `int` is zero-extended.
    fn from_word(word: usize) -> Self;

    /// The handle's word.
    fn word(self) -> usize;
}

/// A handle as it arrives in a register, or on the stack, from MPI or from a program: in the MPICH family, the upper half of its word is
/// undefined. [`Family::take`](crate::Family::take) makes a handle from it.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Passed<H> {
    word: usize,
    handle: PhantomData<H>,
}

impl<H: Handle> Passed<H> {
    /// A handle to return to C, from a function that replaces an MPI function.
    #[inline]
    pub fn back(handle: H) -> Self {
        Self::from_word(handle.word())
    }

    /// The word that arrived, whose upper half may be undefined.
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

/// Defines a type for each of MPI's handles by its noun, its kind in the MPICH family, and its row in the standard ABI.
macro_rules! handles {
    ($($name:ident, $noun:literal, $kind:literal, $row:expr;)+) => {$(
        #[doc = concat!("`MPI_", stringify!($name), "`: the handle of ", $noun, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(usize);

        impl $name {
            /// Same as [`Handle::UNSET`].
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
