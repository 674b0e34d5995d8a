//! `cargo xtask papers`: recomputes the papers' tables and figures, next to the published values.

use std::iter;
use std::path::PathBuf;

use ::papers::{Settings, chosen, exhibits, write};
use checkout::files::make;
use checkout::workspace::workspace;
use clap::Args;
use harness::output::Output;
use harness::{Backend, Error, Place};
use launch::MpiOptions;

/// Options of `papers`.
#[derive(Args, Clone, Debug)]
pub struct PapersOptions {
    /// Exhibits by name, for example table-3,figure-2.3; figure-4 means figure-4.1 to figure-4.4 [default: all]
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    only: Vec<String>,
    /// How measured ranks run [default: mpi if it is installed]
    #[arg(long, value_enum, value_name = "NAME")]
    backend: Option<Backend>,
    #[command(flatten)]
    mpi: MpiOptions,
    /// Measure fewer sizes and runs
    #[arg(long)]
    quick: bool,
    /// The folder to write the exhibits' pages and pictures to
    #[arg(long, value_name = "DIR", default_value_os_t = workspace().join("target/papers"))]
    output: PathBuf,
    /// Also write the comparisons into the papers' pages in this folder; the book's pages are in docs/papers
    #[arg(long, value_name = "DIR")]
    summary: Option<PathBuf>,
    /// Write a JSON object for each comparison and each point to a file, or to standard output (-)
    #[arg(long, value_name = "FILE|-")]
    json: Option<String>,
}

/// Runs the command.
pub fn run(options: &PapersOptions) -> Result<(), Error> {
    let all = exhibits();
    let chosen = chosen(&all, &options.only)?;
    let backend = match options.backend {
        Some(backend) => backend,
        None if options.mpi.installation()?.missing().is_none() => Backend::Mpi,
        None => Backend::Threads,
    };
    for folder in iter::once(&options.output).chain(&options.summary) {
        make(folder)?;
    }
    let mut output = Output::open(options.json.as_deref())?;
    // Computed exhibits need no ranks.
    let place = if chosen.iter().any(|exhibit| exhibit.is_measured()) {
        Place::chosen(backend, &options.mpi)?
    } else {
        Place::Threads
    };
    let settings = Settings {
        quick: options.quick,
        place: &place,
        folder: &options.output,
        summary: options.summary.as_deref(),
    };
    write(&chosen, &settings, &mut output)?;
    output.finish()
}
