//! Tags: which conversation a message belongs to.

/// Marks the messages of one conversation, so that they match only each other.
///
/// A tag is a number below the [`tag_limit`](crate::Communicator::tag_limit) of its transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag(u32);

impl Tag {
    /// The tag of the [`collective`](crate::collective) operations by which plans are built.
    pub const CONTROL: Tag = Tag(0);

    /// The number of tags that every MPI library has (MPI 4.1, section 9.1.2: `MPI_TAG_UB` is at least 32767).
    pub const LEAST_LIMIT: u32 = 32768;

    /// The tag with this number.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}
