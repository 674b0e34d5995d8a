//! A schedule as a picture: ranks down, rounds across, an arrow for every message.

use std::path::Path;

use harness::Error;
use harness::plot::style::{FINE_PX, GRID, HAIR_PX, PALETTE, Text};
use harness::plot::svg::{Anchor, Point, Stroke, Svg};
use schedule::{Algorithm, Flight};

/// Pixels between two ranks, and between two rounds at most.
const RANK: f64 = 26.0;
const ROUND_MOST: f64 = 96.0;

/// Around the picture; on the left there are the ranks' numbers.
const MARGIN: f64 = 16.0;
const LEFT: f64 = 64.0;

/// As wide as a page; a wider picture would be shrunk, and its letters with it.
const WIDTH_MOST: f64 = 860.0;

/// The head of an arrow: its length, and half of its width.
const HEAD: (f64, f64) = (8.0, 3.0);

/// Where a message goes.
const TO_HIGHER: &str = PALETTE[0];
const TO_LOWER: &str = PALETTE[1];

/// Draws messages that take a round each.
pub(super) fn draw(
    path: &Path,
    algorithm: Algorithm,
    ranks: usize,
    flights: &[Flight],
) -> Result<(), Error> {
    let rounds = flights
        .iter()
        .map(|flight| flight.ended_ns)
        .fold(0.0, f64::max);
    let title = title(algorithm, flights.len(), rounds);
    let round_px = ((WIDTH_MOST - LEFT - MARGIN) / rounds).min(ROUND_MOST);
    let width = (LEFT + round_px * rounds).max(MARGIN + Text::Title.width_px(&title)) + MARGIN;
    let top = MARGIN + Text::Title.line_px() + 2.0 * Text::Note.line_px() + 18.0;
    let bottom = top + RANK * (ranks - 1) as f64;
    let at = |rank: usize, round: f64| (LEFT + round_px * round, top + RANK * rank as f64);

    let mut svg = Svg::new(width, bottom + MARGIN + RANK / 2.0, &title);
    let y = MARGIN + Text::Title.line_px() / 2.0;
    svg.text((MARGIN, y), Anchor::Start, Text::Title, &title);
    let y = MARGIN + Text::Title.line_px() + Text::Note.line_px() / 2.0;
    let mut x = MARGIN;
    for (colour, words) in [
        (TO_HIGHER, "to a higher rank"),
        (TO_LOWER, "to a lower rank"),
    ] {
        arrow(&mut svg, (x, y), (x + 30.0, y), colour);
        svg.text((x + 40.0, y), Anchor::Start, Text::Note, words);
        x += 60.0 + Text::Note.width_px(words);
    }
    let grid = Stroke::solid(GRID, HAIR_PX);
    for (round, text) in (1_u32..).map(|round| (f64::from(round), round.to_string())) {
        if round > rounds {
            break;
        }
        let (x, _) = at(0, round - 0.5);
        svg.text((x, top - 20.0), Anchor::Middle, Text::Tick, &text);
    }
    svg.text((MARGIN, top - 20.0), Anchor::Start, Text::Tick, "round");
    for rank in 0..ranks {
        svg.line(&[at(rank, 0.0), at(rank, rounds)], &grid);
        let (_, y) = at(rank, 0.0);
        let name = if rank == 0 {
            "rank 0".to_owned()
        } else {
            rank.to_string()
        };
        svg.text((LEFT - 10.0, y), Anchor::End, Text::Tick, &name);
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
        arrow(
            &mut svg,
            from,
            to,
            if is_lower { TO_LOWER } else { TO_HIGHER },
        );
    }
    svg.write(path)
}

fn title(algorithm: Algorithm, messages: usize, rounds: f64) -> String {
    let plural = if rounds > 1.0 { "s" } else { "" };
    format!("{algorithm} sends {messages} messages in {rounds} round{plural}")
}

fn arrow(svg: &mut Svg, from: Point, to: Point, colour: &'static str) {
    svg.line(&[from, to], &Stroke::solid(colour, FINE_PX));
    let length = (to.0 - from.0).hypot(to.1 - from.1);
    let (dx, dy) = ((to.0 - from.0) / length, (to.1 - from.1) / length);
    let (back, aside) = HEAD;
    let wing = |side: f64| {
        (
            to.0 - back * dx - side * aside * dy,
            to.1 - back * dy + side * aside * dx,
        )
    };
    svg.area(&[to, wing(1.0), wing(-1.0)], colour);
}
