//! How pictures look: the palette, the widths of lines, the sizes of texts.
//!
//! Pages are read on white and on black, so a picture brings its own white card: a style sheet that follows the reader's system
//! would be wrong wherever a page has a theme of its own.

use plotters::style::{FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle};

/// Okabe and Ito's colours, which people tell apart however they see colours; their yellow is missing, which is too faint on white.
pub const PALETTE: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0x00, 0x00, 0x00),
];

/// Titles and the names of lines.
pub const INK: RGBColor = RGBColor(0x1F, 0x23, 0x28);

/// Axes, and what else explains.
pub const MUTED: RGBColor = RGBColor(0x57, 0x60, 0x6A);

/// Lines to read values by.
pub const GRID: RGBColor = RGBColor(0xE4, 0xE7, 0xEB);

/// Widths of lines, in tenths of a pixel.
pub const BOLD: u32 = 22;
/// What has hundreds of points, or only points to something.
pub const FINE: u32 = 12;
/// Axes and grids.
pub const HAIR: u32 = 10;

/// What readers have; where there is none of these, DejaVu Sans takes its place, or one like it.
const FONT: FontFamily<'_> = FontFamily::Name("Helvetica,Arial,sans-serif");

/// A line of a colour and a width.
pub fn stroke(colour: RGBColor, width: u32) -> ShapeStyle {
    ShapeStyle::from(colour).stroke_width(width)
}

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
    fn looks(self) -> (i32, FontStyle, RGBColor) {
        match self {
            Text::Title => (160, FontStyle::Bold, INK),
            Text::Note => (130, FontStyle::Normal, MUTED),
            Text::Name => (130, FontStyle::Normal, INK),
            Text::Tick => (125, FontStyle::Normal, MUTED),
        }
    }

    /// How plotters draws it.
    pub fn style(self) -> TextStyle<'static> {
        let (size, weight, colour) = self.looks();
        // plotters' pictures in SVG divide by that.
        FontDesc::new(FONT, f64::from(size) * 1.24, weight).color(&colour)
    }

    /// From one line of text to the next.
    pub fn line(self) -> i32 {
        self.looks().0 * 5 / 4
    }

    /// How wide a text is, about: plotters knows no fonts, and takes bold letters for others.
    pub fn width(self, text: &str) -> i32 {
        let (width, _) = self.style().font.box_size(text).unwrap_or_default();
        let width = i32::try_from(width).unwrap_or(i32::MAX / 9);
        if self == Text::Title {
            width * 9 / 8
        } else {
            width
        }
    }

    /// A text in lines that are at most so wide, if its words are, and about equally long.
    pub fn wrapped(self, text: &str, width: i32) -> Vec<String> {
        let lines = self.filled(text, width);
        let narrower = (1..10).map(|step| self.filled(text, width - width / 20 * step));
        let same = narrower.take_while(|narrower| narrower.len() == lines.len());
        same.last().unwrap_or(lines)
    }

    fn filled(self, text: &str, width: i32) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ') {
            let longer = lines.last().map(|line| format!("{line} {word}"));
            match (longer, lines.last_mut()) {
                (Some(longer), Some(line)) if self.width(&longer) <= width => *line = longer,
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn long_texts_are_wrapped_between_words() {
        let lines = Text::Name.wrapped("left-to-right + allreduce", 1200);
        assert_eq!(lines, ["left-to-right", "+ allreduce"]);
        assert_eq!(Text::Name.wrapped("one", 10), ["one"]);
    }
}
