//! What a system without Linux's namespaces can do: say so.

use std::ffi::OsString;
use std::io;
use std::process::Command;

use crate::{Error, Order, Settings};

/// Does nothing: no process is a part of a cluster here.
pub fn take_part() {}

/// Fails.
///
/// # Errors
/// Always.
pub fn check() -> Result<(), Error> {
    Err(Error::Unsupported("a cluster needs Linux".to_owned()))
}

/// Fails.
///
/// # Errors
/// Always.
pub fn on_first_node() -> Result<Vec<String>, Error> {
    check().map(|()| Vec::new())
}

/// Fails.
///
/// # Errors
/// Always.
pub fn run(_: &Settings, _: &[OsString], _: impl FnOnce(&mut Command)) -> Result<u8, Error> {
    check().map(|()| 0)
}

/// A connection to a cluster, of which there is none.
#[derive(Debug)]
pub enum Control {}

impl Control {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn announced(_: &str) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Tells a node.
    ///
    /// # Errors
    /// None.
    pub fn tell(&mut self, _: Order, _: usize) -> io::Result<()> {
        match *self {}
    }
}
