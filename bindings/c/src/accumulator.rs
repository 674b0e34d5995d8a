//! Accumulators of all kinds and element types. Items are passed as bytes.

mod kind;

use treefold::exact::Statistic;
use treefold::exact::quantity::{ComplexDots, ComplexSums, Dots, Norms, Sums};

use self::kind::{AccumulatorKind, ComplexMomentsOf, MomentsOf, OfFigure};
use crate::element::ElementType;
use crate::failure::{self, Code, Failure};
use crate::figure::Figure;
use crate::handle::handle;
use crate::keyed::{Change, Keys, State, of_bytes_error, same_kind};
use crate::raw::{elements, put};
use crate::statistic::{Asked, Question};

handle!(
    /// The handle of an accumulator.
    pub treefold_accumulator,
    Box<dyn State>,
    1,
    "accumulator"
);

/// Creates an empty accumulator.
///
/// # Errors
/// There is no accumulator for this statistic and this element type.
pub(crate) fn of_codes(element_type: ElementType, asked: Asked) -> Result<Box<dyn State>, Failure> {
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
                Figure::Norm => unreachable!("`Figure::of_statistic` rejects complex norms"),
            }
        };
    }
    let make = match element_type {
        F32 => real!(f32),
        F64 => real!(f64),
        C32 => complex!(f32),
        C64 => complex!(f64),
        _ => unreachable!("`Figure::of_statistic` rejects other types"),
    };
    Ok(make(element_type, Some(figure)))
}

fn empty<K: AccumulatorKind>(element_type: ElementType, figure: Option<Figure>) -> Box<dyn State> {
    Box::new(Typed::<K> {
        element_type,
        figure,
        total: K::Total::default(),
    })
}

/// An accumulator of kind `K`.
struct Typed<K: AccumulatorKind> {
    element_type: ElementType,
    /// What the accumulator computes; `None` for moments.
    figure: Option<Figure>,
    total: K::Total,
}

impl<K: AccumulatorKind> State for Typed<K> {
    fn element_type(&self) -> ElementType {
        self.element_type
    }

    fn change(&mut self, change: Change, _: Keys<'_>, arrays: &[&[u8]]) -> Result<(), Failure> {
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
                // `merge` checks the limit of items; `add` does not. A complex item counts as up to two: its real and its imaginary part.
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

    fn change_by(&mut self, change: Change, other: &dyn State) -> Result<(), Failure> {
        let other = same_kind(self, other)?;
        match change {
            Change::Add => K::merge(&mut self.total, &other.total)
                .map_err(|error| Failure::argument("other", error)),
            Change::Remove => K::unmerge(&mut self.total, &other.total)
                .map_err(|error| Failure::argument("other", error)),
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

    fn equals(&self, other: &dyn State) -> Result<bool, Failure> {
        Ok(self.total == same_kind(self, other)?.total)
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Failure> {
        Ok(K::to_bytes(&self.total))
    }

    fn become_bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.total = K::of_bytes(bytes).map_err(|error| of_bytes_error(&error))?;
        Ok(())
    }

    fn emptied(&self) -> Result<Box<dyn State>, Failure> {
        Ok(empty::<K>(self.element_type, self.figure))
    }

    fn boxed(&self) -> Result<Box<dyn State>, Failure> {
        Ok(Box::new(Self {
            element_type: self.element_type,
            figure: self.figure,
            total: self.total.clone(),
        }))
    }

    fn name(&self) -> String {
        format!("{} of TREEFOLD_{:?}", K::NAME, self.element_type)
    }
}
