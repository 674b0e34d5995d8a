//! How a rank waits, and what it does meanwhile.

mod inquiring;
mod polling;
