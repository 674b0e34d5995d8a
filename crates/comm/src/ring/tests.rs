//! Tests messages through a ring, within one thread and between two threads.

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

/// The tag and the contents of a message. The tag is the length.
fn message(number: usize, size: Size) -> (u32, Vec<u8>) {
    let length = number * 37 % (size.longest_bytes() + 1);
    let bytes = (0..length).map(|byte| u8::try_from((number + byte) % 251).expect("a remainder"));
    (u32::try_from(length).expect("short"), bytes.collect())
}

/// Sets a ring's counters to values just below 2^32.
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
        // A message that is longer than its buffer is also removed as a whole.
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
