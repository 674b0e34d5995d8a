//! Blocking reductions: what a call asks for, who does it, and the functions that programs call.

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
