//! What every backend promises, as checks that each rank of a communicator runs.
//!
//! `tests/threads.rs` runs them on threads, with and without a seed; `tests/mpi.rs` under `mpirun`.

#![allow(clippy::unwrap_used, reason = "a check fails where it unwraps")]

use std::time::Duration;

use comm::collective::{allgather, broadcast, gather, receive, send};
use comm::{Communicator, Error, NativeOperation, NativeType, Reduction, Tag};

/// One check: every rank of a communicator calls it, once for each kind of tags.
pub(crate) type Check = fn(&dyn Communicator, Fresh);

/// How a check gets its tags.
pub(crate) type Fresh = fn(&dyn Communicator) -> Tag;

/// The kinds of tags: those of any messages, and those of short ones.
pub(crate) const TAGS: [Fresh; 2] = [|comm| comm.fresh_tag(), |comm| comm.fresh_tag().short()];

/// All of them, by name.
pub(crate) const CHECKS: [(&str, Check); 15] = [
    ("ring", ring),
    ("message to oneself", message_to_oneself),
    ("empty message", empty_message),
    ("same tag keeps its order", same_tag_keeps_its_order),
    ("tags keep apart", tags_keep_apart),
    (
        "receives match in the order posted",
        receives_match_in_the_order_posted,
    ),
    ("many short messages", many_short_messages),
    (
        "short messages go on while another is awaited",
        short_messages_go_on,
    ),
    ("long messages cross", long_messages_cross),
    (
        "timeout passes and the request lives on",
        timeout_then_message,
    ),
    ("cancelled receive matches nothing", cancelled_receive),
    ("one of several is enough", one_of_several),
    ("collectives", collectives),
    ("ordinary allreduce", ordinary_allreduce),
    ("bad arguments", bad_arguments),
];

/// Rank 0 waits for any of the others; only the last sends before rank 0 has been heard of.
fn one_of_several(comm: &dyn Communicator, fresh: Fresh) {
    let (rank, size, tag) = (comm.rank(), comm.size(), fresh(comm));
    let last = size - 1;
    if rank > 0 {
        if rank < last {
            receive(comm, 0, tag, 0).unwrap();
        }
        return send(comm, 0, tag, vec![1]).unwrap();
    }
    let pending: Vec<_> = (1..size)
        .map(|from| comm.start_receive(from, tag, vec![0; 1]).unwrap())
        .collect();
    let ids: Vec<_> = pending.iter().map(|request| request.id()).collect();
    if size > 1 {
        assert!(comm.wait_any(&ids, None).unwrap());
    }
    if size > 2 {
        let nothing_yet = comm.wait_any(&ids[..size - 2], Some(Duration::from_millis(5)));
        assert_eq!(nothing_yet, Ok(false));
    }
    for other in 1..last {
        send(comm, other, tag, Vec::new()).unwrap();
    }
    for request in pending {
        assert_eq!(comm.wait(request).unwrap(), [1]);
    }
}

fn neighbours(comm: &dyn Communicator) -> (usize, usize) {
    let (rank, size) = (comm.rank(), comm.size());
    ((rank + size - 1) % size, (rank + 1) % size)
}

fn ring(comm: &dyn Communicator, fresh: Fresh) {
    let (left, right) = neighbours(comm);
    let tag = fresh(comm);
    let mut token = vec![u8::try_from(comm.rank() % 251).unwrap()];
    let sent_before = comm.traffic();
    for _ in 0..comm.size() {
        let out = comm.start_send(right, tag, token).unwrap();
        token = receive(comm, left, tag, 1).unwrap();
        comm.wait(out).unwrap();
    }
    assert_eq!(usize::from(token[0]), comm.rank() % 251);
    let sent = comm.traffic();
    assert_eq!(sent.messages - sent_before.messages, comm.size() as u64);
    assert_eq!(sent.bytes - sent_before.bytes, comm.size() as u64);
}

fn message_to_oneself(comm: &dyn Communicator, fresh: Fresh) {
    let tag = fresh(comm);
    let incoming = comm.start_receive(comm.rank(), tag, vec![0; 3]).unwrap();
    let outgoing = comm.start_send(comm.rank(), tag, vec![7; 3]).unwrap();
    assert_eq!(comm.wait(incoming), Ok(vec![7; 3]));
    comm.wait(outgoing).unwrap();
}

fn empty_message(comm: &dyn Communicator, fresh: Fresh) {
    let (left, right) = neighbours(comm);
    let tag = fresh(comm);
    let out = comm.start_send(right, tag, Vec::new()).unwrap();
    // A receive may allow more than comes.
    assert_eq!(receive(comm, left, tag, 100), Ok(Vec::new()));
    comm.wait(out).unwrap();
}

fn same_tag_keeps_its_order(comm: &dyn Communicator, fresh: Fresh) {
    let (left, right) = neighbours(comm);
    let tag = fresh(comm);
    let sends: Vec<_> = (0..20_u8)
        .map(|number| comm.start_send(right, tag, vec![number]).unwrap())
        .collect();
    for number in 0..20 {
        assert_eq!(receive(comm, left, tag, 1), Ok(vec![number]));
    }
    for request in sends {
        comm.wait(request).unwrap();
    }
}

fn tags_keep_apart(comm: &dyn Communicator, fresh: Fresh) {
    let (left, right) = neighbours(comm);
    let (first, second) = (fresh(comm), fresh(comm));
    assert_ne!(first, second);
    let sends = [
        comm.start_send(right, first, vec![1]).unwrap(),
        comm.start_send(right, second, vec![2]).unwrap(),
    ];
    assert_eq!(receive(comm, left, second, 1), Ok(vec![2]));
    assert_eq!(receive(comm, left, first, 1), Ok(vec![1]));
    for request in sends {
        comm.wait(request).unwrap();
    }
}

fn receives_match_in_the_order_posted(comm: &dyn Communicator, fresh: Fresh) {
    let (left, right) = neighbours(comm);
    let tag = fresh(comm);
    let first = comm.start_receive(left, tag, vec![0; 1]).unwrap();
    let second = comm.start_receive(left, tag, vec![0; 1]).unwrap();
    let sends = [1, 2].map(|number| comm.start_send(right, tag, vec![number]).unwrap());
    assert_eq!(comm.wait(second), Ok(vec![2]));
    assert_eq!(comm.wait(first), Ok(vec![1]));
    for request in sends {
        comm.wait(request).unwrap();
    }
}

fn is_short(tag: Tag) -> bool {
    tag == tag.short()
}

/// All are sent before the first is received, of every length up to the longest short one.
fn many_short_messages(comm: &dyn Communicator, fresh: Fresh) {
    let (left, right) = neighbours(comm);
    let tag = fresh(comm);
    let longest = comm.short_bytes().min(300);
    let message = |from: usize, number: usize| -> Vec<u8> {
        let length = (number * 37 + from) % (longest + 1);
        let bytes = (0..length).map(|byte| u8::try_from((number + byte) % 251).unwrap());
        bytes.collect()
    };
    let numbers = 0..1000;
    let start = |number| comm.start_send(right, tag, message(comm.rank(), number));
    let sends: Vec<_> = numbers
        .clone()
        .map(|number| start(number).unwrap())
        .collect();
    for request in sends {
        comm.wait(request).unwrap();
    }
    for number in numbers {
        assert_eq!(receive(comm, left, tag, longest), Ok(message(left, number)));
    }
}

/// Rank 0 waits for nothing but an answer, which comes when all its messages have.
fn short_messages_go_on(comm: &dyn Communicator, fresh: Fresh) {
    let (tag, answer, last) = (fresh(comm), comm.fresh_tag(), comm.size() - 1);
    if comm.rank() == 0 {
        let sends = (0..100).map(|number| comm.start_send(last, tag, vec![number]).unwrap());
        let sends: Vec<_> = sends.collect();
        if last > 0 {
            receive(comm, last, answer, 0).unwrap();
        }
        sends.into_iter().for_each(|request| comm.cancel(request));
    } else if comm.rank() == last {
        for number in 0..100 {
            assert_eq!(receive(comm, 0, tag, 1), Ok(vec![number]));
        }
        send(comm, 0, answer, Vec::new()).unwrap();
    }
}

/// Both directions at once, far past any eager limit: a send must not wait for its receiver.
fn long_messages_cross(comm: &dyn Communicator, fresh: Fresh) {
    let (left, right) = neighbours(comm);
    let tag = fresh(comm);
    let length_bytes = 1 << 20;
    let fill = u8::try_from(comm.rank() % 251).unwrap();
    let out = comm.start_send(right, tag, vec![fill; length_bytes]);
    if is_short(tag) && comm.short_bytes() < length_bytes {
        let refused = Error::TooLong {
            rank: comm.rank(),
            length_bytes,
            limit_bytes: comm.short_bytes(),
        };
        assert_eq!(out.unwrap_err(), refused);
        return;
    }
    let out = out.unwrap();
    let received = receive(comm, left, tag, length_bytes).unwrap();
    assert_eq!(
        received,
        vec![u8::try_from(left % 251).unwrap(); length_bytes]
    );
    comm.wait(out).unwrap();
}

fn timeout_then_message(comm: &dyn Communicator, fresh: Fresh) {
    let (left, right) = neighbours(comm);
    let (go, tag) = (fresh(comm), fresh(comm));
    let incoming = comm.start_receive(left, tag, vec![0; 1]).unwrap();
    assert_eq!(comm.test(&incoming), Ok(false));
    assert_eq!(
        comm.wait_timeout(&incoming, Duration::from_millis(1)),
        Ok(false)
    );
    // Nobody sends before the receiver has seen its time-out.
    let told = comm.start_send(left, go, Vec::new()).unwrap();
    receive(comm, right, go, 0).unwrap();
    let out = comm.start_send(right, tag, vec![9]).unwrap();
    while !comm
        .wait_timeout(&incoming, Duration::from_secs(10))
        .unwrap()
    {}
    assert_eq!(comm.test(&incoming), Ok(true));
    assert_eq!(comm.wait(incoming), Ok(vec![9]));
    comm.wait(told).unwrap();
    comm.wait(out).unwrap();
}

fn cancelled_receive(comm: &dyn Communicator, fresh: Fresh) {
    let (left, right) = neighbours(comm);
    let (tag, go) = (fresh(comm), fresh(comm));
    let given_up = comm.start_receive(left, tag, vec![0; 1]).unwrap();
    comm.cancel(given_up);
    let told = comm.start_send(left, go, Vec::new()).unwrap();
    receive(comm, right, go, 0).unwrap();
    let out = comm.start_send(right, tag, vec![5]).unwrap();
    assert_eq!(receive(comm, left, tag, 1), Ok(vec![5]));
    comm.wait(told).unwrap();
    comm.wait(out).unwrap();
}

fn collectives(comm: &dyn Communicator, fresh: Fresh) {
    let name = |rank: usize| u32::try_from(rank).unwrap().to_le_bytes().to_vec();
    let everyone: Vec<_> = (0..comm.size()).map(name).collect();
    assert_eq!(allgather(comm, name(comm.rank())), Ok(everyone.concat()));
    for root in [0, comm.size() / 2, comm.size() - 1] {
        let tag = fresh(comm);
        let mut message = if comm.rank() == root {
            name(root)
        } else {
            Vec::new()
        };
        broadcast(comm, root, tag, &mut message, 4).unwrap();
        assert_eq!(message, name(root));
        let gathered = gather(comm, root, tag, name(comm.rank()), 4).unwrap();
        let expected = if comm.rank() == root {
            everyone.clone()
        } else {
            Vec::new()
        };
        assert_eq!(gathered, expected);
    }
}

fn ordinary_allreduce(comm: &dyn Communicator, _: Fresh) {
    let ranks = comm.size() as u64;
    let add = |left: &mut [u8], right: &[u8]| {
        let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap());
        let total = word(left) + word(right);
        left.copy_from_slice(&total.to_ne_bytes());
    };
    for native in [None, Some((NativeType::U64, NativeOperation::Sum))] {
        // The library asks for aligned elements.
        let (mut value, mut result) = (Aligned([0; 8]), Aligned([0; 8]));
        value.0 = (comm.rank() as u64 + 1).to_ne_bytes();
        let reduction = Reduction {
            native,
            combine: &add,
        };
        comm.allreduce_unordered(&value.0, &mut result.0, &reduction)
            .unwrap();
        assert_eq!(u64::from_ne_bytes(result.0), ranks * (ranks + 1) / 2);
        for root in 0..comm.size() {
            comm.reduce_unordered(root, &value.0, &mut result.0, &reduction)
                .unwrap();
            if comm.rank() == root {
                assert_eq!(u64::from_ne_bytes(result.0), ranks * (ranks + 1) / 2);
            }
        }
    }
}

/// Bytes where a number may be.
#[repr(align(8))]
struct Aligned([u8; 8]);

fn bad_arguments(comm: &dyn Communicator, fresh: Fresh) {
    let tag = fresh(comm);
    let size = comm.size();
    let refused = |call| Error::NoSuchRank {
        call,
        peer: size,
        size,
    };
    assert_eq!(
        send(comm, size, tag, Vec::new()),
        Err(refused("start_send"))
    );
    assert_eq!(receive(comm, size, tag, 1), Err(refused("start_receive")));

    let (left, right) = neighbours(comm);
    let out = comm.start_send(right, tag, vec![0; 9]).unwrap();
    let refused = Error::Truncated {
        rank: comm.rank(),
        from: left,
        capacity_bytes: 8,
    };
    assert_eq!(receive(comm, left, tag, 8), Err(refused));
    comm.wait(out).unwrap();
}
