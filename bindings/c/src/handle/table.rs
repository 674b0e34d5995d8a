//! A lock-free table of objects, which grows without moving them. A place is the index of an entry.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{OnceLock, RwLock};

/// The width of a place in bits.
pub(super) const PLACE_BITS: u32 = 28;

/// The number of entries in a table's first piece. Each further piece has as many as all pieces before it.
const FIRST_PLACES: u32 = 64;
const PIECES: usize = (PLACE_BITS - FIRST_PLACES.ilog2()) as usize;

/// All objects of one kind. Entries never move; free places are reused.
pub(crate) struct Table<O> {
    pieces: [OnceLock<Box<[Slot<O>]>>; PIECES],
    /// The places that were ever used.
    used: AtomicU32,
    /// Lower half: the place freed last, plus 1, or 0 if none is free. Upper half: how often this has changed.
    free: AtomicU64,
}

pub(super) struct Slot<O> {
    pub(super) held: RwLock<Held<O>>,
    /// Of a free place: the place that was freed before it, plus 1, or 0.
    next: AtomicU32,
}

pub(super) struct Held<O> {
    pub(super) object: Option<O>,
    /// How often the place was freed.
    pub(super) uses: u64,
}

impl<O> Table<O> {
    pub(crate) const fn new() -> Self {
        Self {
            pieces: [const { OnceLock::new() }; PIECES],
            used: AtomicU32::new(0),
            free: AtomicU64::new(0),
        }
    }

    /// The piece that contains a place, and the index within it.
    fn within(place: u32) -> (usize, usize) {
        let number = place + FIRST_PLACES;
        let piece = number.ilog2() - FIRST_PLACES.ilog2();
        (piece as usize, (number - (FIRST_PLACES << piece)) as usize)
    }

    pub(super) fn slot(&self, place: u32) -> Option<&Slot<O>> {
        let (piece, index) = Self::within(place);
        self.pieces.get(piece)?.get()?.get(index)
    }

    /// Takes a free place; `None` if there is none.
    pub(super) fn take_place(&self) -> Option<u32> {
        let mut free = self.free.load(Ordering::Acquire);
        while let Some(place) = last(free) {
            // Another thread may take the entry and free it again meanwhile; the number of changes shows that.
            let next = self.slot(place)?.next.load(Ordering::Relaxed);
            match self.exchange_free(free, next) {
                Ok(()) => return Some(place),
                Err(other) => free = other,
            }
        }
        let end = (1 << PLACE_BITS) - FIRST_PLACES;
        let more = |used: u32| (used < end).then_some(used + 1);
        let place = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        let place = place.ok()?;
        let (piece, _) = Self::within(place);
        self.pieces[piece].get_or_init(|| {
            let slots = (0..FIRST_PLACES << piece).map(|_| Slot {
                held: RwLock::new(Held {
                    object: None,
                    uses: 0,
                }),
                next: AtomicU32::new(0),
            });
            slots.collect()
        });
        Some(place)
    }

    pub(super) fn free_place(&self, place: u32, slot: &Slot<O>) {
        let mut free = self.free.load(Ordering::Relaxed);
        loop {
            slot.next.store(half(free), Ordering::Relaxed);
            match self.exchange_free(free, place + 1) {
                Ok(()) => return,
                Err(other) => free = other,
            }
        }
    }

    /// The places that were ever used.
    #[cfg(test)]
    pub(super) fn used(&self) -> u32 {
        self.used.load(Ordering::Relaxed)
    }

    fn exchange_free(&self, free: u64, next: u32) -> Result<(), u64> {
        let changed = ((free >> 32) + 1) << 32 | u64::from(next);
        let exchanged =
            self.free
                .compare_exchange_weak(free, changed, Ordering::AcqRel, Ordering::Acquire);
        exchanged.map(drop)
    }
}

/// The lower half of [`Table::free`].
#[expect(
    clippy::cast_possible_truncation,
    reason = "the upper half is left out"
)]
fn half(free: u64) -> u32 {
    free as u32
}

fn last(free: u64) -> Option<u32> {
    half(free).checked_sub(1)
}
