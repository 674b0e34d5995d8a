//! A picture as SVG, and the one place for how pictures look: palette, line widths, text sizes, the card they lie on.
//!
//! Pages are read on white and on black, so a picture brings its own white card: a style sheet that follows the reader's system
//! would be wrong wherever a page has a theme of its own.

use std::fmt::{self, Write};
use std::fs;
use std::path::Path;

use crate::error::Error;

/// Okabe and Ito's colours, which people tell apart however they see colours; their yellow is missing, which is too faint on white.
pub const PALETTE: [&str; 7] = [
    "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000",
];

/// Titles and the names of lines.
pub const INK: &str = "#1F2328";

/// Axes, and what else explains.
pub const MUTED: &str = "#57606A";

/// Lines to read values by.
pub const GRID: &str = "#E4E7EB";

const CARD: &str = "#FFFFFF";
const CARD_EDGE: &str = "#D0D7DE";
const CARD_RADIUS: u32 = 8;

/// Widths of lines, in pixels.
pub const BOLD_PX: f64 = 2.25;
/// What has hundreds of points, or only points to something.
pub const FINE_PX: f64 = 1.25;
/// Axes and grids.
pub const HAIR_PX: f64 = 1.0;

/// Letters are as wide as those of DejaVu Sans: of the fonts that may be drawn with, none is wider.
const FONT: &str = "Helvetica,Arial,sans-serif";

/// A text's place in the order of importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// What the picture says.
    Title,
    /// What is drawn, and the names of axes.
    Note,
    /// The name of a line.
    Name,
    /// A number at an axis.
    Tick,
}

impl Text {
    fn size_px(self) -> f64 {
        match self {
            Text::Title => 16.0,
            Text::Note | Text::Name => 13.0,
            Text::Tick => 12.0,
        }
    }

    /// From one line of text to the next.
    pub fn line_px(self) -> f64 {
        (self.size_px() * 1.25).round()
    }

    /// How wide a text is at most.
    pub fn width_px(self, text: &str) -> f64 {
        let ems = text.chars().map(|letter| match letter {
            'i' | 'j' | 'l' | '\'' | '|' | '.' | ',' | ':' | ';' | '!' | ' ' | 'I' => 0.33,
            'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' => 0.42,
            'm' | 'w' | 'M' | 'W' | '%' | '@' | '=' | '+' | '<' | '>' => 0.95,
            'A'..='Z' => 0.72,
            _ => 0.63,
        });
        let is_bold = self == Text::Title;
        ems.fold(0.0, |width, em| width + em) * self.size_px() * if is_bold { 1.1 } else { 1.0 }
    }

    /// A text in lines that are at most so wide, if its words are, and about equally long.
    pub fn wrapped(self, text: &str, width_px: f64) -> Vec<String> {
        let filled = |step: u32| self.filled(text, width_px * (1.0 - 0.05 * f64::from(step)));
        let lines_count = filled(0).len();
        let longest = |lines: &[String]| {
            let widths = lines.iter().map(|line| self.width_px(line));
            widths.fold(0.0, f64::max)
        };
        let same = (0..10)
            .map(filled)
            .filter(|lines| lines.len() == lines_count);
        let best = same.min_by(|a, b| longest(a).total_cmp(&longest(b)));
        best.unwrap_or_default()
    }

    fn filled(self, text: &str, width_px: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ') {
            let longer = lines.last().map(|line| format!("{line} {word}"));
            match (longer, lines.last_mut()) {
                (Some(longer), Some(line)) if self.width_px(&longer) <= width_px => *line = longer,
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }

    fn colour(self) -> &'static str {
        match self {
            Text::Title | Text::Name => INK,
            Text::Note | Text::Tick => MUTED,
        }
    }
}

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
    use super::{Text, px, raised};

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

    #[test]
    fn long_texts_are_wrapped_between_words() {
        let lines = Text::Name.wrapped("left-to-right + allreduce", 120.0);
        assert_eq!(lines, ["left-to-right", "+ allreduce"]);
        assert_eq!(Text::Name.wrapped("one", 1.0), ["one"]);
    }
}
