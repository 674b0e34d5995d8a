//! Where everything of a plot is: texts, axes, and the names of lines.

use super::axis::Span;
use super::labels::{Label, spread};
use super::strokes::{Drawn, line_stroke, stripe};
use super::style::{FINE_PX, GRID, HAIR_PX, MUTED, Text};
use super::svg::{Anchor, Point, Stroke, Svg};
use super::{Line, Plot, Size, Style};

/// Bars of several lines stand so far apart.
const BAR_PX: f64 = 3.0;

/// Around everything.
const MARGIN_PX: f64 = 16.0;

/// From the axes to what is written at them, and between the edge of the data and the names of lines.
const GAP_PX: f64 = 8.0;
const LEADER_PX: f64 = 26.0;

impl Size {
    /// The picture's width, the height of what lies between its axes, and the longest line of a name.
    fn px(self) -> (f64, f64, f64) {
        match self {
            Size::Page => (860.0, 360.0, 170.0),
            Size::Half => (480.0, 220.0, 110.0),
        }
    }
}

/// Draws a plot.
pub(super) fn draw(plot: &Plot) -> Svg {
    let frame = Frame::of(plot);
    let mut svg = Svg::new(frame.width, frame.height, &plot.title);
    frame.draw_texts(&mut svg, plot);
    frame.draw_axes(&mut svg);
    let drawn = frame.place(&plot.lines);
    // The first comes last, and so is on top.
    for own in drawn.iter().rev() {
        own.draw(&mut svg);
    }
    if plot.lines.len() > 1 {
        frame.draw_names(&mut svg, &drawn);
    }
    svg
}

/// Where everything is, in pixels.
struct Frame {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Span,
    y: Span,
    x_ticks: Vec<(f64, String)>,
    y_ticks: Vec<(f64, String)>,
    /// The longest line of a name.
    name: f64,
}

impl Frame {
    fn of(plot: &Plot) -> Self {
        let (width, between, name) = plot.size.px();
        let header = titles(plot, width);
        let header = header.fold(MARGIN_PX, |height, (kind, _)| height + kind.line_px());
        let top = header + GAP_PX + Text::Note.line_px() + GAP_PX;
        let bottom = top + between;
        let points = || plot.lines.iter().flat_map(|line| &line.points);

        let bars = plot.lines.iter().flat_map(|line| &line.bars);
        let ys = points().map(|point| point.1);
        let ys = ys.chain(bars.flat_map(|bar| [bar.0, bar.1]));
        let y = plot.y.span(ys, true, bottom, top);
        let y_ticks = y.ticks(fitting(between, 40.0));
        let ticks = y_ticks.iter().map(|(_, text)| Text::Tick.width_px(text));
        let left = MARGIN_PX + ticks.fold(0.0, f64::max) + GAP_PX;

        let names = plot.lines.iter();
        let names = names.flat_map(|line| Text::Name.wrapped(&line.name, name));
        let names = names.map(|name| Text::Name.width_px(&name));
        let right = match plot.lines.len() {
            // The upright axis says already what it is.
            1 => width - 2.0 * MARGIN_PX,
            _ => width - MARGIN_PX - names.fold(0.0, f64::max) - LEADER_PX - GAP_PX / 2.0,
        };
        let over_x = plot.lines.iter().filter(|line| line.style != Style::Level);
        let xs = over_x.flat_map(|line| &line.points).map(|point| point.0);
        let x = plot.x.span(xs, false, left + GAP_PX, right - GAP_PX / 2.0);
        Self {
            width,
            height: bottom + GAP_PX + Text::Tick.line_px() + Text::Note.line_px() + MARGIN_PX,
            left,
            right,
            top,
            bottom,
            x_ticks: x.ticks(fitting(right - left, 70.0)),
            y_ticks,
            x,
            y,
            name,
        }
    }

    fn draw_texts(&self, svg: &mut Svg, plot: &Plot) {
        let mut y = MARGIN_PX;
        for (kind, line) in titles(plot, self.width) {
            let middle = y + kind.line_px() / 2.0;
            svg.text((MARGIN_PX, middle), Anchor::Start, kind, &line);
            y += kind.line_px();
        }
        let y = self.top - GAP_PX - Text::Note.line_px() / 2.0;
        svg.text((MARGIN_PX, y), Anchor::Start, Text::Note, &plot.y.name);
        let x = (self.left + self.right) / 2.0;
        let y = self.height - MARGIN_PX - Text::Note.line_px() / 2.0 + GAP_PX / 2.0;
        svg.text((x, y), Anchor::Middle, Text::Note, &plot.x.name);
    }

    fn draw_axes(&self, svg: &mut Svg) {
        for (value, text) in &self.y_ticks {
            let y = self.y.at(*value);
            let grid = Stroke::solid(GRID, HAIR_PX);
            svg.line(&[(self.left, y), (self.right, y)], &grid);
            svg.text((self.left - GAP_PX, y), Anchor::End, Text::Tick, text);
        }
        let axis = Stroke::solid(MUTED, HAIR_PX);
        let y = self.bottom;
        svg.line(&[(self.left, y), (self.right, y)], &axis);
        for (value, text) in &self.x_ticks {
            let x = self.x.at(*value);
            svg.line(&[(x, y), (x, y + GAP_PX / 2.0)], &axis);
            let middle = y + GAP_PX + Text::Tick.line_px() / 2.0;
            svg.text((x, middle), Anchor::Middle, Text::Tick, text);
        }
    }

    fn place<'p>(&self, lines: &'p [Line]) -> Vec<Drawn<'p>> {
        let mut drawn: Vec<Drawn<'p>> = Vec::new();
        let mut coloured = 0;
        for line in lines {
            let stroke = match line.style {
                Style::Level => Stroke {
                    dashes: Some((vec![4.0, 3.0], 0.0)),
                    ..Stroke::solid(MUTED, FINE_PX)
                },
                _ => {
                    coloured += 1;
                    line_stroke(coloured - 1, line.points.len())
                }
            };
            let points = self.points(line);
            drawn.push(Drawn {
                line,
                bars: self.bars(line, coloured),
                points,
                stroke,
            });
        }
        stripe(&mut drawn);
        drawn
    }

    fn points(&self, line: &Line) -> Vec<Point> {
        if line.style == Style::Level {
            let y = self.y.at(line.points.first().map_or(0.0, |point| point.1));
            return vec![(self.left, y), (self.right, y)];
        }
        let at = |&(x, y): &Point| (self.x.at(x), self.y.at(y));
        let has_place = |(x, y): &Point| x.is_finite() && y.is_finite();
        line.points.iter().map(at).filter(has_place).collect()
    }

    /// Beside each other where those of several lines would be on each other.
    fn bars(&self, line: &Line, coloured: usize) -> Vec<[Point; 2]> {
        let bars = line.points.iter().zip(&line.bars);
        let bar = |(&(x, _), &(low, high)): (&Point, &Point)| {
            let x = self.x.at(x) + BAR_PX * (coloured as f64 - 2.5);
            [(x, self.y.at(low)), (x, self.y.at(high))]
        };
        bars.map(bar).collect()
    }

    /// The name of each line at its end.
    fn draw_names(&self, svg: &mut Svg, drawn: &[Drawn<'_>]) {
        let names: Vec<(&Drawn<'_>, Point, Vec<String>)> = drawn
            .iter()
            .filter_map(|own| {
                let &end = own.points.last()?;
                Some((own, end, Text::Name.wrapped(&own.line.name, self.name)))
            })
            .collect();
        let labels: Vec<Label> = names
            .iter()
            .map(|(_, end, name)| Label {
                wanted: end.1,
                height: name.len() as f64 * Text::Name.line_px()
                    + if name.len() > 1 { 6.0 } else { 1.0 },
            })
            .collect();
        let middles = spread(&labels, self.top - GAP_PX, self.bottom + GAP_PX);
        for ((own, end, name), middle) in names.into_iter().zip(middles) {
            let column = self.right + LEADER_PX;
            let leader = [end, (column - 10.0, middle), (column - 3.0, middle)];
            svg.line(&leader, &Stroke::solid(own.stroke.colour, FINE_PX));
            let line_px = Text::Name.line_px();
            let first = middle - (name.len() as f64 - 1.0) / 2.0 * line_px;
            for (line, number) in name.iter().zip(0_u32..) {
                let y = first + f64::from(number) * line_px;
                svg.text((column, y), Anchor::Start, Text::Name, line);
            }
        }
    }
}

/// The lines of text above a plot.
fn titles(plot: &Plot, width: f64) -> impl Iterator<Item = (Text, String)> {
    let parts = [(Text::Title, &plot.title), (Text::Note, &plot.subtitle)];
    parts.into_iter().flat_map(move |(kind, text)| {
        let lines = kind.wrapped(text, width - 2.0 * MARGIN_PX);
        lines.into_iter().map(move |line| (kind, line))
    })
}

/// How many texts so far apart fit into a length.
fn fitting(length: f64, apart: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a handful"
    )]
    let count = (length / apart).max(2.0) as usize;
    count
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Line, Plot, Size};
    use super::draw;

    fn plot(lines: Vec<Line>) -> Plot {
        Plot {
            title: "Two lines are one".to_owned(),
            subtitle: "made up".to_owned(),
            x: Axis::decades("N"),
            y: Axis::decades("us"),
            lines,
            size: Size::Page,
        }
    }

    #[test]
    fn lines_on_each_other_show_in_turns() {
        let line = |name: &str, y: f64| Line::new(name, vec![(1.0, y), (10.0, 2.0 * y)]);
        let apart = draw(&plot(vec![line("one", 1.0), line("other", 2.0)])).finish();
        assert!(!apart.contains("stroke-dasharray"), "{apart}");
        let same = draw(&plot(vec![line("one", 1.0), line("other", 1.0)])).finish();
        assert_eq!(
            same.matches("stroke-dasharray=\"9,9\"").count(),
            2,
            "{same}"
        );
    }

    #[test]
    fn what_has_no_place_is_left_out() {
        let points = vec![(1.0, 0.0), (2.0, f64::NAN), (10.0, 5.0), (100.0, 6.0)];
        let svg = draw(&plot(vec![Line::new("some", points)])).finish();
        assert_eq!(svg.matches("<circle").count(), 2, "{svg}");
        for wrong in ["NaN", "inf"] {
            assert!(!svg.contains(wrong), "{svg}");
        }
        let empty = draw(&plot(Vec::new())).finish();
        assert!(
            empty.ends_with("</svg>\n") && !empty.contains("NaN"),
            "{empty}"
        );
    }
}
