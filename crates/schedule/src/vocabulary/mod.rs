//! The types in which schedules are written: what a message carries, what a position does, and what all positions do together.
//!
//! Algorithms use only these types; none depends on another algorithm or on the catalogue that names them.

mod collective;
mod fold;
mod piece;
mod reversed;
mod step;
mod tile;
mod tree;

pub use collective::Collective;
pub(crate) use fold::Fold;
pub use piece::Piece;
pub(crate) use reversed::reversed;
pub(crate) use step::Steps;
pub use step::{Step, Transfer};
pub use tile::tile;
pub(crate) use tree::{Place, Shape};
