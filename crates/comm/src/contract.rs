//! Checks that a transport does what [`Communicator`] requires. A transport's tests call [`check`].
//!
//! Each check is collective: every rank calls it with its own communicator. A check that fails panics with a text that says what is
//! wrong, or does not return.
//!
//! ```
//! use comm::{contract, threads};
//!
//! threads::run(3, |comm| contract::check(&comm, |name| println!("{name}")))?;
//! # Ok::<(), threads::RunError>(())
//! ```

#![expect(
    clippy::unwrap_used,
    reason = "a check that fails may panic in `unwrap`"
)]

mod end;

use std::cell::Cell;
use std::time::Duration;

use crate::collective;
use crate::communicator::Communicator;
use crate::error::Error;
use end::End;

/// The numbers of bytes by which the capacity of a receive exceeds the length of its message. All checks run with each number. The second
/// number makes all capacities large, because a transport may carry messages for large receives in another way.
const SPARE_BYTES: [usize; 2] = [0, 1 << 13];

/// Runs all checks on the ranks of `comm`, and passes the name of each check to `report` when it has passed. Collective. Nothing else
/// may use `comm` meanwhile.
pub fn check(comm: &dyn Communicator, report: impl Fn(&str)) {
    let last_tag = Cell::new(0);
    let ends = SPARE_BYTES.map(|spare_bytes| End {
        comm,
        spare_bytes,
        last_tag: &last_tag,
    });
    for (name, check) in CHECKS {
        ends.iter().for_each(check);
        report(&name.replace('_', " "));
    }
}

type Check = fn(&End<'_>);

/// Pairs each check with the name of its function.
macro_rules! checks {
    ($($check:ident),+ $(,)?) => {
        [$((stringify!($check), $check as Check)),+]
    };
}

const CHECKS: [(&str, Check); 20] = checks![
    ring,
    message_to_oneself,
    empty_message,
    same_tag_keeps_its_order,
    tags_keep_apart,
    exchanges_keep_apart,
    giving_up_ends_one_conversation_only,
    receives_match_in_the_order_posted,
    many_messages,
    messages_without_requests_keep_their_order,
    a_receive_without_a_request_takes_only_its_own_message,
    sends_go_on_while_a_receive_is_awaited,
    eager_messages_need_no_receiver,
    long_messages_cross,
    timeout_passes_and_the_request_lives_on,
    cancelled_receive_matches_nothing,
    one_of_several_is_enough,
    collectives,
    hints_are_the_same_on_every_rank,
    bad_arguments,
];

/// Rank 0 waits for any other rank. The last rank sends at once; the other ranks send only after a message from rank 0.
fn one_of_several_is_enough(end: &End<'_>) {
    let (rank, size, tag) = (end.rank(), end.size(), end.fresh_tag());
    let last = size - 1;
    if rank > 0 {
        if rank < last {
            end.receive(0, tag, 0).unwrap();
        }
        return end.send(0, tag, vec![1]);
    }
    let pending: Vec<_> = (1..size)
        .map(|from| end.start_receive(from, tag, 1).unwrap())
        .collect();
    let ids: Vec<_> = pending.iter().map(|request| request.id()).collect();
    if size > 1 {
        assert!(end.comm.wait_any(&ids, None).unwrap());
    }
    if size > 2 {
        let nothing_yet = end
            .comm
            .wait_any(&ids[..size - 2], Some(Duration::from_millis(5)));
        assert_eq!(nothing_yet, Ok(false));
    }
    for other in 1..last {
        end.send(other, tag, Vec::new());
    }
    for request in pending {
        assert_eq!(end.comm.wait(request).unwrap(), [1]);
    }
}

fn ring(end: &End<'_>) {
    let tag = end.fresh_tag();
    let mut token = vec![u8::try_from(end.rank() % 251).unwrap()];
    let sent_before = end.comm.traffic();
    for _ in 0..end.size() {
        token = end.pass_on(tag, token, 1).unwrap();
    }
    assert_eq!(usize::from(token[0]), end.rank() % 251);
    let sent = end.comm.traffic();
    assert_eq!(sent.messages - sent_before.messages, end.size() as u64);
    assert_eq!(sent.bytes - sent_before.bytes, end.size() as u64);
}

fn message_to_oneself(end: &End<'_>) {
    let tag = end.fresh_tag();
    let incoming = end.start_receive(end.rank(), tag, 3).unwrap();
    let outgoing = end.start_send(end.rank(), tag, vec![7; 3]);
    assert_eq!(end.comm.wait(incoming), Ok(vec![7; 3]));
    end.comm.wait(outgoing).unwrap();
}

fn empty_message(end: &End<'_>) {
    // The capacity of a receive may exceed the length of its message.
    let received = end.pass_on(end.fresh_tag(), Vec::new(), 100);
    assert_eq!(received, Ok(Vec::new()));
}

fn same_tag_keeps_its_order(end: &End<'_>) {
    let (left, right) = end.neighbours();
    let tag = end.fresh_tag();
    let sends: Vec<_> = (0..20_u8)
        .map(|number| end.start_send(right, tag, vec![number]))
        .collect();
    for number in 0..20 {
        assert_eq!(end.receive(left, tag, 1), Ok(vec![number]));
    }
    end.wait_all(sends);
}

fn tags_keep_apart(end: &End<'_>) {
    let (left, right) = end.neighbours();
    let (first, second) = (end.fresh_tag(), end.fresh_tag());
    assert_ne!(first, second);
    let sends = [
        end.start_send(right, first, vec![1]),
        end.start_send(right, second, vec![2]),
    ];
    assert_eq!(end.receive(left, second, 1), Ok(vec![2]));
    assert_eq!(end.receive(left, first, 1), Ok(vec![1]));
    end.wait_all(sends);
}

/// A message never completes a receive of another exchange of its conversation: that receive fails, or waits.
fn exchanges_keep_apart(end: &End<'_>) {
    let (left, right) = end.neighbours();
    let (tag, done) = (end.fresh_tag(), end.fresh_tag());
    let (one, other) = (tag.with_exchange(1, 1), tag.with_exchange(1, 2));
    let out = end.start_send(right, one, vec![1]);
    let incoming = end.start_receive(left, other, 1).unwrap();
    end.pass_on(done, Vec::new(), 0).unwrap();
    match end.comm.wait_timeout(&incoming, Duration::from_millis(5)) {
        Ok(false) => end.comm.cancel(incoming),
        Ok(true) => {
            let mismatched = Error::Mismatched {
                rank: end.rank(),
                from: left,
                expected: other,
                found: one,
            };
            assert_eq!(end.comm.wait(incoming), Err(mismatched));
        }
        Err(error) => panic!("{error}"),
    }
    // If the receive did not fail, the message is still under way. The conversation can be closed even then.
    end.comm.cancel(out);
    end.comm.close(tag);
}

/// All ranks give up in one conversation; the next conversation still works.
fn giving_up_ends_one_conversation_only(end: &End<'_>) {
    let given_up = end.fresh_tag();
    end.comm.give_up(given_up);
    assert_eq!(end.pass_on(end.fresh_tag(), vec![1], 1), Ok(vec![1]));
    end.comm.close(given_up);
}

fn receives_match_in_the_order_posted(end: &End<'_>) {
    let (left, right) = end.neighbours();
    let tag = end.fresh_tag();
    let first = end.start_receive(left, tag, 1).unwrap();
    let second = end.start_receive(left, tag, 1).unwrap();
    let sends = [1, 2].map(|number| end.start_send(right, tag, vec![number]));
    assert_eq!(end.comm.wait(second), Ok(vec![2]));
    assert_eq!(end.comm.wait(first), Ok(vec![1]));
    end.wait_all(sends);
}

/// Sends messages of every length up to the receiver's capacity before the first is received.
fn many_messages(end: &End<'_>) {
    let (left, right) = end.neighbours();
    let (tag, longest) = (end.fresh_tag(), 200);
    let message = |from: usize, number: usize| -> Vec<u8> {
        let length = (number * 37 + from) % (longest + 1);
        let bytes = (0..length).map(|byte| u8::try_from((number + byte) % 251).unwrap());
        bytes.collect()
    };
    let start = |number| {
        end.start_send_for(right, tag, message(end.rank(), number), longest)
            .unwrap()
    };
    let sends: Vec<_> = (0..1000).map(start).collect();
    end.wait_all(sends);
    for number in 0..1000 {
        assert_eq!(end.receive(left, tag, longest), Ok(message(left, number)));
    }
}

/// Mixes sends with and without requests, and receives with and without requests, in different patterns.
fn messages_without_requests_keep_their_order(end: &End<'_>) {
    let (left, right) = end.neighbours();
    let (tag, capacity_bytes) = (end.fresh_tag(), 100 + end.spare_bytes);
    let before = end.comm.traffic();
    let mut sends = Vec::new();
    for number in 0..250 {
        let message = vec![number; usize::from(number % 101)];
        if number % 3 == 0 || !end.comm.try_send(right, tag, &message, capacity_bytes) {
            sends.push(end.start_send_for(right, tag, message, 100).unwrap());
        }
    }
    for number in 0..250 {
        let received = match number % 4 {
            0 => None,
            _ => end.try_receive(left, tag, capacity_bytes),
        };
        let message = received.unwrap_or_else(|| end.receive(left, tag, 100).unwrap());
        assert_eq!(message, vec![number; usize::from(number % 101)]);
    }
    end.wait_all(sends);
    assert_eq!(end.comm.traffic().messages - before.messages, 250);
}

/// A receive without a request does not take messages of other exchanges, nor messages that a posted receive may match.
fn a_receive_without_a_request_takes_only_its_own_message(end: &End<'_>) {
    let (left, right) = end.neighbours();
    let (tag, done) = (end.fresh_tag(), end.fresh_tag());
    let (one, other) = (tag.with_exchange(1, 1), tag.with_exchange(1, 2));
    let capacity_bytes = 1 + end.spare_bytes;
    let sends = [1, 2].map(|number| end.start_send(right, one, vec![number]));
    let signal = end.start_send(right, done, Vec::new());
    assert_eq!(end.try_receive(left, other, capacity_bytes), None);
    let incoming = end.start_receive(left, one, 1).unwrap();
    end.receive(left, done, 0).unwrap();
    let next = end.start_receive(left, one, 1).unwrap();
    let unmet = end.start_receive(left, done, 1).unwrap();
    assert_eq!(end.try_receive(left, one, capacity_bytes), None);
    end.comm.cancel(unmet);
    assert_eq!(end.comm.wait(incoming), Ok(vec![1]));
    assert_eq!(end.comm.wait(next), Ok(vec![2]));
    end.wait_all(sends);
    end.comm.wait(signal).unwrap();
}

/// Rank 0 waits only for an answer, which the last rank sends when all messages of rank 0 have arrived.
fn sends_go_on_while_a_receive_is_awaited(end: &End<'_>) {
    let (tag, answer, last) = (end.fresh_tag(), end.fresh_tag(), end.size() - 1);
    if last == 0 {
        return;
    }
    if end.rank() == 0 {
        let sends = (0..100).map(|number| end.start_send(last, tag, vec![number]));
        let sends: Vec<_> = sends.collect();
        end.receive(last, answer, 0).unwrap();
        sends
            .into_iter()
            .for_each(|request| end.comm.cancel(request));
    } else if end.rank() == last {
        for number in 0..100 {
            assert_eq!(end.receive(0, tag, 1), Ok(vec![number]));
        }
        end.send(0, answer, Vec::new());
    }
}

/// Sends of messages up to the eager limit complete before any rank posts a receive. Each rank also sends to itself.
fn eager_messages_need_no_receiver(end: &End<'_>) {
    const LONGEST_TESTED: usize = 64 << 10;
    let (left, right) = end.neighbours();
    let length_bytes = end.comm.hints().eager_bytes.min(LONGEST_TESTED);
    for (to, from) in [(right, left), (end.rank(), end.rank())] {
        let tag = end.fresh_tag();
        let out = end.start_send(to, tag, vec![1; length_bytes]);
        // No rank posts a receive before its own send is complete.
        end.comm.wait(out).unwrap();
        let received = end.receive(from, tag, length_bytes).unwrap();
        assert_eq!(received.len(), length_bytes);
    }
}

/// All ranks start sending messages far above any eager limit before they receive: starting a send must not wait for its receiver.
fn long_messages_cross(end: &End<'_>) {
    let length_bytes = 1 << 20;
    let message = |from: usize| vec![u8::try_from(from % 251).unwrap(); length_bytes];
    let received = end.pass_on(end.fresh_tag(), message(end.rank()), length_bytes);
    let (left, _) = end.neighbours();
    assert_eq!(received, Ok(message(left)));
}

fn timeout_passes_and_the_request_lives_on(end: &End<'_>) {
    let (left, right) = end.neighbours();
    let (go, tag) = (end.fresh_tag(), end.fresh_tag());
    let incoming = end.start_receive(left, tag, 1).unwrap();
    assert_eq!(end.comm.test(&incoming), Ok(false));
    assert_eq!(
        end.comm.wait_timeout(&incoming, Duration::from_millis(1)),
        Ok(false)
    );
    // Nobody sends before the receiver has seen its time-out.
    let signal = end.start_send(left, go, Vec::new());
    end.receive(right, go, 0).unwrap();
    let out = end.start_send(right, tag, vec![9]);
    while !end
        .comm
        .wait_timeout(&incoming, Duration::from_secs(10))
        .unwrap()
    {}
    assert_eq!(end.comm.test(&incoming), Ok(true));
    assert_eq!(end.comm.wait(incoming), Ok(vec![9]));
    end.comm.wait(signal).unwrap();
    end.comm.wait(out).unwrap();
}

fn cancelled_receive_matches_nothing(end: &End<'_>) {
    let (left, right) = end.neighbours();
    let (tag, go) = (end.fresh_tag(), end.fresh_tag());
    let given_up = end.start_receive(left, tag, 1).unwrap();
    end.comm.cancel(given_up);
    let signal = end.start_send(left, go, Vec::new());
    end.receive(right, go, 0).unwrap();
    assert_eq!(end.pass_on(tag, vec![5], 1), Ok(vec![5]));
    end.comm.wait(signal).unwrap();
}

fn collectives(end: &End<'_>) {
    let name = |rank: usize| u32::try_from(rank).unwrap().to_le_bytes().to_vec();
    let everyone: Vec<_> = (0..end.size()).map(name).collect();
    let all = collective::allgather(end.comm, end.fresh_tag(), name(end.rank()));
    assert_eq!(all, Ok(everyone.concat()));
    let mut greatest = name(end.rank());
    let keep_greater = |left: &mut [u8], right: &[u8]| {
        let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        if number(right) > number(left) {
            left.copy_from_slice(right);
        }
    };
    collective::allreduce(end.comm, end.fresh_tag(), &mut greatest, keep_greater).unwrap();
    assert_eq!(Some(&greatest), everyone.last());
    for root in [0, end.size() / 2, end.size() - 1] {
        let tag = end.fresh_tag();
        let is_root = end.rank() == root;
        let mut message = if is_root { name(root) } else { Vec::new() };
        collective::broadcast(end.comm, root, tag, &mut message, 4).unwrap();
        assert_eq!(message, name(root));
        let gathered = collective::gather(end.comm, root, tag, name(end.rank()), 4).unwrap();
        assert_eq!(gathered, if is_root { &everyone[..] } else { &[] });
    }
}

fn hints_are_the_same_on_every_rank(end: &End<'_>) {
    let hints = end.comm.hints();
    let own = format!("{hints:?} {}", end.comm.delivers_alone());
    let mut message = own.clone().into_bytes();
    // An allgather needs messages of one length.
    message.resize(256, 0);
    let all = collective::allgather(end.comm, end.fresh_tag(), message.clone()).unwrap();
    assert!(all.chunks(256).all(|other| other == message), "{own}");
    assert!((1..=end.size()).contains(&hints.concurrency), "{own}");
}

fn bad_arguments(end: &End<'_>) {
    let tag = end.fresh_tag();
    let size = end.size();
    let refused = |call| Error::NoSuchRank {
        call,
        peer: size,
        size,
    };
    let sent = end.start_send_for(size, tag, Vec::new(), 0);
    assert_eq!(sent.unwrap_err(), refused("start_send"));
    let received = end.start_receive(size, tag, 1);
    assert_eq!(received.unwrap_err(), refused("start_receive"));

    let (left, right) = end.neighbours();
    // The message is short, because Open MPI 4.1.4 writes past the end of a buffer that is too short for a message above the eager limit.
    let capacity_bytes = 8 + end.spare_bytes.min(1000);
    let message = vec![0; capacity_bytes + 1];
    let length_bytes = message.len();
    let out = end.comm.start_send(right, tag, message, length_bytes);
    let refused = Error::Truncated {
        rank: end.rank(),
        from: left,
        capacity_bytes,
    };
    let received = collective::receive(end.comm, left, tag, capacity_bytes);
    assert_eq!(received, Err(refused));
    end.comm.wait(out.unwrap()).unwrap();
}
