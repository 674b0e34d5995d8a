//! A ring of cache lines in memory that two processes share: short messages from the one to the other, in order, without a lock.
//!
//! A message takes as many lines as it needs. The first one's header carries a stamp, the number of the line since the ring was
//! made, modulo 2^16: it is written last, and a reader that finds the stamp it is waiting for finds the whole message. The reader
//! counts what it has read in a line of its own, which the writer reads only when the ring seems to be full. A message
//! costs one cache-line transfer; reporting it as read costs another.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

/// Lines of a ring between ranks of a node with few of them. Numbers of lines are powers of two, so that they divide 2^32.
#[cfg_attr(loom, expect(dead_code, reason = "a model's rings are short"))]
pub(crate) const MANY_LINES: usize = 64;

/// Lines of a ring elsewhere: there are as many rings as pairs of ranks.
pub(crate) const FEW_LINES: usize = 8;

/// The words of a line that carry a message.
const WORDS: usize = 7;

const WORD_BYTES: usize = size_of::<u64>();

const LINE_BYTES: usize = WORDS * WORD_BYTES;

/// The longest message in a ring of so many lines: half of it, so that one can be written while another is read.
pub(crate) const fn longest_bytes(lines: usize) -> usize {
    lines / 2 * LINE_BYTES
}

/// The memory of a ring of so many lines, in lines.
pub(crate) const fn memory_lines(lines: usize) -> usize {
    1 + lines
}

/// Stamp, tag and length of the message that begins in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    /// Modulo 2^16. Every line is stamped in every turn of the ring, so two stamps of a line that a reader can see are a turn apart.
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

/// The stamp of a line that has this number: never 0, the stamp of a new ring, where the ring is new.
#[expect(clippy::cast_possible_truncation, reason = "modulo 2^16")]
fn stamp_of(number: u32) -> u16 {
    number.wrapping_add(1) as u16
}

/// A cache line. Zeros are an empty one.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub(crate) struct Line {
    header: AtomicU64,
    words: [AtomicU64; WORDS],
}

impl Line {
    /// Writes the bytes of a message, of which there are [`LINE_BYTES`] at most.
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

    /// Reads the bytes of a message, of which there are [`LINE_BYTES`] at most.
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

/// The shared memory of a ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring<'a> {
    /// Its header is the number of lines that were read since the ring was made.
    consumed: &'a Line,
    lines: &'a [Line],
}

impl<'a> Ring<'a> {
    /// A ring of as many lines as there are after the first one, in memory that was zero or is cleared.
    #[inline]
    pub(crate) fn in_memory(memory: &'a [Line]) -> Self {
        let (consumed, lines) = memory.split_first().expect("a ring has lines");
        debug_assert!(lines.len().is_power_of_two());
        Self { consumed, lines }
    }

    /// Makes an empty ring of memory with any content.
    #[cfg_attr(loom, expect(dead_code, reason = "a model's rings are new"))]
    pub(crate) fn clear(self) {
        for line in self.lines {
            line.header.store(0, Ordering::Relaxed);
        }
        self.consumed.header.store(0, Ordering::Release);
    }

    #[inline]
    fn line(self, number: u32) -> &'a Line {
        &self.lines[number as usize & (self.lines.len() - 1)]
    }

    /// The lines that were read since it was made, modulo 2^32.
    #[expect(clippy::cast_possible_truncation, reason = "modulo 2^32")]
    fn consumed(self) -> u32 {
        self.consumed.header.load(Ordering::Acquire) as u32
    }
}

/// The lines of a message; an empty one takes one as well.
fn lines_of(length_bytes: usize) -> u32 {
    let lines = length_bytes.div_ceil(LINE_BYTES).max(1);
    u32::try_from(lines).expect("messages are short")
}

/// The writing end's own state.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    /// The lines that were written since the ring was made, modulo 2^32.
    written: u32,
    /// Those that were read when the writer last checked.
    consumed: u32,
}

impl Writer {
    /// Writes a message, if there is room for it. Says whether there was.
    pub(crate) fn write(&mut self, ring: Ring<'_>, tag: u32, message: &[u8]) -> bool {
        let lines = lines_of(message.len());
        let is_full =
            |consumed| (self.written.wrapping_sub(consumed) + lines) as usize > ring.lines.len();
        if is_full(self.consumed) {
            self.consumed = ring.consumed();
            if is_full(self.consumed) {
                return false;
            }
        }
        let first = self.written;
        let length = u16::try_from(message.len()).expect("messages are short");
        let header = |number: u32| Header {
            stamp: stamp_of(number),
            tag,
            length,
        };
        // The lines after the first are stamped as well, so that no stamp is older than a turn of the ring.
        for number in 1..lines {
            let number = first.wrapping_add(number);
            let word = header(number).pack();
            ring.line(number).header.store(word, Ordering::Relaxed);
        }
        for (number, bytes) in (0..).zip(message.chunks(LINE_BYTES)) {
            ring.line(first.wrapping_add(number)).store(bytes);
        }
        let word = header(first).pack();
        ring.line(first).header.store(word, Ordering::Release);
        self.written = first.wrapping_add(lines);
        true
    }
}

/// The reading end's own state.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// The lines that were read since the ring was made, modulo 2^32.
    read: u32,
}

impl Reader {
    /// The tag and the length in bytes of the next message, if it has arrived.
    #[inline]
    pub(crate) fn next(&self, ring: Ring<'_>) -> Option<(u32, usize)> {
        let word = ring.line(self.read).header.load(Ordering::Acquire);
        let header = Header::unpack(word);
        (header.stamp == stamp_of(self.read)).then_some((header.tag, header.length.into()))
    }

    /// Takes the next message, of `length_bytes`, which `next` has reported, as far as there is room for it.
    pub(crate) fn read(&mut self, ring: Ring<'_>, length_bytes: usize, into: &mut [u8]) {
        let room = length_bytes.min(into.len());
        for (number, bytes) in (0..).zip(into[..room].chunks_mut(LINE_BYTES)) {
            ring.line(self.read.wrapping_add(number)).load(bytes);
        }
        self.read = self.read.wrapping_add(lines_of(length_bytes));
        let consumed = &ring.consumed.header;
        consumed.store(self.read.into(), Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::VecDeque;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    fn memory(lines: usize) -> Vec<Line> {
        (0..memory_lines(lines)).map(|_| Line::default()).collect()
    }

    /// The contents of a message of some length, which is its tag, too.
    fn message(number: usize, lines: usize) -> (u32, Vec<u8>) {
        let length = number * 37 % (longest_bytes(lines) + 1);
        let bytes =
            (0..length).map(|byte| u8::try_from((number + byte) % 251).expect("a remainder"));
        (u32::try_from(length).expect("it is short"), bytes.collect())
    }

    /// Gives a ring counters that begin just before 2^32.
    fn about_to_wrap(ring: Ring<'_>) -> (Writer, Reader) {
        let number = u32::MAX - 20;
        ring.consumed.header.store(number.into(), Ordering::Relaxed);
        for line in (0..).take(ring.lines.len()) {
            let earlier = number.wrapping_sub(line + 1);
            let header = Header {
                stamp: stamp_of(earlier),
                tag: 7,
                length: 1,
            };
            ring.line(earlier)
                .header
                .store(header.pack(), Ordering::Relaxed);
        }
        let writer = Writer {
            written: number,
            consumed: number,
        };
        (writer, Reader { read: number })
    }

    #[test]
    fn messages_come_as_they_were_sent_until_the_ring_is_full() {
        for lines in [FEW_LINES, MANY_LINES] {
            let (new, wrapping) = (memory(lines), memory(lines));
            fill(Ring::in_memory(&new), Writer::default(), Reader::default());
            let ring = Ring::in_memory(&wrapping);
            let (writer, reader) = about_to_wrap(ring);
            fill(ring, writer, reader);
        }
    }

    fn fill(ring: Ring<'_>, mut writer: Writer, mut reader: Reader) {
        let lines = ring.lines.len();
        let mut under_way = VecDeque::new();
        let mut refused_count = 0;
        for number in 0..1000 {
            let (tag, bytes) = message(number, lines);
            while !writer.write(ring, tag, &bytes) {
                refused_count += 1;
                let (tag, bytes): (u32, Vec<u8>) =
                    under_way.pop_front().expect("an empty ring has room");
                assert_eq!(reader.next(ring), Some((tag, bytes.len())));
                let mut read = vec![0; bytes.len()];
                reader.read(ring, bytes.len(), &mut read);
                assert_eq!(read, bytes);
            }
            under_way.push_back((tag, bytes));
        }
        assert!(refused_count > 900);
        for (_, bytes) in under_way {
            // What is longer than its buffer is over as well.
            let mut begin = vec![0; bytes.len() / 2];
            reader.read(ring, bytes.len(), &mut begin);
            assert_eq!(begin, bytes[..bytes.len() / 2]);
        }
        assert_eq!(reader.next(ring), None);
    }

    #[test]
    fn a_ring_that_was_cleared_is_empty() {
        let memory = memory(FEW_LINES);
        let ring = Ring::in_memory(&memory);
        assert!(Writer::default().write(ring, 1, &[1; LINE_BYTES]));
        Reader::default().read(ring, LINE_BYTES, &mut []);
        ring.clear();
        assert_eq!(Reader::default().next(ring), None);
        let mut writer = Writer::default();
        let count = (0..=FEW_LINES)
            .take_while(|_| writer.write(ring, 1, &[]))
            .count();
        assert_eq!(count, FEW_LINES);
    }

    /// Else it could be taken for a new one after 2^16 lines.
    #[test]
    fn no_stamp_is_older_than_a_turn() {
        let memory = memory(MANY_LINES);
        let (ring, mut writer) = (Ring::in_memory(&memory), Writer::default());
        assert!(writer.write(ring, 1, &[1; longest_bytes(MANY_LINES)]));
        for number in 0..writer.written {
            let word = ring.line(number).header.load(Ordering::Relaxed);
            assert_eq!(Header::unpack(word).stamp, stamp_of(number));
        }
    }

    #[test]
    fn messages_come_whole_from_another_thread() {
        let lines = FEW_LINES;
        let memory = memory(lines);
        let ring = Ring::in_memory(&memory);
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
                    let (tag, bytes) = message(number, lines);
                    while !writer.write(ring, tag, &bytes) {
                        pause();
                    }
                }
            });
            let mut reader = Reader::default();
            for number in numbers {
                let (tag, bytes) = message(number, lines);
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

    #[test]
    fn whoever_sees_a_stamp_sees_the_message() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let memory: Vec<Line> = (0..memory_lines(FEW_LINES))
                .map(|_| Line::default())
                .collect();
            let memory = Arc::new(memory);
            let shared = Arc::clone(&memory);
            // Four lines, four, and two that find room only when the first were read.
            let lengths = [3 * LINE_BYTES + 1, longest_bytes(FEW_LINES), LINE_BYTES + 1];
            let sender = thread::spawn(move || {
                let mut writer = Writer::default();
                let ring = Ring::in_memory(&shared);
                for (fill, length) in (1..).zip(lengths) {
                    while !writer.write(ring, fill.into(), &vec![fill; length]) {
                        thread::yield_now();
                    }
                }
            });
            let mut reader = Reader::default();
            let ring = Ring::in_memory(&memory);
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
