//! The axes of plots: their quantity, scale, range and labels, as plotters draws them.

use std::iter;
use std::ops::Range;

use plotters::coord::combinators::{IntoLogRange, LogCoord};
use plotters::coord::ranged1d::ValueFormatter;
use plotters::coord::ranged1d::{BoldPoints, KeyPointHint, NoDefaultFormatting, Ranged};
use plotters::coord::types::RangedCoordf64;
use plotters::data::fitting_range;
use plotters::data::float::pretty_print_float;
use serde::{Deserialize, Serialize};

/// The distance of 0 below the lowest power of ten, as a fraction of the axis above.
const ZERO_BELOW: f64 = 0.08;

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Linear.
    Linear,
    /// Logarithmic, labelled with powers of ten.
    Decades,
    /// Like `Decades`, with 0 at the lower end if 0 is one of the values.
    #[serde(rename = "decades and zero")]
    DecadesAndZero,
    /// Logarithmic, labelled with powers of two.
    Doublings,
}

/// An axis of a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// The quantity and its unit.
    pub name: String,
    /// The scale.
    pub scale: Scale,
}

impl Axis {
    /// A linear axis. If it is vertical, its range includes 0.
    pub fn linear(name: impl Into<String>) -> Self {
        Self::new(name, Scale::Linear)
    }

    /// A logarithmic axis, only for values above 0.
    pub fn decades(name: impl Into<String>) -> Self {
        Self::new(name, Scale::Decades)
    }

    /// A logarithmic axis with labels at powers of two.
    pub fn doublings(name: impl Into<String>) -> Self {
        Self::new(name, Scale::Doublings)
    }

    fn new(name: impl Into<String>, scale: Scale) -> Self {
        Self {
            name: name.into(),
            scale,
        }
    }

    /// Whether a value can be drawn on this axis.
    pub(super) fn has(&self, value: f64) -> bool {
        let has_zero = self.scale == Scale::DecadesAndZero;
        let is_linear = self.scale == Scale::Linear;
        value.is_finite() && (value > 0.0 || is_linear || has_zero && value >= 0.0)
    }

    /// The range to draw for these values, with a margin: from the smallest to the largest, and also 0 if the axis is vertical and linear.
    pub(super) fn span(&self, values: impl Iterator<Item = f64>, is_upright: bool) -> Span {
        let shown: Vec<f64> = values.filter(|&value| self.has(value)).collect();
        let has_zero = self.scale == Scale::DecadesAndZero && shown.iter().any(|&y| y <= 0.0);
        let shown = shown.into_iter().filter(|&y| y > 0.0 || !has_zero);
        let shown: Vec<f64> = shown.collect();
        let Range { start, end } = fitting_range(&shown);
        let mut least = None;
        let range = match self.scale {
            Scale::Linear if is_upright => start.min(0.0) * 1.05..end.max(0.0) * 1.05,
            Scale::Linear => start - 0.02 * (end - start)..end + 0.02 * (end - start),
            _ if shown.is_empty() => 1.0..2.0,
            _ => {
                let share = if is_upright { 0.04 } else { 0.02 };
                let room = (end / start).powf(share).max(1.05);
                let begin = if has_zero {
                    let power = 10.0_f64.powf(start.log10().floor());
                    least = Some(power);
                    power / (end / power).powf(ZERO_BELOW)
                } else {
                    start
                };
                begin / room..end * room
            }
        };
        let wider = start - 1.0..end + 1.0;
        Span {
            scale: self.scale,
            range: if range.is_empty() { wider } else { range },
            least,
        }
    }
}

/// The drawn range of an axis.
#[derive(Clone, Debug)]
pub(super) struct Span {
    scale: Scale,
    range: Range<f64>,
    /// The lowest labelled power of ten, if 0 is drawn below it.
    least: Option<f64>,
}

impl Span {
    /// The position of 0 on a logarithmic axis.
    fn zero(&self) -> f64 {
        let room = (self.range.end / self.range.start).powf(0.04);
        self.range.start * room
    }

    fn linear(&self) -> RangedCoordf64 {
        self.range.clone().into()
    }

    fn logarithmic(&self) -> LogCoord<f64> {
        let is_binary = self.scale == Scale::Doublings;
        let scale = self.range.clone().log_scale();
        scale.base(if is_binary { 2.0 } else { 10.0 }).into()
    }
}

impl Ranged for Span {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        match self.scale {
            Scale::Linear => self.linear().map(value, limit),
            Scale::DecadesAndZero if *value <= 0.0 => self.logarithmic().map(&self.zero(), limit),
            _ => self.logarithmic().map(value, limit),
        }
    }

    /// The labelled values: powers or, if there are too few, 1, 2, 5, 10, 20, … or equal steps. There are no marks between labels.
    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let count = hint.max_num_points();
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        if self.scale == Scale::Linear {
            return self.linear().key_points(hint);
        }
        // If 10 or more labels fit, plotters would add multiples of powers.
        let powers = self.logarithmic().key_points(BoldPoints(count.min(9)));
        if let Some(least) = self.least {
            let is_written = |power: &f64| *power > 0.999 * least;
            let powers = powers.into_iter().filter(is_written);
            return iter::once(0.0).chain(powers).collect();
        }
        if self.scale == Scale::Doublings || powers.len() > 2 {
            return powers;
        }
        let next = powers.last().map(|power| 10.0 * power);
        let parts = powers.into_iter().chain(next);
        let parts = parts.flat_map(|power| [power / 5.0, power / 2.0, power]);
        let parts: Vec<f64> = parts.filter(|part| self.range.contains(part)).collect();
        if parts.len() > 2 {
            return parts;
        }
        self.linear().key_points(hint)
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Span {
    /// Writes very large and very small powers as powers, such as 10^4.
    fn format_ext(&self, &value: &f64) -> String {
        let (base, exponent, is_power) = match self.scale {
            Scale::Linear => (0, 0.0, false),
            Scale::Decades | Scale::DecadesAndZero => {
                (10, value.log10(), !(9e-4..2e3).contains(&value))
            }
            Scale::Doublings => (2, value.log2(), value < 1.0 || self.range.end > 16e3),
        };
        if is_power && (exponent - exponent.round()).abs() < 1e-6 {
            return format!("{base}^{exponent:.0}");
        }
        // Steps that begin below zero reach 0 as a tiny number, whose sign would be printed.
        let is_zero = value.abs() < 1e-9 * (self.range.end - self.range.start);
        pretty_print_float(if is_zero { 0.0 } else { value }, false)
    }
}

#[cfg(test)]
mod tests {
    use plotters::coord::ranged1d::Ranged;

    use super::Axis;

    #[test]
    fn upright_axes_begin_at_zero_or_with_room() {
        let range = |axis: Axis, values: [f64; 2]| axis.span(values.into_iter(), true).range();
        assert_eq!(range(Axis::linear(""), [3.0, 10.0]), 0.0..10.5);
        assert!(range(Axis::linear(""), [-1.0, 1.0]).start < -1.0);
        assert!(range(Axis::decades(""), [1.0, 100.0]).start < 1.0);
        // Also without values, or with equal ones.
        for values in [[0.0, 0.0], [f64::NAN, f64::NAN], [5.0, 5.0]] {
            assert!(!range(Axis::linear(""), values).is_empty());
            let range = range(Axis::decades(""), values);
            assert!(range.start > 0.0 && !range.is_empty());
        }
    }
}
