//! Reads the binary columns that Polars passes.

use super::layout::{ArrowArray, items, numbers};

/// The items in a chunk of a binary column.
#[derive(Debug)]
pub(crate) enum Bytes<'a> {
    /// Offsets: item i has the bytes from offset i to offset i + 1.
    Listed { bounds: &'a [i64], bytes: &'a [u8] },
    /// A view of 16 bytes for each item: the item's length, and either all its bytes, or its first 4 bytes, the index of a
    /// buffer and the offset in that buffer.
    Views {
        views: &'a [[u8; 16]],
        buffers: Vec<&'a [u8]>,
    },
}

impl<'a> Bytes<'a> {
    /// Reads a chunk; `None` if it violates the interface in a way that can be detected.
    pub(super) fn of(array: &'a ArrowArray, are_views: bool) -> Option<Self> {
        let len = usize::try_from(array.length).ok()?;
        let offset = usize::try_from(array.offset).ok()?;
        if len == 0 {
            let (bounds, bytes) = (&[0][..], &[][..]);
            return Some(Self::Listed { bounds, bytes });
        }
        if !are_views {
            let bounds: &[i64] = numbers(array.buffer(1)?, offset, len + 1)?;
            let end = usize::try_from(*bounds.last()?).ok()?;
            let bytes = match array.buffer(2) {
                Some(bytes) => numbers(bytes, 0, end)?,
                None if end == 0 => &[],
                None => return None,
            };
            return Some(Self::Listed { bounds, bytes });
        }
        let views = items::<[u8; 16]>(array)?;
        // The buffers follow the views; the last buffer holds their lengths.
        let count = usize::try_from(array.n_buffers).ok()?.checked_sub(3)?;
        let mut buffers = Vec::with_capacity(count);
        if count > 0 {
            let lengths: &[i64] = numbers(array.buffer(2 + count)?, 0, count)?;
            for (number, length) in lengths.iter().enumerate() {
                let length = usize::try_from(*length).ok()?;
                buffers.push(match array.buffer(2 + number) {
                    Some(buffer) => numbers(buffer, 0, length)?,
                    None if length == 0 => &[],
                    None => return None,
                });
            }
        }
        Some(Self::Views { views, buffers })
    }

    /// The bytes of an item; `None` if they are outside the buffers.
    pub(crate) fn item(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Listed { bounds, bytes } => {
                let bound = |row: usize| usize::try_from(*bounds.get(row)?).ok();
                bytes.get(bound(row)?..bound(row + 1)?)
            }
            Self::Views { views, buffers } => {
                let view = views.get(row)?;
                let (words, _) = view.as_chunks::<4>();
                let [length, _, buffer, place] = words else {
                    return None;
                };
                let number = |bytes: &[u8; 4]| usize::try_from(i32::from_le_bytes(*bytes)).ok();
                let length = number(length)?;
                if length <= 12 {
                    return view.get(4..4 + length);
                }
                let (buffer, place) = (buffers.get(number(buffer)?)?, number(place)?);
                buffer.get(place..place.checked_add(length)?)
            }
        }
    }
}
