//! Handles of communicators, builders, plans, runs and `ReproRed`'s contexts.
//!
//! A handle is not an address but a name, with four fields: the index of a place in a table of the process, how often that place was used
//! before, the number of the object's thread, and the kind of object. These fields let the library detect a handle that was destroyed, that
//! another thread created, or that never existed. The library dereferences no handle that a program passes.

mod owned;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use treefold_c::failure::{Code, Failure};
use treefold_c::table::Table;

pub(crate) use self::owned::Owned;

/// The widths of a name's fields in bits, from the lowest bit on. No name is 0, since no kind is 0.
const KIND_BITS: u32 = 3;
const PLACE_BITS: u32 = 21;
const USE_BITS: u32 = 20;
const THREAD_BITS: u32 = 64 - KIND_BITS - PLACE_BITS - USE_BITS;

/// A kind of handle.
pub(crate) trait Named: Sized + 'static {
    /// The type of the objects.
    type Object: ?Sized + 'static;
    /// The number of the kind, from 1 to 7.
    const KIND: u64;
    /// The kind's name in error messages.
    const NAME: &'static str;

    /// The table of this process' objects.
    fn table() -> &'static Table<Owned<Self::Object>>;

    /// Calls `body` with the handles of this thread's objects. Returns `None` if the thread is ending and has dropped them. A program may
    /// still destroy handles then: destructors of static objects and `atexit` functions run after the main thread's objects are dropped.
    fn with_own<R>(body: impl FnOnce(&Own<Self>) -> R) -> Option<R>;
}

/// The handles of a thread's objects. Dropping this set, at the end of the thread, also drops the objects.
pub(crate) struct Own<H: Named>(RefCell<BTreeSet<*const H>>);

impl<H: Named> Own<H> {
    pub(crate) const fn new() -> Self {
        Self(RefCell::new(BTreeSet::new()))
    }
}

impl<H: Named> Drop for Own<H> {
    fn drop(&mut self) {
        for &handle in &*self.0.borrow() {
            drop(empty(handle));
        }
    }
}

/// Declares a kind of handle, which is a pointer to an incomplete type in C.
macro_rules! handle {
    ($(#[$docs:meta])* $visibility:vis $handle:ident, $object:ty, $kind:literal, $name:literal) => {
        $(#[$docs])*
        #[allow(non_camel_case_types, reason = "it is C's name")]
        #[derive(Debug)]
        $visibility enum $handle {}

        impl $crate::handle::Named for $handle {
            type Object = $object;
            const KIND: u64 = $kind;
            const NAME: &'static str = $name;

            fn table() -> &'static ::treefold_c::table::Table<$crate::handle::Owned<$object>> {
                static TABLE: ::treefold_c::table::Table<$crate::handle::Owned<$object>> =
                    ::treefold_c::table::Table::new();
                &TABLE
            }

            fn with_own<R>(body: impl FnOnce(&$crate::handle::Own<Self>) -> R) -> Option<R> {
                thread_local! {
                    static OWN: $crate::handle::Own<$handle> =
                        const { $crate::handle::Own::new() };
                }
                OWN.try_with(body).ok()
            }
        }
    };
}

pub(crate) use handle;

/// The number of this thread. It is unique until the numbers wrap around.
fn thread_number() -> u64 {
    static THREADS: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static NUMBER: Cell<Option<u64>> = const { Cell::new(None) };
    }
    NUMBER.with(|number| {
        number.get().unwrap_or_else(|| {
            let new = THREADS.fetch_add(1, Ordering::Relaxed) % (1 << THREAD_BITS);
            number.set(Some(new));
            new
        })
    })
}

/// The fields of a name, besides its kind.
#[derive(Clone, Copy)]
struct Name {
    place: u32,
    uses: u64,
    thread: u64,
}

impl Name {
    fn of<H: Named>(handle: *const H) -> Option<Self> {
        let number = handle.addr() as u64;
        let part = |begin: u32, bits: u32| number >> begin & ((1 << bits) - 1);
        if part(0, KIND_BITS) != H::KIND {
            return None;
        }
        Some(Self {
            place: place(handle),
            uses: part(KIND_BITS + PLACE_BITS, USE_BITS),
            thread: part(KIND_BITS + PLACE_BITS + USE_BITS, THREAD_BITS),
        })
    }

    fn handle<H: Named>(self) -> *mut H {
        let number = H::KIND
            | u64::from(self.place) << KIND_BITS
            | (self.uses % (1 << USE_BITS)) << (KIND_BITS + PLACE_BITS)
            | self.thread << (KIND_BITS + PLACE_BITS + USE_BITS);
        // `treefold-c` compiles only for 64-bit processors.
        #[expect(clippy::cast_possible_truncation, reason = "addresses have 64 bits")]
        ptr::without_provenance_mut(number as usize)
    }
}

/// The field of a handle's name that holds the place.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "other bits are cut off")]
fn place<H>(handle: *const H) -> u32 {
    (handle.addr() >> KIND_BITS) as u32 & ((1 << PLACE_BITS) - 1)
}

/// Stores an object of this thread, and returns the object's handle.
///
/// # Errors
/// There are too many objects of this kind, or the thread is ending.
pub(crate) fn name<H: Named>(object: Rc<H::Object>) -> Result<*mut H, Failure> {
    let named = H::with_own(|own| {
        let table = H::table();
        let place = table.take_place()?;
        if place >> PLACE_BITS != 0 {
            table.free_place(place);
            return None;
        }
        let thread = thread_number();
        let handle = table.cell(place)?.fill(object, |uses| {
            let name = Name {
                place,
                uses,
                thread,
            };
            name.handle::<H>()
        })?;
        own.0.borrow_mut().insert(handle);
        Some(handle)
    });
    let named = named.ok_or_else(|| Failure::argument(H::NAME, ENDED))?;
    named.ok_or_else(|| {
        let message = format!("too many {} handles exist", H::NAME);
        Failure::new(Code::Memory, message)
    })
}

/// The error message for a handle whose thread has already dropped its objects.
const ENDED: &str = "its thread has ended, which destroyed all handles of the thread";

/// The object that a handle names. The returned `Rc` keeps the object alive, even if the handle is destroyed meanwhile.
///
/// # Errors
/// The handle is NULL, was destroyed, belongs to another thread, or is of another kind.
#[inline(always)]
pub(crate) fn object<H: Named>(handle: *const H) -> Result<Rc<H::Object>, Failure> {
    let cell = H::table().cell(place(handle));
    let object = cell.and_then(|cell| cell.look(handle, Rc::clone));
    object.ok_or_else(|| unknown(handle))
}

/// Calls `body` with the object that a handle names; `None` if there is no such object. `body` must not destroy the handle.
#[inline(always)]
pub(crate) fn look<H: Named, R>(
    handle: *const H,
    body: impl FnOnce(&H::Object) -> Option<R>,
) -> Option<R> {
    let cell = H::table().cell(place(handle))?;
    cell.look(handle, |object| body(object))?
}

/// Destroys a handle, and returns its object.
///
/// # Errors
/// Those of [`object`].
pub(crate) fn take<H: Named>(handle: *const H) -> Result<Rc<H::Object>, Failure> {
    let object = empty(handle).ok_or_else(|| unknown(handle))?;
    H::with_own(|own| own.0.borrow_mut().remove(&handle));
    Ok(object)
}

/// Takes an object out of its cell, and frees the cell's place.
fn empty<H: Named>(handle: *const H) -> Option<Rc<H::Object>> {
    let place = place(handle);
    let object = H::table().cell(place)?.empty(handle)?;
    H::table().free_place(place);
    Some(object)
}

/// Destroys a handle, as [`take`] does, but returns `None` if this thread has already dropped its objects.
///
/// # Errors
/// Those of [`object`].
pub(crate) fn end<H: Named>(handle: *const H) -> Result<Option<Rc<H::Object>>, Failure> {
    let is_own = Name::of(handle).is_some_and(|name| name.thread == thread_number());
    match H::with_own(|_| ()) {
        None if is_own => Ok(None),
        _ => take(handle).map(Some),
    }
}

/// The error for a handle that names no object.
#[cold]
fn unknown<H: Named>(handle: *const H) -> Failure {
    if handle.is_null() {
        return Failure::null(H::NAME);
    }
    match Name::of(handle) {
        None => Failure::argument(H::NAME, format_args!("not a valid {} handle", H::NAME)),
        Some(name) if name.thread != thread_number() => {
            Failure::argument(H::NAME, "it belongs to another thread")
        }
        Some(_) if H::with_own(|_| ()).is_none() => Failure::argument(H::NAME, ENDED),
        Some(_) => Failure::argument(H::NAME, "it was destroyed"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use std::cell::{Cell, RefCell};
    use std::ptr;
    use std::rc::Rc;
    use std::sync::mpsc::{Sender, channel};
    use std::thread;

    use treefold_c::failure::Code;

    use super::{end, name, object, take};

    handle!(number, u32, 6, "number");
    handle!(text, str, 7, "text");

    fn error<H: super::Named>(handle: *const H) -> (Code, String) {
        let failure = object(handle).map(drop).unwrap_err();
        (failure.code, failure.message.clone())
    }

    #[test]
    fn a_name_leads_to_its_object_until_it_is_ended() {
        let five = name::<number>(Rc::new(5)).unwrap();
        let six = name::<number>(Rc::new(6)).unwrap();
        assert_eq!((*object(five).unwrap(), *object(six).unwrap()), (5, 6));
        assert_eq!(*take(five).unwrap(), 5);
        assert_eq!(error(five).1, "`number`: it was destroyed");
        assert!(take(five).is_err());
        // The place is reused, but the name is not.
        let seven = name::<number>(Rc::new(7)).unwrap();
        assert_eq!(*object(seven).unwrap(), 7);
        assert!(object(five).is_err());
        let word = name::<text>("word".into()).unwrap();
        assert_eq!(&*object(word).unwrap(), "word");
        assert_eq!(
            error(word.cast::<number>()).1,
            "`number`: not a valid number handle"
        );
        assert_eq!(error(ptr::null::<number>()).0, Code::Null);
    }

    #[test]
    fn names_stay_in_their_thread() {
        let here = name::<number>(Rc::new(1)).unwrap().addr();
        thread::spawn(move || {
            let there = name::<number>(Rc::new(2)).unwrap();
            let handle = ptr::without_provenance::<number>(here);
            assert_eq!(error(handle).1, "`number`: it belongs to another thread");
            assert_eq!(*object(there).unwrap(), 2);
        })
        .join()
        .unwrap();
    }

    /// Uses a name while the thread's variables are being destroyed, as destructors in a program do.
    struct Late(Cell<*mut number>, Sender<String>);

    impl Drop for Late {
        fn drop(&mut self) {
            let handle = self.0.get();
            let found = format!("{:?}, then {}", end(handle).unwrap(), error(handle).1);
            self.1.send(found).unwrap();
        }
    }

    #[test]
    fn names_end_in_silence_after_their_thread_has() {
        thread_local! {
            static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
        }
        let (sender, receiver) = channel();
        thread::spawn(move || {
            // Thread-local variables are destroyed in reverse order of first use.
            LATE.with_borrow_mut(|late| *late = Some(Late(Cell::new(ptr::null_mut()), sender)));
            let five = name::<number>(Rc::new(5)).unwrap();
            LATE.with_borrow(|late| late.as_ref().unwrap().0.set(five));
        })
        .join()
        .unwrap();
        let found = receiver.recv().unwrap();
        assert_eq!(
            found,
            "None, then `number`: its thread has ended, which destroyed all handles of the thread"
        );
    }

    #[test]
    fn no_address_is_mistaken_for_a_name() {
        let local = 5_u32;
        for address in [1, 8, usize::MAX, ptr::from_ref(&local).addr()] {
            let (code, _) = error(ptr::without_provenance::<number>(address));
            assert_eq!(code, Code::Argument, "{address}");
        }
    }
}
