//! `cargo xtask install`: the libraries for C, C++ and Fortran in a prefix, with what pkg-config and CMake need to find them.
//!
//! `lib/libtreefold` is for programs of one process and for ranks: it finds the MPI library of a program when that runs. `lib/libtreefold_mpi`
//! is another name of it. Beside it are `lib/libtreefold_reprored`, which has ReproRed's names, `lib/libtreefold_pmpi`, which unchanged programs
//! load, and `bin/treefold-run`, which starts them. Nothing that is installed names the prefix: it can be moved, or be a package's `/usr` before
//! that is packed. A list of what was installed is kept there.

#![expect(clippy::print_stdout, reason = "it says what it builds and installs")]

mod headers;
mod manifest;
mod manual;
mod prefix;
mod reprored;
mod shared;
mod template;

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use checkout::licences::{joined, linked};
use checkout::workspace::{BuiltLibrary, Sources, cargo, libraries, target, workspace};
use checkout::{Error, shell_word};
use clap::Args;

use manifest::Manifest;
use prefix::{Kind, Prefix};
use template::{Template, Values};

/// The version of all packages of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Options of `install`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The folder that gets lib/, include/, share/ and bin/; created if it does not exist
    #[arg(long, value_name = "FOLDER")]
    prefix: Option<PathBuf>,
    /// The folder of the libraries below the prefix; on Debian also lib/x86_64-linux-gnu
    #[arg(long, value_name = "FOLDER", default_value = "lib")]
    libdir: String,
    /// Build with what is here, from a tarball or downloaded before, and ask no network
    #[arg(long)]
    offline: bool,
    /// Leave out the interposer, which unchanged MPI programs load
    #[arg(long)]
    no_mpi: bool,
    /// Keep no names in shared libraries but those that programs link; line numbers for debuggers are never kept
    #[arg(long)]
    strip: bool,
    /// Remove what was installed in the prefix, but for files that were changed since
    #[arg(long, conflicts_with_all = ["libdir", "offline", "no_mpi", "strip"])]
    uninstall: bool,
    /// Not needed any more: what is installed is for every MPI library
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    mpi: Option<Option<String>>,
}

/// Runs the command.
///
/// # Errors
/// The prefix cannot be written to, or a library cannot be built.
pub fn install(options: &Options) -> Result<(), Error> {
    let missing = "it is missing: the folder to install to, as in `--prefix ~/treefold`";
    let folder = options.prefix.as_deref();
    let folder = folder.ok_or_else(|| Error::option("--prefix", missing))?;
    if options.mpi.is_some() {
        eprintln!("--mpi is not needed: what is installed is for every MPI library");
    }
    if options.uninstall {
        return uninstall(folder);
    }
    // What can be refused is refused before anything is built, which takes minutes.
    let libdir = checked_libdir(&options.libdir)?;
    let prefix = Prefix::open(folder, &[libdir, "bin", "include", "share"], options.strip)?;
    let version = VERSION;
    let values = Values { version, libdir };
    let parts: &[&Part] = if options.no_mpi {
        &[&LIBRARY]
    } else {
        &[&LIBRARY, &INTERPOSER]
    };
    let (built, sources) = build(parts, options.offline)?;
    let installed = parts
        .iter()
        .try_for_each(|part| part.install(&built, &prefix, &values))
        .and_then(|()| install_licences(parts, &sources, &prefix))
        .and_then(|()| install_texts(&prefix));
    // What was installed before something failed is in the list, too.
    prefix.write_manifest()?;
    installed?;
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    for line in next_steps(&folder, libdir, workspace()) {
        println!("{line}");
    }
    Ok(())
}

/// The program that shows whether all is well, in a clone.
const FIRST_PROGRAM: &str = "bindings/c/examples/first_sum.c";

/// What is to be typed then.
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

/// Adds a folder to a list that may be empty.
fn exported(variable: &str, folder: &Path) -> String {
    let folder = shell_word(folder);
    format!("  export {variable}={folder}${{{variable}:+:${variable}}}")
}

/// Removes what the manifest of a prefix lists.
fn uninstall(folder: &Path) -> Result<(), Error> {
    let missing = || {
        let path = folder.join(manifest::PATH);
        let reason = "it is missing: nothing is known to be installed there";
        Error::option("--uninstall", format!("{}: {reason}", path.display()))
    };
    let manifest = Manifest::read(folder)?;
    manifest.ok_or_else(missing)?.remove(folder)
}

/// The folder of libraries: below the prefix, of characters that mean nothing to pkg-config, CMake and the shell.
fn checked_libdir(typed: &str) -> Result<&str, Error> {
    let folder = typed.trim_end_matches('/');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-/".contains(c);
    if folder.chars().all(is_plain) && manifest::is_below(folder) && !folder.contains("//") {
        return Ok(folder);
    }
    let reason = "is not a folder below the prefix, as lib64 or lib/x86_64-linux-gnu are";
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
    let built = libraries(&mut cargo, "`cargo build --release` says more");
    built.map_err(|error| explained(&error.to_string()).map_or(error, Error::Cargo))
}

/// What is missing where `cargo` failed, and how to get it; `None` if that is not known.
fn explained(error: &str) -> Option<String> {
    let is_offline = ["failed to download", "no matching package", "offline"];
    let advice = if error.contains("linker `") && error.contains("not found") {
        "no C compiler, which links libraries: install gcc or clang, as by `apt install gcc libc6-dev`"
    } else if is_offline.iter().any(|words| error.contains(words)) {
        "what treefold is built of is not here: take the tarball, which has it, or `cargo fetch` with a network"
    } else {
        return None;
    };
    Some(advice.to_owned())
}

/// Installs the licences of treefold and of what is linked in.
fn install_licences(parts: &[&Part], sources: &Sources, prefix: &Prefix) -> Result<(), Error> {
    let packages: Vec<&str> = parts.iter().map(|part| part.package).collect();
    let others = joined(&linked(&packages, sources)?).into_bytes();
    let mut texts = vec![("THIRD-PARTY-LICENSES.txt", others)];
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        texts.push((name, read(&workspace().join(name))?));
    }
    for (name, text) in texts {
        prefix.write(&format!("share/doc/treefold/{name}"), &text, Kind::Text)?;
    }
    Ok(())
}

/// The pages of `docs/` that headers and modules name.
const PAGES: [&str; 5] = [
    "items-and-ranks.md",
    "lanes.md",
    "order.md",
    "tree-or-exact.md",
    "tutorial-fortran.md",
];

/// The headers that have manual pages.
const HEADERS: [(&str, &str); 2] = [("c", "treefold.h"), ("c-mpi", "treefold_mpi.h")];

/// What helgrind must not report: it does not know the atomic operations by which a pool's threads take turns.
const SUPPRESSIONS: &str = "helgrind.supp";

/// Installs what people and valgrind read.
fn install_texts(prefix: &Prefix) -> Result<(), Error> {
    for name in PAGES {
        let text = read(&workspace().join("docs").join(name))?;
        prefix.write(&format!("share/treefold/docs/{name}"), &text, Kind::Text)?;
    }
    let suppressions = workspace().join("bindings/c/packaging").join(SUPPRESSIONS);
    let place = format!("share/treefold/{SUPPRESSIONS}");
    prefix.write(&place, &read(&suppressions)?, Kind::Text)?;
    for (folder, name) in HEADERS {
        for page in manual::pages(name, &header(folder, name)?, VERSION) {
            let place = format!("share/man/man3/{}.3", page.name);
            prefix.write(&place, page.text.as_bytes(), Kind::Text)?;
        }
    }
    Ok(())
}

/// The text of a header.
fn header(folder: &str, name: &str) -> Result<String, Error> {
    let path = workspace()
        .join("bindings")
        .join(folder)
        .join("include")
        .join(name);
    Ok(String::from_utf8_lossy(&read(&path)?).into_owned())
}

/// A package that is built, and what is installed of it.
struct Part {
    package: &'static str,
    /// What it is called in Rust.
    target: &'static str,
    /// What it is called elsewhere: the file is `libNAME.so`.
    name: &'static str,
    /// The folders of bindings/ with its headers and modules. If there are any, programs link this library: then it is also installed as
    /// a static library, by [`OTHER_NAME`], and with ReproRed's interface.
    folders: &'static [&'static str],
    templates: &'static [Template],
}

/// The library that programs link.
const LIBRARY: Part = Part {
    package: "treefold-c-library",
    target: "treefold_c_library",
    name: "treefold",
    folders: &["c", "c-mpi"],
    templates: template::LIBRARY,
};

/// The name by which programs of ranks may link it.
const OTHER_NAME: &str = "treefold_mpi";

/// The library that unchanged programs load, and the command that starts them.
const INTERPOSER: Part = Part {
    package: "treefold-pmpi",
    target: "treefold_pmpi",
    name: "treefold_pmpi",
    folders: &[],
    templates: template::INTERPOSER,
};

impl Part {
    fn file<'a>(&self, built: &'a BuiltLibrary, extension: &str) -> Result<&'a Path, Error> {
        let missing = || format!("it built no .{extension} of {}", self.package);
        let file = built.file(extension);
        file.ok_or_else(|| Error::Cargo(missing()))
    }

    /// Installs the library, then what compilers read, and last of all what the part is found by.
    fn install(
        &self,
        built: &[BuiltLibrary],
        prefix: &Prefix,
        values: &Values<'_>,
    ) -> Result<(), Error> {
        let built = built.iter().find(|library| library.target == self.target);
        let missing = || Error::Cargo(format!("it built no library of {}", self.package));
        let built = built.ok_or_else(missing)?;
        let name = format!("lib{}", self.name);
        if self.folders.is_empty() {
            install_shared(&name, &read(self.file(built, "so")?)?, prefix, values)?;
        } else {
            let folder = target()?.join(format!("install-{}", process::id()));
            fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
            let installed =
                shared::link(self.file(built, "a")?, &name, &symbols()?, &folder, values)
                    .and_then(|()| read(&folder.join(format!("{name}.so"))))
                    .and_then(|content| install_shared(&name, &content, prefix, values))
                    .and_then(|()| self.install_for_compilers(built, prefix, values))
                    .and_then(|()| reprored::install(&folder, prefix, values));
            let _ = fs::remove_dir_all(&folder);
            installed?;
        }
        for template in self.templates {
            let text = template.fill(values);
            prefix.write(&template.path(values), text.as_bytes(), template.kind)?;
        }
        Ok(())
    }

    fn install_for_compilers(
        &self,
        built: &BuiltLibrary,
        prefix: &Prefix,
        values: &Values<'_>,
    ) -> Result<(), Error> {
        let path = |name: &str, extension| format!("{}/lib{name}.{extension}", values.libdir);
        let content = read(self.file(built, "a")?)?;
        prefix.write(&path(self.name, "a"), &content, Kind::StaticLibrary)?;
        for extension in ["so", "a"] {
            let file = format!("lib{}.{extension}", self.name);
            prefix.link(&path(OTHER_NAME, extension), &file)?;
        }
        for folder in self.folders {
            let package = workspace().join("bindings").join(folder);
            let sources = ["include", "fortran"].into_iter();
            for (source, target) in sources.zip(["include", "share/treefold/fortran"]) {
                for path in files(&package.join(source))? {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    prefix.write(&format!("{target}/{name}"), &read(&path)?, Kind::Text)?;
                }
            }
        }
        Ok(())
    }
}

/// The functions of the headers, and those that `libtreefold_reprored` calls.
fn symbols() -> Result<Vec<String>, Error> {
    let mut symbols = Vec::new();
    for (folder, name) in HEADERS {
        symbols.extend(headers::functions(&header(folder, name)?));
    }
    let called = reprored::symbols()?.into_iter();
    symbols.extend(called.map(|name| format!("treefold_reprored_{name}")));
    Ok(symbols)
}

/// Installs a shared library and its other names.
fn install_shared(
    name: &str,
    content: &[u8],
    prefix: &Prefix,
    values: &Values<'_>,
) -> Result<(), Error> {
    let shared = format!("{name}.so");
    let whole = format!("{shared}.{}", values.version);
    let interface = format!("{shared}.{}", values.interface());
    let folder = values.libdir;
    prefix.write(&format!("{folder}/{whole}"), content, Kind::SharedLibrary)?;
    prefix.link(&format!("{folder}/{interface}"), &whole)?;
    prefix.link(&format!("{folder}/{shared}"), &whole)
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|error| Error::file(path, error))
}

/// The files of a folder, by name. A part that lacks one of its folders is not whole.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |error| Error::file(folder, error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths = entries.map(|entry| Ok(entry.map_err(failed)?.path()));
    let paths: Result<Vec<PathBuf>, Error> = paths.collect();
    let mut files: Vec<PathBuf> = paths?.into_iter().filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use std::path::Path;
    use std::process::Command;

    use super::{LIBRARY, PAGES, checked_libdir, explained, files, next_steps, read, workspace};

    /// The lines do what they say, in the shell.
    #[cfg(unix)]
    #[test]
    fn what_is_exported_are_words_of_the_shell() {
        let prefix = Path::new("/opt/it's treefold");
        let lines = next_steps(prefix, "lib64", Path::new("/nowhere"));
        let words = lines.iter().filter(|line| line.starts_with("  export "));
        let mut script = words.cloned().collect::<Vec<_>>().join("\n");
        script += "\nprintf '%s\n' \"$PATH\" \"$PKG_CONFIG_PATH\" \"$LD_LIBRARY_PATH\"";
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &script]).env("PATH", "/bin");
        shell
            .env_remove("PKG_CONFIG_PATH")
            .env("LD_LIBRARY_PATH", "/mpi");
        let told = shell.output().unwrap().stdout;
        let folders = ["bin:/bin", "lib64/pkgconfig", "lib64:/mpi"];
        let expected = folders.map(|folder| format!("/opt/it's treefold/{folder}\n"));
        assert_eq!(String::from_utf8_lossy(&told), expected.concat());
        assert!(!lines.iter().any(|line| line.contains("first_sum")));
    }

    #[test]
    fn pages_are_installed_that_headers_and_modules_name() {
        let mut named = BTreeSet::new();
        for package in LIBRARY.folders {
            for folder in ["include", "fortran"] {
                let package = workspace().join("bindings").join(package);
                for path in files(&package.join(folder)).unwrap() {
                    let text = String::from_utf8(read(&path).unwrap()).unwrap();
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
