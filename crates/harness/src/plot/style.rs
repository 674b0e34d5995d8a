//! How pictures look: the palette, the widths of lines, the sizes of texts, the card they lie on.
//!
//! Pages are read on white and on black, so a picture brings its own white card: a style sheet that follows the reader's system
//! would be wrong wherever a page has a theme of its own.

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

pub(super) const CARD: &str = "#FFFFFF";
pub(super) const CARD_EDGE: &str = "#D0D7DE";
pub(super) const CARD_RADIUS: u32 = 8;

/// Widths of lines, in pixels.
pub const BOLD_PX: f64 = 2.25;
/// What has hundreds of points, or only points to something.
pub const FINE_PX: f64 = 1.25;
/// Axes and grids.
pub const HAIR_PX: f64 = 1.0;

/// What readers have; where there is none of these, DejaVu Sans takes its place, or one like it.
pub(super) const FONT: &str = "Helvetica,Arial,sans-serif";

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
    pub(super) fn size_px(self) -> f64 {
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

    /// How wide a text is at most: in DejaVu Sans, whose letters are the widest.
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

    pub(super) fn colour(self) -> &'static str {
        match self {
            Text::Title | Text::Name => INK,
            Text::Note | Text::Tick => MUTED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn long_texts_are_wrapped_between_words() {
        let lines = Text::Name.wrapped("left-to-right + allreduce", 120.0);
        assert_eq!(lines, ["left-to-right", "+ allreduce"]);
        assert_eq!(Text::Name.wrapped("one", 1.0), ["one"]);
    }
}
