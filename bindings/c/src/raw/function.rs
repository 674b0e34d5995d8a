//! A program's function that combines two items.

use std::ffi::{c_int, c_void};
use std::fmt;

use crate::failure::{self, Failure};

/// The maximum size of an item of a caller's operator, in bytes.
pub const ITEM_BYTES_MAX: usize = 512;

/// The size of a word, in bytes. Items of a caller's operator are stored in whole words.
pub const WORD_BYTES: usize = size_of::<u64>();

/// The number of words that hold an item of `item_bytes` bytes.
///
/// # Errors
/// Items cannot have this size.
pub fn words_of_item(item_bytes: usize) -> Result<usize, Failure> {
    if item_bytes == 0 || !item_bytes.is_multiple_of(4) || item_bytes > ITEM_BYTES_MAX {
        let reason = format_args!("{item_bytes} is not a multiple of 4 from 4 to {ITEM_BYTES_MAX}");
        return Err(Failure::argument("item_bytes", reason));
    }
    Ok(item_bytes.div_ceil(WORD_BYTES))
}

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
    /// The number of words that hold an item, at least one.
    words: usize,
}

// SAFETY: the context is passed on to the function and not dereferenced here. Only `treefold_fold_user` lets threads share a function. Its
// caller promises that, if it has allowed several threads, they may call the function at once with this context.
unsafe impl Sync for Function {}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Function")
    }
}

impl Function {
    /// A function on items of `item_bytes` bytes, with its context.
    ///
    /// # Safety
    /// `function` may be called with `context`, pointers to two items and a pointer to room for a third, all aligned to 8 bytes. It then
    /// reads nothing but the items and its own data, writes at most one item to the room, and returns.
    ///
    /// # Errors
    /// `function` is NULL, or items cannot have this size.
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

    /// The number of words that hold an item.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Combines two items into a third. Bytes of `into` that the function does not write, such as the padding of a struct, become zero.
    ///
    /// # Panics
    /// The function does not return 0.
    #[inline]
    pub fn combine(&self, left: &[u64], right: &[u64], into: &mut [u64]) {
        let are_items = left.len() == self.words && right.len() == self.words;
        assert!(are_items && into.len() == self.words, "each is one item");
        into.fill(0);
        let (left, right) = (left.as_ptr().cast(), right.as_ptr().cast());
        // SAFETY: each slice has the words of one item, aligned to 8 bytes. The function behaves as the caller of `new` has promised.
        let code = unsafe { (self.function)(self.context, left, right, into.as_mut_ptr().cast()) };
        if code != 0 {
            failure::operator_failed(code);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::of_function;

    /// Adds the first words of items of three words. Leaves the other words unwritten, like the padding of a struct.
    unsafe extern "C" fn add_first_words(
        _: *mut c_void,
        left: *const c_void,
        right: *const c_void,
        out: *mut c_void,
    ) -> c_int {
        let [left, right] = [left, right].map(|item| {
            // SAFETY: an item has at least one word.
            unsafe { *item.cast::<u64>() }
        });
        // SAFETY: there is room for an item.
        unsafe { *out.cast::<u64>() = left + right };
        0
    }

    #[test]
    fn what_a_function_leaves_unwritten_is_zero() {
        // SAFETY: the function reads and writes only the first word of each item.
        let function = unsafe { Function::new(24, Some(add_first_words), std::ptr::null_mut()) };
        let function = function.unwrap();
        let mut into = [u64::MAX; 3];
        function.combine(&[1, 7, 9], &[2, 8, 9], &mut into);
        assert_eq!(into, [3, 0, 0]);

        let operator = of_function("the first words".to_owned(), function, None);
        let mut items = vec![1, u64::MAX, u64::MAX];
        for count in 2..=40 {
            items.extend([count, u64::MAX, u64::MAX]);
            let expected = [count * (count + 1) / 2, 0, 0];
            assert_eq!(operator.fold(&items).unwrap(), expected, "{count} items");
        }
    }
}
