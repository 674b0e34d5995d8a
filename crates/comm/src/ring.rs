//! A ring of cache lines in memory that two processes share: messages from the one to the other, in order, without a lock.
//!
//! Each message has a slot of a few lines. Its header carries a stamp, the number of the slot since the ring was made, modulo 2^16: it is
//! written last, and a reader that finds the stamp it is waiting for finds the whole message. A short message follows its header, so that
//! the processor fetches both; a longer one lies in [lines of data](data), side by side, which form a ring of their own. The reader counts
//! what it has read in another line, which the writer reads only when the rings seem to be full. A short message costs one cache-line
//! transfer; reporting it as read costs another.

mod data;

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use data::{DataLine, LINE_BYTES};

const WORD_BYTES: usize = size_of::<u64>();

/// The words of a line beside its header.
const WORDS: usize = LINE_BYTES / WORD_BYTES - 1;

/// The longest message that is in the line of its header.
const SHORT_BYTES: usize = WORDS * WORD_BYTES;

/// How large a ring is. All numbers are powers of two; so slots and lines of data divide 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// The most messages.
    pub(crate) slots: usize,
    /// The lines of a slot.
    pub(crate) slot_lines: usize,
    /// The most lines of data of these messages.
    pub(crate) data_lines: usize,
}

impl Size {
    /// The longest message. An empty ring has room for one, wherever it begins: what is left of the lines of data is skipped if it is
    /// shorter than the message.
    pub(crate) const fn longest_bytes(self) -> usize {
        self.data_lines / 2 * LINE_BYTES
    }

    /// The lines that are no data.
    pub(crate) const fn control_lines(self) -> usize {
        1 + self.slots * self.slot_lines
    }

    /// The longest message that follows its header.
    const fn slot_bytes(self) -> usize {
        self.slot_lines * LINE_BYTES - WORD_BYTES
    }

    /// The lines of data of a message.
    fn data_lines_of(self, length_bytes: usize) -> u32 {
        let lines = if length_bytes <= self.slot_bytes() {
            0
        } else {
            length_bytes.div_ceil(LINE_BYTES)
        };
        u32::try_from(lines).expect("messages are short")
    }
}

/// Stamp, tag and length of the message whose slot it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    /// Modulo 2^16. Two stamps of a slot that a reader can see are a turn of the ring apart.
    stamp: u16,
    length: u16,
    tag: u32,
}

impl Header {
    fn pack(self) -> u64 {
        u64::from(self.tag) << 32 | u64::from(self.length) << 16 | u64::from(self.stamp)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the parts of a word")]
    fn unpack(word: u64) -> Self {
        Self {
            stamp: word as u16,
            length: (word >> 16) as u16,
            tag: (word >> 32) as u32,
        }
    }
}

/// The stamp of a slot that has this number: never 0, the stamp of a new ring, where the ring is new.
#[expect(clippy::cast_possible_truncation, reason = "modulo 2^16")]
fn stamp_of(number: u32) -> u16 {
    number.wrapping_add(1) as u16
}

/// A cache line of a header and a short message, or a further line of a slot. Zeros are an empty one.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub(crate) struct Line {
    header: AtomicU64,
    words: [AtomicU64; WORDS],
    /// What a longer message puts there; otherwise it lies in the words.
    #[cfg(loom)]
    plain: DataLine,
}

impl Line {
    /// Writes the bytes of a message, of which there are [`SHORT_BYTES`] at most.
    fn store(&self, bytes: &[u8]) {
        let (whole, rest) = bytes.as_chunks::<WORD_BYTES>();
        for (word, &bytes) in self.words.iter().zip(whole) {
            word.store(u64::from_ne_bytes(bytes), Ordering::Relaxed);
        }
        if !rest.is_empty() {
            let mut last = [0; WORD_BYTES];
            last[..rest.len()].copy_from_slice(rest);
            self.words[whole.len()].store(u64::from_ne_bytes(last), Ordering::Relaxed);
        }
    }

    /// Reads the bytes of a message, of which there are [`SHORT_BYTES`] at most.
    fn load(&self, bytes: &mut [u8]) {
        let (whole, rest) = bytes.as_chunks_mut::<WORD_BYTES>();
        for (word, bytes) in self.words.iter().zip(whole.iter_mut()) {
            *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
        }
        if !rest.is_empty() {
            let last = self.words[whole.len()].load(Ordering::Relaxed);
            rest.copy_from_slice(&last.to_ne_bytes()[..rest.len()]);
        }
    }
}

/// A copy of a short message, aligned as numbers are.
#[repr(align(16))]
struct ShortMessage([u8; SHORT_BYTES]);

/// What was written or read since the ring was made: messages, and the lines of their data; both modulo 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    messages: u32,
    data_lines: u32,
}

impl Progress {
    fn pack(self) -> u64 {
        u64::from(self.data_lines) << 32 | u64::from(self.messages)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the parts of a word")]
    fn unpack(word: u64) -> Self {
        Self {
            messages: word as u32,
            data_lines: (word >> 32) as u32,
        }
    }

    /// With another message, and the number of its first line of data.
    fn and(self, length_bytes: usize, size: Size) -> (Self, u32) {
        let lines = size.data_lines_of(length_bytes);
        let place = self.data_lines as usize & (size.data_lines - 1);
        let left = size.data_lines - place;
        let skipped = if lines as usize <= left {
            0
        } else {
            u32::try_from(left).expect("a ring is short")
        };
        let first = self.data_lines.wrapping_add(skipped);
        let this = Self {
            messages: self.messages.wrapping_add(1),
            data_lines: first.wrapping_add(lines),
        };
        (this, first)
    }

    /// Whether so much can be under way in a ring of which this much was read.
    fn fits(self, consumed: Self, size: Size) -> bool {
        let messages = self.messages.wrapping_sub(consumed.messages);
        let data_lines = self.data_lines.wrapping_sub(consumed.data_lines);
        messages as usize <= size.slots && data_lines as usize <= size.data_lines
    }
}

/// The shared memory of a ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring<'a> {
    /// Its header is the reader's progress.
    consumed: &'a Line,
    slots: &'a [Line],
    data: &'a [DataLine],
    size: Size,
}

impl<'a> Ring<'a> {
    /// A ring of some size in memory that was zero or is cleared. The first of the control lines is the reader's.
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

    /// Makes an empty ring of memory with any content.
    #[cfg_attr(loom, expect(dead_code, reason = "a model's rings are new"))]
    pub(crate) fn clear(self) {
        for line in self.slots {
            line.header.store(0, Ordering::Relaxed);
        }
        self.consumed.header.store(0, Ordering::Release);
    }

    /// The slot of a message, by its number.
    #[inline]
    fn slot(self, number: u32) -> &'a [Line] {
        let first = (number as usize & (self.size.slots - 1)) * self.size.slot_lines;
        &self.slots[first..][..self.size.slot_lines]
    }

    /// The lines of data from this number on up to the last one.
    fn data_from(self, number: u32) -> &'a [DataLine] {
        &self.data[number as usize & (self.data.len() - 1)..]
    }

    /// How much was read.
    fn consumed(self) -> Progress {
        Progress::unpack(self.consumed.header.load(Ordering::Acquire))
    }
}

/// The writing end's own state.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    written: Progress,
    /// What had been read when the writer last checked.
    consumed: Progress,
}

impl Writer {
    /// Writes a message, if there is room for it. Says whether there was.
    #[expect(
        unsafe_code,
        reason = "the bytes are this end's until the stamp is written"
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
            // SAFETY: the reader is done with the slots that it has counted, and reads this one when it has seen the stamp.
            unsafe { data::write_in_slot(slot, message) };
        } else {
            // SAFETY: as above, for the lines.
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

    /// Copies the next message, of `length_bytes`, which `next` has reported, as far as there is room for it.
    pub(crate) fn read(&mut self, ring: Ring<'_>, length_bytes: usize, into: &mut [u8]) {
        let room = length_bytes.min(into.len());
        self.take(ring, length_bytes, |message| {
            into[..room].copy_from_slice(&message[..room]);
        });
    }

    /// Takes the next message, of `length_bytes`, which `next` has reported, by a function that is given it where it lies, or, if it
    /// is short, a copy.
    #[expect(
        unsafe_code,
        reason = "the bytes are this end's until it has counted them"
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
            // SAFETY: `next` has seen the stamp, and the writer waits for the count, which comes when the function has returned. If it
            // panics, the message stays.
            unsafe { data::read_in_slot(slot, length_bytes, take) }
        } else {
            let lines = ring.data_from(self.read.and(length_bytes, ring.size).1);
            // SAFETY: as above.
            unsafe { data::read(lines, length_bytes, take) }
        };
        self.count(ring, length_bytes);
        taken
    }

    /// Counts the next message, which was taken.
    fn count(&mut self, ring: Ring<'_>, length_bytes: usize) {
        (self.read, _) = self.read.and(length_bytes, ring.size);
        let consumed = &ring.consumed.header;
        consumed.store(self.read.pack(), Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::VecDeque;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    const SIZES: [Size; 4] = [
        Size {
            slots: 4,
            slot_lines: 1,
            data_lines: 4,
        },
        Size {
            slots: 16,
            slot_lines: 1,
            data_lines: 2,
        },
        Size {
            slots: 2,
            slot_lines: 4,
            data_lines: 128,
        },
        Size {
            slots: 8,
            slot_lines: 2,
            data_lines: 16,
        },
    ];

    struct Memory {
        size: Size,
        control: Vec<Line>,
        data: Vec<DataLine>,
    }

    impl Memory {
        fn of(size: Size) -> Self {
            Self {
                size,
                control: (0..size.control_lines()).map(|_| Line::default()).collect(),
                data: (0..size.data_lines).map(|_| DataLine::default()).collect(),
            }
        }

        fn ring(&self) -> Ring<'_> {
            Ring::in_memory(self.size, &self.control, &self.data)
        }
    }

    /// The contents of a message of some length, which is its tag, too.
    fn message(number: usize, size: Size) -> (u32, Vec<u8>) {
        let length = number * 37 % (size.longest_bytes() + 1);
        let bytes =
            (0..length).map(|byte| u8::try_from((number + byte) % 251).expect("a remainder"));
        (u32::try_from(length).expect("it is short"), bytes.collect())
    }

    /// Gives a ring counters that begin just before 2^32.
    fn about_to_wrap(ring: Ring<'_>) -> (Writer, Reader) {
        let begin = Progress {
            messages: u32::MAX - 20,
            data_lines: u32::MAX - 50,
        };
        let consumed = &ring.consumed.header;
        consumed.store(begin.pack(), Ordering::Relaxed);
        for slot in (0..).take(ring.size.slots) {
            let earlier = begin.messages.wrapping_sub(slot + 1);
            let header = Header {
                stamp: stamp_of(earlier),
                tag: 7,
                length: 1,
            };
            ring.slot(earlier)[0]
                .header
                .store(header.pack(), Ordering::Relaxed);
        }
        let writer = Writer {
            written: begin,
            consumed: begin,
        };
        (writer, Reader { read: begin })
    }

    #[test]
    fn messages_come_as_they_were_sent_until_the_ring_is_full() {
        for size in SIZES {
            let (new, wrapping) = (Memory::of(size), Memory::of(size));
            fill(new.ring(), Writer::default(), Reader::default());
            let (writer, reader) = about_to_wrap(wrapping.ring());
            fill(wrapping.ring(), writer, reader);
        }
    }

    fn fill(ring: Ring<'_>, mut writer: Writer, mut reader: Reader) {
        let size = ring.size;
        let mut under_way = VecDeque::new();
        let mut refused_count = 0;
        for number in 0..1000 {
            let (tag, bytes) = message(number, size);
            while !writer.write(ring, tag, &bytes) {
                refused_count += 1;
                let (tag, bytes): (u32, Vec<u8>) =
                    under_way.pop_front().expect("an empty ring has room");
                assert_eq!(reader.next(ring), Some((tag, bytes.len())));
                let mut read = vec![0; bytes.len()];
                match number % 2 {
                    0 => reader.read(ring, bytes.len(), &mut read),
                    _ => reader.take(ring, bytes.len(), |message| read.copy_from_slice(message)),
                }
                assert_eq!(read, bytes);
            }
            under_way.push_back((tag, bytes));
        }
        assert!(refused_count > 300, "{refused_count}");
        for (_, bytes) in under_way {
            // What is longer than its buffer is over as well.
            let mut begin = vec![0; bytes.len() / 2];
            reader.read(ring, bytes.len(), &mut begin);
            assert_eq!(begin, bytes[..bytes.len() / 2]);
        }
        assert_eq!(reader.next(ring), None);
    }

    #[test]
    fn a_ring_holds_as_many_messages_as_it_has_room_for() {
        for size in SIZES {
            for (length, most) in [
                (size.slot_bytes(), size.slots),
                (
                    size.slot_bytes() + 1,
                    size.slots.min(size.data_lines / size.slot_lines),
                ),
                (size.longest_bytes(), 2),
            ] {
                let memory = Memory::of(size);
                let (mut writer, message) = (Writer::default(), vec![1; length]);
                let written = (0..99).take_while(|_| writer.write(memory.ring(), 1, &message));
                assert_eq!(written.count(), most, "{size:?}, {length} bytes");
            }
        }
    }

    #[test]
    fn a_ring_that_was_cleared_is_empty() {
        let [size, ..] = SIZES;
        let memory = Memory::of(size);
        let ring = memory.ring();
        let message = vec![1; size.longest_bytes()];
        assert!(Writer::default().write(ring, 1, &message));
        Reader::default().read(ring, message.len(), &mut []);
        ring.clear();
        assert_eq!(Reader::default().next(ring), None);
        let mut writer = Writer::default();
        let count = (0..=size.slots)
            .take_while(|_| writer.write(ring, 1, &[]))
            .count();
        assert_eq!(count, size.slots);
    }

    #[test]
    fn messages_come_whole_from_another_thread() {
        let size = Size {
            slots: 4,
            slot_lines: 2,
            data_lines: 32,
        };
        let memory = Memory::of(size);
        let ring = memory.ring();
        let numbers = 0..50_000;
        let deadline = Instant::now() + Duration::from_secs(60);
        let pause = || {
            assert!(Instant::now() < deadline, "the other thread waits as well");
            thread::yield_now();
        };
        thread::scope(|scope| {
            let to_send = numbers.clone();
            scope.spawn(|| {
                let mut writer = Writer::default();
                for number in to_send {
                    let (tag, bytes) = message(number, size);
                    while !writer.write(ring, tag, &bytes) {
                        pause();
                    }
                }
            });
            let mut reader = Reader::default();
            for number in numbers {
                let (tag, bytes) = message(number, size);
                let length = loop {
                    match reader.next(ring) {
                        None => pause(),
                        Some(found) => break found,
                    }
                };
                assert_eq!(length, (tag, bytes.len()));
                let mut read = vec![0; bytes.len()];
                reader.read(ring, bytes.len(), &mut read);
                assert_eq!(read, bytes);
            }
        });
    }
}

/// Every order in which another core may see the memory: `RUSTFLAGS="--cfg loom" cargo test --package treefold-comm --lib ring`.
#[cfg(all(test, loom))]
mod loomed {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    /// A line of data; two lines; two more, for which the last line is skipped, and a short message, which find room only when these were read.
    #[test]
    fn whoever_sees_a_stamp_sees_the_message() {
        let size = Size {
            slots: 4,
            slot_lines: 1,
            data_lines: 4,
        };
        let longest = size.longest_bytes();
        check(size, [SHORT_BYTES + 1, longest, longest, 9]);
    }

    /// A message that fills the lines of its slot; one beside the slots; and another in the slot of the first, which finds room only when
    /// that was read.
    #[test]
    fn whoever_sees_a_stamp_sees_all_lines_of_the_slot() {
        let size = Size {
            slots: 2,
            slot_lines: 2,
            data_lines: 4,
        };
        check(size, [size.slot_bytes(), size.longest_bytes(), 100]);
    }

    /// Passes messages of these lengths from a thread to another, in all orders with three forced switches at most. That bounds the model, and
    /// its few messages and lines do: real slots have up to eight lines, but the writer and the reader treat all lines after the first alike.
    fn check<const N: usize>(size: Size, lengths: [usize; N]) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(move || {
            let control: Vec<Line> = (0..size.control_lines()).map(|_| Line::default()).collect();
            let data: Vec<DataLine> = (0..size.data_lines).map(|_| DataLine::default()).collect();
            let memory = Arc::new((control, data));
            let shared = Arc::clone(&memory);
            let sender = thread::spawn(move || {
                let mut writer = Writer::default();
                let ring = Ring::in_memory(size, &shared.0, &shared.1);
                for (fill, length) in (1..).zip(lengths) {
                    while !writer.write(ring, fill.into(), &vec![fill; length]) {
                        thread::yield_now();
                    }
                }
            });
            let mut reader = Reader::default();
            let ring = Ring::in_memory(size, &memory.0, &memory.1);
            for (fill, length) in (1..).zip(lengths) {
                let found = loop {
                    match reader.next(ring) {
                        None => thread::yield_now(),
                        Some(found) => break found,
                    }
                };
                assert_eq!(found, (u32::from(fill), length));
                let mut read = vec![0; length];
                reader.read(ring, length, &mut read);
                assert_eq!(read, vec![fill; length]);
            }
            sender.join().expect("it ends");
        });
    }
}
