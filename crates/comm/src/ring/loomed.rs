//! Tests all orders in which another core may see the writes. To run: `RUSTFLAGS="--cfg loom" cargo test -p treefold-comm --lib ring`.

use loom::sync::Arc;
use loom::thread;

use super::*;

/// Passes a message of one line of data, two messages of two lines, and a short message. The third message skips the last line of the
/// ring. The last two messages have room only after the first two were read.
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

/// Passes a message that fills its slot, a message in lines of data, and a message that reuses the first message's slot.
#[test]
fn whoever_sees_a_stamp_sees_all_lines_of_the_slot() {
    let size = Size {
        slots: 2,
        slot_lines: 2,
        data_lines: 4,
    };
    check(size, [size.slot_bytes(), size.longest_bytes(), 100]);
}

/// Passes messages of these lengths from one thread to another, in all interleavings with at most three preemptions. This limit, and the
/// few messages and lines, bound the test's time. Real slots have up to eight lines, but all lines after the first are treated alike.
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
        sender.join().expect("the sender ends");
    });
}
