//! The stages of engines whose bindings are in C: each is built over an installed `libtreefold` and tested in Debian's engine, by a program
//! in its folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::workspace::workspace;
use launch::installed::{is_on_path, is_root};

use crate::commands::{Result, Stop, command};
use crate::libraries::prefix;
use crate::setup;
use crate::steps::Steps;

/// An engine from Debian.
pub(crate) struct Engine {
    /// The name of its folder in `bindings/engines`.
    folder: &'static str,
    name: &'static str,
    /// Files and programs that exist if its packages are installed.
    needs: &'static [&'static str],
    packages: &'static [&'static str],
    /// Runs all tests. Writes nothing to the checkout.
    tests: &'static str,
    /// A preparation before the packages are installed.
    prepare: fn() -> Result,
    /// Whether the tests install the binding, which needs root.
    needs_root: bool,
}

pub(crate) const POSTGRESQL: Engine = Engine {
    folder: "postgresql",
    name: "PostgreSQL",
    needs: &[
        "/usr/lib/postgresql/15/bin/postgres",
        "/usr/include/postgresql/15/server/postgres.h",
        "/usr/lib/postgresql/15/lib/pgxs/src/test/regress/pg_regress",
        "/usr/bin/python3",
    ],
    packages: &["postgresql-15", "postgresql-server-dev-15", "python3"],
    tests: "/usr/bin/python3 tests/run.py",
    prepare: leave_servers_alone,
    needs_root: true,
};

const SQLITE: Engine = Engine {
    folder: "sqlite",
    name: "SQLite",
    needs: &["sqlite3", "/usr/include/sqlite3ext.h", "/usr/bin/python3"],
    packages: &["sqlite3", "libsqlite3-dev", "python3"],
    tests: "/usr/bin/python3 tests/run.py",
    prepare: || Ok(()),
    needs_root: false,
};

pub(crate) const R: Engine = Engine {
    folder: "r",
    name: "R",
    needs: &[
        "R",
        "pandoc",
        "/usr/lib/R/site-library/testthat/DESCRIPTION",
        "/usr/lib/R/site-library/roxygen2/DESCRIPTION",
        "/usr/lib/R/site-library/data.table/DESCRIPTION",
        "/usr/lib/R/site-library/dplyr/DESCRIPTION",
        "/usr/lib/R/site-library/rmarkdown/DESCRIPTION",
    ],
    packages: &[
        "r-base-dev",
        "pandoc",
        "r-cran-testthat",
        "r-cran-roxygen2",
        "r-cran-data.table",
        "r-cran-dplyr",
        "r-cran-knitr",
        "r-cran-rmarkdown",
    ],
    tests: "sh tests/run.sh",
    prepare: || Ok(()),
    needs_root: false,
};

/// Prevents that installing PostgreSQL creates and starts a server.
fn leave_servers_alone() -> Result {
    if !is_root() {
        return Ok(());
    }
    setup::install_for("PostgreSQL", &["pg_createcluster"], &["postgresql-common"])?;
    let settings = "/etc/postgresql-common/createcluster.conf";
    Ok(fs::write(settings, "create_main_cluster = false\n")?)
}

pub(crate) fn postgresql(steps: &mut Steps) -> Result {
    POSTGRESQL.check(steps)
}

pub(crate) fn sqlite(steps: &mut Steps) -> Result {
    SQLITE.check(steps)
}

pub(crate) fn r(steps: &mut Steps) -> Result {
    R.check(steps)
}

impl Engine {
    pub(crate) fn folder(&self) -> PathBuf {
        workspace().join("bindings/engines").join(self.folder)
    }

    /// Installs the engine and what is needed to build its binding.
    pub(crate) fn install(&self) -> Result {
        setup::install_compilers();
        if !self.needs.iter().all(|needed| is_on_path(needed)) {
            (self.prepare)()?;
        }
        setup::install_for(self.name, self.needs, self.packages)
    }

    fn check(&self, steps: &mut Steps) -> Result {
        if self.needs_root && !is_root() {
            let reason = format!("tests in {}: they install the binding, as root", self.name);
            return Err(Stop::Skipped(reason));
        }
        self.install()?;
        let library = prefix(steps)?.join("lib");
        let mut tests = command!(self.tests);
        tests.current_dir(self.folder());
        steps.step(
            format!("tests in {}", self.name),
            with_library(&mut tests, &library),
        )
    }
}

/// Makes a command find an installed `libtreefold`.
pub(crate) fn with_library<'c>(command: &'c mut Command, library: &Path) -> &'c mut Command {
    command.env("PKG_CONFIG_PATH", library.join("pkgconfig"));
    command.env("LD_LIBRARY_PATH", library)
}
