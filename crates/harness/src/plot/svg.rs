//! A picture as SVG, on its card.

use std::fmt::{self, Write};
use std::fs;
use std::path::Path;

use super::style::{CARD, CARD_EDGE, CARD_RADIUS, FONT, Text};
use crate::Error;

/// Which point of a text is given: it is centred on that height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its first letter.
    Start,
    /// Its middle.
    Middle,
    /// Its last letter.
    End,
}

/// How a line is drawn.
#[derive(Clone, Debug)]
pub struct Stroke {
    /// Its colour.
    pub colour: &'static str,
    /// Its width, in pixels.
    pub width_px: f64,
    /// How much of it is drawn, left out, …, in pixels, and how much of that lies before its first point.
    pub dashes: Option<(Vec<f64>, f64)>,
}

impl Stroke {
    /// A line without gaps.
    pub fn solid(colour: &'static str, width_px: f64) -> Self {
        Self {
            colour,
            width_px,
            dashes: None,
        }
    }
}

/// A point, in pixels from the upper left corner.
pub type Point = (f64, f64);

/// A picture as it grows, on its card.
#[derive(Debug)]
pub struct Svg {
    text: String,
}

impl Svg {
    /// An empty card.
    pub fn new(width: f64, height: f64, title: &str) -> Self {
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"{FONT}\" role=\"img\">\n<title>{}</title>\n",
            escaped(title)
        );
        let _ = writeln!(
            text,
            "<rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"{CARD_RADIUS}\" fill=\"{CARD}\" stroke=\"{CARD_EDGE}\"/>",
            width - 1.0,
            height - 1.0
        );
        Self { text }
    }

    fn add(&mut self, element: fmt::Arguments<'_>) {
        let _ = self.text.write_fmt(element);
        self.text.push('\n');
    }

    /// A line through points.
    pub fn line(&mut self, points: &[Point], stroke: &Stroke) {
        let mut path = String::new();
        for (index, &point) in points.iter().enumerate() {
            let _ = write!(path, "{}{}", if index == 0 { 'M' } else { 'L' }, at(point));
        }
        let &Stroke {
            colour,
            width_px,
            ref dashes,
        } = stroke;
        let dashes = dashes.as_ref().map_or(String::new(), |(dashes, before)| {
            let dashes: Vec<String> = dashes.iter().map(|&length| px(length)).collect();
            format!(
                " stroke-dasharray=\"{}\" stroke-dashoffset=\"{}\"",
                dashes.join(","),
                px(*before)
            )
        });
        self.add(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width_px}\" stroke-linejoin=\"round\"{dashes}/>"
        ));
    }

    /// A filled shape.
    pub fn area(&mut self, corners: &[Point], colour: &str) {
        let corners: Vec<String> = corners.iter().map(|&corner| at(corner)).collect();
        self.add(format_args!(
            "<polygon points=\"{}\" fill=\"{colour}\"/>",
            corners.join(" ")
        ));
    }

    /// A filled circle.
    pub fn dot(&mut self, centre: Point, radius_px: f64, colour: &str) {
        self.add(format_args!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{radius_px}\" fill=\"{colour}\"/>",
            px(centre.0),
            px(centre.1)
        ));
    }

    /// A line of text; 2^10 has its exponent above.
    pub fn text(&mut self, anchored: Point, anchor: Anchor, kind: Text, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if kind == Text::Title {
            " font-weight=\"bold\""
        } else {
            ""
        };
        let size = kind.size_px();
        // Letters are centred on the middle of small ones and large ones.
        let baseline = anchored.1 + 0.35 * size;
        self.add(format_args!(
            "<text x=\"{}\" y=\"{}\"{anchor} font-size=\"{size}\"{weight} fill=\"{}\">{}</text>",
            px(anchored.0),
            px(baseline),
            kind.colour(),
            raised(&escaped(text), size)
        ));
    }

    /// The whole file.
    pub fn finish(mut self) -> String {
        self.text += "</svg>\n";
        self.text
    }

    /// Writes the file.
    pub fn write(self, path: &Path) -> Result<(), Error> {
        fs::write(path, self.finish()).map_err(|error| Error::file(path, error))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// A text whose exponents stand above the line.
fn raised(text: &str, size_px: f64) -> String {
    let mut parts = text.split('^');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.trim_start_matches(|c: char| c == '-' || c.is_ascii_digit());
        let (exponent, rest) = part.split_at(part.len() - digits.len());
        let (up, small) = (px(0.38 * size_px), px(0.75 * size_px));
        let _ = write!(
            out,
            "<tspan dy=\"-{up}\" font-size=\"{small}\">{exponent}</tspan>"
        );
        let (space, rest) = match rest.strip_prefix(' ') {
            // Readers drop a space at the beginning of an element.
            Some(rest) => (format!(" dx=\"{}\"", px(0.3 * size_px)), rest),
            None => (String::new(), rest),
        };
        if !rest.is_empty() {
            let _ = write!(out, "<tspan{space} dy=\"{up}\">{rest}</tspan>");
        }
    }
    out
}

fn at((x, y): Point) -> String {
    format!("{},{}", px(x), px(y))
}

/// A tenth of a pixel is as much as anybody sees, and the same whatever computed it.
fn px(length: f64) -> String {
    let text = format!("{length:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0" } else { text }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::{px, raised};

    #[test]
    fn lengths_have_a_tenth_of_a_pixel() {
        for (length, text) in [(1.0, "1"), (0.26, "0.3"), (-0.01, "0"), (120.04, "120")] {
            assert_eq!(px(length), text);
        }
    }

    #[test]
    fn exponents_are_raised_and_what_follows_is_not() {
        assert_eq!(raised("N = 12", 12.0), "N = 12");
        let text = raised("2^18 items", 12.0);
        assert!(
            text.contains(">18</tspan><tspan dx=\"3.6\" dy=\"4.6\">items</tspan>"),
            "{text}"
        );
        assert!(raised("10^-3", 12.0).ends_with(">-3</tspan>"));
    }
}
