//! The closed set of algorithms, and [`Schedule`], which chooses among their programs.

mod algorithm;
mod effective;
mod error;
mod parameters;
mod program;
mod schedule;

pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use error::{Count, Error};
pub use parameters::Parameters;
pub use schedule::Schedule;
