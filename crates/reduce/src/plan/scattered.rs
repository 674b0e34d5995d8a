//! A hint for reductions of scattered items: how much they send, and how much an exact sum, which needs no order, would send.

use std::fmt;

use crate::engines::terms::Terms;
use crate::engines::values::Values;

/// Messages of fewer bytes get no hint.
const NOTABLE_BYTES: f64 = 65_536.0;

/// The mean size of the fragment of a rank's items, if it is large because the items are scattered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scattered {
    values: f64,
    bytes: f64,
    /// The number of bytes that an exact sum of the items would send.
    exact_bytes: Option<usize>,
}

impl Scattered {
    /// The hint for a plan, if it needs one.
    pub(crate) fn of(terms: &Terms, reduced: &dyn Values) -> Option<Self> {
        let values = terms.choice.rows * terms.width as f64;
        let bytes = values * reduced.item().size() as f64;
        let is_notable = terms.ownership.as_distribution().is_none() && bytes >= NOTABLE_BYTES;
        is_notable.then_some(Self {
            values,
            bytes,
            exact_bytes: reduced.exact_sum_bytes().map(|sum| sum * terms.width),
        })
    }
}

impl fmt::Display for Scattered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { values, bytes, .. } = self;
        write!(
            f,
            "the items are scattered: about {values:.0} values ({bytes:.1e} bytes) represent a rank's items"
        )?;
        match self.exact_bytes {
            Some(exact) => write!(
                f,
                "; an exact sum (`build_exact`) needs no order and sends {exact} bytes"
            ),
            None => Ok(()),
        }
    }
}
