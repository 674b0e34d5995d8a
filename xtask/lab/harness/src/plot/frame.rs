//! A plot in its frame: texts above, a chart of plotters with its axes, and the name of each line at its end.

use plotters::chart::{ChartBuilder, LabelAreaPosition};
use plotters::coord::ranged1d::{BoldPoints, Ranged, ValueFormatter};
use plotters::element::PathElement;
use plotters::style::text_anchor::HPos;

use super::labels::spread;
use super::style::{FINE, GRID, HAIR, MUTED, Text, stroke};
use super::svg::{Area, Drawn, Failure, raised, text};
use super::traces::{Chart, Trace, traces};
use super::{Plot, Size, Style};

/// Around everything.
const MARGIN: i32 = 160;

/// From the axes to what is written at them, and between the edge of the data and the names of lines.
const GAP: i32 = 80;
const LEADER: i32 = 260;

/// Where everything is.
pub(super) struct Frame<'p> {
    plot: &'p Plot,
    titles: Vec<(Text, String)>,
    /// The names of lines, each in lines of text.
    names: Vec<Vec<String>>,
    /// The picture's width and height.
    pub(super) size: (i32, i32),
    /// The upper and the lower edge of what lies between the axes.
    top: i32,
    bottom: i32,
}

impl<'p> Frame<'p> {
    pub(super) fn of(plot: &'p Plot) -> Self {
        let (width, between, name) = match plot.size {
            Size::Page => (8600, 3600, 1700),
            Size::Half => (4800, 2200, 1100),
        };
        let titles = [(Text::Title, &plot.title), (Text::Note, &plot.subtitle)];
        let titles = titles.into_iter().flat_map(|(kind, text)| {
            let lines = kind.wrapped(text, width - 2 * MARGIN).into_iter();
            lines.map(move |line| (kind, line))
        });
        let titles: Vec<(Text, String)> = titles.collect();
        let above = titles.iter().fold(MARGIN, |y, (kind, _)| y + kind.line());
        let top = above + GAP + Text::Note.line() + GAP;
        let bottom = top + between;
        let below = GAP + Text::Tick.line() + Text::Note.line() + MARGIN;
        let names = plot.lines.iter();
        let names = names.map(|line| Text::Name.wrapped(&line.name, name));
        Self {
            plot,
            titles,
            names: names.collect(),
            size: (width, bottom + below),
            top,
            bottom,
        }
    }

    pub(super) fn draw(&self, area: &Area<'_>) -> Drawn {
        let mut y = MARGIN;
        for (kind, line) in &self.titles {
            text(area, (MARGIN, y + kind.line() / 2), HPos::Left, *kind, line)?;
            y += kind.line();
        }
        let y = y + GAP + Text::Note.line() / 2;
        text(area, (MARGIN, y), HPos::Left, Text::Note, &self.plot.y.name)?;
        let widths = self.names.iter().flatten();
        let widths = widths.map(|name| Text::Name.width(name));
        let right = match self.names.len() {
            // The upright axis says already what it is.
            0..=1 => self.size.0 - 2 * MARGIN,
            _ => self.size.0 - MARGIN - widths.max().unwrap_or(0) - LEADER - GAP / 2,
        };
        let traces = traces(self.plot, &self.chart(area, right)?);
        // The first comes last, and so is on top.
        for trace in traces.iter().rev() {
            trace.draw(area)?;
        }
        match traces.len() {
            0..=1 => Ok(()),
            _ => self.draw_names(area, right + LEADER, &traces),
        }
    }

    /// Draws the axes.
    fn chart<'a>(&self, area: &Area<'a>, right: i32) -> Result<Chart<'a>, Failure> {
        let Plot { x, y, lines, .. } = self.plot;
        let across = lines.iter().filter(|line| line.style != Style::Level);
        let xs = across.flat_map(|line| &line.points).map(|point| point.0);
        let ys = lines.iter().flat_map(|line| {
            let points = line.points.iter().map(|point| point.1);
            points.chain(line.bars.iter().flat_map(|bar| [bar.0, bar.1]))
        });
        let (across, up) = (x.span(xs, false), y.span(ys, true));
        let y_ticks = fitting(self.bottom - self.top, 400);
        let widths = up.key_points(BoldPoints(y_ticks)).into_iter();
        let widths = widths.map(|value| Text::Tick.width(&up.format_ext(&value)));
        let left = MARGIN + widths.max().unwrap_or(0) + GAP;

        let (width, height) = self.size;
        let margin = MARGIN * 3 / 4;
        let mut chart = ChartBuilder::on(area)
            .margin_top(self.top)
            .margin_right(width - right)
            .margin_bottom(margin)
            .set_label_area_size(LabelAreaPosition::Left, left)
            .set_label_area_size(LabelAreaPosition::Bottom, height - self.bottom - margin)
            .build_cartesian_2d(across.clone(), up.clone())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(stroke(GRID, HAIR))
            .axis_style(stroke(MUTED, HAIR))
            .set_all_tick_mark_size(GAP / 2)
            .x_labels(fitting(right - left, 700))
            .y_labels(y_ticks)
            .x_label_formatter(&|value| raised(&across.format_ext(value)))
            .y_label_formatter(&|value| raised(&up.format_ext(value)))
            .label_style(Text::Tick.style())
            .axis_desc_style(Text::Note.style())
            .x_desc(raised(&x.name))
            .draw()?;
        Ok(chart)
    }

    /// The name of each line at its end.
    fn draw_names(&self, area: &Area<'_>, column: i32, traces: &[Trace<'_>]) -> Drawn {
        let named = traces.iter().zip(&self.names);
        let named = named.filter_map(|(own, name)| Some((*own.points.last()?, own.colour, name)));
        let mut named: Vec<_> = named.collect();
        named.sort_by_key(|(end, _, _)| end.1);
        let line = Text::Name.line();
        let labels = named.iter().map(|(end, _, name)| {
            let gap = if name.len() > 1 { 60 } else { 10 };
            (end.1, name.iter().fold(gap, |height, _| height + line))
        });
        let labels: Vec<(i32, i32)> = labels.collect();
        let middles = spread(&labels, self.top - GAP, self.bottom + GAP);
        for ((end, colour, name), middle) in named.into_iter().zip(middles) {
            let leader = [end, (column - 100, middle), (column - 30, middle)];
            area.draw(&PathElement::new(leader, stroke(colour, FINE)))?;
            let mut y = name.iter().skip(1).fold(middle, |y, _| y - line / 2);
            for part in name {
                text(area, (column, y), HPos::Left, Text::Name, part)?;
                y += line;
            }
        }
        Ok(())
    }
}

/// How many texts so far apart fit into a length.
fn fitting(length: i32, apart: i32) -> usize {
    usize::try_from(length / apart).map_or(2, |count| count.max(2))
}

#[cfg(test)]
mod tests {
    use super::super::style::{BOLD, FINE};
    use super::super::svg::picture;
    use super::super::{Axis, Line, Plot, Size};
    use super::Frame;

    fn svg(lines: Vec<Line>) -> String {
        let plot = Plot {
            title: "Two lines are one".to_owned(),
            subtitle: "made up".to_owned(),
            x: Axis::decades("N"),
            y: Axis::decades("us"),
            lines,
            size: Size::Page,
        };
        let frame = Frame::of(&plot);
        let drawn = picture(frame.size, "", |area| frame.draw(area));
        drawn.expect("pictures are drawn into a string")
    }

    /// How many paths of that width the first line's colour has.
    fn paths(svg: &str, width: u32) -> usize {
        let stroke = format!("stroke=\"#0072B2\" stroke-width=\"{width}\"");
        svg.matches(&stroke).count()
    }

    #[test]
    fn lines_on_each_other_show_in_turns() {
        let line = |name: &str, y: f64| Line::new(name, vec![(1.0, y), (10.0, 2.0 * y)]);
        let apart = svg(vec![line("one", 1.0), line("other", 2.0)]);
        assert_eq!(paths(&apart, BOLD), 1, "{apart}");
        let same = svg(vec![line("one", 1.0), line("other", 1.0)]);
        assert!(paths(&same, BOLD) > 10, "{same}");
    }

    #[test]
    fn what_has_no_place_is_left_out() {
        let points = vec![(1.0, 0.0), (2.0, f64::NAN), (10.0, 5.0), (100.0, 6.0)];
        let drawn = svg(vec![Line::new("some", points)]);
        assert_eq!(drawn.matches("<circle").count(), 2, "{drawn}");
        assert!(svg(Vec::new()).ends_with("</svg>\n"));
        for (bar, bars_count) in [((1.0, 3.0), 2), ((0.0, 3.0), 1), ((-1.0, 3.0), 1)] {
            let line = Line::dots("some", vec![(1.0, 2.0), (10.0, 5.0)]);
            let bars = vec![bar, (4.0, 6.0)];
            let drawn = svg(vec![Line { bars, ..line }]);
            assert_eq!(paths(&drawn, FINE), bars_count, "{bar:?}: {drawn}");
        }
    }
}
