//! `cargo xtask papers`: every table and figure of the five papers that can be computed, beside what was published.
//!
//! An exhibit is a table or a figure, or several that belong together; each is a page of its own, written by a function of the
//! paper's module. What is computed or simulated is the same everywhere; what is measured says where.

mod cluster;
mod page;
mod paper3;
mod paper4;
mod report2;
mod report5;
mod said;
mod thesis;

use std::cell::OnceCell;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;

use crate::choices::Backend;
use crate::error::Error;
use crate::markdown;
use crate::mpi::{missing, workspace};
use crate::output::Output;
pub use page::{Comparison, Page, Value};
pub use thesis::{Job, Times, run as run_job};

/// Options of `papers`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Exhibits by name, as table-3,figure-2.3; figure-4 stands for figure-4.1 to figure-4.4 [default: all]
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    only: Vec<String>,
    /// Where measured ranks live: threads or mpi [default: mpi, where it is installed]
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,
    /// Few sizes and few runs
    #[arg(long)]
    quick: bool,
    /// The folder of the pages
    #[arg(long, value_name = "DIR", default_value_os_t = workspace().join("docs/papers"))]
    output: PathBuf,
    /// Write a JSON object for every comparison and every point to a file, or to standard output (-)
    #[arg(long, value_name = "FILE|-")]
    json: Option<String>,
}

/// A paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// Stelz, *Core-Count Independent Reproducible Reduce*, 2022.
    Thesis,
    /// Gruber and Freinberger, *Implementation, improvement and comparison of different pipelined MPI-Allreduce algorithms*, 2023.
    Report2,
    /// Balaji and Kimpe, *On the Reproducibility of MPI Reduction Operations*, 2013.
    Paper3,
    /// End, Yahyapour, Simmendinger and Alrutz, *Butterfly-like Algorithms for GASPI Split Phase Allreduce*, 2016.
    Paper4,
    /// Winklehner and Friedl, *Reduction trees for MPI Reductions*, 2016.
    Report5,
}

impl Paper {
    /// How it is called in headings.
    fn name(self) -> &'static str {
        match self {
            Paper::Thesis => "Thesis",
            Paper::Report2 => "Report 2",
            Paper::Paper3 => "Paper 3",
            Paper::Paper4 => "Paper 4",
            Paper::Report5 => "Report 5",
        }
    }

    /// Who wrote it, its title and its year.
    fn reference(self) -> &'static str {
        match self {
            Paper::Thesis => {
                "Christoph Stelz, *Core-Count Independent Reproducible Reduce*, Karlsruhe 2022"
            }
            Paper::Report2 => {
                "Benjamin Gruber and Dominik Freinberger, *Implementation, improvement and comparison of different pipelined \
                 MPI-Allreduce algorithms for (non-)commutative operators*, Vienna 2023"
            }
            Paper::Paper3 => {
                "Pavan Balaji and Dries Kimpe, *On the Reproducibility of MPI Reduction Operations*, Argonne 2013"
            }
            Paper::Paper4 => {
                "Vanessa End, Ramin Yahyapour, Christian Simmendinger and Thomas Alrutz, *Butterfly-like Algorithms for GASPI \
                 Split Phase Allreduce*, Göttingen 2016"
            }
            Paper::Report5 => {
                "Johannes Winklehner and Armin Friedl, *Reduction trees for MPI Reductions*, Vienna 2016"
            }
        }
    }
}

/// A table or figure.
#[derive(Clone, Copy, Debug)]
pub struct Exhibit {
    /// Its name, and its page's.
    pub id: &'static str,
    /// Where it is from.
    pub paper: Paper,
    /// What it shows.
    pub title: &'static str,
    /// Whether times of this machine are in it: other pages are the same wherever they are written.
    pub is_measured: bool,
    /// Writes the page.
    fill: Fill,
}

type Fill = fn(&Context<'_>, &mut Page) -> Result<(), Error>;

impl Exhibit {
    /// One whose page is the same wherever it is written.
    const fn computed(paper: Paper, id: &'static str, title: &'static str, fill: Fill) -> Self {
        Self {
            id,
            paper,
            title,
            is_measured: false,
            fill,
        }
    }

    /// One with times of this machine.
    const fn measured(paper: Paper, id: &'static str, title: &'static str, fill: Fill) -> Self {
        Self {
            is_measured: true,
            ..Self::computed(paper, id, title, fill)
        }
    }
}

/// What exhibits are asked for.
#[derive(Debug)]
pub struct Context<'o> {
    /// Whether few sizes and few runs are enough.
    quick: bool,
    /// Where measured ranks live.
    backend: Backend,
    /// Where a person looks.
    output: &'o Output,
    /// The thesis' runs, which several exhibits show.
    times: &'o OnceCell<Vec<Times>>,
}

/// All exhibits, paper by paper.
pub fn exhibits() -> Vec<Exhibit> {
    [
        thesis::EXHIBITS,
        report2::EXHIBITS,
        paper3::EXHIBITS,
        paper4::EXHIBITS,
        report5::EXHIBITS,
    ]
    .concat()
}

/// Runs the command.
pub fn run(options: &Options) -> Result<(), Error> {
    let all = exhibits();
    let chosen = chosen(&all, &options.only)?;
    let backend = match &options.backend {
        Some(name) => match Backend::parse(name)?[..] {
            [backend] => backend,
            _ => return Err(Error::option("--backend", "one of threads and mpi")),
        },
        None if missing().is_empty() => Backend::Mpi,
        None => Backend::Threads,
    };
    fs::create_dir_all(&options.output).map_err(|error| Error::file(&options.output, error))?;
    let mut output = Output::open(options.json.as_deref())?;
    let times = OnceCell::new();
    for exhibit in chosen {
        let begin = Instant::now();
        let mut page = Page::new(exhibit, &options.output);
        let context = Context {
            quick: options.quick,
            backend,
            output: &output,
            times: &times,
        };
        (exhibit.fill)(&context, &mut page)?;
        for row in page.finish()? {
            output.json(&row)?;
        }
        let seconds = begin.elapsed().as_secs_f64();
        output.say(format!("{} ({seconds:.1} s)", exhibit.id));
    }
    let index = options.output.join("README.md");
    fs::write(&index, contents(&all)).map_err(|error| Error::file(&index, error))?;
    output.say(format!("written: {}", index.display()));
    output.finish()
}

/// Those that are asked for, each once, in their order.
fn chosen<'e>(all: &'e [Exhibit], only: &[String]) -> Result<Vec<&'e Exhibit>, Error> {
    // What follows a name, or is followed by one, is a part: table-3.1 of table-3, figure-4.1 of figure-4.
    let is_part = |whole: &str, part: &str| {
        let rest = part.strip_prefix(whole);
        rest.is_some_and(|rest| rest.starts_with(['.', '-']))
    };
    let suits = |exhibit: &Exhibit, name: &str| {
        if all.iter().any(|other| other.id == name) {
            return exhibit.id == name;
        }
        is_part(name, exhibit.id) || is_part(exhibit.id, name)
    };
    for name in only {
        if !all.iter().any(|exhibit| suits(exhibit, name)) {
            let known: Vec<&str> = all.iter().map(|exhibit| exhibit.id).collect();
            let reason = format!("unknown exhibit `{name}`; known: {}", known.join(", "));
            return Err(Error::option("--only", reason));
        }
    }
    let is_chosen =
        |exhibit: &&Exhibit| only.is_empty() || only.iter().any(|name| suits(exhibit, name));
    Ok(all.iter().filter(is_chosen).collect())
}

/// The page that lists all others.
fn contents(all: &[Exhibit]) -> String {
    let mut text = include_str!("papers/contents.md").trim_end().to_owned();
    for own in all.chunk_by(|one, next| one.paper == next.paper) {
        let (name, reference) = (own[0].paper.name(), own[0].paper.reference());
        text += &format!("\n\n## {name}\n\n{reference}.\n\n");
        let mut table = markdown::Table::default();
        table.row(["exhibit", "what", "ours"].map(str::to_owned));
        for exhibit in own {
            let how = match exhibit.is_measured {
                true => "measured",
                false => "computed",
            };
            table.row([
                format!("[`{0}`]({0}.md)", exhibit.id),
                exhibit.title.to_owned(),
                how.to_owned(),
            ]);
        }
        text += table.text().trim_end();
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::{chosen, exhibits};

    #[test]
    fn names_choose_exhibits() {
        let all = exhibits();
        let ids = |only: &[&str]| -> Vec<&str> {
            let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
            let chosen = chosen(&all, &only).unwrap();
            chosen.into_iter().map(|exhibit| exhibit.id).collect()
        };
        assert_eq!(ids(&[]).len(), all.len());
        assert_eq!(
            ids(&["table-3", "figure-2.3", "table-3"]),
            ["figure-2.3", "table-3"]
        );
        assert_eq!(ids(&["optimal-distributions"]).len(), 1);
        assert_eq!(ids(&["table-3.2"]), ["table-3"]);
        assert!(
            ids(&["figure-4"])
                .iter()
                .all(|id| id.starts_with("figure-4."))
        );
        let error = chosen(&all, &["figure".to_owned(), "figure-9".to_owned()]).unwrap_err();
        let error = error.to_string();
        assert!(
            error.starts_with("--only: unknown exhibit `figure-9`; known: "),
            "{error}"
        );
    }

    #[test]
    fn every_exhibit_has_a_name_of_its_own() {
        let all = exhibits();
        for (index, exhibit) in all.iter().enumerate() {
            let others = &all[index + 1..];
            assert!(
                others.iter().all(|other| other.id != exhibit.id),
                "{}",
                exhibit.id
            );
        }
    }
}
