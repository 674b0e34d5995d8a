//! The stages that test treefold in engines of databases and data frames: Polars, pandas, DuckDB, DataFusion (whose crate is a separate
//! workspace), PostgreSQL, SQLite and R. The bindings for the last three are built against an installed `libtreefold`, and a program in
//! each binding's folder tests the binding in the engine that Debian packages.

use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::files::write;
use checkout::workspace::{target, workspace};
use launch::installed::{is_on_path, is_root};

use crate::python::{FOR_TESTS, MYPY, engines, sources};
use crate::{Environment, Result, Steps, Stop, command, install_for, output, prefix, setup, words};

/// DataFusion from PyPI, in the major version that the crate uses, and a package whose tables DataFusion reads.
const DATAFUSION_PACKAGES: &str = "datafusion>=55,<56 pyarrow";

pub(crate) fn datafusion(steps: &mut Steps) -> Result {
    let of_workspace = "--locked --target-dir target/datafusion \
        --manifest-path bindings/engines/datafusion/Cargo.toml";
    for (name, words, arguments) in [
        ("clippy", "clippy --workspace --all-targets", "-D warnings"),
        ("tests in the engine", "test", ""),
        ("bench, as a test", "bench --profile dev", "--test"),
    ] {
        let words = format!("{words} {of_workspace} -- {arguments}");
        steps.cargo(format!("{name}, DataFusion"), &words)?;
    }
    let environment = Environment::make("datafusion", DATAFUSION_PACKAGES)?;
    let package = workspace().join("bindings/engines/datafusion/python");
    environment.build_and_install(steps, &package, FOR_TESTS)?;
    let tests = words![package.join("tests"), package.join("README.md")];
    environment.test(steps, "tests in DataFusion from PyPI", tests)?;
    let types = words!["-m mypy --strict", package.join("treefold_datafusion")];
    steps.step("types of treefold_datafusion", environment.python(types))
}

/// DuckDB, and the packages whose tables it reads in the tests and on the page on databases and data frames.
const DUCKDB_PACKAGES: &str = "duckdb>=2 pyarrow pandas polars";

/// A DuckDB version that is too old for the extension.
const TOO_OLD: &str = "duckdb<2";

/// Tests the package with Polars, pandas and DuckDB. Also checks that DuckDB before 2.0 refuses the extension.
pub(crate) fn duckdb(steps: &mut Steps) -> Result {
    // The environment's name is not `duckdb`, because mypy would treat a folder of that name as a package.
    let environment = Environment::make("with-duckdb", DUCKDB_PACKAGES)?;
    environment.build_and_install(steps, &sources(), FOR_TESTS)?;
    engines(steps, &environment, "the newest")?;
    let wheel = environment.build(steps, &extension(), FOR_TESTS)?;
    finish(steps, &environment, &wheel)?;
    environment.install(steps, &wheel)?;
    let tests = "@/bindings/engines/duckdb/tests @/docs/databases.md --pyargs treefold.duckdb";
    environment.test(steps, "tests in DuckDB", tests)?;
    let types = words![MYPY, "@/bindings/python/treefold/duckdb.py"];
    steps.step("types of treefold.duckdb", environment.python(types))?;
    let old = target()?.join("python/duckdb-too-old");
    setup::install_from_pypi(Path::new("python3"), TOO_OLD, &old)
        .map_err(|reason| Stop::Skipped(format!("DuckDB before 2.0, {reason}")))?;
    let program = "import treefold_duckdb; print(treefold_duckdb.FILE)";
    let file = output(environment.python(words!["-c", program.to_owned()]))?;
    let script = extension().join("tests/too_old.py");
    let mut refused = command!(old.join("bin/python"), script, file.trim().to_owned());
    steps.step("DuckDB before 2.0 is refused", refused.current_dir(old))
}

/// Converts the library in a wheel to the file that DuckDB loads.
pub(crate) fn finish(steps: &mut Steps, environment: &Environment, wheel: &Path) -> Result {
    let words = words![extension().join("backend.py"), wheel];
    steps.step("DuckDB's file", environment.python(words))
}

/// The folder of DuckDB's extension.
pub(crate) fn extension() -> PathBuf {
    workspace().join("bindings/engines/duckdb")
}

/// An engine from Debian.
pub(crate) struct Engine {
    /// The name of the binding's folder in `bindings/engines`.
    folder: &'static str,
    name: &'static str,
    /// Files and programs that exist if `packages` are installed.
    needs: &'static [&'static str],
    packages: &'static str,
    /// The command that runs all tests, and writes nothing to the checkout.
    tests: &'static str,
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
    packages: "postgresql-15 postgresql-server-dev-15 python3",
    tests: "/usr/bin/python3 tests/run.py",
    needs_root: true,
};

pub(crate) const SQLITE: Engine = Engine {
    folder: "sqlite",
    name: "SQLite",
    needs: &["sqlite3", "/usr/include/sqlite3ext.h", "/usr/bin/python3"],
    packages: "sqlite3 libsqlite3-dev python3",
    tests: "/usr/bin/python3 tests/run.py",
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
    packages: "r-base-dev pandoc r-cran-testthat r-cran-roxygen2 r-cran-data.table r-cran-dplyr \
        r-cran-knitr r-cran-rmarkdown",
    tests: "sh tests/run.sh",
    needs_root: false,
};

/// A file, and the text by which it keeps PostgreSQL's installation from creating and starting a server.
const NO_SERVER: (&str, &str) = (
    "/etc/postgresql-common/createcluster.conf",
    "create_main_cluster = false\n",
);

impl Engine {
    pub(crate) fn folder(&self) -> PathBuf {
        workspace().join("bindings/engines").join(self.folder)
    }

    /// Installs the engine and the packages that its binding's build needs.
    pub(crate) fn install(&self) -> Result {
        setup::install_compilers();
        let is_there = self.needs.iter().all(|needed| is_on_path(needed));
        if !is_there && self.needs_root && is_root() {
            install_for(self.name, &["pg_createcluster"], "postgresql-common")?;
            write(Path::new(NO_SERVER.0), NO_SERVER.1)?;
        }
        install_for(self.name, self.needs, self.packages)
    }

    /// Runs the stage of the engine.
    pub(crate) fn check(&self, steps: &mut Steps) -> Result {
        if self.needs_root && !is_root() {
            let reason = format!("tests in {}, which install the binding as root", self.name);
            return Stop::skipped(reason);
        }
        self.install()?;
        let library = prefix(steps)?.join("lib");
        let mut tests = command!(self.tests);
        let tests = with_library(tests.current_dir(self.folder()), &library);
        steps.step(format!("tests in {}", self.name), tests)
    }
}

/// Makes a command find an installed `libtreefold`.
pub(crate) fn with_library<'c>(command: &'c mut Command, library: &Path) -> &'c mut Command {
    command.env("PKG_CONFIG_PATH", library.join("pkgconfig"));
    command.env("LD_LIBRARY_PATH", library)
}
