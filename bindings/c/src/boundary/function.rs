//! A function of the program's, which combines two items.

use std::ffi::{c_int, c_void};
use std::fmt;

use crate::failure::{self, Failure};
use crate::operator::words_of_item;

/// `treefold_combine`.
pub type Combine = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        left: *const c_void,
        right: *const c_void,
        out: *mut c_void,
    ) -> c_int,
>;

/// A function that combines two items, with its context.
#[derive(Clone, Copy)]
pub struct Function {
    function: unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, *mut c_void) -> c_int,
    context: *mut c_void,
    /// The words that hold an item, at least one.
    words: usize,
}

// SAFETY: the context is passed on to the function and not followed here. Threads share a function in `treefold_par_fold_user` alone,
// whose caller promises that several threads may call it at once with this context.
unsafe impl Sync for Function {}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Function")
    }
}

impl Function {
    /// A function on items of so many bytes, with its context.
    ///
    /// # Safety
    /// Whenever it is called, with this context and with pointers to two items and to room for a third, aligned to 8 bytes, it reads
    /// nothing but the items and what is its own, writes at most one item to the room, and returns.
    ///
    /// # Errors
    /// It is NULL, or items cannot be so long.
    pub unsafe fn new(
        item_bytes: usize,
        function: Combine,
        context: *mut c_void,
    ) -> Result<Self, Failure> {
        let words = words_of_item(item_bytes)?;
        let function = function.ok_or_else(|| Failure::null("combine"))?;
        Ok(Self {
            function,
            context,
            words,
        })
    }

    /// The words that hold an item.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Combines two items into a third. What an item does not fill of its words is zero.
    ///
    /// # Panics
    /// The function returns another number than 0.
    #[inline]
    pub fn combine(&self, left: &[u64], right: &[u64], into: &mut [u64]) {
        let are_items = left.len() == self.words && right.len() == self.words;
        assert!(are_items && into.len() == self.words, "an item has words");
        into[self.words - 1] = 0;
        let (left, right) = (left.as_ptr().cast(), right.as_ptr().cast());
        // SAFETY: all three have whole words for an item, aligned to 8 bytes, and the function does as `new`'s caller has promised.
        let code = unsafe { (self.function)(self.context, left, right, into.as_mut_ptr().cast()) };
        if code != 0 {
            failure::operator_failed(code);
        }
    }
}
