//! Fills in the recipes for package managers and tests them as far as this machine can.

use std::path::Path;

use checkout::files::{empty, listed, name, read, write};
use checkout::workspace::{REPOSITORY, target, workspace};
use launch::Error;

use super::VERSION;
use super::sources::without_network;
use crate::{Environment, Result, Steps, command, first_of, install_for, needs, output, words};

/// The folder of the templates; README.md there describes them.
const FOLDER: &str = "bindings/packaging";

/// Each package manager's folder.
const RECIPES: [&str; 3] = ["conda", "modules", "spack"];

/// The placeholders in templates, except for the prefix in the module file, which is only known where treefold is installed.
const NAMES: [&str; 6] = [
    "@VERSION@",
    "@REPOSITORY@",
    "@TARBALL@",
    "@TARBALL_SHA256@",
    "@SDIST@",
    "@SDIST_SHA256@",
];

/// The address in recipes while the repository has none. Its domain is reserved, so nothing can be downloaded from it.
const NO_ADDRESS: &str = "https://the-address-of-the-repository.invalid";

/// The shell commands that define `module`.
const MODULES: &str = "/usr/share/modules/init/sh";

/// A script that loads the module and uses it as the module's help describes.
const USE_MODULE: &str = ". \"$1\" && module use \"$2\" && module load treefold && cc \"$3\" -ltreefold -o \"$4\" && \"$4\" \
    && pkg-config --exists treefold && command -v treefold-run";

/// Fills in the recipes and tests them with the release files.
pub(super) fn make(steps: &mut Steps, environment: &Environment, dist: &Path) -> Result {
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
    let mut compile = environment.python(words!["-m py_compile", recipe]);
    // The results are not part of the release.
    compile.env("PYTHONPYCACHEPREFIX", &tried);
    steps.step("the recipe for Spack is Python", compile)?;
    needs("the recipes' steps", &["unshare"])?;
    let python = environment.interpreter();
    let by_python = |script: &str| {
        let mut command = without_network(&tried.join("cargo-home"));
        command.arg(&python).arg(scripts.join(script));
        command
    };
    let mut spack = by_python("spack.py");
    spack.args([&recipe, &tarball, &tree, &tried.join("spack/prefix")]);
    steps.step("its steps, with a mock of Spack", spack)?;

    let mut conda = by_python("conda.py");
    conda.env("PATH", first_of("PATH", &environment.programs()));
    // The build writes files next to the recipe, so it gets a copy.
    let copy = tried.join("conda-recipes");
    values.fill_all(&workspace().join(FOLDER).join("conda"), &copy)?;
    conda.args([&copy, &tarball, &tried.join("conda")]);
    steps.step("the recipes for conda", conda)?;

    // The module file is filled in with the prefix of the installation by the recipe for Spack.
    install_for("the module file", &["modulecmd"], "environment-modules")?;
    let prefix = tried.join("spack/prefix").display().to_string();
    let modules = tried.join("modules");
    let text = read(&recipes.join("modules/treefold"))?.replace("@PREFIX@", &prefix);
    write(&modules.join("treefold").join(VERSION), text)?;
    let (source, program) = ("bindings/c/examples/first_sum.c", tried.join("first-sum"));
    let script = USE_MODULE.to_owned();
    let load = command!("bash -c", script, "bash", MODULES, modules, source, program);
    let step = "the module file is loaded, and a program is built with it";
    steps.step(step, load)
}

fn tarball() -> String {
    format!("treefold-{VERSION}.tar.xz")
}

/// The values of the placeholders, in the order of `NAMES`.
struct Values([String; NAMES.len()]);

impl Values {
    /// The values for the files of a release.
    fn of(dist: &Path) -> Result<Self> {
        let known = Some(REPOSITORY).filter(|address| !address.is_empty());
        let address = known.unwrap_or(NO_ADDRESS);
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
    fn fill_all(&self, from: &Path, to: &Path) -> Result {
        for path in listed(from)? {
            let place = to.join(name(&path));
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
fn sha256(file: &Path) -> Result<String> {
    let said = output(command!("sha256sum", file))?;
    let sum = said.split_whitespace().next().map(str::to_owned);
    Ok(sum.ok_or_else(|| Error::file(file, "no checksum"))?)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{FOLDER, NAMES, RECIPES, Values, listed, read, workspace};

    /// Every file below a folder, as one text.
    fn text(folder: &Path) -> String {
        let is_file = |path: &PathBuf| path.is_file();
        let (files, folders): (Vec<_>, Vec<_>) =
            listed(folder).unwrap().into_iter().partition(is_file);
        let files = files.iter().map(|path| read(path).unwrap());
        files.chain(folders.iter().map(|path| text(path))).collect()
    }

    #[test]
    fn templates_have_these_names_and_no_others() {
        let folders = RECIPES.map(|recipe| workspace().join(FOLDER).join(recipe));
        let templates: String = folders.iter().map(|folder| text(folder)).collect();
        for name in NAMES {
            assert!(templates.contains(name), "{name}");
        }
        let filled = Values(NAMES.map(str::to_lowercase)).fill(&templates);
        let is_name = |word: &&str| {
            let is_letter = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
            !word.is_empty() && word.chars().all(is_letter)
        };
        let left: Vec<&str> = filled.split('@').filter(is_name).collect();
        assert!(left.iter().all(|name| *name == "PREFIX"), "{left:?}");
    }
}
