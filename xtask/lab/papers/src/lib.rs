//! Every table and figure of the five papers that can be computed, beside what was published: what `cargo xtask papers` writes.
//!
//! An exhibit is a table or a figure, or several that belong together; each is a page of its own. What a paper's pages say is in its
//! `pages.txt`, with holes, which a function of the paper's module fills; `text.rs` says how. What is computed or simulated is the same
//! everywhere; what is measured says where.

mod cluster;
mod page;
mod paper3;
mod paper4;
mod report2;
mod report5;
mod said;
mod text;
mod thesis;
mod values;

use std::cell::OnceCell;
use std::fs;
use std::path::Path;
use std::time::Instant;

use harness::machine::Machine;
use harness::markdown;
use harness::output::Output;
use harness::{Backend, Error, Place};
pub use thesis::{Job, Times, on_rank as job_on_rank};
use values::Values;

/// Of each paper: what its pages say, and what fills them.
const PAPERS: [(&str, &[(&str, Fill)]); 5] = [
    (include_str!("thesis/pages.txt"), thesis::FILLS),
    (include_str!("report2/pages.txt"), report2::FILLS),
    (include_str!("paper3/pages.txt"), paper3::FILLS),
    (include_str!("paper4/pages.txt"), paper4::FILLS),
    (include_str!("report5/pages.txt"), report5::FILLS),
];

/// A paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paper {
    /// How it is called in headings.
    name: &'static str,
    /// Who wrote it, its title and its year.
    reference: &'static str,
}

impl Paper {
    /// The file of the page that lists its exhibits.
    pub fn page(self) -> String {
        format!("{}.md", self.name.to_lowercase().replace(' ', "-"))
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
    /// What its page says, with holes.
    text: &'static str,
    /// Fills them.
    fill: Fill,
}

type Fill = fn(&Context<'_>, &mut Values) -> Result<(), Error>;

impl Exhibit {
    /// One of a paper's pages: `ID (computed): TITLE`, or `measured`, and its text.
    fn read(paper: Paper, page: &'static str, fills: &[(&str, Fill)]) -> Self {
        let parts = page.split_once('\n').and_then(|(head, text)| {
            let (id, head) = head.split_once(" (")?;
            let (how, title) = head.split_once("): ")?;
            let fill = fills.iter().find(|fill| fill.0 == id)?.1;
            Some(Self {
                id,
                paper,
                title,
                is_measured: how == "measured",
                text,
                fill,
            })
        });
        let head = page.lines().next();
        parts.unwrap_or_else(|| panic!("{head:?}: not the head of a page, or nothing fills it"))
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

impl Context<'_> {
    /// On what times are measured: a page whose text has it keeps the numbers of its pictures.
    fn machine(&self, ranks: &str) -> String {
        let backend = match self.place.backend() {
            Backend::Mpi => "processes under MPI",
            Backend::Threads => "threads of one process",
        };
        let Machine {
            processor,
            cores,
            level,
            ..
        } = Machine::here();
        format!(
            "Measured on {cores} cores ({processor}, {level}), ranks as {backend}: p = {ranks}."
        )
    }

    /// One of two, by whether there is little time.
    fn quick_or<T>(&self, quick: T, whole: T) -> T {
        if self.quick { quick } else { whole }
    }
}

/// All exhibits, paper by paper.
pub fn exhibits() -> Vec<Exhibit> {
    let all = PAPERS.iter().flat_map(|(pages, fills)| {
        let (head, pages) = pages.split_once("\n\n# ").expect("pages below a head");
        let (name, reference) = head.split_once(": ").expect("a name and a reference");
        let paper = Paper { name, reference };
        let pages = pages.split("\n# ");
        pages.map(move |page| Exhibit::read(paper, page, fills))
    });
    all.collect()
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
        let context = Context {
            quick: settings.quick,
            place: settings.place,
            output,
            times: &times,
        };
        let mut values = Values::default();
        (exhibit.fill)(&context, &mut values)?;
        for row in page::write(exhibit, &values, settings.folder)? {
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
        let Paper { name, reference } = paper;
        let file = paper.page();
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
    use std::collections::BTreeSet;

    use super::{PAPERS, chosen, exhibits};

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

    #[test]
    fn every_exhibit_has_a_name_of_its_own_and_every_fill_a_page() {
        let all = exhibits();
        let ids: BTreeSet<&str> = all.iter().map(|exhibit| exhibit.id).collect();
        assert_eq!(ids.len(), all.len());
        let fills = PAPERS.iter().flat_map(|(_, fills)| fills.iter());
        assert_eq!(fills.map(|fill| fill.0).collect::<BTreeSet<_>>(), ids);
    }
}
