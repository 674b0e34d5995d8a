//! Tests of all schedules.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod all;
mod common;
mod effective;
mod parameters;
mod published;
#[cfg(feature = "baselines")]
mod simulation;
mod violations;
