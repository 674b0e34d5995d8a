//! What a plan has to do with GPUs.

use std::cell::Cell;

use treefold::cuda::Lookout;

/// The floats that items are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Floats {
    F32,
    F64,
}

/// What a plan remembers.
pub(crate) struct Gpu {
    /// The first call looks for the driver.
    lookout: Cell<Option<Lookout>>,
    /// What its sums are of, if a GPU can make them.
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
