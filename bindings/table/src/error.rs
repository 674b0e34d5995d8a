use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why the table could not be written.
pub enum Error {
    /// A file of the bindings could not be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file has no part of this name.
    NoRegion {
        /// The file.
        file: String,
        /// The part.
        name: String,
    },
    /// A prototype of a header has a type that Fortran has no word for yet.
    Prototype {
        /// The header.
        header: String,
        /// The prototype.
        text: String,
    },
    /// `rustfmt` could not be started, or refused what it got.
    Rustfmt(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File { path, source } => write!(f, "{}: {source}", path.display()),
            Error::NoRegion { file, name } => write!(
                f,
                "{file} has no part between `<table: {name}>` and `</table>`"
            ),
            Error::Prototype { header, text } => {
                write!(f, "{header}: this prototype is not understood: {text}")
            }
            Error::Rustfmt(said) => write!(f, "rustfmt: {said}"),
        }
    }
}

/// What `main` prints of an error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
