//! `cargo xtask schedules`: the page that shows every schedule, its rounds, messages and volume, and its picture.

mod picture;
mod tables;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use checkout::workspace::workspace;
use clap::Args;
use harness::Error;
use schedule::{Algorithm, Collective, Link, Machine, Parameters, Schedule, flights};

use tables::{FRAGMENT_RANKS, fragments, shape};

/// Ranks of the table and the pictures, and the blocks of pipelines there.
const RANKS: usize = 8;
const BLOCKS: usize = 4;

/// Every message takes one round, whatever its length.
const ROUND: Link = Link {
    latency_ns: 1.0,
    byte_ns: 0.0,
    combine_byte_ns: 0.0,
};

/// What is between the lines of numbers.
const PAGE: &str = include_str!("schedules/page.md");

/// Options of `schedules`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The folder of the page
    #[arg(long, value_name = "DIR", default_value_os_t = workspace().join("docs"))]
    output: PathBuf,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<(), Error> {
    let folder = options.output.join("schedules");
    fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
    for &algorithm in Algorithm::ALL {
        let schedule = shown(algorithm);
        let path = folder.join(format!("{algorithm}.svg"));
        picture::draw(&path, algorithm, RANKS, &in_rounds(&schedule))?;
    }
    let page = options.output.join("schedules.md");
    fs::write(&page, text()).map_err(|error| Error::file(&page, error))?;
    println!("written: {}", page.display());
    Ok(())
}

/// The page.
fn text() -> String {
    [
        ("{ranks}", RANKS.to_string()),
        ("{blocks}", BLOCKS.to_string()),
        ("{shape}", shape()),
        ("{fragment_ranks}", FRAGMENT_RANKS.to_string()),
        ("{fragments}", fragments()),
        ("{pictures}", pictures()),
    ]
    .into_iter()
    .fold(PAGE.to_owned(), |page, (name, text)| {
        page.replace(name, text.trim_end())
    })
}

/// An algorithm as the page shows it.
fn shown(algorithm: Algorithm) -> Schedule {
    allreduce(algorithm, RANKS)
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

/// Its messages, of a round each.
fn in_rounds(schedule: &Schedule) -> Vec<schedule::Flight> {
    let machine = Machine {
        // Whoever sends to several at once needs no more time for it here.
        ports: schedule.ranks(),
        ..Machine::flat(ROUND)
    };
    flights(schedule, &machine, 0.0, &|_| 1)
}

fn pictures() -> String {
    let mut text = String::new();
    for &algorithm in Algorithm::ALL {
        let remark = shown(algorithm).remark();
        let remark = remark.map_or(String::new(), |remark| format!(" ({remark})"));
        let _ = writeln!(
            text,
            "### {algorithm}\n\n![{algorithm}{remark}](schedules/{algorithm}.svg)\n"
        );
    }
    text
}
