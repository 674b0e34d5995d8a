//! Builds wheels for Linux, linked by zig against an old glibc: for this machine's processor, and for 64-bit ARM if stage `aarch64` has
//! installed a toolchain.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use checkout::files::{edit, empty, name, only, read, with_extension, write};
use checkout::licences::joined;
use checkout::workspace::{REPOSITORY, target};
use launch::Error;

use super::{pythons, third_parties, without_empty_address};
use crate::python::sources;
use crate::{Environment, Result, Steps, Stop, aarch64, engines, first_of, output, words};

/// The maximum size of a wheel.
const BYTES_MAX: u64 = 6_000_000;

/// The file with the dependencies' licences.
const THIRD_PARTIES: &str = "THIRD-PARTY-LICENSES.txt";

/// The files with licences in a wheel.
const LICENCES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", THIRD_PARTIES];

/// Builds and checks the wheels, and tests the one for this machine.
pub(super) fn make(steps: &mut Steps, environment: &Environment, dist: &Path) -> Result {
    if env::consts::ARCH != "x86_64" {
        let reason = "the wheels, which need x86-64";
        return Stop::skipped(reason);
    }
    let make = |steps: &mut Steps, package, processor, add: &dyn Fn(&mut Command)| {
        make_for(steps, environment, dist, package, processor, add)
    };
    make(steps, PACKAGE, "x86_64", &|_| ())?;
    make(steps, DUCKDB, "x86_64", &|_| ())?;
    steps.part(|steps| pythons::try_all(steps, dist))?;
    let cross = aarch64::found().ok_or_else(|| {
        let how = "`cargo xtask test --stage aarch64` installs what builds it";
        Stop::Skipped(format!("the wheel for aarch64; {how}"))
    })?;
    let compile = |build: &mut Command| {
        cross.compile(build);
        build.args(["--target", aarch64::TRIPLE]);
    };
    make(steps, DUCKDB, "aarch64", &compile)?;
    let wheel = make(steps, PACKAGE, "aarch64", &compile)?;
    let folder = target()?.join("dist/aarch64");
    pythons::try_in_emulator(steps, environment, &wheel, &folder)
}

/// The crates of wheels, and the prefixes of the wheels' names.
const PACKAGE: [&str; 2] = ["treefold-python", "treefold-"];
const DUCKDB: [&str; 2] = ["treefold-duckdb", "treefold_duckdb-"];

/// Builds a package's wheel for a processor with maturin.
fn make_for(
    steps: &mut Steps,
    environment: &Environment,
    dist: &Path,
    [crate_name, begin]: [&str; 2],
    processor: &str,
    add: &dyn Fn(&mut Command),
) -> Result<PathBuf> {
    let is_duckdb = crate_name == DUCKDB[0];
    let package = if is_duckdb {
        engines::extension()
    } else {
        sources()
    };
    let folder = target()?.join("dist").join(processor);
    let (made, parts) = (folder.join("wheel"), folder.join("parts"));
    empty(&made)?;
    empty(&parts)?;
    let options = "build --zig --compatibility manylinux2014 --locked --quiet --out";
    let mut build = environment.program("maturin", words![options, made]);
    // maturin finds zig through the first `python3`.
    build.env("PATH", first_of("PATH", &environment.programs()));
    add(&mut build);
    let step = format!("the wheel of {crate_name} for {processor} is linked by zig");
    steps.step(step, build.current_dir(package))?;

    // Repacks the wheel with the licences of its dependencies, which are known from the lock file.
    let wheel = only(&made)?;
    if is_duckdb {
        engines::finish(steps, environment, &wheel)?;
    }
    let unpack = words!["-m wheel unpack", wheel, "--dest", parts];
    steps.step("its parts", environment.python(unpack))?;
    let unpacked = only(&parts)?;
    let [metadata] = &with_extension(&unpacked, "dist-info")?[..] else {
        return Err(Error::file(&unpacked, "it has no .dist-info").into());
    };
    let texts = joined(&third_parties(&[crate_name])?);
    write(&metadata.join("licenses").join(THIRD_PARTIES), texts)?;
    let file = metadata.join("METADATA");
    edit(&file, described)?;
    let text = read(&file)?;
    let address = format!("Project-URL: Source Code, {REPOSITORY}\n");
    let is_told = text.contains("Project-URL: ");
    if !(text.contains(&address) || (REPOSITORY.is_empty() && !is_told)) {
        let reason = format!("the address must be `{REPOSITORY}`");
        return Err(Error::file(&file, reason).into());
    }
    let pack = environment.python(words!["-m wheel pack", unpacked, "--dest-dir", dist]);
    steps.step("with the licences of what is linked in", pack)?;

    let end = format!("{processor}.whl");
    let is_wheel = |path: &PathBuf| {
        let name = name(path);
        name.starts_with(begin) && name.ends_with(&end)
    };
    let wheel = with_extension(dist, "whl")?.into_iter().find(is_wheel);
    let wheel = wheel.ok_or_else(|| Error::file(dist, "it has no wheel"))?;
    steps.check("its platform, size and licences", || {
        look_at(environment, &wheel, &format!("manylinux_2_17_{processor}"))
    })?;
    Ok(wheel)
}

/// A wheel's METADATA with one more licence.
fn described(text: &str) -> String {
    let text = without_empty_address(text);
    let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
    format!("{head}\nLicense-File: {THIRD_PARTIES}\n\n{body}")
}

/// Checks the platform of a wheel with auditwheel, and the wheel's size and licences.
fn look_at(environment: &Environment, wheel: &Path, platform: &str) -> Result<String> {
    let text = output(environment.program("auditwheel", words!["show", wheel]))?;
    let text = text.replace('\n', " ");
    if !text.contains(&format!("\"{platform}\"")) {
        return Err(format!("auditwheel says{text}").into());
    }
    let names = output(environment.python(words!["-m zipfile --list", wheel]))?;
    let lacks = |name: &&&str| !names.contains(&format!(".dist-info/licenses/{name}"));
    if let Some(name) = LICENCES.iter().find(lacks) {
        return Err(format!("the wheel lacks {name}").into());
    }
    let bytes = fs::metadata(wheel)?.len();
    if bytes > BYTES_MAX {
        return Err(format!("{bytes} bytes, more than {BYTES_MAX}").into());
    }
    let (size, licences) = (bytes.div_ceil(1000), LICENCES.join(", "));
    Ok(format!("{platform}, {size} kB, {licences}"))
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
        let text = format!("Name: a\n{address}\n\nprose\n");
        let expected = format!("Name: a\n{address}\n{licence}\n\nprose\n");
        assert_eq!(described(&text), expected);
    }
}
