//! Searches for the best boundaries: [`score_optimal`] by the score (thesis, eq. 3.7), [`path_optimal`] by the critical path.
//! Plans never run these searches. Programs run them through the constructors of [`Distribution`](crate::Distribution).

mod busy;
mod hops;
pub(crate) mod path_optimal;
pub(crate) mod score_optimal;
mod share_limit;
mod time_limit;
