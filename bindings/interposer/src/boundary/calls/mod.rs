//! Blocking reductions: their arguments, who runs them, and the exported functions.

pub(crate) mod arguments;
pub(crate) mod count;
pub(crate) mod device;
pub mod exports;
pub mod fortran;
pub(crate) mod intercept;
pub mod passed;
pub(crate) mod perform;
pub(crate) mod prepare;
pub(crate) mod repeated;
pub(crate) mod state;
