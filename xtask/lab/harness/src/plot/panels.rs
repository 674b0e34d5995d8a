//! Small multiples: one panel for each method, on the same axes, where lines of a single plot would overlap.

use std::path::Path;

use plotters::element::{DashedPathElement, PathElement};
use plotters::style::text_anchor::HPos;

use super::frame::{Frame, GAP, MARGIN, PAGE, draw_titles, titles};
use super::methods::{Dashes, family, looks};
use super::style::{BOLD, FINE, INK, MUTED, Text, stroke};
use super::svg::{self, Area, Drawn, text};
use super::{Line, Plot};
use crate::Error;

const COLUMNS: usize = 2;
const WIDTH: i32 = PAGE / 2;

/// The length of a line in the key.
const SAMPLE: i32 = 420;

/// Writes the picture to a file: titles, a key, and the panels below.
pub(super) fn write(plot: &Plot, path: &Path) -> Result<(), Error> {
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
