//! What a plan remembers about GPUs: whether it has looked for the driver, and which floats a GPU can sum.

use std::cell::Cell;

use treefold::cuda::Lookout;

/// The type of the floats in the items.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Floats {
    F32,
    F64,
}

/// What a plan remembers about GPUs.
pub(crate) struct Gpu {
    /// `None` after the plan's first call, which looks for the driver.
    lookout: Cell<Option<Lookout>>,
    /// The type of the floats to sum, if a GPU can sum them.
    pub(crate) floats: Cell<Option<Floats>>,
}

impl Default for Gpu {
    fn default() -> Self {
        Self {
            lookout: Cell::new(Some(Lookout::new())),
            floats: Cell::new(None),
        }
    }
}

impl Gpu {
    /// Looks for the driver in a plan's first call.
    pub(crate) fn look(&self) {
        if let Some(lookout) = self.lookout.take() {
            lookout.look();
        }
    }
}
