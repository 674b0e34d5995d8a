//! Writes a picture with its background as SVG, drawn by plotters.
//!
//! plotters has integer coordinates, so coordinates are tenths of a pixel, as are all lengths in module `plot`.

use std::io;
use std::path::Path;

use checkout::files;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::prelude::SVGBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::style::{CARD, EDGE, Text, hexadecimal, sheet};
use crate::Error;

/// A point, in tenths of a pixel from the upper left corner.
pub type Point = (i32, i32);

/// The drawing area of pictures.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The result of drawing by plotters.
pub type Drawn = Result<(), Failure>;

/// An error of plotters.
pub type Failure = DrawingAreaErrorKind<io::Error>;

/// Draws a picture of this width and height. Returns its SVG text.
pub fn picture(
    (width, height): (i32, i32),
    title: &str,
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> Result<String, Failure> {
    let mut drawn = String::new();
    let size = (width.unsigned_abs(), height.unsigned_abs());
    let area = SVGBackend::with_string(&mut drawn, size).into_drawing_area();
    draw(&area)?;
    area.present()?;
    drop(area);
    // plotters cannot write pixel sizes, accessible titles, style sheets or round corners, so they are added here.
    let (_, elements) = drawn.split_once('\n').unwrap_or_default();
    let (card, edge) = (hexadecimal(CARD), hexadecimal(EDGE));
    let elements = format!(
        "<rect x=\"5\" y=\"5\" width=\"{}\" height=\"{}\" rx=\"80\" fill=\"{card}\" stroke=\"{edge}\" stroke-width=\"10\"/>\n{elements}",
        width - 10,
        height - 10
    );
    let (width_px, height_px) = (f64::from(width) / 10.0, f64::from(height) / 10.0);
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width_px}\" height=\"{height_px}\" viewBox=\"0 0 {width} {height}\" \
         stroke-linejoin=\"round\" role=\"img\">\n<title>{title}</title>\n{}\n{elements}",
        sheet(&elements)
    ))
}

/// Draws a picture to a file.
pub fn write(
    path: &Path,
    size: (i32, i32),
    title: &str,
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> Result<(), Error> {
    let picture = picture(size, title, draw).map_err(|error| Error::file(path, error))?;
    Ok(files::write(path, picture)?)
}

/// Draws a line of text whose left end, middle or right end is at this point.
pub fn text(area: &Area<'_>, at: Point, anchor: HPos, kind: Text, text: &str) -> Drawn {
    let style = kind.style().pos(Pos::new(anchor, VPos::Center));
    area.draw_text(&raised(text), &style, at)
}

/// Replaces exponents by superscripts: 2^10 by 2¹⁰.
pub(super) fn raised(text: &str) -> String {
    let mut is_raised = false;
    let letters = text.chars().filter_map(|letter| {
        is_raised = letter == '^' || is_raised && (letter == '-' || letter.is_ascii_digit());
        match letter {
            '^' => None,
            '-' if is_raised => Some('⁻'),
            _ if is_raised => "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(letter.to_digit(10)? as usize),
            _ => Some(letter),
        }
    });
    letters.collect()
}
