//! The release files of engines over `libtreefold`: R's source package, and PostgreSQL's extension within the Debian packages.

use std::fs;
use std::path::Path;

use checkout::workspace::{target, workspace};

use super::sources::tracked;
use crate::commands::{Result, command};
use crate::engines::over_c::{POSTGRESQL, R, with_library};
use crate::files::{copy, empty, with_extension, write};
use crate::libraries::prefix;
use crate::steps::Steps;

/// Builds R's source package.
pub(super) fn make(steps: &mut Steps, dist: &Path) -> Result {
    R.install()?;
    let library = prefix(steps)?.join("lib");
    let folder = target()?.join("dist/r");
    empty(&folder)?;
    copy_sources(&R.folder(), &folder.join("treefold"))?;
    let mut build = command!("R CMD build treefold");
    build.current_dir(&folder);
    steps.step("R's source package", with_library(&mut build, &library))?;
    let packages = with_extension(&folder, "gz")?;
    Ok(packages
        .iter()
        .try_for_each(|package| copy(package, dist))?)
}

/// Builds PostgreSQL's extension against an installation, and copies it to a package's tree.
pub(super) fn install_extension(steps: &mut Steps, library: &Path, tree: &Path) -> Result {
    POSTGRESQL.install()?;
    let folder = target()?.join("dist/postgresql");
    empty(&folder)?;
    copy_sources(&POSTGRESQL.folder(), &folder)?;
    let destination = format!("DESTDIR={}", tree.display());
    let mut install = command!("make with_llvm=no install", destination);
    install.current_dir(&folder);
    steps.step(
        "PostgreSQL's extension",
        with_library(&mut install, library),
    )
}

/// Copies the tracked files of a folder.
fn copy_sources(from: &Path, to: &Path) -> Result {
    for name in tracked(from)? {
        let file = workspace().join(name);
        write(&to.join(file.strip_prefix(from)?), fs::read(&file)?)?;
    }
    Ok(())
}
