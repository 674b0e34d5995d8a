//! Handles of communicators, builders, plans, runs and `ReproRed`'s contexts.
//!
//! A handle is not an address but a name: an index into a table of its thread, how often that entry was used before, the thread's number and
//! the kind of object. So the library detects a handle that was destroyed, that another thread created, or that never existed. No value that
//! a program passes is dereferenced.

use std::cell::{Cell, RefCell};
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use treefold_c::failure::Failure;

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

    /// This thread's objects; `None` once they have ended with the thread. A program may still destroy handles then: destructors of static
    /// objects and `atexit` functions run after the main thread's thread-local variables are gone.
    fn with_table<R>(body: impl FnOnce(&Table<Self::Object>) -> R) -> Option<R>;
}

/// Declares the handle of a kind of objects, which C knows as a pointer to an incomplete type.
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

            #[inline]
            fn with_table<R>(
                body: impl FnOnce(&$crate::handle::Table<$object>) -> R,
            ) -> Option<R> {
                thread_local! {
                    static TABLE: $crate::handle::Table<$object> =
                        const { $crate::handle::Table::new() };
                }
                TABLE.try_with(body).ok()
            }
        }
    };
}

pub(crate) use handle;

/// A thread's objects of one kind.
pub(crate) struct Table<O: ?Sized> {
    slots: RefCell<Vec<Slot<O>>>,
    free: RefCell<Vec<usize>>,
}

struct Slot<O: ?Sized> {
    object: Option<Rc<O>>,
    /// The object's name, so that a single comparison checks a handle.
    name: usize,
    /// How often the place was freed.
    uses: u64,
}

impl<O: ?Sized> Table<O> {
    pub(crate) const fn new() -> Self {
        Self {
            slots: RefCell::new(Vec::new()),
            free: RefCell::new(Vec::new()),
        }
    }
}

/// The number of this thread. It is unique until the numbers wrap around.
#[inline]
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
    place: usize,
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
            place: usize::try_from(part(KIND_BITS, PLACE_BITS)).ok()?,
            uses: part(KIND_BITS + PLACE_BITS, USE_BITS),
            thread: part(KIND_BITS + PLACE_BITS + USE_BITS, THREAD_BITS),
        })
    }

    fn handle<H: Named>(self) -> *mut H {
        let number = H::KIND
            | (self.place as u64) << KIND_BITS
            | self.uses << (KIND_BITS + PLACE_BITS)
            | self.thread << (KIND_BITS + PLACE_BITS + USE_BITS);
        // `treefold-c` compiles only for 64-bit processors.
        #[expect(clippy::cast_possible_truncation, reason = "addresses have 64 bits")]
        ptr::without_provenance_mut(number as usize)
    }
}

/// Stores an object in this thread's table, and returns the object's handle.
///
/// # Errors
/// This thread has too many objects of this kind, or is ending.
pub(crate) fn name<H: Named>(object: Rc<H::Object>) -> Result<*mut H, Failure> {
    let named = H::with_table(|table| {
        let mut slots = table.slots.borrow_mut();
        let place = match table.free.borrow_mut().pop() {
            Some(place) => place,
            None if slots.len() < 1 << PLACE_BITS => {
                slots.push(Slot {
                    object: None,
                    name: 0,
                    uses: 0,
                });
                slots.len() - 1
            }
            None => {
                let reason = format_args!("this thread has {} such handles", slots.len());
                return Err(Failure::argument(H::NAME, reason));
            }
        };
        let slot = &mut slots[place];
        let name = Name {
            place,
            uses: slot.uses,
            thread: thread_number(),
        };
        let handle = name.handle::<H>();
        slot.object = Some(object);
        slot.name = handle.addr();
        Ok(handle)
    });
    named.unwrap_or_else(|| Err(Failure::argument(H::NAME, ENDED)))
}

/// The error of a handle after the thread's objects have ended.
const ENDED: &str = "its thread has ended, and its handles with it";

/// The object that a handle names. It lives at least as long as the result, even if the handle is destroyed meanwhile.
///
/// # Errors
/// The handle is NULL, another thread's, destroyed, or not of this kind.
#[inline(always)]
pub(crate) fn object<H: Named>(handle: *const H) -> Result<Rc<H::Object>, Failure> {
    let place = handle.addr() >> KIND_BITS & ((1 << PLACE_BITS) - 1);
    let found = H::with_table(|table| {
        let slots = table.slots.borrow();
        let slot = slots.get(place).filter(|slot| slot.name == handle.addr());
        slot.and_then(|slot| slot.object.clone())
    });
    match found {
        Some(Some(object)) => Ok(object),
        Some(None) => Err(unknown(handle)),
        None => Err(ended(handle)),
    }
}

/// Calls `body` with the object that a handle names; `None` if there is no such object. `body` must not destroy the handle.
#[inline(always)]
pub(crate) fn look<H: Named, R>(
    handle: *const H,
    body: impl FnOnce(&H::Object) -> Option<R>,
) -> Option<R> {
    let place = handle.addr() >> KIND_BITS & ((1 << PLACE_BITS) - 1);
    H::with_table(|table| {
        let slots = table.slots.try_borrow().ok()?;
        let slot = slots.get(place).filter(|slot| slot.name == handle.addr());
        body(slot?.object.as_deref()?)
    })?
}

/// Ends a handle, and returns its object.
///
/// # Errors
/// As [`object`].
pub(crate) fn take<H: Named>(handle: *const H) -> Result<Rc<H::Object>, Failure> {
    let object = object(handle)?;
    let name = Name::of(handle).expect("it names an object");
    let freed = H::with_table(|table| {
        let slot = &mut table.slots.borrow_mut()[name.place];
        // This does not drop the object: the caller has another reference.
        slot.object = None;
        slot.uses = (slot.uses + 1) % (1 << USE_BITS);
        table.free.borrow_mut().push(name.place);
    });
    debug_assert!(freed.is_some(), "it was there when `object` looked");
    Ok(object)
}

/// Destroys a handle on behalf of the program: as [`take`], but `None` if this thread's objects have ended already.
///
/// # Errors
/// As [`object`].
pub(crate) fn end<H: Named>(handle: *const H) -> Result<Option<Rc<H::Object>>, Failure> {
    let is_own = Name::of(handle).is_some_and(|name| name.thread == thread_number());
    match H::with_table(|_| ()) {
        None if is_own => Ok(None),
        _ => take(handle).map(Some),
    }
}

/// The error of a handle after this thread's objects have ended.
#[cold]
fn ended<H: Named>(handle: *const H) -> Failure {
    match Name::of(handle) {
        Some(name) if name.thread == thread_number() => Failure::argument(H::NAME, ENDED),
        _ => unknown(handle),
    }
}

/// The error of a handle that names nothing.
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
        // The place is reused, the name is not.
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

    /// Uses a name while the thread's variables are destroyed, as destructors in a program do.
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
            "None, then `number`: its thread has ended, and its handles with it"
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
