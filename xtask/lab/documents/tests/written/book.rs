//! Checks the project's pages: links resolve, the book has every page and uses every picture, and code blocks compile.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::{files, read, root};

/// The minimum size of a picture file. A smaller one shows nothing.
const LEAST_PICTURE_BYTES: usize = 500;

/// Statements on pages that no test compiles, because they need crate `mpi`, on which this crate does not depend.
const NOT_COMPILED: [&str; 3] = [
    "let (universe, _) = mpi::initialize_with_threading(mpi::Threading::Funneled).unwrap();",
    "let world = treefold_rsmpi::world(&universe.world())?;",
    "let plan = treefold::Plan::builder(&world).local_items(local.len() as u64).build::<f64>()?;",
];

/// The checked contents of a page.
#[derive(Default)]
struct Page {
    /// Targets of links and pictures, as they are written.
    links: Vec<String>,
    pictures: Vec<String>,
    /// The anchors that GitHub and mdBook make of the page's headings.
    anchors: BTreeSet<String>,
    /// Fenced blocks of code: the words after the fence, and the code.
    code: Vec<(String, String)>,
}

/// The folders of packages. A package's pages must be readable without the rest of the project.
const PACKAGES: [&str; 3] = ["crates", "bindings", "xtask/lab"];

fn is_in_package(path: &Path) -> bool {
    PACKAGES.iter().any(|folder| path.starts_with(folder))
}

/// Every page that people read, by its path from the root.
fn pages() -> BTreeMap<PathBuf, Page> {
    let patterns = [":(glob)*.md", "docs/*.md", "golden/*.md"];
    let packages = PACKAGES.map(|folder| format!("{folder}/*.md"));
    let packages = packages.iter().map(String::as_str);
    let paths = files(&patterns.into_iter().chain(packages).collect::<Vec<_>>());
    assert!(paths.len() > 60, "{paths:?}");
    let parse = |path: PathBuf| {
        let page = Page::parse(&read(&path));
        (path, page)
    };
    paths.into_iter().map(parse).collect()
}

impl Page {
    fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let (mut heading, mut code) = (None::<String>, None::<(String, String)>);
        for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Link { dest_url, .. }) => page.links.push(dest_url.to_string()),
                Event::Start(Tag::Image { dest_url, .. }) => {
                    page.pictures.push(dest_url.to_string())
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => page.add_anchor(&heading.take().unwrap()),
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    code = Some((info.to_string(), String::new()));
                }
                Event::End(TagEnd::CodeBlock) => page.code.extend(code.take()),
                Event::Text(text) | Event::Code(text) => {
                    let code = code.as_mut().map(|(_, code)| code);
                    if let Some(open) = code.or(heading.as_mut()) {
                        open.push_str(&text);
                    }
                }
                _ => {}
            }
        }
        page
    }

    /// Adds an anchor by GitHub's rule: letters become lower case, spaces become hyphens, and digits, hyphens and underscores are kept. All
    /// other characters are dropped. A repeated anchor gets a number.
    fn add_anchor(&mut self, heading: &str) {
        let kept = |&c: &char| c.is_alphanumeric() || " -_".contains(c);
        let lower = heading.trim().to_lowercase();
        let slug: String = lower.chars().filter(kept).collect();
        let slug = slug.replace(' ', "-");
        let again = (1..).map(|number| format!("{slug}-{number}"));
        let free = [slug.clone()].into_iter().chain(again);
        let mut free = free.skip_while(|anchor| self.anchors.contains(anchor));
        let anchor = free.next().unwrap();
        self.anchors.insert(anchor);
    }
}

/// Whether a page is part of the book.
fn is_in_book(path: &Path) -> bool {
    path.starts_with("docs") && !path.ends_with("SUMMARY.md")
}

/// The fault of a link, if it has one.
fn fault(pages: &BTreeMap<PathBuf, Page>, from: &Path, link: &str) -> Option<String> {
    let (target, anchor) = match link.split_once('#') {
        Some((target, anchor)) => (target, Some(anchor)),
        None => (link, None),
    };
    if target.contains(':') {
        return None;
    }
    let path = match target {
        "" => from.to_owned(),
        _ => resolved(&from.parent().unwrap().join(target)),
    };
    if is_in_book(from) && !is_in_book(&path) {
        return Some("leads out of the book; write the file's name instead".to_owned());
    }
    if is_in_package(from) && !path.starts_with(from.parent().unwrap()) {
        return Some("leads out of the package; write the file's name instead".to_owned());
    }
    if !root().join(&path).exists() {
        return Some("leads to no file".to_owned());
    }
    let has_anchor = |anchor: &str| {
        let page = pages.get(&path);
        page.is_some_and(|page| page.anchors.contains(anchor))
    };
    match anchor {
        Some(anchor) if !has_anchor(anchor) => Some("names no heading of that page".to_owned()),
        _ => None,
    }
}

/// A path without `..`.
fn resolved(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => assert!(whole.pop(), "{} leaves the project", path.display()),
            Component::CurDir => {}
            other => whole.push(other),
        }
    }
    whole
}

#[test]
fn links_and_pictures_are_there() {
    let pages = pages();
    let mut faults = Vec::new();
    let mut links_count = 0;
    for (from, page) in &pages {
        for link in page.links.iter().chain(&page.pictures) {
            links_count += 1;
            if let Some(fault) = fault(&pages, from, link) {
                faults.push(format!("{}: {link} {fault}", from.display()));
            }
        }
    }
    println!("{links_count} links on {} pages", pages.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(links_count > 100, "the pages have more links");
}

#[test]
fn the_summary_lists_every_page_once() {
    let text = read("docs/SUMMARY.md");
    // Pages, and whether they are items of a list.
    let mut links: Vec<(PathBuf, bool)> = Vec::new();
    let (mut items_count, mut depth) = (0, 0);
    for event in Parser::new(&text) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => {
                links.push(((&*dest_url).into(), depth > 0))
            }
            Event::Start(Tag::Item) => {
                items_count += 1;
                depth += 1;
            }
            Event::End(TagEnd::Item) => depth -= 1,
            _ => {}
        }
    }
    let introduction = (PathBuf::from("README.md"), false);
    assert_eq!(
        links[0], introduction,
        "the book begins with its introduction"
    );
    let in_lists = links.iter().filter(|(_, is_item)| *is_item).count();
    let counts = [links.len() - 1, in_lists];
    assert_eq!(
        counts, [items_count; 2],
        "after it, every line is a page in a list"
    );
    let mut listed: Vec<PathBuf> = links.into_iter().map(|(page, _)| page).collect();
    let pages = files(&["docs/*.md"]).into_iter();
    let mut expected: Vec<PathBuf> = pages
        .filter(|path| is_in_book(path))
        .map(|path| path.strip_prefix("docs").unwrap().to_owned())
        .collect();
    expected.sort();
    listed.sort();
    assert_eq!(listed, expected, "left: SUMMARY.md; right: docs/");
}

#[test]
fn pictures_are_whole_and_used() {
    let mut used = BTreeSet::new();
    for (path, page) in pages() {
        let folder = path.parent().unwrap().to_owned();
        let pictures = page.pictures.iter();
        used.extend(pictures.map(|link| resolved(&folder.join(link))));
    }
    let pictures = files(&["docs/*.svg"]);
    println!("{} pictures", pictures.len());
    assert!(!pictures.is_empty());
    for path in &pictures {
        let name = path.display();
        assert!(used.contains(path), "no page shows {name}");
        let text = read(path);
        let begins = text.starts_with("<svg") || text.starts_with("<?xml");
        let is_whole = begins && text.trim_end().ends_with("</svg>");
        assert!(is_whole, "{name} is cut short");
        assert!(text.len() > LEAST_PICTURE_BYTES, "{name} shows nothing");
        for wrong in ["NaN", "\"inf\"", "\"-inf\""] {
            assert!(!text.contains(wrong), "{name} draws {wrong}");
        }
    }
}

/// The width of code in a page's column, in characters, on a desktop screen.
const CODE_COLUMNS: usize = 76;

#[test]
fn code_is_no_wider_than_its_column() {
    let is_code = |info: &str| !matches!(info, "" | "text");
    for (path, page) in pages().iter().filter(|(path, _)| is_in_book(path)) {
        for (_, code) in page.code.iter().filter(|(info, _)| is_code(info)) {
            for line in code.lines() {
                let columns = line.chars().count();
                assert!(columns <= CODE_COLUMNS, "{}: {line}", path.display());
            }
        }
    }
}

/// Code without comments and white space.
fn squeezed(code: &str) -> String {
    let lines = code.lines().map(|line| line.split("//").next().unwrap());
    lines.flat_map(str::split_whitespace).collect()
}

/// Whether rustdoc compiles a block of this page.
fn is_doctest(path: &Path, info: &str) -> bool {
    let is_readme = path == Path::new("README.md");
    (is_readme || is_in_book(path) || is_in_package(path)) && matches!(info, "rust" | "rust,no_run")
}

#[test]
fn code_that_is_shown_compiles() {
    let doctests = read("xtask/lab/documents/src/pages.rs");
    let compiled = squeezed(&read("xtask/lab/documents/tests/written/programs.rs"))
        + &squeezed(&read("crates/treefold/examples/first_sum.rs"));
    let known = NOT_COMPILED.map(squeezed);
    let mut statements_count = 0;
    for (path, page) in pages() {
        let name = path.display();
        let elsewhere = ["crates/treefold-rsmpi", "bindings/engines/datafusion"];
        if elsewhere.iter().any(|folder| path.starts_with(folder)) {
            // Stages `rsmpi` and `datafusion` run these doctests, which need MPI or the engine.
            continue;
        }
        for (info, code) in &page.code {
            if is_doctest(&path, info) {
                let is_included = doctests.contains(&format!(" \"{name}\"\n"));
                assert!(
                    is_included,
                    "{name}: no doctest of `documents` runs its programs"
                );
            } else if info.starts_with("rust") {
                // Searches in the page's order, so that each statement matches a different place.
                let mut rest = &*compiled;
                for statement in squeezed(code).split_inclusive([';', '{', '}']) {
                    statements_count += 1;
                    if known.iter().any(|known| known == statement) {
                        continue;
                    }
                    let at = rest.find(statement);
                    let at = at.unwrap_or_else(|| panic!("{name}: no test compiles `{statement}`"));
                    rest = &rest[at + statement.len()..];
                }
            }
        }
    }
    println!("{statements_count} statements that are not in doctests");
    assert!(statements_count > 10);
}
