//! `cargo xtask install`: installs the libraries for C, C++ and Fortran in a prefix, with files for pkg-config and CMake.
//!
//! `lib/libtreefold` is for programs with and without MPI. It finds a program's MPI library at run time. `lib/libtreefold_mpi` is another name
//! for `lib/libtreefold`. `lib/libtreefold_reprored` defines ReproRed's functions. `bin/treefold-run` starts unchanged programs, which then
//! load `lib/libtreefold_pmpi`. No installed file contains the path of the prefix, so you can move the prefix, or pack it as a package's `/usr`. The
//! prefix has a list of the installed files.

#![expect(clippy::print_stdout, reason = "it says what it builds and installs")]

mod headers;
mod manifest;
mod parts;
mod prefix;
mod shared;
mod template;

use std::path::{Path, PathBuf};

use checkout::licences::{joined, linked};
use checkout::workspace::{BuiltLibrary, Sources, cargo, libraries, workspace};
use checkout::{Error, files, shell_word};
use clap::Args;

use headers::HEADERS;
use manifest::Manifest;
use parts::{INTERPOSER, LIBRARY, Part};
use prefix::{Kind, Prefix};
use template::Values;

/// The version of all packages of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Options of `install`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The folder to install to, which gets lib/, include/, share/ and bin/; created if it does not exist
    #[arg(long, value_name = "FOLDER")]
    prefix: Option<PathBuf>,
    /// The folder of the libraries below the prefix, for example lib/x86_64-linux-gnu on Debian
    #[arg(long, value_name = "FOLDER", default_value = "lib")]
    libdir: String,
    /// Build without the network, from the tarball or from dependencies downloaded before
    #[arg(long)]
    offline: bool,
    /// Skip the interposer, which unchanged MPI programs load
    #[arg(long)]
    no_mpi: bool,
    /// Remove all symbols from shared libraries except those that programs link
    #[arg(long)]
    strip: bool,
    /// Uninstall from the prefix; files that have changed are kept
    #[arg(long, conflicts_with_all = ["libdir", "offline", "no_mpi", "strip"])]
    uninstall: bool,
}

/// Runs the command.
///
/// # Errors
/// The prefix cannot be written to, or a library cannot be built.
pub fn install(options: &Options) -> Result<(), Error> {
    let missing = "this option is missing; name a folder to install to, like `--prefix ~/treefold`";
    let folder = options.prefix.as_deref();
    let folder = folder.ok_or_else(|| Error::option("--prefix", missing))?;
    if options.uninstall {
        return uninstall(folder);
    }
    // Checks everything before the build, which takes minutes.
    let libdir = checked_libdir(&options.libdir)?;
    let prefix = Prefix::open(folder, &[libdir, "bin", "include", "share"], options.strip)?;
    let values = Values {
        version: VERSION,
        libdir,
    };
    let parts = &[&LIBRARY, &INTERPOSER][..if options.no_mpi { 1 } else { 2 }];
    let (built, sources) = build(parts, options.offline)?;
    let installed = parts
        .iter()
        .try_for_each(|part| part.install(&built, &prefix, &values))
        .and_then(|()| install_licences(parts, &sources, &prefix))
        .and_then(|()| install_texts(&prefix));
    // The list is written even after a failure, with the files that have been installed.
    prefix.write_manifest()?;
    installed?;
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    for line in next_steps(&folder, libdir, workspace()) {
        println!("{line}");
    }
    Ok(())
}

/// The program in a clone that checks the installation.
const FIRST_PROGRAM: &str = "bindings/c/examples/first_sum.c";

/// The next commands for the user.
fn next_steps(prefix: &Path, libdir: &str, sources: &Path) -> Vec<String> {
    let (libraries, programs) = (prefix.join(libdir), prefix.join("bin"));
    let found = libraries.join("pkgconfig");
    let mut lines = vec![
        String::new(),
        "To use it in this shell:".to_owned(),
        format!("  export PATH={}:$PATH", shell_word(&programs)),
        exported("PKG_CONFIG_PATH", &found),
        exported("LD_LIBRARY_PATH", &libraries),
    ];
    let program = sources.join(FIRST_PROGRAM);
    if program.is_file() {
        let words = "$(pkg-config --cflags --libs treefold) -o first_sum && ./first_sum";
        lines.push("To try it:".to_owned());
        lines.push(format!("  cc {} {words}", shell_word(&program)));
    }
    lines
}

/// A line that adds a folder to a variable, which may be empty.
fn exported(variable: &str, folder: &Path) -> String {
    let folder = shell_word(folder);
    format!("  export {variable}={folder}${{{variable}:+:${variable}}}")
}

/// Removes what the manifest of a prefix lists.
fn uninstall(folder: &Path) -> Result<(), Error> {
    let missing = || {
        let path = folder.join(manifest::PATH);
        let reason = "it is missing, so it is not known which files are installed";
        Error::option("--uninstall", format!("{}: {reason}", path.display()))
    };
    let manifest = Manifest::read(folder)?;
    manifest.ok_or_else(missing)?.remove(folder)
}

/// Checks that the folder of libraries is below the prefix and has no characters that are special to pkg-config, CMake or the shell.
fn checked_libdir(typed: &str) -> Result<&str, Error> {
    let folder = typed.trim_end_matches('/');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-/".contains(c);
    if folder.chars().all(is_plain) && manifest::is_below(folder) && !folder.contains("//") {
        return Ok(folder);
    }
    let reason = "is not a folder below the prefix, such as lib64 or lib/x86_64-linux-gnu";
    Err(Error::option("--libdir", format!("`{typed}` {reason}")))
}

/// Builds the libraries of some parts.
fn build(parts: &[&Part], offline: bool) -> Result<(Vec<BuiltLibrary>, Sources), Error> {
    let names = parts.iter().map(|part| format!("lib{}", part.name));
    println!("building {}", names.collect::<Vec<_>>().join(" and "));
    let mut cargo = cargo();
    cargo.args(["build", "--release", "--lib"]);
    for part in parts {
        cargo.args(["--package", part.package]);
    }
    if offline {
        cargo.arg("--offline");
    }
    let built = libraries(&mut cargo, "`cargo build --release` shows all errors");
    built.map_err(|error| explained(&error.to_string()).map_or(error, Error::Cargo))
}

/// The likely reason why `cargo` failed, and its fix; `None` if unknown.
fn explained(error: &str) -> Option<String> {
    let is_offline = ["failed to download", "no matching package", "offline"];
    let advice = if error.contains("linker `") && error.contains("not found") {
        "linking needs a C compiler; install gcc or clang, for example by `apt install gcc libc6-dev`"
    } else if is_offline.iter().any(|words| error.contains(words)) {
        "treefold's dependencies are missing; use the tarball, which has them, or run `cargo fetch` with a network"
    } else {
        return None;
    };
    Some(advice.to_owned())
}

/// Installs the licences of treefold and its dependencies.
fn install_licences(parts: &[&Part], sources: &Sources, prefix: &Prefix) -> Result<(), Error> {
    let packages: Vec<&str> = parts.iter().map(|part| part.package).collect();
    let others = joined(&linked(&packages, sources)?).into_bytes();
    let mut texts = vec![("THIRD-PARTY-LICENSES.txt", others)];
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        texts.push((name, files::bytes(&workspace().join(name))?));
    }
    for (name, text) in texts {
        prefix.write(&format!("share/doc/treefold/{name}"), &text, Kind::Text)?;
    }
    Ok(())
}

/// The pages of `docs/` that comments in headers and modules refer to.
const PAGES: [&str; 5] = [
    "items-and-ranks.md",
    "lanes.md",
    "order.md",
    "tree-or-exact.md",
    "tutorial-fortran.md",
];

/// Suppressions for helgrind, which does not understand the atomic operations by which a pool's threads synchronise.
const SUPPRESSIONS: &str = "helgrind.supp";

/// Installs documentation and valgrind's suppressions.
fn install_texts(prefix: &Prefix) -> Result<(), Error> {
    for name in PAGES {
        let text = files::bytes(&workspace().join("docs").join(name))?;
        prefix.write(&format!("share/treefold/docs/{name}"), &text, Kind::Text)?;
    }
    let suppressions = workspace().join("bindings/c/packaging").join(SUPPRESSIONS);
    let place = format!("share/treefold/{SUPPRESSIONS}");
    prefix.write(&place, &files::bytes(&suppressions)?, Kind::Text)?;
    for (folder, name) in HEADERS {
        for page in headers::pages(name, &headers::read(folder, name)?, VERSION) {
            let place = format!("share/man/man3/{}.3", page.name);
            prefix.write(&place, page.text.as_bytes(), Kind::Text)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::process::Command;

    use checkout::files::{listed, read};

    use super::{LIBRARY, PAGES, checked_libdir, explained, next_steps, workspace};

    /// The printed lines work in a shell.
    #[test]
    fn what_is_exported_are_words_of_the_shell() {
        let prefix = Path::new("/opt/it's treefold");
        let lines = next_steps(prefix, "lib64", Path::new("/nowhere"));
        let words = lines.iter().filter(|line| line.starts_with("  export "));
        let mut script = words.cloned().collect::<Vec<_>>().join("\n");
        script += "\nprintf '%s\n' \"$PATH\" \"$PKG_CONFIG_PATH\" \"$LD_LIBRARY_PATH\"";
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &script]).env_remove("PKG_CONFIG_PATH");
        shell.env("PATH", "/bin").env("LD_LIBRARY_PATH", "/mpi");
        let output = shell.output().unwrap().stdout;
        let folders = ["bin:/bin", "lib64/pkgconfig", "lib64:/mpi"];
        let expected = folders.map(|folder| format!("/opt/it's treefold/{folder}\n"));
        assert_eq!(String::from_utf8_lossy(&output), expected.concat());
        assert!(!lines.iter().any(|line| line.contains("first_sum")));
    }

    #[test]
    fn pages_are_installed_that_headers_and_modules_name() {
        let mut named = BTreeSet::new();
        for package in LIBRARY.folders {
            for folder in ["include", "fortran"] {
                let package = workspace().join("bindings").join(package);
                for path in listed(&package.join(folder)).unwrap() {
                    let text = read(&path).unwrap();
                    let names = text.split("docs/").skip(1).filter_map(|rest| {
                        let (name, _) = rest.split_once(".md")?;
                        let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
                        name.chars().all(is_name).then(|| format!("{name}.md"))
                    });
                    named.extend(names);
                }
            }
        }
        assert!(named.iter().eq(PAGES), "{named:?}");
    }

    #[test]
    fn folders_of_libraries_are_below_the_prefix() {
        for (typed, expected) in [
            ("lib", "lib"),
            ("lib64/", "lib64"),
            ("lib/aarch64-linux-gnu", "lib/aarch64-linux-gnu"),
        ] {
            assert_eq!(checked_libdir(typed).unwrap(), expected);
        }
        for wrong in [
            "", "/", "/usr/lib", "../lib", "lib/..", "./lib", "a b", "a;b", "a//b",
        ] {
            let error = checked_libdir(wrong).unwrap_err().to_string();
            assert!(error.starts_with("--libdir: `"), "{error}");
        }
    }

    #[test]
    fn what_is_missing_is_told() {
        let linker = "cargo: error: linker `cc` not found; more";
        assert!(explained(linker).unwrap().contains("apt install gcc"));
        let offline = "cargo: error: failed to download `clap v4.6.0`; more";
        assert!(explained(offline).unwrap().contains("cargo fetch"));
        assert!(explained("cargo: error: mismatched types").is_none());
    }
}
