//! Tags: which conversation a message belongs to, and which exchange of the conversation.

use std::fmt;

/// Marks a message, so that it matches only the receive that it is meant for.
///
/// A tag has two parts. Its *number* names a conversation, such as the messages of a plan. A conversation is a series of *exchanges*. An
/// exchange has a *turn*, its number in the series, and a *kind*, which says what its messages are for. A message matches a receive of the
/// same conversation and exchange. If ranks are in different exchanges of one conversation, their program is wrong; a transport that
/// detects this returns [`Error::Mismatched`](crate::Error::Mismatched).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag(u64);

/// The number of bits of a tag that name its exchange.
const EXCHANGE_BITS: u32 = 16;
const KIND_BITS: u32 = 4;
const TURN_BITS: u32 = EXCHANGE_BITS - KIND_BITS;

/// The kind of notices, by which ranks inform each other about an exchange.
const NOTICE: u64 = KINDS - 1;

const KINDS: u64 = 1 << KIND_BITS;

impl Tag {
    /// The tag of messages that belong to no plan. Its conversation is always open.
    pub const CONTROL: Tag = Tag::new(0);

    /// Numbers are below this limit. A world that built a plan every microsecond would reach the limit after nine years.
    pub const NUMBER_LIMIT: u64 = 1 << (u64::BITS - EXCHANGE_BITS);

    /// Kinds of exchanges are below this limit.
    pub const KIND_LIMIT: u8 = (1 << KIND_BITS) - 1;

    /// The tag with this number, in its first exchange.
    ///
    /// # Panics
    /// The number is not below [`NUMBER_LIMIT`](Tag::NUMBER_LIMIT).
    #[must_use]
    pub const fn new(number: u64) -> Self {
        assert!(number < Self::NUMBER_LIMIT);
        Self(number << EXCHANGE_BITS)
    }

    /// The tag of the same conversation, in an exchange with this turn, modulo 4096, and this kind.
    ///
    /// # Panics
    /// The kind is not below [`KIND_LIMIT`](Tag::KIND_LIMIT).
    #[must_use]
    #[inline]
    pub const fn with_exchange(self, turn: u64, kind: u8) -> Self {
        assert!(kind < Self::KIND_LIMIT);
        self.with_any_kind(turn, kind as u64)
    }

    const fn with_any_kind(self, turn: u64, kind: u64) -> Self {
        let turn = turn % (1 << TURN_BITS);
        Self(self.0 >> EXCHANGE_BITS << EXCHANGE_BITS | turn << KIND_BITS | kind)
    }

    /// The whole tag as a number, for a message's header.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// The tag for which [`to_bits`](Tag::to_bits) returns this number.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The conversation's number.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0 >> EXCHANGE_BITS
    }

    /// The exchange's turn, modulo 4096.
    #[must_use]
    pub const fn turn(self) -> u64 {
        self.0 >> KIND_BITS & ((1 << TURN_BITS) - 1)
    }

    /// The exchange's kind.
    #[must_use]
    pub const fn kind(self) -> u8 {
        (self.0 & (KINDS - 1)) as u8
    }

    /// How many turns `other` is ahead of this tag, in the same conversation; negative if `other` is behind.
    #[must_use]
    #[expect(clippy::cast_possible_wrap, reason = "12 bits")]
    pub const fn turns_to(self, other: Self) -> i64 {
        let half = 1 << (TURN_BITS - 1);
        let ahead = other.turn() + 2 * half - self.turn() + half;
        (ahead % (2 * half)) as i64 - half as i64
    }

    /// Turn and kind as one number, with the kind in the lowest bits.
    #[expect(clippy::cast_possible_truncation, reason = "16 bits")]
    #[cfg(any(feature = "mpi", test))]
    pub(crate) const fn exchange(self) -> u16 {
        self.0 as u16
    }

    /// The tag of the same conversation for which [`exchange`](Tag::exchange) returns this number.
    #[cfg(any(feature = "mpi", test))]
    pub(crate) const fn with_exchange_number(self, exchange: u16) -> Self {
        Self(self.0 >> EXCHANGE_BITS << EXCHANGE_BITS | exchange as u64)
    }

    /// The tag of a notice about this exchange.
    pub(crate) const fn notice(self) -> Self {
        self.with_any_kind(self.turn(), NOTICE)
    }

    /// The tag of all notices of the conversation. A notice contains the exchange that it is about, since a rank that searches for notices
    /// does not know their exchanges.
    #[cfg(feature = "mpi")]
    pub(crate) const fn any_notice(self) -> Self {
        self.with_any_kind(0, NOTICE)
    }

    /// Whether this is the tag of a notice.
    pub(crate) const fn is_notice(self) -> bool {
        self.0 & (KINDS - 1) == NOTICE
    }
}

/// The form of a tag in error texts.
impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "exchange {} of conversation {} (kind {})",
            self.turn(),
            self.number(),
            self.kind()
        )
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Tag({}, turn {}, kind {})",
            self.number(),
            self.turn(),
            self.kind()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Tag;

    #[test]
    fn a_tag_keeps_what_it_is_made_of() {
        for number in [0, 1, 32_768, Tag::NUMBER_LIMIT - 1] {
            for turn in [0, 1, 4095, 4096, 10_000] {
                for kind in 0..Tag::KIND_LIMIT {
                    let tag = Tag::new(number).with_exchange(turn, kind);
                    assert_eq!(
                        (tag.number(), tag.turn(), tag.kind()),
                        (number, turn % 4096, kind)
                    );
                    assert_eq!(Tag::new(number).with_exchange_number(tag.exchange()), tag);
                    assert!(!tag.is_notice());
                    let notice = tag.notice();
                    assert!(notice.is_notice());
                    assert_eq!((notice.number(), notice.turn()), (number, turn % 4096));
                }
            }
        }
    }

    #[test]
    fn turns_are_compared_across_their_wrap() {
        let at = |turn| Tag::new(1).with_exchange(turn, 0);
        for turn in [0, 5, 4094, 4095, 4096, 20_000] {
            for ahead in [0, 1, 3, 2000] {
                let ahead_signed = i64::try_from(ahead).unwrap();
                assert_eq!(at(turn).turns_to(at(turn + ahead)), ahead_signed);
                assert_eq!(at(turn + ahead).turns_to(at(turn)), -ahead_signed);
            }
        }
    }
}
