//! The frame of a plot: titles above, the chart with its axes, and the name of each line at the line's end. A plot whose lines would overlap
//! is drawn as small multiples instead, with one panel for each method on the same axes.

use std::path::Path;

use plotters::chart::{ChartBuilder, LabelAreaPosition};
use plotters::coord::ranged1d::{BoldPoints, Ranged, ValueFormatter};
use plotters::element::{DashedPathElement, PathElement};
use plotters::style::text_anchor::HPos;

use super::methods::{Dashes, family, looks};
use super::style::{BOLD, FINE, GRID, HAIR, INK, MUTED, Text, stroke};
use super::svg::{self, Area, Drawn, Failure, raised, text};
use super::traces::{Chart, Trace, traces};
use super::{Line, Plot, Size, Style};
use crate::Error;

/// The outer margin.
const MARGIN: i32 = 160;

/// The gap between axes and labels, and between the data and the names of lines.
const GAP: i32 = 80;
const LEADER: i32 = 260;

/// The width of a picture that is as wide as a page. Phones show such a picture 400 pixels wide.
const PAGE: i32 = 6800;

/// The layout of a plot.
pub(super) struct Frame<'p> {
    plot: &'p Plot,
    /// All lines of the picture, which determine the ranges of the axes.
    shown: &'p [Line],
    titles: Vec<(Text, String)>,
    /// The name of each plotted line, split into rows of text. Empty if the picture is a panel.
    names: Vec<Vec<String>>,
    /// The text above the vertical axis.
    y_name: &'p str,
    /// The picture's width and height.
    pub(super) size: (i32, i32),
    /// The upper and lower edge of the chart.
    top: i32,
    bottom: i32,
}

impl<'p> Frame<'p> {
    pub(super) fn of(plot: &'p Plot) -> Self {
        let (width, between, name) = match plot.size {
            Size::Half => (4600, 2500, 1200),
            _ => (PAGE, 3300, 1700),
        };
        let titles = titles(plot, width - 2 * MARGIN);
        let names = plot.lines.iter();
        let names = names.map(|line| Text::Name.wrapped(&line.name, name));
        Self {
            names: names.collect(),
            y_name: &plot.y.name,
            ..Self::new(plot, titles, (width, between), Text::Note.line() + GAP)
        }
    }

    /// The layout of one of several plots that have the same axes and share a key.
    fn panel(plot: &'p Plot, shown: &'p [Line], width: i32) -> Self {
        let titles = vec![(Text::Name, plot.title.clone())];
        Self {
            shown,
            ..Self::new(plot, titles, (width, 1500), 0)
        }
    }

    /// A layout with a chart of height `between`, and with the space `above` for the name of the vertical axis.
    fn new(
        plot: &'p Plot,
        titles: Vec<(Text, String)>,
        (width, between): (i32, i32),
        above: i32,
    ) -> Self {
        let top = titles.iter().fold(MARGIN, |y, (kind, _)| y + kind.line()) + GAP + above;
        let below = GAP + Text::Tick.line() + Text::Note.line() + MARGIN;
        Self {
            plot,
            shown: &plot.lines,
            titles,
            names: Vec::new(),
            y_name: "",
            size: (width, top + between + below),
            top,
            bottom: top + between,
        }
    }

    pub(super) fn draw(&self, area: &Area<'_>) -> Drawn {
        let y = draw_titles(area, &self.titles)? + GAP + Text::Note.line() / 2;
        text(area, (MARGIN, y), HPos::Left, Text::Note, self.y_name)?;
        let widths = self.names.iter().flatten();
        let widths = widths.map(|name| Text::Name.width(name));
        let right = match self.names.len() {
            // A single line needs no name, because the vertical axis has one.
            0..=1 => self.size.0 - 2 * MARGIN,
            _ => self.size.0 - MARGIN - widths.max().unwrap_or(0) - LEADER - GAP / 2,
        };
        let traces = traces(self.plot, &self.chart(area, right)?, area);
        // The first line is drawn last, so it is on top.
        for trace in traces.iter().rev() {
            trace.draw(area)?;
        }
        match self.names.len() {
            0..=1 => Ok(()),
            _ => self.draw_names(area, right + LEADER, &traces),
        }
    }

    /// Draws the axes.
    fn chart<'a>(&self, area: &Area<'a>, right: i32) -> Result<Chart<'a>, Failure> {
        let (Plot { x, y, .. }, lines) = (self.plot, self.shown);
        let across = lines.iter().filter(|line| line.style != Style::Level);
        let xs = across.flat_map(|line| &line.points).map(|point| point.0);
        let ys = lines.iter().flat_map(|line| {
            let points = line.points.iter().map(|point| point.1);
            points.chain(line.bars.iter().flat_map(|bar| [bar.0, bar.1]))
        });
        let (across, up) = (x.span(xs, false), y.span(ys, true));
        let y_ticks = fitting(self.bottom - self.top, 450);
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
            .x_labels(fitting(right - left, 650))
            .y_labels(y_ticks)
            .x_label_formatter(&|value| raised(&across.format_ext(value)))
            .y_label_formatter(&|value| raised(&up.format_ext(value)))
            .label_style(Text::Tick.style())
            .axis_desc_style(Text::Note.style())
            .x_desc(raised(&x.name))
            .draw()?;
        Ok(chart)
    }

    /// Draws the name of each line at the line's end.
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

/// The titles, broken into lines.
fn titles(plot: &Plot, width: i32) -> Vec<(Text, String)> {
    let titles = [(Text::Title, &plot.title), (Text::Note, &plot.subtitle)];
    let titles = titles.into_iter().flat_map(|(kind, text)| {
        let lines = kind.wrapped(text, width).into_iter();
        lines.map(move |line| (kind, line))
    });
    titles.collect()
}

/// Draws the titles. Returns where they end.
fn draw_titles(area: &Area<'_>, titles: &[(Text, String)]) -> Result<i32, Failure> {
    let mut y = MARGIN;
    for (kind, line) in titles {
        text(area, (MARGIN, y + kind.line() / 2), HPos::Left, *kind, line)?;
        y += kind.line();
    }
    Ok(y)
}

/// The centres of labels with these desired positions and heights, between `top` and `bottom`. Labels keep their order, which is
/// that of the desired positions; they do not overlap, and are as close to these positions as possible.
fn spread(labels: &[(i32, i32)], top: i32, bottom: i32) -> Vec<i32> {
    // Without heights, labels need only be in order. Neighbours that are not in order are moved to their mean (isotonic regression).
    let mut above = 0;
    let mut stacks: Vec<(i32, i32)> = Vec::new();
    for &(wanted, height) in labels {
        stacks.push((wanted - height / 2 - above, 1));
        above += height;
        while let [.., (upper, uppers), (lower, lowers)] = stacks[..]
            && upper * lowers > lower * uppers
        {
            stacks.truncate(stacks.len() - 2);
            stacks.push((upper + lower, uppers + lowers));
        }
    }
    let tops = stacks.into_iter().flat_map(|(total, count)| {
        let mean = (total / count).min(bottom - above).max(top);
        (0..count).map(move |_| mean)
    });
    let placed = tops.zip(labels).scan(0, |above, (top, (_, height))| {
        *above += height;
        Some(top + *above - height / 2)
    });
    placed.collect()
}

/// The number of texts at this distance that fit into a length.
fn fitting(length: i32, apart: i32) -> usize {
    usize::try_from(length / apart).map_or(2, |count| count.max(2))
}

/// The number of panels in a row, and the width of a panel.
const COLUMNS: usize = 2;
const WIDTH: i32 = PAGE / 2;

/// The length of a line in the key.
const SAMPLE: i32 = 420;

/// Writes a picture with panels to a file: titles, a key, and the panels below.
pub(super) fn write_panels(plot: &Plot, path: &Path) -> Result<(), Error> {
    let (parts, note) = (parts(plot), Text::Note.line());
    let titles = titles(plot, PAGE - 2 * MARGIN);
    let above = titles.iter().fold(MARGIN, |y, (kind, _)| y + kind.line());
    let top = above + GAP + 2 * note;
    let height = Frame::panel(plot, &plot.lines, WIDTH).size.1;
    let rows = (0..).zip(parts.chunks(COLUMNS));
    let size = (PAGE, rows.clone().fold(top, |y, _| y + height));
    svg::write(path, size, &plot.title, |area| {
        let y = draw_titles(area, &titles)? + GAP / 2 + note / 2;
        text(area, (MARGIN, y), HPos::Left, Text::Note, &plot.y.name)?;
        draw_key(area, y + note, &key(plot))?;
        for (row, parts) in rows {
            for (column, part) in (0..).zip(parts) {
                let at = (column * WIDTH, top + row * height);
                let own = area.clone().shrink(at, (WIDTH, height));
                Frame::panel(part, &plot.lines, WIDTH).draw(&own)?;
            }
        }
        Ok(())
    })
}

fn draw_key(area: &Area<'_>, y: i32, key: &[(Dashes, bool, &str)]) -> Drawn {
    let mut x = MARGIN;
    for &(dashes, is_level, words) in key {
        let sample = [(x, y), (x + SAMPLE, y)];
        let stroke = if is_level {
            stroke(MUTED, FINE)
        } else {
            stroke(INK, BOLD)
        };
        match dashes {
            Some((shown, left_out)) => {
                area.draw(&DashedPathElement::new(sample, shown, left_out, stroke))?;
            }
            None => area.draw(&PathElement::new(sample, stroke))?,
        }
        text(area, (x + SAMPLE + GAP, y), HPos::Left, Text::Note, words)?;
        x += SAMPLE + 3 * GAP + Text::Note.width(words);
    }
    Ok(())
}

/// A plot for each method, with the reference.
fn parts(plot: &Plot) -> Vec<Plot> {
    let (levels, lines): (Vec<&Line>, Vec<&Line>) =
        plot.lines.iter().partition(|line| line.is_reference());
    let of_families = lines.chunk_by(|one, next| family(&one.name) == family(&next.name));
    let part = |own: &[&Line]| Plot {
        title: family(&own[0].name).to_owned(),
        lines: own.iter().chain(&levels).copied().cloned().collect(),
        ..plot.clone()
    };
    of_families.map(part).collect()
}

/// The meaning of dashes: the names of a method's variants, if there are several, and the reference.
fn key(plot: &Plot) -> Vec<(Dashes, bool, &str)> {
    let looks = looks(&plot.lines).into_iter();
    let looks = looks.zip(&plot.lines).filter_map(|((_, dashes), line)| {
        let is_level = line.is_reference();
        let words = match line.name.split_once(", ") {
            _ if is_level => &*line.name,
            Some((_, variant)) => variant,
            None => return None,
        };
        Some((dashes, is_level, words))
    });
    let mut key: Vec<(Dashes, bool, &str)> = Vec::new();
    for entry in looks {
        if !key.iter().any(|other| other.2 == entry.2) {
            key.push(entry);
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::super::style::FINE;
    use super::super::svg::picture;
    use super::super::{Axis, Line, Plot, Size};
    use super::Frame;

    fn svg(lines: Vec<Line>) -> String {
        let plot = Plot {
            title: "Some points".to_owned(),
            subtitle: "made up".to_owned(),
            x: Axis::decades("N"),
            y: Axis::decades("µs"),
            lines,
            size: Size::Page,
        };
        let frame = Frame::of(&plot);
        let drawn = picture(frame.size, "", |area| frame.draw(area));
        drawn.expect("pictures are drawn into a string")
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
            // The colour of the first line, whose name is not a method's.
            let stroke = format!("stroke=\"#6F5BD0\" stroke-width=\"{FINE}\"");
            let drawn_count = drawn.matches(&stroke).count();
            assert_eq!(drawn_count, bars_count, "{bar:?}: {drawn}");
        }
    }
}
