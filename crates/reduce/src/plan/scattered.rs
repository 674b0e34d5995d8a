//! What a reduction of scattered items sends, for people who could do without an order.

use std::any::TypeId;
use std::fmt;

use exact_sum::Accumulator;

use crate::engines::terms::Terms;
use crate::exact::Sum;

/// Shorter messages are not worth a word.
const NOTABLE_BYTES: f64 = 65_536.0;

/// The values that stand for the items of a rank, where they are many because its items are scattered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scattered {
    values: f64,
    bytes: f64,
    /// What an exact sum of such items would send.
    exact_bytes: Option<usize>,
}

impl Scattered {
    /// That of a plan for elements of type `T`, if there is something to say.
    pub(crate) fn of<T: 'static>(terms: &Terms, operator: &str) -> Option<Self> {
        let values = terms.choice.rows * terms.width as f64;
        let bytes = values * size_of::<T>() as f64;
        let is_notable = terms.ownership.as_distribution().is_none() && bytes >= NOTABLE_BYTES;
        let exact_bytes = match operator {
            "sum" => exact_bytes::<T>().map(|sum| sum * terms.width),
            _ => None,
        };
        is_notable.then_some(Self {
            values,
            bytes,
            exact_bytes,
        })
    }
}

/// The bytes of an exact sum of floats.
fn exact_bytes<T: 'static>() -> Option<usize> {
    fn bytes<T: 'static, F: exact_sum::Float>() -> Option<usize> {
        let is_it = TypeId::of::<T>() == TypeId::of::<F>();
        is_it.then_some(size_of::<<Sum<F> as Accumulator>::Words>())
    }
    bytes::<T, f64>().or_else(bytes::<T, f32>)
}

impl fmt::Display for Scattered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { values, bytes, .. } = self;
        write!(
            f,
            "the items are scattered: about {values:.0} values ({bytes:.1e} bytes) stand for those of a rank"
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
