//! A picture of the comparisons, as SVG on a white card of its own: how far each iterate is from the one on one rank.

use crate::{Comparison, Sums};

const TITLE: &str =
    "With plain sums the iterates depend on the number of ranks, with treefold they do not";
const NOTE: &str = "Greatest distance of an iterate from the one on one rank, as a part of the solution's greatest value";

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 470.0;
/// Where values are drawn.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 670.0;
const TOP: f64 = 88.0;
/// The height of the lowest power of ten, and of 0, which a logarithmic axis does not have.
const BOTTOM: f64 = 385.0;
const ZERO: f64 = 410.0;
/// From one name of a line to the next, at least.
const NAME_HEIGHT: f64 = 18.0;

/// The powers of ten at the axis' ends; what is below counts as 0.
const POWERS: [i32; 2] = [-16, -2];

/// Blue, vermilion and green of Okabe's and Ito's palette, which people tell apart however they see colours.
const COLOURS: [&str; 3] = ["#0072B2", "#D55E00", "#009E73"];
const INK: &str = "#1F2328";
const MUTED: &str = "#57606A";
const GRID: &str = "#E4E7EB";

/// A line of the picture.
struct Line {
    name: String,
    colour: &'static str,
    width: f64,
    /// How far each iterate is, from the first.
    distances: Vec<f64>,
}

/// Draws the runs on more than one rank.
pub(crate) fn draw(comparisons: &[Comparison]) -> String {
    let of = |sums| {
        let several = comparisons.iter().filter(|one| one.ranks > 1);
        several.filter(move |one| one.sums == sums)
    };
    let mut lines = Vec::new();
    for (one, colour) in of(Sums::Plain).zip(COLOURS) {
        lines.push(Line {
            name: format!("plain, {} ranks", one.ranks),
            colour,
            width: 1.25,
            distances: one.distances.clone(),
        });
    }
    // They are one line: each covers the others.
    let ranks: Vec<String> = of(Sums::Treefold)
        .map(|one| one.ranks.to_string())
        .collect();
    for one in of(Sums::Treefold).take(1) {
        lines.push(Line {
            name: format!("treefold, {} ranks", ranks.join(", ")),
            colour: INK,
            width: 2.25,
            distances: one.distances.clone(),
        });
    }
    let longest = lines.iter().map(|line| line.distances.len()).max();
    let iterations = longest.unwrap_or(1) as f64;
    let mut svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{HEIGHT}' \
         viewBox='0 0 {WIDTH} {HEIGHT}' font-family='Helvetica,Arial,sans-serif' role='img'>\n\
         <title>{TITLE}</title>\n\
         <rect width='{WIDTH}' height='{HEIGHT}' rx='8' fill='#FFFFFF'/>\n\
         <text x='16' y='30' font-size='16' font-weight='bold' fill='{INK}'>{TITLE}</text>\n"
    );
    svg += &text(16.0, 50.0, "start", MUTED, NOTE);
    svg += &axes(iterations);
    for line in &lines {
        let points = line.distances.iter().enumerate();
        let points = points.map(|(at, &distance)| {
            let x = x_of((at + 1) as f64, iterations);
            format!("{x:.1},{:.1}", y_of(distance))
        });
        let points = points.collect::<Vec<_>>().join(" ");
        let Line { colour, width, .. } = line;
        svg += &format!(
            "<polyline points='{points}' fill='none' stroke='{colour}' stroke-width='{width}' stroke-linejoin='round'/>\n"
        );
    }
    svg += &names(&mut lines, iterations);
    svg + "</svg>\n"
}

fn x_of(iteration: f64, iterations: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * iteration / iterations
}

fn y_of(distance: f64) -> f64 {
    let [lowest, highest] = POWERS.map(f64::from);
    match distance.log10() {
        power if power < lowest => ZERO,
        power => BOTTOM - (BOTTOM - TOP) * (power - lowest) / (highest - lowest),
    }
}

fn text(x: f64, y: f64, anchor: &str, colour: &str, text: &str) -> String {
    format!(
        "<text x='{x:.1}' y='{y:.1}' text-anchor='{anchor}' font-size='13' fill='{colour}'>{text}</text>\n"
    )
}

/// A horizontal line for every second power of ten and for 0; ticks for iterations.
fn axes(iterations: f64) -> String {
    let mut svg = String::new();
    let powers = (POWERS[0]..=POWERS[1]).step_by(2);
    let powers = powers.map(|power| (y_of(10.0_f64.powi(power)), format!("1e{power}"), GRID));
    for (y, label, colour) in powers.chain([(ZERO, "0".to_owned(), MUTED)]) {
        svg += &format!("<path d='M{LEFT},{y:.1}H{RIGHT}' stroke='{colour}'/>\n");
        svg += &text(LEFT - 8.0, y + 4.5, "end", MUTED, &label);
    }
    let mut iteration = 0.0;
    while iteration <= iterations {
        let x = x_of(iteration, iterations);
        svg += &format!("<path d='M{x:.1},{ZERO}v5' stroke='{MUTED}'/>\n");
        svg += &text(x, ZERO + 20.0, "middle", MUTED, &format!("{iteration}"));
        iteration += 100.0;
    }
    svg + &text(
        (LEFT + RIGHT) / 2.0,
        HEIGHT - 18.0,
        "middle",
        MUTED,
        "iteration",
    )
}

/// The lines' names beside their ends, from top to bottom, moved apart where they would touch.
fn names(lines: &mut [Line], iterations: f64) -> String {
    let end = |line: &Line| {
        let last = line.distances.last().copied().unwrap_or_default();
        (x_of(line.distances.len() as f64, iterations), y_of(last))
    };
    lines.sort_by(|one, other| end(one).1.total_cmp(&end(other).1));
    let mut svg = String::new();
    let mut y = TOP;
    // From the lowest upwards there is always room, as 0 is at the bottom.
    for line in lines.iter() {
        let (end_x, end_y) = end(line);
        y = end_y.max(y + NAME_HEIGHT);
        let colour = line.colour;
        svg += &format!(
            "<path d='M{end_x:.1},{end_y:.1}L{:.1},{y:.1}' stroke='{colour}' fill='none'/>\n",
            RIGHT + 16.0
        );
        svg += &text(RIGHT + 20.0, y + 4.5, "start", INK, &line.name);
    }
    svg
}
