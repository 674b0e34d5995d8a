//! Checks that programs need to depend only on this crate, which exports every type in the signatures of its exports.
//!
//! The sources are read as text. A name counts as exported if this crate, or a module that it exports, makes it public anywhere.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Types that need no export: types of the standard library, types of crates on which programs depend themselves, and associated types.
/// `FixedFormat` belongs to a trait that programs do not implement.
const FOREIGN: &[&str] = &[
    "All",
    "Any",
    "Arc",
    "AsRaw",
    "Box",
    "Cell",
    "Clone",
    "Copy",
    "Cubes",
    "Debug",
    "Default",
    "Display",
    "Duration",
    "ExactSizeIterator",
    "Fn",
    "FnMut",
    "FnOnce",
    "Fourths",
    "Formatter",
    "Integers",
    "Into",
    "IntoIterator",
    "Item",
    "Iterator",
    "MPI_Comm",
    "None",
    "Option",
    "Ord",
    "Output",
    "PartialOrd",
    "Pod",
    "Range",
    "Raw",
    "Products",
    "Rc",
    "Result",
    "Self",
    "Send",
    "Sub",
    "Sized",
    "Some",
    "String",
    "Sums",
    "Sync",
    "ThreadPool",
    "Total",
    "Vec",
    "FixedFormat",
    "Words",
    "Zeroable",
    "Ok",
    "Err",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The code of a file: without comments, attributes and tests.
fn code(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = text.lines().filter(|line| {
        let line = line.trim_start();
        !line.starts_with("//") && !line.starts_with("#[")
    });
    lines.map(str::to_owned).collect()
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

/// The types that a piece of code names.
fn types(text: &str) -> impl Iterator<Item = &str> {
    let is_type = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_uppercase())
            && word.contains(|c: char| c.is_ascii_lowercase())
    };
    identifiers(text).filter(is_type)
}

/// The names that a file of re-exports and definitions makes public.
fn public_names(lines: &[String], names: &mut BTreeSet<String>) {
    let mut in_use = false;
    for line in lines {
        let line = line.trim();
        let defines = [
            "pub struct ",
            "pub enum ",
            "pub trait ",
            "pub type ",
            "pub fn ",
            "pub const ",
        ];
        in_use |= line.starts_with("pub use ");
        if in_use {
            names.extend(identifiers(line).map(str::to_owned));
            in_use = !line.ends_with(';');
        } else if let Some(rest) = defines.iter().find_map(|word| line.strip_prefix(word)) {
            names.extend(identifiers(rest).next().map(str::to_owned));
        }
    }
}

fn exports() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let modules = [
        "treefold/src/lib.rs",
        "reduce/src/exact/mod.rs",
        "reduce/src/exact/par.rs",
        "reduce/src/operator/mod.rs",
        "reduce/src/environment.rs",
        "reduce/src/world/threads.rs",
        "reduce/src/world/mpi.rs",
        "schedule/src/lib.rs",
    ];
    for module in modules {
        public_names(&code(&root().join(module)), &mut names);
    }
    names
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The item that an unindented line begins: its name, and whether all of its content is public.
fn owner(line: &str) -> Option<(&str, bool)> {
    let rest = line
        .strip_prefix("pub enum ")
        .or_else(|| line.strip_prefix("pub trait "));
    if let Some(rest) = rest {
        return identifiers(rest).next().map(|name| (name, true));
    }
    if let Some(rest) = line.strip_prefix("pub struct ") {
        return identifiers(rest).next().map(|name| (name, false));
    }
    let rest = line.strip_prefix("impl")?;
    if rest.contains(" for ") {
        return None;
    }
    // The type comes after the generic parameters, if there are any.
    let mut depth = 0;
    let is_behind = |c: char| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0 && c != '>'
    };
    let begin = rest.find(is_behind)?;
    types(&rest[begin..]).next().map(|name| (name, false))
}

/// Whether a line in an item begins a public field, variant or method, whose types must be exported.
fn is_public(line: &str, all_is_public: bool) -> bool {
    // Whether the line is not in the body of a method.
    let is_direct = !line.starts_with("     ");
    let is_variant_or_method = all_is_public
        && (line.trim_start().starts_with("fn ")
            || line.contains(": ")
                && line
                    .trim_start()
                    .starts_with(|c: char| c.is_ascii_lowercase())
            || is_direct
                && line
                    .trim_start()
                    .starts_with(|c: char| c.is_ascii_uppercase())
                && line.contains('('));
    line.trim_start().starts_with("pub ") && !line.contains("pub(") || is_variant_or_method
}

/// The types that the public signatures and fields of a file name, each with the item that names it.
fn named(lines: &[String], exports: &BTreeSet<String>, found: &mut Vec<(String, String)>) {
    let mut current: Option<(String, bool)> = None;
    let mut lines = lines.iter();
    while let Some(line) = lines.next() {
        let is_at_margin = line.starts_with(|c: char| !c.is_whitespace());
        if is_at_margin && !line.starts_with(['}', ')', 'w']) {
            current = owner(line).map(|(name, all)| (name.to_owned(), all));
        }
        let is_free_function = line.starts_with("pub fn ");
        let owner = match &current {
            Some((name, all)) if !is_at_margin && is_public(line, *all) => name.clone(),
            None if is_free_function => identifiers(&line["pub fn ".len()..])
                .next()
                .unwrap_or_default()
                .to_owned(),
            _ => continue,
        };
        if !exports.contains(&owner) {
            continue;
        }
        let mut signature = line.clone();
        let is_function = line.contains("fn ");
        while is_function && !signature.contains(" {") && !signature.trim_end().ends_with(';') {
            let Some(next) = lines.next() else { break };
            signature += next;
        }
        let signature = signature.split(" {").next().unwrap_or_default();
        // A variant's own name is not a type.
        let is_variant = current.as_ref().is_some_and(|(_, all)| *all)
            && !is_function
            && !signature.contains(": ");
        let skipped = usize::from(is_variant);
        let names = types(signature).skip(skipped);
        found.extend(names.map(|name| (name.to_owned(), format!("{owner}: {}", signature.trim()))));
    }
}

#[test]
fn every_type_that_a_signature_names_is_exported() {
    let exports = exports();
    let mut found = Vec::new();
    let mut paths = Vec::new();
    for name in ["reduce", "comm", "distribution", "exact-sum", "schedule"] {
        files(&root().join(name).join("src"), &mut paths);
    }
    // Programs call these modules through crate `reduce`.
    let is_behind = |path: &Path| {
        ["comm/src/threads", "comm/src/mpi"]
            .iter()
            .any(|folder| path.starts_with(root().join(folder)))
    };
    paths.retain(|path| !is_behind(path));
    for path in paths {
        named(&code(&path), &exports, &mut found);
    }
    assert!(found.len() > 500, "only {} names were found", found.len());
    let is_missing = |name: &String| !exports.contains(name) && !FOREIGN.contains(&name.as_str());
    let missing: BTreeSet<String> = found
        .into_iter()
        .filter(|(name, _)| is_missing(name))
        .map(|(name, place)| format!("{name}, in {place}"))
        .collect();
    let missing: Vec<String> = missing.into_iter().collect();
    assert!(missing.is_empty(), "not exported:\n{}", missing.join("\n"));
}
