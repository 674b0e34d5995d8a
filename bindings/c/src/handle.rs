//! Handles of accumulators and keyed states.
//!
//! A handle is not an address but a number, called a name here. A name consists of an index into a table of the process (a place), how
//! often that place was freed before, the kind of object, and the table's number. So the library detects a handle that was destroyed, that
//! another copy of the library created, or that never existed. The library dereferences no handle that a program passes.
//!
//! Any thread may use an object, and several threads may read it at once. No thread waits for an object: a call that finds its object in
//! use returns an error. Waiting would hide a bug of the program, and would never end in a child process that was forked while another
//! thread used the object.

use std::ptr;
use std::sync::{RwLock, TryLockError};

use crate::failure::{Code, Failure};
use crate::table::{PLACE_BITS, Table};

/// The widths of a name's fields in bits: kind, place, uses, table, from the lowest bit on. No name is 0, since no kind is 0.
const KIND_BITS: u32 = 3;
const TABLE_BITS: u32 = 8;
const USE_BITS: u32 = u64::BITS - KIND_BITS - PLACE_BITS - TABLE_BITS;

/// A kind of handle.
pub(crate) trait Named: Sized + 'static {
    /// The type of the objects.
    type Object: Copied + 'static;
    /// The number of the kind, from 1 to 7.
    const KIND: u64;
    /// The name of an argument of this kind in the header.
    const NAME: &'static str;

    /// The table of all objects of this kind in this process.
    fn table() -> &'static Table<Cell<Self::Object>>;
}

/// A cell of a table: an object, or no object, behind a lock.
pub(crate) type Cell<O> = RwLock<Held<O>>;

pub(crate) struct Held<O> {
    object: Option<O>,
    /// How often this place was freed.
    uses: u64,
}

impl<O> Default for Held<O> {
    fn default() -> Self {
        let (object, uses) = (None, 0);
        Self { object, uses }
    }
}

/// An object that can be copied, so that it can be merged with itself.
pub(crate) trait Copied: Sized {
    /// Copies the object.
    ///
    /// # Errors
    /// There is no memory for the copy.
    fn copied(&self) -> Result<Self, Failure>;
}

/// Declares the handle of a kind of objects. C knows the handle as a pointer to an incomplete type.
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

            fn table() -> &'static $crate::table::Table<$crate::handle::Cell<$object>> {
                static TABLE: $crate::table::Table<$crate::handle::Cell<$object>> =
                    $crate::table::Table::new();
                &TABLE
            }
        }
    };
}

pub(crate) use handle;

/// The fields of a name that differ between objects of one kind.
#[derive(Clone, Copy)]
struct Name {
    place: u32,
    uses: u64,
}

impl Name {
    fn of<H: Named>(handle: *const H) -> Option<Self> {
        let number = handle.addr() as u64;
        let part = |begin: u32, bits: u32| number >> begin & ((1 << bits) - 1);
        let is_own = part(0, KIND_BITS) == H::KIND
            && number >> (u64::BITS - TABLE_BITS) == table_number::<H>();
        is_own.then_some(Self {
            place: u32::try_from(part(KIND_BITS, PLACE_BITS)).ok()?,
            uses: part(KIND_BITS + PLACE_BITS, USE_BITS),
        })
    }

    fn handle<H: Named>(self) -> *mut H {
        let number = H::KIND
            | u64::from(self.place) << KIND_BITS
            | self.uses << (KIND_BITS + PLACE_BITS)
            | table_number::<H>() << (u64::BITS - TABLE_BITS);
        // `lib.rs` does not compile for other processors.
        #[expect(clippy::cast_possible_truncation, reason = "addresses have 64 bits")]
        ptr::without_provenance_mut(number as usize)
    }
}

/// The number of a table. In two copies of this library in one process, the numbers are equal with a probability of 1 in 256.
fn table_number<H: Named>() -> u64 {
    // Mixes the bits of an address: the factor is 2^64 divided by the golden ratio.
    let address = ptr::from_ref(H::table()).addr() as u64;
    address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - TABLE_BITS)
}

/// Stores an object in its table, and returns the object's handle.
///
/// # Errors
/// There are too many objects of this kind.
pub(crate) fn name<H: Named>(object: H::Object) -> Result<*mut H, Failure> {
    let table = H::table();
    let taken = table.take_place();
    let cell = taken.and_then(|place| Some((place, table.cell(place)?)));
    let (place, cell) = cell.ok_or_else(|| {
        let message = format!("too many {} handles exist", H::NAME);
        Failure::new(Code::Memory, message)
    })?;
    // Other threads use a free place only briefly, in calls with a destroyed name.
    let mut held = cell.write().unwrap_or_else(|error| error.into_inner());
    held.object = Some(object);
    let uses = held.uses;
    Ok(Name { place, uses }.handle())
}

/// Finds the cell that a handle names. Error messages call the handle `argument`.
fn find<H: Named>(
    argument: &str,
    handle: *const H,
) -> Result<(Name, &'static Cell<H::Object>), Failure> {
    let name = Name::of(handle).ok_or_else(|| unknown(argument, handle))?;
    let cell = H::table().cell(name.place);
    let cell = cell.ok_or_else(|| unknown(argument, handle))?;
    Ok((name, cell))
}

/// Calls `body` with an object to read.
///
/// # Errors
/// The handle is NULL, destroyed or not of this kind; another thread is changing the object; or `body` fails.
pub(crate) fn read<H: Named, R>(
    handle: *const H,
    body: impl FnOnce(&H::Object) -> Result<R, Failure>,
) -> Result<R, Failure> {
    read_as(H::NAME, handle, body)
}

/// Like [`read`], but error messages call the handle `argument`.
///
/// # Errors
/// Those of [`read`].
pub(crate) fn read_as<H: Named, R>(
    argument: &str,
    handle: *const H,
    body: impl FnOnce(&H::Object) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let (name, cell) = find(argument, handle)?;
    let held = cell.try_read();
    let held = held.map_err(|error| in_use(argument, &error))?;
    match &held.object {
        Some(object) if held.uses == name.uses => body(object),
        _ => Err(destroyed(argument)),
    }
}

/// Calls `body` with an object to change.
///
/// # Errors
/// Those of [`read`]; or another thread is reading the object.
pub(crate) fn change<H: Named, R>(
    handle: *const H,
    body: impl FnOnce(&mut H::Object) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let (name, cell) = find(H::NAME, handle)?;
    let held = cell.try_write();
    let mut held = held.map_err(|error| in_use(H::NAME, &error))?;
    let is_own = held.uses == name.uses;
    match &mut held.object {
        Some(object) if is_own => body(object),
        _ => Err(destroyed(H::NAME)),
    }
}

/// Calls `body` with an object to change and another one to read. If both are the same object, `body` reads a copy.
///
/// # Errors
/// Those of [`change`] and [`read`].
pub(crate) fn change_by<H: Named, R>(
    handle: *const H,
    other: *const H,
    body: impl FnOnce(&mut H::Object, &H::Object) -> Result<R, Failure>,
) -> Result<R, Failure> {
    change(handle, |object| {
        if ptr::eq(handle, other) {
            let copy = object.copied()?;
            body(object, &copy)
        } else {
            read_as("other", other, |other| body(object, other))
        }
    })
}

/// Destroys a handle and its object.
///
/// # Errors
/// Those of [`change`]. But an object that a panic has left half-changed is not an error.
pub(crate) fn end<H: Named>(handle: *const H) -> Result<(), Failure> {
    let (name, cell) = find(H::NAME, handle)?;
    let mut held = match cell.try_write() {
        Ok(held) => held,
        Err(TryLockError::Poisoned(error)) => error.into_inner(),
        Err(error @ TryLockError::WouldBlock) => return Err(in_use(H::NAME, &error)),
    };
    if held.uses != name.uses || held.object.is_none() {
        return Err(destroyed(H::NAME));
    }
    let object = held.object.take();
    held.uses = (held.uses + 1) % (1 << USE_BITS);
    cell.clear_poison();
    drop(held);
    H::table().free_place(name.place);
    drop(object);
    Ok(())
}

#[cold]
fn in_use<G>(argument: &str, error: &TryLockError<G>) -> Failure {
    match error {
        TryLockError::WouldBlock => Failure::argument(argument, "another thread is using it"),
        TryLockError::Poisoned(_) => {
            let message = format!("a bug in treefold has left `{argument}` unusable: destroy it");
            Failure::new(Code::Panic, message)
        }
    }
}

#[cold]
fn destroyed(argument: &str) -> Failure {
    Failure::argument(argument, "it was destroyed")
}

/// The error of a handle that names no object.
#[cold]
fn unknown<H: Named>(argument: &str, handle: *const H) -> Failure {
    if handle.is_null() {
        return Failure::null(argument);
    }
    Failure::argument(argument, format_args!("not a valid {} handle", H::NAME))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use std::collections::BTreeSet;
    use std::panic;
    use std::ptr;
    use std::thread;

    use super::{Copied, Named, change, change_by, end, name, read};
    use crate::failure::{Code, Failure};

    impl Copied for u32 {
        fn copied(&self) -> Result<Self, Failure> {
            Ok(*self)
        }
    }

    handle!(number, u32, 6, "number");
    handle!(other, u32, 7, "other");

    fn value(handle: *const number) -> Result<u32, Failure> {
        read(handle, |value| Ok(*value))
    }

    fn said(handle: *const number) -> String {
        value(handle).unwrap_err().message.clone()
    }

    #[test]
    fn a_name_leads_to_its_object_until_it_is_ended() {
        let five = name::<number>(5).unwrap();
        let six = name::<number>(6).unwrap();
        assert_eq!((value(five).unwrap(), value(six).unwrap()), (5, 6));
        let added = change_by(five, six, |own, other| {
            *own += other;
            Ok(())
        });
        added.unwrap();
        let doubled = change_by(five, five, |own, other| {
            *own += other;
            Ok(())
        });
        doubled.unwrap();
        assert_eq!(value(five).unwrap(), 22);
        end(five).unwrap();
        assert_eq!(said(five), "`number`: it was destroyed");
        let merged = change_by(six, five, |_, _| Ok(()));
        assert_eq!(merged.unwrap_err().message, "`other`: it was destroyed");
        assert!(end(five).is_err());
        // Places are reused, but names are not.
        let others: Vec<_> = (0..100)
            .map(|value| name::<number>(value).unwrap())
            .collect();
        assert_eq!(said(five), "`number`: it was destroyed");
        for other in others {
            end(other).unwrap();
        }
        assert_eq!(said(ptr::null()), "`number` is NULL");
        let foreign = name::<other>(1).unwrap();
        assert_eq!(said(foreign.cast()), "`number`: not a valid number handle");
        let local = 5_u64;
        for address in [1, 8, usize::MAX, ptr::from_ref(&local).addr()] {
            assert!(
                value(ptr::without_provenance(address)).is_err(),
                "{address}"
            );
        }
        end(six).unwrap();
        end(foreign).unwrap();
    }

    #[test]
    fn what_is_in_use_is_not_touched() {
        let five = name::<number>(5).unwrap();
        let nested = change(five, |_| {
            assert_eq!(said(five), "`number`: another thread is using it");
            assert!(end(five).is_err());
            value(five)
        });
        assert_eq!(nested.unwrap_err().code, Code::Argument);
        read(five, |_| value(five)).unwrap();
        let spoiled = panic::catch_unwind(|| change::<number, ()>(five, |_| panic!("a test")));
        assert!(spoiled.is_err());
        assert_eq!(value(five).unwrap_err().code, Code::Panic);
        end(five).unwrap();
        assert_eq!(said(five), "`number`: it was destroyed");
    }

    /// Threads create and destroy many handles concurrently.
    #[test]
    fn names_are_unlike() {
        let work = |thread: u32| {
            let mut names = Vec::new();
            for round in 0..2000 {
                names.push((
                    name::<other>(thread * 10_000 + round).unwrap().addr(),
                    thread * 10_000 + round,
                ));
                if round % 3 == 0 {
                    let (name, _) = names.swap_remove(round as usize % names.len());
                    end(ptr::without_provenance::<other>(name)).unwrap();
                }
            }
            names
        };
        let threads: Vec<_> = (0..4)
            .map(|thread| thread::spawn(move || work(thread)))
            .collect();
        let names: Vec<_> = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect();
        let unlike: BTreeSet<usize> = names.iter().map(|(name, _)| *name).collect();
        assert_eq!(unlike.len(), names.len());
        for (name, expected) in names {
            let name = ptr::without_provenance::<other>(name);
            assert_eq!(read(name, |value| Ok(*value)).unwrap(), expected);
            end(name).unwrap();
        }
        let used = other::table().used();
        assert!(used < 6000, "places must be reused, but {used} were taken");
    }
}
