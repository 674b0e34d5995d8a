//! The figures that exact plans and accumulators compute: sums, norms and dot products.

use treefold::exact::Statistic;

use crate::element::ElementType;
use crate::failure::{Code, Failure};
use crate::statistic::Asked;

/// The number that an exact plan or accumulator computes from the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "treefold.h describes them")]
pub enum Figure {
    Sum,
    Norm,
    Dot,
    ConjugateDot,
}

impl Figure {
    /// The figure that computes a statistic of items of type `element_type`.
    ///
    /// # Errors
    /// The statistic is none of these four, or the type does not have it.
    pub fn of_statistic(asked: Asked, element_type: ElementType) -> Result<Self, Failure> {
        let unsupported = |message: String| Err(Failure::new(Code::Unsupported, message));
        if element_type.is_integer() {
            return unsupported(
                "`type`: exact statistics need floating-point numbers; treefold_fold sums integers without rounding"
                    .to_owned(),
            );
        }
        let is_complex = matches!(element_type, ElementType::C32 | ElementType::C64);
        match asked {
            Asked::Of(Statistic::Sum) => Ok(Self::Sum),
            Asked::Of(Statistic::Dot) => Ok(Self::Dot),
            Asked::ConjugateDot => Ok(Self::ConjugateDot),
            Asked::Of(Statistic::Norm) if is_complex => unsupported(
                "complex numbers have no exact norm: pass n of them as 2n real numbers".to_owned(),
            ),
            Asked::Of(Statistic::Norm) => Ok(Self::Norm),
            Asked::Of(_) => unsupported(format!(
                "{} is not available here for items of type TREEFOLD_{element_type:?}",
                asked.name()
            )),
        }
    }

    /// Whether the value of this figure is the given statistic. For real numbers, both dot products are the same.
    pub(crate) fn is(self, asked: Asked, element_type: ElementType) -> bool {
        Self::of_statistic(asked, element_type).is_ok_and(|other| {
            let dots = [Self::Dot, Self::ConjugateDot];
            self == other || element_type.is_real() && dots.contains(&self) && dots.contains(&other)
        })
    }
}
