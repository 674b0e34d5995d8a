//! Recipes for package managers, filled in with what the release is, and tried as far as this machine can.

use std::path::Path;
use std::process::Command;

use checkout::workspace::{REPOSITORY, target, workspace};
use launch::Error;
use launch::installed::runs;

use super::tarball::without_network;
use super::tools::path_from;
use super::{VERSION, empty, listed, read, write};
use crate::python::environment::Environment;
use crate::setup;
use crate::steps::{Steps, Stop};

/// Where they are, as templates; README.md there is for people.
const FOLDER: &str = "bindings/packaging";

/// Each package manager's folder.
const RECIPES: [&str; 3] = ["conda", "modules", "spack"];

/// What templates have between `@`, besides the prefix of the module file, which nobody knows here.
const NAMES: [&str; 6] = [
    "@VERSION@",
    "@REPOSITORY@",
    "@TARBALL@",
    "@TARBALL_SHA256@",
    "@SDIST@",
    "@SDIST_SHA256@",
];

/// Stands for the address while there is none: nobody can have it, so that nothing is fetched from it.
const NO_ADDRESS: &str = "https://the-address-of-the-repository.invalid";

/// What begins a shell in which there is `module`.
const MODULES: &str = "/usr/share/modules/init/sh";

/// Loads the module and uses it as the module's help says.
const USE_MODULE: &str = ". \"$1\" && module use \"$2\" && module load treefold && cc \"$3\" -ltreefold -o \"$4\" && \"$4\" \
    && pkg-config --exists treefold && command -v treefold-run";

/// Fills them in, and tries them with the files of the release.
pub(super) fn make(steps: &mut Steps, environment: &Environment, dist: &Path) -> Result<(), Stop> {
    let recipes = dist.join("recipes");
    let values = Values::of(dist)?;
    for recipe in RECIPES {
        let templates = workspace().join(FOLDER).join(recipe);
        values.fill_all(&templates, &recipes.join(recipe))?;
    }
    let folder = target()?.join("dist");
    let tried = folder.join("recipes");
    empty(&tried)?;
    let tarball = dist.join(tarball());
    let tree = folder.join(format!("from-tarball/treefold-{VERSION}"));
    let scripts = workspace().join("xtask/lab/gate/src/release/recipes");

    let recipe = recipes.join("spack/treefold/package.py");
    let mut compile = environment.python("-m py_compile");
    // What it becomes is no part of the release.
    compile.arg(&recipe).env("PYTHONPYCACHEPREFIX", &tried);
    steps.step("the recipe for Spack is Python", &mut compile)?;
    if !runs("unshare") || !tree.exists() {
        println!("skipped: the recipes' steps, for want of unshare");
        return Ok(());
    }
    let mut spack = without_network(&tried.join("cargo-home"));
    spack.arg(environment.interpreter());
    spack.arg(scripts.join("spack.py")).arg(&recipe);
    spack.args([&tarball, &tree, &tried.join("spack/prefix")]);
    steps.step("its steps, with a stand-in for Spack", &mut spack)?;

    let mut conda = without_network(&tried.join("cargo-home"));
    conda.env("PATH", path_from(&environment.programs())?);
    conda.arg(environment.interpreter());
    conda.arg(scripts.join("conda.py"));
    // What it builds by is written beside the recipe.
    let copy = tried.join("conda-recipes");
    values.fill_all(&workspace().join(FOLDER).join("conda"), &copy)?;
    conda.args([&copy, &tarball, &tried.join("conda")]);
    steps.step("the recipes for conda", &mut conda)?;
    load_module(steps, &recipes.join("modules/treefold"), &tried)
}

/// Loads the module file of the prefix that the recipe for Spack has installed to.
fn load_module(steps: &mut Steps, recipe: &Path, tried: &Path) -> Result<(), Stop> {
    let installed = setup::install_for(&["modulecmd"], &["environment-modules"]);
    if let Err(error) = installed {
        println!("skipped: the module file, {error}");
        return Ok(());
    }
    let prefix = tried.join("spack/prefix").display().to_string();
    let modules = tried.join("modules");
    let text = read(recipe)?.replace("@PREFIX@", &prefix);
    write(&modules.join("treefold").join(VERSION), text)?;
    let mut load = Command::new("bash");
    load.args(["-c", USE_MODULE, "bash", MODULES]).arg(modules);
    load.arg(workspace().join("bindings/c/examples/first_sum.c"));
    load.arg(tried.join("first-sum"));
    steps.step(
        "the module file is loaded, and a program is built with it",
        &mut load,
    )
}

fn tarball() -> String {
    format!("treefold-{VERSION}.tar.xz")
}

/// What stands for each of the names.
struct Values([String; NAMES.len()]);

impl Values {
    /// Those of the files of a release.
    fn of(dist: &Path) -> Result<Self, Stop> {
        let address = if REPOSITORY.is_empty() {
            NO_ADDRESS
        } else {
            REPOSITORY
        };
        let sdist = format!("treefold-{VERSION}.tar.gz");
        let of_file = |name: &str| format!("{address}/releases/download/v{VERSION}/{name}");
        Ok(Self([
            VERSION.to_owned(),
            address.to_owned(),
            of_file(&tarball()),
            sha256(&dist.join(tarball()))?,
            of_file(&sdist),
            sha256(&dist.join(sdist))?,
        ]))
    }

    fn fill(&self, template: &str) -> String {
        let text = template.to_owned();
        let values = NAMES.iter().zip(&self.0);
        values.fold(text, |text, (name, value)| text.replace(name, value))
    }

    /// Fills in all files below a folder.
    fn fill_all(&self, from: &Path, to: &Path) -> Result<(), Stop> {
        for path in listed(from)? {
            let place = to.join(path.file_name().unwrap_or_default());
            if path.is_dir() {
                self.fill_all(&path, &place)?;
            } else {
                write(&place, self.fill(&read(&path)?))?;
            }
        }
        Ok(())
    }
}

/// The checksum of a file, in hexadecimal digits.
fn sha256(file: &Path) -> Result<String, Stop> {
    let output = Command::new("sha256sum").arg(file).output();
    let output = output.map_err(|error| Error::Run(format!("sha256sum: {error}")))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let sum = said
        .split_whitespace()
        .next()
        .filter(|_| output.status.success());
    let sum = sum.ok_or_else(|| Error::file(file, "it has no checksum"))?;
    Ok(sum.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{FOLDER, NAMES, RECIPES, Values, listed, workspace};
    use crate::steps::Stop;

    /// Every file below a folder, as text.
    fn texts(folder: &Path) -> Vec<String> {
        let paths = listed(folder).map_err(|_: Stop| ()).unwrap();
        let below = paths.iter().flat_map(|path| {
            if path.is_dir() {
                texts(path)
            } else {
                vec![fs::read_to_string(path).unwrap()]
            }
        });
        below.collect()
    }

    #[test]
    fn templates_have_these_names_and_no_others() {
        let folders = RECIPES.map(|recipe| workspace().join(FOLDER).join(recipe));
        let templates: String = folders.iter().flat_map(|folder| texts(folder)).collect();
        for name in NAMES {
            assert!(templates.contains(name), "{name}");
        }
        let is_name = |word: &&str| {
            !word.is_empty()
                && !word.contains(|letter: char| {
                    !(letter.is_ascii_uppercase() || letter == '_' || letter.is_ascii_digit())
                })
        };
        let found = templates.split('@').filter(is_name);
        for name in found.map(|word| format!("@{word}@")) {
            assert!(
                NAMES.contains(&name.as_str()) || name == "@PREFIX@",
                "{name}"
            );
        }
    }

    #[test]
    fn names_are_filled_in() {
        let values = Values(NAMES.map(str::to_lowercase));
        assert_eq!(
            values.fill("\"@VERSION@\" @PREFIX@"),
            "\"@version@\" @PREFIX@"
        );
    }
}
