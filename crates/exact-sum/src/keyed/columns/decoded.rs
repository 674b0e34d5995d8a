//! Buffers for the items of a block. Clearing a large buffer takes longer than adding a few items, so
//! blocks of few items get small buffers or none.

use simd_kernels::{DECODED_ITEMS, Pair};

/// Fewer items than this are added one by one.
pub(crate) const FEW_ITEMS: usize = 16;

/// A buffer for integers, which is created when a block needs it.
#[derive(Debug)]
pub struct Decoded(Option<Room>);

/// The buffers of a block. They are aligned to cache lines, so that no store of a register spans two lines.
#[repr(align(64))]
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) pairs: [Pair; DECODED_ITEMS],
    pub(crate) integers: [i64; DECODED_ITEMS],
    pub(crate) digits: [u8; DECODED_ITEMS],
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
    // This is a function, since a constant would be copied together with the unused buffer.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    #[inline]
    pub(crate) fn room(&mut self) -> &mut Room {
        self.0.get_or_insert_with(Room::cleared)
    }
}

/// N buffers for doubles.
pub(crate) enum Rooms<const N: usize> {
    Few([[f64; FEW_ITEMS]; N]),
    Many([[f64; DECODED_ITEMS]; N]),
}

impl<const N: usize> Rooms<N> {
    /// Small buffers for few items, otherwise buffers for a whole block.
    #[inline(always)]
    pub(crate) fn for_items(items: usize) -> Self {
        if items < FEW_ITEMS {
            Self::Few([[0.0; FEW_ITEMS]; N])
        } else {
            Self::Many([[0.0; DECODED_ITEMS]; N])
        }
    }

    /// The first `items` doubles of each buffer.
    #[inline(always)]
    pub(crate) fn first(&mut self, items: usize) -> [&mut [f64]; N] {
        match self {
            Self::Few(rooms) => rooms.each_mut().map(|room| &mut room[..items]),
            Self::Many(rooms) => rooms.each_mut().map(|room| &mut room[..items]),
        }
    }
}
