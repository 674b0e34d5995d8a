//! The style of pictures: colours on light and dark pages, line widths, text sizes.
//!
//! A picture has its own background. Its style sheet follows the page: GitHub and mdBook set `color-scheme`, and browsers apply the page's scheme to an
//! SVG `<img>`. Viewers without style sheets show the light version.

use plotters::style::{FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle};

/// Treefold's sum in tree order.
pub const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xB2);
/// References, such as plain sums and the MPI library's own.
pub const VERMILION: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
/// Exact sums.
pub const GREEN: RGBColor = RGBColor(0x00, 0x8F, 0x68);
/// Another colour of the palette. All colours are close to those of Okabe and Ito, which colour-blind people can distinguish.
pub const OCHRE: RGBColor = RGBColor(0xB3, 0x7A, 0x00);
/// Another colour of the palette.
pub const PINK: RGBColor = RGBColor(0xC0, 0x5C, 0x94);
/// Another colour of the palette.
pub const VIOLET: RGBColor = RGBColor(0x6F, 0x5B, 0xD0);
/// Another colour of the palette.
pub const BROWN: RGBColor = RGBColor(0x7A, 0x4B, 0x2A);

/// Titles and the names of lines.
pub const INK: RGBColor = RGBColor(0x1F, 0x23, 0x28);

/// Axes and explanations.
pub const MUTED: RGBColor = RGBColor(0x57, 0x60, 0x6A);

/// Grid lines.
pub const GRID: RGBColor = RGBColor(0xE4, 0xE7, 0xEB);

/// The background of a picture, and its border.
pub(super) const CARD: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);
pub(super) const EDGE: RGBColor = RGBColor(0xD0, 0xD7, 0xDE);

/// Every colour, and its replacement on dark pages.
const ON_DARK: [(RGBColor, RGBColor); 12] = [
    (BLUE, RGBColor(0x5A, 0xB0, 0xF5)),
    (VERMILION, RGBColor(0xFF, 0x8B, 0x4D)),
    (GREEN, RGBColor(0x3F, 0xD0, 0xA0)),
    (OCHRE, RGBColor(0xF2, 0xD1, 0x3C)),
    (PINK, RGBColor(0xF0, 0x9A, 0xC8)),
    (VIOLET, RGBColor(0xB3, 0xA4, 0xFF)),
    (BROWN, RGBColor(0xC0, 0x8A, 0x70)),
    (INK, RGBColor(0xE6, 0xED, 0xF3)),
    (MUTED, RGBColor(0x9D, 0xA7, 0xB3)),
    (GRID, RGBColor(0x2B, 0x31, 0x39)),
    (CARD, RGBColor(0x16, 0x1B, 0x22)),
    (EDGE, RGBColor(0x30, 0x36, 0x3D)),
];

/// The style sheet of a picture.
pub(super) fn sheet(elements: &str) -> String {
    let mut rules = String::new();
    for (light, dark) in ON_DARK {
        let (light, dark) = (hexadecimal(light), hexadecimal(dark));
        for what in ["fill", "stroke"] {
            let attribute = format!("{what}=\"{light}\"");
            if elements.contains(&attribute) {
                rules += &format!("[{attribute}]{{{what}:{dark}}}");
            }
        }
    }
    format!("<style>@media (prefers-color-scheme:dark){{{rules}}}</style>")
}

/// The colour as plotters writes it.
pub(super) fn hexadecimal(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// Widths of lines, in tenths of a pixel.
pub const BOLD: u32 = 24;
/// Lines with hundreds of points, and pointers.
pub const FINE: u32 = 13;
/// Axes and grids.
pub const HAIR: u32 = 10;

/// Common fonts. Viewers that lack them use a similar font, such as DejaVu Sans.
const FONT: FontFamily<'_> = FontFamily::Name("Helvetica,Arial,sans-serif");

/// A line of a colour and a width.
pub fn stroke(colour: RGBColor, width: u32) -> ShapeStyle {
    ShapeStyle::from(colour).stroke_width(width)
}

/// The importance of a text. All sizes are legible on a phone, where a page is 400 pixels wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// The title.
    Title,
    /// The subtitle, and the names of axes.
    Note,
    /// The name of a line.
    Name,
    /// A number at an axis.
    Tick,
}

impl Text {
    fn looks(self) -> (i32, FontStyle, RGBColor) {
        match self {
            Text::Title => (190, FontStyle::Bold, INK),
            Text::Note => (165, FontStyle::Normal, MUTED),
            Text::Name => (165, FontStyle::Normal, INK),
            Text::Tick => (160, FontStyle::Normal, MUTED),
        }
    }

    /// The style in which plotters draws the text.
    pub fn style(self) -> TextStyle<'static> {
        let (size, weight, colour) = self.looks();
        // plotters' SVG backend divides sizes by this factor.
        FontDesc::new(FONT, f64::from(size) * 1.24, weight).color(&colour)
    }

    /// The line height.
    pub fn line(self) -> i32 {
        self.looks().0 * 5 / 4
    }

    /// The approximate width of a text in Helvetica. It is computed here, since plotters knows no fonts.
    pub fn width(self, text: &str) -> i32 {
        let (size, ..) = self.looks();
        // In hundredths of the font's size.
        let letters = text.chars().map(|letter| match letter {
            'i' | 'j' | 'l' | '\'' => 23,
            'f' | 't' | 'r' | ' ' | '.' | ',' | ':' | ';' | '(' | ')' | '-' | '/' => 31,
            'm' | 'w' | 'M' | 'W' | '%' => 83,
            'A'..='Z' | '+' | '=' => 68,
            _ => 56,
        });
        let width = letters.fold(0, |width, letter| width + letter) * size / 100;
        if self == Text::Title {
            width * 27 / 25
        } else {
            width
        }
    }

    /// Breaks a text into lines of limited width and about equal length.
    pub fn wrapped(self, text: &str, width: i32) -> Vec<String> {
        let lines = self.filled(text, width);
        let narrower = (1..10).map(|step| self.filled(text, width - width / 20 * step));
        let same = narrower.take_while(|narrower| narrower.len() == lines.len());
        same.last().unwrap_or(lines)
    }

    fn filled(self, text: &str, width: i32) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
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
    use super::{CARD, EDGE, GRID, INK, ON_DARK, RGBColor};

    /// The contrast of two colours by the Web Content Accessibility Guidelines.
    fn contrast(one: RGBColor, other: RGBColor) -> f64 {
        let luminance = |RGBColor(red, green, blue): RGBColor| {
            let linear = |value: u8| match f64::from(value) / 255.0 {
                value if value <= 0.04045 => value / 12.92,
                value => ((value + 0.055) / 1.055).powf(2.4),
            };
            0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) + 0.05
        };
        let (one, other) = (luminance(one), luminance(other));
        one.max(other) / one.min(other)
    }

    /// Lines need a contrast of 3 with the background, texts one of 4.5.
    #[test]
    fn colours_are_seen_on_light_and_on_dark_pages() {
        let dark_card = ON_DARK
            .iter()
            .find(|pair| pair.0 == CARD)
            .map(|pair| pair.1);
        for (light, dark) in ON_DARK {
            if [CARD, EDGE, GRID].contains(&light) {
                continue;
            }
            let least = if light == INK { 4.5 } else { 3.0 };
            for (colour, card) in [(light, Some(CARD)), (dark, dark_card)] {
                let contrast = card.map_or(0.0, |card| contrast(colour, card));
                assert!(contrast >= least, "{colour:?}: {contrast:.2}");
            }
        }
    }
}
