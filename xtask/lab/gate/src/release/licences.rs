//! The licences of what is linked into a binary that another tool built.

use std::path::Path;

use checkout::Error;
use checkout::licences::{Licence, linked};
use checkout::workspace::{Sources, cargo};
use serde_json::Value;

/// Those of all that packages are built of, but for what belongs to the workspace.
pub(super) fn third_parties(packages: &[&str]) -> Result<Vec<Licence>, Error> {
    linked(packages, &sources()?)
}

/// All packages of registries that the lock file names.
fn sources() -> Result<Sources, Error> {
    let failed = |reason: String| Error::Cargo(reason);
    let mut metadata = cargo();
    let output = metadata
        .args(["metadata", "--format-version", "1"])
        .output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    let errors = || String::from_utf8_lossy(&output.stderr).into_owned();
    let told: Value = serde_json::from_slice(&output.stdout).map_err(|_| failed(errors()))?;
    let packages = told["packages"].as_array().into_iter().flatten();
    let foreign = packages.filter(|package| !package["source"].is_null());
    let of_package = |package: &Value| {
        let (name, version) = (package["name"].as_str()?, package["version"].as_str()?);
        let folder = Path::new(package["manifest_path"].as_str()?).parent()?;
        Some((format!("{name} v{version}"), folder.to_owned()))
    };
    Ok(foreign.filter_map(of_package).collect())
}
