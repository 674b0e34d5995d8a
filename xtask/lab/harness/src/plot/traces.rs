//! Draws the lines of a plot, with their positions, colours and dashes.

use plotters::chart::ChartContext;
use plotters::coord::cartesian::Cartesian2d;
use plotters::element::{Circle, DashedPathElement, PathElement};
use plotters::prelude::SVGBackend;
use plotters::style::{Color, RGBColor};

use super::axis::Span;
use super::methods::{Dashes, looks};
use super::style::{BOLD, FINE, stroke};
use super::svg::{Area, Drawn, Point};
use super::{Line, Plot, Style};

/// The distance between bars of several lines.
const BAR: i32 = 30;

/// Lines with more than `MANY_POINTS` points are thin; lines with at most `FEW_POINTS` have dots.
const MANY_POINTS: usize = 300;
const FEW_POINTS: usize = 24;

const DOT: u32 = 28;

/// Lines closer than `SAME` look like one line, so they are drawn as alternating dashes of length `STRIPE`.
const SAME: u32 = 8;
const STRIPE: i32 = 90;

/// Maps a plot's values to positions.
pub(super) type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Span, Span>>;

/// A line as it is drawn.
pub(super) struct Trace<'p> {
    pub(super) line: &'p Line,
    pub(super) points: Vec<Point>,
    bars: Vec<[Point; 2]>,
    pub(super) colour: RGBColor,
    dashes: Dashes,
}

/// The lines of a plot, without values that the axes cannot show.
pub(super) fn traces<'p>(plot: &'p Plot, chart: &Chart<'_>, area: &Area<'_>) -> Vec<Trace<'p>> {
    // Positions of a chart are relative to the whole picture, those of an area to the area.
    let (left, top) = area.get_base_pixel();
    let at = |&(x, y): &(f64, f64)| {
        let has_place = plot.x.has(x) && plot.y.has(y);
        has_place.then(|| {
            let (x, y) = chart.backend_coord(&(x, y));
            (x - left, y - top)
        })
    };
    let trace = |(line, (index, (colour, dashes)))| {
        let line: &'p Line = line;
        let x = chart.x_range();
        let across = |&(_, y): &(f64, f64)| [(x.start, y), (x.end, y)];
        let points = match line.style {
            Style::Level => line.points.iter().flat_map(across).collect(),
            _ => line.points.clone(),
        };
        let bars = line.points.iter().zip(&line.bars);
        let bars = bars.filter_map(|(&(x, _), &(low, high))| {
            let ends = [at(&(x, low))?, at(&(x, high))?];
            // Bars of several lines are drawn side by side, because they would overlap.
            Some(ends.map(|(x, y)| (x + BAR * index - 3 * BAR / 2, y)))
        });
        Trace {
            line,
            points: points.iter().filter_map(at).collect(),
            bars: bars.collect(),
            colour,
            dashes,
        }
    };
    let looks = (0..).zip(looks(&plot.lines));
    let mut traces: Vec<Trace<'p>> = plot.lines.iter().zip(looks).map(trace).collect();
    stripe(&mut traces);
    traces
}

/// Makes overlapping lines visible as alternating dashes. Each line is drawn above the next, with gaps for all lines that follow.
fn stripe(traces: &mut [Trace<'_>]) {
    let first = |own: &Trace<'_>| traces.iter().position(|other| own.is_on(other));
    let firsts: Vec<Option<usize>> = traces.iter().map(first).collect();
    for (index, trace) in traces.iter_mut().enumerate() {
        let length = |others: &[Option<usize>]| {
            let same = others.iter().filter(|other| **other == firsts[index]);
            same.fold(0, |length, _| length + STRIPE)
        };
        let (shown, left_out) = (length(&firsts[..=index]), length(&firsts[index + 1..]));
        if firsts[index].is_some() && shown + left_out > STRIPE {
            trace.dashes = Some((shown, left_out));
        }
    }
}

impl Trace<'_> {
    fn is_on(&self, other: &Self) -> bool {
        let near = |(one, other): (&Point, &Point)| {
            one.0.abs_diff(other.0) < SAME && one.1.abs_diff(other.1) < SAME
        };
        let are_joined = [self, other].map(|own| own.line.style == Style::Joined);
        are_joined == [true; 2]
            && self.points.len() == other.points.len()
            && self.points.iter().zip(&other.points).all(near)
    }

    pub(super) fn draw(&self, area: &Area<'_>) -> Drawn {
        for &bar in &self.bars {
            area.draw(&PathElement::new(bar, stroke(self.colour, FINE)))?;
        }
        let is_fine = self.line.is_reference() || self.points.len() > MANY_POINTS;
        let stroke = stroke(self.colour, if is_fine { FINE } else { BOLD });
        let points = self.points.iter().copied();
        match self.dashes {
            _ if self.line.style == Style::Dots => {}
            Some((shown, left_out)) if left_out > 0 => {
                area.draw(&DashedPathElement::new(points, shown, left_out, stroke))?;
            }
            _ => area.draw(&PathElement::new(self.points.clone(), stroke))?,
        }
        let has_dots = match self.line.style {
            Style::Joined => self.points.len() <= FEW_POINTS,
            Style::Dots => true,
            Style::Guide | Style::Level => false,
        };
        for &point in self.points.iter().filter(|_| has_dots) {
            area.draw(&Circle::new(point, DOT, self.colour.filled()))?;
        }
        Ok(())
    }
}
