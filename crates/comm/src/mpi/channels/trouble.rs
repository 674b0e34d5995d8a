//! How a waiting rank detects that its message will never come, because its peer has given up or is in another exchange.
//!
//! A receive through a ring detects both immediately. A receive by MPI does not, since a message of another exchange has another tag
//! and matches no receive. So a rank that has waited for a while searches for such messages. Ranks in different exchanges may each wait
//! before they send anything, so after a longer wait a rank sends a notice that names its exchange.

use std::ffi::c_int;
use std::iter;

use crate::conversation::Conversations;
use crate::mpi::calls::failure::Failure;
use crate::mpi::channels::channel::{Channel, Channels};
use crate::mpi::messages::message::{Message, Trouble};
use crate::mpi::messages::notice::{NOTICE_BYTES_MAX, Notice};
use crate::request::{RequestId, Requests};
use crate::tag::Tag;

/// A rank that waits for many messages examines at most this number of them at a time.
const LOOKED_AT_MAX: usize = 16;

/// Discards the notices that arrived before a wait in this exchange began. They may be stale, since the turn number in a tag wraps.
#[cold]
pub(crate) fn forget_the_past(
    requests: &mut Requests<Message>,
    channels: &mut Channels,
    tag: Tag,
) -> Result<(), Failure> {
    channels.take_all_in(requests);
    take_notices(tag, channels)?;
    channels.conversations.forget_waits(tag);
    Ok(())
}

/// Fails the requests that can never complete. Returns whether there are any.
#[cold]
pub(crate) fn look(
    requests: &mut Requests<Message>,
    channels: &mut Channels,
    awaited: &[RequestId],
) -> Result<bool, Failure> {
    channels.take_all_in(requests);
    take_notices(Tag::CONTROL, channels)?;
    let mut found_any = false;
    for &request in awaited.iter().take(LOOKED_AT_MAX) {
        let message = requests.get_mut(request);
        if let Some(trouble) = trouble_of(message, channels)? {
            message.fail(trouble);
            channels.forget_request(message.tag(), request);
            found_any = true;
        }
    }
    Ok(found_any)
}

fn trouble_of(message: &Message, channels: &mut Channels) -> Result<Option<Trouble>, Failure> {
    let tag = message.tag();
    take_notices(tag, channels)?;
    if let Some(given_up) = channels.conversations.who_gave_up(tag) {
        return Ok(Some(Trouble::GivenUp(given_up)));
    }
    if let Some((rank, found)) = channels.conversations.who_is_elsewhere(tag) {
        return Ok(Some(Trouble::Mismatched(rank, found)));
    }
    if !message.is_receiving() {
        return Ok(None);
    }
    let found = match channels.unexpected_in_ring(tag, |found| is_wrong(tag, found)) {
        Some(found) => Some(found),
        None => wrong_message(tag, channels)?,
    };
    Ok(found.map(|(rank, found)| Trouble::Mismatched(rank, found)))
}

/// Whether a message of the exchange `found` shows that ranks are in different exchanges. A message of a later turn does not show this:
/// it may have overtaken the awaited message, if one of these two goes through a ring and the other by MPI.
fn is_wrong(awaited: Tag, found: Tag) -> bool {
    found != awaited && awaited.turns_to(found) <= 0
}

/// Receives the notices about a conversation that have come by MPI.
fn take_notices(about: Tag, channels: &mut Channels) -> Result<(), Failure> {
    while let Some((rank, notice)) = next_notice(about, channels)? {
        channels.note_heard(rank);
        if let Some(notice) = notice {
            notice.note(&mut channels.conversations, rank, about);
        }
    }
    Ok(())
}

/// The next notice and its sender. The notice is `None` if its bytes are invalid.
fn next_notice(
    about: Tag,
    channels: &mut Channels,
) -> Result<Option<(usize, Option<Notice>)>, Failure> {
    let Some((channel, _)) = channels.of(about) else {
        return Ok(None);
    };
    if !channel.tags_tell_exchanges() {
        return Ok(None);
    }
    let mpi_tag = channel.mpi_tag(about.any_notice());
    let Some(from) = channel.raw.probe_for(mpi_tag)? else {
        return Ok(None);
    };
    let capacity = c_int::try_from(NOTICE_BYTES_MAX).expect("a few bytes");
    let buffer = vec![0; NOTICE_BYTES_MAX];
    let mut receive = channel.raw.start_receive(buffer, capacity, from, mpi_tag)?;
    // The message has arrived, so this loop ends.
    while !receive.test()? {}
    let rank = receive.peer();
    Ok(Some((rank, Notice::from_bytes(&receive.into_buffer()))))
}

/// Receives the notices about all conversations that have come by MPI.
#[cold]
pub(crate) fn take_all_notices(channels: &mut Channels) -> Result<(), Failure> {
    for about in channels.conversations.open_tags() {
        take_notices(about, channels)?;
    }
    Ok(())
}

/// Finds a message that has come by MPI in another exchange, of this turn or of the turn before. Returns its sender and exchange.
///
/// The turn number in a tag wraps. A sender that waits for nobody may be so far ahead that one of its later messages has the tag of an
/// earlier turn. Its messages arrive in order, so only its oldest message counts.
fn wrong_message(tag: Tag, channels: &mut Channels) -> Result<Option<(usize, Tag)>, Failure> {
    let Some((channel, conversations)) = channels.of(tag) else {
        return Ok(None);
    };
    if !channel.tags_tell_exchanges() {
        return Ok(None);
    }
    let own = channel.mpi_tag(tag);
    for turn in [tag.turn(), tag.turn().wrapping_sub(1)] {
        for kind in 0..Tag::KIND_LIMIT {
            let candidate = tag.with_exchange(turn, kind);
            let mpi_tag = channel.mpi_tag(candidate);
            if mpi_tag == own {
                continue;
            }
            if let Some(from) = channel.raw.probe_for(mpi_tag)?
                && oldest_from(from, channel, conversations)? == Some(mpi_tag)
            {
                let from = usize::try_from(from).expect("MPI counts from 0");
                return Ok(Some((from, candidate)));
            }
        }
    }
    Ok(None)
}

/// The MPI tag of the oldest message from a rank in an open conversation. Older messages of closed conversations are dropped.
fn oldest_from(
    from: c_int,
    channel: &Channel,
    conversations: &Conversations,
) -> Result<Option<c_int>, Failure> {
    while let Some((mpi_tag, bytes)) = channel.raw.oldest_from(from)? {
        if !conversations.is_closed(channel.conversation_of(mpi_tag)) {
            return Ok(Some(mpi_tag));
        }
        let buffer = vec![0; bytes.unsigned_abs() as usize];
        let mut receive = channel.raw.start_receive(buffer, bytes, from, mpi_tag)?;
        if !receive.test()? {
            channel.lifetime.keep(iter::once(receive));
        }
    }
    Ok(None)
}
