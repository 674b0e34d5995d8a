//! Room for items that are decoded.

use simd_kernels::{DECODED_ITEMS, Pair};

/// Room for the items of a block as integers. It is made when a block needs it: to clear it takes longer than to add a few items.
pub(crate) struct Decoded(Option<Room>);

/// At the beginning of a cache line: no register of them is written to two.
#[repr(align(64))]
pub(super) struct Room {
    pub(super) pairs: [Pair; DECODED_ITEMS],
    pub(super) integers: [i64; DECODED_ITEMS],
    pub(super) digits: [u8; DECODED_ITEMS],
}

impl Room {
    fn cleared() -> Self {
        Self {
            pairs: [[0; 2]; DECODED_ITEMS],
            integers: [0; DECODED_ITEMS],
            digits: [0; DECODED_ITEMS],
        }
    }
}

impl Decoded {
    // A constant would be copied with all that it has no use for.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    #[inline]
    pub(super) fn room(&mut self) -> &mut Room {
        self.0.get_or_insert_with(Room::cleared)
    }
}
