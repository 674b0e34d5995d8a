//! What a rank reduces in a call, as bytes.

use crate::engines::values::Memory;

/// What a rank brings to a call.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub enum Operands<'r> {
    /// Its items, in ownership order.
    Items(&'r [u8]),
    /// Pairs of slices of items, whose products are reduced: a column for each pair.
    Pairs(&'r [[&'r [u8]; 2]]),
    /// The folds of its own nodes, or why there are none.
    Nodes(Result<&'r [u8], &'r str>),
}

/// Operands as an engine takes them.
pub(super) struct Given<'r> {
    pub(super) bytes: Bytes<'r>,
    /// Whether they are the folds of this rank's own nodes.
    pub(super) are_nodes: bool,
}

pub(super) enum Bytes<'r> {
    Lent(&'r [u8]),
    Made(Memory),
}

impl Given<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Lent(bytes) => bytes,
            Bytes::Made(memory) => memory.bytes(),
        }
    }
}
