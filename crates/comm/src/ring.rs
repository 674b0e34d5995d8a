//! A ring of cache lines in memory that two processes share. It carries messages from one process to the other, in order, without a lock.
//!
//! Each message has a slot of a few lines. The slot's header has a stamp: the message's number since the ring was made, modulo 2^16. The
//! writer writes the stamp last, so a reader that finds the expected stamp finds the whole message. A short message is next to its header,
//! so the processor fetches both at once. A message too long for its slot is in adjacent [lines of data](data), which form a second ring.
//! In another line, the reader stores how much it has read. The writer reads that line only when a ring seems to be full. A short message
//! costs one cache-line transfer; reading the reader's line costs another.

mod data;
mod line;
#[cfg(all(test, loom))]
mod loomed;
mod progress;
mod size;
mod slot;
#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(loom)]
use loom::sync::atomic::Ordering;
#[cfg(not(loom))]
use std::sync::atomic::Ordering;

pub(crate) use data::DataLine;
#[cfg(feature = "mpi")]
pub(crate) use data::LINE_BYTES;
pub(crate) use line::Line;
use line::{Header, SHORT_BYTES, ShortMessage, stamp_of};
use progress::Progress;
pub(crate) use size::Size;

/// The shared memory of a ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring<'a> {
    /// The line whose header contains the reader's progress.
    consumed: &'a Line,
    slots: &'a [Line],
    data: &'a [DataLine],
    size: Size,
}

impl<'a> Ring<'a> {
    /// A ring in memory that is zeroed, or that the caller [clears](Ring::clear) next. The reader writes the first control line.
    #[inline]
    pub(crate) fn in_memory(size: Size, control: &'a [Line], data: &'a [DataLine]) -> Self {
        let (consumed, slots) = control.split_first().expect("a ring has lines");
        debug_assert!(slots.len() == size.slots * size.slot_lines && data.len() == size.data_lines);
        debug_assert!(slots.len().is_power_of_two() && data.len().is_power_of_two());
        Self {
            consumed,
            slots,
            data,
            size,
        }
    }

    /// Makes the ring empty, whatever its memory contains.
    #[cfg_attr(loom, expect(dead_code, reason = "the rings of loom's tests are new"))]
    pub(crate) fn clear(self) {
        for line in self.slots {
            line.header.store(0, Ordering::Relaxed);
        }
        self.consumed.header.store(0, Ordering::Release);
    }

    /// The slot of the message with this number.
    #[inline]
    fn slot(self, number: u32) -> &'a [Line] {
        let first = (number as usize & (self.size.slots - 1)) * self.size.slot_lines;
        &self.slots[first..][..self.size.slot_lines]
    }

    /// The lines of data from the line with this number to the end of the memory.
    fn data_from(self, number: u32) -> &'a [DataLine] {
        &self.data[number as usize & (self.data.len() - 1)..]
    }

    /// How much the reader has read.
    fn consumed(self) -> Progress {
        Progress::unpack(self.consumed.header.load(Ordering::Acquire))
    }
}

/// The writing end's own state.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    written: Progress,
    /// How much the reader had read when the writer last checked.
    consumed: Progress,
}

impl Writer {
    /// Writes a message, if there is room for it. Returns whether the message was written.
    #[expect(
        unsafe_code,
        reason = "the writer owns the bytes until it writes the stamp"
    )]
    pub(crate) fn write(&mut self, ring: Ring<'_>, tag: u32, message: &[u8]) -> bool {
        let (written, first_data) = self.written.and(message.len(), ring.size);
        if !written.fits(self.consumed, ring.size) {
            self.consumed = ring.consumed();
            if !written.fits(self.consumed, ring.size) {
                return false;
            }
        }
        let number = self.written.messages;
        let slot = ring.slot(number);
        if message.len() <= SHORT_BYTES {
            slot[0].store(message);
        } else if message.len() <= ring.size.slot_bytes() {
            // SAFETY: the reader no longer uses the slots that it has counted, and reads this slot only after it has seen the stamp.
            unsafe { slot::write(slot, message) };
        } else {
            // SAFETY: as above, for the lines of data.
            unsafe { data::write(ring.data_from(first_data), message) };
        }
        let header = Header {
            stamp: stamp_of(number),
            tag,
            length: u16::try_from(message.len()).expect("messages are short"),
        };
        slot[0].header.store(header.pack(), Ordering::Release);
        self.written = written;
        true
    }
}

/// The reading end's own state.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    read: Progress,
}

impl Reader {
    /// The tag and the length in bytes of the next message, if it has arrived.
    #[inline]
    pub(crate) fn next(&self, ring: Ring<'_>) -> Option<(u32, usize)> {
        let number = self.read.messages;
        let word = ring.slot(number)[0].header.load(Ordering::Acquire);
        let header = Header::unpack(word);
        (header.stamp == stamp_of(number)).then_some((header.tag, header.length.into()))
    }

    /// Copies as much of the next message as fits into `into`. The caller passes the length that `next` has returned.
    pub(crate) fn read(&mut self, ring: Ring<'_>, length_bytes: usize, into: &mut [u8]) {
        let room = length_bytes.min(into.len());
        self.take(ring, length_bytes, |message| {
            into[..room].copy_from_slice(&message[..room]);
        });
    }

    /// Passes the next message to `take`: in place, or as a copy if it is short. The caller passes the length that `next` has returned.
    #[expect(
        unsafe_code,
        reason = "the reader owns the bytes until it has counted them"
    )]
    pub(crate) fn take<R>(
        &mut self,
        ring: Ring<'_>,
        length_bytes: usize,
        take: impl FnOnce(&[u8]) -> R,
    ) -> R {
        let slot = ring.slot(self.read.messages);
        if length_bytes <= SHORT_BYTES {
            let mut copy = ShortMessage([0; SHORT_BYTES]);
            let message = &mut copy.0[..length_bytes];
            slot[0].load(message);
            self.count(ring, length_bytes);
            return take(message);
        }
        let taken = if length_bytes <= ring.size.slot_bytes() {
            // SAFETY: `next` has seen the stamp, and the writer does not reuse the slot until it is counted, after `take` has returned. If
            // `take` panics, the message stays.
            unsafe { slot::read(slot, length_bytes, take) }
        } else {
            let lines = ring.data_from(self.read.and(length_bytes, ring.size).1);
            // SAFETY: as above.
            unsafe { data::read(lines, length_bytes, take) }
        };
        self.count(ring, length_bytes);
        taken
    }

    /// Counts the message that was just taken, so that the writer may reuse its memory.
    fn count(&mut self, ring: Ring<'_>, length_bytes: usize) {
        (self.read, _) = self.read.and(length_bytes, ring.size);
        let consumed = &ring.consumed.header;
        consumed.store(self.read.pack(), Ordering::Release);
    }
}
