//! What exact plans and accumulators make of a program's items: a sum, a norm or a dot product.

use crate::element::ElementType;
use crate::failure::{Code, Failure};

/// What exact plans and accumulators make of the items, by a code of `treefold.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "treefold.h describes them")]
pub enum Figure {
    Sum,
    Norm,
    Dot,
    ConjugateDot,
}

impl Figure {
    const ALL: [Self; 4] = [Self::Sum, Self::Norm, Self::Dot, Self::ConjugateDot];

    /// The figure of a code on a type; they count from 1.
    ///
    /// # Errors
    /// There is no such code, or the type has no such figure.
    pub fn of_code(code: i32, element_type: ElementType) -> Result<Self, Failure> {
        let index = usize::try_from(code)
            .ok()
            .and_then(|code| code.checked_sub(1));
        let known = index.and_then(|index| Self::ALL.get(index)).copied();
        let figure = known.ok_or_else(|| {
            Failure::argument("figure", format_args!("there is no exact figure {code}"))
        })?;
        let unsupported = |message| Err(Failure::new(Code::Unsupported, message));
        match (element_type, figure) {
            (ElementType::F32 | ElementType::F64, _)
            | (ElementType::C32 | ElementType::C64, Self::Sum | Self::Dot | Self::ConjugateDot) => {
                Ok(figure)
            }
            (ElementType::C32 | ElementType::C64, Self::Norm) => unsupported(
                "the exact norm of complex numbers is that of twice as many real ones: give them as those",
            ),
            _ => unsupported("integers have exact sums in tree order"),
        }
    }
}
