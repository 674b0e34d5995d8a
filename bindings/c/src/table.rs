//! A table that grows without moving its cells. Threads find, take and free cells without locks. The index of a cell is called its place.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The width of a place in bits.
pub const PLACE_BITS: u32 = 28;

/// The number of cells in a table's first piece. Each further piece has twice as many as the piece before it.
const FIRST_PLACES: u32 = 64;
const PIECES: usize = (PLACE_BITS - FIRST_PLACES.ilog2()) as usize;

/// The cells of all objects of one kind. Cells never move; free places are reused.
#[derive(Debug)]
pub struct Table<C> {
    pieces: [OnceLock<Box<[Slot<C>]>>; PIECES],
    /// The number of places that were ever used.
    used: AtomicU32,
    /// The lower half is 1 plus the place that was freed last, or 0 if no place is free. The upper half counts the changes of this field.
    free: AtomicU64,
}

#[derive(Debug, Default)]
struct Slot<C> {
    cell: C,
    /// If this place is free: 1 plus the next free place, which was freed earlier, or 0 if no other place is free.
    next: AtomicU32,
}

impl<C: Default> Default for Table<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Default> Table<C> {
    /// An empty table.
    pub const fn new() -> Self {
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

    fn slot(&self, place: u32) -> Option<&Slot<C>> {
        let (piece, index) = Self::within(place);
        self.pieces.get(piece)?.get()?.get(index)
    }

    /// The cell of a place; `None` if the table has not grown to this place.
    #[inline]
    pub fn cell(&self, place: u32) -> Option<&C> {
        Some(&self.slot(place)?.cell)
    }

    /// Takes a free place; `None` if there is none.
    pub fn take_place(&self) -> Option<u32> {
        let mut free = self.free.load(Ordering::Acquire);
        while let Some(place) = last(free) {
            // Another thread may take this place and free it again meanwhile. Then the number of changes differs, and the exchange fails.
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
            let slots = (0..FIRST_PLACES << piece).map(|_| Slot::default());
            slots.collect()
        });
        Some(place)
    }

    /// Frees a place that [`take_place`](Self::take_place) has returned.
    pub fn free_place(&self, place: u32) {
        let Some(slot) = self.slot(place) else {
            return;
        };
        let mut free = self.free.load(Ordering::Relaxed);
        loop {
            slot.next.store(half(free), Ordering::Relaxed);
            match self.exchange_free(free, place + 1) {
                Ok(()) => return,
                Err(other) => free = other,
            }
        }
    }

    /// The number of places that were ever used.
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
