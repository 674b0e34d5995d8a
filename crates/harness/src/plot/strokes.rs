//! The lines of a plot: their colours and dashes, and what is drawn of them.

use super::style::{BOLD_PX, FINE_PX, PALETTE};
use super::svg::{Point, Stroke, Svg};
use super::{Line, Style};

/// More points than this are drawn finely; fewer than the other number have dots.
const MANY_POINTS: usize = 300;
const FEW_POINTS: usize = 24;

const DOT_PX: f64 = 2.75;

/// Lines nearer to each other than this are one to the eye.
const SAME_PX: f64 = 0.75;

/// Of lines that are one to the eye, each shows for so long in turns.
const STRIPE_PX: f64 = 9.0;

/// Lines whose colour another line has, too, are dashed.
const DASHES_PX: [f64; 2] = [7.0, 4.0];

/// The palette from its beginning, and once more with dashes.
pub(super) fn line_stroke(index: usize, points_count: usize) -> Stroke {
    let width_px = if points_count > MANY_POINTS {
        FINE_PX
    } else {
        BOLD_PX
    };
    let dashes = (index >= PALETTE.len()).then(|| (DASHES_PX.to_vec(), 0.0));
    Stroke {
        dashes,
        ..Stroke::solid(PALETTE[index % PALETTE.len()], width_px)
    }
}

/// A line as it is drawn.
pub(super) struct Drawn<'p> {
    pub(super) line: &'p Line,
    pub(super) points: Vec<Point>,
    pub(super) bars: Vec<[Point; 2]>,
    pub(super) stroke: Stroke,
}

impl Drawn<'_> {
    fn is_on(&self, other: &Self) -> bool {
        let near = |(one, other): (&Point, &Point)| {
            (one.0 - other.0).abs() < SAME_PX && (one.1 - other.1).abs() < SAME_PX
        };
        self.points.len() == other.points.len() && self.points.iter().zip(&other.points).all(near)
    }

    pub(super) fn draw(&self, svg: &mut Svg) {
        for bar in &self.bars {
            svg.line(bar, &Stroke::solid(self.stroke.colour, FINE_PX));
        }
        if self.line.style != Style::Dots {
            svg.line(&self.points, &self.stroke);
        }
        let has_dots = match self.line.style {
            Style::Joined => self.points.len() <= FEW_POINTS && self.stroke.dashes.is_none(),
            Style::Dots => true,
            Style::Level => false,
        };
        for &point in self.points.iter().filter(|_| has_dots) {
            svg.dot(point, DOT_PX, self.stroke.colour);
        }
    }
}

/// Lets lines that are one to the eye show in turns.
pub(super) fn stripe(drawn: &mut [Drawn<'_>]) {
    let mut is_striped = vec![false; drawn.len()];
    for first in 0..drawn.len() {
        let is_joined = |own: &Drawn<'_>| own.line.style == Style::Joined;
        if is_striped[first] || !is_joined(&drawn[first]) {
            continue;
        }
        let same: Vec<usize> = (first..drawn.len())
            .filter(|&index| is_joined(&drawn[index]) && drawn[index].is_on(&drawn[first]))
            .collect();
        if same.len() == 1 {
            continue;
        }
        let round = STRIPE_PX * same.len() as f64;
        for (turn, &index) in same.iter().enumerate() {
            is_striped[index] = true;
            let dashes = vec![STRIPE_PX, round - STRIPE_PX];
            let before = (round - STRIPE_PX * turn as f64) % round;
            drawn[index].stroke.dashes = Some((dashes, before));
        }
    }
}
