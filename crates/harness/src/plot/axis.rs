//! From values to pixels, and the values that are written at an axis.

use serde::{Deserialize, Serialize};

use crate::markdown::grouped;

/// How far apart values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// As far as they differ.
    Linear,
    /// As far as their ratios, with powers of ten written at it.
    Decades,
    /// As far as their ratios, with powers of two written at it.
    Doublings,
}

/// An axis of a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What it measures, and in which unit.
    pub name: String,
    /// How far apart its values are.
    pub scale: Scale,
}

impl Axis {
    /// An axis on which equal differences are equally far apart, from 0 if it is upright.
    pub fn linear(name: impl Into<String>) -> Self {
        Self::new(name, Scale::Linear)
    }

    /// An axis on which equal ratios are equally far apart; values above 0 alone can be drawn.
    pub fn decades(name: impl Into<String>) -> Self {
        Self::new(name, Scale::Decades)
    }

    /// The same for values that are, or lie between, powers of two.
    pub fn doublings(name: impl Into<String>) -> Self {
        Self::new(name, Scale::Doublings)
    }

    fn new(name: impl Into<String>, scale: Scale) -> Self {
        Self {
            name: name.into(),
            scale,
        }
    }

    /// Whether a value has a place on it.
    pub(super) fn has(&self, value: f64) -> bool {
        value.is_finite() && (value > 0.0 || self.scale == Scale::Linear)
    }

    /// What is drawn of it for these values, between two pixels: from the least to the greatest, with room beyond them if it is upright.
    pub(super) fn span(
        &self,
        values: impl Iterator<Item = f64>,
        is_upright: bool,
        from_px: f64,
        to_px: f64,
    ) -> Span {
        let shown = values.filter(|&value| self.has(value));
        let (least, greatest) = shown
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (f64::min(low, value), f64::max(high, value))
            });
        let (from, to) = match (least <= greatest, self.scale) {
            (false, _) => (1.0, 2.0),
            (true, Scale::Linear) if is_upright => {
                (least.min(0.0) * 1.05, greatest.max(0.0) * 1.05)
            }
            (true, Scale::Linear) => (least, greatest),
            (true, _) if is_upright => {
                let room = (greatest / least).powf(0.04);
                (least / room, greatest * room)
            }
            (true, _) => (least, greatest),
        };
        let (from, to) = match (from < to, self.scale) {
            (true, _) => (from, to),
            (false, Scale::Linear) => (from - 1.0, to + 1.0),
            (false, _) => (from / 2.0, to * 2.0),
        };
        Span {
            scale: self.scale,
            from,
            to,
            from_px,
            to_px,
        }
    }
}

/// The part of an axis that is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    scale: Scale,
    from: f64,
    to: f64,
    from_px: f64,
    to_px: f64,
}

impl Span {
    /// Where a value lies, in pixels.
    pub(super) fn at(&self, value: f64) -> f64 {
        let place = match self.scale {
            Scale::Linear => (value - self.from) / (self.to - self.from),
            _ => (value / self.from).ln() / (self.to / self.from).ln(),
        };
        self.from_px + place * (self.to_px - self.from_px)
    }

    /// About so many values, with what is written at them.
    pub(super) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Linear => self.steps(count),
            Scale::Decades => {
                let (powers, step) = self.powers(10.0, count);
                // Too few to read values by.
                if step == 1 && powers.len() < 3 {
                    let parts = self.parts_of_decades();
                    return if parts.len() < 3 {
                        self.steps(count)
                    } else {
                        parts
                    };
                }
                let power = |&exponent: &i32| (10_f64.powi(exponent), power_of_ten(exponent));
                powers.iter().map(power).collect()
            }
            Scale::Doublings => {
                let (powers, _) = self.powers(2.0, count);
                let is_short = powers.last().is_none_or(|&exponent| exponent < 14);
                let power = |&exponent: &i32| {
                    let value = 2_f64.powi(exponent);
                    let text = if is_short && exponent >= 0 {
                        value.to_string()
                    } else {
                        format!("2^{exponent}")
                    };
                    (value, text)
                };
                powers.iter().map(power).collect()
            }
        }
    }

    /// Multiples of 1, 2 or 5 of a power of ten.
    fn steps(&self, count: usize) -> Vec<(f64, String)> {
        let rough = (self.to - self.from) / count as f64;
        let power = 10_f64.powf(rough.log10().floor());
        let factors = [1.0, 2.0, 5.0, 10.0];
        let factor = factors
            .into_iter()
            .find(|factor| factor * power >= rough * 0.999);
        let step = factor.unwrap_or(10.0) * power;
        let mut ticks = Vec::new();
        let mut multiple = (self.from / step - 1e-6).ceil();
        while multiple * step <= self.to + 1e-6 * step {
            ticks.push((multiple * step, decimal(multiple * step, step)));
            multiple += 1.0;
        }
        ticks
    }

    /// The exponents of every n-th power of a base, and n.
    fn powers(&self, base: f64, count: usize) -> (Vec<i32>, i32) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "exponents of doubles have four digits"
        )]
        let exponent = |value: f64| value as i32;
        let first = exponent((self.from.ln() / base.ln() - 1e-6).ceil());
        let last = exponent((self.to.ln() / base.ln() + 1e-6).floor());
        let room = i32::try_from(count).unwrap_or(i32::MAX);
        let fits = |step: &i32| (last - first) / step < room;
        let step = (1..).find(fits).unwrap_or(1);
        let powers = (first..=last).filter(|exponent| exponent % step == 0);
        (powers.collect(), step)
    }

    /// 1, 2, 5, 10, 20, …
    fn parts_of_decades(&self) -> Vec<(f64, String)> {
        let mut ticks = Vec::new();
        let mut power = 10_f64.powf(self.from.log10().floor());
        while power <= self.to {
            for factor in [1.0, 2.0, 5.0] {
                let value = factor * power;
                if (self.from * (1.0 - 1e-9)..=self.to * (1.0 + 1e-9)).contains(&value) {
                    ticks.push((value, decimal(value, power)));
                }
            }
            power *= 10.0;
        }
        ticks
    }
}

/// 0.001 to 1000 as they are, others as 10^4.
fn power_of_ten(exponent: i32) -> String {
    match exponent {
        -3..=3 => decimal(10_f64.powi(exponent), 10_f64.powi(exponent)),
        _ => format!("10^{exponent}"),
    }
}

/// A multiple of `step` with as many places as that has, and commas between thousands.
fn decimal(value: f64, step: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few places"
    )]
    let places = (-step.log10().floor()).max(0.0) as usize;
    if value.abs() < step * 1e-6 {
        return "0".to_owned();
    }
    let text = format!("{value:.places$}");
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", &*text),
    };
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    format!("{sign}{}{fraction}", grouped(whole))
}

#[cfg(test)]
mod tests {
    use super::{Axis, Scale};

    fn ticks(axis: &Axis, is_upright: bool, values: [f64; 2]) -> Vec<String> {
        let span = axis.span(values.into_iter(), is_upright, 0.0, 100.0);
        span.ticks(6).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn what_is_written_at_an_axis() {
        for (axis, values, expected) in [
            (Axis::linear(""), [0.0, 1.0], "0 0.2 0.4 0.6 0.8 1.0"),
            (Axis::linear(""), [1.0, 300.0], "50 100 150 200 250 300"),
            (
                Axis::linear(""),
                [-20_000.0, 20_000.0],
                "-20,000 -10,000 0 10,000 20,000",
            ),
            (
                Axis::decades(""),
                [460.0, 2.1e7],
                "1000 10^4 10^5 10^6 10^7",
            ),
            (Axis::decades(""), [0.2, 800.0], "1 10 100"),
            (Axis::decades(""), [8.0, 95.0], "10 20 50"),
            (Axis::decades(""), [11.0, 29.0], "15 20 25"),
            (Axis::doublings(""), [8.0, 2048.0], "16 64 256 1024"),
            (
                Axis::doublings(""),
                [256.0, 33_554_432.0],
                "2^9 2^12 2^15 2^18 2^21 2^24",
            ),
        ] {
            assert_eq!(ticks(&axis, false, values).join(" "), expected);
        }
    }

    #[test]
    fn upright_axes_begin_at_zero_or_with_room() {
        let span = |scale, values: [f64; 2]| {
            let axis = Axis::new("", scale);
            axis.span(values.into_iter(), true, 100.0, 0.0)
        };
        assert!(span(Scale::Linear, [3.0, 10.0]).from.abs() < 1e-9);
        assert!(span(Scale::Linear, [-1.0, 1.0]).from < -1.0);
        assert!(span(Scale::Decades, [1.0, 100.0]).from < 1.0);
        // What is not there, or is all the same, is drawn as well.
        for values in [[0.0, 0.0], [f64::NAN, f64::NAN], [5.0, 5.0]] {
            for scale in [Scale::Linear, Scale::Decades] {
                assert!(span(scale, values).at(1.5).is_finite(), "{values:?}");
            }
        }
    }
}
