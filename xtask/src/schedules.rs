//! `cargo xtask schedules`: writes the page that shows every schedule's rounds, messages, volume and picture.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use checkout::files;
use checkout::workspace::workspace;
use clap::Args;
use distribution::Ownership;
use harness::markdown::{table, trimmed};
use harness::plot::style::{BLUE, FINE, GRID, HAIR, Text, VERMILION, stroke};
use harness::plot::svg::{self, Area, Drawn, Point, text};
use harness::{Error, Sharing};
use plotters::element::{PathElement, Polygon};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};
use rayon::prelude::*;
use schedule::{
    Algorithm, Collective, Flight, Link, Machine, Parameters, Schedule, check, flights, simulate,
};
use tree_index::Tree;

/// The number of ranks in the table and the pictures, and the number of blocks of pipelines.
const RANKS: usize = 8;
const BLOCKS: usize = 4;

/// A link on which every message takes one round, whatever its length.
const ROUND: Link = Link {
    latency_ns: 1.0,
    byte_ns: 0.0,
    combine_byte_ns: 0.0,
};

/// The page's text. [`page_text`] replaces the names in braces by computed texts.
const PAGE: &str = include_str!("schedules/page.md");

/// Options of `schedules`.
#[derive(Args, Clone, Debug)]
pub struct SchedulesOptions {
    /// The folder of the page
    #[arg(long, value_name = "DIR", default_value_os_t = workspace().join("docs"))]
    output: PathBuf,
}

/// Runs the command.
pub fn run(options: &SchedulesOptions) -> Result<(), Error> {
    let folder = options.output.join("schedules");
    files::make(&folder)?;
    for &algorithm in Algorithm::ALL {
        let schedule = allreduce(algorithm, RANKS);
        let path = folder.join(format!("{algorithm}.svg"));
        draw(&path, algorithm, RANKS, &in_rounds(&schedule))?;
    }
    let page = options.output.join("schedules.md");
    files::write(&page, page_text())?;
    println!("written: {}", page.display());
    Ok(())
}

/// The page's text with all computed texts.
fn page_text() -> String {
    let mut page = PAGE.to_owned();
    for (name, text) in [
        ("{ranks}", RANKS.to_string()),
        ("{blocks}", BLOCKS.to_string()),
        ("{shape}", shape()),
        ("{fragment_ranks}", FRAGMENT_RANKS.to_string()),
        ("{fragments}", fragments()),
        ("{pictures}", pictures()),
    ] {
        page = page.replace(name, text.trim_end());
    }
    page
}

fn allreduce(algorithm: Algorithm, ranks: usize) -> Schedule {
    let parameters = Parameters {
        blocks: BLOCKS,
        ..Parameters::default()
    };
    Schedule::new(algorithm, Collective::Allreduce, ranks)
        .and_then(|schedule| schedule.with(parameters))
        .expect("there are ranks, and the parameters are sound")
}

/// The messages of a schedule, if each message takes one round.
fn in_rounds(schedule: &Schedule) -> Vec<schedule::Flight> {
    let machine = Machine {
        // A rank may send several messages in one round.
        ports: schedule.ranks(),
        ..Machine::flat(ROUND)
    };
    flights(schedule, &machine, 0.0, &|_| 1)
}

fn pictures() -> String {
    let picture = |algorithm: &Algorithm| {
        format!("### {algorithm}\n\n![{algorithm}](schedules/{algorithm}.svg)\n\n")
    };
    Algorithm::ALL.iter().map(picture).collect()
}

/// Ranks and items of the table of fragments.
const FRAGMENT_RANKS: usize = 64;
const ITEMS: u64 = 504_850;

/// The distributions in the table of fragments.
const SHOWN: [&str; 3] = ["lower", "optimized", "block-cyclic"];

/// The total number of rows in all messages of a schedule.
fn volume(schedule: &Schedule) -> f64 {
    let steps = (0..schedule.ranks()).flat_map(|rank| schedule.steps(rank));
    let sends = steps.flat_map(|step| step.sends);
    let pieces = sends.flat_map(|send| send.pieces);
    let blocks = pieces.fold(0, |blocks, piece| blocks + piece.blocks.len());
    blocks as f64 / schedule.blocks() as f64
}

/// Rounds, messages and volume of every schedule.
fn shape() -> String {
    let head = ["schedule", "rounds", "messages", "rows"].map(str::to_owned);
    let rows = Algorithm::ALL.iter().map(|&algorithm| {
        let schedule = allreduce(algorithm, RANKS);
        let report = check(&schedule).expect("every schedule is checked");
        [
            format!("[`{algorithm}`](#{algorithm})"),
            report.rounds.to_string(),
            report.messages.to_string(),
            short(volume(&schedule)),
        ]
    });
    table([head].into_iter().chain(rows), true)
}

/// A number with at most two decimal places.
fn short(number: f64) -> String {
    trimmed(&format!("{number:.2}")).to_owned()
}

/// A table of distributions: the fewest and the most values per column that a schedule's longest message has, over all schedules.
fn fragments() -> String {
    let mut shown = Sharing::named();
    shown.retain(|sharing| SHOWN.contains(&&*sharing.to_string()));
    let row = |sharing: &Sharing| {
        let ownership = sharing.distribute(ITEMS, FRAGMENT_RANKS, 0);
        let longest = longest(&ownership.expect("the rules suit any number of items"));
        let least = longest.iter().min().expect("there are schedules");
        let most = longest.iter().max().expect("there are schedules");
        [format!("`{sharing}`"), format!("{least} to {most}")]
    };
    let rows: Vec<[String; 2]> = shown.par_iter().map(row).collect();
    let head = ["distribution", "values, by schedule"].map(str::to_owned);
    table([head].into_iter().chain(rows), true)
}

/// Each schedule's longest message, in values per column.
fn longest(ownership: &Ownership) -> Vec<u64> {
    let tree = Tree::new(ownership.items());
    let known: Mutex<HashMap<Range<usize>, u64>> = Mutex::default();
    let rows = |positions: Range<usize>| {
        let mut known = known.lock().expect("nothing panics here");
        let count = || tree.fragment(ownership.union(positions.clone())).count() as u64;
        *known.entry(positions.clone()).or_insert_with(count)
    };
    let machine = Machine::flat(ROUND);
    let cell = |&algorithm: &Algorithm| {
        let schedule = allreduce(algorithm, FRAGMENT_RANKS);
        simulate(&schedule, &machine, 0.0, &rows).rows_max
    };
    Algorithm::ALL.iter().map(cell).collect()
}

/// The distance between two ranks, and the greatest distance between two rounds. All lengths here are in tenths of a pixel.
const RANK: f64 = 260.0;
const ROUND_MOST: f64 = 960.0;

/// The margins of the picture; the left margin contains the ranks' numbers.
const MARGIN: i32 = 160;
const LEFT: i32 = 760;

/// The greatest width of a picture. A page is as wide; browsers would shrink a wider picture with its letters.
const WIDTH_MOST: i32 = 6800;

/// The head of an arrow: its length, and half of its width.
const HEAD: (f64, f64) = (80.0, 30.0);

/// The colours of messages to higher and to lower ranks.
const TO_HIGHER: RGBColor = BLUE;
const TO_LOWER: RGBColor = VERMILION;

/// Draws the messages of a schedule as arrows, each one round long.
fn draw(path: &Path, algorithm: Algorithm, ranks: usize, flights: &[Flight]) -> Result<(), Error> {
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
            // Gaps between arrows separate rounds.
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
