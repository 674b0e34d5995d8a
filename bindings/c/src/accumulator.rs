//! Accumulators of all kinds and element types behind one trait. Items arrive as bytes.

mod kind;

use std::any::Any;

use treefold::exact::Statistic;
use treefold::exact::quantity::{ComplexDots, ComplexSums, Dots, Norms, Sums};

pub(crate) use self::kind::of_bytes_error;
use self::kind::{AccumulatorKind, ComplexMomentsOf, MomentsOf, OfFigure};
use crate::element::ElementType;
use crate::failure::{self, Code, Failure};
use crate::figure::Figure;
use crate::handle::{Copied, handle};
use crate::raw::{elements, put};
use crate::statistic::{Asked, Question};

handle!(
    /// The handle of an accumulator.
    pub treefold_accumulator,
    Box<dyn Accumulator>,
    1,
    "accumulator"
);

/// Whether items are added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Add,
    Remove,
}

/// An accumulator of any kind and element type.
pub(crate) trait Accumulator: Any + Send + Sync {
    /// The type of the program's elements.
    fn element_type(&self) -> ElementType;

    /// Adds or removes items, of one array or of two.
    ///
    /// # Errors
    /// The number of arrays is wrong; an address is not aligned; or there are fewer items than are to be removed.
    fn change(&mut self, change: Change, arrays: &[&[u8]]) -> Result<(), Failure>;

    /// Adds the items of `other`, or removes them.
    ///
    /// # Errors
    /// `other` is of another kind, or there are fewer items than are to be removed.
    fn change_by(&mut self, change: Change, other: &dyn Accumulator) -> Result<(), Failure>;

    /// Writes a statistic as one element of type [`Asked::element_type`].
    ///
    /// # Errors
    /// The accumulator does not have this statistic.
    fn write(&self, question: Question, result: &mut [u8]) -> Result<(), Failure>;

    /// Whether `other` is equal.
    ///
    /// # Errors
    /// `other` is of another kind.
    fn equals(&self, other: &dyn Accumulator) -> Result<bool, Failure>;

    fn to_bytes(&self) -> Vec<u8>;

    /// Replaces the contents with those that `to_bytes` has written.
    ///
    /// # Errors
    /// The bytes are not an accumulator of this kind.
    fn become_bytes(&mut self, bytes: &[u8]) -> Result<(), Failure>;

    /// An empty accumulator of the same kind.
    fn emptied(&self) -> Box<dyn Accumulator>;

    fn boxed(&self) -> Box<dyn Accumulator>;

    /// The description in error messages.
    fn name(&self) -> String;
}

impl Copied for Box<dyn Accumulator> {
    fn copied(&self) -> Result<Self, Failure> {
        Ok(self.boxed())
    }
}

/// Creates an empty accumulator.
///
/// # Errors
/// There is no accumulator for this statistic of elements of this type.
pub(crate) fn of_codes(
    element_type: ElementType,
    asked: Asked,
) -> Result<Box<dyn Accumulator>, Failure> {
    use ElementType::{C32, C64, F32, F64};
    use Statistic::{Count, Mean, StandardDeviation, Variance};
    if let Asked::Of(Count | Mean | Variance | StandardDeviation) = asked {
        return Ok(match element_type {
            F32 => empty::<MomentsOf<f32>>(F32, None),
            F64 => empty::<MomentsOf<f64>>(F64, None),
            C32 => empty::<ComplexMomentsOf<f32>>(C32, None),
            C64 => empty::<ComplexMomentsOf<f64>>(C64, None),
            _ => return Err(asked.missing(&format!("TREEFOLD_{element_type:?}"))),
        });
    }
    let figure = Figure::of_statistic(asked, element_type)?;
    macro_rules! real {
        ($float:ty) => {
            match figure {
                Figure::Sum => empty::<OfFigure<Sums<$float>>>,
                Figure::Norm => empty::<OfFigure<Norms<$float>>>,
                Figure::Dot | Figure::ConjugateDot => empty::<OfFigure<Dots<$float>>>,
            }
        };
    }
    macro_rules! complex {
        ($float:ty) => {
            match figure {
                Figure::Sum => empty::<OfFigure<ComplexSums<$float>>>,
                Figure::Dot => empty::<OfFigure<ComplexDots<$float, false>>>,
                Figure::ConjugateDot => empty::<OfFigure<ComplexDots<$float, true>>>,
                Figure::Norm => unreachable!("`Figure::of_statistic` knows that there is none"),
            }
        };
    }
    let make = match element_type {
        F32 => real!(f32),
        F64 => real!(f64),
        C32 => complex!(f32),
        C64 => complex!(f64),
        _ => unreachable!("`Figure::of_statistic` knows which types have figures"),
    };
    Ok(make(element_type, Some(figure)))
}

fn empty<K: AccumulatorKind>(
    element_type: ElementType,
    figure: Option<Figure>,
) -> Box<dyn Accumulator> {
    Box::new(Typed::<K> {
        element_type,
        figure,
        total: K::Total::default(),
    })
}

/// An accumulator of kind `K`.
struct Typed<K: AccumulatorKind> {
    element_type: ElementType,
    /// The figure that the accumulator computes; `None` for moments.
    figure: Option<Figure>,
    total: K::Total,
}

impl<K: AccumulatorKind> Typed<K> {
    /// Casts another accumulator to this kind.
    fn like<'o>(&self, other: &'o dyn Accumulator) -> Result<&'o Self, Failure> {
        let any: &dyn Any = other;
        any.downcast_ref().ok_or_else(|| {
            let reason = format_args!("it is {}, not {}", other.name(), self.name());
            Failure::argument("other", reason)
        })
    }
}

impl<K: AccumulatorKind> Accumulator for Typed<K> {
    fn element_type(&self) -> ElementType {
        self.element_type
    }

    fn change(&mut self, change: Change, arrays: &[&[u8]]) -> Result<(), Failure> {
        let [x, y] = match (arrays, K::TAKES_PAIRS) {
            ([x], false) => [elements("items", x)?, &[]],
            ([x, y], true) => [elements("x", x)?, elements("y", y)?],
            _ => {
                let takes = ["one array", "two arrays"][usize::from(K::TAKES_PAIRS)];
                let message = format!("{} takes {takes}", self.name());
                return Err(Failure::new(Code::Unsupported, message));
            }
        };
        if K::TAKES_PAIRS && x.len() != y.len() {
            return Err(failure::lengths(x.len(), y.len()));
        }
        let name = ["items", "x"][usize::from(K::TAKES_PAIRS)];
        match change {
            Change::Add => {
                // Accumulators count a complex number as up to two numbers: its real and its imaginary part.
                let most = i64::MAX as u64 / 2;
                if K::items(&self.total).saturating_add(x.len() as u64) > most {
                    let mut added = K::Total::default();
                    K::add(&mut added, x, y);
                    let result = K::merge(&mut self.total, &added);
                    return result.map_err(|error| Failure::argument(name, error));
                }
                K::add(&mut self.total, x, y);
                Ok(())
            }
            Change::Remove => {
                let mut removed = K::Total::default();
                K::add(&mut removed, x, y);
                let result = K::unmerge(&mut self.total, &removed);
                result.map_err(|error| Failure::argument(name, error))
            }
        }
    }

    fn change_by(&mut self, change: Change, other: &dyn Accumulator) -> Result<(), Failure> {
        let other = self.like(other)?;
        match change {
            Change::Add => {
                let result = K::merge(&mut self.total, &other.total);
                result.map_err(|error| Failure::argument("other", error))
            }
            Change::Remove => {
                let result = K::unmerge(&mut self.total, &other.total);
                result.map_err(|error| Failure::argument("other", error))
            }
        }
    }

    fn write(&self, question: Question, result: &mut [u8]) -> Result<(), Failure> {
        let Question { asked, options } = question;
        let lacks = || asked.missing(&self.name());
        let is_value = match self.figure {
            Some(figure) => figure.is(asked, self.element_type),
            None => asked == Asked::Of(Statistic::Sum),
        };
        match asked {
            _ if is_value => put(K::value(&self.total), result),
            Asked::Of(Statistic::Count) => put(K::items(&self.total), result),
            Asked::Of(Statistic::Mean) => {
                put(K::mean(&self.total).ok_or_else(lacks)?, result);
            }
            Asked::Of(statistic) => {
                let spread = K::spread(&self.total, statistic, options.ddof);
                put(spread.ok_or_else(lacks)?, result);
            }
            Asked::ConjugateDot => return Err(lacks()),
        }
        Ok(())
    }

    fn equals(&self, other: &dyn Accumulator) -> Result<bool, Failure> {
        Ok(self.total == self.like(other)?.total)
    }

    fn to_bytes(&self) -> Vec<u8> {
        K::to_bytes(&self.total)
    }

    fn become_bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.total = K::of_bytes(bytes).map_err(|error| of_bytes_error(&error))?;
        Ok(())
    }

    fn emptied(&self) -> Box<dyn Accumulator> {
        empty::<K>(self.element_type, self.figure)
    }

    fn boxed(&self) -> Box<dyn Accumulator> {
        Box::new(Self {
            element_type: self.element_type,
            figure: self.figure,
            total: self.total.clone(),
        })
    }

    fn name(&self) -> String {
        format!("{} of TREEFOLD_{:?}", K::NAME, self.element_type)
    }
}
