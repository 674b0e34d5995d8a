//! Recomputes every table and figure of the five papers that can be computed, next to the published values, for `cargo xtask papers`.
//!
//! An exhibit is a table or a figure, or several that belong together. A function of its paper's module builds the exhibit's page, as
//! `page.rs` describes. Computed and simulated values are the same on every machine; pages with measured values name the machine.

mod cluster;
mod measured;
mod page;
mod paper3;
mod paper4;
mod report2;
mod report5;
mod said;
mod thesis;

use std::cell::OnceCell;
use std::path::Path;
use std::time::Instant;

use harness::machine::Machine;
use harness::output::Output;
use harness::{Backend, Error, Place};
use page::Page;
use simd_kernels::Level;
pub use thesis::{Job, Times, on_rank as job_on_rank};

/// A paper.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// The paper's name in headings.
    pub name: &'static str,
    /// The pictures on the paper's page in the book: at most two.
    pub pictures: &'static [&'static str],
}

impl Paper {
    /// The file of the paper's page in the book.
    pub fn page(self) -> String {
        format!("{}.md", self.name.to_lowercase().replace(' ', "-"))
    }

    const fn computed(self, id: &'static str, fill: Fill) -> Exhibit {
        self.exhibit("computed", id, fill)
    }

    const fn simulated(self, id: &'static str, fill: Fill) -> Exhibit {
        self.exhibit("simulated", id, fill)
    }

    const fn measured(self, id: &'static str, fill: Fill) -> Exhibit {
        self.exhibit("measured", id, fill)
    }

    const fn exhibit(self, how: &'static str, id: &'static str, fill: Fill) -> Exhibit {
        Exhibit {
            id,
            paper: self,
            how,
            fill,
        }
    }
}

/// A table or figure.
#[derive(Clone, Copy, Debug)]
pub struct Exhibit {
    /// The name of the exhibit and of its page.
    pub id: &'static str,
    /// The paper that contains the exhibit.
    pub paper: Paper,
    /// `computed` or `simulated` (the same on every machine), or `measured` (on this machine).
    how: &'static str,
    /// Builds the exhibit's page.
    fill: Fill,
}

impl Exhibit {
    /// Whether the exhibit contains times of this machine.
    pub fn is_measured(&self) -> bool {
        self.how == "measured"
    }
}

type Fill = fn(&Context<'_>, &mut Page) -> Result<(), Error>;

/// The settings of exhibits and the folders of their pages.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'s> {
    /// Whether to use only few sizes and few runs.
    pub quick: bool,
    /// Where the measured ranks run.
    pub place: &'s Place,
    /// The folder of the exhibits' pages and pictures.
    pub folder: &'s Path,
    /// The folder of the papers' pages, if the exhibits' sections in these pages should be rewritten.
    pub summary: Option<&'s Path>,
}

/// The settings and shared results for the functions that build pages.
#[derive(Debug)]
pub struct Context<'o> {
    settings: Settings<'o>,
    /// The text output.
    output: &'o Output,
    /// The times of the thesis' runs, measured once for all exhibits that show them.
    times: &'o OnceCell<Vec<Times>>,
}

impl Context<'_> {
    /// Describes this machine and the ranks on which times are measured.
    fn machine(&self, ranks: &str) -> String {
        let backend = match self.settings.place.backend() {
            Backend::Mpi => "processes under MPI",
            Backend::Threads => "threads of one process",
        };
        let here = Machine::here();
        format!(
            "Measured on {} cores ({}, {}), ranks as {backend}: p = {ranks}.",
            here.cores,
            here.processor,
            Level::best()
        )
    }

    /// `quick` in a quick run, else `whole`.
    fn quick_or<T>(&self, quick: T, whole: T) -> T {
        if self.settings.quick { quick } else { whole }
    }
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

/// Writes the pages of these exhibits into an existing folder. Also writes every comparison and every point to `output`, as JSON.
pub fn write(
    exhibits: &[&Exhibit],
    settings: &Settings<'_>,
    output: &mut Output,
) -> Result<(), Error> {
    let times = OnceCell::new();
    for &&exhibit in exhibits {
        let begin = Instant::now();
        let context = Context {
            settings: *settings,
            output,
            times: &times,
        };
        let mut page = Page::new(exhibit);
        (exhibit.fill)(&context, &mut page)?;
        page.write(settings.folder)?;
        if let Some(folder) = settings.summary {
            page.summarise(folder)?;
        }
        for row in page.rows() {
            output.json(&row)?;
        }
        let seconds = begin.elapsed().as_secs_f64();
        output.say(format!("{} ({seconds:.1} s)", exhibit.id));
    }
    output.say(format!("written: {}", settings.folder.display()));
    Ok(())
}

/// The exhibits that `--only` names, each once, in order; all if `only` is empty.
pub fn chosen<'e>(all: &'e [Exhibit], only: &[String]) -> Result<Vec<&'e Exhibit>, Error> {
    // A name also selects its parts: table-3.1 belongs to table-3, figure-4.1 to figure-4.
    let is_part = |whole: &str, part: &str| {
        let rest = part.strip_prefix(whole);
        rest.is_some_and(|rest| rest.starts_with(['.', '-']))
    };
    let suits = |exhibit: &Exhibit, name: &str| match all.iter().find(|one| one.id == name) {
        Some(one) => one.id == exhibit.id,
        None => is_part(name, exhibit.id) || is_part(exhibit.id, name),
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
        let both = ids(&["table-3", "figure-2.3", "table-3"]);
        assert_eq!(both, ["figure-2.3", "table-3"]);
        assert_eq!(ids(&["optimal-distributions"]).len(), 1);
        assert_eq!(ids(&["table-3.2"]), ["table-3"]);
        let parts = ids(&["figure-4"]);
        assert!(parts.iter().all(|id| id.starts_with("figure-4.")));
        let unknown = ["figure".to_owned(), "figure-9".to_owned()];
        let error = chosen(&all, &unknown).unwrap_err().to_string();
        let expected = "--only: unknown exhibit `figure-9`; known: ";
        assert!(error.starts_with(expected), "{error}");
    }
}
