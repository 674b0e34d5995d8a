//! Messages that one communicator of a rank has received for another communicator.

use std::cell::RefCell;

use super::group::Group;
use super::network::Envelope;

/// The communicators of one rank share this list of messages that one of them has received for others, which may not exist yet.
#[derive(Debug, Default)]
pub(super) struct Shelf(RefCell<Vec<Envelope>>);

impl Shelf {
    /// Moves the messages for a communicator to the end of `arrived`. Returns whether there were any.
    pub(super) fn take(&self, group: &Group, arrived: &mut Vec<Envelope>) -> bool {
        let mut envelopes = self.0.borrow_mut();
        if envelopes.is_empty() {
            return false;
        }
        let before = arrived.len();
        arrived.extend(envelopes.extract_if(.., |envelope| group.owns(envelope)));
        group.localise(&mut arrived[before..]);
        arrived.len() > before
    }

    /// Keeps the messages that are for other communicators.
    pub(super) fn put_aside(&self, group: &Group, arrived: &mut Vec<Envelope>) {
        if !arrived.iter().all(|envelope| group.owns(envelope)) {
            let others = arrived.extract_if(.., |envelope| !group.owns(envelope));
            self.0.borrow_mut().extend(others);
        }
        group.localise(arrived);
    }
}

impl Group {
    #[inline]
    fn owns(&self, envelope: &Envelope) -> bool {
        envelope.context == self.context
    }

    /// Replaces senders' numbers in the network by their numbers in this group.
    #[inline]
    fn localise(&self, envelopes: &mut [Envelope]) {
        if self.members.is_some() {
            for envelope in envelopes {
                envelope.from = self.here(envelope.from).unwrap_or(envelope.from);
            }
        }
    }
}
