//! Every table and figure of the five papers that can be computed, beside what was published: what `cargo xtask papers` writes.
//!
//! An exhibit is a table or a figure, or several that belong together; each is a page of its own, written by a function of the
//! paper's module. What is computed or simulated is the same everywhere; what is measured says where.

mod cluster;
mod comparison;
mod page;
mod paper3;
mod paper4;
mod report2;
mod report5;
mod said;
mod thesis;

use std::cell::OnceCell;
use std::fs;
use std::path::Path;
use std::time::Instant;

pub use comparison::{Comparison, Value};
use harness::markdown;
use harness::output::Output;
use harness::{Error, Place};
pub use page::Page;
pub use thesis::{Job, Times, on_rank as job_on_rank};

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

    /// The file of the page that lists its exhibits.
    pub fn page(self) -> String {
        format!("{}.md", self.name().to_lowercase().replace(' ', "-"))
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

/// How exhibits are made, and where their pages go.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'s> {
    /// Whether few sizes and few runs are enough.
    pub quick: bool,
    /// Where measured ranks live.
    pub place: &'s Place,
    /// The folder of the pages.
    pub folder: &'s Path,
}

/// What exhibits are asked for.
#[derive(Debug)]
pub struct Context<'o> {
    /// Whether few sizes and few runs are enough.
    quick: bool,
    /// Where measured ranks live.
    place: &'o Place,
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

/// Writes the pages of these exhibits, and those that list all, into an existing folder; every comparison and every point also goes
/// to `output` as JSON.
pub fn write(
    exhibits: &[&Exhibit],
    settings: &Settings<'_>,
    output: &mut Output,
) -> Result<(), Error> {
    let times = OnceCell::new();
    for exhibit in exhibits {
        let begin = Instant::now();
        let mut page = Page::new(exhibit, settings.folder);
        let context = Context {
            quick: settings.quick,
            place: settings.place,
            output,
            times: &times,
        };
        (exhibit.fill)(&context, &mut page)?;
        for row in page.finish()? {
            output.json(&row)?;
        }
        let seconds = begin.elapsed().as_secs_f64();
        output.say(format!("{} ({seconds:.1} s)", exhibit.id));
    }
    for (file, text) in contents(&self::exhibits()) {
        let path = settings.folder.join(file);
        fs::write(&path, text).map_err(|error| Error::file(&path, error))?;
    }
    output.say(format!("written: {}", settings.folder.display()));
    Ok(())
}

/// Those that are asked for by `--only`, each once, in their order; all, if none is.
pub fn chosen<'e>(all: &'e [Exhibit], only: &[String]) -> Result<Vec<&'e Exhibit>, Error> {
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

/// The page that lists the papers, and one for each paper, which lists its exhibits: files, and what they hold.
fn contents(all: &[Exhibit]) -> Vec<(String, String)> {
    let mut index = include_str!("contents.md").trim_end().to_owned() + "\n\n";
    let mut pages = Vec::new();
    for own in all.chunk_by(|one, next| one.paper == next.paper) {
        let paper = own[0].paper;
        let (name, reference, file) = (paper.name(), paper.reference(), paper.page());
        index += &format!("- [{name}]({file}): {reference}.\n");
        let mut table = markdown::Table::default();
        table.row(["exhibit", "what", "ours"].map(str::to_owned));
        for exhibit in own {
            let how = if exhibit.is_measured {
                "measured"
            } else {
                "computed"
            };
            table.row([
                format!("[`{0}`]({0}.md)", exhibit.id),
                exhibit.title.to_owned(),
                how.to_owned(),
            ]);
        }
        let table = table.text();
        let text = format!("# {name}\n\n{reference}.\n\n{}\n", table.trim_end());
        pages.push((file, text));
    }
    pages.push(("README.md".to_owned(), index));
    pages
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
