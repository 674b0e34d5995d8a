//! Wheels for Linux, linked by zig with the symbols of an old glibc: for this machine's processor, and for 64-bit ARM where its stage has
//! left a toolchain.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::licences::joined;
use checkout::workspace::{REPOSITORY, target};
use launch::Error;

use super::tools::path_from;
use super::{empty, emulated, licences, listed, pythons, read, without_empty_address, write};
use crate::aarch64;
use crate::duckdb;
use crate::python::environment::Environment;
use crate::python::sources;
use crate::steps::{Steps, Stop};

/// The most that one may take.
const BYTES_MAX: u64 = 6_000_000;

/// The file with the licences of what is linked in.
const THIRD_PARTIES: &str = "THIRD-PARTY-LICENSES.txt";

/// The files with licences in a wheel.
const LICENCES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", THIRD_PARTIES];

/// Makes them, looks at them, and tries the one for this machine.
pub(super) fn make(steps: &mut Steps, environment: &Environment, dist: &Path) -> Result<(), Stop> {
    if env::consts::ARCH != "x86_64" {
        println!("skipped: the wheels, which are made on x86-64");
        return Ok(());
    }
    make_for(steps, environment, dist, &PACKAGE, "x86_64", |_| ())?;
    make_for(steps, environment, dist, &DUCKDB, "x86_64", |_| ())?;
    pythons::try_all(steps, dist)?;
    let Some(cross) = aarch64::found() else {
        println!(
            "skipped: the wheel for aarch64; `cargo xtask test --target aarch64` installs what builds it"
        );
        return Ok(());
    };
    let compile = |build: &mut Command| {
        cross.compile(build);
        build.args(["--target", aarch64::TRIPLE]);
    };
    make_for(steps, environment, dist, &DUCKDB, "aarch64", compile)?;
    let wheel = make_for(steps, environment, dist, &PACKAGE, "aarch64", compile)?;
    let folder = target()?.join("dist/aarch64");
    emulated::try_in(steps, environment, &wheel, &folder)
}

/// What a wheel is made of.
struct Package {
    /// Its crate.
    name: &'static str,
    /// How the wheel's name begins.
    begin: &'static str,
    folder: fn() -> PathBuf,
    /// Changes what maturin made.
    finish: fn(&mut Steps, &Environment, &Path) -> Result<(), Stop>,
}

const PACKAGE: Package = Package {
    name: "treefold-python",
    begin: "treefold-",
    folder: sources,
    finish: |_, _, _| Ok(()),
};

const DUCKDB: Package = Package {
    name: "treefold-duckdb",
    begin: "treefold_duckdb-",
    folder: duckdb::extension,
    finish: duckdb::finish,
};

/// Makes the wheel of a package for a processor, by maturin with what the processor needs.
fn make_for(
    steps: &mut Steps,
    environment: &Environment,
    dist: &Path,
    package: &Package,
    processor: &str,
    add: impl FnOnce(&mut Command),
) -> Result<PathBuf, Stop> {
    let Package { name, begin, .. } = package;
    let folder = target()?.join("dist").join(processor);
    let (made, parts) = (folder.join("wheel"), folder.join("parts"));
    empty(&made)?;
    empty(&parts)?;
    let mut build = environment.program("maturin");
    build.args(["build", "--zig", "--compatibility", "manylinux2014"]);
    build.args(["--locked", "--quiet", "--out"]).arg(&made);
    // It asks the first `python3` for zig.
    build.env("PATH", path_from(&environment.programs())?);
    add(&mut build);
    let step = format!("the wheel of {name} for {processor} is linked by zig");
    steps.step(&step, build.current_dir((package.folder)()))?;

    // Packed anew with the licences, which only the lock file tells.
    let wheel = only(&made)?;
    (package.finish)(steps, environment, &wheel)?;
    let mut unpack = environment.python("-m wheel unpack");
    steps.step("its parts", unpack.arg(&wheel).arg("--dest").arg(&parts))?;
    let unpacked = only(&parts)?;
    let metadata = listed(&unpacked)?;
    let is_metadata = |path: &&PathBuf| path.extension().is_some_and(|end| end == "dist-info");
    let metadata = metadata.iter().find(is_metadata);
    let metadata = metadata.ok_or_else(|| Error::file(&unpacked, "it has no .dist-info"))?;
    let texts = joined(&licences::third_parties(&[name])?);
    let file = metadata.join("licenses").join(THIRD_PARTIES);
    fs::write(&file, texts).map_err(|error| Stop::Error(Error::file(&file, error)))?;
    let file = metadata.join("METADATA");
    let text = described(&read(&file)?);
    write(&file, &text)?;
    let address = format!("Project-URL: Source Code, {REPOSITORY}\n");
    let is_told = text.contains("Project-URL: ");
    let is_right = text.contains(&address) || (REPOSITORY.is_empty() && !is_told);
    if !is_right {
        let reason = format!("the address is to be `{REPOSITORY}`");
        return Err(Stop::Error(Error::file(&file, reason)));
    }
    let mut pack = environment.python("-m wheel pack");
    steps.step(
        "with the licences of what is linked in",
        pack.arg(&unpacked).arg("--dest-dir").arg(dist),
    )?;

    let wheels = listed(dist)?;
    let end = format!("{processor}.whl");
    let is_wheel = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(begin) && name.ends_with(&end)
    };
    let wheel = wheels.iter().find(is_wheel);
    let wheel = wheel.ok_or_else(|| Error::file(dist, "it has no wheel"))?;
    steps.check("its platform, size and licences", || {
        look_at(environment, wheel, &format!("manylinux_2_17_{processor}"))
    })?;
    Ok(wheel.clone())
}

/// A wheel's METADATA with one more licence.
fn described(text: &str) -> String {
    let text = without_empty_address(text);
    let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
    format!("{head}\nLicense-File: {THIRD_PARTIES}\n\n{body}")
}

/// What auditwheel says of its platform, its size, and whether it has all licences.
fn look_at(environment: &Environment, wheel: &Path, platform: &str) -> Result<String, String> {
    let said = |mut command: Command| {
        let output = command.output().map_err(|error| error.to_string())?;
        Ok::<_, String>(String::from_utf8_lossy(&output.stdout).replace('\n', " "))
    };
    let mut show = environment.program("auditwheel");
    show.arg("show").arg(wheel);
    let told = said(show)?;
    if !told.contains(&format!("\"{platform}\"")) {
        return Err(format!("auditwheel says{told}"));
    }
    let mut list = environment.python("-m zipfile --list");
    list.arg(wheel);
    let names = said(list)?;
    let lacking = LICENCES
        .iter()
        .find(|name| !names.contains(&format!(".dist-info/licenses/{name}")));
    if let Some(name) = lacking {
        return Err(format!("it lacks {name}"));
    }
    let bytes = fs::metadata(wheel)
        .map_err(|error| error.to_string())?
        .len();
    if bytes > BYTES_MAX {
        return Err(format!("{bytes} bytes, more than {BYTES_MAX}"));
    }
    Ok(format!(
        "{platform}, {} kB, {}",
        bytes.div_ceil(1000),
        LICENCES.join(", ")
    ))
}

/// What is alone in a folder.
fn only(folder: &Path) -> Result<PathBuf, Stop> {
    match &listed(folder)?[..] {
        [one] => Ok(one.clone()),
        others => {
            let reason = format!("{} files or folders are there, not one", others.len());
            Err(Stop::Error(Error::file(folder, reason)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::described;

    #[test]
    fn a_wheel_tells_its_licences_and_an_address_that_there_is() {
        let address = "Project-URL: Source Code, https://forge.example/a";
        let licence = "License-File: THIRD-PARTY-LICENSES.txt";
        let empty = "Name: a\nProject-URL: Source Code, \n\nprose\n";
        assert_eq!(described(empty), format!("Name: a\n{licence}\n\nprose\n"));
        let told = format!("Name: a\n{address}\n\nprose\n");
        let expected = format!("Name: a\n{address}\n{licence}\n\nprose\n");
        assert_eq!(described(&told), expected);
    }
}
