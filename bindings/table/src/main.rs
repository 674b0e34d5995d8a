//! Writes the table into the files of the bindings.

use std::fs;

use table::Error;

fn main() -> Result<(), Error> {
    for file in table::files(&table::bindings())? {
        let path = &file.path;
        fs::write(path, file.text).map_err(|source| Error::File {
            path: path.clone(),
            source,
        })?;
    }
    Ok(())
}
