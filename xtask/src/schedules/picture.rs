//! A schedule as a picture: ranks down, rounds across, an arrow for every message.

use std::path::Path;

use harness::Error;
use plotters::prelude::*;
use schedule::Flight;

/// Pixels between two ranks, and between two rounds.
const RANK: f64 = 26.0;
const ROUND: f64 = 64.0;

/// Around the picture; on the left there are the ranks' numbers.
const MARGIN: f64 = 22.0;
const LEFT: f64 = 38.0;

/// Draws messages that take a round each.
pub(super) fn draw(path: &Path, ranks: usize, flights: &[Flight]) -> Result<(), Error> {
    draw_to(path, ranks, flights).map_err(|reason| Error::file(path, reason))
}

fn draw_to(path: &Path, ranks: usize, flights: &[Flight]) -> Result<(), String> {
    let failed = |error: DrawingAreaErrorKind<_>| error.to_string();
    let rounds = flights
        .iter()
        .map(|flight| flight.ended_ns)
        .fold(0.0, f64::max);
    let height = RANK * (ranks - 1) as f64 + 2.0 * MARGIN;
    let width = LEFT + ROUND * rounds + MARGIN;
    let area = SVGBackend::new(
        path,
        (pixels(width).unsigned_abs(), pixels(height).unsigned_abs()),
    );
    let area = area.into_drawing_area();
    area.fill(&WHITE).map_err(failed)?;
    let at = |rank: usize, round: f64| (LEFT + ROUND * round, MARGIN + RANK * rank as f64);
    let place = |(x, y): (f64, f64)| (pixels(x), pixels(y));

    let faint = RGBColor(215, 215, 215);
    for rank in 0..ranks {
        let line = [place(at(rank, 0.0)), place(at(rank, rounds))];
        area.draw(&PathElement::new(line, faint)).map_err(failed)?;
        let number = rank.to_string();
        let (_, y) = place(at(rank, 0.0));
        let text = Text::new(number, (10, y - 6), ("sans-serif", 12).into_font());
        area.draw(&text).map_err(failed)?;
    }
    let mut sorted: Vec<&Flight> = flights.iter().collect();
    sorted.sort_by(|a, b| {
        (a.begun_ns.total_cmp(&b.begun_ns)).then((a.from, a.to).cmp(&(b.from, b.to)))
    });
    for flight in sorted {
        // A little apart, so that rounds can be told from each other.
        let (from, to) = (
            at(flight.from, flight.begun_ns + 0.06),
            at(flight.to, flight.ended_ns - 0.06),
        );
        let colour = if flight.to < flight.from { RED } else { BLUE };
        let shaft = PathElement::new([place(from), place(to)], colour);
        area.draw(&shaft).map_err(failed)?;
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let (dx, dy) = ((to.0 - from.0) / length, (to.1 - from.1) / length);
        let wing = |side: f64| {
            place((
                to.0 - 7.0 * dx - side * 2.5 * dy,
                to.1 - 7.0 * dy + side * 2.5 * dx,
            ))
        };
        let head = Polygon::new([place(to), wing(1.0), wing(-1.0)], colour);
        area.draw(&head).map_err(failed)?;
    }
    area.present().map_err(failed)
}

#[expect(clippy::cast_possible_truncation, reason = "pictures are small")]
fn pixels(length: f64) -> i32 {
    length.round() as i32
}
