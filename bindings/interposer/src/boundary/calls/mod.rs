//! Blocking reductions: their arguments, and whether treefold or the MPI library runs them. Also exports the reductions of all forms.

pub(crate) mod arguments;
pub(crate) mod count;
pub(crate) mod device;
mod exports;
pub(crate) mod intercept;
mod passed;
pub(crate) mod perform;
pub(crate) mod prepare;
pub(crate) mod repeated;
pub(crate) mod state;
