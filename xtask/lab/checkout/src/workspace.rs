//! The checkout that commands run in, and the programs they build there.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

use crate::Error;
use crate::files;
use crate::progress::Progress;

/// The repository's address, from the root's `Cargo.toml`; empty if that file gives none.
pub const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The root of the checkout. It is searched for above the package that `cargo` runs, then above this program, then above the current
/// folder; if none of these is in a checkout, the current folder is returned. The search happens at run time, since this package also
/// compiles outside a checkout.
pub fn workspace() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let (program, current) = (env::current_exe().ok(), env::current_dir().ok());
        let is_root = |folder: &&Path| folder.join("xtask/lab/install/Cargo.toml").is_file();
        let places = [&package, &program, &current].into_iter().flatten();
        let root = places.flat_map(|place| place.ancestors()).find(is_root);
        root.map_or_else(|| current.clone().unwrap_or_default(), Path::to_owned)
    })
}

/// The folder for the output of commands; created if it does not exist.
pub fn target() -> Result<PathBuf, Error> {
    let folder = workspace().join("target");
    files::make(&folder)?;
    Ok(folder)
}

/// A `cargo` that runs in this workspace.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace());
    cargo
}

/// The standard output of a `cargo` command, which must succeed.
pub(crate) fn output(cargo: &mut Command) -> Result<String, Error> {
    let output = cargo.output();
    let output = output.map_err(|error| Error::Cargo(error.to_string()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !output.status.success() {
        return Err(Error::Cargo(text(&output.stderr)));
    }
    Ok(text(&output.stdout))
}

/// The packages of the workspace and their dependencies, as `cargo metadata` with these words lists them.
pub fn packages(words: &str) -> Result<Vec<Value>, Error> {
    let mut metadata = cargo();
    metadata.args(["metadata", "--format-version", "1"]);
    let text = output(metadata.args(words.split_whitespace()))?;
    let mut found: Value =
        serde_json::from_str(&text).map_err(|error| Error::Cargo(error.to_string()))?;
    match found["packages"].take() {
        Value::Array(packages) => Ok(packages),
        _ => Err(Error::Cargo("its metadata has no packages".to_owned())),
    }
}

/// The names of the workspace's packages that are published on crates.io: those without `publish = false` in their `Cargo.toml`.
pub fn published_members() -> Result<Vec<String>, Error> {
    let packages = packages("--no-deps")?;
    let packages = packages.iter();
    // `publish = false` is an empty list of registries.
    let published = packages.filter(|package| package["publish"].is_null());
    let names = published.filter_map(|package| package["name"].as_str());
    Ok(names.map(str::to_owned).collect())
}

/// The folders of packages with their own workspace: `exclude` in the root's `Cargo.toml`, a list of strings in one line.
pub fn excluded_packages() -> Result<Vec<PathBuf>, Error> {
    let manifest = workspace().join("Cargo.toml");
    let text = files::read(&manifest)?;
    let mut lines = text.lines();
    let list = lines.find_map(|line| line.strip_prefix("exclude = "));
    let list = list.ok_or_else(|| Error::file(&manifest, "no line begins with `exclude = `"))?;
    let folders: Vec<String> =
        serde_json::from_str(list).map_err(|error| Error::file(&manifest, error))?;
    let folders = folders.iter().map(|folder| workspace().join(folder));
    Ok(folders.collect())
}

/// A program that `cargo` built.
#[derive(Debug)]
pub struct Executable {
    /// Where it is.
    pub path: PathBuf,
    /// The name of its target in `Cargo.toml`.
    pub target: String,
    /// The folder of its package.
    pub package: PathBuf,
    /// The name of its package.
    pub name: String,
    /// The kind of its target: `lib` (tests inside the library), `bin`, `example`, `test` or `bench`.
    pub kind: String,
    /// Whether it runs tests.
    pub is_test: bool,
}

impl Executable {
    /// Parses a line of `cargo`'s JSON, if it is about a program.
    fn parse(message: &Value) -> Option<Self> {
        let manifest = Path::new(message["manifest_path"].as_str()?);
        Some(Self {
            path: message["executable"].as_str()?.into(),
            target: message["target"]["name"].as_str()?.to_owned(),
            package: manifest.parent()?.to_owned(),
            name: package_name(message["package_id"].as_str()?).to_owned(),
            kind: match message["target"]["kind"][0].as_str()? {
                kind @ ("bin" | "example" | "test" | "bench") => kind.to_owned(),
                _ => "lib".to_owned(),
            },
            is_test: message["profile"]["test"] == true,
        })
    }
}

/// The name in a package's identifier: `path+file:///folder#name@0.1.0`, or `path+file:///folder/name#0.1.0`.
fn package_name(id: &str) -> &str {
    let (folder, name) = id.split_once('#').unwrap_or((id, ""));
    match name.split_once('@') {
        Some((name, _)) => name,
        None => folder.rsplit('/').next().unwrap_or(folder),
    }
}

/// Runs a `cargo` command and returns the executables that it built.
pub fn executables(cargo: &mut Command) -> Result<Vec<Executable>, Error> {
    let messages = messages(cargo, "are MPI and libclang complete?")?;
    Ok(messages.iter().filter_map(Executable::parse).collect())
}

/// A library that `cargo` built.
#[derive(Debug)]
pub struct BuiltLibrary {
    /// The name of its target in `Cargo.toml`.
    pub target: String,
    /// One file for each crate type, such as `.so` and `.a`.
    pub files: Vec<PathBuf>,
}

impl BuiltLibrary {
    /// Parses a line of `cargo`'s JSON, if it is about a library for other languages.
    fn parse(message: &Value) -> Option<Self> {
        let types = message["target"]["crate_types"].as_array()?;
        if !types.iter().any(|of_crate| of_crate == "cdylib") {
            return None;
        }
        let files = message["filenames"].as_array()?.iter();
        let files = files.filter_map(|file| file.as_str().map(PathBuf::from));
        Some(Self {
            target: message["target"]["name"].as_str()?.to_owned(),
            files: files.collect(),
        })
    }

    /// The file with this extension.
    pub fn file(&self, extension: &str) -> Option<&Path> {
        let mut files = self.files.iter().map(PathBuf::as_path);
        files.find(|file| file.extension().is_some_and(|found| found == extension))
    }
}

/// The source folders of packages from registries, by name and version, as in `libc v0.2.0`.
pub type Sources = BTreeMap<String, PathBuf>;

/// Runs a `cargo` command and returns the libraries for other languages that it built, and the source folders of packages from
/// registries. If the command fails, `advice` is appended to the error.
pub fn libraries(cargo: &mut Command, advice: &str) -> Result<(Vec<BuiltLibrary>, Sources), Error> {
    let messages = messages(cargo, advice)?;
    let libraries = messages.iter().filter_map(BuiltLibrary::parse).collect();
    Ok((libraries, messages.iter().filter_map(source).collect()))
}

/// The name and source folder of the package in a line of `cargo`'s JSON, if it comes from a registry.
fn source(message: &Value) -> Option<(String, PathBuf)> {
    let id = message["package_id"].as_str()?.strip_prefix("registry+")?;
    let (_, name) = id.rsplit_once('#')?;
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    Some((name.replace('@', " v"), folder.to_owned()))
}

/// Runs a `cargo` command and returns its messages. If the command fails, returns its first error, followed by `advice`.
fn messages(cargo: &mut Command, advice: &str) -> Result<Vec<Value>, Error> {
    let _progress = Progress::of(shown(cargo));
    cargo.args(["--quiet", "--message-format", "json"]);
    let output = cargo.stdin(Stdio::null()).stderr(Stdio::piped()).output();
    let output = output.map_err(|error| Error::Cargo(error.to_string()))?;
    let lines = String::from_utf8_lossy(&output.stdout);
    let messages = lines
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let messages: Vec<Value> = messages.collect();
    if !output.status.success() {
        // The compiler's errors are more precise than cargo's.
        let of_compiler = messages.iter().find_map(compile_error);
        let errors = String::from_utf8_lossy(&output.stderr);
        let of_cargo = errors.lines().find(|line| line.starts_with("error"));
        let first = of_compiler.as_deref().or(of_cargo).unwrap_or("it failed");
        return Err(Error::Cargo(format!("{first}; {advice}")));
    }
    Ok(messages)
}

/// The first line of the compiler's error in a line of `cargo`'s JSON, if it is one.
fn compile_error(message: &Value) -> Option<String> {
    let message = &message["message"];
    let text = message["message"].as_str()?.lines().next()?;
    (message["level"] == "error").then(|| format!("error: {text}"))
}

/// A `cargo` command as text.
fn shown(cargo: &Command) -> String {
    let words = cargo.get_args().map(OsStr::to_string_lossy);
    words.fold("cargo".to_owned(), |line, word| format!("{line} {word}"))
}

#[cfg(test)]
mod tests {
    use super::package_name;

    #[test]
    fn packages_are_named_by_cargo_in_two_ways() {
        let long = "path+file:///work/crates/reduce#treefold-reduce@0.1.0";
        assert_eq!(package_name(long), "treefold-reduce");
        assert_eq!(package_name("path+file:///work/xtask#0.1.0"), "xtask");
    }
}
