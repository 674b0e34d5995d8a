//! The status of a call, and the details that a program can ask for after an error.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::ops::Deref;
use std::panic;

use treefold::FoldError;

/// The return value of C functions: a [`Code`] as a number.
pub type Status = i32;

/// The codes of `treefold.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
#[expect(missing_docs, reason = "treefold.h describes them")]
pub enum Code {
    Ok = 0,
    Null = 1,
    Argument = 2,
    Length = 3,
    Disagree = 4,
    Empty = 5,
    Environment = 6,
    RankFailed = 7,
    Spent = 8,
    UnderWay = 9,
    TimedOut = 10,
    Mpi = 11,
    Unsupported = 12,
    Panic = 13,
    Mismatched = 14,
    Memory = 15,
    Operator = 16,
    Interrupted = 17,
}

impl Code {
    /// All codes with their names, by number.
    const NAMES: [(Self, &CStr); 18] = [
        (Self::Ok, c"TREEFOLD_OK"),
        (Self::Null, c"TREEFOLD_NULL"),
        (Self::Argument, c"TREEFOLD_ARGUMENT"),
        (Self::Length, c"TREEFOLD_LENGTH"),
        (Self::Disagree, c"TREEFOLD_DISAGREE"),
        (Self::Empty, c"TREEFOLD_EMPTY"),
        (Self::Environment, c"TREEFOLD_ENVIRONMENT"),
        (Self::RankFailed, c"TREEFOLD_RANK_FAILED"),
        (Self::Spent, c"TREEFOLD_SPENT"),
        (Self::UnderWay, c"TREEFOLD_UNDER_WAY"),
        (Self::TimedOut, c"TREEFOLD_TIMED_OUT"),
        (Self::Mpi, c"TREEFOLD_MPI"),
        (Self::Unsupported, c"TREEFOLD_UNSUPPORTED"),
        (Self::Panic, c"TREEFOLD_PANIC"),
        (Self::Mismatched, c"TREEFOLD_MISMATCHED"),
        (Self::Memory, c"TREEFOLD_MEMORY"),
        (Self::Operator, c"TREEFOLD_OPERATOR"),
        (Self::Interrupted, c"TREEFOLD_INTERRUPTED"),
    ];

    /// The error with this number; `None` for 0 and for unknown numbers.
    pub(crate) fn of_error(status: Status) -> Option<Self> {
        let mut errors = Self::NAMES[1..].iter();
        let found = errors.find(|(code, _)| *code as Status == status);
        found.map(|(code, _)| *code)
    }

    /// The name that `treefold.h` gives to this number.
    pub(crate) fn name(status: Status) -> &'static CStr {
        let mut names = Self::NAMES.iter();
        let found = names.find(|(code, _)| *code as Status == status);
        found.map_or(c"unknown", |(_, name)| name)
    }
}

/// The reason why a call failed. Boxed, so that a `Result` stays small.
#[derive(Clone, Debug)]
pub struct Failure(Box<Reason>);

/// The contents of a [`Failure`].
#[derive(Clone, Debug)]
pub struct Reason {
    /// The code that the call returns.
    pub code: Code,
    /// The message.
    pub message: String,
    /// The rank that the error concerns.
    pub rank: Option<usize>,
}

impl Deref for Failure {
    type Target = Reason;

    fn deref(&self) -> &Reason {
        &self.0
    }
}

impl Failure {
    /// A failure that concerns no rank.
    #[cold]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Reason {
            code,
            message: message.into(),
            rank: None,
        }))
    }

    /// Adds the rank that the failure concerns.
    #[must_use]
    pub fn of_rank(mut self, rank: usize) -> Self {
        self.0.rank = Some(rank);
        self
    }

    /// Changes the name of an array in the message to the name of one of its elements.
    #[must_use]
    pub(crate) fn of_element(mut self, name: &str, index: usize) -> Self {
        let element = format!("`{name}[{index}]`");
        self.0.message = self.0.message.replacen(&format!("`{name}`"), &element, 1);
        self
    }

    /// The rank and the message in C's types.
    pub(crate) fn in_c(&self) -> (i32, CString) {
        // The library's own messages have no zero byte, but names in them may.
        let text = self.message.replace('\0', "?");
        let rank = self.rank.and_then(|rank| i32::try_from(rank).ok());
        (
            rank.unwrap_or(NO_RANK),
            CString::new(text).unwrap_or_default(),
        )
    }

    /// The failure for a NULL pointer.
    pub fn null(name: &str) -> Self {
        Self::new(Code::Null, format!("`{name}` is NULL"))
    }

    /// The failure for an argument with an invalid value.
    pub fn argument(name: &str, reason: impl std::fmt::Display) -> Self {
        Self::new(Code::Argument, format!("`{name}`: {reason}"))
    }

    /// The failure for a panic: [`Code::Operator`] if an operator ended the call, otherwise [`Code::Panic`].
    pub(crate) fn of_panic(payload: &(dyn Any + Send)) -> Self {
        if let Some(failed) = payload.downcast_ref::<OperatorFailed>() {
            let message = format!("the operator returned {}, not 0", failed.code);
            return Self::new(Code::Operator, message);
        }
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("no message");
        Self::new(Code::Panic, format!("an error in treefold: {text}"))
    }
}

impl From<FoldError> for Failure {
    fn from(error: FoldError) -> Self {
        let code = match error {
            FoldError::NoItems { .. } => Code::Empty,
            FoldError::Lengths { .. }
            | FoldError::NotRows { .. }
            | FoldError::ResultLength { .. } => Code::Length,
            FoldError::Environment(_) => Code::Environment,
            _ => Code::Argument,
        };
        Self::new(code, words_of(&error))
    }
}

/// The message of an error in the terms of C, C++ and Fortran, where arguments have other names than in Rust.
fn words_of(error: &FoldError) -> String {
    match error {
        FoldError::Lengths {
            first,
            position,
            found,
        } => format!("array {position} has {found} items, but array 0 has {first}"),
        FoldError::Lanes { .. } => format!("`lanes`: {error}"),
        other => other.to_string(),
    }
}

/// The failure for two arrays, `x` and `y`, whose lengths differ but must not.
#[cold]
pub(crate) fn lengths(n: usize, m: usize) -> Failure {
    Failure::new(
        Code::Length,
        format!("`x` has {n} elements, but `y` has {m}"),
    )
}

/// The payload of the panic that ends a call if the caller's operator returns a number other than 0.
#[derive(Clone, Copy, Debug)]
struct OperatorFailed {
    code: i32,
}

/// Ends the call that runs an operator. Skips the panic hook, since this is not a bug in treefold.
pub(crate) fn operator_failed(code: i32) -> ! {
    panic::resume_unwind(Box::new(OperatorFailed { code }))
}

thread_local! {
    /// This thread's last error.
    static LAST: RefCell<Option<(CString, Option<usize>)>> = const { RefCell::new(None) };
}

/// The number in C for no rank.
pub(crate) const NO_RANK: i32 = -1;

/// Keeps an error for [`last_message`].
pub(crate) fn keep(rank: i32, text: &CStr) {
    let kept = (text.to_owned(), usize::try_from(rank).ok());
    // A thread that is about to end has no thread-local storage any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = Some(kept));
}

/// The message of this thread's last failure. The pointer is valid until the thread's next failure.
pub(crate) fn last_message() -> *const c_char {
    let text = LAST.try_with(|last| last.borrow().as_ref().map(|(text, _)| text.as_ptr()));
    text.ok().flatten().unwrap_or(c"".as_ptr())
}

/// The message of this thread's last failure, as an owned string.
pub(crate) fn last_text() -> String {
    let text = LAST.try_with(|last| {
        let last = last.borrow();
        let text = last
            .as_ref()
            .map(|(text, _)| text.to_string_lossy().into_owned());
        text.unwrap_or_default()
    });
    text.unwrap_or_default()
}

/// The rank that this thread's last failure concerns.
pub(crate) fn last_rank() -> Option<usize> {
    let rank = LAST.try_with(|last| last.borrow().as_ref().and_then(|(_, rank)| *rank));
    rank.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn numbers_have_their_names() {
        for (number, (code, _)) in Code::NAMES.iter().enumerate() {
            assert_eq!(*code as usize, number);
        }
        assert_eq!(Code::name(10), c"TREEFOLD_TIMED_OUT");
        assert_eq!(Code::name(-1), c"unknown");
    }
}
