//! What the ranks of a plan have agreed on, in addition to type and operator.

use distribution::Ownership;
use schedule::Parameters;

use crate::algorithm::Algorithm;
use crate::message_buffer::MessageBuffer;

/// The terms that are the same on every rank.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) choice: Choice,
    pub(crate) root: usize,
    pub(crate) width: usize,
    pub(crate) ownership: Ownership,
    pub(crate) message_limit: usize,
    pub(crate) message_buffer: MessageBuffer,
}

/// The algorithm that runs, and its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) algorithm: Algorithm,
    pub(crate) parameters: Parameters,
    /// Number of strips of columns, which are reduced one after the other.
    pub(crate) strips: usize,
    /// The mean number of rows of the fragment of a rank's items.
    pub(crate) rows: f64,
}
