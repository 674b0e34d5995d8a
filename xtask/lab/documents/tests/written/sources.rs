//! Compares pages with the sources (by `git grep`), with the records of measurements, and with the install commands in the root's
//! `Cargo.toml` (`workspace.metadata.install`).

use std::collections::BTreeSet;
use std::process::Command;

use harness::measured::Measurements;
use harness::measured::marks::{Records, filled, front_page, pages};

use super::{files, git, read, root};

/// Runs `git grep` on these files. Returns what matches the pattern, in the form that `option` selects.
fn grep(option: &str, pattern: &str, patterns: &[&str]) -> String {
    let words = ["grep", "--untracked", option, pattern, "--"];
    git(&[&words, patterns].concat())
}

/// The first cells of all rows of a page's tables, including the headings.
fn first_cells(page: &str) -> impl Iterator<Item = &str> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| "));
    rows.filter_map(|row| row.split(" |").next())
}

/// Every symbolic link, such as those to the licences, leads to a file. A link can break when a folder moves, which git does not detect.
#[test]
fn every_symbolic_link_leads_to_a_file() {
    let staged = git(&["ls-files", "--stage"]);
    let links = staged.lines().filter(|line| line.starts_with("120000 "));
    let links: Vec<&str> = links.filter_map(|line| line.split('\t').nth(1)).collect();
    assert!(links.len() > 20, "the links were not found");
    for link in links {
        assert!(root().join(link).exists(), "{link} leads nowhere");
    }
}

/// `docs/soundness.md` names exactly the files with unsafe code. Code in doc examples counts, because it is compiled.
#[test]
fn every_file_with_unsafe_code_is_on_the_page() {
    let marks = r"unsafe (\{|fn|impl|extern|trait)|#\[unsafe\(";
    let rust = ["crates/*.rs", "bindings/*.rs", "xtask/*.rs", "benches/*.rs"];
    let found = grep("-lE", marks, &rust);
    let found: BTreeSet<String> = found.lines().map(str::to_owned).collect();
    assert!(found.len() > 50, "the sources were not found");
    let mut listed = BTreeSet::new();
    let mut folder = String::new();
    for cell in first_cells(&read("docs/soundness.md")) {
        let names: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        if cell.starts_with("files") {
            let first = names.first();
            folder = first.map_or_else(String::new, |name| format!("{name}/"));
        } else {
            listed.extend(names.iter().map(|name| format!("{folder}{name}")));
        }
    }
    let differ: Vec<_> = found.symmetric_difference(&listed).collect();
    assert!(differ.is_empty(), "unlisted or outdated: {differ:#?}");
}

/// `docs/environment.md` names exactly the variables that constants in the sources name, and `RAYON_NUM_THREADS`, which rayon reads.
#[test]
fn every_variable_is_on_the_page() {
    let names = |text: &str| -> Vec<String> {
        let words = text.split(|letter: char| !(letter.is_ascii_uppercase() || letter == '_'));
        let is_name = |word: &&str| word.len() > 3 && word.contains('_');
        words.filter(is_name).map(str::to_owned).collect()
    };
    let programs = ["crates/*.rs", "bindings/*.rs", "xtask/*.rs", ":!*/tests/*"];
    let mut read_by: BTreeSet<String> = ["RAYON_NUM_THREADS".to_owned()].into();
    for file in files(&programs) {
        // In `launcher.rs`, the constants that name variables are not called `…VARIABLE`.
        let is_of_launchers = file.ends_with("mpi-library/src/launcher.rs");
        for statement in read(&file).split(";\n") {
            let Some((head, value)) = statement.rsplit_once("= ") else {
                continue;
            };
            let is_named = head.contains("VARIABLE: ") || head.contains("VARIABLES: ");
            if head.contains("const ") && (is_named || is_of_launchers) {
                read_by.extend(names(value));
            }
        }
    }
    assert!(read_by.len() > 15, "the sources were not found");
    let page = read("docs/environment.md");
    let cells = first_cells(&page).filter(|cell| cell.starts_with('`'));
    let listed: BTreeSet<String> = cells.flat_map(names).collect();
    assert_eq!(listed, read_by, "left: the page; right: the sources");
}

/// Sections of `docs/troubleshooting.md` quote treefold's messages literally. The page's other sections quote compilers and linkers.
#[test]
fn messages_are_quoted_as_they_are_written() {
    let ours = [
        "A plan is not built",
        "A run fails",
        "MPI or the right library is not found",
    ];
    let script = "bindings/interposer/packaging/treefold-run";
    let sources = grep("-h", "", &["crates/*.rs", "bindings/*.rs", script]);
    let page = read("docs/troubleshooting.md");
    let sections = page.split("\n## ");
    let sections = sections.filter(|section| ours.iter().any(|head| section.starts_with(head)));
    let cells = sections.flat_map(first_cells);
    let cells = cells.filter(|cell| cell.starts_with('`'));
    // Shorter pieces are not checked, because they could occur anywhere.
    let pieces = cells.flat_map(|cell| cell.trim_matches('`').split('…'));
    let pieces: Vec<&str> = pieces.filter(|piece| piece.len() >= 10).collect();
    assert!(pieces.len() > 20, "the page has another form");
    for piece in pieces {
        assert!(sources.contains(piece), "no source has `{piece}`");
    }
}

/// The repository's address is in the root's `Cargo.toml`, as `repository`, and nowhere else.
#[test]
fn one_file_holds_the_address() {
    let manifest = read("Cargo.toml");
    let lines = manifest.lines();
    let mut addresses = lines.filter_map(|line| line.strip_prefix("repository = "));
    let address = addresses.next().expect("the address, or an empty one");
    let address = address.trim_matches('"');
    assert_eq!(addresses.next(), None, "one line");
    assert!(address.is_empty() || is_address(address), "{address}");
    let places = r##"[a-z]*(://|@)[^][[:space:]"'`<>(){}|,]+"##;
    let found = grep("-hIoE", places, &[".", ":!Cargo.toml"]);
    assert!(found.lines().count() > 50, "the files were not found");
    let found: Vec<&str> = found.lines().filter(|word| is_address(word)).collect();
    assert!(found.is_empty(), "the address is spelled: {found:?}");
}

/// Whether a word is the address of a repository called treefold: `git@host:owner/treefold`, or `scheme://host/owner/treefold` with or
/// without more words. Addresses of packages in registries, which have the same name, do not count.
fn is_address(word: &str) -> bool {
    let registries =
        "anaconda.org conda.io crates.io docs.rs packages.debian.org pypi.org spack.io";
    let parts = word.split_once("://").or(word.split_once('@'));
    let (_, place) = parts.unwrap_or_default();
    let mut parts = place.split(['/', ':']);
    let host = parts.next().unwrap_or_default();
    let is_it = |name: &str| host == name || host.ends_with(&format!(".{name}"));
    let is_registry = registries.split(' ').any(is_it);
    let mut names = parts.map(|part| part.trim_end_matches('.').trim_end_matches(".git"));
    host.contains('.') && !is_registry && names.any(|name| name == "treefold")
}

#[test]
fn addresses_are_seen() {
    // Composed of pieces, because this file must not contain an address, either.
    for rest in ["treefold", "treefold.git.", "treefold/issues/1"] {
        for host in ["https://forge.example/owner", "git@forge.example:owner"] {
            assert!(is_address(&format!("{host}/{rest}")), "{host}/{rest}");
        }
    }
    for other in [
        "https://crates.io/crates/treefold",
        "https://forge.example/owner/other",
        "@REPOSITORY@/releases/treefold",
        "file:///home/treefold",
        "treefold",
    ] {
        assert!(!is_address(other), "{other}");
    }
}

#[test]
fn measured_numbers_are_those_of_records() {
    let mut records = Records::of(root());
    let mut numbers_count = 0;
    for path in pages(&root()).unwrap() {
        let page = read(&path);
        let name = path.display();
        let filled = filled(&page, &mut records);
        let (text, count) = filled.unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert!(text == page, "{name} is old: cargo xtask numbers");
        numbers_count += count;
    }
    println!("{numbers_count} numbers and tables");
    assert!(numbers_count > 10, "the pages were not found");
}

#[test]
fn every_record_is_whole_and_on_a_page() {
    let pages = pages(&root()).unwrap();
    let pages: Vec<String> = pages.iter().map(read).collect();
    for name in files(&["docs/measured/*"]) {
        let record = Measurements::read(&root().join(&name)).unwrap();
        let name = name.display();
        assert!(!record.rows.is_empty(), "{name}");
        let Measurements {
            command,
            machine,
            date,
            commit,
            ..
        } = &record;
        let is_whole = [command, machine, date, commit]
            .iter()
            .all(|said| !said.is_empty());
        assert!(is_whole, "{name} lacks a field");
        let about = format!("{name}?about");
        let is_shown = pages.iter().any(|page| page.contains(&about));
        assert!(is_shown, "no page says what {name} was measured on");
    }
}

/// The output of `cargo metadata` for the workspace.
fn metadata() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(root())
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The command at the beginning of a text of a page or program. A quotation mark may be a part of the command.
fn command(text: &str) -> &str {
    let end = text.find(['`', '\n', '#', '\'', '(', '|']);
    let text = text[..end.unwrap_or(text.len())].trim_end();
    match text.rsplit_once('"') {
        // An unpaired quotation mark ends a string in a program.
        Some((command, _)) if text.matches('"').count() % 2 == 1 => command,
        _ => text,
    }
}

/// Whether a command installs treefold from the checkout or from a package index.
fn installs_treefold(command: &str) -> bool {
    let mut words = command.split_whitespace();
    words.any(|word| word.contains("bindings/") || word.starts_with("treefold"))
        || command.starts_with("cargo xtask install --prefix ~")
}

#[test]
fn pages_and_messages_say_the_same_lines() {
    let metadata = metadata();
    let lines = metadata["metadata"]["install"].as_object().unwrap();
    let lines: Vec<&str> = lines.values().map(|line| line.as_str().unwrap()).collect();
    let (mut said, mut others) = (Vec::new(), Vec::new());
    for file in files(&["*.md", "bindings/*.py", ":!CHANGELOG.md"]) {
        let text = read(&file);
        for begin in ["pip install ", "cargo add ", "cargo xtask install "] {
            let found = text.match_indices(begin);
            let commands = found.map(|(place, _)| command(&text[place..]));
            for command in commands.filter(|command| installs_treefold(command)) {
                said.push(command.to_owned());
                // `docs/installing.md` also has commands for the files that `cargo xtask release` makes.
                let is_packaged = file.ends_with("docs/installing.md") && !lines.contains(&command);
                if !lines.contains(&command) && !is_packaged {
                    others.push(format!("{}: {command}", file.display()));
                }
            }
        }
    }
    assert_eq!(others, [] as [String; 0]);
    for line in lines {
        assert!(said.iter().any(|said| said == line), "no page has {line}");
    }
}

#[test]
fn both_front_doors_say_the_same() {
    let (readme, landing) = (read("README.md"), read("docs/README.md"));
    let is = front_page(&readme, &landing);
    assert_eq!(is.as_ref(), Some(&landing), "cargo xtask numbers");
    for page in [&readme, &landing] {
        let first: Vec<&str> = page.lines().take(40).collect();
        let first = first.join("\n").to_lowercase();
        for word in "reproducible|floating-point|bitwise|deterministic|git clone".split('|') {
            assert!(first.contains(word), "{word}");
        }
    }
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    let treefold = packages
        .iter()
        .find(|package| package["name"] == "treefold");
    let [address, version, rust] = ["repository", "version", "rust_version"]
        .map(|key| treefold.unwrap()[key].as_str().unwrap_or_default());
    let address = Some(address).filter(|address| !address.is_empty());
    let clone = format!("git clone {} treefold", address.unwrap_or("REPOSITORY"));
    let pinned = read("rust-toolchain.toml");
    let mut lines = pinned.lines();
    let pinned = lines.find_map(|line| line.strip_prefix("channel = \""));
    let (pinned, _) = pinned.unwrap().rsplit_once('.').unwrap();
    let (rust, pinned) = (
        format!("Rust {rust} or newer"),
        format!("the pinned {pinned}"),
    );
    for said in [&*clone, version, &rust, &pinned] {
        assert!(readme.contains(said), "{said}");
    }
}
