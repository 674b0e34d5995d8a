//! Blocking reductions: their arguments, who runs them, and the exported functions.

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
