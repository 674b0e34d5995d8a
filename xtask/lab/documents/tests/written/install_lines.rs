//! The install commands are in the root's `Cargo.toml`, as `workspace.metadata.install`. Checks that pages and messages have the same lines.

use std::process::Command;

use harness::measured::marks::front_page;

use super::{files, read, root};

/// The workspace's metadata and its packages, as cargo knows them.
fn metadata() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(root())
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What ends a command in prose or code, unless a quotation mark belongs to it.
fn command(text: &str) -> &str {
    let end = text.find(['`', '\n', '#', '\'', '(', '|']);
    let text = text[..end.unwrap_or(text.len())].trim_end();
    // The end of a string in a program.
    let quotes = text.matches('"').count();
    if quotes % 2 == 1 {
        text.rsplit_once('"').unwrap().0
    } else {
        text
    }
}

/// Whether a command installs treefold, as it is or from an index.
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
                // From what `cargo xtask release` makes: `docs/installing.md` has them beside each system.
                let is_packaged = file.ends_with("docs/installing.md") && !lines.contains(&command);
                if !lines.contains(&command) && !is_packaged {
                    others.push(format!("{}: {command}", file.display()));
                }
            }
        }
    }
    assert_eq!(others, [] as [String; 0]);
    for line in lines {
        assert!(said.iter().any(|said| said == line), "nothing says {line}");
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
        for word in [
            "reproducible",
            "floating-point",
            "bitwise",
            "deterministic",
            "git clone",
        ] {
            assert!(first.contains(word), "{word}");
        }
    }
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    let treefold = packages
        .iter()
        .find(|package| package["name"] == "treefold")
        .unwrap();
    let address = treefold["repository"]
        .as_str()
        .filter(|address| !address.is_empty());
    let clone = format!("git clone {} treefold", address.unwrap_or("REPOSITORY"));
    let pinned = read("rust-toolchain.toml");
    let pinned = pinned
        .lines()
        .find_map(|line| line.strip_prefix("channel = \""))
        .unwrap();
    let pinned = pinned.rsplit_once('.').unwrap().0;
    for said in [
        &*clone,
        treefold["version"].as_str().unwrap(),
        &format!(
            "Rust {} or newer",
            treefold["rust_version"].as_str().unwrap()
        ),
        &format!("the pinned {pinned}"),
    ] {
        assert!(readme.contains(said), "{said}");
    }
}
