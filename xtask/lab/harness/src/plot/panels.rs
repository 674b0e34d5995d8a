//! A plot in panels, one for each method, on the same axes: where lines of one plot would be on each other.

use plotters::element::{DashedPathElement, PathElement};
use plotters::style::text_anchor::HPos;

use super::frame::{Frame, GAP, MARGIN, PAGE, draw_titles, titles};
use super::methods::{Dashes, family, looks};
use super::style::{BOLD, FINE, INK, MUTED, Text, stroke};
use super::svg::{Area, Drawn, text};
use super::{Line, Plot};

const COLUMNS: usize = 2;
const WIDTH: i32 = PAGE / 2;

/// How long a line is drawn in the key.
const SAMPLE: i32 = 420;

/// Where everything is.
pub(super) struct Panels<'p> {
    plot: &'p Plot,
    parts: Vec<Plot>,
    titles: Vec<(Text, String)>,
    /// What its dashes say of a line.
    key: Vec<(Dashes, bool, &'p str)>,
    /// The picture's width and height.
    pub(super) size: (i32, i32),
    /// Where panels begin, and how high each is.
    top: i32,
    height: i32,
}

impl<'p> Panels<'p> {
    pub(super) fn of(plot: &'p Plot) -> Self {
        let parts = parts(plot);
        let titles = titles(plot, PAGE - 2 * MARGIN);
        let above = titles.iter().fold(MARGIN, |y, (kind, _)| y + kind.line());
        let top = above + GAP + 2 * Text::Note.line();
        let height = Frame::panel(plot, &plot.lines, WIDTH).size.1;
        let rows = parts.chunks(COLUMNS).fold(0, |rows, _| rows + 1);
        Self {
            plot,
            key: key(plot),
            parts,
            titles,
            size: (PAGE, top + rows * height),
            top,
            height,
        }
    }

    pub(super) fn draw(&self, area: &Area<'_>) -> Drawn {
        let y = draw_titles(area, &self.titles)?;
        let note = Text::Note.line();
        let y = y + GAP / 2 + note / 2;
        text(area, (MARGIN, y), HPos::Left, Text::Note, &self.plot.y.name)?;
        self.draw_key(area, y + note)?;
        let rows = (0..).zip(self.parts.chunks(COLUMNS));
        let places = rows.flat_map(|(row, parts)| {
            let columns = (0..).zip(parts);
            columns.map(move |(column, part)| (column * WIDTH, row * self.height, part))
        });
        for (x, y, part) in places {
            let own = area.clone().shrink((x, self.top + y), (WIDTH, self.height));
            Frame::panel(part, &self.plot.lines, WIDTH).draw(&own)?;
        }
        Ok(())
    }

    fn draw_key(&self, area: &Area<'_>, y: i32) -> Drawn {
        let mut x = MARGIN;
        for &(dashes, is_level, words) in &self.key {
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
}

/// A plot of each method, with what all are compared with.
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

/// What variants of a method are called, where there are several, and what all are compared with.
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
