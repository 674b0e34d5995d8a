//! Decides when MPI's communicators, their windows and their operations are freed.
//!
//! Freeing a communicator is collective, and a destructor must not be collective: ranks drop handles in different orders, some only
//! at exit. So a communicator that is dropped is only marked here as released. It is freed
//!
//! - when the communicator that it was duplicated from is duplicated again: that call is collective, and in it the ranks agree
//!   on the duplicates that all of them have released;
//! - when all its ranks ask to free it, and no rank uses it;
//! - otherwise in `MPI_Finalize`, which calls a function of this file that frees all that is left. Every rank frees communicators in
//!   the order of their numbers. Ranks agree on a communicator's number when they make the communicator.
//!
//! A communicator's number is greater than all numbers that any of its ranks had seen before. So the number is unique in each process,
//! even if processes of several worlds, which have counted separately, meet by `MPI_Comm_spawn` or at a port.

#![expect(unsafe_code, reason = "MPI is a C library, and calls back")]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mpi_library::{Comm, DeleteAttribute, MPI_SUCCESS, Passed, copy_no_attribute};

use crate::mpi::calls::attribute;
use crate::mpi::calls::collectives::Agreed;
use crate::mpi::calls::communicator::RawCommunicator;
use crate::mpi::calls::failure::{Failure, check, failure, written};
use crate::mpi::calls::library::mpi;
use crate::mpi::calls::misdirected::WorldReturnsErrors;
use crate::mpi::calls::pending::PendingRequest;
use crate::mpi::calls::ulfm::Ulfm;
use crate::mpi::calls::user_operation::RawOperation;
use crate::mpi::node::window::RawWindow;

/// Whether this process knows that another process of its communicators has died. If so, nothing is freed, since freeing is collective.
static HAS_LOST: AtomicBool = AtomicBool::new(false);

/// Whether `MPI_Finalize` was called.
static FINALISED: AtomicBool = AtomicBool::new(false);

static REGISTRY: Mutex<Registry> = Mutex::new(Registry::EMPTY);

/// Whether this process knows that another process has died.
pub(crate) fn has_lost() -> bool {
    HAS_LOST.load(Ordering::Relaxed)
}

/// Notes that a process has died.
pub(crate) fn note_loss() {
    HAS_LOST.store(true, Ordering::Relaxed);
}

/// The last communicator of surviving processes, if there is one.
pub(crate) fn survivors() -> Option<RawCommunicator> {
    let registry = registry();
    let entry = registry.entries.get(&registry.survivors?);
    entry.map(|entry| entry.comm)
}

/// Revokes the duplicate with this number, and its successors, for all their ranks.
pub(crate) fn revoke_together(first: u64, ulfm: &Ulfm) {
    let of_first = |entry: &&Entry| entry.first == first;
    let entries = &registry().entries;
    let comms = entries.values().filter(of_first).map(|entry| entry.comm);
    for comm in comms {
        // If this fails, the other ranks detect the loss, or the silence, themselves.
        let _ = ulfm.revoke(comm);
    }
}

/// Whether `MPI_Finalize` has reached this crate's communicators, so that none can be used any more.
#[inline]
pub fn is_finalised() -> bool {
    FINALISED.load(Ordering::Relaxed)
}

/// A communicator's entry in the registry. Dropping this value releases the communicator.
#[derive(Debug)]
pub(crate) struct Lifetime {
    number: u64,
}

#[derive(Debug)]
struct Registry {
    /// The key of an attribute of communicators that were duplicated. The attribute's value is the number of the first duplicate, which
    /// identifies all duplicates of the communicator.
    family_key: Option<c_int>,
    /// The greatest [round](round_of) of all numbers that this process has proposed or seen.
    rounds: u64,
    /// Numbers on which ranks are about to agree.
    claimed: BTreeSet<u64>,
    /// The entries, by the numbers on which their ranks agreed.
    entries: BTreeMap<u64, Entry>,
    /// The number of the last communicator of surviving processes.
    survivors: Option<u64>,
}

/// A communicator, and what is freed with it.
#[derive(Debug)]
struct Entry {
    family: u64,
    /// The number of the first channel's communicator. It is this communicator's own number unless this is a later channel's communicator.
    first: u64,
    comm: RawCommunicator,
    window: Option<RawWindow>,
    operations: Vec<RawOperation>,
    is_released: bool,
    /// Messages that were still under way when the communicator was released: MPI may still read or write their buffers.
    unfinished: Vec<PendingRequest>,
}

// SAFETY: MPI's handles are plain values that name the library's objects; they may be used by any thread that may call MPI. All entries
// are behind the registry's lock, and are used only where MPI is called: in `register` by a thread that duplicates a communicator,
// and in `MPI_Finalize` by the thread that calls it.
unsafe impl Send for Entry {}

fn registry() -> MutexGuard<'static, Registry> {
    // A panic under the lock leaves every entry consistent.
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lifetime {
    /// Registers a new duplicate of `parent`, and frees the duplicates of the same parent that all ranks have released. Collective.
    pub(crate) fn register(
        parent: RawCommunicator,
        comm: RawCommunicator,
    ) -> Result<Self, Failure> {
        Self::register_after(None, parent, comm)
    }

    /// Like [`register`](Self::register). If there is a `first`, `comm` is its successor: `free_together` frees both.
    pub(crate) fn register_after(
        first: Option<&Self>,
        parent: RawCommunicator,
        comm: RawCommunicator,
    ) -> Result<Self, Failure> {
        let family_key = registry().family_key()?;
        let number = agree_on_number(comm)?;
        let family = family_of(family_key, parent, number)?;
        let first = first.map_or(number, |first| first.number);
        registry().add(number, family, first, comm);
        if !has_lost() {
            free_released(family, comm)?;
        }
        Ok(Self { number })
    }

    /// Registers a communicator of surviving processes. Collective.
    pub(crate) fn register_survivors(comm: RawCommunicator) -> Result<Self, Failure> {
        let number = agree_on_number(comm)?;
        let mut registry = registry();
        registry.family_key()?;
        registry.add(number, number, number, comm);
        registry.survivors = Some(number);
        Ok(Self { number })
    }

    /// The number on which all ranks of the communicator agreed.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Registers a window, which is freed with the communicator.
    pub(crate) fn register_window(&self, window: RawWindow) {
        if let Some(entry) = registry().entries.get_mut(&self.number) {
            entry.window = Some(window);
        }
    }

    /// Registers an operation, which is freed with the communicator.
    pub(crate) fn register_operation(&self, operation: RawOperation) {
        if let Some(entry) = registry().entries.get_mut(&self.number) {
            entry.operations.push(operation);
        }
    }

    /// Keeps messages under way, which MPI has not completed, as long as the communicator exists.
    pub(crate) fn keep(&self, unfinished: impl Iterator<Item = PendingRequest>) {
        if let Some(entry) = registry().entries.get_mut(&self.number) {
            entry.unfinished.extend(unfinished);
        }
    }
}

impl Drop for Lifetime {
    fn drop(&mut self) {
        if let Some(entry) = registry().entries.get_mut(&self.number) {
            entry.is_released = true;
        }
    }
}

/// The number of low bits of a communicator's number that say which process has proposed it.
const PROPOSER_BITS: u32 = 24;

/// The round of a number, which increases from one proposal of a process to the next.
fn round_of(number: u64) -> u64 {
    number >> PROPOSER_BITS
}

/// A number for `comm` that exceeds all numbers that its ranks have seen, so that no other communicator of these ranks has it. Collective;
/// no lock is held meanwhile, since another thread of this process may duplicate another communicator.
///
/// Two threads of a process may get the same number, if processes with the same rank in two worlds proposed it. So ranks vote on a number,
/// and try the next number if a rank rejects it.
fn agree_on_number(comm: RawCommunicator) -> Result<u64, Failure> {
    let world_rank = RawCommunicator::world().rank()?;
    loop {
        let proposed = registry().propose(world_rank);
        let number = comm.allreduce_u64(proposed, Agreed::Greatest)?;
        let is_free = registry().claim(number);
        if comm.allreduce_u64(is_free.into(), Agreed::Least)? == 1 {
            return Ok(number);
        }
        if is_free {
            registry().claimed.remove(&number);
        }
    }
}

/// Frees the duplicate with this number and its successors, except those that a rank still uses. Collective; after `MPI_Finalize`, there
/// is nothing to free.
pub(crate) fn free_together(first: u64) -> Result<(), Failure> {
    if has_lost() {
        return Ok(());
    }
    let comm = registry().entries.get(&first).map(|entry| entry.comm);
    let Some(comm) = comm else { return Ok(()) };
    let released = agree_on_released(|entry| entry.first == first, comm)?;
    // The first communicator, which was used for the agreement, is freed last.
    released.into_iter().rev().try_for_each(free)
}

/// Frees the communicator that is registered under this number. Collective; no lock is held meanwhile.
fn free(number: u64) -> Result<(), Failure> {
    let entry = registry().entries.remove(&number);
    entry.map_or(Ok(()), Entry::free)
}

/// Frees the duplicates of one communicator that all ranks of `comm`, the newest duplicate, have released. Collective.
fn free_released(family: u64, comm: RawCommunicator) -> Result<(), Failure> {
    let released = agree_on_released(|entry| entry.family == family, comm)?;
    released.into_iter().try_for_each(free)
}

/// The numbers of the entries for which `is_asked` holds and that all ranks of `comm` have released. Collective.
fn agree_on_released(
    is_asked: impl Fn(&Entry) -> bool,
    comm: RawCommunicator,
) -> Result<Vec<u64>, Failure> {
    let (numbers, flags): (Vec<u64>, Vec<u64>) = registry()
        .entries
        .iter()
        .filter(|(_, entry)| is_asked(entry))
        .map(|(&number, entry)| (number, u64::from(entry.is_released)))
        .unzip();
    let flags = comm.allreduce_u64s(&flags, Agreed::Least)?;
    let all = numbers.into_iter().zip(flags);
    Ok(all
        .filter(|&(_, flag)| flag == 1)
        .map(|(number, _)| number)
        .collect())
}

impl Registry {
    const EMPTY: Self = Self {
        family_key: None,
        rounds: 0,
        claimed: BTreeSet::new(),
        entries: BTreeMap::new(),
        survivors: None,
    };

    fn add(&mut self, number: u64, family: u64, first: u64, comm: RawCommunicator) {
        let entry = Entry {
            family,
            first,
            comm,
            window: None,
            operations: Vec::new(),
            is_released: false,
            unfinished: Vec::new(),
        };
        self.claimed.remove(&number);
        self.entries.insert(number, entry);
    }

    /// A number that this process has not seen before.
    fn propose(&mut self, world_rank: usize) -> u64 {
        self.rounds += 1;
        let proposer = world_rank as u64 & ((1 << PROPOSER_BITS) - 1);
        self.rounds << PROPOSER_BITS | proposer
    }

    /// Claims a number for the calling thread. Returns whether the number was free in this process.
    fn claim(&mut self, number: u64) -> bool {
        self.rounds = self.rounds.max(round_of(number));
        !self.entries.contains_key(&number) && self.claimed.insert(number)
    }

    /// Returns the key `family_key`. The first call makes the key, and makes `MPI_Finalize` call `free_everything`.
    fn family_key(&mut self) -> Result<c_int, Failure> {
        if let Some(key) = self.family_key {
            return Ok(key);
        }
        let key = create_key(keep_attribute)?;
        let finalising = create_key(free_everything)?;
        let own_process = mpi().handles.MPI_COMM_SELF;
        // SAFETY: the communicator is live, the key was just made, and the value is never read.
        let code = unsafe { mpi().MPI_Comm_set_attr(own_process, finalising, ptr::null_mut()) };
        check("MPI_Comm_set_attr", code)?;
        // MPI keeps the key until the attribute is deleted (MPI 4.1, 7.7.2).
        free_key(finalising)?;
        self.family_key = Some(key);
        Ok(key)
    }
}

/// The number that identifies all duplicates of `parent`: `number` itself for the first duplicate. All ranks get the same number.
fn family_of(key: c_int, parent: RawCommunicator, number: u64) -> Result<u64, Failure> {
    let family = attribute::address(parent.handle(), key);
    if let Some(family) = family.map_err(|code| failure("MPI_Comm_get_attr", code))? {
        return Ok(family.addr() as u64);
    }
    let address = usize::try_from(number).expect("MPI runs where addresses have 64 bits");
    let value = ptr::without_provenance_mut(address);
    // SAFETY: the communicator is live; the value is a number, which nobody dereferences.
    let code = unsafe { mpi().MPI_Comm_set_attr(parent.handle(), key, value) };
    check("MPI_Comm_set_attr", code).map(|()| number)
}

impl Entry {
    /// Frees the communicator and what belongs to it. Collective on its ranks.
    fn free(mut self) -> Result<(), Failure> {
        for request in &mut self.unfinished {
            // The buffer of a message that cannot be ended is leaked.
            let _ = request.cancel_receive();
            let _ = request.test();
        }
        // Failed runs leave messages that nobody receives. MPICH from 4.3 on ends a program that frees a communicator with such messages.
        let _returns = WorldReturnsErrors::always()?;
        let _ = self.comm.drain();
        for operation in self.operations {
            operation.free()?;
        }
        if let Some(window) = self.window {
            window.free()?;
        }
        self.comm.free()
    }
}

fn create_key(delete: DeleteAttribute) -> Result<c_int, Failure> {
    // SAFETY: both functions have the signatures that MPI requires and live forever; `key` has room for one int.
    written("MPI_Comm_create_keyval", 0, |key| unsafe {
        mpi().MPI_Comm_create_keyval(Some(copy_no_attribute), Some(delete), key, ptr::null_mut())
    })
}

fn free_key(mut key: c_int) -> Result<(), Failure> {
    // SAFETY: the key was made by `create_key`, and is not used afterwards.
    let code = unsafe { mpi().MPI_Comm_free_keyval(&raw mut key) };
    check("MPI_Comm_free_keyval", code)
}

/// Does nothing when the attribute's communicator is freed, since the attribute is only a number.
unsafe extern "C" fn keep_attribute(
    _comm: Passed<Comm>,
    _key: c_int,
    _value: *mut c_void,
    _extra: *mut c_void,
) -> c_int {
    MPI_SUCCESS
}

/// Frees all communicators in `MPI_Finalize`, which deletes the attributes of MPI_COMM_SELF while MPI still works (MPI 4.1, 11.2.4).
unsafe extern "C" fn free_everything(
    _comm: Passed<Comm>,
    _key: c_int,
    _value: *mut c_void,
    _extra: *mut c_void,
) -> c_int {
    FINALISED.store(true, Ordering::Relaxed);
    let entries = std::mem::take(&mut registry().entries);
    let entries = entries.into_values().filter(|_| !has_lost());
    for entry in entries {
        // If this fails, MPI_Finalize frees the rest.
        let _ = entry.free();
    }
    let key = registry().family_key.take();
    let _ = key.map_or(Ok(()), free_key);
    MPI_SUCCESS
}

#[cfg(test)]
mod tests {
    use super::{PROPOSER_BITS, Registry, round_of};

    /// Ranks 0 of two worlds, which have counted differently, meet. Then ranks 0 and 1 of the first world meet.
    #[test]
    fn numbers_grow_where_worlds_meet() {
        let (mut first, mut other, mut second) =
            (Registry::EMPTY, Registry::EMPTY, Registry::EMPTY);
        assert_eq!(first.propose(0), second.propose(0));
        for _ in 0..5 {
            second.propose(0);
        }
        let met = [first.propose(0), second.propose(0)].into_iter().max();
        let met = met.unwrap_or_default();
        for registry in [&mut first, &mut second] {
            assert!(registry.claim(met));
            assert!(registry.propose(0) > met);
        }
        let own = [first.propose(0), other.propose(1)].into_iter().max();
        let own = own.unwrap_or_default();
        assert!(own > met && first.claim(own) && other.claim(own));
        assert!(round_of(other.propose(1)) > round_of(own));
    }

    #[test]
    fn a_number_is_claimed_by_one_thread() {
        let mut registry = Registry::EMPTY;
        let number = 7 << PROPOSER_BITS | 3;
        assert!(registry.claim(number) && !registry.claim(number));
        registry.claimed.remove(&number);
        assert!(registry.claim(number));
    }

    /// Ranks of one world propose different numbers in the same round.
    #[test]
    fn proposals_name_their_process() {
        let (mut one, mut two) = (Registry::EMPTY, Registry::EMPTY);
        let (left, right) = (one.propose(4), two.propose(5));
        assert!(left != right && round_of(left) == round_of(right));
    }
}
