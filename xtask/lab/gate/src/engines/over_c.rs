//! The stages of engines whose bindings are in C: each is built over an installed `libtreefold` and tested in Debian's engine, by a program
//! in its folder.

use std::fs;

use checkout::workspace::workspace;
use launch::installed::{is_on_path, is_root};

use crate::commands::{Result, command};
use crate::libraries::prefix;
use crate::setup;
use crate::steps::Steps;

/// An engine of Debian's.
struct Engine {
    /// The name of its folder in `bindings/engines`.
    folder: &'static str,
    name: &'static str,
    /// Files and programs that are there where its packages are installed.
    needs: &'static [&'static str],
    packages: &'static [&'static str],
    /// Runs all tests, and writes nothing into the checkout.
    tests: &'static str,
}

pub(crate) fn postgresql(steps: &mut Steps) -> Result {
    let engine = Engine {
        folder: "postgresql",
        name: "PostgreSQL",
        needs: &[
            "/usr/lib/postgresql/15/bin/postgres",
            "/usr/include/postgresql/15/server/postgres.h",
            "/usr/lib/postgresql/15/lib/pgxs/src/test/regress/pg_regress",
        ],
        packages: &["postgresql-15", "postgresql-server-dev-15"],
        tests: "/usr/bin/python3 tests/run.py",
    };
    if is_root() && !engine.is_there() {
        // Its installation would start a server.
        setup::install_for(engine.name, &["pg_createcluster"], &["postgresql-common"])?;
        fs::write(
            "/etc/postgresql-common/createcluster.conf",
            "create_main_cluster = false\n",
        )?;
    }
    engine.check(steps)
}

pub(crate) fn sqlite(steps: &mut Steps) -> Result {
    let engine = Engine {
        folder: "sqlite",
        name: "SQLite",
        needs: &["sqlite3", "/usr/include/sqlite3ext.h", "/usr/bin/python3"],
        packages: &["sqlite3", "libsqlite3-dev", "python3"],
        tests: "/usr/bin/python3 tests/run.py",
    };
    engine.check(steps)
}

pub(crate) fn r(steps: &mut Steps) -> Result {
    let engine = Engine {
        folder: "r",
        name: "R",
        needs: &[
            "R",
            "/usr/lib/R/site-library/testthat/DESCRIPTION",
            "/usr/lib/R/site-library/roxygen2/DESCRIPTION",
            "/usr/lib/R/site-library/data.table/DESCRIPTION",
            "/usr/lib/R/site-library/dplyr/DESCRIPTION",
            "/usr/lib/R/site-library/knitr/DESCRIPTION",
        ],
        packages: &[
            "r-base-dev",
            "r-cran-testthat",
            "r-cran-roxygen2",
            "r-cran-data.table",
            "r-cran-dplyr",
            "r-cran-knitr",
        ],
        tests: "sh tests/run.sh",
    };
    engine.check(steps)
}

impl Engine {
    fn is_there(&self) -> bool {
        self.needs.iter().all(|needed| is_on_path(needed))
    }

    fn check(&self, steps: &mut Steps) -> Result {
        setup::install_compilers();
        setup::install_for(self.name, self.needs, self.packages)?;
        let library = prefix(steps)?.join("lib");
        let folder = workspace().join("bindings/engines").join(self.folder);
        let mut tests = command!(self.tests);
        tests.current_dir(folder);
        tests.env("PKG_CONFIG_PATH", library.join("pkgconfig"));
        tests.env("LD_LIBRARY_PATH", library);
        steps.step(format!("tests in {}", self.name), tests)
    }
}
