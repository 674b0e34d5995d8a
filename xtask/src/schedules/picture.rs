//! A schedule as a picture: ranks down, rounds across, an arrow for every message.

use std::path::Path;

use harness::Error;
use harness::plot::style::{BLUE, FINE, GRID, HAIR, Text, VERMILION, stroke};
use harness::plot::svg::{self, Area, Drawn, Point, text};
use plotters::element::{PathElement, Polygon};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};
use schedule::{Algorithm, Flight};

/// Between two ranks, and between two rounds at most; in tenths of a pixel, as all lengths here.
const RANK: f64 = 260.0;
const ROUND_MOST: f64 = 960.0;

/// Around the picture; on the left there are the ranks' numbers.
const MARGIN: i32 = 160;
const LEFT: i32 = 760;

/// As wide as a page; a wider picture would be shrunk, and its letters with it.
const WIDTH_MOST: i32 = 6800;

/// The head of an arrow: its length, and half of its width.
const HEAD: (f64, f64) = (80.0, 30.0);

/// Where a message goes.
const TO_HIGHER: RGBColor = BLUE;
const TO_LOWER: RGBColor = VERMILION;

/// Draws messages that take a round each.
pub(super) fn draw(
    path: &Path,
    algorithm: Algorithm,
    ranks: usize,
    flights: &[Flight],
) -> Result<(), Error> {
    let ends = flights.iter().map(|flight| flight.ended_ns);
    let rounds = ends.fold(0.0, f64::max);
    let title = title(algorithm, flights.len(), rounds);
    let round = (f64::from(WIDTH_MOST - LEFT - MARGIN) / rounds).min(ROUND_MOST);
    let top = MARGIN + Text::Title.line() + 2 * Text::Note.line() + 180;
    let at = |rank: usize, time: f64| (LEFT + whole(round * time), top + whole(RANK * rank as f64));
    let (right, bottom) = at(ranks - 1, rounds);
    let width = right.max(MARGIN + Text::Title.width(&title)) + MARGIN;
    let size = (width, bottom + MARGIN + whole(RANK / 2.0));
    svg::write(path, size, &title, |area| {
        draw_key(area, &title)?;
        let y = top - 200;
        text(area, (MARGIN, y), HPos::Left, Text::Tick, "round")?;
        for number in (1_u32..).take_while(|&number| f64::from(number) <= rounds) {
            let (x, _) = at(0, f64::from(number) - 0.5);
            text(area, (x, y), HPos::Center, Text::Tick, &number.to_string())?;
        }
        for rank in 0..ranks {
            let row = [at(rank, 0.0), at(rank, rounds)];
            area.draw(&PathElement::new(row, stroke(GRID, HAIR)))?;
            let (x, y) = row[0];
            let name = format!("{}{rank}", if rank == 0 { "rank " } else { "" });
            text(area, (x - 100, y), HPos::Right, Text::Tick, &name)?;
        }
        let mut sorted: Vec<&Flight> = flights.iter().collect();
        sorted.sort_by(|a, b| {
            (a.begun_ns.total_cmp(&b.begun_ns)).then((a.from, a.to).cmp(&(b.from, b.to)))
        });
        for flight in sorted {
            // A little apart, so that rounds can be distinguished.
            let from = at(flight.from, flight.begun_ns + 0.06);
            let to = at(flight.to, flight.ended_ns - 0.06);
            let is_lower = flight.to < flight.from;
            arrow(area, from, to, if is_lower { TO_LOWER } else { TO_HIGHER })?;
        }
        Ok(())
    })
}

fn title(algorithm: Algorithm, messages: usize, rounds: f64) -> String {
    let plural = if rounds > 1.0 { "s" } else { "" };
    format!("{algorithm} sends {messages} messages in {rounds} round{plural}")
}

/// The title, and what the colours of arrows mean.
fn draw_key(area: &Area<'_>, title: &str) -> Drawn {
    let y = MARGIN + Text::Title.line() / 2;
    text(area, (MARGIN, y), HPos::Left, Text::Title, title)?;
    let y = MARGIN + Text::Title.line() + Text::Note.line() / 2;
    let mut x = MARGIN;
    for (colour, words) in [
        (TO_HIGHER, "to a higher rank"),
        (TO_LOWER, "to a lower rank"),
    ] {
        arrow(area, (x, y), (x + 300, y), colour)?;
        text(area, (x + 400, y), HPos::Left, Text::Note, words)?;
        x += 600 + Text::Note.width(words);
    }
    Ok(())
}

fn arrow(area: &Area<'_>, from: Point, to: Point, colour: RGBColor) -> Drawn {
    area.draw(&PathElement::new([from, to], stroke(colour, FINE)))?;
    let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
    let length = dx.hypot(dy);
    let (back, aside) = (HEAD.0 / length, HEAD.1 / length);
    let wing = |side: f64| {
        let x = back * dx + side * aside * dy;
        let y = back * dy - side * aside * dx;
        (to.0 - whole(x), to.1 - whole(y))
    };
    let head = [to, wing(1.0), wing(-1.0)];
    area.draw(&Polygon::new(head, colour.filled()))
}

fn whole(length: f64) -> i32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "pictures are less than a million wide"
    )]
    let length = length.round() as i32;
    length
}
